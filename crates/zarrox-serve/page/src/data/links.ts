/** Indices in links: they are coordinates, which stay true when an array grows or another one is opened. */

import { find, told, typedNumber, type Axis } from "./coordinates";
import type { Shown } from "./model";

/** The name and the coordinate of an index; `null` where they would not lead back to it. */
export function coordinate(shown: Shown, dimension: number, index: number): [string, string] | null {
  const axis = shown.axes[dimension];
  if (!axis?.isKnown || /^\d+$/.test(axis.name) || shown.axes.filter((one) => one.name === axis.name).length > 1) return null;
  const text = axis.times ? axis.label(index).replace(" ", "T") : axis.label(index);
  return find(axis, text) === index ? [axis.name, text] : null;
}

/** The indices of the coordinates of a link, with notes on those that the array does not have. */
export function indices(shown: Shown, named: Record<string, string>): { at: Record<number, number>; notes: string[] } {
  const at: Record<number, number> = {};
  const notes: string[] = [];
  for (const [name, text] of Object.entries(named)) {
    const dimension = shown.axes.findIndex((axis) => axis.name === name);
    const axis = shown.axes[dimension];
    const found = axis ? find(axis, text) : null;
    if (!axis) notes.push(`The link has ${name} ${text}, and this array has no dimension ${name}`);
    else if (found === null) notes.push(`The link has ${name} ${text}, which is not a coordinate of this array`);
    else {
      at[dimension] = found;
      if (!isAt(axis, found, text)) notes.push(`The link has ${name} ${text}; the nearest is ${told(axis, found)}`);
    }
  }
  return { at, notes };
}

/** True if the coordinate of an index is that of a text. */
function isAt(axis: Axis, index: number, text: string): boolean {
  if (!axis.at || text.startsWith("#")) return true;
  const [wanted, has] = [typedNumber(axis, text) ?? NaN, axis.at(index)];
  const turns = axis.kind === "longitude" ? Math.round((wanted - has) / 360) * 360 : 0;
  return Math.abs(wanted - turns - has) <= Math.abs(has) * 1e-6;
}
