/** The histogram of the shown values, with handles and fields for the contrast limits. */

import type { Limits, Summary } from "../image/colours";
import { h } from "../dom";
import { theme } from "../theme";
import { ends, exact } from "../data/numbers";

const BINS = 96;
const [WIDTH, HEIGHT] = [480, 104];

/** A histogram with two handles and two fields. Handles are moved by dragging and by arrow keys. */
export class Histogram {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { width: WIDTH, height: HEIGHT, "aria-hidden": "true" });
  private readonly handles: [HTMLElement, HTMLElement];
  private readonly fields: [HTMLInputElement, HTMLInputElement];
  private readonly area: HTMLElement;
  private counts = new Float64Array(BINS);
  private low = 0;
  private high = 1;
  private limits: Limits = [0, 1];
  /** The shown values. */
  private values: Summary | null | undefined;
  private key = "";

  constructor(
    private readonly change: (limits: Limits, quietly: boolean) => void,
    private readonly tell: (value: number) => string,
    private readonly read: (text: string) => number,
    /** The name of the values, if there are several histograms. */
    of = "",
  ) {
    const name = (word: string): string => (of ? `${word} of ${of}` : word);
    this.handles = [this.handle(0, name("Lower contrast limit")), this.handle(1, name("Upper contrast limit"))];
    this.fields = [this.field(0, name("Lower limit")), this.field(1, name("Upper limit"))];
    this.area = h("div", { class: "histogram" }, this.canvas, ...this.handles);
    this.element = h("div", { class: "limits" }, this.area, h("div", { class: "pair" }, ...this.fields));
  }

  /** Shows values and limits. Without limits, the controls are disabled. */
  show(values: Summary | null, limits: Limits | null): void {
    if (values === this.values && String(limits) === this.key) return;
    [this.values, this.key] = [values, String(limits)];
    const none = !values || values.finite === 0 || !limits;
    this.area.classList.toggle("none", none);
    for (const field of this.fields) field.disabled = none;
    if (none) {
      for (const field of this.fields) field.value = "";
      this.counts.fill(0);
      return this.draw();
    }
    const margin = (values.max - values.min || 1) * 0.04;
    [this.low, this.high] = ends(Math.min(values.min - margin, limits[0]), Math.max(values.max + margin, limits[1]));
    this.counts.fill(0);
    const width = (values.max - values.min) / values.bins.length;
    values.bins.forEach((number, bin) => {
      if (number === 0) return;
      const place = (values.min + (bin + 0.5) * width - this.low) / (this.high - this.low);
      this.counts[Math.max(0, Math.min(BINS - 1, Math.floor(place * BINS)))]! += number;
    });
    this.mark(limits);
  }

  private mark(limits: Limits): void {
    this.limits = limits;
    limits.forEach((value, end) => {
      const handle = this.handles[end as 0 | 1];
      const place = Math.max(0, Math.min(1, (value - this.low) / (this.high - this.low)));
      handle.style.left = `${place * 100}%`;
      handle.setAttribute("aria-valuenow", String(value));
      handle.setAttribute("aria-valuemin", String(this.low));
      handle.setAttribute("aria-valuemax", String(this.high));
      handle.setAttribute("aria-valuetext", this.tell(value));
      const field = this.fields[end as 0 | 1];
      if (document.activeElement !== field) field.value = this.tell(value);
    });
    this.draw();
  }

  private field(end: 0 | 1, label: string): HTMLInputElement {
    const field = h("input", { type: "text", inputmode: "decimal", "aria-label": label, "data-control": `limit-${end}` });
    field.addEventListener("change", () => {
      const value = this.read(field.value);
      if (Number.isFinite(value) && value !== this.limits[end]) this.move(end, value, false);
      field.value = this.tell(this.limits[end]);
    });
    field.addEventListener("keydown", (event) => event.key === "Enter" && field.blur());
    return field;
  }

  private handle(end: 0 | 1, label: string): HTMLElement {
    const handle = h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": label });
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = this.canvas.getBoundingClientRect();
      this.move(end, this.low + ((event.clientX - box.left) / box.width) * (this.high - this.low), true);
    });
    handle.addEventListener("keydown", (event) => {
      const step = ((this.high - this.low) / 100) * (event.shiftKey ? 10 : 1);
      const sign = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (sign === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(end, this.limits[end] + sign * step, false);
    });
    return handle;
  }

  private move(end: 0 | 1, value: number, quietly: boolean): void {
    const next: Limits = [...this.limits];
    next[end] = value;
    if (next[0] < next[1]) this.change(next, quietly);
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const { accent, faint } = theme();
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    const most = Math.log1p(Math.max(1, ...this.counts));
    const bar = width / BINS;
    this.counts.forEach((count, bin) => {
      const middle = this.low + ((bin + 0.5) / BINS) * (this.high - this.low);
      const inside = middle >= this.limits[0] && middle <= this.limits[1];
      context.fillStyle = inside ? accent : faint;
      const tall = (Math.log1p(count) / most) * height;
      context.fillRect(bin * bar, height - tall, Math.max(1, bar - 1), tall);
    });
  }
}

/** Returns a limit as text, with at most six significant digits. */
export function limitText(value: number): string {
  return exact(Number(value.toPrecision(6))).replace("−", "-");
}
