/** The surface of an image: its visible elements, and the changes of the state by gestures. */

import { bounded, shifted, zoomed } from "./bounds";
import { Plane, type Rect } from "./figure";
import { directions, elementRatio, isEqual, sides, type Shown } from "../data/model";
import type { Box } from "./picture";
import type { State } from "../data/state";

export interface Surface {
  /** The visible elements: left, top, right and bottom. */
  box: Box;
  /** The number of elements per pixel of the screen, across and down. */
  per: [number, number];
  /** Returns the element at a pixel; `null` outside the image. */
  at: (x: number, y: number) => [number, number] | null;
  /** Return the changes of the state; `null` if there are none. */
  panned: (dx: number, dy: number) => Partial<State> | null;
  zoomed: (factor: number, x: number, y: number) => Partial<State> | null;
  boxed: (x0: number, y0: number, x1: number, y1: number) => Partial<State> | null;
  /** The changes that show the whole image. */
  fitted: Partial<State>;
}

/** Returns the shown elements along x and y in a rectangle. If both axes have the same unit, lengths have the same scale. */
export function boxOf(shown: Shown, state: State, [, , width, height]: Rect): Box {
  const [columns, rows] = sides(shown, state).map((dimension) => Math.max(1, shown.shape[dimension] ?? 1)) as [number, number];
  const box: Box = state.box.length === 4 ? (state.box as Box) : [0, 0, columns, rows];
  if (!isEqual(shown, state)) return box;
  const ratio = elementRatio(shown, state);
  const [wide, tall] = [(box[2] - box[0]) * ratio, box[3] - box[1]];
  const per = Math.max(wide / width, tall / height);
  const [overX, overY] = [(per * width - wide) / ratio / 2, (per * height - tall) / 2];
  return [box[0] - overX, box[1] - overY, box[2] + overX, box[3] + overY];
}

/** Returns the surface of an image whose elements are rectangles. */
export function flat(shown: Shown, state: State, rect: Rect, ratio: number): Surface {
  const [, , width, height] = rect;
  const [columns, rows] = sides(shown, state).map((dimension) => Math.max(1, shown.shape[dimension] ?? 1)) as [number, number];
  const box = boxOf(shown, state, rect);
  const turned = directions(shown, state);
  const plane = new Plane(rect, box, turned);
  const all = boxOf(shown, { ...state, box: [] }, rect);
  const within = (part: Box): Partial<State> | null => {
    const bound = bounded(part, all, columns, rows);
    return bound && { box: bound };
  };
  const at = (x: number, y: number): [number, number] | null => {
    const [left, top, wide, tall] = plane.frame(columns, rows);
    if (x < left || y < top || x > left + wide || y > top + tall) return null;
    const [column, row] = plane.from(x, y).map(Math.floor) as [number, number];
    return column >= 0 && row >= 0 && column < columns && row < rows ? [column, row] : null;
  };
  return {
    box,
    per: [(box[2] - box[0]) / (width * ratio), (box[3] - box[1]) / (height * ratio)],
    at,
    panned: (dx, dy) => within(shifted(box, ((turned[0] ? dx : -dx) * (box[2] - box[0])) / width, ((turned[1] ? dy : -dy) * (box[3] - box[1])) / height)),
    zoomed: (factor, x, y) => within(zoomed(box, factor, plane.from(x, y))),
    boxed: (x0, y0, x1, y1) => {
      const [[a, b], [c, d]] = [plane.from(x0, y0), plane.from(x1, y1)];
      return within([Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)]);
    },
    fitted: { box: [] },
  };
}
