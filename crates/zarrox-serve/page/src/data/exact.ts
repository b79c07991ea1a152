/** JSON whose integers keep all their digits. */

import type { Json } from "../answers";

/** A JSON value in which integers beyond 2^53 are `bigint`. */
export type Exact = null | boolean | number | bigint | string | Exact[] | { [name: string]: Exact };

const MARK = "\ue000whole ";
/** The strings and numbers of a JSON text. Digits within strings are not numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON. `JSON.parse` alone would round integers beyond 2^53. */
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

/** Returns a value as JSON, with all digits of its integers. */
export function written(value: Exact, space?: number): string {
  const text = JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${MARK}${one}` : one), space);
  return text.replaceAll(new RegExp(`"${MARK}(-?\\d+)"`, "g"), "$1");
}

/** Returns the number of a value. A complex number is a list of two numbers, which `part` converts to one. Other values are NaN. */
export function numberOf(value: Exact | undefined, part: (real: number, imaginary: number) => number = Math.hypot): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  if (value === "Infinity" || value === "-Infinity") return Number(value);
  if (Array.isArray(value) && value.length === 2) return part(numberOf(value[0]), numberOf(value[1]));
  return NaN;
}
