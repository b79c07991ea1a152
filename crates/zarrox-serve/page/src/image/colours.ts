/** Colours of numbers, and summaries of the numbers of a picture. */

import { ends } from "../data/numbers";
import { rgb } from "../data/rgb";

export type Maps = Record<string, [number, number, number][]>;
export type Norm = "linear" | "log" | "symlog";
export type Limits = [number, number];

/** The colormaps that the server does not have: cyclic and categorical ones. */
const OWN: Maps = {
  twilight: [[226, 217, 226], [166, 191, 202], [107, 148, 193], [94, 92, 176], [83, 31, 123], [47, 20, 55], [108, 28, 79], [167, 72, 78], [196, 134, 103], [211, 190, 174], [226, 217, 226]],
  hue: [[214, 76, 76], [190, 124, 30], [130, 150, 20], [40, 160, 70], [0, 160, 150], [30, 145, 210], [120, 115, 220], [190, 85, 180], [214, 76, 76]],
  tab10: [[31, 119, 180], [255, 127, 14], [44, 160, 44], [214, 39, 40], [148, 103, 189], [140, 86, 75], [227, 119, 194], [127, 127, 127], [188, 189, 34], [23, 190, 207]],
};

/** The groups of colormaps in the menu. */
export const GROUPS: Record<string, string[]> = {
  sequential: ["viridis", "cividis", "magma", "inferno", "plasma", "gray", "gray_r"],
  diverging: ["rdbu", "coolwarm", "prgn"],
  cyclic: ["twilight", "hue"],
  categorical: ["tab10"],
};

/** Returns all colormaps, including those of the server. */
export function allMaps(ofServer: Maps): Maps {
  return { ...ofServer, ...OWN };
}

export const isDiverging = (map: string): boolean => GROUPS["diverging"]!.includes(map);

/** Returns 256 colours of a map as bytes of red, green and blue. They are steps for a categorical map, and with `levels`. */
export function table(maps: Maps, map: string, reverse: boolean, levels = 0): Uint8Array {
  const listed = maps[map] ?? [[0, 0, 0], [255, 255, 255]];
  const colours = reverse ? [...listed].reverse() : listed;
  const steps = levels > 1 ? levels : GROUPS["categorical"]!.includes(map) ? colours.length : 0;
  const bytes = new Uint8Array(256 * 3);
  for (let index = 0; index < 256; index++) {
    const part = steps > 0 ? Math.min(steps - 1, Math.floor((index / 256) * steps)) / (steps - 1) : index / 255;
    const place = part * (colours.length - 1);
    const low = Math.min(Math.floor(place), colours.length - 2);
    for (let colour = 0; colour < 3; colour++) {
      const [from, to] = [colours[low]![colour]!, colours[low + 1]![colour]!];
      bytes[index * 3 + colour] = Math.round(from + (to - from) * (place - low));
    }
  }
  return bytes;
}

/** Returns the function that maps numbers to a linear colour scale; NaN for numbers that have no colour. */
export function bend(norm: Norm, [low, high]: Limits): (value: number) => number {
  // Zero is below all limits.
  if (norm === "log") return (value) => (value >= 0 ? Math.log10(value) : NaN);
  if (norm === "linear") return (value) => value;
  const near = linearPart(low, high);
  return (value) => Math.sign(value) * Math.log10(1 + Math.abs(value) / near);
}

/** Returns the number up to which a symmetric logarithm is nearly linear. */
export function linearPart(low: number, high: number): number {
  return Math.max(Math.abs(low), Math.abs(high), Number.MIN_VALUE) * 1e-3;
}

/** The positions of the colours below and above the limits and of missing values, after the 256 colours. */
const [UNDER, OVER, BAD] = [256, 257, 258];

/** Returns 256 colours as whole pixels, then the colours below and above the limits and of missing values, which are transparent by default. */
export function pixelsOf(colours: Uint8Array, { under, over, bad }: { under: string; over: string; bad: string }): Uint32Array {
  const bytes = new Uint8Array(259 * 4).fill(255);
  const put = (at: number, of: ArrayLike<number>): void => bytes.set([of[0]!, of[1]!, of[2]!], at * 4);
  for (let index = 0; index < 256; index++) put(index, colours.subarray(index * 3, index * 3 + 3));
  put(UNDER, under ? rgb(under) : colours.subarray(0, 3));
  put(OVER, over ? rgb(over) : colours.subarray(255 * 3));
  if (bad) put(BAD, rgb(bad));
  else bytes.fill(0, BAD * 4);
  return new Uint32Array(bytes.buffer);
}

