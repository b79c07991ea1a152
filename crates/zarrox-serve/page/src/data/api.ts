/** The server's interface. Addresses are relative, so that the page also works behind the path of a proxy. */

import type { ErrorAnswer, NodeInfo } from "../answers";
import { parsed, type Exact } from "./exact";

export type * from "../answers";

/** An error response. */
export class ApiError extends Error {
  constructor(
    /** The HTTP status; 0 without a response. */
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly advice: string | null = null,
  ) {
    super(message);
  }
}

/** An array with all of its properties. */
export type ArrayNode = Extract<NodeInfo, { kind: "array" }>;

/** A location on the server: a root, and the path of a node below it. */
export interface Place {
  root: string;
  path: string;
}

export type Parameters = Record<string, string | number | boolean | undefined>;

/** Returns the URL of a call. */
export function address(call: string, place: Place, parameters: Parameters = {}): string {
  const path = place.path.split("/").filter((part) => part !== "");
  const where = ["api/v1", call, encodeURIComponent(place.root), ...path.map(encodeURIComponent)].join("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === "" ? where : `${where}?${text}`;
}

type Listener = (connected: boolean) => void;
let listener: Listener = () => undefined;
let connected = true;

/** Adds a listener that is called when the connection to the server is lost, and when it is restored. */
export function onConnection(tell: Listener): void {
  listener = tell;
}

function connection(now: boolean): void {
  if (now !== connected) listener(now);
  connected = now;
}

/** Sends a request. An error response is thrown as an error. */
export async function asked(url: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { signal: signal ?? null, credentials: "same-origin" }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection(false);
    throw new ApiError(0, "disconnected", "Disconnected from the server");
  });
  // A 401 response comes from another server at the same address: that server has another token.
  connection(response.status !== 401);
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as Partial<ErrorAnswer> | null;
  throw new ApiError(response.status, body?.error?.kind ?? "", body?.error?.message ?? response.statusText, body?.error?.advice ?? null);
}

/** Makes a call, and returns its JSON response. */
export async function call<T>(name: string, place: Place, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  return (await (await asked(address(name, place, parameters), signal)).json()) as T;
}

/** Makes a call, and returns its JSON response with all digits of integers. */
export async function exactly<T>(name: string, place: Place, parameters?: Parameters, signal?: AbortSignal): Promise<T & { [name: string]: Exact }> {
  return parsed(await (await asked(address(name, place, parameters), signal)).text()) as T & { [name: string]: Exact };
}

/** The initial data of the page. */
export interface Begin {
  /** The colormaps, each a list of evenly spaced colours. */
  colours: Record<string, [number, number, number][]>;
  roots: { name: string; place: string }[];
  /** The token of the server; `null` if no token is needed. */
  token: string | null;
}

/** Returns the initial data, which the server has inserted into the page. */
export function begin(): Begin {
  return JSON.parse(document.getElementById("begin")!.textContent!) as Begin;
}

export type Whole = BigInt64Array | BigUint64Array;

/** Numbers of a selection, in row-major order. */
export interface Values {
  values: Float64Array;
  /** The imaginary parts of complex numbers. */
  imaginary: Float64Array | null;
  /** The exact numbers, if a float cannot represent all of them. */
  whole: Whole | null;
  /** The number of received bytes. */
  bytes: number;
  times: Times;
}

/** The milliseconds of reading numbers: fetching and decoding, as sums over the threads of the server, and sending. */
export interface Times {
  fetched: number;
  decoded: number;
  /** The stored bytes that were decoded. */
  stored: number;
  /** The time of the response in which the server computed nothing. */
  sent: number;
}

type Numbers = Pick<Values, "values" | "imaginary" | "whole">;

/** The cached responses, the newest last: going back sends no request. */
const kept = new Map<string, Values>();
let keptBytes = 0;
const MOST_KEPT = 96 << 20;
/** The pending responses to requests without a signal, which cannot be cancelled. */
const coming = new Map<string, Promise<Values>>();

