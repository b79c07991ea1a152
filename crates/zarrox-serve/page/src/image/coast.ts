/** The coastlines of the world over an image whose axes are latitude and longitude. The lines are those of Natural Earth. */

import { placing, type Axis } from "../data/coordinates";
import outline from "../outline.json";

/** The way from a coordinate to its place among elements, of which the middle of the first one is at 0.5. */
type Place = (coordinate: number) => number;

/** How the world lies over an image. */
export interface Coast {
  /** True if longitudes are along the x axis. */
  isAcross: boolean;
  longitude: Place;
  latitude: Place;
  /** The lines among elements, once they were made. */
  lines: [number, number][][] | null;
}

/** The world for an image with these axes; `null` where they are not latitude and longitude with coordinates. */
export function coast(x: Axis | undefined, y: Axis | undefined): Coast | null {
  if (!x || !y) return null;
  const isAcross = x.kind === "longitude" && y.kind === "latitude";
  if (!isAcross && !(x.kind === "latitude" && y.kind === "longitude")) return null;
  const [longitude, latitude] = (isAcross ? [x, y] : [y, x]).map(placing);
  if (!longitude || !latitude) return null;
  return { isAcross, longitude: (east) => longitude(east) + 0.5, latitude: (north) => latitude(north) + 0.5, lines: null };
}

/** The lines of the coasts in pixels. */
export function lines(coast: Coast, toX: Place, toY: Place): [number, number][][] {
  coast.lines ??= made(coast);
  return coast.lines.map((line) => line.map(([x, y]): [number, number] => [toX(x), toY(y)]));
}

/** The lines of the coasts among elements. Longitudes may be from -180 to 180, from 0 to 360, or others that are a turn away. */
function made({ isAcross, longitude, latitude }: Coast): [number, number][][] {
  const found: [number, number][][] = [];
  for (const turn of [-360, 0, 360]) {
    for (const line of outline) {
      let [east, north] = [0, 0];
      let points: [number, number][] = [];
      for (let at = 0; at < line.length; at += 2) {
        // Land on both sides of 180 degrees comes back from the other side: there is no coast around the world.
        if (at === 0 || Math.abs(line[at]!) > 1800) found.push((points = []));
        east += line[at]!;
        north += line[at + 1]!;
        const [across, down] = [longitude(east / 10 + turn), latitude(north / 10)];
        points.push(isAcross ? [across, down] : [down, across]);
      }
    }
  }
  return found;
}
