/** The value under the pointer, in a tooltip. */

import type { Times } from "../data/calendar";
import { degrees, told } from "../data/coordinates";
import { fill, h } from "../dom";
import type { Layer } from "./figure";
import { placeOf } from "./mapper";
import { isNumeric, sides, valueTimes, valueUnits, type Shown } from "../data/model";
import { count, exact } from "../data/numbers";
import type { State } from "../data/state";

/** Returns a number of the shown array with all its digits; times are dates. */
export function valueText(shown: Shown, times: Times | null, value: number | bigint): string {
  if (typeof value === "number" && Number.isNaN(value)) return "missing";
  if (times) return times.text(Number(value));
  const { bytes, kind } = shown.node.data_type;
  const isSingle = shown.meaning.isPlain && kind === "float" && isNumeric(shown.node);
  return exact(value, isSingle ? bytes : kind === "complex" ? bytes / 2 : 8);
}

/** Returns the values of an element of the image from the newest layer that contains it; empty if it is not loaded. */
export function valuesAt(shown: Shown, layers: Layer[], visible: number[], [x, y]: [number, number]): string[] {
  for (const layer of [...layers].reverse()) {
    const [dx, dy] = sides(shown, layer.state);
    const column = Math.floor((x / (layer.level.factors[dx] ?? 1) - layer.x) / layer.stepX);
    const row = Math.floor((y / (layer.level.factors[dy] ?? 1) - layer.y) / layer.stepY);
    const has = (tile: { column: number; row: number; columns: number; rows: number }): boolean =>
      column >= tile.column && row >= tile.row && column < tile.column + tile.columns && row < tile.row + tile.rows;
    if (layer.damaged.some(has)) return ["damaged chunk"];
    if (!layer.tiles.some(has)) continue;
    const at = row * layer.columns + column;
    const isCoarse = layer.stepX > 1 || layer.stepY > 1 || (layer.level.factors[dx] ?? 1) > 1;
    const about = isCoarse ? "≈ " : "";
    if (layer.bytes) {
      const parts = layer.bytes.length / (layer.columns * layer.rows);
      return [`${about}${[...layer.bytes.slice(at * parts, at * parts + parts)].map((part, colour) => `${"RGBA"[colour]} ${part}`).join("  ")}`];
    }
    const [times, units] = [valueTimes(shown, layer.state), valueUnits(shown, layer.state)];
    return layer.planes.map((plane, number) => {
      const channel = shown.channels[visible[number] ?? -1];
      const value = valueText(shown, times, layer.whole[number]?.[at] ?? plane[at]!);
      return `${channel ? `${channel.label} ` : ""}${about}${value}${value !== "missing" && units ? ` ${units}` : ""}`;
    });
  }
  return [];
}

/** Returns the coordinates of an element of the image, and its indices if they differ. */
export function placeText(shown: Shown, state: State, [x, y]: [number, number], layer: Layer): string {
  const [dx, dy] = sides(shown, state);
  const coordinate = (dimension: number, at: number): string => {
    const axis = shown.axes[dimension]!;
    const isMap = axis.kind === "longitude" || axis.kind === "latitude";
    return `${isMap || axis.times ? "" : `${axis.name} `}${axis.isKnown ? told(axis, at) : count(at)}`;
  };
  const all = [dy, dx].filter((dimension) => dimension >= 0).map((dimension) => coordinate(dimension, dimension === dx ? x : y));
  const place = placeOf(layer, x, y);
  if (place) return `${degrees(place[1], "latitude", 6)}  ${degrees(place[0], "longitude", 6)}  [${y}, ${x}]`;
  const isKnown = [dx, dy].some((dimension) => shown.axes[dimension]?.isKnown);
  return isKnown ? `${all.join("  ")}  [${dy >= 0 ? `${y}, ` : ""}${x}]` : all.join("  ");
}

/** A tooltip beside the pointer. */
export class Tag {
  readonly element = h("output", { class: "tag", "aria-live": "polite", hidden: true });

  show(x: number, y: number, values: string[], place: string, label: string): void {
    fill(this.element, ...values.map((value) => h("strong", {}, value)), h("span", {}, place), label ? h("span", {}, label) : null);
    this.element.hidden = false;
    const parent = this.element.parentElement;
    if (!parent) return;
    const [width, height] = [this.element.offsetWidth, this.element.offsetHeight];
    // The tooltip is on the side of the pointer that has more space.
    const left = x + 16 + width > parent.clientWidth ? x - width - 12 : x + 16;
    const top = y + 16 + height > parent.clientHeight ? y - height - 12 : y + 16;
    this.element.style.left = `${Math.max(2, left)}px`;
    this.element.style.top = `${Math.max(2, top)}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