function keep(url: string, values: Values): void {
  const size = (one: Values): number => one.values.byteLength + (one.imaginary?.byteLength ?? 0) + (one.whole?.byteLength ?? 0);
  kept.set(url, values);
  keptBytes += size(values);
  for (const [old, one] of kept) {
    if (keptBytes <= MOST_KEPT) break;
    kept.delete(old);
    keptBytes -= size(one);
  }
}

/** Clears the cache, so that everything is requested again. */
export function forget(): void {
  kept.clear();
  keptBytes = 0;
}

async function read(url: string, signal?: AbortSignal): Promise<Values> {
  const begun = performance.now();
  const response = await asked(url, signal);
  const buffer = await response.arrayBuffer();
  const times = timesOf(response.headers.get("server-timing") ?? "", performance.now() - begun);
  const values = { ...decoded(response.headers.get("x-zarrox-dtype") ?? "", buffer), bytes: buffer.byteLength, times };
  keep(url, values);
  return values;
}

/** Returns the times in the header `Server-Timing` of a response that took `took` milliseconds. */
function timesOf(header: string, took: number): Times {
  const of = (name: string): number => Number(new RegExp(`${name};dur=([\\d.]+)`).exec(header)?.[1] ?? 0);
  const stored = Number(/desc="(\d+) bytes"/.exec(header)?.[1] ?? 0);
  return { fetched: of("fetch"), decoded: of("decode"), stored, sent: Math.max(0, took - of("total")) };
}

/** Reads numbers. The result is shared and must not be changed. */
export async function slice(place: Place, parameters: Parameters, signal?: AbortSignal): Promise<Values> {
  const url = address("slice", place, { ...parameters, as: "raw" });
  const known = kept.get(url);
  if (known) {
    kept.delete(url);
    kept.set(url, known);
    return known;
  }
  const under = coming.get(url);
  if (under) return under;
  if (signal) return read(url, signal);
  const reading = read(url).finally(() => coming.delete(url));
  coming.set(url, reading);
  return reading;
}

/** The stored value of NaT (not a time). */
const NO_TIME = -(2n ** 63n);

/** Decodes little-endian numbers of a NumPy type to doubles. NaT becomes NaN. */
export function decoded(dtype: string, buffer: ArrayBuffer): Numbers {
  const kind = dtype.replace(/^[<>|=]/, "");
  const plain = (values: Float64Array): Numbers => ({ values, imaginary: null, whole: null });
  const whole = (array: Whole): Numbers => ({ values: Float64Array.from(array as BigInt64Array, Number), imaginary: null, whole: array });
  if (/^[mM]8/.test(kind)) return plain(Float64Array.from(new BigInt64Array(buffer), (time) => (time === NO_TIME ? NaN : Number(time))));
  switch (kind) {
    case "b1":
    case "u1":
      return plain(Float64Array.from(new Uint8Array(buffer)));
    case "i1":
      return plain(Float64Array.from(new Int8Array(buffer)));
    case "u2":
      return plain(Float64Array.from(new Uint16Array(buffer)));
    case "i2":
      return plain(Float64Array.from(new Int16Array(buffer)));
    case "u4":
      return plain(Float64Array.from(new Uint32Array(buffer)));
    case "i4":
      return plain(Float64Array.from(new Int32Array(buffer)));
    case "u8":
      return whole(new BigUint64Array(buffer));
    case "i8":
      return whole(new BigInt64Array(buffer));
    case "f2":
      return plain(Float64Array.from(new Uint16Array(buffer), half));
    case "f4":
      return plain(Float64Array.from(new Float32Array(buffer)));
    case "f8":
      return plain(new Float64Array(buffer));
    case "c8":
      return complex(new Float32Array(buffer));
    case "c16":
      return complex(new Float64Array(buffer));
    default:
      throw new ApiError(0, "unsupported", `elements of NumPy's type ${dtype} are not numbers`);
  }
}

function complex(numbers: Float32Array | Float64Array): Numbers {
  const count = numbers.length / 2;
  const [values, imaginary] = [new Float64Array(count), new Float64Array(count)];
  for (let index = 0; index < count; index++) {
    values[index] = numbers[2 * index] ?? NaN;
    imaginary[index] = numbers[2 * index + 1] ?? NaN;
  }
  return { values, imaginary, whole: null };
}

/** Decodes a two-byte float. */
export function half(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}
