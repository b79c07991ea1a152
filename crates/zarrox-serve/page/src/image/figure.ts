/** A figure: an image with its axes, its color bar and its overlays. */

import * as coasts from "./coast";
import { bend, linearPart, type Limits, type Norm } from "./colours";
import { marks, title as axisTitle, type Axis } from "../data/coordinates";
import type { Overlay } from "../data/labels";
import { sides, type Shown } from "../data/model";
import { rounded, tickTexts, ticks } from "../data/numbers";
import type { Pen } from "./pen";
import type { Box, Picture } from "./picture";
import type { State } from "../data/state";
import type { Globe } from "./globe";
import { drawMapFrame } from "./mapframe";
import { SERIES, type Theme } from "../theme";
import type { Places } from "./warp";

/** A loaded picture with its labels, and its state. */
export interface Layer extends Picture {
  labels: Overlay | null;
  /** The places of the elements on a curvilinear grid. */
  places: Places | null;
  /** The colours of the elements, once they are painted. */
  pixels: Uint8ClampedArray<ArrayBuffer> | null;
  key: string;
  state: State;
  /** False while parts of the picture are being loaded. */
  isWhole: boolean;
}

/** The colour bar of a figure. */
export interface Bar {
  limits: Limits;
  norm: Norm;
  colours: Uint8Array;
  /** A description of the colours. */
  key: string;
  /** The colours below and above the limits, as `rrggbb`; empty for the end colours of the map. */
  ends: [string, string];
  units: string;
  /** Returns a value as text; `null` if ticks are numbers. */
  tell: ((value: number) => string) | null;
  /** The ticks with their texts; `null` for round numbers. */
  ticks: [number, string][] | null;
}

export interface Scene {
  width: number;
  height: number;
  shown: Shown;
  state: State;
  /** The visible elements, and whether each axis is reversed. */
  box: Box;
  directions: [boolean, boolean];
  layers: Layer[];
  /** True if the layers have an older state than the one that is being loaded. */
  isOld: boolean;
  bar: Bar | null;
  coast: coasts.Coast | null;
  /** The map on which the image is drawn; `null` for a grid. */
  map: { globe: Globe; paint: (pen: Pen) => void; pixelOf: (column: number, row: number) => [number, number] | null } | null;
  /** The element in which orthogonal planes meet; `null` for a single image. */
  cross: [number, number] | null;
  /** True after a key was pressed: the middle is marked. */
  isKeyed: boolean;
  theme: Theme;
  /** The lines above the picture, only in files. */
  title: string[];
}

/** A rectangle: left, top, width and height. */
export type Rect = [number, number, number, number];

/** Returns the rectangle of the picture, without the margins for the axes, the color bar and the title. */
export function area(width: number, height: number, hasBar: boolean, titleLines = 0): Rect {
  const [left, top, right, bottom] = [width < 500 ? 44 : 62, titleLines > 0 ? 20 + titleLines * 20 : 10, hasBar ? 78 : 16, 40];
  return [left, top, Math.max(40, width - left - right), Math.max(40, height - top - bottom)];
}

/** The positions of elements in a rectangle. */
export class Plane {
  constructor(
    readonly rect: Rect,
    readonly box: Box,
    private readonly directions: [boolean, boolean],
  ) {}

  readonly toX = (element: number): number => {
    const [left, , width] = this.rect;
    const part = (element - this.box[0]) / (this.box[2] - this.box[0]);
    return left + (this.directions[0] ? 1 - part : part) * width;
  };

  readonly toY = (element: number): number => {
    const [, top, , height] = this.rect;
    const part = (element - this.box[1]) / (this.box[3] - this.box[1]);
    return top + (this.directions[1] ? 1 - part : part) * height;
  };

  /** Returns the element at a position. */
  from(x: number, y: number): [number, number] {
    const [left, top, width, height] = this.rect;
    const [across, down] = [(x - left) / width, (y - top) / height];
    return [
      this.box[0] + (this.directions[0] ? 1 - across : across) * (this.box[2] - this.box[0]),
      this.box[1] + (this.directions[1] ? 1 - down : down) * (this.box[3] - this.box[1]),
    ];
  }

  /** Returns the rectangle of a range of elements. */
  span(left: number, top: number, right: number, bottom: number): Rect {
    const [x, y] = [this.toX(left), this.toY(top)];
    return [x, y, this.toX(right) - x, this.toY(bottom) - y];
  }

  /** Returns the rectangle of the visible part of an array. */
  frame(columns: number, rows: number): Rect {
    const [left, top, width, height] = this.rect;
    const [x, y, wide, tall] = upright(this.span(0, 0, columns, rows));
    const [right, bottom] = [Math.min(left + width, x + wide), Math.min(top + height, y + tall)];
    const [from, above] = [Math.max(left, x), Math.max(top, y)];
    return [from, above, Math.max(0, right - from), Math.max(0, bottom - above)];
  }
}

