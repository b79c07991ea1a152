/** Pictures of a part of an array. An expensive picture is read tile by tile, so that a part of it is visible early. */

import { ApiError, call, slice, type Chunks, type Times, type Values, type Whole } from "../data/api";
import { numberOf, type Exact } from "../data/exact";
import { h } from "../dom";
import { fieldOf, index, reducedOf, selection, sides, type Shown } from "../data/model";
import { fitting, type Level } from "../data/ome";
import type { State } from "../data/state";

export type Box = [number, number, number, number];

/** The maximum number of pixels along a side of a picture. */
const MOST = 1400;
/** The decoded bytes of the chunks of a tile, and the maximum number of tiles of a picture. */
const [COST, TILES] = [24 << 20, 200];
/** From this number of tiles on, and up to this number of chunks, missing chunks are listed before tiles are read. */
const [MANY, LISTED] = [6, 40_000];

/** A part of a picture, in pixels of the picture. */
export interface Tile {
  column: number;
  row: number;
  columns: number;
  rows: number;
}

/** A tile that cannot be read. */
export interface Damage extends Tile {
  message: string;
}

/** Values, and the elements that they cover. */
export interface Picture {
  level: Level;
  /** The first elements of the level along x and y, and the number of elements per value. */
  x: number;
  y: number;
  stepX: number;
  stepY: number;
  columns: number;
  rows: number;
  /** The rows of each channel, or of the only plane without channels. NaN marks values that are not loaded. */
  planes: Float64Array[];
  /** The exact numbers of each plane, if floats cannot represent them. */
  whole: (Whole | null)[];
  /** Three or four bytes for each element, if elements are colours. */
  bytes: Float64Array | null;
  canvas: HTMLCanvasElement;
  /** The loaded tiles, and the tiles that cannot be read. */
  tiles: Tile[];
  damaged: Damage[];
  /** The number of requested tiles, and of received bytes. */
  asked: number;
  received: number;
  times: Times;
}

/** The part of an array to show. */
export interface Seen {
  state: State;
  /** The elements: left, top, right and bottom. */
  box: Box;
  /** The number of elements per pixel of the screen, across and down. */
  per: [number, number];
  /** The numbers of channels; empty if there are no channels. */
  visible: number[];
  /** The array from which the differences or the ratios are computed. It has the same lengths along x and y. */
  against?: Against | undefined;
}

/** An array and its state, which is subtracted from another array, or by which the other array is divided. */
export interface Against {
  shown: Shown;
  state: State;
  way: "difference" | "ratio";
}

/** A span along a dimension of a level: the first element, the end, and the number of elements per pixel. */
interface Span {
  first: number;
  end: number;
  step: number;
  count: number;
}

/** A plan for reading a picture: the empty picture, the elements of the image that it covers, its tiles, and a function that reads a tile. */
export interface Plan {
  picture: Picture;
  box: Box;
  /** The number of elements of the image per pixel, across and down. */
  per: [number, number];
  tiles: Tile[];
  read: (tile: Tile, signal: AbortSignal) => Promise<void>;
  /** Requests the data of a tile in advance. */
  fetch: (tile: Tile) => Promise<unknown>;
  /** Fills the tiles without stored chunks. Returns the other tiles. */
  written: (signal: AbortSignal) => Promise<Tile[]>;
}

function spanOf(level: Level, dimension: number, from: number, to: number, per: number, isReduced: boolean): Span {
  if (dimension < 0) return { first: 0, end: 1, step: 1, count: 1 };
  const factor = level.factors[dimension] ?? 1;
  const length = level.node.shape[dimension]!;
  const margin = (to - from) * 0.15;
  const begin = Math.max(0, Math.min(length - 1, Math.floor((from - margin) / factor)));
  const end = Math.max(begin + 1, Math.min(length, Math.ceil((to + margin) / factor)));
  const wanted = Math.max(1, Math.floor(per / factor), Math.ceil((end - begin) / MOST));
  const step = isReduced ? dividing(wanted, level.node.chunk_shape[dimension] ?? 1) : wanted;
  const first = isReduced ? begin - (begin % step) : begin;
  return { first, end, step, count: Math.ceil((end - first) / step) };
}

/** Returns a divisor of the chunk length that is at most `step` and not much smaller, so that no block of a reduction needs two chunks. */
function dividing(step: number, chunk: number): number {
  for (let smaller = step; smaller > step * 0.6; smaller--) if (chunk % smaller === 0) return smaller;
  return step;
}

