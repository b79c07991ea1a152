/** The opened array, and the part of it that is shown. */

import type { ArrayNode, Place } from "./api";
import type { Times } from "./calendar";
import { rises, timesOf, type Axis, type Meaning } from "./coordinates";
import type { Level } from "./ome";
import type { Curved } from "./curved";
import type { ProjectionName } from "../image/projections";
import type { State } from "./state";

/** All properties of the shown array. */
export interface Shown {
  place: Place;
  /** The array; for an image in several sizes, the largest one. */
  node: ArrayNode;
  shape: number[];
  axes: Axis[];
  meaning: Meaning;
  /** A description of the values. */
  title: string;
  /** The levels of an image; only the array itself if there are no others. */
  levels: Level[];
  /** The dimension whose elements are red, green and blue; -1 if there is none. */
  colours: number;
  channels: Channel[];
  /** The dimension of the channels; -1 if there is none. */
  channelDimension: number;
  labels: Label[];
  /** The initial indices of dimensions, from the metadata. */
  starts: Record<number, number>;
  /** The curvilinear coordinates; `null` if there are none. */
  curved: Curved | null;
}

/** An array of labels: each number identifies the object of an element; 0 is the background. */
export interface Label {
  name: string;
  levels: Level[];
  /** The colours of numbers in the metadata: red, green and blue. */
  colours: Map<number, [number, number, number]>;
}

export interface Channel {
  label: string;
  /** Red, green and blue. */
  colour: [number, number, number];
  range: [number, number] | null;
  visible: boolean;
}

/** A dimension that is shorter than two others by this factor holds layers of images. */
const SHORT = 16;

const NUMBERS = ["bool", "int", "uint", "float", "complex"];
const isTimeName = (name: string): boolean => /^\W*(?:numpy\.)?(datetime64|timedelta64)/.test(name);
const isNumberName = (name: string): boolean => /^(bool|u?int\d+|float\d+|bfloat16|complex\w*\d+)/.test(name) || isTimeName(name);

/** True if the elements are numbers or times. */
export const isNumeric = ({ data_type }: ArrayNode): boolean => data_type.fields === null && (NUMBERS.includes(data_type.kind) || isTimeName(data_type.name));

/** Returns the fields of a structured data type that are single numbers or times, by name and type. */
export function numericFields(node: ArrayNode): { name: string; data_type: string }[] {
  return (node.data_type.fields ?? []).filter((field) => field.shape.length === 0 && isNumberName(field.data_type));
}

/** Returns the name and the type of the shown field; `null` if the data type is not structured. */
export function fieldOf(shown: Shown, state: State): { name: string; data_type: string } | null {
  const fields = numericFields(shown.node);
  return fields.find((field) => field.name === state.field) ?? fields[0] ?? null;
}

/** Returns the conversion of shown numbers to times, from the type of the shown field or of the array. */
export function valueTimes(shown: Shown, state: State): Times | null {
  return timesOf(shown.node, fieldOf(shown, state)?.data_type);
}

/** Returns the unit of the shown numbers. */
export function valueUnits(shown: Shown, state: State): string {
  if (shown.node.data_type.kind === "complex" && state.component === "phase") return "rad";
  return fieldOf(shown, state) ? "" : shown.meaning.units;
}

/** Returns the views that suit an array, the best one first; empty if the array has no elements. */
export function views({ node, shape }: Shown): string[] {
  if (shape.includes(0)) return [];
  const numbers = isNumeric(node);
  const fields = numericFields(node).length > 0;
  const long = shape.filter((length) => length > 1).length;
  const found: string[] = [];
  if ((numbers || fields) && long >= 2) found.push("image");
  if ((numbers || fields) && long >= 1) found.push("plot");
  if (!numbers) found.unshift("table");
  if (!found.includes("table")) found.push("table");
  if (shape.length > 0) found.push("chunks");
  return found;
}

