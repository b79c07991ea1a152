/** The page: a tree on the left, what is looked at in the middle, and what is known of it on the right. */

import { ApiError, call, colourMaps, type ArrayNode, type NodeInfo, type Place } from "./api";
import { ChunkView } from "./chunks";
import { coast } from "./coast";
import type { Maps } from "./colours";
import { axes, meaning } from "./coordinates";
import { choice, fill, h, labelled } from "./dom";
import { ImageView } from "./image";
import { labelsOf } from "./labels";
import { LineView } from "./line";
import { index, selection, sides, views, type Channel, type Shown } from "./model";
import { NodePanel } from "./node";
import { axisNames, levels, listed } from "./ome";
import { Store, type State } from "./state";
import { TableView } from "./table";
import { Tree } from "./tree";

/** A view in the middle. */
interface View {
  element: HTMLElement;
  side?: HTMLElement;
  update(state: State): void;
  close(): void;
}

/** The pictures of an animation in a second. */
const RATE = 5;

class App {
  private readonly store = new Store();
  private readonly tree = new Tree(this.store, (error) => this.fail(error));
  private readonly panel = new NodePanel();
  private readonly tabs = h("div", { class: "tabs", role: "tablist" });
  private readonly middle = h("div", { class: "view", role: "tabpanel" });
  private readonly below = h("div", { class: "below" });
  private readonly controls = h("form", { class: "controls", submit: (event: Event) => event.preventDefault() });
  private readonly problem = h("p", { class: "problem", role: "alert", hidden: true });
  private shown: Shown | null = null;
  private view: View | null = null;
  /** The view that is shown; `null` before there is one. */
  private kind: string | null = null;
  private series: LineView | null = null;
  private playing: { timer: number; dimension: number } | null = null;
  /** The sliders, by their dimensions: they are moved, not made anew, so that a drag goes on. */
  private readonly moves = new Map<number, (place: number) => void>();
  private opened = 0;

  constructor(private readonly maps: Maps) {}

  async begin(): Promise<void> {
    // In a frame, such as a notebook's, the picture has the room.
    document.body.classList.toggle("closed", window.self !== window.top);
    const toggle = h("button", { type: "button", class: "menu", "aria-label": "show or hide the tree", click: () => document.body.classList.toggle("closed") }, "☰");
    const header = h("header", {}, toggle, h("h1", {}, "Zarrox"));
    const centre = h("main", {}, this.tabs, this.problem, this.middle, this.below, this.controls);
    document.body.replaceChildren(header, this.tree.element, centre, this.panel.element);
    this.store.listen((state, before) => {
      if (state.root !== before.root || state.path !== before.path) void this.open();
      else this.update(before);
    });
    await this.tree.begin();
    await this.open();
  }

  private fail(error: unknown): void {
    const advice = error instanceof ApiError && error.advice ? ` (${error.advice})` : "";
    this.problem.textContent = `${error instanceof Error ? error.message : String(error)}${advice}`;
    this.problem.hidden = false;
  }

  /** Opens the node of the state. */
  private async open(): Promise<void> {
    const number = ++this.opened;
    const { root, path } = this.store.state;
    const place = { root, path };
    this.clear();
    document.title = `${path.split("/").pop() || root} – Zarrox`;
    if (root === "") return;
    let node: NodeInfo | null;
    try {
      node = await call<NodeInfo | null>("node", place, { optional: true, stored: "none" });
    } catch (error) {
      if (number === this.opened) this.panel.fail(place, error instanceof Error ? error.message : String(error));
      return;
    }
    if (number !== this.opened) return;
    // A folder is no node, and the tree shows what is in it.
    if (!node) return this.panel.fail(place, `There is no Zarr array or group at '${path}' in '${root}'. Choose a node in the tree.`);
    this.panel.show(place, node, () => this.store.state, () => this.selected());
    if (node.kind === "array") void this.countStored(place, number);
    const shown = node.kind === "array" ? await this.array(place, node) : await this.image(place, node);
    if (number !== this.opened) return;
    if (!shown && node.kind === "group") fill(this.middle, h("p", { class: "nothing" }, "This is a group. Choose an array in the tree."));
    if (!shown) return;
    this.shown = shown;
    this.update(null);
  }