/** Paints numbers as RGBA pixels. Missing values stay transparent, so that the hatching behind them is visible. */
export function paint(values: Float64Array, painted: Uint32Array, limits: Limits, norm: Norm): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint32Array(values.length);
  const bent = bend(norm, limits);
  const low = bent(limits[0]);
  const factor = 255 / (bent(limits[1]) - low || 1);
  const isLinear = norm === "linear";
  for (let index = 0; index < values.length; index++) {
    const value = isLinear ? values[index]! : bent(values[index]!);
    const part = (value - low) * factor;
    pixels[index] = painted[part !== part ? BAD : part < 0 ? UNDER : part > 255 ? OVER : (part + 0.5) | 0]!;
  }
  return new Uint8ClampedArray(pixels.buffer);
}

/** A summary of the numbers of a picture. */
export interface Summary {
  /** The number of finite values, and their minimum, maximum and mean. */
  finite: number;
  min: number;
  max: number;
  mean: number;
  /** The number of missing values, and of all values. */
  missing: number;
  count: number;
  /** The number of positive finite values. */
  positive: number;
  least: number;
  /** The counts in bins of equal width, from the minimum to the maximum. */
  bins: Float64Array;
}

const BINS = 4096;

/** Returns the summary of numbers, which takes two passes. */
export function summary(values: Float64Array): Summary {
  let [finite, sum, min, max, missing, positive, least] = [0, 0, Infinity, -Infinity, 0, 0, Infinity];
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (value !== value) missing += 1;
    else if (value !== Infinity && value !== -Infinity) {
      finite += 1;
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
      if (value > 0) {
        positive += 1;
        if (value < least) least = value;
      }
    }
  }
  const bins = new Float64Array(BINS);
  const factor = max > min ? (BINS - 1e-6) / (max - min) : 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (value - value === 0) bins[Math.floor((value - min) * factor)]! += 1;
  }
  return { finite, min, max, mean: sum / finite, missing, count: values.length, positive, least, bins };
}

/** Returns the number below which a fraction of the numbers lies. */
function percentile({ bins, min, max, finite }: Summary, part: number): number {
  const wanted = part * finite;
  let before = 0;
  for (let bin = 0; bin < bins.length; bin++) {
    const here = bins[bin]!;
    if (before + here >= wanted && here > 0) return min + ((bin + Math.max(0, wanted - before) / here) / bins.length) * (max - min);
    before += here;
  }
  return max;
}

/** Returns the limits that contain the middle 96 % of the numbers; `null` if no number can be shown. */
export function contrast(of: Summary, norm: Norm, isSymmetric: boolean): Limits | null {
  if (of.finite === 0 || (norm === "log" && of.positive === 0)) return null;
  let [low, high] = of.max > of.min ? [percentile(of, 0.02), percentile(of, 0.98)] : [of.min, of.max];
  if (low === high) [low, high] = [of.min, of.max];
  if (isSymmetric) return symmetric([low, high]);
  if (norm !== "log") return ends(low, high);
  low = Math.max(low, of.least);
  return low < high ? [low, high] : [low / 2, low * 2];
}

/** Returns the limits of ratios: one is in the middle of a logarithmic scale, or of a linear one if ratios are negative; `null` if no ratio is finite. */
export function aroundOne(of: Summary): Limits | null {
  if (of.finite === 0) return null;
  const [low, high] = [percentile(of, 0.02), percentile(of, 0.98)];
  if (of.min < 0) {
    const most = Math.max(Math.abs(high - 1), Math.abs(low - 1), 0.01);
    return ends(1 - most, 1 + most);
  }
  const most = Math.max(high, 1 / Math.max(low, Math.min(of.least, 1)), 1.01);
  return [1 / most, most];
}

/** Returns limits with zero in the middle. */
export function symmetric([low, high]: Limits): Limits {
  const most = Math.max(Math.abs(low), Math.abs(high));
  return ends(-most, most);
}
