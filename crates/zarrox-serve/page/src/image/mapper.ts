/** Images on maps: which part of an array a map shows, and the pixels of the map. */

import { h } from "../dom";
import type { Layer, Rect } from "./figure";
import { Globe } from "./globe";
import { mapKind, projectionOf, sides, type Shown } from "../data/model";
import type { Pen } from "./pen";
import type { Box } from "./picture";
import { wrapped } from "./projections";
import type { State } from "../data/state";
import type { Surface } from "./surface";
import type { Theme } from "../theme";
import { placing } from "../data/coordinates";
import { warp, type Side } from "./warp";

/** The number of points along each side at which the visible part is determined. */
const POINTS = 40;

export class Mapper {
  private warps = new Map<string, Int32Array>();
  /** The visible elements of the last map. */
  private seen: { key: string; box: Box } = { key: "", box: [0, 0, 1, 1] };
  private readonly canvas = h("canvas");
  private pixels = new Uint32Array(new ArrayBuffer(0));
  private hatching: { theme: Theme | null; paper: number; faint: number } = { theme: null, paper: 0, faint: 0 };

  constructor(private readonly shown: Shown) {}

  /** Returns the map of a state; `null` if the array is shown as a grid. */
  globe(state: State, rect: Rect): Globe | null {
    const name = projectionOf(this.shown, state);
    if (!name) return null;
    return new Globe(name, state.globe.length === 3 ? (state.globe as [number, number, number]) : this.fitting(name, state), rect);
  }

  /** Returns the middle and the magnification that show the whole array. */
  private fitting(name: Globe["name"], state: State): [number, number, number] {
    if (name === "north" || name === "south") return [0, name === "north" ? 90 : -90, 1];
    const { longitudes, latitudes } = this.samples(state);
    const [south, north] = [Math.max(-90, Math.min(...latitudes)), Math.min(90, Math.max(...latitudes))];
    const sum = (of: (angle: number) => number): number => longitudes.reduce((total, one) => total + of((one * Math.PI) / 180), 0);
    const mean = (Math.atan2(sum(Math.sin), sum(Math.cos)) * 180) / Math.PI;
    const relative = longitudes.map((one) => wrapped(one - mean));
    const [west, east] = [Math.min(...relative), Math.max(...relative)];
    if (!(east - west < 270)) return [0, 0, 1];
    const [longitude, latitude, half] = [wrapped(mean + (west + east) / 2), (south + north) / 2, Math.max(east - west, north - south) / 2];
    const zoom = name === "orthographic" ? 0.9 / Math.sin((Math.min(90, half) * Math.PI) / 180) : 0.9 * Math.min(360 / Math.max(0.01, east - west), 180 / Math.max(0.01, north - south));
    return [longitude, latitude, Math.max(1, zoom)];
  }

  private samples(state: State): { longitudes: number[]; latitudes: number[] } {
    if (mapKind(this.shown, state) === "curved") return this.shown.curved!;
    const [x, y] = sides(this.shown, state).map((dimension) => this.shown.axes[dimension]!);
    const of = ({ at, length }: typeof x & object): number[] => Array.from({ length: 33 }, (_, part) => at!(Math.round((part / 32) * (length - 1))));
    return { longitudes: of(x!), latitudes: of(y!) };
  }

  /** Returns the elements that the pixels of a map show. Slices with the same geometry share them. */
  warp(globe: Globe, layer: Layer, ratio: number): Int32Array | null {
    const { x, y, stepX, stepY, columns, rows, level } = layer;
    const key = JSON.stringify([globe.key, ratio, sides(this.shown, layer.state), x, y, stepX, stepY, columns, rows, level.path]);
    const known = this.warps.get(key);
    if (known) return known;
    const isCurved = mapKind(this.shown, layer.state) === "curved";
    if (isCurved && !layer.places) return null;
    const made = warp(globe, layer, isCurved ? layer.places! : this.sides(layer), ratio);
    this.warps.set(key, made);
    for (const old of this.warps.keys()) if (this.warps.size > 3) this.warps.delete(old);
    return made;
  }

