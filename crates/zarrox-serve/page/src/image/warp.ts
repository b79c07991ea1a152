/** The elements of a picture that the pixels of a map show. */

import { placing, type Axis } from "../data/coordinates";
import type { Globe } from "./globe";
import type { Picture } from "./picture";
import { wrapped } from "./projections";

/** The longitudes and latitudes of the elements of a picture, row by row. NaN marks elements without a place. */
export interface Places {
  longitude: Float64Array;
  latitude: Float64Array;
}

/** The geometry of a picture along an axis, whose coordinates are longitudes or latitudes. */
export interface Side {
  axis: Axis;
  first: number;
  step: number;
  count: number;
  factor: number;
}

const RADIAN = Math.PI / 180;

/** Returns the index of a picture's element for each pixel of a map; -1 for pixels that show no element. `ratio` is the number of pixels of the result per pixel of the page. */
export function warp(globe: Globe, picture: Picture, of: Places | [Side, Side], ratio: number): Int32Array {
  const [width, height] = [Math.round(globe.rect[2] * ratio), Math.round(globe.rect[3] * ratio)];
  const found = new Int32Array(width * height).fill(-1);
  if (Array.isArray(of)) straight(found, width, globe, picture, of, ratio);
  else curved(found, width, globe, picture, of, ratio);
  return found;
}

/** Returns the element of a side for evenly spaced coordinates; -1 outside. */
function table(side: Side, coordinates: (at: number) => number[], length: number): Int32Array {
  const place = placing(side.axis);
  const found = new Int32Array(length).fill(-1);
  if (!place) return found;
  for (let at = 0; at < length; at++) {
    for (const coordinate of coordinates(at)) {
      const element = place(coordinate) + 0.5;
      // The last element of an axis around the world may be next to the first one.
      if (!(element >= -1e-9 && element <= side.axis.length + 1e-9)) continue;
      const pixel = Math.floor((Math.max(0, element) / side.factor - side.first) / side.step);
      if (pixel >= 0 && pixel < side.count) found[at] = pixel;
      break;
    }
  }
  return found;
}

/** Fills a map from a picture whose axes are longitude and latitude. */
function straight(found: Int32Array, width: number, globe: Globe, picture: Picture, [x, y]: [Side, Side], ratio: number): void {
  const [left, top] = globe.rect;
  const perDegree = (ratio / globe.degrees) * 2;
  const length = (degrees: number): number => Math.max(4096, Math.min(1 << 17, Math.ceil(degrees * perDegree)));
  const [wide, tall] = [length(360), length(180)];
  const columns = table(x, (at) => {
    const longitude = globe.view[0] - 180 + (360 * (at + 0.5)) / wide;
    return [longitude, longitude - 360, longitude + 360, longitude + 720];
  }, wide);
  const rows = table(y, (at) => [-90 + (180 * (at + 0.5)) / tall], tall);
  const put = (at: number, longitude: number, latitude: number): void => {
    const [column, row] = [columns[Math.min(wide - 1, Math.floor(((longitude + 180) / 360) * wide))]!, rows[Math.min(tall - 1, Math.floor(((latitude + 90) / 180) * tall))]!];
    if (column >= 0 && row >= 0) found[at] = row * picture.columns + column;
  };
  const height = found.length / width;
  for (let y = 0; y < height; y++) {
    const begin = y * width;
    if (globe.wide) {
      // Parallels are straight: the pixels of a row have the same latitude.
      const latitude = globe.from(left + width / ratio / 2, top + (y + 0.5) / ratio)?.[1];
      if (latitude === undefined) continue;
      const each = 1 / (globe.wide(latitude) * globe.scale * ratio);
      for (let x = 0; x < width; x++) {
        const longitude = (x + 0.5 - width / 2) * each;
        if (longitude >= -180 && longitude <= 180) put(begin + x, longitude, latitude);
      }
      continue;
    }
    for (let x = 0; x < width; x++) {
      const place = globe.from(left + (x + 0.5) / ratio, top + (y + 0.5) / ratio);
      if (place) put(begin + x, ...place);
    }
  }
}

/** The corners of the elements of the last pictures, since each map of a picture has the same ones. */
const corners = new WeakMap<Float64Array, Places>();

