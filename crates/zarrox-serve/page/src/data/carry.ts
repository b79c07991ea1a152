/** The part of a state that is kept when another array is opened: position and time if dimensions are the same, colours if units are the same. */

import { sides, valueUnits, views, type Shown } from "./model";
import type { State } from "./state";

/** Returns the changes to the state of a newly opened array. `before` is the previous array, and `limits` are its contrast limits. */
export function carried(before: Shown, was: State, now: Shown, limits: number[]): Partial<State> {
  const places = now.axes.map((axis) => before.axes.findIndex((old) => old.name === axis.name && old.length === axis.length));
  const to = (old: number): number => places.indexOf(old);
  const changes: Partial<State> = {};
  const at = Object.entries(was.at).flatMap(([old, index]): [number, number][] => (to(Number(old)) >= 0 ? [[to(Number(old)), index]] : []));
  if (at.length > 0) changes.at = Object.fromEntries(at);
  if (was.view !== "" && views(now).includes(was.view)) changes.view = was.view;
  const [oldX, oldY] = sides(before, was);
  const [x, y] = [to(oldX), to(oldY)];
  if (x >= 0 && (y >= 0 || oldY < 0)) {
    if (was.x >= 0 || was.y >= 0) Object.assign(changes, { x, y });
    const [newX, newY] = sides(now, { ...was, x: changes.x ?? -1, y: changes.y ?? -1 });
    if (newX === x && newY === y) Object.assign(changes, { box: was.box, points: was.points, flip: was.flip, aspect: was.aspect, coast: was.coast, graticule: was.graticule, projection: was.projection, globe: was.globe, grid: was.grid });
    if (to(was.along) >= 0) changes.along = to(was.along);
  }
  const units = valueUnits(now, was);
  if (units !== "" && units === valueUnits(before, was) && before.channels.length === 0 && now.channels.length === 0) {
    Object.assign(changes, { map: was.map, reverse: was.reverse, levels: was.levels, norm: was.norm, isPerSlice: was.isPerSlice });
    if (limits.length === 2 && !was.isPerSlice) changes.range = limits;
  }
  return changes;
}
