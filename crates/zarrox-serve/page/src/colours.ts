/** Colours of numbers. */

import { ends } from "./numbers";

export type Maps = Record<string, [number, number, number][]>;

/** The maps that show zero in the middle. */
export const SIGNED = ["rdbu", "prgn", "coolwarm"];

/** 256 colours of a map, as bytes of red, green and blue. */
export function table(colours: [number, number, number][]): Uint8Array {
  const bytes = new Uint8Array(256 * 3);
  for (let index = 0; index < 256; index++) {
    const place = (index / 255) * (colours.length - 1);
    const low = Math.min(Math.floor(place), colours.length - 2);
    for (let part = 0; part < 3; part++) {
      const [from, to] = [colours[low]![part]!, colours[low + 1]![part]!];
      bytes[index * 3 + part] = Math.round(from + (to - from) * (place - low));
    }
  }
  return bytes;
}

/** The way from a number to a place among 256 colours. */
export interface Scale {
  low: number;
  high: number;
  log: boolean;
}

/** The colour of missing values, in a light and a dark page. */
export const MISSING = [128, 128, 128, 70] as const;

/** Paints numbers as pixels of red, green, blue and opacity. */
export function paint(values: Float64Array, colours: Uint8Array, scale: Scale): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(new ArrayBuffer(values.length * 4));
  const bend = scale.log ? Math.log : (value: number): number => value;
  const low = bend(scale.low);
  const width = bend(scale.high) - low || 1;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    const at = index * 4;
    if (Number.isNaN(value)) {
      pixels.set(MISSING, at);
      continue;
    }
    const place = Math.max(0, Math.min(255, Math.round(((bend(value) - low) / width) * 255))) || 0;
    pixels[at] = colours[place * 3]!;
    pixels[at + 1] = colours[place * 3 + 1]!;
    pixels[at + 2] = colours[place * 3 + 2]!;
    pixels[at + 3] = 255;
  }
  return pixels;
}

/** The values between which the middle 96 % lie; around zero for signed maps. */
export function contrast(values: Float64Array, signed: boolean, log: boolean): [number, number] {
  const wanted = (value: number): boolean => Number.isFinite(value) && (!log || value > 0);
  const step = Math.max(1, Math.floor(values.length / 50_000));
  const sample: number[] = [];
  for (let index = 0; index < values.length; index += step) if (wanted(values[index]!)) sample.push(values[index]!);
  if (sample.length === 0) return log ? [1, 10] : [0, 1];
  sample.sort((a, b) => a - b);
  const at = (part: number): number => sample[Math.round(part * (sample.length - 1))]!;
  let [low, high] = [at(0.02), at(0.98)];
  if (low === high) [low, high] = [sample[0]!, sample[sample.length - 1]!];
  if (signed) {
    const most = Math.max(Math.abs(low), Math.abs(high));
    [low, high] = [-most, most];
  }
  return log && low === high ? [low / 2, high * 2] : ends(low, high);
}
