/** The map of an array's chunks, with stored, missing and damaged chunks and their sizes. */

import { call, type Chunks } from "../data/api";
import { fill, h } from "../dom";
import { Heading } from "./heading";
import { Message, told as toldError } from "./message";
import { chunkSides, index, selection, type Shown } from "../data/model";
import { count, short } from "../data/numbers";
import type { State, Store } from "../data/state";

/** The maximum number of chunks along a side. */
const MOST = 200;
/** The maximum number of listed inner chunks. */
const LISTED = 256;

type Inner = NonNullable<Chunks["chunks"][number]["inner"]>;

export class ChunkView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly details = h("div", { class: "details", tabindex: 0, role: "region", "aria-label": "Chosen chunk", "aria-live": "polite" });
  private readonly heading = new Heading();
  private readonly message = new Message();
  private readonly verify = h("button", { type: "button", click: () => void this.read(this.store.state, true) }, "Check these chunks");
  private asked: AbortController | null = null;
  private chunks: Chunks | null = null;
  private key = "";
  private dims: [number, number] = [0, -1];
  private chosen = -1;
  /** The inner chunks of the chosen shard. */
  private inner: Inner = [];
  private readonly observer: ResizeObserver;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
  ) {
    const legend = h("div", { class: "legend" }, h("i", { class: "stored" }), "written (darker = larger)", h("i", { class: "missing" }), "not written (fill value)", h("i", { class: "damaged" }), "damaged");
    this.element = h("div", { class: "chunks view-of" }, this.heading.element, this.message.element, h("div", { class: "canvas" }, this.canvas), h("div", { class: "bar" }, this.verify, legend), this.details);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
    this.canvas.addEventListener("click", (event) => this.choose(event));
    this.canvas.addEventListener("keydown", (event) => this.step(event));
  }

  close(): void {
    this.observer.disconnect();
    this.asked?.abort();
  }

  update(state: State): void {
    const [x, y] = chunkSides(this.shown, state);
    const rest = this.shown.shape.map((_, dimension) => (dimension === x || dimension === y ? "" : index(this.shown, state, dimension)));
    const key = JSON.stringify([x, y, rest]);
    if (key === this.key) return;
    this.key = key;
    void this.read(state, false);
  }

  private async read(state: State, verify: boolean): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.dims = chunkSides(this.shown, state);
    const grid = this.shown.node.grid_shape;
    const lengths = this.shown.node.shard_shape ?? this.shown.node.chunk_shape;
    const region = selection(this.shown, state, (dimension) => {
      if (this.dims.includes(dimension)) return `0:${Math.min(grid[dimension] ?? 1, MOST)}`;
      return String(Math.floor(index(this.shown, state, dimension) / Math.max(1, lengths[dimension] ?? 1)));
    });
    this.element.classList.add("busy");
    try {
      this.chunks = await call<Chunks>("chunks", this.shown.place, { region, verify: verify || undefined }, asked.signal);
      this.message.clear();
      this.verify.textContent = `Check ${this.chunks.stored === 1 ? "this chunk" : `these ${count(this.chunks.stored)} chunks`}`;
      [this.chosen, this.inner] = [-1, []];
      this.draw();
      this.describe(verify);
    } catch (error) {
      if (!asked.signal.aborted) this.message.show(toldError(error), null, [["Retry", () => void this.read(state, verify)]]);
    } finally {
      if (this.asked === asked) this.element.classList.remove("busy");
    }
  }

  private cells(): [number, number] {
    const at = (dimension: number): number => {
      const range = this.chunks?.region[dimension];
      return range ? Math.max(1, range[1] - range[0]) : 1;
    };
    return [at(this.dims[0]), this.dims[1] < 0 ? 1 : at(this.dims[1])];
  }

  private cellSide(): number {
    const [columns, rows] = this.cells();
    return Math.max(3, Math.min(48, this.canvas.clientWidth / columns, this.canvas.clientHeight / rows));
  }

  private draw(): void {
    const ratio = globalThis.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(this.canvas.clientWidth * ratio), Math.round(this.canvas.clientHeight * ratio)];
    const context = this.canvas.getContext("2d");
    if (!context || !this.chunks) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const [columns, rows] = this.cells();
    const side = this.cellSide();
    const gap = side > 8 ? 1 : 0;
    context.strokeStyle = style.getPropertyValue("--faint") || "#bbb";
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) context.strokeRect(column * side + 0.5, row * side + 0.5, side - 1, side - 1);
    const largest = Math.max(1, ...this.chunks.chunks.map((chunk) => chunk.bytes));
    this.chunks.chunks.forEach((chunk, number) => {
      const [column, row] = this.place(chunk.index);
      context.globalAlpha = chunk.damaged ? 1 : 0.3 + 0.7 * (chunk.bytes / largest);
      context.fillStyle = chunk.damaged ? "#d1495b" : style.getPropertyValue("--accent") || "#0077b6";
      context.fillRect(column * side, row * side, side - gap, side - gap);
      context.globalAlpha = 1;
      if (number !== this.chosen) return;
      if (this.inner.length > 0) this.drawInner(context, column * side, row * side, side);
      context.lineWidth = 3;
      context.strokeStyle = style.color;
      context.strokeRect(column * side + 1, row * side + 1, side - 2, side - 2);
      context.lineWidth = 1;
    });
  }

  /** Draws the inner chunks of the chosen shard at the current indices of the dimensions that are not shown. */
  private drawInner(context: CanvasRenderingContext2D, left: number, top: number, side: number): void {
    const style = getComputedStyle(this.canvas);
    const [x, y] = this.dims;
    const ends = (dimension: number): [number, number] => {
      const all = dimension < 0 ? [0] : this.inner.map((one) => one.index[dimension]!);
      return [Math.min(...all), Math.max(...all) + 1];
    };
    const [[fromX, toX], [fromY, toY]] = [ends(x), ends(y)];
    const [wide, tall] = [side / (toX - fromX), side / (toY - fromY)];
    context.fillStyle = style.getPropertyValue("--paper") || "#fff";
    context.fillRect(left, top, side, side);
    context.fillStyle = style.getPropertyValue("--accent") || "#0077b6";
    const gap = Math.min(wide, tall) > 4 ? 1 : 0;
    for (const { index, bytes } of this.inner) {
      if (bytes !== null) context.fillRect(left + (index[x]! - fromX) * wide, top + (y < 0 ? 0 : (index[y]! - fromY) * tall), wide - gap, tall - gap);
    }
  }

  private place(chunk: number[]): [number, number] {
    const at = (dimension: number): number => (dimension < 0 ? 0 : chunk[dimension]! - (this.chunks?.region[dimension]?.[0] ?? 0));
    return [at(this.dims[0]), at(this.dims[1])];
  }

  private choose(event: MouseEvent): void {
    if (!this.chunks) return;
    const bounds = this.canvas.getBoundingClientRect();
    const [column, row] = [event.clientX - bounds.left, event.clientY - bounds.top].map((at) => Math.floor(at / this.cellSide()));
    this.chosen = this.chunks.chunks.findIndex((chunk) => {
      const [x, y] = this.place(chunk.index);
      return x === column && y === row;
    });
    this.inner = [];
    this.draw();
    if (this.chosen >= 0) void this.tell();
    else this.details.textContent = `This chunk is not written: its elements have the fill value ${this.shown.node.fill_text}.`;
  }

  private step(event: KeyboardEvent): void {
    const move = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!move || !this.chunks?.chunks.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.chosen = Math.max(0, Math.min(this.chunks.chunks.length - 1, this.chosen + move));
    this.inner = [];
    this.draw();
    void this.tell();
  }

  /** Shows information about the chosen chunk, and the inner chunks of a shard. */
  private async tell(): Promise<void> {
    const chunk = this.chunks?.chunks[this.chosen];
    if (!chunk) return;
    const { node } = this.shown;
    const lengths = node.shard_shape ?? node.chunk_shape;
    const from = chunk.index.map((at, dimension) => at * (lengths[dimension] ?? 1));
    const part = from.map((first, dimension) => `${first}:${Math.min(this.shown.shape[dimension]!, first + (lengths[dimension] ?? 1))}`);
    const rows: [string, string][] = [
      [node.shard_shape ? "shard" : "chunk", chunk.index.join(", ")],
      ["key", chunk.key],
      ["elements", `[${part.join(", ")}]`],
      ["size on disk", short(chunk.bytes)],
      ["compression", ratio(lengths, node.data_type.bytes, chunk.bytes)],
      ["codecs", node.codecs.map((codec) => codec.name).join(" → ")],
    ];
    if (chunk.damaged) rows.push(["damaged", chunk.damaged]);
    const table = h("dl", {});
    const show = (): void => fill(table, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
    show();
    fill(this.details, table);
    if (!node.shard_shape) return;
    const region = chunk.index.map((at) => `${at}:${at + 1}`).join(", ");
    const inner = (await call<Chunks>("chunks", this.shown.place, { region, inner: true }).catch(() => null))?.chunks[0]?.inner;
    if (!inner || this.chunks?.chunks[this.chosen] !== chunk) return;
    this.inner = inner;
    this.draw();
    const stored = inner.filter((one) => one.bytes !== null);
    rows.push(["inner chunks", `${count(stored.length)} of ${count(inner.length)} written`]);
    if (stored.length > 0) rows.push(["inner chunk size", `${short(Math.min(...stored.map((one) => one.bytes!)))} to ${short(Math.max(...stored.map((one) => one.bytes!)))}`]);
    show();
    this.details.append(shardIndex(inner));
  }

  private describe(isVerified: boolean): void {
    if (!this.chunks) return;
    const damaged = this.chunks.chunks.filter((chunk) => chunk.damaged).length;
    const words = [`${count(this.chunks.stored)} of ${count(this.chunks.stored + this.chunks.missing)} ${this.shown.node.shard_shape ? "shards" : "chunks"} written`];
    if (isVerified) words.push(damaged === 0 ? "none damaged" : `${count(damaged)} damaged`);
    const [columns, rows] = this.cells();
    const [x, y] = this.dims.map((dimension) => this.shown.axes[dimension]?.name);
    this.canvas.setAttribute("aria-label", `Map of ${count(columns)} by ${count(rows)} chunks: ${words.join(", ")}.`);
    this.heading.show(this.shown, this.store.state, [...words, y ? `${x} to the right, ${y} downwards` : `${x} to the right`]);
    this.details.textContent = `${words.join(", ")}. Choose a chunk to see more.`;
  }
}

/** Returns the ratio of the decoded size of a chunk to its stored size; empty if elements have no fixed size. */
function ratio(lengths: number[], item: number, bytes: number): string {
  const whole = lengths.reduce((product, length) => product * length, item);
  return whole > 0 && bytes > 0 ? `${(whole / bytes).toFixed(1)}×` : "";
}

/** Returns the index of a shard, with the position of each inner chunk. */
function shardIndex(inner: Inner): HTMLElement {
  const head = h("tr", {}, ...["chunk", "offset", "bytes"].map((name) => h("th", { scope: "col" }, name)));
  const rows = inner.slice(0, LISTED).map(({ index, offset, bytes }) => {
    const cells = bytes === null ? ["not written", ""] : [count(offset ?? 0), count(bytes)];
    return h("tr", {}, h("th", { scope: "row" }, index.join(", ")), ...cells.map((cell) => h("td", {}, cell)));
  });
  const title = inner.length > LISTED ? `Shard index, the first ${count(LISTED)} inner chunks` : "Shard index";
  return h("details", {}, h("summary", {}, title), h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
}
