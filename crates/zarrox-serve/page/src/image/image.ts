/** Two dimensions of an array as an image. */

import { bounded, middle, shifted, zoomed } from "./bounds";
import * as coasts from "./coast";
import type { Limits, Maps, Summary } from "./colours";
import { download, h } from "../dom";
import { area, drawFrame, drawPicture, frameKey, Plane, type Layer, type Rect, type Scene } from "./figure";
import { listen } from "./gestures";
import { Heading, sliceOf, titleOf } from "../views/heading";
import { chosen } from "../data/labels";
import { directions, elementRatio, fieldOf, index, isEqual, reducedOf, sides, type Shown } from "../data/model";
import { Palette } from "./palette";
import { CanvasPen, SvgPen, type Pen } from "./pen";
import type { Box, Other, Seen } from "./picture";
import { placeText, Tag, valuesAt } from "./probe";
import { Reader } from "./reader";
import { description, details, times } from "./words";
import type { State, Store } from "../data/state";
import { onTheme, PRINT, theme, type Theme } from "../theme";

/** The delay after a drag before data are requested, in milliseconds. */
const REST = 70;
/** The callbacks of an image. `changed` is called when the limits or the values change. */
export interface Around {
  pin: (y: number, x: number, add: boolean) => void;
  changed: () => void;
  showChunks: () => void;
}

