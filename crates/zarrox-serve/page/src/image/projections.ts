/** Map projections of the unit sphere. */

export const PROJECTIONS = ["", "grid", "plate", "robinson", "orthographic", "north", "south"] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];

const RADIAN = Math.PI / 180;

/** A projection around a central meridian: longitudes are relative to it, and angles are in degrees. */
export interface Projection {
  /** Returns the position of a place, with y upwards; `null` if it is not visible. */
  forward: (longitude: number, latitude: number) => [number, number] | null;
  /** Returns the place at a position; `null` outside the map. */
  inverse: (x: number, y: number) => [number, number] | null;
  /** Half of the width and of the height of the map. */
  size: [number, number];
  /** The width of a degree of longitude at a latitude, if parallels are straight lines; `null` otherwise. */
  wide: ((latitude: number) => number) | null;
  /** The lines that bound the map, as places. */
  outline: [number, number][];
}

/** Returns the angle between -180 and 180 degrees. */
export const wrapped = (degrees: number): number => degrees - 360 * Math.round(degrees / 360);

const range = (from: number, to: number, count: number): number[] => Array.from({ length: count + 1 }, (_, at) => from + ((to - from) * at) / count);

/** Returns a projection with straight parallels, from the widths and the positions of the parallels. */
function cylindrical(wide: (latitude: number) => number, tall: (latitude: number) => number, latitudeAt: (y: number) => number): Projection {
  const size: [number, number] = [180 * wide(0), tall(90)];
  const inverse = (x: number, y: number): [number, number] | null => {
    if (Math.abs(y) > size[1]) return null;
    const latitude = latitudeAt(y);
    const longitude = x / wide(latitude);
    return Math.abs(longitude) <= 180 ? [longitude, latitude] : null;
  };
  const side = (longitude: number, from: number): [number, number][] => range(from, -from, 90).map((latitude) => [longitude, latitude]);
  return { forward: (longitude, latitude) => [longitude * wide(latitude), tall(latitude)], inverse, size, wide, outline: [...side(180, -90), ...side(-180, 90), [180, -90]] };
}

/** The lengths and the distances of the parallels of Robinson's projection, for every five degrees. */
const LENGTHS = [1, 0.9986, 0.9954, 0.99, 0.9822, 0.973, 0.96, 0.9427, 0.9216, 0.8962, 0.8679, 0.835, 0.7986, 0.7597, 0.7186, 0.6732, 0.6213, 0.5722, 0.5322];
const DISTANCES = [0, 0.062, 0.124, 0.186, 0.248, 0.31, 0.372, 0.434, 0.4958, 0.5571, 0.6176, 0.6769, 0.7346, 0.7903, 0.8435, 0.8936, 0.9394, 0.9761, 1];

/** Interpolates a table by cubic curves. */
function interpolated(table: number[], at: number, isOdd: boolean): number {
  const low = Math.min(table.length - 2, Math.floor(at));
  const value = (index: number): number => (index < 0 ? (isOdd ? -table[-index]! : table[-index]!) : index < table.length ? table[index]! : 2 * table[table.length - 1]! - table[2 * table.length - 2 - index]!);
  const [a, b, c, d, t] = [value(low - 1), value(low), value(low + 1), value(low + 2), at - low];
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

function robinson(): Projection {
  const wide = (latitude: number): number => 0.8487 * RADIAN * interpolated(LENGTHS, Math.abs(latitude) / 5, false);
  const tall = (latitude: number): number => Math.sign(latitude) * 1.3523 * interpolated(DISTANCES, Math.abs(latitude) / 5, true);
  const latitudeAt = (y: number): number => {
    const distance = Math.min(1, Math.abs(y) / 1.3523);
    let low = 0;
    while (low < DISTANCES.length - 2 && DISTANCES[low + 1]! < distance) low += 1;
    let latitude = 5 * (low + (distance - DISTANCES[low]!) / (DISTANCES[low + 1]! - DISTANCES[low]!));
    // The linear interpolation is nearly right.
    for (let step = 0; step < 2; step++) latitude += (Math.abs(y) - Math.abs(tall(latitude))) / (1.3523 * (DISTANCES[low + 1]! - DISTANCES[low]!)) * 5;
    return Math.sign(y) * Math.min(90, latitude);
  };
  return cylindrical(wide, tall, latitudeAt);
}

/** Returns the view of the sphere from far away, with a latitude in the middle. */
function orthographic(centre: number): Projection {
  const [sin, cos] = [Math.sin(centre * RADIAN), Math.cos(centre * RADIAN)];
  const forward = (longitude: number, latitude: number): [number, number] | null => {
    const [l, p] = [longitude * RADIAN, latitude * RADIAN];
    const near = sin * Math.sin(p) + cos * Math.cos(p) * Math.cos(l);
    return near < 0 ? null : [Math.cos(p) * Math.sin(l), cos * Math.sin(p) - sin * Math.cos(p) * Math.cos(l)];
  };
  const inverse = (x: number, y: number): [number, number] | null => {
    const far = x * x + y * y;
    if (far > 1) return null;
    const z = Math.sqrt(1 - far);
    return [Math.atan2(x, z * cos - y * sin) / RADIAN, Math.asin(Math.max(-1, Math.min(1, z * sin + y * cos))) / RADIAN];
  };
  return { forward, inverse, size: [1, 1], wide: null, outline: [] };
}

/** The latitude at which maps of a pole end. */
const END = 30;

/** Returns the stereographic projection from a pole, with the central meridian downwards in the north, and upwards in the south. */
function polar(sign: 1 | -1): Projection {
  const radius = (latitude: number): number => 2 * Math.tan((90 - sign * latitude) * 0.5 * RADIAN);
  const most = radius(sign * END);
  const forward = (longitude: number, latitude: number): [number, number] | null => {
    const far = radius(latitude);
    return far > most * 1.0001 ? null : [far * Math.sin(longitude * RADIAN), -sign * far * Math.cos(longitude * RADIAN)];
  };
  const inverse = (x: number, y: number): [number, number] | null => {
    const far = Math.hypot(x, y);
    return far > most ? null : [Math.atan2(x, -sign * y) / RADIAN, sign * (90 - (2 * Math.atan(far / 2)) / RADIAN)];
  };
  return { forward, inverse, size: [most, most], wide: null, outline: [] };
}

/** Returns the projection of this name. `centre` is the latitude in the middle of an orthographic map. */
export function projection(name: ProjectionName, centre: number): Projection {
  if (name === "robinson") return robinson();
  if (name === "orthographic") return orthographic(centre);
  if (name === "north" || name === "south") return polar(name === "north" ? 1 : -1);
  return cylindrical(() => RADIAN, (latitude) => latitude * RADIAN, (y) => y / RADIAN);
}
