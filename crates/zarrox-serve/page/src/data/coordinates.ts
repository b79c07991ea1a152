/** Coordinates along dimensions: the values of the arrays that have the names of the dimensions. */

import { call, exactly, type ArrayNode, type Json, type NodeInfo, type Place, type Slice } from "./api";
import { dates, timeTicks, timesOfType, type Times } from "./calendar";
import { numberOf, type Exact } from "./exact";
import { count, exact, multiples, rounded, tickStep, tickTexts, unit } from "./numbers";

/** The maximum number of coordinates that are loaded at once, and that are sent with an array. */
const [MOST, COMING] = [200_000, 20_000];

export type AxisKind = "time" | "longitude" | "latitude" | "vertical" | "index" | "other";

/** The coordinates along one dimension. */
export interface Axis {
  name: string;
  length: number;
  kind: AxisKind;
  /** The displayed unit; empty for times. */
  units: string;
  /** Returns the coordinate of an index as a number; `null` if the axis has only indices or texts. */
  at: ((index: number) => number) | null;
  /** Returns the coordinate of an index as text, without its unit. */
  label: (index: number) => string;
  times: Times | null;
  /** True if larger coordinates are further down, as for depths and pressures. */
  isDown: boolean;
  /** True if there are coordinates, which may be texts. */
  isKnown: boolean;
}

const text = (json: Json | undefined): string => (typeof json === "string" ? json : "");

const LATITUDE = { name: /^(lat|lats|latitude|nav_lat)$/i, units: /^degrees?_?n(orth)?$/i, standard: "latitude" };
const LONGITUDE = { name: /^(lon|lons|long|longitude|nav_lon)$/i, units: /^degrees?_?e(ast)?$/i, standard: "longitude" };

/** Returns whether an array has longitudes or latitudes, from its name and its attributes. */
export function sphereKind(name: string, attributes: ArrayNode["attributes"]): "longitude" | "latitude" | null {
  const [units, standard] = [text(attributes["units"]), text(attributes["standard_name"])];
  const is = (kind: typeof LATITUDE): boolean => (standard === "" ? kind.units.test(units) || kind.name.test(name) : standard === kind.standard);
  return is(LONGITUDE) ? "longitude" : is(LATITUDE) ? "latitude" : null;
}

/** Returns the conversion of an array's numbers to times, from its CF units or its type; `null` for other arrays. */
export function timesOf(node: Pick<ArrayNode, "attributes" | "data_type">, type = node.data_type.name): Times | null {
  const attributes = type === node.data_type.name ? node.attributes : {};
  return dates(text(attributes["units"]), text(attributes["calendar"])) ?? timesOfType(type);
}

/** Returns the dimension names of an array, from its metadata or from xarray's attribute. */
export function dimensionNames(node: ArrayNode): (string | null)[] {
  const ndim = node.shape.length;
  const own = node.dimension_names;
  if (own?.length === ndim) return own;
  const noted = node.attributes["_ARRAY_DIMENSIONS"];
  if (Array.isArray(noted) && noted.length === ndim) return noted.map((name) => (typeof name === "string" ? name : null));
  return Array.from({ length: ndim }, () => null);
}

/** Returns an axis without coordinates, which has only indices. */
export function indices(name: string | null, dimension: number, length: number): Axis {
  return { name: name ?? `dimension ${dimension}`, length, kind: "index", units: "", at: null, label: String, times: null, isDown: false, isKnown: false };
}

/** Returns an axis with evenly spaced coordinates, such as those of OME-Zarr. */
export function even(plain: Axis, scale: number, offset: number, units: string): Axis {
  const at = (index: number): number => offset + index * scale;
  return { ...plain, kind: "other", units: unit(units), at, label: (index) => rounded(at(index), 6), isDown: true, isKnown: true };
}

/** The coordinates of a dimension, as the server sends them. */
type Known = Pick<ArrayNode, "attributes" | "data_type" | "fill_value"> & { values: Json[] };

/** Returns the axes of an array. A dimension has coordinates if an array beside this one has its name. */
export async function axes(place: Place, node: ArrayNode): Promise<Axis[]> {
  const names = dimensionNames(node);
  const group = place.path.split("/").slice(0, -1).join("/");
  return Promise.all(
    node.shape.map(async (length, dimension) => {
      const name = names[dimension] ?? null;
      const plain = indices(name, dimension, length);
      if (!name || length > MOST || node.name === name) return plain;
      const known = node.coordinates?.[name];
      if (known) return axisOf(plain, known, known.values);
      // Short coordinates were sent with the array.
      if (node.coordinates && length <= COMING) return plain;
      return coordinates({ root: place.root, path: group === "" ? name : `${group}/${name}` }, plain).catch(() => plain);
    }),
  );
}

async function coordinates(place: Place, plain: Axis): Promise<Axis> {
  const node = await call<NodeInfo | null>("node", place, { stored: "none", optional: true });
  if (node?.kind !== "array" || node.shape.length !== 1 || node.shape[0] !== plain.length) return plain;
  const { values } = await exactly<Slice>("slice", place, { as: "json" });
  return axisOf(plain, node, values as Exact as Exact[]);
}

