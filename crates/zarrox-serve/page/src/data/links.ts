/** Indices in links are stored as coordinates, which remain valid when an array grows or another array is opened. */

import { find, told, typedNumber, type Axis } from "./coordinates";
import type { Shown } from "./model";

/** Returns the name and the coordinate of an index; `null` if they do not identify the index. */
export function coordinate(shown: Shown, dimension: number, index: number): [string, string] | null {
  const axis = shown.axes[dimension];
  if (!axis?.isKnown || /^\d+$/.test(axis.name) || shown.axes.filter((one) => one.name === axis.name).length > 1) return null;
  const text = axis.times ? axis.label(index).replace(" ", "T") : axis.label(index);
  return find(axis, text) === index ? [axis.name, text] : null;
}

/** Returns the indices of the coordinates in a link, with notes on coordinates that the array does not have. */
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

/** Returns true if a text is the coordinate of an index. */
function isAt(axis: Axis, index: number, text: string): boolean {
  if (!axis.at || text.startsWith("#")) return true;
  const [wanted, has] = [typedNumber(axis, text) ?? NaN, axis.at(index)];
  const turns = axis.kind === "longitude" ? Math.round((wanted - has) / 360) * 360 : 0;
  return Math.abs(wanted - turns - has) <= Math.abs(has) * 1e-6;
}
