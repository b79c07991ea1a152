/** The state of the page, all of which is in the address: so links, back and forward work. */

import type { Place } from "./api";

export interface State extends Place {
  /** The tab in the middle: image, line, table or chunks; empty for what fits the array. */
  view: string;
  /** The dimensions along the image's sides; -1 for those that fit. */
  x: number;
  y: number;
  /** The indices along all other dimensions, by dimension. */
  at: Record<number, number>;
  /** The shown part of the image, in elements: left, top, right, bottom. Empty for all of it. */
  box: number[];
  map: string;
  /** The ends of the colours; empty for automatic ones. */
  range: number[];
  scale: "linear" | "log";
  reduce: "nearest" | "mean" | "min" | "max";
  field: string;
  /** For complex numbers. */
  part: "magnitude" | "phase";
  /** The shown channels of an image that has several. */
  channels: number[];
  /** The points whose series are shown, each y and x. */
  points: [number, number][];
  /** The first row of a table. */
  row: number;
  search: string;
  /** Coasts are drawn over images of latitude and longitude. */
  coast: boolean;
  /** The edges of chunks are drawn over images. */
  grid: boolean;
  /** The labels over the image; empty for the first ones. */
  label: string;
  /** How much labels hide, from 0 to 100. */
  opacity: number;
}

const EMPTY: State = {
  root: "",
  path: "",
  view: "",
  x: -1,
  y: -1,
  at: {},
  box: [],
  map: "",
  range: [],
  scale: "linear",
  reduce: "nearest",
  field: "",
  part: "magnitude",
  channels: [],
  points: [],
  row: 0,
  search: "",
  coast: true,
  grid: false,
  label: "",
  opacity: 50,
};

/** The state of a node that is looked at anew. */
export function fresh(place: Place, search = ""): State {
  return { ...EMPTY, at: {}, ...place, search };
}

const numbers = (text: string | null): number[] =>
  text ? text.split(",").map(Number).filter((number) => Number.isFinite(number)) : [];

const word = <T extends string>(text: string | null, words: readonly T[], usual: T): T =>
  words.find((known) => known === text) ?? usual;

/** The state that a fragment of an address says. What is not understood is as if it were not there. */
export function parsed(fragment: string): State {
  const [place = "", query = ""] = fragment.replace(/^#/, "").split("?", 2);
  const parts = place.split("/").filter((part) => part !== "").map(unescaped);
  const given = new URLSearchParams(query);
  const dim = (name: string): number => {
    const value = Number(given.get(name) ?? -1);
    return Number.isInteger(value) && value >= 0 ? value : -1;
  };
  const at: Record<number, number> = {};
  for (const item of given.get("at")?.split(",") ?? []) {
    const [dimension, index] = item.split(":").map(Number);
    if (Number.isInteger(dimension) && Number.isInteger(index) && index! >= 0) at[dimension!] = index!;
  }
  const points = (given.get("points")?.split(";") ?? [])
    .map(numbers)
    .filter((point): point is [number, number] => point.length === 2);
  const box = numbers(given.get("box"));
  const range = numbers(given.get("range"));
  return {
    ...fresh({ root: parts[0] ?? "", path: parts.slice(1).join("/") }, given.get("search") ?? ""),
    view: word(given.get("view"), ["image", "line", "table", "chunks"], "" as never),
    x: dim("x"),
    y: dim("y"),
    at,
    box: box.length === 4 && box[2]! > box[0]! && box[3]! > box[1]! ? box : [],
    map: given.get("map") ?? "",
    range: range.length === 2 && range[1]! > range[0]! ? range : [],
    scale: word(given.get("scale"), ["linear", "log"] as const, "linear"),
    reduce: word(given.get("reduce"), ["nearest", "mean", "min", "max"] as const, "nearest"),
    field: given.get("field") ?? "",
    part: word(given.get("part"), ["magnitude", "phase"] as const, "magnitude"),
    channels: numbers(given.get("channels")).filter((channel) => Number.isInteger(channel) && channel >= 0),
    points,
    row: Math.max(0, Math.floor(Number(given.get("row") ?? 0)) || 0),
    coast: given.get("coast") !== "0",
    grid: given.get("grid") === "1",
    label: given.get("label") ?? "",
    opacity: Math.max(0, Math.min(100, Number(given.get("opacity") ?? 50))) || 0,
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The fragment that says a state. */
export function fragment(state: State): string {
  const place = [state.root, ...state.path.split("/").filter((part) => part !== "")].map(encodeURIComponent).join("/");
  const query = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value !== "") query.set(name, value);
  };
  const short = (values: number[]): string => values.map((value) => String(Number(value.toPrecision(9)))).join(",");
  put("view", state.view);
  if (state.x >= 0) put("x", String(state.x));
  if (state.y >= 0) put("y", String(state.y));
  put("at", Object.entries(state.at).map(([dimension, index]) => `${dimension}:${index}`).join(","));
  put("box", short(state.box));
  put("map", state.map);
  put("range", short(state.range));
  if (state.scale !== "linear") put("scale", state.scale);
  if (state.reduce !== "nearest") put("reduce", state.reduce);
  put("field", state.field);
  if (state.part !== "magnitude") put("part", state.part);
  put("channels", state.channels.join(","));
  put("points", state.points.map((point) => point.join(",")).join(";"));
  if (state.row > 0) put("row", String(state.row));
  put("search", state.search);
  put("label", state.label);
  if (state.opacity !== 50) put("opacity", String(state.opacity));
  if (!state.coast) put("coast", "0");
  if (state.grid) put("grid", "1");
  const text = query.toString();
  return `#/${place}${text === "" ? "" : `?${text}`}`;
}

type Listener = (state: State, before: State) => void;

/** The state of this page. Changes that a person would go back from make a new entry of the history. */
export class Store {
  state: State = parsed(location.hash);
  private listeners: Listener[] = [];

  constructor() {
    addEventListener("popstate", () => this.take(parsed(location.hash)));
    addEventListener("hashchange", () => this.take(parsed(location.hash)));
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Changes the state; `quietly` replaces the entry of the history, as for each step of a drag. */
  change(changes: Partial<State>, quietly = false): void {
    const next = { ...this.state, ...changes };
    const text = fragment(next);
    if (text === fragment(this.state)) return;
    if (quietly) history.replaceState(null, "", text);
    else history.pushState(null, "", text);
    this.take(next);
  }

  private take(next: State): void {
    if (fragment(next) === fragment(this.state)) return;
    const before = this.state;
    this.state = next;
    for (const listener of this.listeners) listener(next, before);
  }
}