/** Returns an axis with the values of its coordinate array. */
function axisOf(plain: Axis, node: Omit<Known, "values">, values: Exact[]): Axis {
  const { attributes } = node;
  const isNumpyTime = timesOfType(node.data_type.name) !== null;
  const [units, standard] = [text(attributes["units"]), text(attributes["standard_name"])];
  const times = timesOf(node);
  const { of } = meaning(node);
  const numbers = values.map((one) => (isNumpyTime && typeof one === "string" ? (times?.number(one.replace("T", " ")) ?? NaN) : of(numberOf(one))));
  const isNumeric = values.every((one) => typeof one === "number" || typeof one === "bigint") || isNumpyTime;
  const pressure = /^(h|k|m)?pa$|^(milli)?bars?$/i.test(units) || standard === "air_pressure";
  const vertical = text(attributes["positive"]) !== "" || pressure;
  const kind: AxisKind = times ? "time" : (sphereKind(plain.name, attributes) ?? (vertical ? "vertical" : "other"));
  const label = (index: number): string => {
    if (times) return times.text(numbers[index] ?? NaN);
    const one = values[index];
    if (typeof one === "bigint") return String(one);
    return isNumeric ? exact(numbers[index] ?? NaN, node.data_type.bytes) : String(one ?? "");
  };
  return {
    ...plain,
    kind,
    label,
    times,
    at: isNumeric ? (index) => numbers[index] ?? NaN : null,
    units: times ? "" : unit(units),
    isDown: text(attributes["positive"]).toLowerCase() === "down" || pressure,
    isKnown: true,
  };
}

/** Returns an angle in the notation of maps. */
export function degrees(value: number, kind: AxisKind, digits = 4): string {
  const longitude = kind === "longitude";
  const turned = longitude && value > 180 ? value - 360 : longitude && value < -180 ? value + 360 : value;
  const size = rounded(Math.abs(turned), digits);
  if (size === "0" || (longitude && size === "180")) return `${size}°`;
  return `${size}°${longitude ? (turned < 0 ? "W" : "E") : turned < 0 ? "S" : "N"}`;
}

/** Returns the coordinate of an index with its unit: `29°N`, `850 hPa`, `2020-06-24 12:00`; or the index without coordinates. */
export function told(axis: Axis, index: number): string {
  if ((axis.kind === "longitude" || axis.kind === "latitude") && axis.at && Math.abs(axis.at(index)) <= 540) return degrees(axis.at(index), axis.kind, 7);
  return [axis.label(index), axis.units].filter(Boolean).join(" ");
}

/** Returns the title of an axis: its name, and its unit if the ticks do not show it. */
export function title(axis: Axis): string {
  const plain = axis.units === "" || axis.kind === "longitude" || axis.kind === "latitude";
  return plain ? axis.name : `${axis.name} (${axis.units})`;
}

/** Returns true if the coordinates increase, false if they decrease, and `null` otherwise. */
export function rises({ at, length }: Axis): boolean | null {
  if (!at || length < 2) return null;
  const up = at(length - 1) > at(0);
  const step = Math.max(1, Math.floor(length / 5000));
  for (let index = step; index < length; index += step) if (up ? !(at(index) > at(index - step)) : !(at(index) < at(index - step))) return null;
  return up;
}

/** Returns the function from coordinates to fractional indices, also beyond the ends; `null` unless the coordinates increase or decrease. */
export function placing(axis: Axis): ((coordinate: number) => number) | null {
  const up = rises(axis);
  const { at, length } = axis;
  if (up === null || !at) return null;
  return (coordinate) => {
    let [low, high] = [0, length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (at(middle) <= coordinate === up) low = middle;
      else high = middle;
    }
    return low + (coordinate - at(low)) / (at(high) - at(low));
  };
}

/** Returns the index for typed text: the nearest coordinate, `#` with an index, or a text coordinate; `null` if nothing matches. */
export function find(axis: Axis, typed: string): number | null {
  const words = typed.trim();
  const index = /^#\s*(\d+)$/.exec(words);
  if (index) return Math.min(axis.length - 1, Number(index[1]));
  if (!axis.at) {
    if (axis.isKnown) for (let at = 0; at < axis.length; at++) if (axis.label(at).toLowerCase() === words.toLowerCase()) return at;
    return /^\d+$/.test(words) ? Math.min(axis.length - 1, Number(words)) : null;
  }
  const number = typedNumber(axis, words);
  if (number === null) return null;
  const turns = axis.kind === "longitude" ? [number, number + 360, number - 360] : [number];
  let [best, least] = [-1, Infinity];
  for (let at = 0; at < axis.length; at++) {
    const far = Math.min(...turns.map((turn) => Math.abs(axis.at!(at) - turn)));
    if (far < least) [best, least] = [at, far];
  }
  return best < 0 ? null : best;
}

