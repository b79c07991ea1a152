/** Coordinates along dimensions: values of arrays that are named as dimensions, and times of the CF conventions. */

import { call, type ArrayNode, type Json, type NodeInfo, type Place, type Slice } from "./api";
import { ticks, value as shown } from "./numbers";

/** The most coordinates that are loaded at once. */
const MOST = 200_000;

/** The coordinates along one dimension. */
export interface Axis {
  name: string;
  length: number;
  /** The coordinate of an index, as text. */
  label: (index: number) => string;
  /** The coordinate as a number, where it is one. */
  at: ((index: number) => number) | null;
  units: string;
  /** The name of the quantity in the CF conventions; empty if it is not told. */
  standard: string;
}

const SECONDS: Record<string, number> = {
  millisecond: 0.001, msec: 0.001, second: 1, sec: 1, s: 1, minute: 60, min: 60, hour: 3600, hr: 3600, h: 3600, day: 86_400, d: 86_400, week: 604_800,
};

/** A function from numbers to dates, for units such as "hours since 1900-01-01"; `null` for other units. */
export function dates(units: string, calendar: string): ((number: number) => string) | null {
  const match = /^\s*([a-z]+?)s?\s+since\s+(.+?)\s*$/i.exec(units);
  const seconds = SECONDS[match?.[1]?.toLowerCase() ?? ""];
  const known = ["", "standard", "gregorian", "proleptic_gregorian"].includes(calendar.toLowerCase());
  if (!match || seconds === undefined || !known) return null;
  const parts = /^(-?\d{1,4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?)?/.exec(match[2]!);
  if (!parts) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0));
  const origin = new Date(0);
  origin.setUTCFullYear(year!, month! - 1, day!);
  origin.setUTCHours(hour!, minute!, second!);
  const whole = seconds >= 86_400;
  return (number) => date(new Date(origin.getTime() + number * seconds * 1000), whole && Number.isInteger(number));
}

/** A date in the form of ISO 8601, without what is zero. */
function date(time: Date, daysOnly: boolean): string {
  if (Number.isNaN(time.getTime())) return "no time";
  const text = time.toISOString();
  if (daysOnly) return text.slice(0, text.indexOf("T"));
  return text.replace(/:00\.000Z$/, "").replace(/\.000Z$/, "").replace("T", " ");
}

