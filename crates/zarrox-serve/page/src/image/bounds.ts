/** The shown part of an image: panning, zooming and bounds. */

import type { Box } from "./picture";

export const shifted = (box: Box, dx: number, dy: number): Box => [box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy];

/** Returns a box that is zoomed around an element. */
export const zoomed = (box: Box, factor: number, [x, y]: [number, number]): Box => [x - (x - box[0]) * factor, y - (y - box[1]) * factor, x + (box[2] - x) * factor, y + (box[3] - y) * factor];

export const middle = (box: Box): [number, number] => [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];

/**
 * Returns a part of an image of these columns and rows, moved so that it overlaps the image by at least a tenth. A part that is larger
 * than `all` is the whole image, and becomes an empty list. A part that is too small becomes `null`.
 */
export function bounded(box: Box, all: Box, columns: number, rows: number): Box | [] | null {
  const [width, height] = [box[2] - box[0], box[3] - box[1]];
  if (width < Math.min(2, columns) * 0.9) return width > 2 ? [] : null;
  if (width > (all[2] - all[0]) * 1.02 && height > (all[3] - all[1]) * 1.02) return width > 2 ? [] : null;
  const bound = (from: number, span: number, length: number): number => {
    const least = Math.min(span, length) * 0.1;
    return Math.max(least - span, Math.min(length - least, from));
  };
  const [left, top] = [bound(box[0], width, columns), bound(box[1], height, rows)];
  return [left, top, left + width, top + height];
}
