/** Two dimensions of an array as an image. */

import * as coasts from "./coast";
import { contrast, paint, SIGNED, table, type Maps } from "./colours";
import { marks, timesOf } from "./coordinates";
import { download, h } from "./dom";
import { Histogram } from "./histogram";
import { overlay, chosen, type Overlay } from "./labels";
import { index, sides, type Channel, type Shown } from "./model";
import { count, value as text } from "./numbers";
import { plan, type Box, type Picture } from "./picture";
import type { State, Store } from "./state";

/** Room for coordinates, in pixels of the page. */
const [LEFT, BOTTOM] = [64, 26];
/** A drag is answered when it rests for so long, in milliseconds. */
const REST = 70;

/** The tiles that are read at the same time. */
const AT_ONCE = 2;
/** While tiles come, the picture is painted anew so often, in milliseconds. */
const PAINT = 120;

/** A picture that is read, with the labels over it. */
interface Layer extends Picture {
  labels: Overlay | null;
}

export class ImageView {
  readonly element: HTMLElement;
  readonly side: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly readout = h("output", { class: "readout", "aria-live": "polite" });
  private readonly histogram: Histogram;
  private readonly pictures: Layer[] = [];
  private colours: Uint8Array = new Uint8Array(768);
  private range: [number, number] = [0, 1];
  private ranges: [number, number][] = [];
  private asked: AbortController | null = null;
  private timer = 0;
  private key = "";
  private known: { key: string; coast: coasts.Coast | null } | null = null;
  private readonly observer: ResizeObserver;
  /** True after a key: the middle is marked, and its value told. */
  private keyed = false;
  private drag: { x: number; y: number; box: Box; moved: boolean } | null = null;
  /** The time from asking to the first picture, in milliseconds: for tests. */
  took = 0;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    private readonly maps: Maps,
    private readonly fail: (error: unknown) => void,
    private readonly pick: (y: number, x: number, add: boolean) => void,
  ) {
    this.histogram = new Histogram(
      (range, quietly) => store.change({ range }, quietly),
      () => store.change({ range: [] }),
      (value) => this.tell(value),
    );
    this.element = h("div", { class: "image" }, this.canvas, this.readout);
    this.side = h("div", { class: "histogram-box" }, this.histogram.element);
    this.observer = new ResizeObserver(() => this.update(this.store.state));
    this.observer.observe(this.canvas);
    this.listen();
  }

  close(): void {
    this.observer.disconnect();
    this.asked?.abort();
    clearTimeout(this.timer);
  }

  /** Shows another state. */
  update(state: State): void {
    const map = state.map in this.maps ? state.map : "viridis";
    this.colours = table(this.maps[map] ?? [[0, 0, 0], [255, 255, 255]]);
    const [x, y] = sides(this.shown, state);
    const rest = this.shown.shape.map((_, dimension) => (dimension === x || dimension === y ? "" : index(this.shown, state, dimension)));
    const key = JSON.stringify([x, y, rest, state.field, state.part, state.reduce, this.visible(state), chosen(this.shown, state)?.name]);
    if (key !== this.key) {
      this.key = key;
      // The old picture stays until the new one is there, so that playing does not flicker.
      this.pictures.forEach((picture) => (picture.whole = false));
      this.load(state, 0);
    } else if (!this.covers(state)) {
      this.load(state, REST);
    }
    this.recolour(state);
    this.draw(state);
  }

  /** The picture as a file. */
  save(name: string): void {
    this.canvas.toBlob((blob) => blob && download(`${name}.png`, blob));
  }

  /** The numbers of channels that are shown; empty where there are none. */
  private visible(state: State): number[] {
    const { channels } = this.shown;
    if (channels.length === 0) return [];
    const chosen = state.channels.filter((channel) => channel < channels.length);
    if (chosen.length > 0) return chosen.slice(0, 6);
    return channels.map((_, channel) => channel).filter((channel) => channels[channel]!.visible).slice(0, 6);
  }

  // What is seen.

  private size(): [number, number] {
    return [Math.max(1, this.canvas.clientWidth - LEFT), Math.max(1, this.canvas.clientHeight - BOTTOM)];
  }

  /** The shown elements along x and y. Pixels are square where that leaves room for the image. */
  private box(state: State): Box {
    if (state.box.length === 4) return state.box as Box;
    const [x, y] = sides(this.shown, state);
    const [columns, rows] = [Math.max(1, this.shown.shape[x] ?? 1), Math.max(1, this.shown.shape[y] ?? 1)];
    const [width, height] = this.size();
    const form = columns / rows / (width / height);
    if (form > 6 || form < 1 / 6) return [0, 0, columns, rows];
    const per = Math.max(columns / width, rows / height);
    const [overX, overY] = [per * width - columns, per * height - rows];
    return [-overX / 2, -overY / 2, columns + overX / 2, rows + overY / 2];
  }

  private perPixel(box: Box): [number, number] {
    const [width, height] = this.size();
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    return [(box[2] - box[0]) / (width * ratio), (box[3] - box[1]) / (height * ratio)];
  }

  /** Returns true if the newest picture has all that is to be seen, as finely as the screen can show it. */
  private covers(state: State): boolean {
    const picture = this.pictures[this.pictures.length - 1];
    if (!picture?.whole) return false;
    const box = this.box(state);
    const [perX, perY] = this.perPixel(box);
    const [x, y] = sides(this.shown, state);
    const [fx, fy] = [picture.level.factors[x] ?? 1, picture.level.factors[y] ?? 1];
    const fine = (step: number, factor: number, per: number): boolean => step * factor <= Math.max(1, per) * 1.5;
    const has = (first: number, number: number, step: number, factor: number, from: number, to: number, length: number): boolean =>
      first * factor <= Math.max(0, from) + 1e-6 && (first + number * step) * factor >= Math.min(length, to) - factor * step;
    return (
      fine(picture.stepX, fx, perX) &&
      fine(picture.stepY, fy, perY) &&
      has(picture.x, picture.columns, picture.stepX, fx, box[0], box[2], this.shown.shape[x] ?? 1) &&
      has(picture.y, picture.rows, picture.stepY, fy, box[1], box[3], this.shown.shape[y] ?? 1)
    );
  }

  // Reading.

  private load(state: State, wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(state), wait) as unknown as number;
  }

  private async read(state: State): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    const begun = performance.now();
    this.element.classList.add("busy");
    try {
      await this.tiles(state, asked.signal, begun);
    } catch (error) {
      if (asked.signal.aborted) return;
      asked.abort();
      this.fail(error);
    } finally {
      if (this.asked === asked) this.element.classList.remove("busy");
    }
  }

  /** Reads a picture tile by tile, and paints what is there. */
  private async tiles(state: State, signal: AbortSignal, begun: number): Promise<void> {
    const { picture, box, per, tiles, read } = plan(this.shown, { state, box: this.box(state), per: this.perPixel(this.box(state)), visible: this.visible(state) });
    const layer: Layer = Object.assign(picture, { labels: null });
    const labels = overlay(this.shown, state, box, per, signal).catch((error: unknown) => {
      if (!signal.aborted) this.fail(error);
      return null;
    });
    let painted = 0;
    const show = (): void => {
      if (this.pictures[this.pictures.length - 1] !== layer) {
        // What another state has shown goes when something of this one is there.
        this.pictures.splice(0, this.pictures.length, ...this.pictures.filter((one) => one.whole), layer);
        // The whole image stays behind its parts, so that there is something to see while it is moved.
        if (this.pictures.length > 2) this.pictures.splice(0, this.pictures.length - 2);
        this.took = performance.now() - begun;
        this.element.dataset["took"] = this.took.toFixed(0);
      }
      this.recolour(this.store.state, true);
      this.draw(this.store.state);
      painted = performance.now();
    };
    const rest = [...tiles];
    const worker = async (): Promise<void> => {
      for (let tile = rest.shift(); tile; tile = rest.shift()) {
        await read(tile, signal);
        if (signal.aborted) return;
        if (rest.length > 0 && performance.now() - painted > PAINT) show();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    layer.labels = await labels;
    if (signal.aborted) return;
    show();
    this.element.dataset["whole"] = (performance.now() - begun).toFixed(0);
  }

  // Drawing.

  private recolour(state: State, isNew = false): void {
    const picture = this.pictures[this.pictures.length - 1];
    if (!picture) return;
    const signed = SIGNED.includes(state.map);
    const log = state.scale === "log";
    if (picture.planes.length > 0) {
      const all = picture.planes[0]!;
      const automatic = (): [number, number] => contrast(all, signed, log);
      const wanted = state.range.length === 2 ? (state.range as [number, number]) : automatic();
      this.ranges = picture.planes.map((plane, at) => {
        const channel = this.shown.channels[this.visible(state)[at] ?? -1];
        return channel?.range ?? contrast(plane, false, false);
      });
      this.range = wanted;
      if (isNew) this.histogram.show(all, wanted);
      else this.histogram.mark(wanted);
    }
    for (const one of this.pictures) this.paintInto(one, state);
  }

  private paintInto(picture: Layer, state: State): void {
    const context = picture.canvas.getContext("2d");
    if (!context || picture.columns * picture.rows === 0) return;
    const visible = this.visible(state);
    let pixels: Uint8ClampedArray<ArrayBuffer>;
    if (picture.bytes) pixels = opaque(picture.bytes, picture.columns * picture.rows);
    else if (visible.length > 0) pixels = blended(picture.planes, visible.map((channel) => this.shown.channels[channel]!), this.ranges);
    else {
      const scale = { low: this.range[0], high: this.range[1], log: state.scale === "log" };
      pixels = paint(picture.planes[0]!, this.colours, scale);
    }
    if (pixels.length === picture.columns * picture.rows * 4) {
      context.putImageData(new ImageData(pixels, picture.columns, picture.rows), 0, 0);
    }
  }

  private draw(state: State): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, tall] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(wide * ratio)) this.canvas.width = Math.round(wide * ratio);
    if (this.canvas.height !== Math.round(tall * ratio)) this.canvas.height = Math.round(tall * ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, tall);
    const box = this.box(state);
    const [width, height] = this.size();
    const [x, y] = sides(this.shown, state);
    const toX = (element: number): number => LEFT + ((element - box[0]) / (box[2] - box[0])) * width;
    const toY = (element: number): number => ((element - box[1]) / (box[3] - box[1])) * height;
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width, height);
    context.clip();
    context.imageSmoothingEnabled = false;
    for (const picture of this.pictures) {
      const [fx, fy] = [picture.level.factors[x] ?? 1, picture.level.factors[y] ?? 1];
      for (const { column, row, columns, rows } of picture.tiles) {
        const [left, top] = [toX((picture.x + column * picture.stepX) * fx), toY((picture.y + row * picture.stepY) * fy)];
        const right = toX((picture.x + (column + columns) * picture.stepX) * fx);
        const bottom = toY((picture.y + (row + rows) * picture.stepY) * fy);
        // Nothing older shows through missing values.
        context.clearRect(left, top, right - left, bottom - top);
        context.drawImage(picture.canvas, column, row, columns, rows, left, top, right - left, bottom - top);
      }
    }
    const labels = this.pictures[this.pictures.length - 1]?.labels;
    if (labels && state.opacity > 0) {
      const [left, top, right, bottom] = labels.box;
      context.globalAlpha = state.opacity / 100;
      context.drawImage(labels.canvas, toX(left), toY(top), toX(right) - toX(left), toY(bottom) - toY(top));
      context.globalAlpha = 1;
    }
    const coast = state.coast ? this.coast(x, y) : null;
    if (coast) this.drawCoast(context, coast, [x, y], toX, toY);
    if (state.grid) this.drawGrid(context, [x, y], box, toX, toY);
    this.drawPoints(context, state, toX, toY);
    if (this.keyed) drawMiddle(context, LEFT + width / 2, height / 2);
    context.restore();
    this.drawAxes(context, box, [x, y], toX, toY);
    this.element.dataset["box"] = box.join(",");
    this.describe(state, [x, y], box);
  }

  /** The coasts over an image with these sides, if it is one of the world. */
  private coast(x: number, y: number): coasts.Coast | null {
    const key = `${x},${y}`;
    if (this.known?.key !== key) this.known = { key, coast: coasts.coast(this.shown.axes[x], this.shown.axes[y]) };
    return this.known.coast;
  }

  /** Draws the coasts over the elements that there are, and not beside them. */
  private drawCoast(context: CanvasRenderingContext2D, coast: coasts.Coast, [x, y]: [number, number], toX: (x: number) => number, toY: (y: number) => number): void {
    context.save();
    context.beginPath();
    context.rect(toX(0), toY(0), toX(this.shown.shape[x] ?? 1) - toX(0), toY(this.shown.shape[y] ?? 1) - toY(0));
    context.clip();
    coasts.draw(context, coast, toX, toY);
    context.restore();
  }

  /** Draws the edges of chunks, and those of shards thicker, where they are not too many. */
  private drawGrid(context: CanvasRenderingContext2D, [x, y]: [number, number], box: Box, toX: (x: number) => number, toY: (y: number) => number): void {
    const { chunk_shape: chunks, shard_shape: shards } = this.shown.node;
    const [wide, tall] = [this.shown.shape[x] ?? 1, this.shown.shape[y] ?? 1];
    for (const [lengths, width] of [[chunks, 1], [shards, 2.5]] as const) {
      const path = new Path2D();
      for (const at of edges(lengths?.[x], box[0], box[2], wide)) {
        path.moveTo(toX(at), toY(0));
        path.lineTo(toX(at), toY(tall));
      }
      for (const at of edges(lengths?.[y], box[1], box[3], tall)) {
        path.moveTo(toX(0), toY(at));
        path.lineTo(toX(wide), toY(at));
      }
      for (const [more, colour] of [[1, "#fffa"], [0, "#000"]] as const) {
        context.lineWidth = width + more;
        context.strokeStyle = colour;
        context.stroke(path);
      }
    }
  }

  private drawPoints(context: CanvasRenderingContext2D, state: State, toX: (x: number) => number, toY: (y: number) => number): void {
    state.points.forEach(([y, x], number) => {
      context.beginPath();
      context.arc(toX(x + 0.5), toY(y + 0.5), 6, 0, 7);
      context.lineWidth = 4;
      context.strokeStyle = "#fff";
      context.stroke();
      context.lineWidth = 2;
      context.strokeStyle = SERIES[number % SERIES.length]!;
      context.stroke();
    });
  }

  private drawAxes(context: CanvasRenderingContext2D, box: Box, dims: [number, number], toX: (x: number) => number, toY: (y: number) => number): void {
    const [width, height] = this.size();
    context.fillStyle = getComputedStyle(this.canvas).color;
    context.font = "11px system-ui, sans-serif";
    const [x, y] = dims.map((dimension) => this.shown.axes[dimension]);
    context.textAlign = "center";
    for (const [place, label] of x ? marks(x, box[0], box[2]) : []) {
      context.fillText(label, Math.max(LEFT + 14, Math.min(LEFT + width - 14, toX(place + 0.5))), height + 11);
    }
    context.fillText([x?.name, x?.units].filter(Boolean).join(" in "), LEFT + width / 2, height + 22);
    context.textAlign = "right";
    for (const [place, label] of y ? marks(y, box[1], box[3]) : []) {
      context.fillText(label, LEFT - 4, Math.max(10, Math.min(height, toY(place + 0.5) + 4)), LEFT - 6);
    }
    context.textAlign = "left";
    if (y) context.fillText(`↓ ${y.name}`, 2, height + 22, LEFT - 6);
  }

  /** A text of what is shown, for those who do not see it. */
  private describe(state: State, [x, y]: [number, number], box: Box): void {
    const names = this.shown.axes;
    const span = (dimension: number, from: number, to: number): string => {
      const axis = names[dimension];
      if (!axis) return "";
      const [first, last] = [Math.max(0, Math.floor(from)), Math.min(axis.length, Math.ceil(to)) - 1];
      return `${axis.name} from ${axis.label(first)} to ${axis.label(last)}`;
    };
    const rest = names.filter((_, dimension) => dimension !== x && dimension !== y).map((axis) => {
      const dimension = names.indexOf(axis);
      return `${axis.name} ${axis.label(index(this.shown, state, dimension))}`;
    });
    const values = `Values from ${this.tell(this.range[0])} to ${this.tell(this.range[1])} ${this.shown.meaning.units}`.trim();
    const all = [`Image of ${this.shown.node.name || "the array"}`, span(x, box[0], box[2]), span(y, box[1], box[3]), ...rest, values];
    this.canvas.setAttribute("aria-label", `${all.filter(Boolean).join(", ")}.`);
  }

  // The person.

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = { x: event.clientX, y: event.clientY, box: this.box(this.store.state), moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      this.keyed = false;
      this.readOut(this.elementAt(event));
      if (!this.drag) return;
      const [dx, dy] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
      if (Math.abs(dx) + Math.abs(dy) > 3) this.drag.moved = true;
      if (!this.drag.moved) return;
      const [width, height] = this.size();
      const { box } = this.drag;
      const [mx, my] = [(-dx * (box[2] - box[0])) / width, (-dy * (box[3] - box[1])) / height];
      this.store.change({ box: [box[0] + mx, box[1] + my, box[2] + mx, box[3] + my] }, true);
    });
    canvas.addEventListener("pointerup", (event) => {
      const place = this.drag && !this.drag.moved ? this.elementAt(event) : null;
      this.drag = null;
      if (place) this.pick(place[1], place[0], event.shiftKey || event.metaKey || event.ctrlKey);
    });
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => (this.readout.textContent = ""));
    canvas.addEventListener("dblclick", () => this.store.change({ box: [] }));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const bounds = canvas.getBoundingClientRect();
        const [width, height] = this.size();
        this.zoom(2 ** (event.deltaY / 400), (event.clientX - bounds.left - LEFT) / width, (event.clientY - bounds.top) / height);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const moves: Record<string, [number, number]> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
      const move = moves[event.key];
      this.keyed = true;
      if (move) this.move(...move);
      else if (event.key === "Enter") this.pickMiddle(event.shiftKey);
      else if (event.key === "+" || event.key === "=") this.zoom(0.7, 0.5, 0.5);
      else if (event.key === "-") this.zoom(1 / 0.7, 0.5, 0.5);
      else if (event.key === "0") this.store.change({ box: [] });
      else {
        this.keyed = false;
        return;
      }
      event.preventDefault();
      this.draw(this.store.state);
      this.readOut(this.middle());
    });
    canvas.addEventListener("blur", () => {
      this.keyed = false;
      this.draw(this.store.state);
    });
  }

  /** The element in the middle of what is seen. */
  private middle(): [number, number] | null {
    const box = this.box(this.store.state);
    return this.inside((box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
  }

  private pickMiddle(add: boolean): void {
    const place = this.middle();
    if (place) this.pick(place[1], place[0], add);
  }

  private move(right: number, down: number): void {
    const box = this.box(this.store.state);
    const [mx, my] = [right * (box[2] - box[0]), down * (box[3] - box[1])];
    this.store.change({ box: [box[0] + mx, box[1] + my, box[2] + mx, box[3] + my] }, true);
  }

  /** Zooms around a place, which is told as a part of the image's width and height. */
  zoom(factor: number, atX: number, atY: number): void {
    const box = this.box(this.store.state);
    const [x, y] = [box[0] + atX * (box[2] - box[0]), box[1] + atY * (box[3] - box[1])];
    const next = [x - (x - box[0]) * factor, y - (y - box[1]) * factor, x + (box[2] - x) * factor, y + (box[3] - y) * factor];
    if (next[2]! - next[0]! < 2 && factor < 1) return;
    this.store.change({ box: next }, true);
  }

  /** The element under the pointer, if there is one. */
  private elementAt(event: PointerEvent): [number, number] | null {
    const bounds = this.canvas.getBoundingClientRect();
    const box = this.box(this.store.state);
    const [width, height] = this.size();
    const x = box[0] + ((event.clientX - bounds.left - LEFT) / width) * (box[2] - box[0]);
    return this.inside(x, box[1] + ((event.clientY - bounds.top) / height) * (box[3] - box[1]));
  }

  private inside(...place: [number, number]): [number, number] | null {
    const [x, y] = place.map(Math.floor) as [number, number];
    const [dx, dy] = sides(this.shown, this.store.state);
    const inside = x >= 0 && y >= 0 && x < (this.shown.shape[dx] ?? 1) && y < (this.shown.shape[dy] ?? 1);
    return inside ? [x, y] : null;
  }

  private readOut(place: [number, number] | null): void {
    if (!place) {
      this.readout.textContent = "";
      return;
    }
    const [dx, dy] = sides(this.shown, this.store.state);
    const where = [dy, dx].filter((dimension) => dimension >= 0).map((dimension) => {
      const axis = this.shown.axes[dimension]!;
      const at = dimension === dx ? place[0] : place[1];
      const label = axis.label(at);
      return `${axis.name} ${label}${axis.units ? ` ${axis.units}` : ""}${label === String(at) ? "" : ` [${count(at)}]`}`;
    });
    this.readout.textContent = [this.valueAt(place), ...where].filter(Boolean).join(" · ");
  }

  /** A value as text; times are dates. */
  private tell(value: number): string {
    return timesOf(this.shown.node)?.(value) ?? text(value);
  }

  private valueAt([x, y]: [number, number]): string {
    const [dx, dy] = sides(this.shown, this.store.state);
    for (const picture of [...this.pictures].reverse()) {
      const column = Math.floor((x / (picture.level.factors[dx] ?? 1) - picture.x) / picture.stepX);
      const row = Math.floor((y / (picture.level.factors[dy] ?? 1) - picture.y) / picture.stepY);
      if (column < 0 || row < 0 || column >= picture.columns || row >= picture.rows) continue;
      if (!picture.tiles.some((tile) => column >= tile.column && row >= tile.row && column < tile.column + tile.columns && row < tile.row + tile.rows)) continue;
      const at = row * picture.columns + column;
      const about = picture.stepX > 1 || picture.stepY > 1 || (picture.level.factors[dx] ?? 1) > 1 ? "≈ " : "";
      if (picture.bytes) {
        const parts = picture.bytes.length / (picture.columns * picture.rows);
        return `${about}${[...picture.bytes.slice(at * parts, at * parts + parts)].join(", ")}`;
      }
      const { meaning } = this.shown;
      const values = picture.planes.map((plane) => {
        const value = plane[at]!;
        return Number.isNaN(value) ? "missing" : this.tell(value);
      });
      return `${about}${values.join(", ")}${meaning.units ? ` ${meaning.units}` : ""}`;
    }
    return "";
  }
}

/** The edges between parts of a length that are seen; none if they are too many to be told apart. */
function edges(length: number | undefined, from: number, to: number, all: number): number[] {
  if (!length) return [];
  const [first, last] = [Math.max(0, Math.ceil(from / length)), Math.min(Math.ceil(all / length), Math.floor(to / length))];
  return last - first > 400 ? [] : Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Math.min(all, (first + at) * length));
}

