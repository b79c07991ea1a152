/** The heading of a view: a description of the values, and the shown slice. */

import { told } from "../data/coordinates";
import { fill, h } from "../dom";
import { index, reducedOf, rest, valueUnits, type Shown } from "../data/model";
import { count } from "../data/numbers";
import type { State, Statistic } from "../data/state";

/** Returns the title of an array: a description of its values, and their unit. */
export function titleOf(shown: Shown, state: State): { name: string; units: string } {
  return { name: state.field ? `${shown.title}: ${state.field}` : shown.title, units: valueUnits(shown, state) };
}

const STATISTIC: Record<Statistic, string> = { mean: "mean", min: "minimum", max: "maximum", std: "standard deviation" };

/** Returns the coordinates of the shown slice as text. */
export function sliceOf(shown: Shown, state: State, view: string): string[] {
  return rest(shown, state, view).map((dimension) => {
    const axis = shown.axes[dimension]!;
    if (state.statistic !== "" && dimension === reducedOf(shown, state, view)) return `${STATISTIC[state.statistic]} over ${axis.name} (${count(axis.length)})`;
    const at = index(shown, state, dimension);
    return axis.times ? told(axis, at) : `${axis.name} ${told(axis, at)}`;
  });
}

export class Heading {
  readonly element = h("div", { class: "heading" });
  private readonly sub = h("p", { class: "sub" });
  private key = "";

  /** Shows a title, and details of the shown values. */
  show(shown: Shown, state: State, details: string[]): void {
    const { name, units } = titleOf(shown, state);
    const text = details.filter(Boolean).join(" · ");
    if (text !== this.sub.title) [this.sub.textContent, this.sub.title] = [text, text];
    const key = `${name} (${units})`;
    if (key === this.key) return;
    this.key = key;
    fill(this.element, h("h2", {}, name, units ? h("small", {}, ` (${units})`) : null), this.sub);
  }
}
