/** A row for each dimension that is not shown, with its coordinate, a slider, step buttons and a play button. */

import { timeTicks } from "../data/calendar";
import { find, placing, told, type Axis } from "../data/coordinates";
import { choice, fill, h } from "../dom";
import { index, isReducible, reducedOf, rest, rowsOf, type Shown } from "../data/model";
import { count } from "../data/numbers";
import { STATISTICS, type State, type Statistic, type Store } from "../data/state";

/** The frame rates of an animation, in pictures per second. */
const RATES = ["1", "2", "5", "10", "20"];
/** The number of rows that are visible at first. */
const SEEN = 3;

interface Row {
  element: HTMLElement;
  move: (at: number) => void;
}

export class DimensionRows {
  readonly element = h("form", { class: "dimensions", "aria-label": "Dimensions", submit: (event: Event) => event.preventDefault() });
  /** The rows by dimension. They are moved, not created again, so that a drag continues. */
  private rows = new Map<number, Row>();
  private key = "";
  private playing: { timer: number; dimension: number } | null = null;
  private rate = 5;
  private areAllSeen = false;

  constructor(
    private readonly store: Store,
    /** Returns the other changes to the state at each step. */
    private readonly kept: () => Partial<State>,
    /** Returns true while a step is being loaded. */
    private readonly isBusy: () => boolean,
    /** Requests the data of another state in advance. */
    private readonly prefetch: (state: State) => void,
  ) {}

  /** Shows the rows of an array in a view. */
  show(shown: Shown, kind: string): void {
    const { state } = this.store;
    const dimensions = kind === "" ? [] : rowsOf(shown, state, kind);
    const reduced = reducedOf(shown, state, kind);
    const key = JSON.stringify([shown.place, kind, dimensions, this.areAllSeen, reduced, state.statistic]);
    if (key !== this.key) {
      this.stop();
      this.key = key;
      this.rows = new Map(dimensions.map((dimension) => [dimension, this.row(shown, dimension, kind, dimension === reduced)]));
      const seen = this.areAllSeen ? dimensions : dimensions.slice(0, SEEN);
      const more = dimensions.length - SEEN;
      const toggle = (): void => {
        this.areAllSeen = !this.areAllSeen;
        this.show(shown, kind);
      };
      const button = h("button", { type: "button", class: "more", click: toggle }, this.areAllSeen ? "Fewer dimensions" : `${more} more dimension${more === 1 ? "" : "s"}`);
      fill(this.element, ...seen.map((dimension) => this.rows.get(dimension)!.element), more > 0 && button);
    }
    for (const [dimension, row] of this.rows) row.move(index(shown, state, dimension));
  }

  clear(): void {
    this.stop();
    this.key = "";
    this.rows.clear();
    fill(this.element);
  }

  /** Steps along the first dimension that has a row. */
  step(by: number): void {
    const [first] = this.rows;
    first?.[1].element.dispatchEvent(new CustomEvent("step", { detail: by }));
  }

  /** Returns a choice between one slice and a statistic over all slices. */
  private statistic(shown: Shown, dimension: number, kind: string, isReduced: boolean): HTMLElement | null {
    if ((kind !== "image" && kind !== "plot") || !isReducible(shown, this.store.state) || !rest(shown, this.store.state, kind).includes(dimension)) return null;
    const { name } = shown.axes[dimension]!;
    const words: Record<Statistic, string> = { mean: "mean", min: "min", max: "max", std: "std. dev." };
    const options = [["", "slice"] as const, ...STATISTICS.map((one) => [one, words[one]] as const)];
    // A statistic has other contrast limits than a slice.
    const chosen = choice(`Statistic over ${name}`, options, isReduced ? this.store.state.statistic : "", (one) => this.store.change({ statistic: one as Statistic | "", reduced: one === "" ? -1 : dimension, range: [] }));
    chosen.classList.add("statistic");
    return chosen;
  }

