/** A comparison of two images: side by side, in one frame, or as a difference. Both have the same position, zoom and slice, except chosen indices. */

import { call, type NodeInfo, type Page } from "../data/api";
import { find, told } from "../data/coordinates";
import { choice, fill, h } from "../dom";
import type { Maps } from "../image/colours";
import { ImageView, type Around } from "../image/image";
import { index, rest, sides, valueUnits, type Shown } from "../data/model";
import { open } from "../data/open";
import { COMPARISONS, type State, type Store } from "../data/state";
import { told as toldError } from "./message";

const WORDS: Record<(typeof COMPARISONS)[number], string> = { side: "Side by side", swipe: "Swipe", difference: "Difference" };

/** Returns the initial state of a comparison: the other image stays at the current slice. */
export function begun(shown: Shown, state: State): Partial<State> {
  const kept = rest(shown, state, "image").map((dimension) => [dimension, index(shown, state, dimension)] as const);
  return { compare: "side", other: "", otherAt: Object.fromEntries(kept) };
}

export class Comparison {
  /** The bar above the images. */
  readonly bar = h("form", { class: "comparing bar", "aria-label": "Compare", submit: (event: Event) => event.preventDefault() });
  /** The other image; `null` until it is loaded. */
  view: ImageView | null = null;
  private other: Shown | null = null;
  private siblings: string[] = [];
  private key = "";
  private asked = "";
  private isClosed = false;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    private readonly maps: Maps,
    private readonly around: Around,
    private readonly image: ImageView,
    /** Called when the other image must be arranged. */
    private readonly placed: () => void,
  ) {
    void this.list();
  }

  close(): void {
    this.isClosed = true;
    this.view?.close();
  }

  /** Shows another state. */
  update(state: State): void {
    const path = state.other || this.shown.place.path;
    if (this.asked !== path) return void this.open(path);
    if (!this.other) return;
    const key = `${path} ${state.compare === "difference"}`;
    if (key !== this.key) {
      this.key = key;
      this.view?.close();
      this.view = this.made(this.other, state.compare === "difference");
      this.placed();
    }
    this.view?.element.classList.toggle("over", state.compare === "swipe");
    this.show(this.other, state);
    this.view?.update(state.compare === "difference" ? this.differing(state) : this.linked(this.other, state));
  }

  private async open(path: string): Promise<void> {
    this.asked = path;
    this.other = null;
    const place = { root: this.shown.place.root, path };
    try {
      const node = path === this.shown.place.path ? null : await call<NodeInfo>("node", place, { stored: "none", coordinates: true });
      const found = node ? await open(place, node) : this.shown;
      if (this.isClosed || this.asked !== path) return;
      if (!found || !this.fits(found)) throw new Error(`'${path}' does not have the lengths of this image along both axes`);
      this.other = found;
      this.update(this.store.state);
    } catch (error) {
      if (!this.isClosed) fill(this.bar, h("span", { class: "problem", role: "alert" }, toldError(error)), this.end());
    }
  }

  /** Finds the arrays beside the image with the same lengths along its axes. */
  private async list(): Promise<void> {
    const above = this.shown.place.path.split("/").slice(0, -1).join("/");
    const page = await call<Page>("tree", { root: this.shown.place.root, path: above }, { limit: 200 }).catch(() => null);
    const lengths = sides(this.shown, this.store.state).map((dimension) => this.shown.shape[dimension] ?? 1);
    const has = (shape: number[]): boolean => lengths.every((length) => shape.includes(length));
    this.siblings = (page?.children ?? []).flatMap((child) => (child.kind === "array" && has(child.shape) ? [[above, child.name].filter(Boolean).join("/")] : []));
    if (this.other && !this.isClosed) this.show(this.other, this.store.state);
  }

  private fits(other: Shown): boolean {
    const state = this.linked(other, this.store.state);
    const length = (of: Shown, dimension: number): number => of.shape[dimension] ?? 1;
    const [mine, others] = [sides(this.shown, this.store.state), sides(other, state)];
    return mine.every((dimension, side) => length(this.shown, dimension) === length(other, others[side]!));
  }

  /** Returns the state of the other image. */
  private linked(other: Shown, state: State): State {
    const to = (dimension: number): number => other.axes.findIndex((axis) => axis.name === this.shown.axes[dimension]?.name);
    const [x, y] = sides(this.shown, state).map(to);
    const at: Record<number, number> = {};
    other.axes.forEach((axis, dimension) => {
      const mine = this.shown.axes.findIndex((one) => one.name === axis.name);
      const own = this.shown.axes[mine];
      if (!own) return;
      const here = index(this.shown, state, mine);
      at[dimension] = own.length === axis.length ? here : (find(axis, own.label(here)) ?? 0);
    });
    const hasUnits = valueUnits(other, state) === valueUnits(this.shown, state);
    const limits = hasUnits ? (this.image.limits(state) ?? []) : [];
    const { reduced } = state;
    return { ...state, path: other.place.path, x: x ?? -1, y: y ?? -1, at: { ...at, ...state.otherAt }, reduced: reduced >= 0 ? to(reduced) : -1, range: limits, map: hasUnits ? this.image.map(state) : "", compare: "" };
  }

  /** Returns the state of the image of differences. */
  private differing(state: State): State {
    return { ...state, map: "", reverse: false, levels: 0, under: "", over: "", range: [], isPerSlice: false, norm: "linear", compare: "" };
  }

  private made(other: Shown, isDifference: boolean): ImageView {
    const state = (): State => (isDifference ? this.differing(this.store.state) : this.linked(other, this.store.state));
    const change = ({ box, points }: Partial<State>, quietly = false): void => this.store.change({ ...(box ? { box } : {}), ...(points ? { points } : {}) }, quietly);
    const linked = { get state() { return state(); }, change };
    const shown = isDifference ? { ...this.shown, title: `${this.shown.title} − ${other === this.shown ? "other slice" : other.title}` } : other;
    return new ImageView(shown, linked, this.maps, { ...this.around, changed: () => undefined }, isDifference ? () => ({ shown: other, state: this.linked(other, this.store.state) }) : null);
  }

  private show(other: Shown, state: State): void {
    if (this.bar.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement) return;
    const paths = [...new Set([this.shown.place.path, ...this.siblings])];
    const arrays = paths.map((path) => [path === this.shown.place.path ? "" : path, path.split("/").pop() || this.shown.title] as const);
    const ways = COMPARISONS.map((way) => h("button", { type: "button", "aria-pressed": String(way === state.compare), click: () => this.store.change({ compare: way }) }, WORDS[way]));
    const swipe = h("input", { type: "range", min: 0, max: 100, value: 50, "aria-label": "Swipe", input: () => this.view?.element.style.setProperty("--swipe", swipe.value) });
    fill(this.bar, choice("Compare with", arrays, state.other, (path) => this.store.change({ other: path, otherAt: {} })), ...this.places(other, state), ...ways, state.compare === "swipe" && swipe, h("span", { class: "space" }), this.end());
  }

  /** Returns a field for each dimension whose index may differ. */
  private places(other: Shown, state: State): HTMLElement[] {
    const linked = this.linked(other, state);
    return rest(other, linked, "image").map((dimension) => {
      const axis = other.axes[dimension]!;
      const own = state.otherAt[dimension];
      const field = h("input", { type: "text", value: own === undefined ? "" : told(axis, Math.min(own, axis.length - 1)), placeholder: "as in the image", "aria-label": `Other ${axis.name}`, title: `The ${axis.name} of the other image; empty: as in the image`, spellcheck: "false" });
      field.addEventListener("change", () => {
        const found = field.value.trim() === "" ? undefined : find(axis, field.value);
        field.classList.toggle("wrong", found === null);
        if (found === null) return;
        const { [dimension]: _, ...others } = this.store.state.otherAt;
        field.blur();
        this.store.change({ otherAt: found === undefined ? others : { ...others, [dimension]: found } });
      });
      return h("label", { class: "check" }, axis.name, field);
    });
  }

  private end(): HTMLElement {
    return h("button", { type: "button", class: "icon", "aria-label": "End the comparison", title: "End the comparison", click: () => this.store.change({ compare: "", other: "", otherAt: {} }) }, "×");
  }
}