  /** Counts what is stored, which may take longer than the picture. */
  private async countStored(place: Place, number: number): Promise<void> {
    const node = await call<NodeInfo | null>("node", place, { optional: true }).catch(() => null);
    if (node && number === this.opened) this.panel.counted(node);
  }

  private clear(): void {
    this.stop();
    this.view?.close();
    this.series?.close();
    [this.view, this.series, this.shown, this.kind] = [null, null, null, null];
    this.problem.hidden = true;
    for (const element of [this.tabs, this.middle, this.below, this.controls]) fill(element);
  }

  private async array(place: Place, node: ArrayNode): Promise<Shown | null> {
    if (node.unreadable) return null;
    const { shape } = node;
    const last = shape.length - 1;
    const known = await axes(place, node);
    const coloured = /^(c|channel|band|rgb|rgba|s|sample)?$/i.test(known[last]?.at ? "x" : (node.dimension_names?.[last] ?? ""));
    const colours = shape.length >= 3 && [3, 4].includes(shape[last]!) && node.data_type.name === "uint8" && coloured ? last : -1;
    const level = { path: place.path, node, factors: shape.map(() => 1) };
    return { place, node, shape, axes: known, meaning: meaning(node), levels: [level], colours, channels: [], channelDimension: -1, labels: [] };
  }

  /** A group that is an image in several sizes; `null` of other groups. */
  private async image(place: Place, group: NodeInfo): Promise<Shown | null> {
    if (listed(group.attributes).length === 0) return null;
    const all = await levels(place, group);
    const first = all[0];
    if (!first) return null;
    const shown = await this.array({ root: place.root, path: first.path }, first.node);
    if (!shown) return null;
    const names = axisNames(group.attributes);
    names.forEach((name, dimension) => {
      const axis = shown.axes[dimension];
      if (axis && axis.at === null) shown.axes[dimension] = { ...axis, name };
    });
    const channelDimension = names.indexOf("c");
    const channels = channelDimension >= 0 ? channelsOf(group, shown.shape[channelDimension]!) : [];
    return { ...shown, levels: all, channels, channelDimension: channels.length > 0 ? channelDimension : -1, labels: await labelsOf(place) };
  }

  // The middle.

  /** Shows the state. `before` is the state that was shown, if it was of the same node. */
  private update(before: State | null): void {
    const { shown } = this;
    const { state } = this.store;
    if (!shown) return;
    const possible = views(shown);
    const kind = possible.includes(state.view) ? state.view : (possible[0] ?? "");
    if (kind !== this.kind) this.change(kind, shown);
    fill(this.tabs, ...possible.map((name) => this.tab(name, name === kind)));
    this.view?.update(state);
    this.updateSeries(shown, state, kind);
    const control = (one: State): string => JSON.stringify([one.view, one.x, one.y, one.map, one.scale, one.reduce, one.field, one.part, one.channels, one.coast, one.grid, one.label, one.opacity > 0]);
    if (!before || control(before) !== control(state)) this.showControls(shown, state, kind);
    else for (const [dimension, move] of this.moves) move(index(shown, state, dimension));
  }

  private tab(name: string, chosen: boolean): HTMLElement {
    const choose = (): void => this.store.change({ view: name, box: [], row: 0 });
    return h("button", { type: "button", role: "tab", "aria-selected": String(chosen), click: choose }, name);
  }

  private change(kind: string, shown: Shown): void {
    this.stop();
    this.view?.close();
    this.kind = kind;
    this.problem.hidden = true;
    const fail = (error: unknown): void => this.fail(error);
    if (kind === "image") this.view = new ImageView(shown, this.store, this.maps, fail, (y, x, add) => this.pick(y, x, add));
    else if (kind === "line") this.view = new LineView(shown, this.store, (state) => along(shown, state), fail, true);
    else if (kind === "table") this.view = new TableView(shown, this.store, fail);
    else if (kind === "chunks") this.view = new ChunkView(shown, this.store, fail);
    else this.view = null;
    fill(this.middle, this.view?.element ?? h("p", { class: "nothing" }, "The array has no elements."));
  }

