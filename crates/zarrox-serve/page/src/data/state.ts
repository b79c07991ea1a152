/** The state of the page. The URL contains all of it, so that links, back and forward work. */

import type { Place } from "./api";
import type { Norm } from "../image/colours";
import { PROJECTIONS, type ProjectionName } from "../image/projections";

export const REDUCTIONS = ["nearest", "mean", "min", "max", "median", "mode"] as const;
export const COMPONENTS = ["magnitude", "phase", "real", "imaginary"] as const;
export const NORMS: readonly Norm[] = ["linear", "log", "symlog"];
/** The ways to compare views, and the maximum number of views besides the image. */
export const COMPARISONS = ["side", "swipe", "blink", "difference", "ratio"] as const;
export type Way = (typeof COMPARISONS)[number];
export const OTHERS = 3;

/** The statistics over a dimension. */
export const STATISTICS = ["mean", "min", "max", "std"] as const;
export type Statistic = (typeof STATISTICS)[number];
const VIEWS = ["image", "plot", "table", "chunks"];

export interface State extends Place {
  /** The view in the middle: image, plot, table or chunks; empty for the most suitable view. */
  view: string;
  /** The dimensions along the x axis and the y axis; -1 for the most suitable ones. */
  x: number;
  y: number;
  /** The dimension of plots at pins; -1 for the most suitable one. */
  along: number;
  /** The indices along all other dimensions, by dimension. */
  at: Record<number, number>;
  /** The coordinates in a link by dimension names, until the array with their indices is known. */
  named: Record<string, string>;
  /** The dimension over which a statistic is shown, and the statistic; -1 and empty for a single index. */
  reduced: number;
  statistic: Statistic | "";
  /** The shown part of the image, in elements: left, top, right, bottom. Empty for all of it. */
  box: number[];
  /** The axes whose default direction is reversed: x, y or xy. */
  flip: string;
  aspect: "" | "equal" | "fill";
  map: string;
  reverse: boolean;
  /** The number of colour steps; 0 for continuous colours. */
  levels: number;
  /** The colours below and above the contrast limits and of missing values, as `rrggbb`; empty for the ends of the colormap, and for hatching. */
  under: string;
  over: string;
  bad: string;
  /** The contrast limits; empty for the limits of the first slice. */
  range: number[];
  /** True if each slice has its own limits. */
  isPerSlice: boolean;
  norm: Norm;
  reduce: (typeof REDUCTIONS)[number];
  field: string;
  /** The shown component of complex numbers. */
  component: (typeof COMPONENTS)[number];
  /** The shown channels of an image; `null` for the channels that its metadata selects. */
  channels: number[] | null;
  /** The contrast limits and the colours of channels that differ from the metadata. */
  tones: Record<number, Tone>;
  /** The pins in the image, each as y and x. */
  points: [number, number][];
  /** The third dimension of orthogonal planes through the indices of the state; -1 for a single image. */
  planes: number;
  /** The comparison with other views; empty for none. */
  compare: Way | "";
  others: Compared[];
  /** The first row and column of a table. */
  row: number;
  column: number;
  coast: boolean;
  graticule: boolean;
  /** The projection of maps; `grid` for none, and empty for the most suitable one. */
  projection: ProjectionName;
  /** The longitude and the latitude in the middle of a map, and its magnification; empty for the whole array. */
  globe: number[];
  /** True if the edges of chunks are drawn over images. */
  grid: boolean;
  /** The shown labels; empty for the first ones. */
  label: string;
  /** The opacity of labels, in percent. */
  opacity: number;
}

/** An array to compare with, and its indices that do not follow the image. */
export interface Compared extends Place {
  at: Record<number, number>;
}

/** The limits of a channel, and its colour as `rrggbb`; empty for the values of the metadata. */
export interface Tone {
  range: number[];
  colour: string;
}

