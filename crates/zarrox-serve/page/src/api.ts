/** The server's interface. Addresses are relative, so that the page also works behind the path of a proxy. */

import type { ErrorAnswer, NodeInfo, Overview } from "./answers";

export type * from "./answers";

/** An answer that says what is wrong. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly advice: string | null,
  ) {
    super(message);
  }
}

/** An array, with all that is known of it. */
export type ArrayNode = Extract<NodeInfo, { kind: "array" }>;

/** A place in what is served: a root, and a node below it. */
export interface Place {
  root: string;
  path: string;
}

export type Parameters = Record<string, string | number | boolean | undefined>;

/** The address of a call. */
export function address(call: string, place: Place, parameters: Parameters = {}): string {
  const path = place.path.split("/").filter((part) => part !== "");
  const where = ["api/v1", call, encodeURIComponent(place.root), ...path.map(encodeURIComponent)].join("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === "" ? where : `${where}?${text}`;
}

async function asked(url: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { signal: signal ?? null, credentials: "same-origin" }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "the server does not answer", "is `zarrox serve` still running?");
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as Partial<ErrorAnswer> | null;
  throw new ApiError(response.status, body?.error?.message ?? response.statusText, body?.error?.advice ?? null);
}

/** A call whose answer is JSON. */
export async function call<T>(name: string, place: Place, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  return (await (await asked(address(name, place, parameters), signal)).json()) as T;
}

/** The names of the roots. */
export async function roots(): Promise<string[]> {
  const overview = (await (await asked("api/v1/")).json()) as Overview;
  return overview.roots.map((root) => root.name);
}

/** Colour maps, each a list of colours at even distances. */
export async function colourMaps(): Promise<Record<string, [number, number, number][]>> {
  return (await (await asked("colours.json")).json()) as Record<string, [number, number, number][]>;
}

/** Numbers of a selection, in row-major order. */
export interface Values {
  shape: number[];
  /** The elements that each one stands for, along each axis. */
  step: number[];
  values: Float64Array;
  /** The imaginary parts of complex numbers. */
  imaginary: Float64Array | null;
  dtype: string;
  bytes: number;
}

/** Reads numbers. */
export async function slice(place: Place, parameters: Parameters, signal?: AbortSignal): Promise<Values> {
  const response = await asked(address("slice", place, { ...parameters, as: "raw" }), signal);
  const list = (name: string): number[] => {
    const text = response.headers.get(name) ?? "";
    return text === "" ? [] : text.split(",").map(Number);
  };
  const buffer = await response.arrayBuffer();
  const dtype = response.headers.get("x-zarrox-dtype") ?? "";
  const [values, imaginary] = decoded(dtype, buffer);
  return { shape: list("x-zarrox-shape"), step: list("x-zarrox-step"), values, imaginary, dtype, bytes: buffer.byteLength };
}

/** Little-endian numbers of NumPy's type as doubles. Times that are none are NaN. */
export function decoded(dtype: string, buffer: ArrayBuffer): [Float64Array, Float64Array | null] {
  const kind = dtype.replace(/^[<>|=]/, "");
  const big = (array: BigInt64Array | BigUint64Array): Float64Array => Float64Array.from(array, Number);
  if (/^[mM]8/.test(kind)) {
    const none = -(2n ** 63n);
    return [Float64Array.from(new BigInt64Array(buffer), (time) => (time === none ? NaN : Number(time))), null];
  }
  switch (kind) {
    case "b1":
    case "u1":
      return [Float64Array.from(new Uint8Array(buffer)), null];
    case "i1":
      return [Float64Array.from(new Int8Array(buffer)), null];
    case "u2":
      return [Float64Array.from(new Uint16Array(buffer)), null];
    case "i2":
      return [Float64Array.from(new Int16Array(buffer)), null];
    case "u4":
      return [Float64Array.from(new Uint32Array(buffer)), null];
    case "i4":
      return [Float64Array.from(new Int32Array(buffer)), null];
    case "u8":
      return [big(new BigUint64Array(buffer)), null];
    case "i8":
      return [big(new BigInt64Array(buffer)), null];
    case "f2":
      return [Float64Array.from(new Uint16Array(buffer), half), null];
    case "f4":
      return [Float64Array.from(new Float32Array(buffer)), null];
    case "f8":
      return [new Float64Array(buffer), null];
    case "c8":
      return parts(new Float32Array(buffer));
    case "c16":
      return parts(new Float64Array(buffer));
    default:
      throw new ApiError(0, `elements of NumPy's type ${dtype} are no numbers`, null);
  }
}

function parts(numbers: Float32Array | Float64Array): [Float64Array, Float64Array] {
  const count = numbers.length / 2;
  const [real, imaginary] = [new Float64Array(count), new Float64Array(count)];
  for (let index = 0; index < count; index++) {
    real[index] = numbers[2 * index] ?? NaN;
    imaginary[index] = numbers[2 * index + 1] ?? NaN;
  }
  return [real, imaginary];
}

/** The number of a float of two bytes. */
export function half(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}