  private row(shown: Shown, dimension: number, kind: string, isReduced: boolean): Row {
    const axis = shown.axes[dimension]!;
    const last = axis.length - 1;
    const go = (to: number, isQuiet = true): void => {
      const at = Math.max(0, Math.min(last, to));
      this.store.change({ at: { ...this.store.state.at, [dimension]: at }, ...this.kept() }, isQuiet);
    };
    const now = (): number => index(shown, this.store.state, dimension);
    const slider = h("input", { type: "range", min: 0, max: last, "aria-label": axis.name, "data-control": `at-${dimension}`, input: () => go(Number(slider.value)) });
    const field = h("input", { type: "text", class: "coordinate", "aria-label": `Go to ${axis.name}`, spellcheck: "false", autocomplete: "off" });
    const type = (): void => {
      const found = find(axis, field.value);
      field.classList.toggle("wrong", found === null);
      if (found === null) return void (field.title = `'${field.value}' is not a coordinate of ${axis.name}: type one such as ${told(axis, last)}, or # and an index`);
      go(found, false);
      field.value = told(axis, found);
    };
    field.addEventListener("change", type);
    field.addEventListener("focus", () => field.select());
    field.addEventListener("keydown", (event) => event.key === "Enter" && type());
    const button = (label: string, name: string, act: () => void): HTMLElement => h("button", { type: "button", class: "icon", "aria-label": name, title: name, click: act }, label);
    const by = (event: MouseEvent, step: number): void => go(now() + step * (event.shiftKey ? 10 : 1));
    const back = h("button", { type: "button", class: "icon", "aria-label": `Previous ${axis.name}`, title: `Previous ${axis.name} (,)`, click: (event: MouseEvent) => by(event, -1) }, "◀");
    const on = h("button", { type: "button", class: "icon", "aria-label": `Next ${axis.name}`, title: `Next ${axis.name} (.)`, click: (event: MouseEvent) => by(event, 1) }, "▶");
    const play = button("▷", `Play ${axis.name}`, () => this.play(shown, dimension));
    play.dataset["plays"] = String(dimension);
    const rate = choice(`Pictures in a second along ${axis.name}`, RATES.map((word) => [word, `${word}/s`] as const), String(this.rate), (word) => this.setRate(Number(word), shown));
    const place = h("output", { class: "place" });
    const element = h("div", { class: "dimension", wheel: (event: WheelEvent) => { event.preventDefault(); go(now() + Math.sign(event.deltaY)); } },
      h("span", { class: "name", title: axis.name }, axis.name), h("div", { class: axis.times ? "track" : "track plain" }, slider, trackTicks(axis)), back, on, play, rate, this.statistic(shown, dimension, kind, isReduced) ?? h("span", { class: kind === "image" ? "statistic" : "" }), field, place);
    if (isReduced) for (const control of [slider, back, on, play, rate, field]) control.setAttribute("disabled", "");
    element.addEventListener("step", (event) => go(now() + (event as CustomEvent<number>).detail));
    const move = (at: number): void => {
      if (Number(slider.value) !== at) slider.value = String(at);
      const text = told(axis, at);
      slider.setAttribute("aria-valuetext", `${text}, ${at + 1} of ${axis.length}`);
      if (isReduced) [place.textContent, place.title] = [`all ${count(axis.length)}`, ""];
      else place.textContent = `${count(at + 1)} / ${count(axis.length)}`;
      if (!isReduced) place.title = `index ${at}`;
      if (document.activeElement === field) return;
      field.value = text;
      field.classList.remove("wrong");
    };
    return { element, move };
  }

  // Playing.

  private setRate(rate: number, shown: Shown): void {
    this.rate = rate;
    const dimension = this.playing?.dimension;
    if (dimension === undefined) return;
    this.stop();
    this.play(shown, dimension);
  }

  /** Advances along a dimension until it is stopped; the first index follows the last one. */
  play(shown: Shown, dimension: number): void {
    const was = this.playing?.dimension;
    this.stop();
    if (was === dimension) return;
    const after = (steps: number): Partial<State> => {
      const at = (index(shown, this.store.state, dimension) + steps) % shown.shape[dimension]!;
      return { at: { ...this.store.state.at, [dimension]: at } };
    };
    const timer = setInterval(() => {
      if (this.isBusy()) return;
      this.store.change({ ...after(1), ...this.kept() }, true);
      for (const steps of [1, 2]) this.prefetch({ ...this.store.state, ...after(steps) });
    }, 1000 / this.rate) as unknown as number;
    this.playing = { timer, dimension };
    this.showPlaying();
  }

  stop(): void {
    clearInterval(this.playing?.timer);
    this.playing = null;
    this.showPlaying();
  }

  private showPlaying(): void {
    for (const button of this.element.querySelectorAll<HTMLElement>("[data-plays]")) {
      const plays = button.dataset["plays"] === String(this.playing?.dimension);
      button.textContent = plays ? "⏸" : "▷";
      button.setAttribute("aria-pressed", String(plays));
    }
  }
}

/** Returns the months or years below a slider of times. */
function trackTicks(axis: Axis): HTMLElement {
  const element = h("div", { class: "ticks", "aria-hidden": "true" });
  const place = axis.times && axis.at && axis.length > 2 ? placing(axis) : null;
  if (!place) return element;
  const [low, high] = [axis.at!(0), axis.at!(axis.length - 1)].sort((a, b) => a - b) as [number, number];
  let free = -1;
  for (const [value, text] of timeTicks(axis.times!, low, high, 6)) {
    const part = (100 * place(value)) / (axis.length - 1);
    if (part < free || part > 95) continue;
    free = part + 11;
    element.append(h("span", { style: `left: ${part}%` }, text));
  }
  return element;
}