  /** A click in the image shows the series at that point. */
  private pick(y: number, x: number, add: boolean): void {
    if (this.shown && seriesDimension(this.shown, this.store.state) >= 0) {
      const points = add ? [...this.store.state.points, [y, x] as [number, number]].slice(-6) : [[y, x] as [number, number]];
      this.store.change({ points });
    }
  }

  private updateSeries(shown: Shown, state: State, kind: string): void {
    const wanted = kind === "image" && state.points.length > 0 && seriesDimension(shown, state) >= 0;
    if (!wanted) {
      this.series?.close();
      this.series = null;
      fill(this.below);
      return;
    }
    if (!this.series) {
      this.series = new LineView(shown, this.store, (one) => seriesDimension(shown, one), (error) => this.fail(error), false);
      const close = h("button", { type: "button", click: () => this.store.change({ points: [] }) }, "close");
      this.series.element.querySelector(".bar")?.append(close);
      fill(this.below, this.series.element);
    }
    const [x, y] = sides(shown, state);
    this.series.update({ ...state, x, y });
  }

  // Controls.

  private showControls(shown: Shown, state: State, kind: string): void {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["control"] : undefined;
    this.moves.clear();
    const items: HTMLElement[] = [];
    if (kind === "image" || kind === "chunks" || kind === "line") items.push(...this.dimensionControls(shown, state, kind));
    items.push(...this.sliders(shown, state, kind));
    const fields = shown.node.data_type.fields ?? [];
    if (fields.length > 0 && kind !== "table" && kind !== "chunks") {
      items.push(labelled("field", choice(fields.map((field) => field.name), state.field || fields[0]!.name, (field) => this.store.change({ field, range: [] }))));
      if (state.field === "") this.store.change({ field: fields[0]!.name }, true);
    }
    if (shown.node.data_type.kind === "complex" && (kind === "image" || kind === "line")) {
      items.push(labelled("part", choice(["magnitude", "phase"], state.part, (part) => this.store.change({ part: part as State["part"], range: [] }))));
    }
    if (kind === "image") items.push(...this.imageControls(shown, state));
    fill(this.controls, ...items);
    if (focused) this.controls.querySelector<HTMLElement>(`[data-control="${focused}"]`)?.focus();
  }

  private dimensionControls(shown: Shown, state: State, kind: string): HTMLElement[] {
    const names = shown.axes.map((axis) => axis.name);
    if (names.length < 2) return [];
    const [x, y] = kind === "line" ? [along(shown, state), -1] : sides(shown, state);
    const chooser = (label: string, chosen: number, change: (dimension: number) => void): HTMLElement =>
      labelled(label, choice(names, names[chosen] ?? "", (name) => change(names.indexOf(name))));
    const put = (changes: Partial<State>): void => this.store.change({ ...changes, box: [], points: [] });
    if (kind === "line") return [chooser("along", x, (dimension) => put({ x: dimension }))];
    return [
      chooser("across", x, (dimension) => put({ x: dimension, y: dimension === y ? x : y })),
      chooser("down", y, (dimension) => put({ y: dimension, x: dimension === x ? y : x })),
    ];
  }

  private sliders(shown: Shown, state: State, kind: string): HTMLElement[] {
    const used = kind === "image" || kind === "chunks" ? sides(shown, state) : kind === "line" ? [along(shown, state)] : lastTwo(shown);
    const rest = shown.shape.map((_, dimension) => dimension).filter((dimension) => {
      const hidden = used.includes(dimension) || (kind === "image" && (dimension === shown.colours || dimension === shown.channelDimension));
      return !hidden && shown.shape[dimension]! > 1;
    });
    return rest.map((dimension) => {
      const axis = shown.axes[dimension]!;
      const at = index(shown, state, dimension);
      const told = h("output", {}, toldAt(at));
      function toldAt(place: number): string {
        const label = axis.label(place);
        return `${label}${axis.units ? ` ${axis.units}` : ""}${label === String(place) ? "" : ` [${place}]`} of ${axis.length}`;
      }
      this.moves.set(dimension, (place) => {
        told.textContent = toldAt(place);
        slider.setAttribute("aria-valuetext", toldAt(place));
        if (Number(slider.value) !== place) slider.value = String(place);
      });
      const slider = h("input", {
        type: "range",
        min: 0,
        max: axis.length - 1,
        value: at,
        "aria-label": axis.name,
        "data-control": `at-${dimension}`,
        "aria-valuetext": toldAt(at),
        input: () => this.store.change({ at: { ...this.store.state.at, [dimension]: Number(slider.value) } }, true),
      });
      const play = h("button", { type: "button", "aria-label": `play ${axis.name}`, "data-plays": dimension, click: () => this.play(dimension) }, this.playing?.dimension === dimension ? "⏸" : "▶");
      return h("div", { class: "slider" }, h("span", {}, axis.name), slider, play, told);
    });
  }

