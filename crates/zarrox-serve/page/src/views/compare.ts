/** A comparison of an image with other views: side by side, in one frame, as differences or as ratios. All have the same position, zoom and slice, except chosen indices. */

import { call, type NodeInfo } from "../data/api";
import { find, told } from "../data/coordinates";
import { fill, h } from "../dom";
import { arrayField } from "./arrays";
import type { Maps } from "../image/colours";
import { ImageView, type Around } from "../image/image";
import { followed, following, isAlike } from "../data/linking";
import { index, rest, valueUnits, type Shown } from "../data/model";
import { open } from "../data/open";
import type { Against } from "../image/picture";
import { COMPARISONS, OTHERS, type Compared, type State, type Store, type Way } from "../data/state";
import { told as toldError } from "./message";

const WORDS: Record<Way, string> = { side: "Side by side", swipe: "Swipe", blink: "Blink", difference: "Difference", ratio: "Ratio" };
const SIGNS: Partial<Record<Way, string>> = { difference: "−", ratio: "÷" };
/** The time for which each view is shown while they blink, in milliseconds. */
const BLINK = 800;

/** Returns the initial state of a comparison: the other view stays at the current slice. */
export function begun(shown: Shown, state: State): Partial<State> {
  return { compare: "side", planes: -1, others: [atSlice(shown, state)] };
}

function atSlice(shown: Shown, state: State): Compared {
  const kept = rest(shown, state, "image").map((dimension) => [dimension, index(shown, state, dimension)] as const);
  return { root: state.root, path: state.path, at: Object.fromEntries(kept) };
}

/** Another view: its array, which is `null` until it is opened, and its image. */
interface Pane {
  place: string;
  shown: Shown | null;
  problem: string;
  view: ImageView | null;
  /** The comparison for which the image was created. */
  way: string;
}