export class ImageView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly heading = new Heading();
  private readonly tag = new Tag();
  private readonly banner = h("p", { class: "banner", hidden: true });
  private readonly reader: Reader;
  private readonly palette: Palette;
  private key = "";
  private world: { key: string; coast: coasts.Coast | null } | null = null;
  private frame: Rect = [0, 0, 0, 0];
  private readonly observer: ResizeObserver;
  private readonly endTheme = onTheme(() => this.draw());
  /** The width and the height of the canvas, since reading them makes the browser compute the layout. */
  private size: [number, number] = [0, 0];
  /** The overlays and axes, which are drawn once for many slices. */
  private over: { key: string; canvas: HTMLCanvasElement } = { key: "", canvas: h("canvas") };
  private isKeyed = false;
  /** The milliseconds of the last painting. */
  private painted = 0;
  private dragged: Rect | null = null;

  constructor(
    private readonly shown: Shown,
    private readonly store: Pick<Store, "state" | "change">,
    maps: Maps,
    private readonly around: Around,
    /** Returns the array that is subtracted from the image. */
    private readonly minus: (() => Other) | null = null,
  ) {
    this.palette = new Palette(shown, maps, minus !== null);
    this.element = h("div", { class: "image view-of" });
    this.reader = new Reader(this.element, shown, {
      paint: (layer) => this.paint(layer),
      draw: () => this.draw(),
      wanted: () => sliceOf(shown, store.state, "image").join(" · ") || shown.title,
      showChunks: around.showChunks,
    });
    this.element.append(this.heading.element, this.reader.message.element, h("div", { class: "canvas" }, this.canvas, this.tag.element, this.reader.chip, this.banner));
    this.observer = new ResizeObserver(() => {
      this.size = [this.canvas.clientWidth, this.canvas.clientHeight];
      this.update(this.store.state);
    });
    this.observer.observe(this.canvas);
    this.listen();
  }

  close(): void {
    this.observer.disconnect();
    this.endTheme();
    this.reader.close();
  }

  /** Shows another state. */
  update(state: State): void {
    const [x, y] = sides(this.shown, state);
    const slice = this.shown.shape.map((_, dimension) => (dimension === x || dimension === y ? "" : index(this.shown, state, dimension)));
    const key = JSON.stringify([x, y, slice, fieldOf(this.shown, state)?.name, state.component, state.reduce, reducedOf(this.shown, state, "image"), state.statistic, this.visible(state), chosen(this.shown, state)?.name, this.minus?.().state.at]);
    if (this.size[0] === 0) return;
    const isOther = key !== this.key;
    this.key = key;
    if (isOther) this.palette.await();
    if (isOther || !this.covers(state)) this.reader.read(this.seen(state), key, isOther ? 0 : REST);
    // The old picture stays until a part of the new one is loaded.
    if (isOther && this.reader.newest) return;
    for (const layer of this.reader.layers) this.palette.paint(layer, state, this.visible(layer.state));
    this.draw();
    this.around.changed();
  }

  /** Paints a layer after a further part of it was loaded. */
  private paint(layer: Layer): void {
    const { state } = this.store;
    const begun = performance.now();
    this.palette.take(layer);
    for (const one of this.reader.layers) this.palette.paint(one, state, this.visible(one.state));
    this.painted = performance.now() - begun;
    this.around.changed();
  }

  private seen(state: State): Seen {
    const box = this.box(state);
    return { state, box, per: this.perPixel(box), visible: this.visible(state), minus: this.minus?.() };
  }

  /** The loading times of the picture as text; empty before it is loaded. */
  get times(): string {
    const layer = this.reader.newest;
    return layer?.isWhole ? times(layer, this.painted) : "";
  }

  get summary(): Summary | null {
    return this.palette.summary;
  }

  /** Returns the colormap of a state. */
  map(state: State): string {
    return this.palette.map(state);
  }

  /** Returns the contrast limits of a state; `null` if there is nothing to show. */
  limits(state: State): Limits | null {
    return this.palette.limits(state);
  }

  /** Returns the current limits, for a state that keeps them. */
  fixed(): Partial<State> {
    return this.palette.fixed(this.store.state);
  }

  /** Returns the summary and the limits of a shown channel. */
  tone(channel: number): { summary: Summary; limits: Limits } | null {
    return this.palette.tone(this.visible(this.store.state).indexOf(channel), channel, this.store.state);
  }

  /** Returns the numbers of the shown channels; empty if there are no channels. */
  visible(state: State): number[] {
    const { channels } = this.shown;
    const usual = channels.map((_, channel) => channel).filter((channel) => channels[channel]!.visible);
    return (state.channels ?? usual).filter((channel) => channel < channels.length).slice(0, 6);
  }

  /** Requests the picture of another state in advance. */
  prefetch(state: State): void {
    this.reader.prefetch(this.seen(state));
  }

  // The visible part.

  private rect([width, height] = this.size, lines = 0): Rect {
    return area(width, height, this.shown.colours < 0 && this.shown.channels.length === 0, lines);
  }

  private length(side: 0 | 1): number {
    return Math.max(1, this.shown.shape[sides(this.shown, this.store.state)[side]] ?? 1);
  }

  /** Returns the shown elements along x and y. If both axes have the same unit, lengths have the same scale. */
  private box(state: State, [, , width, height]: Rect = this.rect()): Box {
    const [columns, rows] = [this.length(0), this.length(1)];
    const box: Box = state.box.length === 4 ? (state.box as Box) : [0, 0, columns, rows];
    if (!isEqual(this.shown, state)) return box;
    const ratio = elementRatio(this.shown, state);
    const [wide, tall] = [(box[2] - box[0]) * ratio, box[3] - box[1]];
    const per = Math.max(wide / width, tall / height);
    const [overX, overY] = [(per * width - wide) / ratio / 2, (per * height - tall) / 2];
    return [box[0] - overX, box[1] - overY, box[2] + overX, box[3] + overY];
  }

  private plane(): Plane {
    const { state } = this.store;
    return new Plane(this.rect(), this.box(state), directions(this.shown, state));
  }

  private perPixel(box: Box): [number, number] {
    const [, , width, height] = this.rect();
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    return [(box[2] - box[0]) / (width * ratio), (box[3] - box[1]) / (height * ratio)];
  }

  /** Returns true if the newest picture covers the visible part in the resolution of the screen. */
  private covers(state: State): boolean {
    const layer = this.reader.newest;
    if (!layer || layer.key !== this.key) return this.reader.isBusy;
    const box = this.box(state);
    const per = this.perPixel(box);
    const [x, y] = sides(this.shown, state);
    const [fx, fy] = [layer.level.factors[x] ?? 1, layer.level.factors[y] ?? 1];
    const fine = (step: number, factor: number, pixel: number): boolean => step * factor <= Math.max(1, pixel) * 1.5;
    const has = (first: number, number: number, step: number, factor: number, from: number, to: number, length: number): boolean =>
      first * factor <= Math.max(0, from) + 1e-6 && (first + number * step) * factor >= Math.min(length, to) - factor * step;
    return (
      fine(layer.stepX, fx, per[0]) &&
      fine(layer.stepY, fy, per[1]) &&
      has(layer.x, layer.columns, layer.stepX, fx, box[0], box[2], this.length(0)) &&
      has(layer.y, layer.rows, layer.stepY, fy, box[1], box[3], this.length(1))
    );
  }

  // Drawing.

  private scene(width: number, height: number, theme: Theme, title: string[]): Scene {
    const { state } = this.store;
    const { newest, layers, isOld } = this.reader;
    // An old picture has its own colours and its own position.
    const of = newest && newest.key !== this.key ? { ...newest.state, map: state.map, range: state.range, norm: state.norm, box: state.box } : state;
    const [x, y] = sides(this.shown, of);
    const key = `${x},${y}`;
    if (this.world?.key !== key) this.world = { key, coast: coasts.coast(this.shown.axes[x], this.shown.axes[y]) };
    const box = this.box(state, this.rect([width, height], title.length));
    return { width, height, shown: this.shown, state: of, box, directions: directions(this.shown, of), layers, isOld, bar: this.palette.bar(of), coast: this.world.coast, isKeyed: this.isKeyed && title.length === 0, theme, title };
  }

  private draw(): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, tall] = this.size;
    if (wide === 0 || tall === 0) return;
    if (this.canvas.width !== Math.round(wide * ratio)) this.canvas.width = Math.round(wide * ratio);
    if (this.canvas.height !== Math.round(tall * ratio)) this.canvas.height = Math.round(tall * ratio);
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!this.reader.newest) this.palette.clear();
    const scene = this.scene(wide, tall, theme(), []);
    const pen = new CanvasPen(context);
    this.frame = drawPicture(pen, scene);
    context.drawImage(this.frameOf(scene, ratio), 0, 0, wide, tall);
    if (this.dragged) pen.frame(...this.dragged, scene.theme.ink, 1.5);
    this.element.dataset["box"] = scene.box.join(",");
    this.element.dataset["area"] = this.rect().join(",");
    this.element.dataset["turned"] = scene.directions.map(Number).join(",");
    this.describe(scene);
  }

  /** Returns the overlays and axes. The drawing of the last slice is reused if it is the same. */
  private frameOf(scene: Scene, ratio: number): HTMLCanvasElement {
    const { canvas } = this.over;
    const key = `${ratio} ${frameKey(scene)}`;
    if (key === this.over.key) return canvas;
    this.over.key = key;
    [canvas.width, canvas.height] = [this.canvas.width, this.canvas.height];
    const context = canvas.getContext("2d");
    context?.scale(ratio, ratio);
    if (context) drawFrame(new CanvasPen(context), scene);
    return canvas;
  }

  /** Saves the figure as a file: PNG in double resolution, or SVG. */
  save(form: "png" | "svg", name: string): void {
    const [width, height] = [1200, 900];
    const { name: title, units } = titleOf(this.shown, this.store.state);
    const scene = this.scene(width, height, PRINT, [units ? `${title} (${units})` : title, details(this.shown, this.reader.newest?.state ?? this.store.state, this.reader.newest, this.summary).join(" · ")]);
    const draw = (pen: Pen): void => {
      drawPicture(pen, scene);
      drawFrame(pen, scene);
    };
    if (form === "svg") {
      const pen = new SvgPen();
      draw(pen);
      return download(`${name}.svg`, new Blob([pen.document(width, height, title)], { type: "image/svg+xml" }));
    }
    const canvas = h("canvas", { width: width * 2, height: height * 2 });
    const context = canvas.getContext("2d");
    context?.scale(2, 2);
    if (context) draw(new CanvasPen(context));
    canvas.toBlob((blob) => blob && download(`${name}.png`, blob));
  }

  /** Describes the figure in words: above the picture, in a tooltip, and for screen readers. */
  private describe({ state, box }: Scene): void {
    const layer = this.reader.newest;
    this.heading.show(this.shown, layer?.state ?? state, details(this.shown, layer?.state ?? state, layer, this.summary));
    this.canvas.setAttribute("aria-label", description(this.shown, state, box, this.limits(state)));
    this.banner.textContent = layer?.isWhole ? this.palette.warning(layer, state) : "";
    this.banner.hidden = this.banner.textContent === "";
  }

  // Gestures.

  private listen(): void {
    const plane = (): Plane => this.plane();
    listen(this.canvas, {
      pan: (dx, dy) => {
        const [, , width, height] = this.rect();
        const { box } = plane();
        const [left, up] = directions(this.shown, this.store.state);
        this.tag.hide();
        this.show(shifted(box, ((left ? dx : -dx) * (box[2] - box[0])) / width, ((up ? dy : -dy) * (box[3] - box[1])) / height));
      },
      zoom: (factor, x, y) => this.zoomAt(factor, plane().from(x, y)),
      box: (x0, y0, x1, y1) => {
        const [[a, b], [c, d]] = [plane().from(x0, y0), plane().from(x1, y1)];
        if (Math.abs(x1 - x0) > 8 && Math.abs(y1 - y0) > 8) this.show([Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)], false);
      },
      drawn: (rect) => {
        this.dragged = rect;
        this.draw();
      },
      fit: () => this.fit(),
      pin: (x, y, add) => {
        const at = this.inside(plane().from(x, y), x, y);
        if (at) this.around.pin(at[1], at[0], add);
      },
      hover: (x, y) => {
        this.isKeyed = false;
        this.readOut(this.inside(plane().from(x, y), x, y), x, y);
      },
      leave: () => this.tag.hide(),
      hint: () => {
        this.reader.chip.textContent = "Use Ctrl + scroll to zoom";
      },
    });
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("blur", () => {
      this.isKeyed = false;
      this.tag.hide();
      this.draw();
    });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, [number, number]> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    const move = moves[event.key];
    const { box } = this.plane();
    const centre = middle(box);
    const [left, up] = directions(this.shown, this.store.state);
    const at = this.inside(centre);
    if (move) this.show(shifted(box, (left ? -1 : 1) * move[0] * (box[2] - box[0]), (up ? -1 : 1) * move[1] * (box[3] - box[1])));
    else if (event.key === "Enter" && at) this.around.pin(at[1], at[0], event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoomAt(0.7, centre);
    else if (event.key === "-") this.zoomAt(1 / 0.7, centre);
    else if (event.key === "0") this.fit();
    else return;
    this.isKeyed = true;
    event.preventDefault();
    this.draw();
    const plane = this.plane();
    const place = middle(plane.box);
    this.readOut(this.inside(place), plane.toX(place[0]), plane.toY(place[1]));
  }

  fit(): void {
    this.store.change({ box: [] });
  }

  /** Zooms around the middle. */
  zoom(factor: number): void {
    this.zoomAt(factor, middle(this.plane().box));
  }

  private zoomAt(factor: number, at: [number, number]): void {
    this.show(zoomed(this.plane().box, factor, at));
  }

  /** Shows a part of the image within the bounds. */
  private show(box: Box, isQuiet = true): void {
    const part = bounded(box, this.box({ ...this.store.state, box: [] }), this.length(0), this.length(1));
    if (part) this.store.change({ box: part }, isQuiet);
  }

  /** Returns the element at a position; `null` outside the image. */
  private inside([x, y]: [number, number], px?: number, py?: number): [number, number] | null {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const [left, top, width, height] = this.frame;
    if (px !== undefined && py !== undefined && (px < left || py < top || px > left + width || py > top + height)) return null;
    return column >= 0 && row >= 0 && column < this.length(0) && row < this.length(1) ? [column, row] : null;
  }

  private readOut(place: [number, number] | null, x: number, y: number): void {
    const { newest, layers } = this.reader;
    // An old picture has no values of the new state.
    if (!place || !newest || newest.key !== this.key) return this.tag.hide();
    const values = valuesAt(this.shown, layers, this.visible(newest.state), place);
    const label = newest.labels?.at(...place) ?? 0;
    this.tag.show(x, y, values, placeText(this.shown, newest.state, place), label === 0 ? "" : `label ${label}`);
  }
}
