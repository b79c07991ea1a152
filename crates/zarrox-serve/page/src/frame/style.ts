/** The style of an image or a plot: limits, colours, axes and overlays. */

import { call, type Place, type Stats } from "../data/api";
import { coast } from "../image/coast";
import { GROUPS, symmetric, table, type Limits, type Maps } from "../image/colours";
import { numberOf } from "../data/exact";
import { check, choice, h, popover, refill, row, words, type Child } from "../dom";
import { ChannelRows } from "./channels";
import { Histogram, limitText } from "./histogram";
import { ImageView } from "../image/image";
import { along, fieldOf, numericFields, isEqual, mapKind, pinAlong, projectionOf, sides, thirdOf, thirds, valueTimes, type Shown } from "../data/model";
import { crossed, thirdChoices } from "../views/planes";
import { COMPONENTS, NORMS, REDUCTIONS, type State, type Store } from "../data/state";

/** The maximum number of elements from which the limits of a whole array are computed. */
const SAMPLE = 1 << 20;

/** The projections of maps. */
const PROJECTION_NAMES: Record<string, string> = { grid: "none (grid)", plate: "plate carrée", robinson: "Robinson", orthographic: "orthographic", north: "north polar stereographic", south: "south polar stereographic" };

const section = (title: string, ...children: Child[]): HTMLElement => h("section", {}, h("h3", {}, title), ...children);

export class StylePanel {
  readonly element = h("form", { class: "style", submit: (event: Event) => event.preventDefault() });
  private readonly histogram: Histogram;
  private readonly note = h("small", { class: "note" });
  private view: ImageView | null = null;
  private channels: ChannelRows | null = null;
  private shown: Shown | null = null;
  private key = "";

  constructor(
    private readonly store: Store,
    private readonly maps: Maps,
  ) {
    this.histogram = new Histogram(
      (range, quietly) => store.change({ range, isPerSlice: false }, quietly),
      (value) => (this.times ? this.times.text(Math.round(value)) : limitText(value)),
      (text) => (this.times ? (this.times.number(text) ?? NaN) : Number(text.replace("−", "-"))),
    );
  }

  private get times(): ReturnType<typeof valueTimes> {
    return this.shown ? valueTimes(this.shown, this.store.state) : null;
  }

  /** Shows the controls of an array in a view. */
  show(shown: Shown, view: ImageView | null, kind: string): void {
    const { state } = this.store;
    [this.shown, this.view] = [shown, view];
    const { x, y, along: plotted, flip, aspect, map, reverse, levels, norm, reduce, field, component, channels, tones, under, over, bad, planes, projection, graticule, coast: isCoast, grid, label, opacity, isPerSlice, range } = state;
    const key = JSON.stringify([shown.place, kind, x, y, planes, projection, graticule, plotted, flip, aspect, map, reverse, levels, norm, reduce, field, component, channels, Object.entries(tones).map(([channel, tone]) => [channel, tone.colour]), under, over, bad, isCoast, grid, label, opacity > 0, isPerSlice, range.length, view?.map(state)]);
    if (key !== this.key) {
      this.key = key;
      this.channels = null;
      refill(this.element, ...this.sections(shown, state, kind));
    }
    this.changed();
  }

  /** Shows new values or limits. */
  changed(): void {
    if (!this.view) return;
    if (this.channels) this.channels.changed(this.view);
    else this.histogram.show(this.view.summary, this.view.limits(this.store.state));
  }

  private sections(shown: Shown, state: State, kind: string): Child[] {
    if (kind === "table" || kind === "chunks" || kind === "") return kind !== "" && shown.shape.length > 1 ? [this.axes(shown, state, kind)] : [];
    return [
      this.values(shown, state),
      kind === "image" && shown.channels.length > 0 && this.ofChannels(shown, state),
      kind === "image" && shown.channels.length === 0 && shown.colours < 0 && this.colours(shown, state),
      this.axes(shown, state, kind),
      kind === "image" && this.overlays(shown, state),
    ];
  }

  /** Returns the choices of a structure's field and of a complex number's component. */
  private values(shown: Shown, state: State): Child {
    const fields = numericFields(shown.node);
    const rows = [
      fields.length > 0 && row("Field", words("Field", fields.map((field) => field.name), fieldOf(shown, state)!.name, (field) => this.store.change({ field, range: [] }))),
      shown.node.data_type.kind === "complex" && row("Component", words("Component", COMPONENTS, state.component, (word) => this.store.change({ component: word as State["component"], range: [], map: "" }))),
    ].filter(Boolean);
    return rows.length > 0 && section("Values", ...rows);
  }