/** Returns the typed coordinate; `null` for text that is not a coordinate. */
export function typedNumber(axis: Axis, words: string): number | null {
  const number = axis.times ? axis.times.number(words) : angle(words);
  return number === null || Number.isNaN(number) ? null : number;
}

/** Parses a number that is followed by a unit, or by the letter of a compass direction. */
function angle(words: string): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/i.exec(words.replace("−", "-"));
  if (!match) return NaN;
  return Number(match[1]) * (/^°?\s*[sw]$/i.test(match[2]!) ? -1 : 1);
}

/** Returns about `wanted` ticks along an axis between two elements, with their positions: 0 is the middle of the first element. */
export function marks(axis: Axis, from: number, to: number, wanted = 5): [number, string][] {
  const { at } = axis;
  const [first, last] = [Math.max(0, Math.floor(from)), Math.min(axis.length, Math.ceil(to)) - 1];
  const place = at && last > first ? placing(axis) : null;
  if (at && place) {
    const [low, high] = [at(first), at(last)].sort((a, b) => a - b) as [number, number];
    const found = axis.times ? timeTicks(axis.times, low, high, wanted) : numbered(axis, low, high, wanted);
    const placed = found.map(([value, label]): [number, string] => [place(value), label]);
    if (placed.length > 1) return placed;
  }
  const whole = multiples(first, last, Math.max(1, tickStep(first, last, wanted)));
  return whole.filter((tick) => Number.isInteger(tick) && tick >= 0 && tick < axis.length).map((tick) => [tick, axis.isKnown ? told(axis, tick) : count(tick)]);
}

function numbered(axis: Axis, low: number, high: number, wanted: number): [number, string][] {
  const map = axis.kind === "longitude" || axis.kind === "latitude";
  const step = tickStep(low, high, wanted, map && high - low > 20 ? [1, 1.5, 3, 4.5, 6, 9, 10] : undefined);
  const values = multiples(low, high, step);
  const texts = tickTexts(values);
  return values.map((value, number) => [value, map ? degrees(value, axis.kind) : texts[number]!]);
}

/** The meaning of stored numbers by the CF conventions: scale, offset and missing values. */
export interface Meaning {
  /** Returns the number that a stored number means; NaN for a missing value. */
  of: (value: number) => number;
  /** The factor from differences of stored numbers to differences of their meanings. */
  scale: number;
  /** True if every stored number means itself. */
  isPlain: boolean;
  /** The missing-value markers among the stored numbers, besides NaN. */
  missing: number[];
  /** The displayed unit; empty for times. */
  units: string;
  /** The limits of `valid_range`, or of `valid_min` and `valid_max`. */
  valid: [number, number] | null;
}

/** Returns the float in the base64 of its eight bytes, which xarray writes since JSON does not support all floats; `null` for other texts. */
export function packed(text: string): number | null {
  if (!/^[A-Za-z0-9+/]{11}=$/.test(text)) return null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new DataView(bytes.buffer).getFloat64(0, true);
}

function attribute(json: Json | undefined): number {
  return typeof json === "string" && !/^-?Infinity$/.test(json) ? (packed(json) ?? NaN) : numberOf(json as Exact);
}

const same = (value: number): number => value;

/** Returns the meaning of an array's numbers from its attributes. */
export function meaning(node: Pick<ArrayNode, "attributes" | "data_type" | "fill_value">): Meaning {
  const { attributes } = node;
  const number = (name: string, usual: number): number => {
    const found = attribute(attributes[name]);
    return Number.isFinite(found) ? found : usual;
  };
  const [scale, offset] = [number("scale_factor", 1), number("add_offset", 0)];
  const listed = ["_FillValue", "missing_value"].flatMap((name): (Json | undefined)[] => {
    const found = attributes[name];
    return Array.isArray(found) ? found : [found];
  });
  // In version 2, xarray uses the fill value as the missing-value marker. The fill value is 0 by default.
  if (attributes["_ARRAY_DIMENSIONS"] !== undefined && node.fill_value !== 0) listed.push(node.fill_value);
  const narrow = node.data_type.bytes === 4 && node.data_type.kind === "float";
  // In JSON, a four-byte float has the shortest digits that identify it; other numbers have their exact values.
  const fitting = narrow ? Math.fround : same;
  const missing = listed.map(attribute).map(fitting).filter((value) => !Number.isNaN(value));
  const isPlain = missing.length === 0 && scale === 1 && offset === 0;
  const of = isPlain ? same : (value: number): number => (missing.includes(fitting(value)) ? NaN : value * scale + offset);
  const range = attributes["valid_range"];
  const bounds = Array.isArray(range) ? range.map(attribute) : [number("valid_min", NaN), number("valid_max", NaN)];
  const valid = bounds.map((value) => value * scale + offset);
  return {
    of,
    scale,
    isPlain,
    missing: [...new Set(missing)],
    units: timesOf(node) ? "" : unit(text(attributes["units"])),
    valid: valid.length === 2 && valid[1]! > valid[0]! ? [valid[0]!, valid[1]!] : null,
  };
}