  /** Moves along a dimension by itself, until it is stopped. */
  private play(dimension: number): void {
    const was = this.playing?.dimension;
    this.stop();
    if (was === dimension) return;
    const timer = setInterval(() => {
      const { shown } = this;
      if (!shown || this.middle.querySelector(".busy")) return;
      const next = (index(shown, this.store.state, dimension) + 1) % shown.shape[dimension]!;
      this.store.change({ at: { ...this.store.state.at, [dimension]: next } }, true);
    }, 1000 / RATE) as unknown as number;
    this.playing = { timer, dimension };
    this.showPlaying();
  }

  private stop(): void {
    clearInterval(this.playing?.timer);
    this.playing = null;
    this.showPlaying();
  }

  private showPlaying(): void {
    for (const button of this.controls.querySelectorAll<HTMLElement>("[data-plays]")) {
      button.textContent = button.dataset["plays"] === String(this.playing?.dimension) ? "⏸" : "▶";
    }
  }

  private imageControls(shown: Shown, state: State): HTMLElement[] {
    const view = this.view instanceof ImageView ? this.view : null;
    const zoom = (label: string, name: string, factor: number): HTMLElement => h("button", { type: "button", "aria-label": name, click: () => view?.zoom(factor, 0.5, 0.5) }, label);
    const bar = h(
      "div",
      { class: "bar" },
      zoom("+", "zoom in", 0.7),
      zoom("−", "zoom out", 1 / 0.7),
      h("button", { type: "button", click: () => this.store.change({ box: [] }) }, "whole"),
      h("button", { type: "button", click: () => view?.save(shown.node.name || "image") }, "PNG"),
    );
    const [x, y] = sides(shown, state);
    if (coast(shown.axes[x], shown.axes[y])) bar.append(this.check("coasts", "coast", state, "Made with Natural Earth"));
    bar.append(this.check("chunks", "grid", state, "the edges of chunks and shards"));
    if (shown.labels.length > 0) bar.append(...this.labelControls(shown, state));
    if (shown.colours >= 0) return [bar];
    if (shown.channels.length > 0) return [bar, this.channelControls(shown, state)];
    const map = state.map in this.maps ? state.map : "viridis";
    return [
      labelled("colours", choice(Object.keys(this.maps), map, (name) => this.store.change({ map: name, range: [] }))),
      labelled("scale", choice(["linear", "log"], state.scale, (scale) => this.store.change({ scale: scale as State["scale"], range: [] }))),
      labelled("of many elements", choice(["nearest", "mean", "min", "max"], state.reduce, (reduce) => this.store.change({ reduce: reduce as State["reduce"] }))),
      bar,
      ...(view ? [view.side] : []),
    ];
  }

  private labelControls(shown: Shown, state: State): HTMLElement[] {
    const names = shown.labels.map((label) => label.name);
    const slider = h("input", {
      type: "range",
      min: 0,
      max: 100,
      value: state.opacity,
      "data-control": "opacity",
      input: () => this.store.change({ opacity: Number(slider.value) }, true),
    });
    const which = labelled("labels", choice(names, state.label || names[0]!, (label) => this.store.change({ label })));
    return [which, labelled("opacity of labels", slider)];
  }

  private check(label: string, name: "coast" | "grid", state: State, title: string): HTMLElement {
    const box = h("input", { type: "checkbox", checked: state[name], "data-control": name, change: () => this.store.change({ [name]: box.checked }) });
    return h("label", { class: "channel", title }, box, label);
  }