/** Marks the middle, to which keys refer. */
function drawMiddle(context: CanvasRenderingContext2D, x: number, y: number): void {
  for (const [width, colour] of [[4, "#fff"], [1.5, "#000"]] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.strokeRect(x - 5, y - 5, 10, 10);
  }
}

/** The colours of series. */
export const SERIES = ["#d1495b", "#0077b6", "#2a9d50", "#b5651d", "#7b4bb7", "#00838f"];

function opaque(bytes: Float64Array, count: number): Uint8ClampedArray<ArrayBuffer> {
  const parts = bytes.length / count;
  const pixels = new Uint8ClampedArray(new ArrayBuffer(count * 4));
  for (let at = 0; at < count; at++) {
    for (let part = 0; part < 3; part++) pixels[at * 4 + part] = bytes[at * parts + part]!;
    pixels[at * 4 + 3] = parts === 4 ? bytes[at * parts + 3]! : 255;
  }
  return pixels;
}

/** Channels as light of their colours. */
function blended(planes: Float64Array[], channels: Channel[], ranges: [number, number][]): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(new ArrayBuffer((planes[0]?.length ?? 0) * 4));
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  planes.forEach((plane, number) => {
    const [low, high] = ranges[number] ?? [0, 1];
    const colour = channels[number]?.colour ?? [255, 255, 255];
    for (let index = 0; index < plane.length; index++) {
      const light = Math.max(0, Math.min(1, (plane[index]! - low) / (high - low || 1))) || 0;
      for (let part = 0; part < 3; part++) pixels[index * 4 + part]! += light * colour[part]!;
    }
  });
  return pixels;
}
