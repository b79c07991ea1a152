/** One dimension of an array as a plot, and series at points of an image. */

import { call, type Json, type Line } from "./api";
import { marks, timesOf } from "./coordinates";
import { download, h } from "./dom";
import { SERIES } from "./image";
import { index, selection, type Shown } from "./model";
import { ends, ticks, value as text } from "./numbers";
import type { State, Store } from "./state";

const [LEFT, BOTTOM, TOP] = [72, 34, 8];

/** A line of values. Where more were read than are shown, `low` and `high` are the ends of what each one stands for. */
interface Series {
  label: string;
  colour: string;
  /** The first element, and the elements between two values. */
  first: number;
  step: number;
  values: Float64Array;
  low: Float64Array | null;
  high: Float64Array | null;
}

export class LineView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly readout = h("output", { class: "readout", "aria-live": "polite" });
  private series: Series[] = [];
  private asked: AbortController | null = null;
  private key = "";
  private from = -1;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    private readonly dimension: (state: State) => number,
    private readonly fail: (error: unknown) => void,
    /** True if the shown part of the state is that of the plot, and not of an image above it. */
    private readonly alone: boolean,
  ) {
    const save = h("button", { type: "button", click: () => this.save() }, "CSV");
    this.element = h("div", { class: "line" }, this.canvas, this.readout, h("div", { class: "bar" }, save));
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
    const [from, to] = this.range(state);
    const rest = this.shown.shape.map((_, dimension) => (dimension === along ? "" : index(this.shown, state, dimension)));
    const key = JSON.stringify([along, from, to, rest, state.points, state.field, state.part, state.x, state.y]);
    if (key === this.key) return;
    this.key = key;
    void this.read(state);
  }

  /** The shown elements along the dimension. */
  private range(state: State): [number, number] {
    const length = this.shown.shape[this.dimension(state)] ?? 0;
    if (!this.alone || state.box.length !== 4) return [0, length];
    return [Math.max(0, Math.floor(state.box[0]!)), Math.min(length, Math.ceil(state.box[2]!))];
  }

  private async read(state: State): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    const along = this.dimension(state);
    const [from, to] = this.range(state);
    const [x, y] = this.pointDimensions(state, along);
    const places: ([number, number] | null)[] = state.points.length > 0 && x >= 0 ? state.points : [null];
    try {
      this.series = await Promise.all(
        places.map(async (point, number) => {
          const select = selection(this.shown, state, (dimension) => {
            if (dimension === along) return `${from}:${to}`;
            if (point && dimension === y) return String(point[0]);
            if (point && dimension === x) return String(point[1]);
            return null;
          });
          const parameters = { select, points: 1500, field: state.field || undefined, missing: this.shown.meaning.missing.join(",") || undefined };
          const line = await call<Line>("line", this.shown.place, parameters, asked.signal);
          const name = (dimension: number, at: number): string => {
            const axis = this.shown.axes[dimension];
            return axis ? `${axis.name} ${axis.label(at)}` : "";
          };
          const label = point ? [name(y, point[0]), name(x, point[1])].filter(Boolean).join(", ") : this.shown.node.name;
          return this.seriesOf(line, from, label, SERIES[number % SERIES.length]!, state);
        }),
      );
      this.draw();
    } catch (error) {
      if (!asked.signal.aborted) this.fail(error);
    }
  }

  private pointDimensions(state: State, along: number): [number, number] {
    const others = this.shown.shape.map((_, dimension) => dimension).filter((dimension) => dimension !== along && dimension !== this.shown.colours);
    const wanted = (dimension: number, usual: number | undefined): number => (others.includes(dimension) ? dimension : (usual ?? -1));
    const last = others.slice(-2);
    return [wanted(state.x, last[last.length - 1]), last.length > 1 ? wanted(state.y, last[0]) : -1];
  }

  private seriesOf(line: Line, first: number, label: string, colour: string, state: State): Series {
    const { meaning } = this.shown;
    const numbers = (list: Json[]): Float64Array => Float64Array.from(list, (one) => meaning.of(numberOf(one, state.part)));
    const series = { label, colour, first, step: line.step };
    if (line.reduce === "nearest") return { ...series, values: numbers(line.values), low: null, high: null };
    return { ...series, values: numbers(line.mean), low: numbers(line.min), high: numbers(line.max) };
  }

  private draw(): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, tall] = [this.canvas.clientWidth, this.canvas.clientHeight];
    [this.canvas.width, this.canvas.height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const context = this.canvas.getContext("2d");
    if (!context || this.series.length === 0) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const [width, height] = [wide - LEFT - 8, tall - BOTTOM - TOP];
    const [from, to] = this.range(this.store.state);
    const [low, high] = extremes(this.series);
    const toX = (element: number): number => LEFT + ((element + 0.5 - from) / Math.max(1, to - from)) * width;
    const toY = (value: number): number => TOP + (1 - (value - low) / (high - low)) * height;
    context.fillStyle = style.color;
    context.strokeStyle = style.getPropertyValue("--faint") || "#ccc";
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    const told = (value: number): string => this.time?.(value) ?? text(value);
    for (const tick of ticks(low, high)) {
      context.beginPath();
      context.moveTo(LEFT, toY(tick));
      context.lineTo(LEFT + width, toY(tick));
      context.stroke();
      context.fillText(told(tick), LEFT - 5, toY(tick) + 4, LEFT - 8);
    }
    const axis = this.shown.axes[this.dimension(this.store.state)];
    context.textAlign = "center";
    for (const [place, label] of axis ? marks(axis, from, to) : []) context.fillText(label, toX(place), TOP + height + 14);
    context.fillText([axis?.name, axis?.units].filter(Boolean).join(" in "), LEFT + width / 2, TOP + height + 29);
    for (const series of this.series) this.drawSeries(context, series, toX, toY);
    const labels = this.series.map((series) => series.label).join("; ");
    this.canvas.setAttribute("aria-label", `Plot along ${axis?.name ?? ""}: ${labels}. Values from ${told(low)} to ${told(high)} ${this.shown.meaning.units}.`);
  }

  private drawSeries(context: CanvasRenderingContext2D, series: Series, toX: (x: number) => number, toY: (y: number) => number): void {
    const place = (at: number): number => toX(series.first + at * series.step + (series.step - 1) / 2);
    context.fillStyle = context.strokeStyle = series.colour;
    if (series.low && series.high) {
      context.globalAlpha = 0.3;
      series.low.forEach((low, at) => {
        const [top, bottom] = [toY(series.high![at]!), toY(low)];
        if (Number.isFinite(top) && Number.isFinite(bottom)) context.fillRect(place(at) - 1, top, 2, Math.max(1, bottom - top));
      });
      context.globalAlpha = 1;
    }
    context.lineWidth = 1.5;
    context.beginPath();
    let apart = true;
    series.values.forEach((value, at) => {
      if (!Number.isFinite(value)) {
        apart = true;
        return;
      }
      if (apart) context.moveTo(place(at), toY(value));
      else context.lineTo(place(at), toY(value));
      apart = false;
    });
    context.stroke();
    // A value between missing ones has no line.
    if (series.values.length <= 100) series.values.forEach((value, at) => Number.isFinite(value) && context.fillRect(place(at) - 2, toY(value) - 2, 4, 4));
  }

  /** The way from numbers to times, where the values are times. */
  private get time(): ((value: number) => string) | null {
    return timesOf(this.shown.node);
  }

  private listen(): void {
    const element = (event: PointerEvent): number => {
      const bounds = this.canvas.getBoundingClientRect();
      const [from, to] = this.range(this.store.state);
      const part = (event.clientX - bounds.left - LEFT) / Math.max(1, bounds.width - LEFT - 8);
      return Math.max(from, Math.min(to - 1, Math.floor(from + part * (to - from))));
    };
    this.canvas.addEventListener("pointermove", (event) => {
      const at = element(event);
      const axis = this.shown.axes[this.dimension(this.store.state)];
      const values = this.series.map((series) => {
        const value = series.values[Math.floor((at - series.first) / series.step)] ?? NaN;
        return Number.isNaN(value) ? "missing" : (this.time?.(value) ?? text(value));
      });
      this.readout.textContent = `${values.join(", ")} ${this.shown.meaning.units} · ${axis?.name ?? ""} ${axis?.label(at) ?? at}`;
    });
    this.canvas.addEventListener("pointerdown", (event) => {
      this.from = element(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const [first, last] = [Math.min(this.from, element(event)), Math.max(this.from, element(event))];
      if (this.from >= 0 && last - first > 2 && this.alone) this.store.change({ box: [first, 0, last + 1, 1] });
      this.from = -1;
    });
    this.canvas.addEventListener("dblclick", () => this.alone && this.store.change({ box: [] }));
    this.canvas.addEventListener("keydown", (event) => {
      if (this.alone && this.zoomed(event.key)) event.preventDefault();
    });
  }

  /** Zooms and moves by keys, as images do. Returns false for other keys. */
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
    const axis = this.shown.axes[this.dimension(this.store.state)];
    const quoted = (word: string): string => (/[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);
    const told = (value: number | undefined): string => (value === undefined ? "" : Number.isNaN(value) ? "NaN" : (this.time?.(value) ?? String(value)));
    const rows = [[axis?.name ?? "index", ...this.series.map((series) => series.label)]];
    const longest = Math.max(...this.series.map((series) => series.values.length));
    for (let at = 0; at < longest; at++) {
      const first = this.series[0]!;
      const element = first.first + at * first.step;
      rows.push([axis?.label(element) ?? String(element), ...this.series.map((series) => told(series.values[at]))]);
    }
    const csv = rows.map((row) => row.map(quoted).join(",")).join("\n");
    download(`${this.shown.node.name || "line"}.csv`, new Blob([`${csv}\n`], { type: "text/csv" }));
  }
}

/** The number of an element in JSON. */
function numberOf(json: Json, part: State["part"]): number {
  if (typeof json === "number") return json;
  if (typeof json === "boolean") return Number(json);
  if (json === "Infinity" || json === "-Infinity") return Number(json);
  if (Array.isArray(json) && json.length === 2) {
    const [real, imaginary] = json.map((one) => numberOf(one, part)) as [number, number];
    return part === "phase" ? Math.atan2(imaginary, real) : Math.hypot(real, imaginary);
  }
  return NaN;
}

function extremes(all: Series[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const series of all) {
    for (const values of [series.values, series.low, series.high]) {
      values?.forEach((value) => {
        if (!Number.isFinite(value)) return;
        low = Math.min(low, value);
        high = Math.max(high, value);
      });
    }
  }
  return low <= high ? ends(low, high) : [0, 1];
}