  private colours(shown: Shown, state: State): HTMLElement {
    const map = this.view?.map(state) ?? "viridis";
    const levels = h("input", { type: "number", min: 0, max: 64, value: state.levels || "", placeholder: "off", "aria-label": "Levels", "data-control": "levels", change: () => this.store.change({ levels: Math.max(0, Math.min(64, Math.round(Number(levels.value) || 0))) }) });
    const norm = (word: string): void => this.store.change({ norm: word as State["norm"], range: word === "log" && (state.range[0] ?? 1) <= 0 ? [] : state.range });
    return section(
      "Contrast limits",
      this.histogram.element,
      row("Limits from", this.sources(shown, state)),
      this.note,
      row("Colormap", this.swatches(state, map)),
      row("Norm", words("Norm", NORMS, state.norm, norm)),
      row("Levels", levels, check("Reverse", state.reverse, (reverse) => this.store.change({ reverse }))),
      this.end("Under", "under", "the first colour", state),
      this.end("Over", "over", "the last colour", state),
      this.end("Missing", "bad", "hatched", state),
    );
  }

  /** Returns the choice of the colour for values outside the limits, or for missing values. */
  private end(name: string, member: "under" | "over" | "bad", usual: string, state: State): HTMLElement {
    const colour = h("input", { type: "color", value: `#${state[member] || "ff00ff"}`, hidden: state[member] === "", "aria-label": `Colour: ${name.toLowerCase()}`, "data-control": `end-${member}`, change: () => this.store.change({ [member]: colour.value.slice(1) }) });
    const own = choice(name, [["", usual], ["own", "own colour"]], state[member] === "" ? "" : "own", (chosen) => this.store.change({ [member]: chosen && colour.value.slice(1) }));
    return row(name, own, colour);
  }

  private sources(shown: Shown, state: State): HTMLElement {
    const chosen = state.isPerSlice ? "each" : state.range.length === 2 ? "fixed" : "first";
    const options: [string, string][] = [
      ["first", "first slice (2–98 %)"],
      ...(chosen === "fixed" ? [["fixed", "fixed"] as [string, string]] : []),
      ["slice", "this slice"],
      ["whole", "whole array"],
      ...(shown.meaning.valid ? [["valid", "valid_range"] as [string, string]] : []),
      ["symmetric", "± symmetric"],
      ["each", "each slice anew"],
    ];
    return choice("Limits from", options, chosen, (source) => void this.from(source, shown));
  }

  /** Sets the limits from a source. */
  private async from(source: string, shown: Shown): Promise<void> {
    const { state } = this.store;
    const fixed = (range: Limits | null): void => this.store.change({ range: range ?? [], isPerSlice: false });
    this.note.textContent = "";
    if (source === "first") fixed(null);
    else if (source === "each") this.store.change({ range: [], isPerSlice: true });
    else if (source === "slice" && this.view?.summary) fixed([this.view.summary.min, this.view.summary.max]);
    else if (source === "valid") fixed(shown.meaning.valid);
    else if (source === "symmetric") fixed(symmetric(this.view?.limits(state) ?? [-1, 1]));
    else if (source === "whole") {
      this.note.textContent = "Reading …";
      const found = await this.whole(shown.place, shown, state).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (this.shown !== shown) return;
      if (typeof found === "string") this.note.textContent = found;
      else {
        fixed(found.limits);
        this.note.textContent = found.isSampled ? `of ${found.count.toLocaleString("en-US")} elements at even distances` : "of all elements";
      }
    }
    this.key = "";
    this.show(shown, this.view, "image");
  }

  private async whole(place: Place, shown: Shown, state: State): Promise<{ limits: Limits; isSampled: boolean; count: number }> {
    const stats = await call<Stats>("stats", place, { max_elements: SAMPLE, field: fieldOf(shown, state)?.name, missing: shown.meaning.missing.join(",") || undefined });
    const limits = [stats.min, stats.max].map((value) => shown.meaning.of(numberOf(value)));
    const [low, high] = limits.sort((a, b) => a - b) as Limits;
    if (!(low < high)) throw new Error("The array has fewer than two different values");
    return { limits: [low, high], isSampled: stats.sampled, count: stats.count };
  }

  /** Returns the colormaps as swatches, in groups. */
  private swatches(state: State, map: string): HTMLElement {
    const strip = (name: string): HTMLElement => h("i", { class: "strip", style: `background: linear-gradient(to right, ${gradient(table(this.maps, name, state.reverse, state.levels))})` });
    const content = (close: () => void): Child[] =>
      Object.entries(GROUPS).map(([group, names]) =>
        h("div", { class: "group", role: "group", "aria-label": group }, h("h4", {}, group), ...names.filter((name) => name in this.maps).map((name) =>
          h("button", { type: "button", class: "swatch", "aria-pressed": String(name === map), click: () => { close(); this.store.change({ map: name }); } }, strip(name), name))));
    const opener = popover(map, content, { class: "swatch", "aria-label": `Colormap: ${map}`, "data-control": "Colormap" });
    opener.querySelector("button")!.prepend(strip(map));
    return opener;
  }