/** Plans a picture of the visible part. */
export function plan(shown: Shown, { state, box, per, visible, against }: Seen): Plan {
  const [x, y] = sides(shown, state);
  const level = against ? shown.levels[0]! : fitting(shown.levels, x, Math.max(1, per[0]));
  const [across, down] = [spanOf(level, x, box[0], box[2], per[0], state.reduce !== "nearest"), spanOf(level, y, box[1], box[3], per[1], state.reduce !== "nearest")];
  const [columns, rows] = [across.count, down.count];
  const parts = shown.colours >= 0 ? shown.shape[shown.colours]! : 0;
  const number = parts > 0 ? 0 : shown.channels.length > 0 ? visible.length : 1;
  const picture: Picture = {
    level, x: across.first, y: down.first, stepX: across.step, stepY: down.step, columns, rows,
    planes: Array.from({ length: number }, () => new Float64Array(columns * rows).fill(NaN)),
    whole: Array.from({ length: number }, () => null),
    bytes: parts > 0 ? new Float64Array(columns * rows * parts) : null,
    canvas: h("canvas", { width: columns, height: rows }),
    tiles: [], damaged: [], asked: 0, received: 0, times: { fetched: 0, decoded: 0, stored: 0, sent: 0 },
  };
  const [fx, fy] = [level.factors[x] ?? 1, level.factors[y] ?? 1];
  const middle = [(box[0] + box[2]) / 2 / fx, (box[1] + box[3]) / 2 / fy];
  const far = (tile: Tile): number =>
    Math.hypot(across.first + (tile.column + tile.columns / 2) * across.step - middle[0]!, down.first + (tile.row + tile.rows / 2) * down.step - middle[1]!);
  const reduced = reducedOf(shown, state, "image");
  const deep = Math.max(1, level.node.grid_shape[reduced] ?? 1);
  const tiles = number === 0 && parts === 0 ? [] : tilesOf(level, x, y, across, down, deep).sort((a, b) => far(a) - far(b));
  const place = { root: shown.place.root, path: level.path };
  const channels = visible.length > 0 ? visible : [null];
  const ask = (tile: Tile, channel: number | null, signal?: AbortSignal): Promise<Values> =>
    slice(place, parameters(shown, state, level, channel, part(across, tile.column, tile.columns), part(down, tile.row, tile.rows)), signal);
  const done = (tile: Tile): void => {
    picture.tiles.push(tile);
    if (picture.damaged.length === 0 && area(picture.tiles) === columns * rows) picture.tiles = [{ column: 0, row: 0, columns, rows }];
  };

  const isDeviation = reduced >= 0 && state.statistic === "std";
  const put = async (tile: Tile, signal: AbortSignal): Promise<void> => {
    const [all, operands] = await Promise.all([Promise.all(channels.map((channel) => ask(tile, channel, signal))), against && operand(against, tile, part(across, tile.column, tile.columns), part(down, tile.row, tile.rows), signal)]);
    if (signal.aborted) return;
    picture.asked += all.length;
    for (const one of all) {
      picture.received += one.bytes;
      for (const name of ["fetched", "decoded", "stored", "sent"] as const) picture.times[name] += one.times[name];
    }
    const isTurned = x < y;
    if (picture.bytes) copy(picture.bytes, columns * parts, all[0]!.values, { ...tile, column: tile.column * parts, columns: tile.columns * parts });
    else {
      all.forEach((one, at) => {
        const values = turned(meant(shown, component(one, state), isDeviation), tile, isTurned);
        copy(picture.planes[at]!, columns, operands ? compared(values, operands, against!.way) : values, tile);
        if (operands || !one.whole || !shown.meaning.isPlain || isDeviation) return;
        const into = (picture.whole[at] ??= emptyLike(one.whole, columns * rows));
        copyWhole(into, columns, turned(one.whole, tile, isTurned), tile);
      });
    }
    done(tile);
  };

  /** Reads a tile. A tile with a damaged chunk is halved repeatedly, until the damaged chunk is isolated. */
  const read = async (tile: Tile, signal: AbortSignal): Promise<void> => {
    try {
      await put(tile, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError) || error.kind !== "corrupt") throw error;
      const halves = halved(level, x, y, across, down, tile);
      if (halves.length === 0) {
        picture.damaged.push({ ...tile, message: error.message });
        return;
      }
      for (const half of halves) await read(half, signal);
    }
  };

  const written = async (signal: AbortSignal): Promise<Tile[]> => {
    const grid = level.node.grid_shape;
    const chunks = [x, y, reduced].reduce((product, dimension) => product * (dimension < 0 ? 1 : (grid[dimension] ?? 1)), 1);
    const lengths = level.node.shard_shape ?? level.node.chunk_shape;
    const fill = isDeviation ? 0 : meant(shown, Float64Array.of(numberOf(level.node.fill_value as Exact)))[0]!;
    // Each channel has its own chunks.
    if (tiles.length < MANY || chunks > LISTED || channels.length > 1 || against || picture.bytes || fieldOf(shown, state) || Number.isNaN(fill - fill) && fill === fill) return tiles;
    const region = selection(shown, state, (dimension) => (dimension === x || dimension === y || dimension === reduced ? ":" : String(Math.floor(scaled(shown, state, level, dimension) / Math.max(1, lengths[dimension] ?? 1)))));
    const map = await call<Chunks>("chunks", place, { region }, signal).catch(() => null);
    if (!map || map.missing === 0 || signal.aborted) return tiles;
    const stored = new Set(map.chunks.map((chunk) => `${chunk.index[x] ?? 0},${chunk.index[y] ?? 0}`));
    const span = ({ first, step, end }: Span, from: number, number: number, dimension: number): [number, number] => {
      const length = Math.max(1, lengths[dimension] ?? 1);
      return dimension < 0 ? [0, 0] : [Math.floor((first + from * step) / length), Math.floor((Math.min(end, first + (from + number) * step) - 1) / length)];
    };
    const isWritten = (tile: Tile): boolean => {
      const [[left, right], [top, bottom]] = [span(across, tile.column, tile.columns, x), span(down, tile.row, tile.rows, y)];
      for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) if (stored.has(`${column},${row}`)) return true;
      return false;
    };
    return tiles.filter((tile) => {
      if (isWritten(tile)) return true;
      for (let row = tile.row; row < tile.row + tile.rows; row++) picture.planes[0]!.fill(fill, row * columns + tile.column, row * columns + tile.column + tile.columns);
      done(tile);
      return false;
    });
  };
  const fetch = (tile: Tile): Promise<unknown> => Promise.all(channels.map((channel) => ask(tile, channel)));
  return { picture, box: [across.first * fx, down.first * fy, across.end * fx, down.end * fy], per: [across.step * fx, down.step * fy], tiles, read, fetch, written };
}

