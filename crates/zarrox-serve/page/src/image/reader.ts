/** Reads the pictures of an image, and keeps those that are shown. */

import { forget } from "../data/api";
import { h } from "../dom";
import type { Layer } from "./figure";
import { overlay } from "../data/labels";
import { Message, told } from "../views/message";
import { placesOf } from "../data/curved";
import { fieldOf, mapKind, sides, type Shown } from "../data/model";
import { count, short } from "../data/numbers";
import { plan, type Seen } from "./picture";
import type { State } from "../data/state";

/** The number of tiles that are read concurrently. */
const AT_ONCE = 2;
/** The interval between two paintings while tiles are loaded, in milliseconds. */
const PAINT = 120;
/** The time in milliseconds after which an old picture is dimmed, so that an animation does not flicker. */
const PATIENCE = 300;

/** The callbacks of a reader. */
export interface Reading {
  /** Paints a layer after a further part of it was loaded. */
  paint: (layer: Layer) => void;
  /** Draws the figure again. */
  draw: () => void;
  /** Returns a description of the picture that is being read. */
  wanted: () => string;
  showChunks: () => void;
}

export class Reader {
  /** The shown pictures, the newest last. */
  layers: Layer[] = [];
  /** True if the picture has had an older state for some time. */
  isOld = false;
  readonly message = new Message();
  readonly chip = h("p", { class: "chip", "aria-live": "polite" });
  private asked: AbortController | null = null;
  private timer = 0;
  private patience = 0;
  private seen: { seen: Seen; key: string } | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly shown: Shown,
    private readonly around: Reading,
  ) {}

  get newest(): Layer | undefined {
    return this.layers[this.layers.length - 1];
  }

  get isBusy(): boolean {
    return this.element.classList.contains("busy");
  }

  close(): void {
    this.asked?.abort();
    clearTimeout(this.timer);
    clearTimeout(this.patience);
  }

  /** Reads a picture after a delay. The old picture stays, under its own label, until a part of the new one is loaded. */
  read(seen: Seen, key: string, wait: number): void {
    clearTimeout(this.timer);
    if (this.newest?.key !== key && this.seen?.key !== key) {
      clearTimeout(this.patience);
      this.isOld = false;
      this.patience = setTimeout(() => this.dim(key), PATIENCE) as unknown as number;
    }
    this.seen = { seen, key };
    this.element.classList.add("busy");
    this.timer = setTimeout(() => void this.run(seen, key), wait) as unknown as number;
  }

  /** Reads everything again. */
  retry(): void {
    forget();
    this.message.clear();
    this.layers = [];
    if (this.seen) this.read(this.seen.seen, this.seen.key, 0);
  }

  /** Requests a picture in advance, if it is small. */
  prefetch(seen: Seen): void {
    const { tiles, fetch } = plan(this.shown, seen);
    if (tiles.length <= 4) for (const tile of tiles) void fetch(tile).catch(() => undefined);
  }

  private dim(key: string): void {
    this.isOld = this.newest !== undefined && this.newest.key !== key;
    this.element.classList.add("slow");
    this.progress(`Loading ${this.around.wanted()} …`);
    this.around.draw();
  }

  private async run(seen: Seen, key: string): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    try {
      await this.tiles(seen, key, asked.signal);
    } catch (error) {
      if (asked.signal.aborted) return;
      asked.abort();
      this.isOld = true;
      // A picture of another state must not stay under the label of this state.
      this.layers = this.layers.filter((layer) => layer.key === key);
      this.chip.textContent = "";
      this.message.show(told(error), null, [["Retry", () => this.retry()]]);
    } finally {
      if (this.asked === asked) {
        this.element.classList.remove("busy", "slow");
        clearTimeout(this.patience);
        if (this.isOld) {
          this.isOld = false;
          this.around.draw();
        }
      }
    }
  }

  /** Reads a picture tile by tile, and paints the tiles that are loaded. */
  private async tiles(seen: Seen, key: string, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const { picture, box, per, tiles, read, written } = plan(this.shown, seen);
    const layer: Layer = Object.assign(picture, { labels: null, places: null, pixels: null, key, state: seen.state, isWhole: false });
    const labels = overlay(this.shown, seen.state, box, per, signal).catch(() => null);
    const { curved } = this.shown;
    if (curved && mapKind(this.shown, seen.state) === "curved") layer.places = await placesOf(curved, picture, signal);
    let painted = 0;
    const show = (): void => {
      // Pictures of other states are removed when a part of this state is loaded. The picture of the whole image stays behind its parts.
      this.layers = [...this.layers.filter((one) => one.key === key && one !== layer).slice(-1), layer];
      this.isOld = false;
      if (painted === 0) this.element.dataset["took"] = (performance.now() - begun).toFixed(0);
      this.around.paint(layer);
      this.around.draw();
      painted = performance.now();
    };
    const left = await written(signal);
    const worker = async (): Promise<void> => {
      for (let tile = left.shift(); tile; tile = left.shift()) {
        await read(tile, signal);
        if (signal.aborted || left.length === 0) continue;
        if (performance.now() - painted > PAINT) show();
        if (performance.now() - begun > PATIENCE) this.progress(`Read ${count(tiles.length - left.length)} of ${count(tiles.length)} parts · ${short(layer.received)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    layer.labels = await labels;
    if (signal.aborted) return;
    layer.isWhole = true;
    show();
    const took = performance.now() - begun;
    this.element.dataset["whole"] = took.toFixed(0);
    this.chip.textContent = [resolution(this.shown, layer), layer.received > 0 ? `${short(layer.received)} · ${took.toFixed(0)} ms` : ""].filter(Boolean).join(" · ");
    const [first] = layer.damaged;
    const words = layer.damaged.length === 1 ? "1 damaged chunk in this view" : `${count(layer.damaged.length)} damaged chunks in this view`;
    if (first) this.message.show(words, first.message, [["Show chunks", this.around.showChunks], ["Retry", () => this.retry()]]);
    else this.message.clear();
  }

  private progress(text: string): void {
    this.chip.replaceChildren(text, " ", h("button", { type: "button", click: () => this.cancel() }, "Cancel"));
  }

  private cancel(): void {
    this.asked?.abort();
    clearTimeout(this.patience);
    this.element.classList.remove("busy", "slow");
    this.chip.textContent = "Cancelled";
  }
}

const WORDS: Record<State["reduce"], string> = { nearest: "1 of every", mean: "mean of", min: "minimum of", max: "maximum of", median: "median of", mode: "mode of" };

/** Returns a description of the elements that each value of a picture represents. */
function resolution(shown: Shown, { state, level, stepX, stepY }: Layer): string {
  const [x, y] = sides(shown, state);
  const steps = [stepY * (y >= 0 ? (level.factors[y] ?? 1) : 1), stepX * (level.factors[x] ?? 1)].map(Math.round);
  if (steps[0]! * steps[1]! <= 1) return "full resolution";
  const elements = `${steps.map(count).join(" × ")} elements`;
  if (level !== shown.levels[0] && stepX === 1 && stepY === 1) return `level ${shown.levels.indexOf(level)}: 1 for ${elements}`;
  return `${WORDS[fieldOf(shown, state) || shown.colours >= 0 ? "nearest" : state.reduce]} ${elements}`;
}
