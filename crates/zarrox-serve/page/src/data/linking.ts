/** Links between views: other arrays at the position, the zoom and the slice of an image. */

import { find, placing, rises, type Axis } from "./coordinates";
import { index, sides, type Shown } from "./model";
import type { Compared, State } from "./state";

type Convert = (element: number) => number;

const same: Convert = (element) => element;

/** Returns the function from positions along an axis to positions along another: by coordinates, or by fractions of the lengths. */
export function between(from: Axis | undefined, to: Axis | undefined): Convert {
  if (!from || !to) return same;
  const ends = ({ at, length }: Axis): string => (at ? `${at(0)} ${at(length - 1)}` : "");
  if (from.length === to.length && (ends(from) === ends(to) || !from.at || !to.at)) return same;
  const place = placing(to);
  if (!place || !from.at || rises(from) === null) return (element) => (element * to.length) / from.length;
  const { at, length } = from;
  const coordinate = (element: number): number => {
    const low = Math.max(0, Math.min(length - 2, Math.floor(element - 0.5)));
    return at(low) + (element - 0.5 - low) * (at(low + 1) - at(low));
  };
  const centre = (to.at!(0) + to.at!(to.length - 1)) / 2;
  // Longitudes may be from 0 to 360 in one array, and from -180 to 180 in the other.
  const turned = (value: number): number => (to.kind === "longitude" ? value + 360 * Math.round((centre - value) / 360) : value);
  return (element) => place(turned(coordinate(element))) + 0.5;
}

/** Returns the box of another image that shows the same part. */
function boxed(box: number[], across: Convert, down: Convert): number[] {
  if (box.length !== 4 || (across === same && down === same)) return box;
  // The middle is converted, since a longitude may be turned.
  const [x, y] = [(box[0]! + box[2]!) / 2, (box[1]! + box[3]!) / 2];
  const [cx, cy] = [across(x), down(y)];
  const [wide, tall] = [Math.abs(across(x + 0.5) - across(x - 0.5)) * (box[2]! - box[0]!), Math.abs(down(y + 0.5) - down(y - 0.5)) * (box[3]! - box[1]!)];
  return [cx - wide / 2, cy - tall / 2, cx + wide / 2, cy + tall / 2];
}

/** Returns the axes of an image, and the functions that convert positions to those of another image. */
function conversions(from: Shown, state: State, to: Shown, other: State): [Convert, Convert] {
  const [[x, y], [otherX, otherY]] = [sides(from, state), sides(to, other)];
  return [between(from.axes[x], to.axes[otherX]), between(from.axes[y], to.axes[otherY])];
}

/** Returns the dimension of another array with the name of a dimension; -1 if there is none. */
const named = (from: Shown, dimension: number, to: Shown): number => to.axes.findIndex((axis) => axis.name === from.axes[dimension]?.name);

/** Returns the state of another array that follows an image, except for its own indices. */
export function following(shown: Shown, state: State, other: Shown, own: Compared): State {
  const at: Record<number, number> = {};
  other.axes.forEach((axis, dimension) => {
    const mine = named(other, dimension, shown);
    const axisHere = shown.axes[mine];
    if (!axisHere) return;
    const here = index(shown, state, mine);
    at[dimension] = axisHere.length === axis.length ? here : (find(axis, axisHere.label(here)) ?? 0);
  });
  const [x, y] = sides(shown, state).map((dimension) => named(shown, dimension, other));
  const reduced = state.reduced >= 0 ? named(shown, state.reduced, other) : -1;
  const next = { ...state, root: own.root, path: own.path, x: x ?? -1, y: y ?? -1, at: { ...at, ...own.at }, reduced, compare: "" as const, box: [] };
  const [across, down] = conversions(shown, state, other, next);
  const points = state.points.map(([row, column]): [number, number] => [Math.floor(down(row + 0.5)), Math.floor(across(column + 0.5))]);
  return { ...next, box: boxed(state.box, across, down), points };
}

/** Returns the changes of an image that follow from changes of another view. */
export function followed({ box, points, globe }: Partial<State>, other: Shown, state: State, shown: Shown, own: State): Partial<State> {
  const [across, down] = conversions(other, state, shown, own);
  return {
    ...(globe ? { globe } : {}),
    ...(box ? { box: boxed(box, across, down) } : {}),
    ...(points ? { points: points.map(([row, column]): [number, number] => [Math.floor(down(row + 0.5)), Math.floor(across(column + 0.5))]) } : {}),
  };
}

/** Returns true if two images have the same lengths along both axes. */
export function isAlike(shown: Shown, state: State, other: Shown, otherState: State): boolean {
  const length = (of: Shown, dimension: number): number => of.shape[dimension] ?? 1;
  const others = sides(other, otherState);
  return sides(shown, state).every((dimension, side) => length(shown, dimension) === length(other, others[side]!));
}