const upright = ([x, y, width, height]: Rect): Rect => [Math.min(x, x + width), Math.min(y, y + height), Math.abs(width), Math.abs(height)];

/** Returns the geometry of a figure: its plane, and the rectangle of the picture in it. */
function places(scene: Scene): { plane: Plane; frame: Rect } {
  const [x, y] = sides(scene.shown, scene.state);
  const plane = new Plane(area(scene.width, scene.height, scene.bar !== null, scene.title.length), scene.box, scene.directions);
  return { plane, frame: plane.frame(scene.shown.shape[x] ?? 1, scene.shown.shape[y] ?? 1) };
}

/** Draws the picture of a figure. Returns its rectangle. */
export function drawPicture(pen: Pen, scene: Scene): Rect {
  const { plane, frame } = places(scene);
  pen.fill(0, 0, scene.width, scene.height, scene.theme.paper);
  if (scene.map) {
    scene.map.paint(pen);
    return scene.map.globe.rect;
  }
  pen.within(...frame, () => {
    for (const layer of scene.layers) drawLayer(pen, scene, layer, plane);
  });
  return frame;
}

/** Draws the overlays and axes of a picture, which are the same for all slices. */
export function drawFrame(pen: Pen, scene: Scene): void {
  const { shown, state, theme } = scene;
  const [x, y] = sides(shown, state);
  const { plane, frame } = places(scene);
  scene.title.forEach((line, at) => pen.text(plane.rect[0], 28 + at * 20, line, { colour: at === 0 ? theme.ink : theme.soft, size: at === 0 ? 17 : 12, isBold: at === 0 }));
  if (scene.map) {
    drawMapFrame(pen, scene.map.globe, state, theme, scene.map.pixelOf);
    if (scene.isKeyed) drawMiddle(pen, plane.rect);
    if (scene.bar) drawBar(pen, scene.bar, plane.rect, scene);
    return;
  }
  pen.within(...frame, () => {
    if (scene.coast && state.coast) drawLines(pen, coasts.lines(scene.coast, plane.toX, plane.toY), 1);
    if (state.grid) drawChunks(pen, scene, plane);
    drawPins(pen, state, plane);
    if (scene.cross) drawCross(pen, scene.cross, plane);
    if (scene.isKeyed) drawMiddle(pen, plane.rect);
  });
  pen.frame(...frame, theme.soft, 1);
  const [xAxis, yAxis] = [shown.axes[x], shown.axes[y]];
  if (xAxis) drawX(pen, xAxis, plane, frame, theme);
  if (yAxis) drawY(pen, yAxis, plane, frame, theme);
  if (xAxis) drawScale(pen, xAxis, plane, frame);
  if (scene.bar) drawBar(pen, scene.bar, frame, scene);
}

/** Returns a key for the frame of a figure: figures with the same key have the same frame. */
export function frameKey({ width, height, shown, state, box, directions, bar, coast, cross, map, isKeyed, theme, title }: Scene): string {
  const { coast: isCoast, graticule, grid, points } = state;
  return JSON.stringify([width, height, sides(shown, state), box, directions, bar && [bar.limits, bar.norm, bar.key, bar.units], (coast !== null || map !== null) && isCoast, map && [map.globe.key, graticule], cross, grid, points, isKeyed, theme, title]);
}

function drawLayer(pen: Pen, { shown, state, theme, isOld }: Scene, layer: Layer, plane: Plane): void {
  const [x, y] = sides(shown, state);
  const [fx, fy] = [layer.level.factors[x] ?? 1, layer.level.factors[y] ?? 1];
  const opacity = isOld ? 0.35 : 1;
  const place = ({ column, row, columns, rows }: { column: number; row: number; columns: number; rows: number }): Rect =>
    plane.span((layer.x + column * layer.stepX) * fx, (layer.y + row * layer.stepY) * fy, (layer.x + (column + columns) * layer.stepX) * fx, (layer.y + (row + rows) * layer.stepY) * fy);
  for (const tile of layer.tiles) {
    // Missing values are not painted: the hatching behind them is visible, and hides older pictures.
    pen.hatch(...upright(place(tile)), theme.paper, theme.faint);
    pen.image(layer.canvas, [tile.column, tile.row, tile.columns, tile.rows], place(tile), opacity);
  }
  for (const tile of layer.damaged) pen.hatch(...upright(place(tile)), theme.paper, theme.alarm);
  if (!layer.labels || state.opacity === 0) return;
  const { canvas, box } = layer.labels;
  pen.image(canvas, [0, 0, canvas.width, canvas.height], plane.span(...box), (state.opacity / 100) * opacity);
}

