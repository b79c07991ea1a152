/** JSON whose whole numbers keep all their digits. */

import type { Json } from "../answers";

/** JSON in which whole numbers beyond 2^53 are `bigint`. */
export type Exact = null | boolean | number | bigint | string | Exact[] | { [name: string]: Exact };

const MARK = "\ue000whole ";
/** Texts and numbers. Numbers within texts are no numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads JSON. `JSON.parse` alone would round whole numbers beyond 2^53. */
export function parsed(text: string): Exact {
  let isMarked = false;
  const marked = text.replace(TOKENS, (token) => {
    if (token.length < 16 || !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token))) return token;
    isMarked = true;
    return `"${MARK}${token}"`;
  });
  if (!isMarked) return JSON.parse(text) as Json;
  return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value)) as Exact;
}

/** A value as JSON, with its whole numbers. */
export function written(value: Exact, space?: number): string {
  const text = JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${MARK}${one}` : one), space);
  return text.replaceAll(new RegExp(`"${MARK}(-?\\d+)"`, "g"), "$1");
}

/** The number of a value: of a complex one, which is a list of two, what `part` says; NaN of what is no number. */
export function numberOf(value: Exact | undefined, part: (real: number, imaginary: number) => number = Math.hypot): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  if (value === "Infinity" || value === "-Infinity") return Number(value);
  if (Array.isArray(value) && value.length === 2) return part(numberOf(value[0]), numberOf(value[1]));
  return NaN;
}
