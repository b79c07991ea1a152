/** The array that is looked at, and the part of it that is shown. */

import type { ArrayNode, Place } from "./api";
import type { Axis, Meaning } from "./coordinates";
import type { Level } from "./ome";
import type { State } from "./state";

/** All that is known of the array that is shown. */
export interface Shown {
  place: Place;
  /** The array; of an image in several sizes, the largest one. */
  node: ArrayNode;
  shape: number[];
  axes: Axis[];
  meaning: Meaning;
  /** The sizes of an image; only the array itself where there are no others. */
  levels: Level[];
  /** The dimension whose elements are red, green and blue; -1 if there is none. */
  colours: number;
  /** The channels of an image of microscopy. */
  channels: Channel[];
  /** The dimension of the channels; -1 if there is none. */
  channelDimension: number;
  /** Labels of its elements. */
  labels: Label[];
}

/** Numbers that tell what each element of an image belongs to; 0 is nothing. */
export interface Label {
  name: string;
  levels: Level[];
}

export interface Channel {
  label: string;
  /** Red, green and blue. */
  colour: [number, number, number];
  range: [number, number] | null;
  visible: boolean;
}

/** A dimension that is so many times shorter than two others holds layers of images. */
const SHORT = 16;

/** The views that suit an array, the best one first; none if it has no elements. */
export function views(shown: Shown): string[] {
  if (shown.shape.includes(0)) return [];
  const kind = shown.node.data_type.kind;
  const numbers = ["bool", "int", "uint", "float", "complex"].includes(kind) || isTime(shown.node);
  const fields = shown.node.data_type.fields ?? [];
  const long = shown.shape.filter((length) => length > 1).length;
  const found: string[] = [];
  if ((numbers || fields.length > 0) && long >= 2) found.push("image");
  if ((numbers || fields.length > 0) && long >= 1) found.push("line");
  if (!numbers || long < 2) found.unshift(...(long === 1 && numbers ? [] : ["table"]));
  if (!found.includes("table")) found.push("table");
  if (shown.shape.length > 0) found.push("chunks");
  return found;
}

function isTime(node: ArrayNode): boolean {
  return /datetime64|timedelta64/.test(node.data_type.name);
}

/** The dimensions along the sides of the image: those of the state, or those that fit. */
export function sides(shown: Shown, state: State): [number, number] {
  const ndim = shown.shape.length;
  const free = Array.from({ length: ndim }, (_, dimension) => dimension).filter((dimension) => dimension !== shown.colours);
  const named = (pattern: RegExp): number => free.find((dimension) => pattern.test(shown.axes[dimension]?.name ?? "")) ?? -1;
  const long = free.filter((dimension) => shown.shape[dimension]! > 1);
  const last = planeOf(shown, long.length >= 2 ? long : free);
  const usual = [last[1] ?? last[0] ?? 0, last.length > 1 ? last[0]! : -1];
  const [x, y] = [named(/^(x|lon|longitude|nav_lon)$/i), named(/^(y|lat|latitude|nav_lat)$/i)];
  const found = x >= 0 && y >= 0 ? [x, y] : usual;
  const wanted = (dimension: number): boolean => free.includes(dimension);
  const chosen = [wanted(state.x) ? state.x : found[0]!, wanted(state.y) ? state.y : found[1]!];
  if (chosen[0] === chosen[1]) chosen[1] = free.find((dimension) => dimension !== chosen[0]) ?? -1;
  return [chosen[0]!, chosen[1]!];
}

/** The two dimensions that make the best picture: the last ones, unless they are short beside others, or each chunk has one element along them. */
function planeOf(shown: Shown, dimensions: number[]): number[] {
  const chunked = dimensions.filter((dimension) => (shown.node.chunk_shape[dimension] ?? 2) > 1);
  const among = chunked.length >= 2 ? chunked : dimensions;
  const [third, second, first] = among.slice(-3);
  const length = (dimension: number): number => shown.shape[dimension]!;
  const isShort = first !== undefined && length(first) * SHORT <= Math.min(length(second!), length(third!));
  return isShort ? [third!, second!] : among.slice(-2);
}

/** The index along a dimension that is not shown. */
export function index(shown: Shown, state: State, dimension: number): number {
  return Math.min(state.at[dimension] ?? 0, Math.max(0, shown.shape[dimension]! - 1));
}

/** A selection in NumPy's syntax: of each dimension what a function says, or the index of the state. */
export function selection(shown: Shown, state: State, of: (dimension: number) => string | null): string {
  return shown.shape.map((_, dimension) => of(dimension) ?? String(index(shown, state, dimension))).join(", ");
}