  private sides({ state, x, y, stepX, stepY, columns, rows, level }: Layer): [Side, Side] {
    const [across, down] = sides(this.shown, state);
    const side = (dimension: number, first: number, step: number, count: number): Side => ({ axis: this.shown.axes[dimension]!, first, step, count, factor: level.factors[dimension] ?? 1 });
    return [side(across, x, stepX, columns), side(down, y, stepY, rows)];
  }

  /** Draws layers on a map. Missing values are hatched. */
  draw(pen: Pen, globe: Globe, layers: Layer[], ratio: number, theme: Theme, opacity: number): void {
    const [width, height] = [Math.round(globe.rect[2] * ratio), Math.round(globe.rect[3] * ratio)];
    if (this.pixels.length !== width * height) this.pixels = new Uint32Array(new ArrayBuffer(width * height * 4));
    const pixels = this.pixels.fill(0);
    if (this.hatching.theme !== theme) this.hatching = { theme, paper: packed(theme.paper), faint: packed(theme.faint) };
    const { paper, faint } = this.hatching;
    for (const layer of layers) {
      const elements = layer.pixels && this.warp(globe, layer, ratio);
      if (!elements || !layer.pixels) continue;
      const colours = new Uint32Array(layer.pixels.buffer);
      const isLoaded = loaded(layer);
      for (let at = 0; at < pixels.length; at++) {
        const element = elements[at]!;
        if (element < 0 || (isLoaded && !isLoaded[element])) continue;
        pixels[at] = colours[element]! || (((at % width) + Math.floor(at / width)) % 7 < 1 ? faint : paper);
      }
    }
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    this.canvas.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
    pen.image(this.canvas, [0, 0, width, height], globe.rect, opacity);
  }

  /** Returns the pixel of an element on a map; `null` if it is not visible or not loaded. */
  pixelOf(globe: Globe, layer: Layer | undefined, state: State, column: number, row: number): [number, number] | null {
    const [x, y] = sides(this.shown, state);
    if (mapKind(this.shown, state) === "straight") return globe.pixelOf(this.shown.axes[x]!.at!(column), this.shown.axes[y]!.at!(row));
    const place = layer && placeOf(layer, column, row);
    return place ? globe.pixelOf(...place) : null;
  }

  /** Returns the visible part of an array on a map, and its gestures. */
  surface(state: State, globe: Globe, layer: Layer | undefined, ratio: number): Surface {
    const [x, y] = sides(this.shown, state);
    const [columns, rows] = [this.shown.shape[x] ?? 1, this.shown.shape[y] ?? 1];
    const isCurved = mapKind(this.shown, state) === "curved";
    const key = `${globe.key} ${x} ${y}`;
    if (this.seen.key !== key) this.seen = { key, box: isCurved ? [0, 0, columns, rows] : this.visible(state, globe, columns, rows) };
    const { box } = this.seen;
    const [left, top, width, height] = globe.rect;
    const { longitudes, latitudes } = this.samples(state);
    // A grid with curved lines has about the same number of elements per degree everywhere.
    const degrees = isCurved ? Math.sqrt(areaOf(longitudes, latitudes) / (columns * rows)) : 0;
    const spacing = (dimension: number): number => {
      const { at, length } = this.shown.axes[dimension]!;
      return Math.abs(at!(length - 1) - at!(0)) / Math.max(1, length - 1);
    };
    const per = (dimension: number): number => globe.degrees / ratio / Math.max(1e-9, isCurved ? degrees : spacing(dimension));
    const at = (px: number, py: number): [number, number] | null => {
      const elements = layer && this.warp(globe, layer, ratio);
      const [column, row] = [Math.floor((px - left) * ratio), Math.floor((py - top) * ratio)];
      const stride = Math.round(width * ratio);
      if (!layer || !elements || column < 0 || row < 0 || column >= stride || row >= Math.round(height * ratio)) return null;
      const element = elements[row * stride + column]!;
      if (element < 0) return null;
      const place = (first: number, step: number, pixel: number, factor: number, length: number): number => Math.min(length - 1, Math.floor((first + pixel * step + (step - 1) / 2) * factor));
      return [place(layer.x, layer.stepX, element % layer.columns, layer.level.factors[x] ?? 1, columns), place(layer.y, layer.stepY, Math.floor(element / layer.columns), layer.level.factors[y] ?? 1, rows)];
    };
    const zoomed = (factor: number, px: number, py: number): Partial<State> => ({ globe: globe.zoomed(factor, px, py) });
    return {
      box,
      per: [per(x), per(y)],
      at,
      panned: (dx, dy) => ({ globe: globe.moved(dx, dy) }),
      zoomed,
      boxed: (x0, y0, x1, y1) => {
        const [px, py] = [(x0 + x1) / 2, (y0 + y1) / 2];
        const moved = new Globe(globe.name, globe.moved(left + width / 2 - px, top + height / 2 - py), globe.rect);
        return { globe: moved.zoomed(Math.max(Math.abs(x1 - x0) / width, Math.abs(y1 - y0) / height), left + width / 2, top + height / 2) };
      },
      fitted: { globe: [] },
    };
  }