/** Draws lines that are visible on any background. */
function drawLines(pen: Pen, lines: [number, number][][], width: number): void {
  pen.lines(lines, "#ffffff99", width + 1.5);
  pen.lines(lines, "#000", width);
}

/** Draws the edges of chunks, and thicker edges of shards, unless there are too many. */
function drawChunks(pen: Pen, { shown, state, box }: Scene, { toX, toY }: Plane): void {
  const [x, y] = sides(shown, state);
  const { chunk_shape: chunks, shard_shape: shards } = shown.node;
  const [wide, tall] = [shown.shape[x] ?? 1, shown.shape[y] ?? 1];
  for (const [lengths, width] of [[chunks, 1], [shards, 2.5]] as const) {
    const across = edges(lengths?.[x], box[0], box[2], wide).map((at): [number, number][] => [[toX(at), toY(0)], [toX(at), toY(tall)]]);
    const down = edges(lengths?.[y], box[1], box[3], tall).map((at): [number, number][] => [[toX(0), toY(at)], [toX(wide), toY(at)]]);
    drawLines(pen, [...across, ...down], width);
  }
}

/** Returns the visible edges between parts of a length; empty if they would be too close together. */
function edges(length: number | undefined, from: number, to: number, all: number): number[] {
  if (!length) return [];
  const [first, last] = [Math.max(0, Math.ceil(from / length)), Math.min(Math.ceil(all / length), Math.floor(to / length))];
  return last - first > 400 ? [] : Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Math.min(all, (first + at) * length));
}

function drawPins(pen: Pen, state: State, { toX, toY }: Plane): void {
  state.points.forEach(([y, x], number) => {
    pen.circle(toX(x + 0.5), toY(y + 0.5), 6, "#fff", 4);
    pen.circle(toX(x + 0.5), toY(y + 0.5), 6, SERIES[number % SERIES.length]!, 2);
  });
}

/** Draws the lines in which the other planes cut the image. They leave the element itself visible. */
function drawCross(pen: Pen, [x, y]: [number, number], { toX, toY, rect: [left, top, width, height] }: Plane): void {
  const [across, down] = [toX(x + 0.5), toY(y + 0.5)];
  const gap = Math.max(6, Math.abs(toX(x + 1) - toX(x)) / 2, Math.abs(toY(y + 1) - toY(y)) / 2);
  const lines: [number, number][][] = [[[across, top], [across, down - gap]], [[across, down + gap], [across, top + height]], [[left, down], [across - gap, down]], [[across + gap, down], [left + width, down]]];
  for (const [thick, colour] of [[2.5, "#000000aa"], [1.2, "#ffd60a"]] as const) pen.lines(lines, colour, thick);
}

/** Marks the middle, to which keyboard commands refer. */
function drawMiddle(pen: Pen, [left, top, width, height]: Rect): void {
  for (const [thick, colour] of [[4, "#fff"], [1.5, "#000"]] as const) pen.frame(left + width / 2 - 5, top + height / 2 - 5, 10, 10, colour, thick);
}

function drawX(pen: Pen, axis: Axis, plane: Plane, [left, top, width, height]: Rect, { ink, soft }: Theme): void {
  const bottom = top + height;
  let free = -Infinity;
  const places = marks(axis, plane.box[0], plane.box[2], Math.max(2, width / 90)).map(([place, label]): [number, string] => [plane.toX(place + 0.5), label]);
  for (const [x, label] of places.sort((a, b) => a[0] - b[0])) {
    if (x < left - 1 || x > left + width + 1) continue;
    pen.lines([[[x, bottom], [x, bottom + 5]]], soft, 1);
    const half = label.length * 3.2;
    if (x - half < free) continue;
    free = x + half + 8;
    pen.text(x, bottom + 17, label, { colour: ink, align: "center" });
  }
  if (axis.kind !== "longitude" && axis.kind !== "latitude") pen.text(left + width / 2, bottom + 32, axisTitle(axis), { colour: soft, align: "center", most: width });
}

function drawY(pen: Pen, axis: Axis, plane: Plane, [left, top, , height]: Rect, { ink, soft }: Theme): void {
  let longest = 0;
  for (const [place, label] of marks(axis, plane.box[1], plane.box[3], Math.max(2, height / 60))) {
    const y = plane.toY(place + 0.5);
    if (y < top - 1 || y > top + height + 1) continue;
    pen.lines([[[left - 5, y], [left, y]]], soft, 1);
    pen.text(left - 8, y + 4, label, { colour: ink, align: "right", most: left - 10 });
    longest = Math.max(longest, label.length);
  }
  const room = left - 10 - Math.min(longest * 6.2, left - 12);
  if (axis.kind !== "longitude" && axis.kind !== "latitude" && room > 12) pen.text(left - 14 - Math.min(longest * 6.2, left - 24), top + height / 2, axisTitle(axis), { colour: soft, align: "center", isUpright: true, most: height });
}

