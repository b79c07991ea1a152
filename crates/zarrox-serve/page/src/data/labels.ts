/** The labels of an OME-Zarr image: each element has an integer, and each integer has a colour. */

import { call, slice, type Json, type NodeInfo, type Place } from "./api";
import { index, reducedOf, sides, type Label, type Shown } from "./model";
import { fitting, levels, object } from "./ome";
import type { State } from "./state";

/** The maximum number of labels that are searched. */
const MOST = 20;

/** Returns the labels below an image, in the order of its list. Labels that cannot be read are omitted. */
export async function labelsOf(place: Place): Promise<Label[]> {
  const below = (...names: string[]): Place => ({ root: place.root, path: [place.path, "labels", ...names].filter((part) => part !== "").join("/") });
  const list = await call<NodeInfo | null>("node", below(), { stored: "none", optional: true }).catch(() => null);
  const names: Json | undefined = object(list?.attributes["ome"])?.["labels"] ?? list?.attributes["labels"];
  if (!Array.isArray(names)) return [];
  const known = names.filter((name): name is string => typeof name === "string").slice(0, MOST);
  const found = await Promise.all(
    known.map(async (name) => {
      const group = await call<NodeInfo>("node", below(name), { stored: "none" });
      return { name, levels: await levels(below(name), group), colours: coloursOf(group) };
    }).map((label) => label.catch(() => null)),
  );
  return found.filter((label): label is Label => label !== null && label.levels.length > 0);
}

/** Returns the colours of labels in the metadata. */
function coloursOf(group: NodeInfo): Label["colours"] {
  const found: Label["colours"] = new Map();
  const listed = object(object(group.attributes["ome"])?.["image-label"] ?? group.attributes["image-label"])?.["colors"];
  for (const one of Array.isArray(listed) ? listed : []) {
    const [value, rgba] = [object(one)?.["label-value"], object(one)?.["rgba"]];
    if (typeof value === "number" && Array.isArray(rgba) && rgba.length >= 3) found.set(value, rgba.slice(0, 3).map(Number) as [number, number, number]);
  }
  return found;
}

/** Returns the shown labels; `null` if none are shown. */
export function chosen(shown: Shown, state: State): Label | null {
  if (state.opacity === 0) return null;
  return shown.labels.find((label) => label.name === state.label) ?? shown.labels[0] ?? null;
}

/** A picture of labels, and the elements of the image that it covers: left, top, right and bottom. */
export interface Overlay {
  canvas: HTMLCanvasElement;
  box: [number, number, number, number];
  /** Returns the label of an element of the image; 0 for no label. */
  at: (x: number, y: number) => number;
}

/** Reads labels over a part of an image. A pixel of the screen shows `per` elements across and down. */
export async function overlay(shown: Shown, state: State, box: number[], per: [number, number], signal: AbortSignal): Promise<Overlay | null> {
  const label = chosen(shown, state);
  const [x, y] = sides(shown, state);
  const ndim = label?.levels[0]?.node.shape.length ?? 0;
  // Labels may have no dimension for channels.
  const kept = shown.shape.map((_, dimension) => dimension).filter((dimension) => ndim === shown.shape.length || dimension !== shown.channelDimension);
  if (!label || y < 0 || kept.length !== ndim || !kept.includes(x) || !kept.includes(y)) return null;
  const level = fitting(label.levels, kept.indexOf(x), Math.max(1, per[0]));
  const lengths = level.node.shape;
  const spans: Record<number, [number, number, number]> = {};
  // A projection has the largest label along the dimension.
  const reduced = reducedOf(shown, state, "image");
  const select = kept.map((dimension, at) => {
    if (dimension === reduced) return ":";
    const length = Math.max(1, lengths[at]!);
    const factor = Math.max(1, shown.shape[dimension]!) / length;
    const side: number = dimension === x ? 0 : dimension === y ? 1 : -1;
    if (side < 0) return String(Math.min(length - 1, Math.floor(index(shown, state, dimension) / factor)));
    const first = Math.max(0, Math.min(length - 1, Math.floor(box[side]! / factor)));
    const end = Math.max(first + 1, Math.min(length, Math.ceil(box[side + 2]! / factor)));
    const step = Math.max(1, Math.floor(per[side]! / factor));
    spans[side] = [first * factor, (first + Math.ceil((end - first) / step) * step) * factor, Math.ceil((end - first) / step)];
    return `${first}:${end}:${step}`;
  });
  const { values } = await slice({ root: shown.place.root, path: level.path }, { select: select.join(", "), ...(kept.includes(reduced) ? { reduce: "max", step: select.map((item, at) => (item === ":" ? Math.max(1, lengths[at]!) : item.includes(":") ? 1 : "")).filter((step) => step !== "").join(",") } : {}) }, signal);
  const [[left, right, columns], [top, bottom, rows]] = [spans[0]!, spans[1]!];
  if (values.length !== columns * rows) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const pixels = new Uint8ClampedArray(new ArrayBuffer(columns * rows * 4));
  for (let at = 0; at < values.length; at++) {
    const value = x > y ? values[at]! : values[(at % columns) * rows + Math.floor(at / columns)]!;
    if (value !== 0) pixels.set([...(label.colours.get(value) ?? colour(value)), 255], at * 4);
  }
  canvas.getContext("2d")?.putImageData(new ImageData(pixels, columns, rows), 0, 0);
  const valueAt = (column: number, row: number): number => {
    const [u, v] = [Math.floor(((column - left) / (right - left)) * columns), Math.floor(((row - top) / (bottom - top)) * rows)];
    if (u < 0 || v < 0 || u >= columns || v >= rows) return 0;
    return values[x > y ? v * columns + u : u * rows + v] ?? 0;
  };
  return { canvas, box: [left, top, right, bottom], at: valueAt };
}

/** Returns a bright colour for a label. Multiples of the golden ratio keep the hues of successive labels far apart. */
export function colour(label: number): [number, number, number] {
  const hue = ((((label * 0.618034) % 1) + 1) % 1) * 6;
  const part = (shift: number): number => Math.round(255 * Math.max(0, Math.min(1, Math.abs(((hue + shift) % 6) - 3) - 1)));
  return [part(0), part(4), part(2)];
}
