/** The coasts of the world over an image whose sides are latitude and longitude. The lines are those of Natural Earth. */

import type { Axis } from "./coordinates";
import outline from "./outline.json";

const LATITUDE = { name: /^(lat|lats|latitude|nav_lat)$/i, units: /^degrees?_?n(orth)?$/i, standard: "latitude" };
const LONGITUDE = { name: /^(lon|lons|long|longitude|nav_lon)$/i, units: /^degrees?_?e(ast)?$/i, standard: "longitude" };

/** The way from a coordinate to its place among elements, of which the middle of the first one is at 0.5. */
type Place = (coordinate: number) => number;

/** How the coasts lie over an image. */
export interface Coast {
  /** True if longitudes go across. */
  isAcross: boolean;
  longitude: Place;
  latitude: Place;
}

function is(axis: Axis, kind: typeof LATITUDE): boolean {
  if (axis.standard !== "") return axis.standard === kind.standard;
  return kind.units.test(axis.units) || kind.name.test(axis.name);
}

/** The coasts for an image with these sides; `null` where they are not latitude and longitude with coordinates. */
export function coast(x: Axis | undefined, y: Axis | undefined): Coast | null {
  if (!x || !y) return null;
  const isAcross = is(x, LONGITUDE) && is(y, LATITUDE);
  if (!isAcross && !(is(x, LATITUDE) && is(y, LONGITUDE))) return null;
  const [longitude, latitude] = (isAcross ? [x, y] : [y, x]).map(placeOf);
  return longitude && latitude ? { isAcross, longitude, latitude } : null;
}

/** The places of coordinates that only rise or only fall; beyond the ends they go on as at the ends. */
function placeOf({ at, length }: Axis): Place | null {
  if (!at || length < 2) return null;
  const rises = at(length - 1) > at(0);
  for (let index = 1; index < length; index++) {
    if (rises ? !(at(index) > at(index - 1)) : !(at(index) < at(index - 1))) return null;
  }
  return (coordinate) => {
    let [low, high] = [0, length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (at(middle) <= coordinate === rises) low = middle;
      else high = middle;
    }
    return low + (coordinate - at(low)) / (at(high) - at(low)) + 0.5;
  };
}

/** Draws the coasts. Longitudes may be from -180 to 180, from 0 to 360, or others that are a turn away. */
export function draw(context: CanvasRenderingContext2D, { isAcross, longitude, latitude }: Coast, toX: Place, toY: Place): void {
  const path = new Path2D();
  for (const turn of [-360, 0, 360]) {
    for (const line of outline) {
      let [east, north] = [0, 0];
      for (let at = 0; at < line.length; at += 2) {
        // Land on both sides of 180 degrees comes back from the other side: there is no coast around the world.
        const isBroken = at === 0 || Math.abs(line[at]!) > 1800;
        east += line[at]!;
        north += line[at + 1]!;
        const [across, down] = [longitude(east / 10 + turn), latitude(north / 10)];
        const [px, py] = isAcross ? [toX(across), toY(down)] : [toX(down), toY(across)];
        if (isBroken) path.moveTo(px, py);
        else path.lineTo(px, py);
      }
    }
  }
  context.lineJoin = "round";
  for (const [width, colour] of [[2.5, "#fff9"], [1, "#000"]] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke(path);
  }
}
