/** The outline, the graticule, the coastlines and the pins of a map. */

import { coastlines } from "./coast";
import { degrees } from "../data/coordinates";
import type { Rect } from "./figure";
import type { Globe } from "./globe";
import { ticks } from "../data/numbers";
import type { Pen } from "./pen";
import type { State } from "../data/state";
import { wrapped } from "./projections";
import { SERIES, type Theme } from "../theme";

/** Draws everything on a map except its picture. `pixelOf` returns the pixel of an element. */
export function drawMapFrame(pen: Pen, globe: Globe, state: State, theme: Theme, pixelOf: (column: number, row: number) => [number, number] | null): void {
  const { rect } = globe;
  pen.within(...rect, () => {
    if (state.graticule) pen.lines(globe.lines(graticule(globe)), "#7f8c99aa", 0.8);
    if (state.coast) {
      const lines = globe.lines(coastlines());
      pen.lines(lines, "#ffffff99", 2.5);
      pen.lines(lines, "#000", 1);
    }
    pen.lines([globe.outline()], theme.soft, 1.2);
    state.points.forEach(([row, column], number) => {
      const pixel = pixelOf(column, row);
      if (!pixel) return;
      pen.circle(...pixel, 6, "#fff", 4);
      pen.circle(...pixel, 6, SERIES[number % SERIES.length]!, 2);
    });
  });
  if (state.graticule) drawLabels(pen, globe, theme);
}

/** The distances between the lines of graticules, in degrees. */
const STEPS = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];

/** Returns a distance at which about four lines are visible. */
function stepOf({ degrees: each, rect }: Globe): number {
  const span = Math.min(rect[2], rect[3]) * each;
  return STEPS.find((step) => span / step >= 3) ?? 0.01;
}

/** Returns the visible multiples of the step among longitudes and latitudes. */
function values(globe: Globe): { longitudes: number[]; latitudes: number[] } {
  const step = stepOf(globe);
  const [longitude, latitude] = globe.view;
  const half = (Math.hypot(globe.rect[2], globe.rect[3]) / 2) * globe.degrees;
  const isGlobal = step >= 10 || !globe.isTilted || Math.abs(latitude) + half > 80;
  const east = isGlobal ? 180 : Math.min(180, (half * 1.5) / Math.max(0.1, Math.cos((latitude * Math.PI) / 180)));
  const around = (from: number, to: number): number[] => Array.from({ length: Math.max(0, Math.floor(to / step) - Math.ceil(from / step) + 1) }, (_, at) => (Math.ceil(from / step) + at) * step);
  const longitudes = isGlobal ? around(-180, 180 - step) : around(longitude - east, longitude + east);
  return { longitudes, latitudes: isGlobal ? around(-90, 90) : around(Math.max(-90, latitude - half * 1.5), Math.min(90, latitude + half * 1.5)) };
}

function graticule(globe: Globe): [number, number][][] {
  const { longitudes, latitudes } = values(globe);
  const fine = (from: number, to: number): number[] => Array.from({ length: 181 }, (_, at) => from + ((to - from) * at) / 180);
  const [low, high] = [latitudes[0] ?? -90, latitudes[latitudes.length - 1] ?? 90];
  const [west, east] = longitudes.length > 0 && Math.abs(longitudes[longitudes.length - 1]! - longitudes[0]!) < 300 ? [longitudes[0]!, longitudes[longitudes.length - 1]!] : [globe.view[0] - 179.999, globe.view[0] + 179.999];
  return [...longitudes.map((longitude) => fine(low, high).map((latitude): [number, number] => [longitude, latitude])), ...latitudes.map((latitude) => fine(west, east).map((longitude): [number, number] => [longitude, latitude]))];
}