  private ofChannels(shown: Shown, state: State): HTMLElement {
    this.channels = new ChannelRows(shown, this.store, this.view?.visible(state) ?? []);
    return section("Channels", this.channels.element);
  }

  private axes(shown: Shown, state: State, kind: string): HTMLElement {
    const names = shown.axes.map((axis, dimension) => [String(dimension), axis.name] as const);
    const put = (changes: Partial<State>): void => this.store.change({ ...changes, box: [], points: [], flip: "", row: 0, column: 0 });
    if (kind === "plot") return section("Axes", row("Plot along", choice("Plot along", names, String(along(shown, state)), (dimension) => put({ along: Number(dimension) }))));
    const [x, y] = sides(shown, state);
    if (names.length < 2) return section("Axes");
    const flip = (side: "x" | "y"): HTMLElement => {
      const isOn = state.flip.includes(side);
      const next = (["x", "y"] as const).filter((one) => (one === side ? !isOn : state.flip.includes(one))).join("");
      return h("button", { type: "button", class: "icon", "aria-label": `Flip the ${side} axis`, title: `Flip the ${side} axis`, "aria-pressed": String(isOn), "data-control": `flip-${side}`, click: () => this.store.change({ flip: next }) }, side === "x" ? "⇄" : "⇅");
    };
    const [across, down] = kind === "table" ? ["Columns", "Rows"] : ["x axis", "y axis"];
    const isImage = kind === "image";
    const series = names.filter(([dimension]) => Number(dimension) !== shown.colours && Number(dimension) !== shown.channelDimension);
    return section(
      "Axes",
      row(across, choice(across, names, String(x), (d) => put({ x: Number(d), y: Number(d) === y ? x : y })), isImage && flip("x")),
      row(down, choice(down, names, String(y), (d) => put({ y: Number(d), x: Number(d) === x ? y : x })), isImage && flip("y")),
      isImage && mapKind(shown, state) && state.planes < 0 && row("Projection", choice("Projection", Object.entries(PROJECTION_NAMES), projectionOf(shown, state) ?? "grid", (name) => this.store.change({ projection: name as State["projection"], globe: [], box: [] }))),
      isImage && !projectionOf(shown, state) && row("Aspect", choice("Aspect", [["equal", "equal"], ["fill", "fill"]], isEqual(shown, state) ? "equal" : "fill", (aspect) => this.store.change({ aspect: aspect as State["aspect"], box: [] }))),
      isImage && shown.colours < 0 && !fieldOf(shown, state) && row("Downsampling", choice("Downsampling", REDUCTIONS.map((word) => [word, word === "nearest" ? "nearest (every nth)" : word] as const), state.reduce, (word) => this.store.change({ reduce: word as State["reduce"] }))),
      isImage && thirds(shown, state).length > 0 && row("Planes", choice("Orthogonal planes", thirdChoices(shown, state), String(thirdOf(shown, state)), (third) => this.store.change(Number(third) < 0 ? { planes: -1 } : crossed(shown, state, Number(third))))),
      isImage && row("Plot along", choice("Plot along", series, String(pinAlong(shown, state)), (dimension) => this.store.change({ along: Number(dimension) }))),
    );
  }

  private overlays(shown: Shown, state: State): HTMLElement {
    const [x, y] = sides(shown, state);
    const slider = h("input", { type: "range", min: 0, max: 100, value: state.opacity, "aria-label": "Label opacity", "data-control": "opacity", input: () => this.store.change({ opacity: Number(slider.value) }, true) });
    const names = shown.labels.map((label) => label.name);
    const isMap = projectionOf(shown, state) !== null;
    return section(
      "Overlays",
      (isMap || coast(shown.axes[x], shown.axes[y])) && check("Coastlines", state.coast, (on) => this.store.change({ coast: on }), "Made with Natural Earth"),
      isMap && check("Graticule", state.graticule, (on) => this.store.change({ graticule: on })),
      !isMap && check("Chunk grid", state.grid, (grid) => this.store.change({ grid }), "The edges of chunks and shards"),
      names.length > 0 && row("Labels", words("Labels", names, state.label || names[0]!, (label) => this.store.change({ label }))),
      names.length > 0 && row("Label opacity", slider),
    );
  }
}

/** Returns colours as the stops of a gradient. */
function gradient(colours: Uint8Array): string {
  return Array.from({ length: 32 }, (_, at) => {
    const place = Math.round((at / 31) * 255) * 3;
    return `rgb(${colours[place]} ${colours[place + 1]} ${colours[place + 2]})`;
  }).join(",");
}

