/** Opening a node to show it. */

import { call, type ArrayNode, type NodeInfo, type Place } from "./api";
import { axes, meaning } from "./coordinates";
import { curvedOf } from "./curved";
import { labelsOf } from "./labels";
import type { Shown } from "./model";
import { channelsOf, imageAxes, levels, listed, starts } from "./ome";

/** Requests a node; `null` if it does not exist. */
export function nodeAt(place: Place): Promise<NodeInfo | null> {
  return call<NodeInfo | null>("node", place, { optional: true, stored: "none", coordinates: true });
}

/** Returns the shown array of a node; `null` for a group that is not an image, and for an array that cannot be read. */
export async function open(place: Place, node: NodeInfo): Promise<Shown | null> {
  return node.kind === "array" ? array(place, node) : image(place, node);
}

async function array(place: Place, node: ArrayNode): Promise<Shown | null> {
  if (node.unreadable) return null;
  const { shape, attributes } = node;
  const [known, curved] = await Promise.all([axes(place, node), curvedOf(place, node).catch(() => null)]);
  const last = shape.length - 1;
  const isColoured = /^(c|channel|band|rgb|rgba|s|sample)?$/i.test(known[last]?.at ? "x" : (known[last]?.isKnown || known[last]?.name.startsWith("dimension ") ? "" : (known[last]?.name ?? "")));
  const colours = shape.length >= 3 && [3, 4].includes(shape[last]!) && node.data_type.name === "uint8" && isColoured ? last : -1;
  const level = { path: place.path, node, factors: shape.map(() => 1) };
  const named = attributes["long_name"] ?? attributes["standard_name"];
  const title = typeof named === "string" && named !== "" ? named : node.name || place.root;
  return { place, node, shape, axes: known, meaning: meaning(node), title, levels: [level], colours, channels: [], channelDimension: -1, labels: [], starts: {}, curved };
}

/** Returns an image in several sizes; `null` for a group that is not an image. */
async function image(place: Place, group: NodeInfo): Promise<Shown | null> {
  if (listed(group.attributes).length === 0) return null;
  const all = await levels(place, group);
  const [first] = all;
  if (!first) return null;
  const [shown, labels] = await Promise.all([array({ root: place.root, path: first.path }, first.node), labelsOf(place)]);
  if (!shown) return null;
  const known = imageAxes(group.attributes, shown.axes);
  const dimension = known.findIndex((axis) => axis.name === "c");
  const channels = dimension >= 0 ? channelsOf(group, shown.shape[dimension]!) : [];
  return { ...shown, title: group.name || place.root, axes: known, levels: all, channels, channelDimension: channels.length > 0 ? dimension : -1, labels, starts: starts(group, known) };
}