  private channelControls(shown: Shown, state: State): HTMLElement {
    const chosen = state.channels.length > 0 ? state.channels : shown.channels.flatMap((channel, number) => (channel.visible ? [number] : []));
    const boxes = shown.channels.map((channel, number) => {
      const box = h("input", {
        type: "checkbox",
        checked: chosen.includes(number),
        change: () => this.store.change({ channels: box.checked ? [...chosen, number].sort((a, b) => a - b) : chosen.filter((one) => one !== number) }),
      });
      return h("label", { class: "channel" }, box, h("i", { style: `background: rgb(${channel.colour.join(" ")})` }), channel.label);
    });
    return h("fieldset", {}, h("legend", {}, "channels"), ...boxes);
  }

  /** The selection that is shown, in NumPy's syntax. */
  private selected(): string {
    const { shown } = this;
    const { state } = this.store;
    if (!shown) return "...";
    const [x, y] = this.kind === "line" ? [along(shown, state), -1] : sides(shown, state);
    const span = (dimension: number, from: number, to: number): string => {
      const [first, end] = [Math.max(0, Math.floor(from)), Math.min(shown.shape[dimension]!, Math.ceil(to))];
      return first === 0 && end === shown.shape[dimension] ? ":" : `${first}:${end}`;
    };
    return selection(shown, state, (dimension) => {
      if (dimension === shown.colours) return ":";
      if (dimension !== x && dimension !== y) return null;
      if (state.box.length !== 4) return ":";
      return dimension === x ? span(dimension, state.box[0]!, state.box[2]!) : span(dimension, state.box[1]!, state.box[3]!);
    });
  }
}

function lastTwo(shown: Shown): number[] {
  const long = shown.shape.map((_, dimension) => dimension).filter((dimension) => shown.shape[dimension]! !== 1);
  return long.slice(-2);
}

/** The dimension of a plot. */
function along(shown: Shown, state: State): number {
  if (state.x >= 0 && state.x < shown.shape.length) return state.x;
  const long = shown.shape.map((_, dimension) => dimension).filter((dimension) => shown.shape[dimension]! > 1 && dimension !== shown.colours);
  return long[0] ?? 0;
}

/** The dimension along which a point of the image has a series; -1 if there is none. */
function seriesDimension(shown: Shown, state: State): number {
  const [x, y] = sides(shown, state);
  const others = shown.shape.map((_, dimension) => dimension).filter((dimension) => ![x, y, shown.colours, shown.channelDimension].includes(dimension));
  return others.find((dimension) => shown.shape[dimension]! > 1) ?? -1;
}

/** The channels that OME's metadata describes, or as many without names. */
function channelsOf(group: NodeInfo, length: number): Channel[] {
  const ome = group.attributes["ome"] as { omero?: unknown } | undefined;
  const omero = (ome?.omero ?? group.attributes["omero"]) as { channels?: Record<string, unknown>[] } | undefined;
  const usual: [number, number, number][] = [[0, 255, 0], [255, 0, 255], [0, 255, 255], [255, 255, 0], [255, 80, 80], [90, 140, 255]];
  return Array.from({ length: Math.min(length, 64) }, (_, number) => {
    const said = omero?.channels?.[number];
    const colour = /^#?([0-9a-f]{6})$/i.exec(String(said?.["color"] ?? ""))?.[1];
    const window = said?.["window"] as { start?: number; end?: number } | undefined;
    const range: [number, number] | null = typeof window?.start === "number" && typeof window.end === "number" && window.end > window.start ? [window.start, window.end] : null;
    return {
      label: String(said?.["label"] ?? `channel ${number}`),
      colour: colour ? ([0, 2, 4].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number]) : length === 1 ? [255, 255, 255] : usual[number % usual.length]!,
      range,
      visible: said ? said["active"] !== false : number < 4,
    };
  });
}

async function start(): Promise<void> {
  try {
    await new App(await colourMaps()).begin();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    document.body.replaceChildren(h("p", { class: "problem", role: "alert" }, message));
  }
}

void start();