/** Draws the longitudes below the map and the latitudes beside it; on a globe, along the middle. */
function drawLabels(pen: Pen, globe: Globe, theme: Theme): void {
  const { longitudes, latitudes } = values(globe);
  const [left, top, width, height] = globe.rect;
  const isIn = (pixel: [number, number] | null): pixel is [number, number] => pixel !== null && pixel[0] >= left - 1 && pixel[0] <= left + width + 1 && pixel[1] >= top - 1 && pixel[1] <= top + height + 1;
  const halo = (x: number, y: number, text: string): void => {
    for (const [dx, dy] of [[-1, 0], [1, 0], [0, -1], [0, 1]] as const) pen.text(x + dx, y + dy, text, { colour: theme.paper, size: 10, align: "center" });
    pen.text(x, y, text, { colour: theme.ink, size: 10, align: "center" });
  };
  if (globe.wide) return drawSides(pen, globe, theme, longitudes, latitudes);
  const isPolar = !globe.isTilted;
  const meridian = isPolar ? globe.view[0] + 45 : globe.view[0];
  const taken: [number, number][] = [];
  const put = (pixel: [number, number] | null, text: string): void => {
    // Labels near the edge of a globe would lie over each other.
    if (!isIn(pixel) || taken.some(([x, y]) => Math.abs(x - pixel[0]) < 34 && Math.abs(y - pixel[1]) < 14)) return;
    taken.push(pixel);
    halo(pixel[0], pixel[1] + 3, text);
  };
  const [nearest] = [...longitudes].sort((a, b) => Math.abs(wrapped(a - globe.view[0])) - Math.abs(wrapped(b - globe.view[0])));
  for (const latitude of latitudes) if (Math.abs(latitude) < 90) put(globe.pixelOf(isPolar ? meridian : (nearest ?? meridian), latitude), degrees(latitude, "latitude"));
  for (const longitude of longitudes) put(isPolar ? edgeOf(globe, longitude) : globe.pixelOf(longitude, middleOf(latitudes, globe.view[1])), degrees(longitude, "longitude"));
}

/** Returns the latitude that is nearest to the middle. */
const middleOf = (latitudes: number[], middle: number): number => [...latitudes].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0] ?? middle;

/** Returns the pixel at the end of a meridian of a polar map, slightly inside. */
function edgeOf(globe: Globe, longitude: number): [number, number] | null {
  for (const latitude of ticks(30, 60, 30)) {
    const pixel = globe.pixelOf(longitude, globe.name === "north" ? latitude + 3 : -latitude - 3);
    if (pixel && isInside(pixel, globe.rect)) return pixel;
  }
  return null;
}

const isInside = ([x, y]: [number, number], [left, top, width, height]: Rect): boolean => x > left + 14 && x < left + width - 14 && y > top + 8 && y < top + height - 8;

/** Draws the labels of a map with straight parallels. */
function drawSides(pen: Pen, globe: Globe, theme: Theme, longitudes: number[], latitudes: number[]): void {
  const [left, top, width, height] = globe.rect;
  const outline = globe.outline();
  const [lowest, highest] = [Math.min(top + height, Math.max(...outline.map(([, y]) => y))), Math.max(top, Math.min(...outline.map(([, y]) => y)))];
  const bottom = globe.from(left + width / 2, lowest - 0.5)?.[1] ?? -90;
  for (const latitude of latitudes) {
    const edge = globe.toPixel(-180, latitude);
    if (!edge || edge[1] < highest - 1 || edge[1] > lowest + 1) continue;
    const x = Math.max(left, edge[0]);
    if (x < left + width) pen.text(x - 6, edge[1] + 4, degrees(latitude, "latitude"), { colour: theme.ink, align: "right", most: x - 4 });
  }
  const step = stepOf(globe);
  // Where meridians are close together, only every second or third one has a label.
  const apart = step * (globe.wide?.(bottom) ?? 1) * globe.scale;
  const each = [1, 2, 3, 6].find((number) => number * apart > 46) ?? 6;
  for (const longitude of longitudes) {
    const pixel = globe.pixelOf(longitude, bottom);
    if (!pixel || Math.round(longitude / step) % each !== 0 || pixel[0] < left - 1 || pixel[0] > left + width + 1) continue;
    pen.text(pixel[0], lowest + 16, degrees(longitude, "longitude"), { colour: theme.ink, align: "center" });
  }
}