/** Returns the dimensions along the x axis and the y axis: those of the state, or the most suitable ones. */
export function sides(shown: Shown, state: State): [number, number] {
  const free = shown.shape.map((_, dimension) => dimension).filter((dimension) => dimension !== shown.colours);
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

/** Returns the dimensions along the sides of the chunk map: those of the state, or those that are divided into chunks. */
export function chunkSides(shown: Shown, state: State): [number, number] {
  if (state.x >= 0 || state.y >= 0) return sides(shown, state);
  const cut = shown.shape.map((_, dimension) => dimension).filter((dimension) => (shown.node.grid_shape[dimension] ?? 1) > 1);
  if (cut.length === 0) return sides(shown, state);
  return cut.length === 1 ? [cut[0]!, -1] : [cut[cut.length - 1]!, cut[cut.length - 2]!];
}

/** Returns the two dimensions for the image: the last ones, unless they are much shorter than others, or chunks have one element along them. */
function planeOf(shown: Shown, dimensions: number[]): number[] {
  const chunked = dimensions.filter((dimension) => (shown.node.chunk_shape[dimension] ?? 2) > 1);
  const among = chunked.length >= 2 ? chunked : dimensions;
  const [third, second, first] = among.slice(-3);
  const length = (dimension: number): number => shown.shape[dimension]!;
  const isShort = first !== undefined && length(first) * SHORT <= Math.min(length(second!), length(third!));
  return isShort ? [third!, second!] : among.slice(-2);
}

/** Returns how an image can be shown as a map: by the coordinates of its axes, or by curvilinear coordinates; `null` if it has neither. */
export function mapKind(shown: Shown, state: State): "straight" | "curved" | null {
  const [x, y] = sides(shown, state);
  if (shown.curved?.x === x && shown.curved.y === y) return "curved";
  const [across, down] = [shown.axes[x], shown.axes[y]];
  const isStraight = across?.kind === "longitude" && down?.kind === "latitude" && rises(across) !== null && rises(down) !== null;
  return isStraight ? "straight" : null;
}

/** Returns the projection of the map; `null` if the array is shown as a grid. Curvilinear grids are shown as maps by default. */
export function projectionOf(shown: Shown, state: State): ProjectionName | null {
  const kind = state.projection === "grid" || state.planes >= 0 ? null : mapKind(shown, state);
  return kind && (state.projection || (kind === "curved" ? "plate" : null));
}

/** Returns true for each axis that is reversed: x to the left, or y upwards. Coordinates increase to the right and upwards, depths downwards. */
export function directions(shown: Shown, state: State): [boolean, boolean] {
  const [x, y] = sides(shown, state).map((dimension) => shown.axes[dimension]);
  const [isLeft, isUp] = [x ? rises(x) === false && x.kind !== "index" : false, y ? isUpwards(y) : false];
  return [isLeft !== state.flip.includes("x"), isUp !== state.flip.includes("y")];
}

function isUpwards(axis: Axis): boolean {
  const up = rises(axis);
  return up !== null && up !== axis.isDown;
}

/** Returns true if elements are squares: both axes have the same unit, or only indices. */
export function isEqual(shown: Shown, state: State): boolean {
  if (state.aspect !== "") return state.aspect === "equal";
  const [x, y] = sides(shown, state).map((dimension) => shown.axes[dimension]);
  if (!x || !y) return false;
  const isMap = (axis: Axis): boolean => axis.kind === "longitude" || axis.kind === "latitude";
  if (!x.at && !y.at) return Math.max(x.length / y.length, y.length / x.length) <= 6;
  return (isMap(x) && isMap(y)) || (x.at !== null && y.at !== null && x.units === y.units && x.units !== "" && x.kind !== "time");
}

/** Returns the ratio of the width of an element to its height, from the coordinates if both axes have them. */
export function elementRatio(shown: Shown, state: State): number {
  const [x, y] = sides(shown, state).map((dimension) => shown.axes[dimension]);
  const distance = (axis: Axis | undefined): number => (axis?.at && axis.length > 1 && axis.kind !== "time" ? Math.abs(axis.at(axis.length - 1) - axis.at(0)) / (axis.length - 1) : NaN);
  const ratio = distance(x) / distance(y);
  return ratio > 1e-3 && ratio < 1e3 && x?.units === y?.units ? ratio : x?.kind === "longitude" && ratio > 0 && ratio < 1e3 ? ratio : 1;
}

/** Returns the index along a dimension that is not shown. */
export function index(shown: Shown, state: State, dimension: number): number {
  return Math.min(state.at[dimension] ?? shown.starts[dimension] ?? 0, Math.max(0, shown.shape[dimension]! - 1));
}

/** Returns a selection in NumPy's syntax. For each dimension, `of` returns an item; otherwise the item is the index of the state. */
export function selection(shown: Shown, state: State, of: (dimension: number) => string | null): string {
  return shown.shape.map((_, dimension) => of(dimension) ?? String(index(shown, state, dimension))).join(", ");
}

/** Returns the dimensions that have a slider in a view. */
export function rest(shown: Shown, state: State, view: string): number[] {
  const used = view === "plot" ? [along(shown, state)] : view === "chunks" ? chunkSides(shown, state) : sides(shown, state);
  return shown.shape.map((_, dimension) => dimension).filter((dimension) => {
    const hidden = used.includes(dimension) || (view === "image" && (dimension === shown.colours || dimension === shown.channelDimension));
    return !hidden && shown.shape[dimension]! > 1;
  });
}

/** Returns the dimensions that can be the third one of three orthogonal planes, the most suitable one first. */
export function thirds(shown: Shown, state: State): number[] {
  const suits = (dimension: number): boolean => /^z$/i.test(shown.axes[dimension]?.name ?? "") || shown.axes[dimension]?.kind === "vertical";
  return shown.colours >= 0 || sides(shown, state)[1] < 0 ? [] : rest(shown, state, "image").reverse().sort((a, b) => Number(suits(b)) - Number(suits(a)));
}

/** Returns the third dimension of orthogonal planes; -1 if only the image is shown. */
export function thirdOf(shown: Shown, state: State): number {
  return thirds(shown, state).includes(state.planes) ? state.planes : -1;
}

/** Returns the element of a plane in which orthogonal planes meet; `null` for a single image. */
export function crossOf(shown: Shown, state: State, isPart: boolean): [number, number] | null {
  if (!isPart && thirdOf(shown, state) < 0) return null;
  const [x, y] = sides(shown, state);
  return [index(shown, state, x), index(shown, state, y)];
}

/** Returns the dimensions that have a row of controls in a view. Orthogonal planes also have rows for the axes of the image. */
export function rowsOf(shown: Shown, state: State, view: string): number[] {
  const others = rest(shown, state, view);
  return view === "image" && thirdOf(shown, state) >= 0 ? [state.planes, ...[...sides(shown, state)].reverse(), ...others.filter((dimension) => dimension !== state.planes)] : others;
}

/** Returns true if the values have means and standard deviations. */
export function isReducible(shown: Shown, state: State): boolean {
  return ["bool", "int", "uint", "float"].includes(shown.node.data_type.kind) && isNumeric(shown.node) && shown.colours < 0 && valueTimes(shown, state) === null;
}

/** Returns the dimension over which a view shows a statistic; -1 if it shows one index along each dimension. */
export function reducedOf(shown: Shown, state: State, view: string): number {
  const isPossible = state.statistic !== "" && (view === "image" || view === "plot") && isReducible(shown, state);
  return isPossible && rest(shown, state, view).includes(state.reduced) ? state.reduced : -1;
}

/** Returns the dimension of the plot of a whole array. */
export function along(shown: Shown, state: State): number {
  if (state.along >= 0 && state.along < shown.shape.length) return state.along;
  if (state.x >= 0 && state.x < shown.shape.length) return state.x;
  const long = shown.shape.map((_, dimension) => dimension).filter((dimension) => shown.shape[dimension]! > 1 && dimension !== shown.colours);
  return long.find((dimension) => shown.axes[dimension]?.kind === "time") ?? long[0] ?? 0;
}

/** Returns the dimension along which a pin is plotted: time or height if there is one, or else one of the image's dimensions; -1 for none. */
export function pinAlong(shown: Shown, state: State): number {
  const possible = shown.shape.map((_, dimension) => dimension).filter((dimension) => dimension !== shown.colours && dimension !== shown.channelDimension && shown.shape[dimension]! > 1);
  if (possible.includes(state.along)) return state.along;
  const others = possible.filter((dimension) => !sides(shown, state).includes(dimension));
  const kind = (wanted: string): number | undefined => others.find((dimension) => shown.axes[dimension]?.kind === wanted);
  return kind("time") ?? kind("vertical") ?? others[0] ?? possible[0] ?? -1;
}

/** Returns the shown selection in NumPy's syntax. */
export function shownSelection(shown: Shown, state: State, view: string): string {
  const [x, y] = view === "plot" ? [along(shown, state), -1] : sides(shown, state);
  const span = (dimension: number, from: number, to: number): string => {
    const [first, end] = [Math.max(0, Math.floor(from)), Math.min(shown.shape[dimension]!, Math.ceil(to))];
    return first === 0 && end === shown.shape[dimension] ? ":" : `${first}:${end}`;
  };
  return selection(shown, state, (dimension) => {
    if (dimension === shown.colours || dimension === reducedOf(shown, state, view)) return ":";
    if (dimension !== x && dimension !== y) return null;
    if (state.box.length !== 4) return ":";
    return dimension === x ? span(dimension, state.box[0]!, state.box[2]!) : span(dimension, state.box[1]!, state.box[3]!);
  });
}

/** Returns the number of elements of the shown selection. */
export function shownCount(shown: Shown, state: State, view: string): number {
  return shownSelection(shown, state, view).split(", ").reduce((product, part, dimension) => {
    if (part === ":") return product * shown.shape[dimension]!;
    const [first, end] = part.split(":").map(Number);
    return end === undefined ? product : product * (end - first!);
  }, 1);
}
