/** Images in several sizes: OME-Zarr 0.4 and 0.5, and the multiscales convention. */

import { call, type ArrayNode, type Json, type NodeInfo, type Place } from "./api";

/** One size of an image. */
export interface Level {
  path: string;
  node: ArrayNode;
  /** The elements of the largest level for each element, along each dimension. */
  factors: number[];
}

interface Dataset {
  path: string;
}

export const object = (json: Json | undefined): { [name: string]: Json } | null =>
  json !== null && typeof json === "object" && !Array.isArray(json) ? json : null;

/** The paths of the levels that a group's attributes list, the largest first. */
export function listed(attributes: NodeInfo["attributes"]): string[] {
  const all = object(attributes["ome"])?.["multiscales"] ?? attributes["multiscales"];
  const first = Array.isArray(all) ? object(all[0]) : object(all);
  const datasets = first?.["datasets"] ?? first?.["layout"];
  if (!Array.isArray(datasets)) return [];
  return datasets
    .map((dataset) => object(dataset))
    .map((dataset) => (dataset as unknown as Dataset | null)?.path ?? (dataset?.["asset"] as string | undefined))
    .filter((path): path is string => typeof path === "string");
}

/** The names of the axes of an image. */
export function axisNames(attributes: NodeInfo["attributes"]): string[] {
  const all = object(attributes["ome"])?.["multiscales"] ?? attributes["multiscales"];
  const axes = Array.isArray(all) ? object(all[0])?.["axes"] : undefined;
  if (!Array.isArray(axes)) return [];
  return axes.map((axis) => (typeof axis === "string" ? axis : String(object(axis)?.["name"] ?? "")));
}

/** The levels of an image, the largest first. Levels that cannot be read are left out. */
export async function levels(place: Place, group: NodeInfo): Promise<Level[]> {
  const paths = listed(group.attributes);
  const nodes = await Promise.all(
    paths.map((path) => {
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

/** The smallest level that still has an element for each pixel. */
export function fitting(all: Level[], dimension: number, perPixel: number): Level {
  const enough = all.filter((level) => level.factors[dimension]! <= perPixel * 1.01);
  return enough[enough.length - 1] ?? all[0]!;
}