const EMPTY: State = {
  root: "", path: "", view: "", x: -1, y: -1, along: -1, at: {}, named: {}, reduced: -1, statistic: "", box: [], flip: "", aspect: "", map: "", reverse: false, levels: 0, under: "", over: "", bad: "", range: [], isPerSlice: false, norm: "linear", reduce: "nearest",
  field: "", component: "magnitude", channels: null, tones: {}, points: [], planes: -1, compare: "", others: [], row: 0, column: 0, coast: true, graticule: true, projection: "", globe: [], grid: false, label: "", opacity: 50,
};

/** Returns the initial state of a node. */
export function fresh(place: Place): State {
  return { ...EMPTY, at: {}, named: {}, tones: {}, root: place.root, path: place.path };
}

const numbers = (text: string | null): number[] =>
  text ? text.split(",").map(Number).filter((number) => Number.isFinite(number)) : [];

const word = <T extends string>(text: string | null, words: readonly T[], usual: T): T =>
  words.find((known) => known === text) ?? usual;

/** The form of an index. Dimensions with such names are identified by their numbers. */
const WHOLE = /^\d+$/;

/** Returns the coordinate of an index for links, with the name of the dimension; `null` if the index is more precise. */
export type Naming = (state: State, dimension: number, index: number) => [name: string, coordinate: string] | null;