export class Comparison {
  /** The bar above the images. */
  readonly bar = h("form", { class: "comparing", "aria-label": "Compare", submit: (event: Event) => event.preventDefault() });
  private panes: Pane[] = [];
  private timer = 0;
  /** The view that is visible while views blink; 0 is the image. */
  private visible = 0;
  /** The part of the image that is visible while swiping, in percent. */
  private swipe = 50;
  private arePlaced = "";
  private isClosed = false;

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    private readonly maps: Maps,
    private readonly around: Around,
    private readonly image: ImageView,
    private readonly roots: string[],
    /** Called when the images must be arranged. */
    private readonly placed: () => void,
  ) {}

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const pane of this.panes) pane.view?.close();
  }

  /** Returns the other images. */
  get elements(): HTMLElement[] {
    return this.panes.flatMap(({ view }) => (view ? [view.element] : []));
  }

  /** Shows another state. */
  update(state: State): void {
    state.others.forEach((own, number) => {
      const place = `${own.root}/${own.path}`;
      if (this.panes[number]?.place === place) return;
      this.panes[number]?.view?.close();
      const pane: Pane = { place, shown: null, problem: "", view: null, way: "" };
      this.panes[number] = pane;
      void this.open(pane, own);
    });
    for (const pane of this.panes.splice(state.others.length)) pane.view?.close();
    this.panes.forEach((pane, number) => this.updatePane(pane, state, number));
    if (state.compare !== "blink") this.pause();
    this.arrange(state);
    this.swipeTo(this.swipe);
    this.show(state);
  }

  private updatePane(pane: Pane, state: State, number: number): void {
    const { shown: other, problem } = pane;
    const own = state.others[number]!;
    if (!other || problem) return;
    const sign = SIGNS[state.compare as Way];
    const isAble = !sign || isAlike(this.shown, state, other, following(this.shown, state, other, own));
    const way = isAble ? (sign ?? "plain") : "";
    if (way !== pane.way) {
      pane.view?.close();
      pane.view = way === "" ? null : this.made(pane, other, number, sign ? (state.compare as "difference" | "ratio") : null);
      pane.way = way;
    }
    pane.view?.update(sign ? this.differing(state) : this.linked(other, state, own));
  }

  private async open(pane: Pane, own: Compared): Promise<void> {
    const place = { root: own.root, path: own.path };
    try {
      const { state } = this.store;
      const isSame = own.root === state.root && own.path === state.path;
      const node = isSame ? null : await call<NodeInfo>("node", place, { stored: "none", coordinates: true });
      const found = node ? await open(place, node) : this.shown;
      if (!found || found.shape.filter((length) => length > 1).length < 2) throw new Error(`'${pane.place}' is not an array that can be shown as an image`);
      pane.shown = found;
    } catch (error) {
      pane.problem = toldError(error);
    }
    if (!this.isClosed && this.panes.includes(pane)) this.update(this.store.state);
  }

  /** Returns the state of another view, with the colours of the image if it has the same unit. */
  private linked(other: Shown, state: State, own: Compared): State {
    const next = following(this.shown, state, other, own);
    const hasUnits = valueUnits(other, state) === valueUnits(this.shown, state);
    return { ...next, range: hasUnits ? (this.image.limits(state) ?? []) : [], map: hasUnits ? this.image.map(state) : "" };
  }

  /** Returns the state of an image of differences or ratios. */
  private differing(state: State): State {
    return { ...state, map: "", reverse: false, levels: 0, under: "", over: "", range: [], isPerSlice: false, norm: "linear", compare: "" };
  }

  private made(pane: Pane, other: Shown, number: number, way: "difference" | "ratio" | null): ImageView {
    const own = (): Compared => this.store.state.others[number] ?? { root: "", path: "", at: {} };
    const state = (): State => (way ? this.differing(this.store.state) : this.linked(other, this.store.state, own()));
    const change = (changes: Partial<State>, quietly = false): void =>
      this.store.change(way ? pick(changes) : followed(pick(changes), other, state(), this.shown, this.store.state), quietly);
    const linked = { get state() { return state(); }, change };
    const name = other === this.shown ? "other slice" : `${other.title}${other.title === this.shown.title ? ` (${pane.place})` : ""}`;
    const meaning = way === "ratio" ? { ...this.shown.meaning, units: "" } : this.shown.meaning;
    const shown = way ? { ...this.shown, title: `${this.shown.title} ${SIGNS[way]} ${name}`, meaning } : other;
    const against = way ? (): Against => ({ shown: other, state: this.linked(other, this.store.state, own()), way }) : null;
    const around = { ...this.around, changed: () => undefined, pin: (y: number, x: number, add: boolean) => change({ points: add ? [...linked.state.points, [y, x]] : [[y, x]] }) };
    return new ImageView(shown, linked, this.maps, around, against);
  }

  // Blinking.

  /** Shows the next view in the frame. */
  next(): void {
    this.visible = (this.visible + 1) % (this.elements.length + 1);
    this.arrange(this.store.state);
  }

  /** Shows the next view, and stops blinking. */
  step(): void {
    if (this.store.state.compare !== "blink") return;
    this.pause();
    this.next();
    this.show(this.store.state);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = 0;
  }

  private blink(isOn: boolean): void {
    this.pause();
    if (isOn) this.timer = setInterval(() => this.next(), BLINK) as unknown as number;
    this.show(this.store.state);
  }

  /** Places the images: beside each other, or over each other. */
  private arrange(state: State): void {
    const { elements } = this;
    const isOver = state.compare === "swipe" || state.compare === "blink";
    elements.forEach((element, number) => {
      element.classList.toggle("over", isOver);
      element.classList.toggle("blinks", state.compare === "blink");
      const isHidden = state.compare === "blink" ? this.visible !== number + 1 : state.compare === "swipe" && number > 0;
      element.style.visibility = isHidden ? "hidden" : "";
    });
    const key = `${isOver} ${this.panes.map(({ place, way }) => `${place} ${way}`).join()}`;
    if (key === this.arePlaced) return;
    this.arePlaced = key;
    this.placed();
  }

  /** Moves the border between two images in one frame. */
  private swipeTo(at: number): void {
    this.swipe = at;
    for (const element of this.elements) element.style.setProperty("--swipe", String(at));
  }

  // The bar.

  private show(state: State): void {
    if (this.bar.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && document.activeElement.type === "text") return;
    const active = document.activeElement instanceof HTMLElement && this.bar.contains(document.activeElement) ? document.activeElement.dataset["control"] : undefined;
    const isPlain = this.shown.channels.length === 0 && this.shown.colours < 0;
    const choose = (compare: Way): void => {
      this.visible = compare === "blink" ? 1 : 0;
      this.store.change({ compare });
      if (compare === "blink") this.blink(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    };
    const ways = COMPARISONS.map((way) => h("button", { type: "button", "data-control": way, "aria-pressed": String(way === state.compare), disabled: !isPlain && way in SIGNS, click: () => choose(way) }, WORDS[way]));
    const swipe = h("input", { type: "range", min: 0, max: 100, value: this.swipe, "data-control": "swipe-at", "aria-label": "Swipe", input: () => this.swipeTo(Number(swipe.value)) });
    const isOn = this.timer !== 0;
    const blinking = [
      h("button", { type: "button", class: "icon", "data-control": "blinking", "aria-label": isOn ? "Stop blinking" : "Blink", title: isOn ? "Stop blinking" : "Blink", click: () => this.blink(!isOn) }, isOn ? "⏸" : "▷"),
      h("button", { type: "button", "data-control": "next", title: "Show the next view (b)", click: () => this.step() }, "Next"),
    ];
    const add = h("button", { type: "button", "data-control": "add", disabled: state.others.length >= OTHERS, title: "Compare with one more view, at this slice", click: () => this.store.change({ others: [...state.others, atSlice(this.shown, state)] }) }, "+ View");
    fill(this.bar,
      h("div", { class: "bar" }, ...ways, state.compare === "swipe" && swipe, ...(state.compare === "blink" ? blinking : []), h("span", { class: "space" }), add, this.end()),
      ...state.others.map((own, number) => this.row(own, number, state)));
    if (active) this.bar.querySelector<HTMLElement>(`[data-control="${active}"]`)?.focus();
  }

  /** Returns the controls of another view: its array, and a field for each dimension whose index may differ. */
  private row(own: Compared, number: number, state: State): HTMLElement {
    const pane = this.panes[number];
    const put = (changed: Compared): void => this.store.change({ others: state.others.map((one, at) => (at === number ? changed : one)) });
    const name = state.others.length > 1 ? ` ${number + 2}` : "";
    const array = arrayField(`Compare with${name}`, own, this.roots, this.shown, state, (place) => put({ ...place, at: {} }));
    const remove = state.others.length > 1 && h("button", { type: "button", class: "icon", "aria-label": `Remove view ${number + 2}`, title: `Remove view ${number + 2}`, click: () => this.store.change({ others: state.others.filter((_, at) => at !== number) }) }, "×");
    const sign = SIGNS[state.compare as Way];
    const problem = pane?.problem || (sign && pane?.shown && pane.way === "" ? `A ${WORDS[state.compare as Way].toLowerCase()} needs the same lengths along both axes` : "");
    const fields = pane?.shown ? this.fields(pane.shown, own, this.linked(pane.shown, state, own), name, put) : [];
    return h("div", { class: "bar" }, array, ...fields, problem ? h("span", { class: "problem", role: "alert" }, problem) : null, h("span", { class: "space" }), remove);
  }

  private fields(other: Shown, own: Compared, linked: State, name: string, put: (changed: Compared) => void): HTMLElement[] {
    return rest(other, linked, "image").map((dimension) => {
      const axis = other.axes[dimension]!;
      const chosen = own.at[dimension];
      const field = h("input", { type: "text", value: chosen === undefined ? "" : told(axis, Math.min(chosen, axis.length - 1)), placeholder: "as in the image", "aria-label": `Other ${axis.name}${name}`, title: `The ${axis.name} of this view; empty: as in the image`, spellcheck: "false" });
      field.addEventListener("change", () => {
        const found = field.value.trim() === "" ? undefined : find(axis, field.value);
        field.classList.toggle("wrong", found === null);
        if (found === null) return;
        const { [dimension]: _, ...others } = own.at;
        field.blur();
        put({ ...own, at: found === undefined ? others : { ...others, [dimension]: found } });
      });
      return h("label", { class: "check" }, axis.name, field);
    });
  }

  private end(): HTMLElement {
    return h("button", { type: "button", class: "icon", "aria-label": "End the comparison", title: "End the comparison", click: () => this.store.change({ compare: "", others: [] }) }, "×");
  }
}

/** Returns the changes that other views pass on to the image. */
function pick({ box, points, globe }: Partial<State>): Partial<State> {
  return { ...(box ? { box } : {}), ...(points ? { points } : {}), ...(globe ? { globe } : {}) };
}
