/** The histogram of the shown values, whose ends set the colours. */

import { h } from "./dom";
import { ends } from "./numbers";

const BINS = 96;
const [WIDTH, HEIGHT] = [288, 72];

/** A histogram with two handles. Handles are moved by dragging and by arrow keys. */
export class Histogram {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" });
  private readonly handles: [HTMLElement, HTMLElement];
  private readonly ends = h("output", { class: "ends" });
  private counts = new Float64Array(BINS);
  private low = 0;
  private high = 1;
  private range: [number, number] = [0, 1];

  constructor(
    private readonly change: (range: [number, number], quietly: boolean) => void,
    reset: () => void,
    private readonly tell: (value: number) => string,
  ) {
    this.handles = [this.handle(0, "lowest value of the colours"), this.handle(1, "highest value of the colours")];
    const area = h("div", { class: "histogram" }, this.canvas, ...this.handles);
    this.element = h("div", {}, area, this.ends, h("button", { type: "button", click: reset }, "automatic"));
  }

  /** Shows other values. */
  show(values: Float64Array, range: [number, number]): void {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (!(low <= high)) [low, high] = [0, 1];
    const margin = (high - low || 1) * 0.05;
    [this.low, this.high] = ends(Math.min(low - margin, range[0]), Math.max(high + margin, range[1]));
    this.counts = new Float64Array(BINS);
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      const bin = Math.min(BINS - 1, Math.floor(((value - this.low) / (this.high - this.low)) * BINS));
      this.counts[bin]! += 1;
    }
    this.mark(range);
  }

  /** Moves the handles. */
  mark(range: [number, number]): void {
    this.range = range;
    range.forEach((value, end) => {
      const handle = this.handles[end as 0 | 1];
      const place = Math.max(0, Math.min(1, (value - this.low) / (this.high - this.low)));
      handle.style.left = `${place * 100}%`;
      handle.setAttribute("aria-valuenow", String(value));
      handle.setAttribute("aria-valuemin", String(this.low));
      handle.setAttribute("aria-valuemax", String(this.high));
      handle.setAttribute("aria-valuetext", this.tell(value));
    });
    this.ends.textContent = `${this.tell(range[0])} … ${this.tell(range[1])}`;
    this.draw();
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
      this.move(end, this.range[end] + sign * step, false);
    });
    return handle;
  }

  private move(end: 0 | 1, value: number, quietly: boolean): void {
    const next: [number, number] = [...this.range];
    next[end] = value;
    if (next[0] < next[1]) this.change(next, quietly);
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const style = getComputedStyle(this.canvas);
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    const most = Math.log1p(Math.max(1, ...this.counts));
    const bar = width / BINS;
    this.counts.forEach((count, bin) => {
      const middle = this.low + ((bin + 0.5) / BINS) * (this.high - this.low);
      const inside = middle >= this.range[0] && middle <= this.range[1];
      context.fillStyle = style.getPropertyValue(inside ? "--accent" : "--faint") || "#888";
      const tall = (Math.log1p(count) / most) * height;
      context.fillRect(bin * bar, height - tall, Math.max(1, bar - 1), tall);
    });
  }
}