/** Parses the state in the fragment of a URL. Unknown parts are ignored. */
export function parsed(fragment: string): State {
  const [place = "", query = ""] = fragment.replace(/^#/, "").split("?", 2);
  const parts = place.split("/").filter((part) => part !== "").map(unescaped);
  const given = new URLSearchParams(query);
  const whole = (name: string, usual: number): number => {
    const value = Number(given.get(name) ?? usual);
    return Number.isInteger(value) && value >= 0 ? value : usual;
  };
  const [at, named]: [Record<number, number>, Record<string, string>] = [{}, {}];
  for (const item of given.get("at")?.split(",") ?? []) {
    const [, name, place] = /^([^:]+):(.+)$/.exec(item) ?? [];
    if (!name || !place) continue;
    if (!WHOLE.test(name)) named[unescaped(name)] = unescaped(place);
    else if (WHOLE.test(place)) at[Number(name)] = Number(place);
  }
  const colour = (text: string | null | undefined): string => (/^[0-9a-f]{6}$/i.test(text ?? "") ? text!.toLowerCase() : "");
  const [, reduced, statistic] = /^(\d+):(\w+)$/.exec(given.get("reduced") ?? "") ?? [];
  const known = word(statistic ?? null, STATISTICS, "" as Statistic | "");
  const tones: Record<number, Tone> = {};
  for (const item of given.get("tones")?.split(",") ?? []) {
    const [channel, low, high, of] = item.split(":");
    const limits = low && high ? numbers(`${low},${high}`) : [];
    if (WHOLE.test(channel ?? "")) tones[Number(channel)] = { range: limits.length === 2 && limits[1]! > limits[0]! ? limits : [], colour: colour(of) };
  }
  const points = (given.get("points")?.split(";") ?? [])
    .map(numbers)
    .filter((point): point is [number, number] => point.length === 2);
  const box = numbers(given.get("box"));
  const [range, globe] = [numbers(given.get("range")), numbers(given.get("globe"))];
  const compare = word(given.get("compare"), COMPARISONS, "" as State["compare"]);
  const others = given.getAll("other").slice(0, OTHERS).map(compared);
  // Older links use `line`, `scale` and `part`.
  const view = given.get("view") === "line" ? "plot" : given.get("view");
  return {
    ...fresh({ root: parts[0] ?? "", path: parts.slice(1).join("/") }),
    view: word(view, VIEWS, ""),
    x: whole("x", -1),
    y: whole("y", -1),
    along: whole("along", -1),
    at,
    named,
    reduced: known ? Number(reduced) : -1,
    statistic: known,
    box: box.length === 4 && box[2]! > box[0]! && box[3]! > box[1]! ? box : [],
    flip: word(given.get("flip"), ["", "x", "y", "xy"], ""),
    aspect: word(given.get("aspect"), ["", "equal", "fill"] as const, ""),
    map: given.get("map") ?? "",
    reverse: given.get("reverse") === "1",
    levels: Math.min(64, whole("levels", 0)),
    under: colour(given.get("under")),
    over: colour(given.get("over")),
    bad: colour(given.get("bad")),
    range: range.length === 2 && range[1]! > range[0]! ? range : [],
    isPerSlice: given.get("limits") === "slice",
    norm: word(given.get("norm") ?? given.get("scale"), NORMS, "linear"),
    reduce: word(given.get("reduce"), REDUCTIONS, "nearest"),
    field: given.get("field") ?? "",
    component: word(given.get("component") ?? given.get("part"), COMPONENTS, "magnitude"),
    channels: given.has("channels") ? numbers(given.get("channels")).filter((channel) => Number.isInteger(channel) && channel >= 0) : null,
    tones,
    points,
    planes: whole("planes", -1),
    compare,
    others: compare && others.length === 0 ? [{ root: parts[0] ?? "", path: parts.slice(1).join("/"), at: {} }] : others,
    row: whole("row", 0),
    column: whole("column", 0),
    coast: given.get("coast") !== "0",
    graticule: given.get("graticule") !== "0",
    projection: word(given.get("projection"), PROJECTIONS, ""),
    globe: globe.length === 3 && Math.abs(globe[1]!) <= 90 && globe[2]! > 0 ? [globe[0]!, globe[1]!, Math.min(4000, globe[2]!)] : [],
    grid: given.get("grid") === "1",
    label: given.get("label") ?? "",
    opacity: Math.max(0, Math.min(100, Number(given.get("opacity") ?? 50))) || 0,
  };
}

/** Parses an array to compare with: `ROOT/PATH@DIMENSION:INDEX,…`. */
function compared(text: string): Compared {
  const end = text.lastIndexOf("@");
  const [root = "", ...path] = (end < 0 ? text : text.slice(0, end)).split("/");
  const at: Record<number, number> = {};
  for (const item of end < 0 ? [] : text.slice(end + 1).split(",")) {
    const [dimension, place] = item.split(":");
    if (WHOLE.test(dimension ?? "") && WHOLE.test(place ?? "")) at[Number(dimension)] = Number(place);
  }
  return { root, path: path.join("/"), at };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a dimension and its position, with escaped separators. */
const pair = ([name, place]: [string, string]): string => `${name.replaceAll(/[%,:]/g, encodeURIComponent)}:${place.replaceAll(/[%,]/g, encodeURIComponent)}`;

/** Returns the URL fragment of a state. */
export function fragment(state: State, naming: Naming = () => null): string {
  const place = [state.root, ...state.path.split("/").filter((part) => part !== "")].map(encodeURIComponent).join("/");
  const items: string[] = [];
  const put = (name: string, value: string): void => {
    if (value !== "") items.push(`${name}=${encodeURIComponent(value).replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%3B", ";")}`);
  };
  const short = (values: number[]): string => values.map((value) => String(Number(value.toPrecision(9)))).join(",");
  const dimension = (name: string, value: number): void => put(name, value >= 0 ? String(value) : "");
  put("view", state.view);
  dimension("x", state.x);
  dimension("y", state.y);
  dimension("along", state.along);
  const places = Object.entries(state.at).map(([dimension, at]): [string, string] => naming(state, Number(dimension), at) ?? [dimension, String(at)]);
  put("at", [...places, ...Object.entries(state.named)].map(pair).join(","));
  put("reduced", state.statistic === "" ? "" : `${state.reduced}:${state.statistic}`);
  put("box", short(state.box));
  put("flip", state.flip);
  put("aspect", state.aspect);
  put("map", state.map);
  put("reverse", state.reverse ? "1" : "");
  put("levels", state.levels > 0 ? String(state.levels) : "");
  put("under", state.under);
  put("over", state.over);
  put("bad", state.bad);
  put("range", short(state.range));
  put("limits", state.isPerSlice ? "slice" : "");
  put("norm", state.norm === "linear" ? "" : state.norm);
  put("reduce", state.reduce === "nearest" ? "" : state.reduce);
  put("field", state.field);
  put("component", state.component === "magnitude" ? "" : state.component);
  if (state.channels) items.push(`channels=${state.channels.join(",")}`);
  put("tones", Object.entries(state.tones).map(([channel, { range, colour }]) => `${channel}:${range.length === 2 ? range.map((limit) => Number(limit.toPrecision(9))).join(":") : ":"}:${colour}`).join(","));
  put("points", state.points.map((point) => point.join(",")).join(";"));
  dimension("planes", state.planes);
  put("compare", state.compare);
  if (state.compare) for (const { root, path, at } of state.others) items.push(`other=${[root, ...path.split("/")].filter((part) => part !== "").map(encodeURIComponent).join("/")}@${Object.entries(at).map((one) => one.join(":")).join(",")}`);
  put("row", state.row > 0 ? String(state.row) : "");
  put("column", state.column > 0 ? String(state.column) : "");
  put("label", state.label);
  put("opacity", state.opacity === 50 ? "" : String(state.opacity));
  put("coast", state.coast ? "" : "0");
  put("graticule", state.graticule ? "" : "0");
  put("projection", state.projection);
  put("globe", short(state.globe));
  put("grid", state.grid ? "1" : "");
  return `#/${place}${items.length === 0 ? "" : `?${items.join("&")}`}`;
}

type Listener = (state: State, before: State) => void;

/** The minimum number of milliseconds between two changes of the URL, which browsers limit. */
const REST = 350;

/** The state of this page. Changes that a user may want to undo add an entry to the history. */
export class Store {
  state: State = parsed(location.hash);
  private listeners: Listener[] = [];
  private timer = 0;
  private written = 0;
  /** True if the user chose the state in the page, not through the URL. */
  isChosen = false;
  /** Returns coordinates for URLs. */
  naming: Naming = () => null;

  constructor() {
    const read = (): void => {
      // A URL that is still to be written is older than the state.
      clearTimeout(this.timer);
      this.isChosen = false;
      this.take(parsed(location.hash));
    };
    addEventListener("popstate", read);
    addEventListener("hashchange", read);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Returns the fragment of a state, with coordinates where they are known. */
  fragment(state: State): string {
    return fragment(state, this.naming);
  }

  /** Changes the state. `quietly` replaces the entry of the history, for example during a drag. */
  change(changes: Partial<State>, quietly = false): void {
    const next = { ...this.state, ...changes };
    if (fragment(next) === fragment(this.state)) return;
    this.isChosen = true;
    if (quietly) this.replace();
    else {
      this.write();
      history.pushState(null, "", this.fragment(next));
    }
    this.take(next);
  }

  /** Changes the form of the state but not its meaning, so that the history has no new entry. */
  settle(changes: Partial<State>): void {
    this.replace();
    this.take({ ...this.state, ...changes });
  }

  /** Writes the state to the URL after a short time. */
  private replace(): void {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.written + REST - performance.now());
    this.timer = setTimeout(() => this.write(), wait) as unknown as number;
  }

  private write(): void {
    clearTimeout(this.timer);
    this.written = performance.now();
    const text = this.fragment(this.state);
    if (location.hash !== text) history.replaceState(null, "", text);
  }

  private take(next: State): void {
    if (fragment(next) === fragment(this.state)) return;
    const before = this.state;
    this.state = next;
    for (const listener of this.listeners) listener(next, before);
  }
}
