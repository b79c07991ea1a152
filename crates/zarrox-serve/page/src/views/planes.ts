/** Three orthogonal planes of an array through a point: the image, and the two planes across it. A click moves the point. */

import { told } from "../data/coordinates";
import { fill, h } from "../dom";
import { ImageView, type Around } from "../image/image";
import type { Maps } from "../image/colours";
import { index, sides, thirds, type Shown } from "../data/model";
import type { State, Store } from "../data/state";

/** Returns the changes that show three planes through the middle of the visible part. A slice that was chosen stays. */
export function crossed(shown: Shown, state: State, third: number): Partial<State> {
  const [x, y] = sides(shown, state);
  const middle = (side: 0 | 1, dimension: number): number => {
    const [from, to] = state.box.length === 4 ? [state.box[side]!, state.box[side + 2]!] : [0, shown.shape[dimension]!];
    return Math.max(0, Math.min(shown.shape[dimension]! - 1, Math.floor((from + to) / 2)));
  };
  const depth = state.at[third] ?? shown.starts[third] ?? shown.shape[third]! >> 1;
  return { planes: third, compare: "", others: [], points: [], at: { ...state.at, [x]: middle(0, x), [y]: middle(1, y), [third]: depth } };
}

export class Planes {
  private readonly views: ImageView[];
  private readonly point = h("section", { class: "point", "aria-label": "Point", tabindex: 0 });
  /** The shown part of the third dimension; empty for all of it. */
  private depth: number[] = [];

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    maps: Maps,
    around: Around,
    private readonly image: ImageView,
    readonly third: number,
  ) {
    this.views = ([0, 1] as const).map((side) => this.made(side, maps, around));
  }

  get elements(): HTMLElement[] {
    return [...this.views.map((view) => view.element), this.point];
  }

  close(): void {
    for (const view of this.views) view.close();
  }

  /** Moves the point to an element of the image. */
  static move(shown: Shown, state: State, row: number, column: number): Partial<State> {
    const [x, y] = sides(shown, state);
    return { at: { ...state.at, [x]: column, [y]: row } };
  }

  /** Shows another state. */
  update(): void {
    this.views.forEach((view, side) => view.update(this.state(side as 0 | 1)));
    this.tell();
  }

  /** Shows the coordinates and the values of the point. */
  tell(): void {
    const { state } = this.store;
    const [x, y] = sides(this.shown, state);
    const at = (dimension: number): number => index(this.shown, state, dimension);
    const values = this.image.valuesAt([at(x), at(y)]);
    const places = [x, y, this.third].flatMap((dimension) => {
      const axis = this.shown.axes[dimension]!;
      return [h("dt", {}, axis.name), h("dd", {}, axis.isKnown ? `${told(axis, at(dimension))} [${at(dimension)}]` : told(axis, at(dimension)))];
    });
    fill(this.point, h("h2", {}, "Point"), h("p", {}, ...values.map((value) => h("strong", {}, value))), h("dl", {}, ...places), h("p", { class: "note" }, "Click a plane to move the point."));
  }

  /** Returns the state of a plane: below the image with its x axis (0), or beside it with its y axis (1). */
  private state(side: 0 | 1): State {
    const { state } = this.store;
    const [x, y] = sides(this.shown, state);
    const [from, to] = this.depth.length === 2 ? this.depth : [0, this.shown.shape[this.third]!];
    const hasBox = state.box.length === 4 || this.depth.length === 2;
    const [left, top, right, bottom] = state.box.length === 4 ? state.box : [0, 0, this.shown.shape[x]!, this.shown.shape[y]!];
    const [box, axes] = side === 0 ? [[left!, from!, right!, to!], { x, y: this.third }] : [[from!, top!, to!, bottom!], { x: this.third, y }];
    return { ...state, ...axes, ...this.image.fixed(), box: hasBox ? box : [], points: [] };
  }

  private made(side: 0 | 1, maps: Maps, around: Around): ImageView {
    const state = (): State => this.state(side);
    const change = ({ box }: Partial<State>, quietly = false): void => {
      if (!box) return;
      const { state } = this.store;
      this.depth = box.length === 4 ? (side === 0 ? [box[1]!, box[3]!] : [box[0]!, box[2]!]) : [];
      const [x, y] = sides(this.shown, state);
      const [left, top, right, bottom] = state.box.length === 4 ? state.box : [0, 0, this.shown.shape[x]!, this.shown.shape[y]!];
      const next = side === 0 ? [box[0]!, top!, box[2]!, bottom!] : [left!, box[1]!, right!, box[3]!];
      this.store.change({ box: box.length === 4 ? next : [] }, quietly);
      this.update();
    };
    const pin = (row: number, column: number): void => {
      const [x, y] = sides(this.shown, this.store.state);
      const [across, down] = side === 0 ? [x, this.third] : [this.third, y];
      this.store.change({ at: { ...this.store.state.at, [across]: column, [down]: row } });
    };
    const [x, y] = sides(this.shown, this.store.state).map((dimension) => this.shown.axes[dimension]?.name);
    const depth = this.shown.axes[this.third]!.name;
    const shown = { ...this.shown, title: side === 0 ? `${x} – ${depth}` : `${depth} – ${y}` };
    const linked = { get state() { return state(); }, change };
    return new ImageView(shown, linked, maps, { ...around, pin, changed: () => undefined, isPart: true });
  }
}

/** Returns the choices of the third dimension, with their names. */
export function thirdChoices(shown: Shown, state: State): [string, string][] {
  return [["-1", "off"], ...thirds(shown, state).map((dimension): [string, string] => [String(dimension), `along ${shown.axes[dimension]!.name}`])];
}
