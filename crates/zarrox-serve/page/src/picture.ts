/** Pictures of a part of an array, which are read tile by tile where they cost much: something is seen long before all is there. */

import { slice, type Values } from "./api";
import { h } from "./dom";
import { index, sides, type Shown } from "./model";
import { fitting, type Level } from "./ome";
import type { State } from "./state";

export type Box = [number, number, number, number];

/** The most pixels of a picture along a side. */
const MOST = 1400;
/** The bytes of chunks that are decoded for a tile, and the most tiles of a picture. */
const [COST, TILES] = [24 << 20, 200];

/** A part of a picture, in its pixels. */
export interface Tile {
  column: number;
  row: number;
  columns: number;
  rows: number;
}

/** Values that are read, and the elements that they cover. */
export interface Picture {
  level: Level;
  /** The first elements of the level along x and y, and the elements between two values. */
  x: number;
  y: number;
  stepX: number;
  stepY: number;
  columns: number;
  rows: number;
  /** One list of rows for each channel; one list of all where there are no channels. NaN is what is not there yet. */
  planes: Float64Array[];
  /** Three or four bytes for each element, where elements are colours. */
  bytes: Float64Array | null;
  canvas: HTMLCanvasElement;
  /** The parts that are there. */
  tiles: Tile[];
  /** True if it shows what the state says; parts may be under way. */
  whole: boolean;
}

/** The part of an array that is to be seen. */
export interface Seen {
  state: State;
  /** The elements: left, top, right and bottom. */
  box: Box;
  /** The elements for each pixel of the screen, across and down. */
  per: [number, number];
  /** The numbers of channels; empty where there are none. */
  visible: number[];
}

/** A span along a dimension of a level: the first element, the end, and the elements for each pixel. */
interface Span {
  first: number;
  end: number;
  step: number;
  count: number;
}

/** The way to a picture: an empty one, the elements of the image that it covers, its tiles, and a function that reads one. */
export interface Plan {
  picture: Picture;
  box: Box;
  /** The elements of the image for each pixel, across and down. */
  per: [number, number];
  tiles: Tile[];
  read: (tile: Tile, signal: AbortSignal) => Promise<void>;
}

function spanOf(level: Level, dimension: number, from: number, to: number, per: number): Span {
  if (dimension < 0) return { first: 0, end: 1, step: 1, count: 1 };
  const factor = level.factors[dimension] ?? 1;
  const length = level.node.shape[dimension]!;
  const margin = (to - from) * 0.15;
  const first = Math.max(0, Math.min(length - 1, Math.floor((from - margin) / factor)));
  const end = Math.max(first + 1, Math.min(length, Math.ceil((to + margin) / factor)));
  const step = Math.max(1, Math.floor(per / factor), Math.ceil((end - first) / MOST));
  return { first, end, step, count: Math.ceil((end - first) / step) };
}

/** Plans a picture of what is to be seen. */
export function plan(shown: Shown, { state, box, per, visible }: Seen): Plan {
  const [x, y] = sides(shown, state);
  const level = fitting(shown.levels, x, Math.max(1, per[0]));
  const [across, down] = [spanOf(level, x, box[0], box[2], per[0]), spanOf(level, y, box[1], box[3], per[1])];
  const [columns, rows] = [across.count, down.count];
  const parts = shown.colours >= 0 ? shown.shape[shown.colours]! : 0;
  const planes = parts > 0 ? [] : Array.from({ length: Math.max(1, visible.length) }, () => new Float64Array(columns * rows).fill(NaN));
  const picture: Picture = {
    level,
    x: across.first,
    y: down.first,
    stepX: across.step,
    stepY: down.step,
    columns,
    rows,
    planes,
    bytes: parts > 0 ? new Float64Array(columns * rows * parts) : null,
    canvas: h("canvas", { width: columns, height: rows }),
    tiles: [],
    whole: true,
  };
  const [fx, fy] = [level.factors[x] ?? 1, level.factors[y] ?? 1];
  const middle = [(box[0] + box[2]) / 2 / fx, (box[1] + box[3]) / 2 / fy];
  const far = (tile: Tile): number =>
    Math.hypot(across.first + (tile.column + tile.columns / 2) * across.step - middle[0]!, down.first + (tile.row + tile.rows / 2) * down.step - middle[1]!);
  const tiles = tilesOf(level, x, y, across, down).sort((a, b) => far(a) - far(b));
  const read = async (tile: Tile, signal: AbortSignal): Promise<void> => {
    const wanted = visible.length > 0 ? visible : [null];
    const place = { root: shown.place.root, path: level.path };
    const all = await Promise.all(wanted.map((channel) => slice(place, parameters(shown, state, level, channel, part(across, tile.column, tile.columns), part(down, tile.row, tile.rows)), signal)));
    if (signal.aborted) return;
    const upright = (values: Float64Array): Float64Array => (x > y ? values : transposed(values, tile.columns, tile.rows));
    if (picture.bytes) copy(picture.bytes, columns * parts, all[0]!.values, { ...tile, column: tile.column * parts, columns: tile.columns * parts });
    else all.forEach((one, at) => copy(planes[at]!, columns, upright(meant(shown, numbers(one, state))), tile));
    picture.tiles.push(tile);
    if (picture.tiles.length === tiles.length) picture.tiles = [{ column: 0, row: 0, columns, rows }];
  };
  return { picture, box: [across.first * fx, down.first * fy, across.end * fx, down.end * fy], per: [across.step * fx, down.step * fy], tiles, read };
}