  /** Returns the elements of a straight grid that a map shows. */
  private visible(state: State, globe: Globe, columns: number, rows: number): Box {
    const [left, top, width, height] = globe.rect;
    const [x, y] = sides(this.shown, state).map((dimension) => placing(this.shown.axes[dimension]!));
    const [across, down]: [number[], number[]] = [[], []];
    for (let row = 0; row <= POINTS; row++) {
      for (let column = 0; column <= POINTS; column++) {
        const place = globe.from(left + (width * column) / POINTS, top + (height * row) / POINTS);
        if (!place || !x || !y) continue;
        down.push(Math.max(0, Math.min(rows, y(place[1]) + 0.5)));
        for (const turn of [-360, 0, 360]) {
          const element = x(place[0] + globe.view[0] + turn) + 0.5;
          if (element >= 0 && element <= columns) across.push(element);
        }
      }
    }
    if (across.length === 0) return [0, 0, columns, rows];
    // A part over the edge of the array consists of two parts, and is read as a whole.
    const span = (all: number[], length: number): [number, number] => {
      const sorted = [...all].sort((a, b) => a - b);
      const margin = length / POINTS;
      const hasGap = sorted.some((one, at) => at > 0 && one - sorted[at - 1]! > length / 4);
      return hasGap ? [0, length] : [Math.max(0, sorted[0]! - margin), Math.min(length, sorted[sorted.length - 1]! + margin)];
    };
    const [[fromX, toX], [fromY, toY]] = [span(across, columns), span(down, rows)];
    return [fromX, fromY, toX, toY];
  }
}

/** Returns the longitude and the latitude of an element on a curvilinear grid; `null` if it is not loaded or has no place. */
export function placeOf({ places, x, y, stepX, stepY, columns, rows }: Layer, column: number, row: number): [number, number] | null {
  const [across, down] = [Math.floor((column - x) / stepX), Math.floor((row - y) / stepY)];
  if (!places || across < 0 || down < 0 || across >= columns || down >= rows) return null;
  const [longitude, latitude] = [places.longitude[down * columns + across]!, places.latitude[down * columns + across]!];
  return Number.isNaN(longitude + latitude) ? null : [longitude, latitude];
}

/** Returns a colour of CSS as a pixel. */
function packed(colour: string): number {
  const context = h("canvas", { width: 1, height: 1 }).getContext("2d");
  if (!context) return 0;
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0]!;
}

/** Returns 1 for each loaded element of a picture; `null` if all are loaded. */
function loaded({ tiles, columns, rows }: Layer): Uint8Array | null {
  if (tiles.length === 1 && tiles[0]!.columns === columns && tiles[0]!.rows === rows) return null;
  const found = new Uint8Array(columns * rows);
  for (const tile of tiles) for (let row = tile.row; row < tile.row + tile.rows; row++) found.fill(1, row * columns + tile.column, row * columns + tile.column + tile.columns);
  return found;
}

/** Returns the approximate area around places in square degrees, at the middle of maps. */
function areaOf(longitudes: number[], latitudes: number[]): number {
  const span = (all: number[]): number => Math.max(...all) - Math.min(...all);
  return Math.max(1e-6, Math.min(360, span(longitudes)) * span(latitudes) * 0.64);
}
