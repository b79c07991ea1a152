/** Reads the pictures of an image, and keeps those that are shown. */

import { forget } from "../data/api";
import { h } from "../dom";
import type { Layer } from "./figure";
import { overlay } from "../data/labels";
import { Message, told } from "../views/message";
import { fieldOf, sides, type Shown } from "../data/model";
import { count, short } from "../data/numbers";
import { plan, type Seen } from "./picture";
import type { State } from "../data/state";

/** The tiles that are read at the same time. */
const AT_ONCE = 2;
/** While tiles come, the picture is painted anew so often, in milliseconds. */
const PAINT = 120;
/** An old picture is dimmed after so many milliseconds, so that playing does not flicker. */
const PATIENCE = 300;

/** What the reader needs of the image. */
export interface Reading {
  /** Paints a layer, of which more has come. */
  paint: (layer: Layer) => void;
  /** Draws the figure anew. */
  draw: () => void;
  /** What is read, in words. */
  wanted: () => string;
  showChunks: () => void;
}

export class Reader {
  /** The pictures that are shown, the newest last. */
  layers: Layer[] = [];
  /** True if the picture is of another state, and has been for some time. */
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

  /** Reads a picture after some time. The old one stays, under its own label, until something of the new one is there. */
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

  /** Reads everything anew. */
  retry(): void {
    forget();
    this.message.clear();
    this.layers = [];
    if (this.seen) this.read(this.seen.seen, this.seen.key, 0);
  }

  /** Asks for a picture before it is wanted, if it is small. */
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
      // Nothing of another state stays under the label of this one.
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

  /** Reads a picture tile by tile, and paints the tiles that have arrived. */
  private async tiles(seen: Seen, key: string, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const { picture, box, per, tiles, read, written } = plan(this.shown, seen);
    const layer: Layer = Object.assign(picture, { labels: null, key, state: seen.state, isWhole: false });
    const labels = overlay(this.shown, seen.state, box, per, signal).catch(() => null);
    let painted = 0;
    const show = (): void => {
      // What another state has shown goes when something of this one is there; the whole image stays behind its parts.
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

/** What each value of a picture stands for, in words. */
function resolution(shown: Shown, { state, level, stepX, stepY }: Layer): string {
  const [x, y] = sides(shown, state);
  const steps = [stepY * (y >= 0 ? (level.factors[y] ?? 1) : 1), stepX * (level.factors[x] ?? 1)].map(Math.round);
  if (steps[0]! * steps[1]! <= 1) return "full resolution";
  const elements = `${steps.map(count).join(" × ")} elements`;
  if (level !== shown.levels[0] && stepX === 1 && stepY === 1) return `level ${shown.levels.indexOf(level)}: 1 for ${elements}`;
  return `${WORDS[fieldOf(shown, state) || shown.colours >= 0 ? "nearest" : state.reduce]} ${elements}`;
}