/** Returns the differences or the ratios of values. */
function compared(values: Float64Array, others: Float64Array, way: Against["way"]): Float64Array {
  return values.map(way === "ratio" ? (value, at) => value / others[at]! : (value, at) => value - others[at]!);
}

/** Returns the values of a tile that are subtracted, or by which others are divided. */
async function operand({ shown, state }: Against, tile: Tile, across: Span, down: Span, signal: AbortSignal): Promise<Float64Array> {
  const [level, [x, y]] = [shown.levels[0]!, sides(shown, state)];
  const one = await slice({ root: shown.place.root, path: level.path }, parameters(shown, state, level, null, across, down), signal);
  const isDeviation = state.statistic === "std" && reducedOf(shown, state, "image") >= 0;
  return turned(meant(shown, component(one, state), isDeviation), tile, x < y);
}

const area = (tiles: Tile[]): number => tiles.reduce((sum, { columns, rows }) => sum + columns * rows, 0);

/** Returns the elements of a range of pixels of a span. */
function part({ first, end, step }: Span, from: number, count: number): Span {
  return { first: first + from * step, end: Math.min(end, first + (from + count) * step), step, count };
}

/** Returns the tiles of a picture, which end at chunk boundaries: no chunk is decoded twice. `deep` chunks are reduced over another dimension. */
function tilesOf(level: Level, x: number, y: number, across: Span, down: Span, deep: number): Tile[] {
  const { chunk_shape: chunk = [], shard_shape: shard, data_type: type } = level.node;
  const bytes = chunk.reduce((product, length) => product * length, Math.max(1, type?.bytes ?? 1) * deep);
  const [wide, tall] = [Math.max(1, chunk[x] ?? 1), y < 0 ? 1 : Math.max(1, chunk[y] ?? 1)];
  const number = ({ first, end }: Span, length: number): number => Math.ceil(end / length) - Math.floor(first / length);
  const [nx, ny] = [number(across, wide), number(down, tall)];
  let [gx, gy] = [Math.min(nx, Math.max(1, Math.floor(COST / bytes))), 1];
  if (gx === nx) gy = Math.max(1, Math.floor(COST / (bytes * nx)));
  const isMany = (): boolean => Math.ceil(nx / gx) * Math.ceil(ny / gy) > TILES;
  // Missing shards are skipped as a whole.
  if (isMany() && shard) [gx, gy] = [Math.max(gx, Math.round((shard[x] ?? 1) / wide)), y < 0 ? 1 : Math.max(1, Math.round((shard[y] ?? 1) / tall))];
  while (isMany()) [gx, gy] = gx < nx ? [Math.min(nx, gx * 2), gy] : [gx, gy * 2];
  const found: Tile[] = [];
  for (const [row, rows] of pieces(down, tall * gy)) for (const [column, columns] of pieces(across, wide * gx)) found.push({ column, row, columns, rows });
  return found;
}

/** Divides the pixels of a span at multiples of a length. Returns the first pixel and the number of pixels of each piece. */
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

