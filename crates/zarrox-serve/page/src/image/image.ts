/** Two dimensions of an array as an image. */

import * as coasts from "./coast";
import type { Limits, Maps, Summary } from "./colours";
import { download, h } from "../dom";
import { area, drawFrame, drawPicture, frameKey, type Layer, type Rect, type Scene } from "./figure";
import { listen } from "./gestures";
import { Heading, sliceOf, titleOf } from "../views/heading";
import { chosen } from "../data/labels";
import { crossOf, directions, fieldOf, index, reducedOf, sides, type Shown } from "../data/model";
import { Mapper } from "./mapper";
import { Palette } from "./palette";
import { CanvasPen, SvgPen, type Pen } from "./pen";
import type { Against, Seen } from "./picture";
import { placeText, Tag, valuesAt } from "./probe";
import { Reader } from "./reader";
import { boxOf, flat, type Surface } from "./surface";
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
  /** True for a view that is a part of another view, whose colour bar and cross-hair it shares. */
  isPart?: boolean;
}

export class ImageView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly heading = new Heading();
  private readonly tag = new Tag();
  private readonly banner = h("p", { class: "banner", hidden: true });
  private readonly reader: Reader;
  private readonly palette: Palette;
  private readonly mapper: Mapper;
  private key = "";
  private world: { key: string; coast: coasts.Coast | null } | null = null;
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
    /** Returns the array from which differences or ratios are computed. */
    private readonly against: (() => Against) | null = null,
  ) {
    this.palette = new Palette(shown, maps, against?.().way ?? null);
    this.mapper = new Mapper(shown);
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
    const key = JSON.stringify([x, y, slice, fieldOf(this.shown, state)?.name, state.component, state.reduce, reducedOf(this.shown, state, "image"), state.statistic, this.visible(state), chosen(this.shown, state)?.name, this.against?.().state.at]);
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
    const { box, per } = this.surface(state);
    return { state, box, per, visible: this.visible(state), against: this.against?.() };
  }

  /** The loading times of the picture, by names; empty before it is loaded. */
  get times(): [string, string][] {
    const layer = this.reader.newest;
    return layer?.isWhole ? times(layer, this.painted) : [];
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
    return this.palette.fixed(this.store.state, this.visible(this.store.state));
  }

  /** Returns the values of an element; empty unless they are loaded. */
  valuesAt(place: [number, number]): string[] {
    const { newest, layers } = this.reader;
    return newest?.key === this.key ? valuesAt(this.shown, layers, this.visible(newest.state), place) : [];
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
    return area(width, height, !this.around.isPart && this.shown.colours < 0 && this.shown.channels.length === 0, lines);
  }

  private length(side: 0 | 1): number {
    return Math.max(1, this.shown.shape[sides(this.shown, this.store.state)[side]] ?? 1);
  }

  /** Returns the number of pixels of the screen per pixel of the page that pictures are drawn for. */
  private get ratio(): number {
    return Math.min(2, globalThis.devicePixelRatio || 1);
  }

  /** Returns the visible part of the image: a grid or a map. */
  private surface(state: State = this.store.state): Surface {
    const globe = this.mapper.globe(state, this.rect());
    const { newest } = this.reader;
    return globe ? this.mapper.surface(state, globe, newest?.key === this.key ? newest : undefined, this.ratio) : flat(this.shown, state, this.rect(), this.ratio);
  }

  /** Returns true if the newest picture covers the visible part in the resolution of the screen. */
  private covers(state: State): boolean {
    const layer = this.reader.newest;
    if (!layer || layer.key !== this.key) return this.reader.isBusy;
    const { box, per } = this.surface(state);
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
    const rect = this.rect([width, height], title.length);
    const globe = this.mapper.globe(state, rect);
    const ratio = title.length > 0 ? 2 : this.ratio;
    const map = globe && { globe, paint: (pen: Pen) => this.mapper.draw(pen, globe, layers, ratio, theme, isOld ? 0.35 : 1), pixelOf: (column: number, row: number) => this.mapper.pixelOf(globe, newest, of, column, row) };
    return { width, height, shown: this.shown, state: of, map, box: globe ? this.surface(state).box : boxOf(this.shown, state, rect), directions: directions(this.shown, of), layers, isOld, bar: this.around.isPart ? null : this.palette.bar(of), cross: crossOf(this.shown, of, this.around.isPart === true), coast: this.world.coast, isKeyed: this.isKeyed && title.length === 0, theme, title };
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
    drawPicture(pen, scene);
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
    listen(this.canvas, {
      pan: (dx, dy) => {
        this.tag.hide();
        this.show(this.surface().panned(dx, dy));
      },
      zoom: (factor, x, y) => this.show(this.surface().zoomed(factor, x, y)),
      box: (x0, y0, x1, y1) => {
        if (Math.abs(x1 - x0) > 8 && Math.abs(y1 - y0) > 8) this.show(this.surface().boxed(x0, y0, x1, y1), false);
      },
      drawn: (rect) => {
        this.dragged = rect;
        this.draw();
      },
      fit: () => this.fit(),
      pin: (x, y, add) => {
        const at = this.surface().at(x, y);
        if (at) this.around.pin(at[1], at[0], add);
      },
      hover: (x, y) => {
        this.isKeyed = false;
        this.readOut(this.surface().at(x, y), x, y);
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
    const moves: Record<string, [number, number]> = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    const move = moves[event.key];
    const [left, top, width, height] = this.rect();
    const centre = [left + width / 2, top + height / 2] as const;
    const at = this.surface().at(...centre);
    if (move) this.show(this.surface().panned(move[0] * width, move[1] * height));
    else if (event.key === "Enter" && at) this.around.pin(at[1], at[0], event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoom(0.7);
    else if (event.key === "-") this.zoom(1 / 0.7);
    else if (event.key === "0") this.fit();
    else return;
    this.isKeyed = true;
    event.preventDefault();
    this.draw();
    this.readOut(this.surface().at(...centre), ...centre);
  }

  fit(): void {
    this.store.change(this.surface().fitted);
  }

  /** Zooms around the middle. */
  zoom(factor: number): void {
    const [left, top, width, height] = this.rect();
    this.show(this.surface().zoomed(factor, left + width / 2, top + height / 2));
  }

  /** Shows a part of the image within the bounds. */
  private show(changes: Partial<State> | null, isQuiet = true): void {
    if (changes) this.store.change(changes, isQuiet);
  }

  private readOut(place: [number, number] | null, x: number, y: number): void {
    const { newest } = this.reader;
    // An old picture has no values of the new state.
    if (!place || !newest || newest.key !== this.key) return this.tag.hide();
    const values = this.valuesAt(place);
    const label = newest.labels?.at(...place) ?? 0;
    this.tag.show(x, y, values, placeText(this.shown, newest.state, place, newest), label === 0 ? "" : `label ${label}`);
  }
}