/** Returns the corners of elements: the middles between their places on the sphere. */
function cornersOf(places: Places, columns: number, rows: number): Places {
  const known = corners.get(places.longitude);
  if (known) return known;
  const vectors = new Float64Array(columns * rows * 3);
  for (let at = 0; at < columns * rows; at++) {
    const [l, p] = [places.longitude[at]! * RADIAN, places.latitude[at]! * RADIAN];
    vectors.set([Math.cos(p) * Math.cos(l), Math.cos(p) * Math.sin(l), Math.sin(p)], at * 3);
  }
  const count = (columns + 1) * (rows + 1);
  const made: Places = { longitude: new Float64Array(count), latitude: new Float64Array(count) };
  // Beyond the edges, elements continue as they are spaced within.
  const value = (row: number, column: number, part: number): number => {
    if (row < 0) return rows > 1 ? 2 * value(0, column, part) - value(1, column, part) : value(0, column, part);
    if (row >= rows) return rows > 1 ? 2 * value(rows - 1, column, part) - value(rows - 2, column, part) : value(rows - 1, column, part);
    if (column < 0) return columns > 1 ? 2 * vectors[row * columns * 3 + part]! - vectors[(row * columns + 1) * 3 + part]! : vectors[row * columns * 3 + part]!;
    if (column >= columns) return columns > 1 ? 2 * vectors[(row * columns + columns - 1) * 3 + part]! - vectors[(row * columns + columns - 2) * 3 + part]! : vectors[(row * columns + columns - 1) * 3 + part]!;
    return vectors[(row * columns + column) * 3 + part]!;
  };
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const sum = (part: number): number => [value(row - 1, column - 1, part), value(row - 1, column, part), value(row, column - 1, part), value(row, column, part)].reduce((total, one) => (Number.isNaN(one) ? total : total + one), 0);
      const [a, b, c] = [sum(0), sum(1), sum(2)];
      const at = row * (columns + 1) + column;
      made.longitude[at] = Math.atan2(b, a) / RADIAN;
      made.latitude[at] = Math.atan2(c, Math.hypot(a, b)) / RADIAN;
    }
  }
  corners.set(places.longitude, made);
  return made;
}

/** Fills a map from a picture of a curvilinear grid: each element is a quadrilateral. */
function curved(found: Int32Array, width: number, globe: Globe, picture: Picture, places: Places, ratio: number): void {
  const { columns, rows } = picture;
  const height = found.length / width;
  const { longitude, latitude } = cornersOf(places, columns, rows);
  const [left, top] = globe.rect;
  const limits = globe.wide && edges(globe, width, height, ratio);
  const [xs, ys] = [new Float64Array(4), new Float64Array(4)];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const element = row * columns + column;
      if (Number.isNaN(places.longitude[element]!) || Number.isNaN(places.latitude[element]!)) continue;
      const at = row * (columns + 1) + column;
      const four = [at, at + 1, at + columns + 2, at + columns + 1];
      const middle = wrapped(places.longitude[element]! - globe.view[0]);
      for (const turn of limits ? [-360, 0, 360] : [0]) {
        if (turn !== 0 && Math.abs(middle + turn) > 200) continue;
        let isVisible = true;
        four.forEach((corner, side) => {
          const pixel = globe.toPixel(middle + turn + wrapped(longitude[corner]! - places.longitude[element]!), latitude[corner]!);
          if (!pixel) isVisible = false;
          else [xs[side], ys[side]] = [(pixel[0] - left) * ratio, (pixel[1] - top) * ratio];
        });
        if (isVisible) fillQuad(found, width, height, xs, ys, element, limits);
      }
    }
  }
}

/** Returns the first and the last pixel of the map in each row, for a map with straight parallels. */
function edges(globe: Globe, width: number, height: number, ratio: number): Float64Array {
  const found = new Float64Array(height * 2);
  const [left, top, wide] = globe.rect;
  for (let y = 0; y < height; y++) {
    const place = globe.from(left + wide / 2, top + (y + 0.5) / ratio);
    const half = place ? 180 * globe.wide!(place[1]) * globe.scale * ratio : -1;
    found.set([width / 2 - half, width / 2 + half], y * 2);
  }
  return found;
}

function fillQuad(found: Int32Array, width: number, height: number, xs: Float64Array, ys: Float64Array, element: number, limits: Float64Array | null): void {
  const [low, high] = [Math.min(ys[0]!, ys[1]!, ys[2]!, ys[3]!), Math.max(ys[0]!, ys[1]!, ys[2]!, ys[3]!)];
  const [first, last] = [Math.max(0, Math.ceil(low - 0.5)), Math.min(height - 1, Math.floor(high - 0.5))];
  for (let y = first; y <= last; y++) {
    let [from, to] = [Infinity, -Infinity];
    for (let side = 0; side < 4; side++) {
      const next = (side + 1) & 3;
      const [y0, y1] = [ys[side]!, ys[next]!];
      if (y0 === y1 || y + 0.5 < Math.min(y0, y1) || y + 0.5 > Math.max(y0, y1)) continue;
      const x = xs[side]! + ((y + 0.5 - y0) / (y1 - y0)) * (xs[next]! - xs[side]!);
      if (x < from) from = x;
      if (x > to) to = x;
    }
    if (limits) [from, to] = [Math.max(from, limits[y * 2]!), Math.min(to, limits[y * 2 + 1]!)];
    const [begin, end] = [Math.max(0, Math.ceil(from - 0.5)), Math.min(width - 1, Math.floor(to - 0.5))];
    for (let x = begin; x <= end; x++) found[y * width + x] = element;
  }
}