/** Returns the halves of a tile, divided at a chunk boundary; empty if the tile has a single chunk. */
function halved(level: Level, x: number, y: number, across: Span, down: Span, tile: Tile): Tile[] {
  const chunk = level.node.chunk_shape;
  const wide = pieces(part(across, tile.column, tile.columns), Math.max(1, chunk[x] ?? 1));
  const tall = pieces(part(down, tile.row, tile.rows), y < 0 ? 1 : Math.max(1, chunk[y] ?? 1));
  if (wide.length <= 1 && tall.length <= 1) return [];
  if (wide.length >= tall.length) {
    const [first] = wide[wide.length >> 1]!;
    return [{ ...tile, columns: first }, { ...tile, column: tile.column + first, columns: tile.columns - first }];
  }
  const [first] = tall[tall.length >> 1]!;
  return [{ ...tile, rows: first }, { ...tile, row: tile.row + first, rows: tile.rows - first }];
}

/** Returns the index along a dimension of a level. */
function scaled(shown: Shown, state: State, level: Level, dimension: number): number {
  return Math.min(Math.floor(index(shown, state, dimension) / (level.factors[dimension] ?? 1)), Math.max(0, level.node.shape[dimension]! - 1));
}

function parameters(shown: Shown, state: State, level: Level, channel: number | null, across: Span, down: Span): Record<string, string | undefined> {
  const [x, y] = sides(shown, state);
  const field = fieldOf(shown, state);
  const reduced = reducedOf(shown, state, "image");
  const isThinned = across.step > 1 || down.step > 1;
  // A request has one reduction. If another dimension is reduced differently, single elements are read along the axes of the image.
  const isOfBlocks = reduced >= 0 ? state.reduce === state.statistic : state.reduce !== "nearest" && shown.colours < 0 && !field && isThinned;
  const span = ({ first, end, step }: Span): string => `${first}:${end}${!isOfBlocks && step > 1 ? `:${step}` : ""}`;
  const select = selection(shown, state, (dimension) => {
    if (dimension === x) return span(across);
    if (dimension === y) return span(down);
    if (dimension === shown.colours || dimension === reduced) return ":";
    if (dimension === shown.channelDimension && channel !== null) return String(channel);
    return String(scaled(shown, state, level, dimension));
  });
  const along = [[x, isOfBlocks ? across.step : 1], [y, isOfBlocks ? down.step : 1], [reduced, level.node.shape[reduced] ?? 1]].filter(([dimension]) => dimension! >= 0);
  const step = along.sort((a, b) => a[0]! - b[0]!).map(([, one]) => Math.max(1, one!)).join(",");
  const reduction = { reduce: reduced >= 0 ? state.statistic : state.reduce, step, missing: shown.meaning.missing.join(",") || undefined };
  return { select, field: field?.name, ...(isOfBlocks || reduced >= 0 ? reduction : {}) };
}

/** Copies the rows of a tile into a picture. */
function copy(into: Float64Array, width: number, from: Float64Array, { column, row, columns, rows }: Tile): void {
  if (from.length !== columns * rows) throw new Error(`the server sent ${from.length} elements and not ${columns * rows}`);
  for (let at = 0; at < rows; at++) into.set(from.subarray(at * columns, (at + 1) * columns), (row + at) * width + column);
}

function copyWhole(into: Whole, width: number, from: Whole, { column, row, columns, rows }: Tile): void {
  for (let at = 0; at < rows; at++) into.set(from.subarray(at * columns, (at + 1) * columns) as BigInt64Array & BigUint64Array, (row + at) * width + column);
}

const emptyLike = (whole: Whole, length: number): Whole => (whole instanceof BigInt64Array ? new BigInt64Array(length) : new BigUint64Array(length));

/** Converts stored numbers, or deviations of stored numbers, to the numbers that they mean. */
function meant({ meaning: { of, isPlain, scale } }: Shown, values: Float64Array, isDeviation = false): Float64Array {
  if (isDeviation) return scale === 1 ? values : values.map((value) => value * Math.abs(scale));
  return isPlain ? values : values.map(of);
}

/** Returns the function that computes the shown component of a complex number. */
export function componentOf({ component }: State): (real: number, imaginary: number) => number {
  if (component === "phase") return (real, imaginary) => Math.atan2(imaginary, real);
  if (component === "real") return (real) => real;
  return component === "imaginary" ? (_, imaginary) => imaginary : Math.hypot;
}

function component({ values, imaginary }: Values, state: State): Float64Array {
  if (!imaginary) return values;
  const of = componentOf(state);
  return values.map((real, at) => of(real, imaginary[at]!));
}

/** Exchanges rows and columns, if the picture is transposed. */
function turned<T extends Float64Array | Whole>(values: T, { columns, rows }: Tile, isTurned: boolean): T {
  if (!isTurned) return values;
  const out = values.slice() as T;
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) out[row * columns + column] = values[column * rows + row]!;
  return out;
}
