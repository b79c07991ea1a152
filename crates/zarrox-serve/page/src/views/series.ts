/** Values along one dimension, of the whole array or at pins. */

import { exactly, slice, type Line } from "../data/api";
import { timesOfType } from "../data/calendar";
import { told } from "../data/coordinates";
import { numberOf, type Exact } from "../data/exact";
import { fieldOf, index, reducedOf, selection, sides, type Shown } from "../data/model";
import { componentOf } from "../image/picture";
import { SERIES } from "../theme";
import type { State } from "../data/state";

/** The maximum number of points of a line. */
const POINTS = 1500;

/** Values along a dimension. If a value represents several elements, `low` and `high` are their minimum and maximum. */
export interface Series {
  label: string;
  colour: string;
  /** The first element, and the number of elements per value. */
  first: number;
  step: number;
  values: Float64Array;
  low: Float64Array | null;
  high: Float64Array | null;
  /** The exact values, if floats cannot represent them. */
  whole: (number | bigint)[] | null;
}

/** A requested line: its name, and the indices along the other dimensions. */
interface Wanted {
  label: string;
  at: Map<number, number>;
}

/** Returns the name of a pin: its coordinates. */
export function pinName(shown: Shown, state: State, [y, x]: [number, number], except: number): string {
  const [dx, dy] = sides(shown, state);
  const name = (dimension: number, at: number): string => {
    const axis = shown.axes[dimension];
    if (!axis || dimension === except) return "";
    return axis.kind === "longitude" || axis.kind === "latitude" || axis.times ? told(axis, at) : `${axis.name} ${told(axis, at)}`;
  };
  return [name(dy, y), name(dx, x)].filter(Boolean).join(" ");
}

function wanted(shown: Shown, state: State, along: number, isOfPins: boolean, channels: number[]): Wanted[] {
  const [x, y] = sides(shown, state);
  const places: Wanted[] = (isOfPins ? state.points : []).map((point) => ({ label: pinName(shown, state, point, along), at: new Map([[y, point[0]], [x, point[1]]]) }));
  const all = places.length > 0 ? places : [{ label: shown.node.name || shown.title, at: new Map<number, number>() }];
  const colours = shown.colours >= 0 && along !== shown.colours ? Array.from({ length: shown.shape[shown.colours]! }, (_, part) => ({ name: "RGBA"[part] ?? String(part), part })) : [];
  return all.flatMap((one) => {
    if (colours.length > 0) return colours.map(({ name, part }) => ({ label: `${name} ${one.label}`, at: new Map([...one.at, [shown.colours, part]]) }));
    if (!isOfPins || shown.channels.length === 0 || shown.channelDimension === along) return [one];
    return channels.map((channel) => ({ label: `${shown.channels[channel]!.label} ${one.label}`, at: new Map([...one.at, [shown.channelDimension, channel]]) }));
  });
}

/** Reads the lines of a state between two elements. */
export async function read(shown: Shown, state: State, along: number, span: [number, number], isOfPins: boolean, channels: number[], signal: AbortSignal): Promise<Series[]> {
  return Promise.all(
    wanted(shown, state, along, isOfPins, channels).map(async ({ label, at }, number) => {
      const of = (dimension: number): string => String(Math.min(shown.shape[dimension]! - 1, at.get(dimension) ?? index(shown, state, dimension)));
      const one = await line(shown, state, isOfPins, along, span, of, signal);
      return { label, colour: SERIES[number % SERIES.length]!, first: span[0], ...one };
    }),
  );
}

async function line(shown: Shown, state: State, isOfPins: boolean, along: number, [from, to]: [number, number], of: (dimension: number) => string, signal: AbortSignal): Promise<Pick<Series, "step" | "values" | "low" | "high" | "whole">> {
  const field = fieldOf(shown, state);
  const type = field?.data_type ?? shown.node.data_type.name;
  const select = (step: number): string => selection(shown, state, (dimension) => (dimension === along ? `${from}:${to}${step > 1 ? `:${step}` : ""}` : of(dimension)));
  if (timesOfType(type) || /timedelta64/.test(type)) {
    // In JSON, these values are dates, not numbers.
    const step = Math.max(1, Math.ceil((to - from) / POINTS));
    const { values } = await slice(shown.place, { select: select(step), field: field?.name }, signal);
    return { step, values, low: null, high: null, whole: null };
  }
  const { of: mean, scale, missing } = shown.meaning;
  const reduced = reducedOf(shown, state, isOfPins ? "image" : "plot");
  if (reduced >= 0 && reduced !== along) {
    // A request has one reduction over one dimension: along the other dimension, single elements are read.
    const step = Math.max(1, Math.ceil((to - from) / POINTS));
    const steps = along < reduced ? [1, shown.shape[reduced]!] : [shown.shape[reduced]!, 1];
    const parts = selection(shown, state, (dimension) => (dimension === reduced ? ":" : dimension === along ? `${from}:${to}${step > 1 ? `:${step}` : ""}` : of(dimension)));
    const { values } = await slice(shown.place, { select: parts, step: steps.join(","), reduce: state.statistic, missing: missing.join(",") || undefined }, signal);
    return { step, values: values.map(state.statistic === "std" ? (value) => value * Math.abs(scale) : mean), low: null, high: null, whole: null };
  }
  const part = componentOf(state);
  const numbers = (list: Exact): Float64Array => Float64Array.from(list as Exact[], (one) => mean(numberOf(one, part)));
  const answer = await exactly<Line>("line", shown.place, { select: select(1), points: POINTS, field: field?.name, missing: missing.join(",") || undefined }, signal);
  if (answer.reduce === "blocks") return { step: answer.step, values: numbers(answer["mean"] as Exact), low: numbers(answer["min"] as Exact), high: numbers(answer["max"] as Exact), whole: null };
  const listed = answer["values"] as Exact as Exact[];
  const isWhole = shown.meaning.isPlain && listed.every((one) => typeof one === "number" || typeof one === "bigint");
  return { step: answer.step, values: numbers(listed), low: null, high: null, whole: isWhole ? (listed as (number | bigint)[]) : null };
}

/** Returns a description of the elements that a value of a line represents; empty for one element. */
export function thinning([one]: Series[]): string {
  if (!one || one.step <= 1) return "";
  const step = one.step.toLocaleString("en-US");
  return one.low ? `mean and range of every ${step} elements` : `1 of every ${step} elements: extremes between them are not shown`;
}

/** Returns the smallest and the largest finite value. */
export function extremes(all: Series[]): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const series of all) {
    for (const values of [series.values, series.low, series.high]) {
      values?.forEach((value) => {
        if (!Number.isFinite(value)) return;
        low = Math.min(low, value);
        high = Math.max(high, value);
      });
    }
  }
  return low <= high ? [low, high] : null;
}