/** The elements of some pixels of a span. */
function part({ first, end, step }: Span, from: number, count: number): Span {
  return { first: first + from * step, end: Math.min(end, first + (from + count) * step), step, count };
}

/** The tiles of a picture, whose edges are those of chunks: no chunk is decoded for two tiles. */
function tilesOf(level: Level, x: number, y: number, across: Span, down: Span): Tile[] {
  const { chunk_shape: chunk = [], data_type: type } = level.node;
  const bytes = chunk.reduce((product, length) => product * length, Math.max(1, type?.bytes ?? 1));
  const [wide, tall] = [Math.max(1, chunk[x] ?? 1), y < 0 ? 1 : Math.max(1, chunk[y] ?? 1)];
  const number = ({ first, end }: Span, length: number): number => Math.ceil(end / length) - Math.floor(first / length);
  const [nx, ny] = [number(across, wide), number(down, tall)];
  let [gx, gy] = [Math.min(nx, Math.max(1, Math.floor(COST / bytes))), 1];
  if (gx === nx) gy = Math.max(1, Math.floor(COST / (bytes * nx)));
  while (Math.ceil(nx / gx) * Math.ceil(ny / gy) > TILES) [gx, gy] = gx < nx ? [Math.min(nx, gx * 2), gy] : [gx, gy * 2];
  const found: Tile[] = [];
  for (const [row, rows] of pieces(down, tall * gy)) for (const [column, columns] of pieces(across, wide * gx)) found.push({ column, row, columns, rows });
  return found;
}

/** The pixels of a span between multiples of a length: the first one of each piece, and their number. */
function pieces({ first, end, step, count }: Span, length: number): [number, number][] {
  const found: [number, number][] = [];
  let from = 0;
  for (let edge = (Math.floor(first / length) + 1) * length; from < count; edge += length) {
    const to = edge >= end ? count : Math.min(count, Math.ceil((edge - first) / step));
    if (to > from) found.push([from, to - from]);
    from = Math.max(from, to);
  }
  return found;
}

function parameters(shown: Shown, state: State, level: Level, channel: number | null, across: Span, down: Span): Record<string, string | undefined> {
  const [x, y] = sides(shown, state);
  const isReduced = state.reduce !== "nearest" && shown.colours < 0;
  const span = ({ first, end, step }: Span): string => `${first}:${end}${!isReduced && step > 1 ? `:${step}` : ""}`;
  const select = shown.shape.map((_, dimension) => {
    if (dimension === x) return span(across);
    if (dimension === y) return span(down);
    if (dimension === shown.colours) return ":";
    if (dimension === shown.channelDimension && channel !== null) return String(channel);
    const scaled = Math.floor(index(shown, state, dimension) / (level.factors[dimension] ?? 1));
    return String(Math.min(scaled, Math.max(0, level.node.shape[dimension]! - 1)));
  });
  const steps = y < 0 ? [across.step] : x > y ? [down.step, across.step] : [across.step, down.step];
  return {
    select: select.join(", "),
    field: state.field || undefined,
    ...(isReduced ? { reduce: state.reduce, step: steps.join(","), missing: shown.meaning.missing.join(",") || undefined } : {}),
  };
}

/** Copies the rows of a tile into those of a picture. */
function copy(into: Float64Array, width: number, from: Float64Array, { column, row, columns, rows }: Tile): void {
  if (from.length !== columns * rows) throw new Error(`the server sent ${from.length} elements and not ${columns * rows}`);
  for (let at = 0; at < rows; at++) into.set(from.subarray(at * columns, (at + 1) * columns), (row + at) * width + column);
}

/** The numbers that stored ones mean, in place. */
function meant(shown: Shown, values: Float64Array): Float64Array {
  const { of, isPlain } = shown.meaning;
  if (isPlain) return values;
  for (let at = 0; at < values.length; at++) values[at] = of(values[at]!);
  return values;
}

/** The shown numbers of complex ones. */
function numbers(values: Values, state: State): Float64Array {
  const { values: real, imaginary } = values;
  if (!imaginary) return real;
  const of = state.part === "phase" ? (i: number) => Math.atan2(imaginary[i]!, real[i]!) : (i: number) => Math.hypot(real[i]!, imaginary[i]!);
  return real.map((_, i) => of(i));
}

function transposed(values: Float64Array, columns: number, rows: number): Float64Array {
  const out = new Float64Array(values.length);
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) out[row * columns + column] = values[column * rows + row]!;
  return out;
}
