/** The coastlines of Natural Earth over an image whose axes are latitude and longitude. */

import { placing, type Axis } from "../data/coordinates";
import outline from "../outline.json";

/** Returns the position of a coordinate among elements. The middle of the first element is at 0.5. */
type Place = (coordinate: number) => number;

/** The position of the coastlines on an image. */
export interface Coast {
  /** True if longitudes are along the x axis. */
  isAcross: boolean;
  longitude: Place;
  latitude: Place;
  /** The coastlines in elements, once they are computed. */
  lines: [number, number][][] | null;
}

/** Returns the coastlines for an image with these axes; `null` unless they are latitude and longitude with coordinates. */
export function coast(x: Axis | undefined, y: Axis | undefined): Coast | null {
  if (!x || !y) return null;
  const isAcross = x.kind === "longitude" && y.kind === "latitude";
  if (!isAcross && !(x.kind === "latitude" && y.kind === "longitude")) return null;
  const [longitude, latitude] = (isAcross ? [x, y] : [y, x]).map(placing);
  if (!longitude || !latitude) return null;
  return { isAcross, longitude: (east) => longitude(east) + 0.5, latitude: (north) => latitude(north) + 0.5, lines: null };
}

/** Returns the coastlines in pixels. */
export function lines(coast: Coast, toX: Place, toY: Place): [number, number][][] {
  coast.lines ??= made(coast);
  return coast.lines.map((line) => line.map(([x, y]): [number, number] => [toX(x), toY(y)]));
}

let known: [number, number][][] | null = null;

/** Returns the coastlines as longitudes and latitudes. */
export function coastlines(): [number, number][][] {
  known ??= outline.map((line) => {
    let [east, north] = [0, 0];
    return Array.from({ length: line.length / 2 }, (_, at): [number, number] => [(east += line[at * 2]!) / 10, (north += line[at * 2 + 1]!) / 10]);
  });
  return known;
}

/** Returns the coastlines in elements. Longitudes may be from -180 to 180, from 0 to 360, or shifted by another full turn. */
function made({ isAcross, longitude, latitude }: Coast): [number, number][][] {
  const found: [number, number][][] = [];
  for (const turn of [-360, 0, 360]) {
    for (const line of outline) {
      let [east, north] = [0, 0];
      let points: [number, number][] = [];
      for (let at = 0; at < line.length; at += 2) {
        // A line that crosses 180 degrees is divided: otherwise it would lead around the world.
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
