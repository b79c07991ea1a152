/** Images in several sizes: OME-Zarr 0.4 and 0.5, and the multiscales convention. */

import { call, type ArrayNode, type Json, type NodeInfo, type Place } from "./api";
import { even, type Axis } from "./coordinates";
import type { Channel } from "./model";
import { rgb } from "./rgb";

/** One size of an image. */
export interface Level {
  path: string;
  node: ArrayNode;
  /** The number of elements of the largest level per element of this level, along each dimension. */
  factors: number[];
}

export const object = (json: Json | undefined): { [name: string]: Json } | null =>
  json !== null && typeof json === "object" && !Array.isArray(json) ? json : null;

/** Returns the first image that a group's attributes describe. */
function multiscale(attributes: NodeInfo["attributes"]): { [name: string]: Json } | null {
  const all = object(attributes["ome"])?.["multiscales"] ?? attributes["multiscales"];
  return Array.isArray(all) ? object(all[0]) : object(all);
}

function datasets(attributes: NodeInfo["attributes"]): { [name: string]: Json }[] {
  const first = multiscale(attributes);
  const listed = first?.["datasets"] ?? first?.["layout"];
  return Array.isArray(listed) ? listed.map(object).filter((one) => one !== null) : [];
}

/** Returns the paths of the levels in a group's attributes, the largest level first. */
export function listed(attributes: NodeInfo["attributes"]): string[] {
  return datasets(attributes).map((dataset) => dataset["path"] ?? dataset["asset"]).filter((path): path is string => typeof path === "string");
}

/** Returns the axes of an image from its metadata: their names, and coordinates if there is a unit. */
export function imageAxes(attributes: NodeInfo["attributes"], axes: Axis[]): Axis[] {
  const described = multiscale(attributes)?.["axes"];
  if (!Array.isArray(described)) return axes;
  const transforms = [multiscale(attributes)?.["coordinateTransformations"], datasets(attributes)[0]?.["coordinateTransformations"]].flatMap((list) => (Array.isArray(list) ? list.map(object) : []));
  const numbers = (kind: string, dimension: number, join: (a: number, b: number) => number, start: number): number =>
    transforms.filter((one) => one?.["type"] === kind).reduce((product, one) => {
      const list = one?.[kind];
      const number = Array.isArray(list) ? list[dimension] : undefined;
      return typeof number === "number" ? join(product, number) : product;
    }, start);
  return axes.map((axis, dimension) => {
    const one = described[dimension];
    const name = typeof one === "string" ? one : String(object(one)?.["name"] ?? axis.name);
    const unit = object(one)?.["unit"];
    if (axis.at || axis.isKnown) return axis;
    const named = { ...axis, name };
    if (typeof unit !== "string") return named;
    const scale = numbers("scale", dimension, (a, b) => a * b, 1);
    return even(named, scale === 0 ? 1 : scale, numbers("translation", dimension, (a, b) => a + b, 0), unit);
  });
}

/** Returns the levels of an image, the largest first. Levels that cannot be read are omitted. */
export async function levels(place: Place, group: NodeInfo): Promise<Level[]> {
  const nodes = await Promise.all(
    listed(group.attributes).map((path) => {
      const full = [place.path, path].filter((part) => part !== "").join("/");
      return call<NodeInfo | null>("node", { root: place.root, path: full }, { stored: "none", optional: true }).catch(() => null);
    }),
  );
  const arrays = nodes.filter((node): node is ArrayNode => node?.kind === "array");
  const base = arrays[0]?.shape;
  if (!base) return [];
  return arrays
    .filter((node) => node.shape.length === base.length)
    .map((node) => ({
      path: node.path,
      node,
      factors: base.map((length, dimension) => Math.max(1, length / Math.max(1, node.shape[dimension]!))),
    }));
}

/** Returns the smallest level that still has an element for each pixel. */
export function fitting(all: Level[], dimension: number, perPixel: number): Level {
  const enough = all.filter((level) => level.factors[dimension]! <= perPixel * 1.01);
  return enough[enough.length - 1] ?? all[0]!;
}

function omero(group: NodeInfo): { [name: string]: Json } | null {
  return object(object(group.attributes["ome"])?.["omero"] ?? group.attributes["omero"]);
}

/** Returns the channels in OME's metadata, or this number of channels without names. */
export function channelsOf(group: NodeInfo, length: number): Channel[] {
  const described = omero(group)?.["channels"];
  const usual: [number, number, number][] = [[0, 255, 0], [255, 0, 255], [0, 255, 255], [255, 255, 0], [255, 80, 80], [90, 140, 255]];
  return Array.from({ length: Math.min(length, 64) }, (_, number) => {
    const said = object(Array.isArray(described) ? described[number] : undefined);
    const colour = /^#?([0-9a-f]{6})$/i.exec(String(said?.["color"] ?? ""))?.[1];
    const window = object(said?.["window"]);
    const [start, end] = [window?.["start"], window?.["end"]];
    return {
      label: String(said?.["label"] ?? `channel ${number}`),
      colour: colour ? rgb(colour) : length === 1 ? [255, 255, 255] : usual[number % usual.length]!,
      range: typeof start === "number" && typeof end === "number" && end > start ? [start, end] : null,
      visible: said ? said["active"] !== false : number < 4,
    };
  });
}

/** Returns the initial indices of depth and time in OME's metadata. */
export function starts(group: NodeInfo, axes: Axis[]): Record<number, number> {
  const defaults = object(omero(group)?.["rdefs"]);
  const found: Record<number, number> = {};
  for (const [name, member] of [["z", "defaultZ"], ["t", "defaultT"]] as const) {
    const [dimension, at] = [axes.findIndex((axis) => axis.name === name), defaults?.[member]];
    if (dimension >= 0 && typeof at === "number" && Number.isInteger(at) && at >= 0) found[dimension] = at;
  }
  return found;
}