const LENGTHS = ["nm", "µm", "mm", "cm", "m", "km"];

/** Draws a scale bar of a round length, if the axis has a unit of length. */
function drawScale(pen: Pen, axis: Axis, plane: Plane, [left, top, width, height]: Rect): void {
  if (!axis.at || !LENGTHS.includes(axis.units) || axis.length < 2 || width < 120) return;
  const each = Math.abs(axis.at(axis.length - 1) - axis.at(0)) / (axis.length - 1);
  const perPixel = (each * (plane.box[2] - plane.box[0])) / plane.rect[2];
  const power = 10 ** Math.floor(Math.log10(perPixel * width * 0.25));
  const length = [5, 2, 1].map((factor) => factor * power).find((candidate) => candidate <= perPixel * width * 0.25) ?? power;
  const [from, wide, y] = [left + 14, length / perPixel, top + height - 14];
  const text = axis.units === "m" && length >= 1000 ? `${rounded(length / 1000)} km` : `${rounded(length)} ${axis.units}`;
  pen.fill(from - 6, y - 19, Math.max(wide, text.length * 6.5) + 12, 27, "#ffffffcc");
  pen.fill(from, y, wide, 3, "#000");
  pen.text(from, y - 5, text, { colour: "#000" });
}

/** The height of the bars for colours below and above the limits. */
const END = 10;

function drawBar(pen: Pen, { limits, norm, colours, ends, units, tell, ticks: own }: Bar, [left, top, width, height]: Rect, { theme }: Scene): void {
  const strip = document.createElement("canvas");
  [strip.width, strip.height] = [1, 256];
  const pixels = new Uint8ClampedArray(new ArrayBuffer(1024));
  for (let at = 0; at < 256; at++) pixels.set([...colours.subarray((255 - at) * 3, (255 - at) * 3 + 3), 255], at * 4);
  strip.getContext("2d")?.putImageData(new ImageData(pixels, 1, 256), 0, 0);
  const [below, above] = ends.map((colour) => (colour ? END + 3 : 0)) as [number, number];
  const tall = Math.max(60, height - (units ? 16 : 0) - below - above);
  const [x, y, wide] = [left + width + 14, top + height - tall - below, 14];
  for (const [colour, at] of [[ends[0], y + tall + 3], [ends[1], y - END - 3]] as const) {
    if (!colour) continue;
    pen.fill(x, at, wide, END, `#${colour}`);
    pen.frame(x, at, wide, END, theme.soft, 1);
  }
  pen.image(strip, [0, 0, 1, 256], [x, y, wide, tall], 1);
  pen.frame(x, y, wide, tall, theme.soft, 1);
  const bent = bend(norm, limits);
  const [low, high] = [bent(limits[0]), bent(limits[1])];
  const values = own?.map(([value]) => value) ?? barTicks(limits, norm, Math.max(2, tall / 50));
  const texts = own?.map(([, text]) => text) ?? (tell ? values.map(tell) : norm === "linear" ? tickTexts(values) : values.map((value) => rounded(value, 3).replace("-", "−")));
  values.forEach((value, at) => {
    const place = y + tall * (1 - (bent(value) - low) / (high - low || 1));
    pen.lines([[[x + wide, place], [x + wide + 4, place]]], theme.soft, 1);
    pen.text(x + wide + 7, place + 4, texts[at]!, { colour: theme.ink, most: 56 });
  });
  if (units) pen.text(x, y - 6 - above, units, { colour: theme.soft, most: 72 });
}

/** Returns round values along a color bar. */
export function barTicks([low, high]: Limits, norm: Norm, wanted: number): number[] {
  if (norm === "linear" || (norm === "log" && high / low < 20)) return ticks(low, high, wanted);
  const decades = (from: number, to: number): number[] => {
    const [first, last] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
    const step = Math.max(1, Math.ceil((last - first) / wanted));
    return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, at) => Number((10 ** (first + at * step)).toPrecision(12)));
  };
  if (norm === "log") return decades(low, high);
  const near = linearPart(low, high) * 10;
  const positive = high > near ? decades(near, high) : [];
  const negative = low < -near ? decades(near, -low).map((value) => -value).reverse() : [];
  return [...negative, ...(low <= 0 && high >= 0 ? [0] : []), ...positive];
}
