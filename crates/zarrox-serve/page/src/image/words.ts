/** Descriptions of an image. */

import { told } from "../data/coordinates";
import { index, reducedOf, rest, sides, valueTimes, valueUnits, type Shown } from "../data/model";
import { count, rounded, short } from "../data/numbers";
import type { State } from "../data/state";
import { sliceOf } from "../views/heading";
import type { Limits, Summary } from "./colours";
import type { Layer } from "./figure";
import type { Box } from "./picture";

/** Returns the function that shortens values; times are dates. */
function teller(shown: Shown, state: State): (value: number) => string {
  const times = valueTimes(shown, state);
  return times ? times.text : (value) => rounded(value);
}

/** Returns the coordinates and the values of the shown slice in words. */
export function details(shown: Shown, state: State, layer: Layer | undefined, summary: Summary | null): string[] {
  const all = sliceOf(shown, state, "image");
  const [first] = rest(shown, state, "image");
  if (first !== undefined && first !== reducedOf(shown, state, "image")) all.push(`${index(shown, state, first) + 1} of ${count(shown.shape[first]!)}`);
  if (!summary || !layer || shown.channels.length > 0) return all;
  const { finite, min, max, mean, missing, count: number } = summary;
  const tell = teller(shown, state);
  const about = layer.stepX > 1 || layer.stepY > 1 || layer.tiles.length > 1 ? "≈ " : "";
  if (finite > 0) all.push(...(valueTimes(shown, state) ? [] : [`mean ${about}${tell(mean)}`]), `min ${tell(min)}`, `max ${tell(max)}`);
  all.push(`${missing === 0 ? 0 : rounded((100 * missing) / number, 2)} % missing`);
  return all;
}

/** Returns a description of the image for screen readers. */
export function description(shown: Shown, state: State, box: Box, limits: Limits | null): string {
  const [x, y] = sides(shown, state);
  const span = (dimension: number, from: number, to: number): string => {
    const axis = shown.axes[dimension];
    if (!axis) return "";
    const [first, last] = [Math.max(0, Math.floor(from)), Math.min(axis.length, Math.ceil(to)) - 1];
    return `${axis.name} from ${told(axis, Math.min(first, axis.length - 1))} to ${told(axis, Math.max(0, last))}`;
  };
  const reduced = reducedOf(shown, state, "image");
  const slices = sliceOf(shown, state, "image");
  const slice = rest(shown, state, "image").map((dimension, number) => (dimension === reduced ? slices[number] : `${shown.axes[dimension]!.name} ${told(shown.axes[dimension]!, index(shown, state, dimension))}`));
  const tell = teller(shown, state);
  const values = limits ? `contrast limits ${tell(limits[0])} to ${tell(limits[1])} ${valueUnits(shown, state)}`.trim() : "";
  const all = [`Image of ${shown.title}`, span(x, box[0], box[2]), span(y, box[1], box[3]), ...slice, values];
  return `${all.filter(Boolean).join(", ")}.`;
}

/** Returns the loading times of a picture, by names. The image measures painting itself. */
export function times({ asked, received, times: { fetched, decoded, stored, sent } }: Layer, painted: number): [string, string][] {
  const time = (milliseconds: number): string => (milliseconds < 1000 ? `${rounded(milliseconds, 2)} ms` : `${rounded(milliseconds / 1000, 2)} s`);
  return [
    ["fetching", time(fetched)],
    ["decoding", stored > 0 ? `${time(decoded)} · ${short(stored)} on disk` : "0 ms · decoded before"],
    ["sending", `${time(sent)} · ${short(received)} in ${count(asked)} request${asked === 1 ? "" : "s"}`],
    ["painting", time(painted)],
  ];
}