/** The time of NumPy's types of times, such as `datetime64[ns]`. */
export function timeOf(type: string): ((number: number) => string) | null {
  const match = /datetime64\D*?(?:\[|unit\W+)(\d*)\s*(Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as)\b/.exec(type);
  if (!match) return null;
  const factor = Number(match[1] || 1);
  const unit = match[2]!;
  if (unit === "Y" || unit === "M") {
    return (number) => {
      const time = new Date(0);
      time.setUTCFullYear(1970, 0, 1);
      if (unit === "Y") time.setUTCFullYear(1970 + number * factor);
      else time.setUTCMonth(number * factor);
      return date(time, true).slice(0, unit === "Y" ? -6 : -3);
    };
  }
  const millis: Record<string, number> = { W: 6048e5, D: 864e5, h: 36e5, m: 6e4, s: 1e3, ms: 1, us: 1e-3, "μs": 1e-3, ns: 1e-6, ps: 1e-9, fs: 1e-12, as: 1e-15 };
  return (number) => date(new Date(number * factor * millis[unit]!), unit === "W" || unit === "D");
}

/** The way from an array's numbers to times, by CF's units or by its type; `null` of other arrays. */
export function timesOf(node: ArrayNode): ((number: number) => string) | null {
  return dates(text(node.attributes["units"]), text(node.attributes["calendar"])) ?? timeOf(node.data_type.name);
}

const text = (json: Json | undefined): string => (typeof json === "string" ? json : "");

/** The names of an array's dimensions, by its metadata or by xarray's attribute. */
export function dimensionNames(node: ArrayNode): (string | null)[] {
  const ndim = node.shape.length;
  const own = node.dimension_names;
  if (own?.length === ndim) return own;
  const noted = node.attributes["_ARRAY_DIMENSIONS"];
  if (Array.isArray(noted) && noted.length === ndim) return noted.map((name) => (typeof name === "string" ? name : null));
  return Array.from({ length: ndim }, () => null);
}

/** The plain axis of a dimension: its indices. */
export function indices(name: string | null, dimension: number, length: number): Axis {
  return { name: name ?? `dimension ${dimension}`, length, label: String, at: null, units: "", standard: "" };
}

/** The axes of an array, with coordinates where there are arrays of the dimensions' names beside it. */
export async function axes(place: Place, node: ArrayNode): Promise<Axis[]> {
  const names = dimensionNames(node);
  const group = place.path.split("/").slice(0, -1).join("/");
  return Promise.all(
    node.shape.map(async (length, dimension) => {
      const name = names[dimension] ?? null;
      const plain = indices(name, dimension, length);
      if (!name || length > MOST || node.name === name) return plain;
      return coordinates({ root: place.root, path: group === "" ? name : `${group}/${name}` }, plain).catch(() => plain);
    }),
  );
}

/** Marks along an axis between two elements, with their places: 0 is the middle of the first element. Where coordinates are even, they are round. */
export function marks(axis: Axis, from: number, to: number): [number, string][] {
  const { at } = axis;
  const [first, last] = [Math.max(0, Math.floor(from)), Math.min(axis.length, Math.ceil(to)) - 1];
  if (at && last > first) {
    const [low, step] = [at(first), (at(last) - at(first)) / (last - first)];
    const found = ticks(...([low, at(last)].sort((a, b) => a - b) as [number, number])).map((value): [number, number] => [(value - low) / step + first, value]);
    const isEven = found.every(([place, value]) => Math.abs(at(Math.round(place)) - value) <= Math.abs(step) * 0.51);
    if (isEven && found.length > 1) return found.map(([place, value]) => [place, shown(value)]);
  }
  const whole = ticks(first, last).filter((tick) => Number.isInteger(tick) && tick >= 0 && tick < axis.length);
  return whole.map((tick) => [tick, axis.label(tick)]);
}

async function coordinates(place: Place, plain: Axis): Promise<Axis> {
  const node = await call<NodeInfo | null>("node", place, { stored: "none", optional: true });
  if (node?.kind !== "array" || node.shape.length !== 1 || node.shape[0] !== plain.length) return plain;
  const values = (await call<Slice>("slice", place, { as: "json" })).values as Json[];
  const units = text(node.attributes["units"]);
  const { of } = meaning(node);
  const time = timesOf(node);
  if (time) return { ...plain, label: (index) => time(of(Number(values[index]))), at: null, units: "" };
  const numbers = values.every((one) => typeof one === "number") ? (values as number[]).map(of) : null;
  const label = (index: number): string => {
    const one = numbers?.[index] ?? values[index];
    return typeof one === "number" ? shown(one) : String(one ?? "");
  };
  return { ...plain, label, at: numbers ? (index) => numbers[index] ?? NaN : null, units, standard: text(node.attributes["standard_name"]) };
}

/** Packed numbers of the CF conventions as the numbers that they mean. */
export interface Meaning {
  /** The number that a stored one means; NaN of those that mean none. */
  of: (value: number) => number;
  /** True if all numbers mean themselves. */
  isPlain: boolean;
  /** The stored numbers that mean none, beside NaN. */
  missing: number[];
  units: string;
}

/** The number in the base64 of its eight bytes, which xarray writes since JSON does not have all floats; `null` of other texts. */
export function packed(text: string): number | null {
  if (!/^[A-Za-z0-9+/]{11}=$/.test(text)) return null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new DataView(bytes.buffer).getFloat64(0, true);
}

function numberOf(json: Json | undefined): number {
  if (typeof json === "number") return json;
  if (json === "Infinity" || json === "-Infinity") return Number(json);
  return typeof json === "string" ? (packed(json) ?? NaN) : NaN;
}

const same = (value: number): number => value;

/** The meaning of an array's numbers by its attributes. */
export function meaning(node: ArrayNode): Meaning {
  const { attributes } = node;
  const number = (name: string, usual: number): number => {
    const found = numberOf(attributes[name]);
    return Number.isFinite(found) ? found : usual;
  };
  const [scale, offset] = [number("scale_factor", 1), number("add_offset", 0)];
  const listed = ["_FillValue", "missing_value"].flatMap((name): (Json | undefined)[] => {
    const found = attributes[name];
    return Array.isArray(found) ? found : [found];
  });
  // In version 2, xarray says by the fill value which number means none. That of who says nothing is 0.
  if (attributes["_ARRAY_DIMENSIONS"] !== undefined && node.fill_value !== 0) listed.push(node.fill_value);
  const narrow = node.data_type.bytes === 4 && node.data_type.kind === "float";
  // JSON has floats of four bytes with the digits that they need, others have their exact values.
  const exact = narrow ? Math.fround : same;
  const missing = listed.map(numberOf).map(exact).filter((value) => !Number.isNaN(value));
  const isPlain = missing.length === 0 && scale === 1 && offset === 0;
  return {
    of: isPlain ? same : (value) => (missing.includes(exact(value)) ? NaN : value * scale + offset),
    isPlain,
    missing: [...new Set(missing)],
    // Times have none: they are told as dates.
    units: timesOf(node) ? "" : text(attributes["units"]),
  };
}
