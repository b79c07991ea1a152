/** One dimension of an array as a plot, and the plots of pins in an image. */

import { timeTicks } from "../data/calendar";
import { marks, rises, title as axisTitle, told, type Axis } from "../data/coordinates";
import { download, fill, h } from "../dom";
import type { Rect } from "../image/figure";
import { Heading, sliceOf, titleOf } from "./heading";
import { Message, told as toldError } from "./message";
import { index, rest, sides, valueTimes, valueUnits, type Shown } from "../data/model";
import { ends, exact, rounded, ticks, tickTexts } from "../data/numbers";
import { CanvasPen, type Pen } from "../image/pen";
import { valueText } from "../image/probe";
import { extremes, read, thinning, type Series } from "./series";
import type { State, Store } from "../data/state";

export class PlotView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly heading = new Heading();
  private readonly message = new Message();
  private readonly chip = h("p", { class: "chip" });
  private readonly legend = h("div", { class: "legend", "aria-live": "polite" });
  private series: Series[] = [];
  private asked: AbortController | null = null;
  private key = "";
  private from = -1;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    /** Returns the dimension along which a state is plotted. */
    private readonly dimension: (state: State) => number,
    /** True for plots of pins below an image, which show the same part as the image. */
    private readonly isOfPins: boolean,
    private readonly channels: (state: State) => number[],
    ...buttons: HTMLElement[]
  ) {
    const save = h("button", { type: "button", click: () => this.save() }, "CSV");
    const bar = h("div", { class: "bar" }, this.legend, save, ...buttons);
    const figure = h("div", { class: "canvas" }, this.canvas, this.chip);
    this.element = h("div", { class: "plot view-of" }, isOfPins ? null : this.heading.element, this.message.element, figure, bar);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
    this.listen();
  }

  close(): void {
    this.observer.disconnect();
    this.asked?.abort();
  }

  update(state: State): void {
    const along = this.dimension(state);
    const slice = this.shown.shape.map((_, dimension) => (dimension === along ? "" : index(this.shown, state, dimension)));
    const places = this.isOfPins ? [state.points, sides(this.shown, state), this.channels(state)] : [];
    const key = JSON.stringify([along, this.range(state), this.isOfPins ? slice.filter((_, dimension) => !sides(this.shown, state).includes(dimension)) : slice, places, state.field, state.component, state.reduced, state.statistic]);
    if (key === this.key) return this.draw();
    this.key = key;
    void this.read(state);
  }

  /** Returns the shown range of elements along the dimension. */
  private range(state: State): [number, number] {
    const length = this.shown.shape[this.dimension(state)] ?? 0;
    if (this.isOfPins || state.box.length !== 4) return [0, length];
    return [Math.max(0, Math.floor(state.box[0]!)), Math.max(1, Math.min(length, Math.ceil(state.box[2]!)))];
  }

  private get axis(): Axis | undefined {
    return this.shown.axes[this.dimension(this.store.state)];
  }

  private async read(state: State): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.element.classList.add("busy");
    try {
      this.series = await read(this.shown, state, this.dimension(state), this.range(state), this.isOfPins, this.channels(state), asked.signal);
      this.message.clear();
    } catch (error) {
      if (asked.signal.aborted) return;
      this.series = [];
      this.message.show(toldError(error), null, [["Retry", () => void this.read(state)]]);
    }
    if (this.asked !== asked) return;
    this.element.classList.remove("busy");
    this.draw();
  }

  // Drawing.

  /** Returns the positions of elements and values in a plot. Heights and depths are on the vertical axis. */
  private plane(width: number, height: number): { rect: Rect; isUpright: boolean; point: (element: number, value: number) => [number, number]; low: number; high: number } {
    const { axis } = this;
    const [from, to] = this.range(this.store.state);
    const isUpright = axis?.kind === "vertical";
    const [low, high] = ends(...(extremes(this.series) ?? [0, 1]));
    const margin = isUpright ? 0 : (high - low) * 0.03;
    const rect: Rect = [74, 12, Math.max(20, width - 74 - 16), Math.max(20, height - 12 - 40)];
    const [left, top, wide, tall] = rect;
    const goesUp = axis ? rises(axis) !== axis.isDown : false;
    const point = (element: number, value: number): [number, number] => {
      const along = (element + 0.5 - from) / Math.max(1, to - from);
      const size = (value - low + margin) / (high - low + 2 * margin);
      return isUpright ? [left + size * wide, top + (goesUp ? 1 - along : along) * tall] : [left + along * wide, top + (1 - size) * tall];
    };
    return { rect, isUpright, point, low, high };
  }

  private draw(): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, tall] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (wide === 0 || tall === 0) return;
    [this.canvas.width, this.canvas.height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const context = this.canvas.getContext("2d");
    if (!context || this.series.length === 0) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const [ink, faint, soft] = [style.color, style.getPropertyValue("--faint"), style.getPropertyValue("--soft")];
    const pen = new CanvasPen(context);
    this.drawAxes(pen, wide, tall, ink, soft, faint);
    for (const series of this.series) this.drawSeries(context, pen, series);
    this.drawCursor(pen, soft);
    this.describe();
  }

  private drawAxes(pen: Pen, width: number, height: number, ink: string, soft: string, faint: string): void {
    const { state } = this.store;
    const { rect: [left, top, wide, tall], isUpright, point, low, high } = this.plane(width, height);
    const { axis } = this;
    const [from, to] = this.range(state);
    const times = valueTimes(this.shown, state);
    const values = times ? timeTicks(times, low, high, 4) : numbered(low, high, isUpright ? wide / 90 : tall / 50);
    for (const [value, text] of values) {
      const [x, y] = point(from, value);
      pen.lines([isUpright ? [[x, top], [x, top + tall]] : [[left, y], [left + wide, y]]], faint, 1);
      if (isUpright) pen.text(x, top + tall + 16, text, { colour: ink, align: "center" });
      else pen.text(left - 8, y + 4, text, { colour: ink, align: "right" });
    }
    let free = -Infinity;
    const places = axis ? marks(axis, from, to, isUpright ? tall / 50 : wide / 110) : [];
    for (const [place, text] of places.map(([at, label]): [[number, number], string] => [point(at, low), label]).sort((a, b) => a[0][0] - b[0][0])) {
      const [x, y] = place;
      if (isUpright) {
        pen.lines([[[left - 5, y], [left, y]]], soft, 1);
        pen.text(left - 8, y + 4, text, { colour: ink, align: "right" });
      } else if (x >= left - 1 && x <= left + wide + 1) {
        pen.lines([[[x, top + tall], [x, top + tall + 5]]], soft, 1);
        if (x - text.length * 3.2 < free) continue;
        free = x + text.length * 3.2 + 8;
        pen.text(x, top + tall + 17, text, { colour: ink, align: "center" });
      }
    }
    pen.frame(left, top, wide, tall, soft, 1);
    const { name, units } = titleOf(this.shown, state);
    const ofValues = units ? `${this.isOfPins ? name : ""} (${units})`.trim() : name;
    const [below, beside] = isUpright ? [ofValues, axis ? axisTitle(axis) : ""] : [axis ? axisTitle(axis) : "", ofValues];
    pen.text(left + wide / 2, top + tall + 32, below, { colour: soft, align: "center", most: wide });
    pen.text(14, top + tall / 2, beside, { colour: soft, align: "center", isUpright: true, most: tall });
  }

  private drawSeries(context: CanvasRenderingContext2D, pen: Pen, series: Series): void {
    const { point, isUpright } = this.plane(this.canvas.clientWidth, this.canvas.clientHeight);
    const place = (at: number): number => series.first + at * series.step + (series.low ? (series.step - 1) / 2 : 0);
    if (series.low && series.high) {
      context.globalAlpha = 0.3;
      series.low.forEach((low, at) => {
        const [[x0, y0], [x1, y1]] = [point(place(at), series.high![at]!), point(place(at), low)];
        if (!Number.isFinite(low) || !Number.isFinite(series.high![at]!)) return;
        if (isUpright) pen.fill(Math.min(x0, x1), y0 - 1, Math.max(1, Math.abs(x1 - x0)), 2, series.colour);
        else pen.fill(x0 - 1, Math.min(y0, y1), 2, Math.max(1, Math.abs(y1 - y0)), series.colour);
      });
      context.globalAlpha = 1;
    }
    const lines: [number, number][][] = [[]];
    series.values.forEach((value, at) => {
      if (Number.isFinite(value)) lines[lines.length - 1]!.push(point(place(at), value));
      else lines.push([]);
    });
    pen.lines(lines, series.colour, 1.5);
    // A value between missing values has no line, only a point.
    if (series.values.length <= 100) for (const [x, y] of lines.flat()) pen.fill(x - 2, y - 2, 4, 4, series.colour);
  }

  /** Marks the slice of the image. */
  private drawCursor(pen: Pen, colour: string): void {
    const { state } = this.store;
    const along = this.dimension(state);
    if (!this.isOfPins || !rest(this.shown, state, "image").includes(along)) return;
    const { rect: [left, top, wide, tall], point, isUpright, low } = this.plane(this.canvas.clientWidth, this.canvas.clientHeight);
    const [x, y] = point(index(this.shown, state, along), low);
    pen.lines([isUpright ? [[left, y], [left + wide, y]] : [[x, top], [x, top + tall]]], colour, 1.5);
  }

  private describe(): void {
    const { state } = this.store;
    const { axis } = this;
    const found = extremes(this.series);
    const [times, units] = [valueTimes(this.shown, state), valueUnits(this.shown, state)];
    const text = (value: number): string => (times ? times.text(value) : rounded(value, 6));
    const values = found ? `Values from ${text(found[0])} to ${text(found[1])} ${units}`.trim() : "All values are missing";
    this.chip.textContent = found ? thinning(this.series) : "All values are missing";
    this.canvas.setAttribute("aria-label", `Plot along ${axis?.name ?? ""}: ${this.series.map((series) => series.label).join("; ")}. ${values}.`);
    this.heading.show(this.shown, state, [...sliceOf(this.shown, state, "plot"), found ? `min ${text(found[0])}` : "", found ? `max ${text(found[1])}` : ""]);
    this.tell(null);
  }

  /** Shows the legend, with the values at an element. */
  private tell(at: number | null): void {
    const { state } = this.store;
    const [times, units] = [valueTimes(this.shown, state), valueUnits(this.shown, state)];
    const items = this.series.map((series) => {
      const number = at === null ? -1 : Math.floor((at - series.first) / series.step);
      const value = series.whole?.[number] ?? series.values[number];
      const range = series.low && series.high && number >= 0 ? ` (${rounded(series.low[number] ?? NaN)} – ${rounded(series.high[number] ?? NaN)})` : "";
      const text = value === undefined ? "" : `${series.low ? "mean " : ""}${valueText(this.shown, times, value)}${range}${units ? ` ${units}` : ""}`;
      return h("span", {}, h("i", { style: `background: ${series.colour}` }), series.label, text ? h("strong", {}, ` ${text}`) : null);
    });
    fill(this.legend, ...items, at === null || !this.axis ? null : h("span", { class: "where" }, `${this.axis.name} ${told(this.axis, at)}`));
  }

  // Gestures.

  private listen(): void {
    const element = (event: PointerEvent): number => {
      const bounds = this.canvas.getBoundingClientRect();
      const { rect: [left, top, wide, tall], isUpright } = this.plane(bounds.width, bounds.height);
      const [from, to] = this.range(this.store.state);
      const across = (event.clientX - bounds.left - left) / wide;
      const down = (event.clientY - bounds.top - top) / tall;
      const goesUp = this.axis ? rises(this.axis) !== this.axis.isDown : false;
      const part = isUpright ? (goesUp ? 1 - down : down) : across;
      return Math.max(from, Math.min(to - 1, Math.floor(from + part * (to - from))));
    };
    this.canvas.addEventListener("pointermove", (event) => this.tell(element(event)));
    this.canvas.addEventListener("pointerleave", () => this.tell(null));
    this.canvas.addEventListener("pointerdown", (event) => {
      this.from = element(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const [first, last] = [Math.min(this.from, element(event)), Math.max(this.from, element(event))];
      const along = this.dimension(this.store.state);
      if (this.isOfPins) {
        if (rest(this.shown, this.store.state, "image").includes(along)) this.store.change({ at: { ...this.store.state.at, [along]: last } });
      } else if (this.from >= 0 && last - first > 2) this.store.change({ box: [first, 0, last + 1, 1] });
      this.from = -1;
    });
    this.canvas.addEventListener("dblclick", () => !this.isOfPins && this.store.change({ box: [] }));
    this.canvas.addEventListener("keydown", (event) => {
      if (!this.isOfPins && this.zoomed(event.key)) event.preventDefault();
    });
  }

  /** Zooms and moves with keys, as images do. Returns false for other keys. */
  private zoomed(key: string): boolean {
    const { state } = this.store;
    const length = this.shown.shape[this.dimension(state)] ?? 0;
    const [from, to] = this.range(state);
    const show = (first: number, end: number): void => {
      const [low, high] = [Math.max(0, Math.round(first)), Math.min(length, Math.round(end))];
      if (high - low >= 2) this.store.change({ box: high - low === length ? [] : [low, 0, high, 1] }, true);
    };
    const [middle, span] = [(from + to) / 2, to - from];
    const step = Math.max(1, span / 10);
    if (key === "+" || key === "=") show(middle - span * 0.35, middle + span * 0.35);
    else if (key === "-") show(middle - span * 0.7, middle + span * 0.7);
    else if (key === "ArrowLeft") show(from - Math.min(step, from), to - Math.min(step, from));
    else if (key === "ArrowRight") show(from + Math.min(step, length - to), to + Math.min(step, length - to));
    else if (key === "0") this.store.change({ box: [] });
    else return false;
    return true;
  }

  private save(): void {
    const { axis } = this;
    const times = valueTimes(this.shown, this.store.state);
    const quoted = (word: string): string => (/[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);
    const number = (value: number | bigint | undefined): string => (value === undefined ? "" : typeof value === "bigint" ? String(value) : Number.isNaN(value) ? "NaN" : times ? times.text(value) : exact(value));
    const rows = [[axis?.name ?? "index", ...this.series.map((series) => series.label)]];
    const longest = Math.max(0, ...this.series.map((series) => series.values.length));
    for (let at = 0; at < longest; at++) {
      const first = this.series[0]!;
      const element = first.first + at * first.step;
      rows.push([axis?.label(element) ?? String(element), ...this.series.map((series) => number(series.whole?.[at] ?? series.values[at]))]);
    }
    const csv = rows.map((row) => row.map(quoted).join(",")).join("\n");
    download(`${this.shown.node.name || "plot"}.csv`, new Blob([`${csv}\n`], { type: "text/csv" }));
  }
}

function numbered(low: number, high: number, wanted: number): [number, string][] {
  const values = ticks(low, high, wanted);
  const texts = tickTexts(values);
  return values.map((value, at) => [value, texts[at]!]);
}

