/** Curvilinear coordinates: longitudes and latitudes in arrays of two dimensions, which the attribute `coordinates` names. */

import { call, slice, type ArrayNode, type NodeInfo, type Place } from "./api";
import { dimensionNames, meaning, sphereKind } from "./coordinates";
import type { Picture } from "../image/picture";
import type { Places } from "../image/warp";

export interface Curved {
  /** The dimensions of the array along the columns and the rows of the coordinates. */
  x: number;
  y: number;
  longitude: ArrayNode;
  latitude: ArrayNode;
  root: string;
  /** Some of the coordinates. */
  longitudes: number[];
  latitudes: number[];
}

/** The number of samples along each dimension. */
const SAMPLES = 33;

/** Returns the curvilinear coordinates of an array; `null` if there are none. */
export async function curvedOf(place: Place, node: ArrayNode): Promise<Curved | null> {
  const listed = node.attributes["coordinates"];
  if (typeof listed !== "string" || node.shape.length < 2) return null;
  const above = place.path.split("/").slice(0, -1);
  const found = await Promise.all(
    listed.split(/\s+/).filter(Boolean).slice(0, 12).map((name) =>
      call<NodeInfo | null>("node", { root: place.root, path: [...above, name].join("/") }, { stored: "none", optional: true }).catch(() => null)),
  );
  const names = dimensionNames(node);
  const of = (kind: "longitude" | "latitude"): ArrayNode | undefined =>
    found.find((one): one is ArrayNode => one?.kind === "array" && one.shape.length === 2 && sphereKind(one.name, one.attributes) === kind);
  const [longitude, latitude] = [of("longitude"), of("latitude")];
  if (!longitude || !latitude) return null;
  const [y = -1, x = -1] = dimensionNames(longitude).map((name) => (name === null ? -1 : names.indexOf(name)));
  const isSame = dimensionNames(latitude).join() === dimensionNames(longitude).join();
  if (!isSame || x <= y || y < 0 || longitude.shape[0] !== node.shape[y] || longitude.shape[1] !== node.shape[x] || latitude.shape.join() !== longitude.shape.join()) return null;
  const steps = longitude.shape.map((length) => Math.max(1, Math.floor(length / SAMPLES)));
  const curved = { x, y, longitude, latitude, root: place.root, longitudes: [], latitudes: [] };
  const places = await read(curved, longitude.shape.map((length, side) => `0:${length}:${steps[side]}`).join(", "));
  const isKnown = [...places.longitude].map((one, at) => !Number.isNaN(one) && !Number.isNaN(places.latitude[at]!));
  const [longitudes, latitudes] = [places.longitude, places.latitude].map((all) => [...all].filter((_, at) => isKnown[at]));
  return longitudes!.length > 1 ? { ...curved, longitudes: longitudes!, latitudes: latitudes! } : null;
}

async function read({ root, longitude, latitude }: Curved, select: string, signal?: AbortSignal): Promise<Places> {
  const of = async (node: ArrayNode, most: number): Promise<Float64Array> => {
    const { values } = await slice({ root, path: node.path }, { select }, signal);
    const { of } = meaning(node);
    return values.map((value) => (Math.abs(of(value)) <= most ? of(value) : NaN));
  };
  const [longitudes, latitudes] = await Promise.all([of(longitude, 1080), of(latitude, 90.001)]);
  return { longitude: longitudes, latitude: latitudes };
}

/** The places of pictures by their geometry, so that slices share them. */
const known = new Map<string, Places>();

/** Returns the places of a picture's elements. */
export async function placesOf(curved: Curved, { x, y, stepX, stepY, columns, rows }: Picture, signal: AbortSignal): Promise<Places> {
  const span = (first: number, step: number, count: number, length: number): string => `${first}:${Math.min(length, first + step * count)}:${step}`;
  const [tall, wide] = curved.longitude.shape;
  const select = `${span(y, stepY, rows, tall!)}, ${span(x, stepX, columns, wide!)}`;
  const key = `${curved.root}/${curved.longitude.path} ${select}`;
  const found = known.get(key) ?? (await read(curved, select, signal));
  known.delete(key);
  known.set(key, found);
  for (const old of known.keys()) if (known.size > 4) known.delete(old);
  return found;
}
