/** A group or a directory as a card that lists its content, as xarray shows a dataset. */

import { address, call, type ArrayNode, type Entry, type Json, type NodeInfo, type Page, type Place } from "../data/api";
import { dimensionNames, timesOf } from "../data/coordinates";
import { fill, h, type Child } from "../dom";
import { numberOf, type Exact } from "../data/exact";
import { told } from "./message";
import { object } from "../data/ome";
import { count, exact, short, unit } from "../data/numbers";
import { fresh, type Store } from "../data/state";

/** The maximum number of nodes in a card. */
const MOST = 100;
/** The size of a thumbnail, and the maximum number of chunks and bytes that are decoded for one. */
const [WIDTH, HEIGHT, CHUNKS, BYTES] = [64, 48, 64, 64 << 20];

const text = (json: Json | undefined): string => (typeof json === "string" ? json : "");
const below = (place: Place, name: string): Place => ({ root: place.root, path: [place.path, name].filter(Boolean).join("/") });

/** Shows the content of a location. `node` is `null` if the location is not a node. */
export async function overview(element: HTMLElement, store: Store, place: Place, node: NodeInfo | null, isShown: () => boolean): Promise<void> {
  const card = h("article", { class: "card" }, h("h2", {}, text(node?.attributes["title"]) || place.path.split("/").pop() || place.root));
  fill(element, card);
  let page: Page;
  try {
    page = await call<Page>("tree", place, { limit: MOST });
  } catch (error) {
    if (isShown()) card.append(...unlisted(store, place, node, error));
    return;
  }
  if (!isShown()) return;
  const arrays = page.children.filter((child) => child.kind === "array");
  const others = page.children.filter((child) => child.kind !== "array");
  const nodes = await Promise.all(arrays.map((child) => call<NodeInfo>("node", below(place, child.name), { stored: "none" }).catch(() => null)));
  if (!isShown()) return;
  const known = nodes.filter((one): one is ArrayNode => one?.kind === "array");
  const isCoordinate = (one: ArrayNode): boolean => one.shape.length === 1 && dimensionNames(one)[0] === one.name;
  const named = new Set(known.flatMap((one) => text(one.attributes["coordinates"]).split(/\s+/)));
  const coordinates = known.filter((one) => isCoordinate(one) || named.has(one.name));
  const data = known.filter((one) => !coordinates.includes(one));
  const go = (name: string): void => store.change(fresh(below(place, name)));
  card.append(
    h("p", { class: "note" }, summary(page, node)),
    ...leftOut(node),
    ...plate(place, node, go),
    ...(known.length > 0 ? [dimensions(known)] : []),
    ...list("Data variables", data, place, go, true),
    ...list("Coordinates", coordinates, place, go, false),
    ...folders(others, go),
  );
  if (page.next !== null) card.append(h("p", { class: "note" }, `The first ${count(page.children.length)} nodes; the tree has all.`));
  for (const one of coordinates.filter(isCoordinate)) void range(card, place, one);
}

function summary(page: Page, node: NodeInfo | null): string {
  const number = (kind: string, word: string): string => {
    const found = page.children.filter((child) => (kind === "group" ? child.kind === "group" || child.kind === "folder" : child.kind === kind)).length;
    return found === 0 ? "" : `${count(found)}${page.next ? "+" : ""} ${word}${found === 1 ? "" : "s"}`;
  };
  const words = [number("group", node ? "group" : "dataset"), number("array", "array"), number("damaged", "damaged node")].filter(Boolean).join(", ");
  return node ? `${words || "Empty group"}` : words ? `${words} in this folder` : "Empty";
}

/** Returns the parts of a file of another format that have no form in Zarr. */
function leftOut(node: NodeInfo | null): HTMLElement[] {
  const parts = node?.file?.left_out ?? [];
  if (parts.length === 0) return [];
  return [h("details", {}, h("summary", {}, `${count(parts.length)} part${parts.length === 1 ? "" : "s"} of the file left out`), h("ul", {}, ...parts.map((part) => h("li", {}, part))))];
}

/** Shows a location whose nodes cannot be listed, with a field for a path. */
function unlisted(store: Store, place: Place, node: NodeInfo | null, error: unknown): Child[] & Node[] {
  const field = h("input", { type: "text", placeholder: "path/of/array", "aria-label": "Path", spellcheck: "false" });
  const open = (event: Event): void => {
    event.preventDefault();
    const path = field.value.split("/").filter(Boolean).join("/");
    if (path) store.change(fresh({ root: place.root, path }));
  };
  const isFile = !node && /\.(h5|hdf5|he5|nc|nc4|cdf|tiff?|npy|npz)$/i.test(place.root);
  return [
    h("p", { class: node ? "note" : "problem", role: "alert" }, isFile ? `${place.root} is not a Zarr hierarchy. Import it first:` : `The nodes below cannot be listed: ${told(error)}`),
    isFile ? h("pre", {}, `zarrox import ${place.root} ${place.root.replace(/\.[^.]*$/, "")}.zarr`) : h("form", { class: "path", submit: open }, h("label", {}, "Open path"), field, h("button", {}, "Open")),
  ];
}

/** Returns the names and lengths of dimensions, with the first and the last coordinate. */
function dimensions(known: ArrayNode[]): HTMLElement {
  const lengths = new Map<string, number>();
  for (const one of known) dimensionNames(one).forEach((name, dimension) => name && lengths.set(name, one.shape[dimension]!));
  if (lengths.size === 0) return h("p", { hidden: true });
  const items = [...lengths].map(([name, length]) => h("li", { "data-dimension": name }, h("strong", {}, name), ` ${count(length)}`));
  return h("section", {}, h("h3", {}, "Dimensions"), h("ul", { class: "inline" }, ...items));
}

/** Adds the first and the last coordinate to a dimension. */
async function range(card: HTMLElement, place: Place, one: ArrayNode): Promise<void> {
  const item = [...card.querySelectorAll<HTMLElement>("[data-dimension]")].find((found) => found.dataset["dimension"] === one.name);
  if (!item || (one.shape[0] ?? 0) < 1) return;
  const answer = await call<{ values: Exact[] }>("slice", below(place, one.name), { select: "[0, -1],", as: "json" }).catch(() => null);
  const times = timesOf(one);
  const words = answer?.values.map((value) => (typeof value === "string" ? value : times ? times.text(numberOf(value)) : exact(numberOf(value), one.data_type.bytes)));
  const units = times ? "" : unit(text(one.attributes["units"]));
  if (words) item.append(h("small", {}, ` ${words.join(" … ")}${units ? ` ${units}` : ""}`));
}

function list(title: string, arrays: ArrayNode[], place: Place, go: (name: string) => void, hasPictures: boolean): HTMLElement[] {
  if (arrays.length === 0) return [];
  const items = arrays.map((one) => {
    const names = dimensionNames(one);
    const named = text(one.attributes["long_name"]) || text(one.attributes["standard_name"]);
    const units = timesOf(one) ? "" : unit(text(one.attributes["units"]));
    const shape = one.shape.map((length, dimension) => (names[dimension] ? `${names[dimension]} ${count(length)}` : count(length))).join(" × ");
    const picture = hasPictures ? thumbnail(below(place, one.name), one) : null;
    return h("li", {}, h("button", { type: "button", class: hasPictures ? "variable" : "variable plain", click: () => go(one.name) },
      hasPictures ? h("span", { class: "thumbnail" }, picture) : null,
      h("span", { class: "names" }, h("strong", {}, one.name), h("span", {}, [named, units && `(${units})`].filter(Boolean).join(" "))),
      h("span", { class: "facts" }, h("span", {}, shape || "scalar"), h("small", {}, [one.data_type.name, one.bytes === null ? "" : short(one.bytes)].filter(Boolean).join(" · ")))));
  });
  return [h("section", {}, h("h3", {}, title), h("ul", { class: "variables" }, ...items))];
}

/** Returns a thumbnail of an array, if it costs little. */
function thumbnail(place: Place, { shape, data_type, chunk_shape, grid_shape, unreadable }: ArrayNode): HTMLElement | null {
  if (unreadable || !["int", "uint", "float"].includes(data_type.kind) || /time/.test(data_type.name)) return null;
  const long = shape.map((_, dimension) => dimension).filter((dimension) => shape[dimension]! > 1).slice(-2);
  if (long.length < 2 || shape.includes(0)) return null;
  const chunks = long.reduce((product, dimension) => product * (grid_shape[dimension] ?? 1), 1);
  const bytes = chunk_shape.reduce((product, length) => product * length, data_type.bytes);
  if (chunks > CHUNKS || chunks * bytes > BYTES) return null;
  const select = shape.map((_, dimension) => (long.includes(dimension) ? ":" : "0")).join(", ");
  return h("img", { alt: "", loading: "lazy", src: address("slice", place, { select, as: "png", width: WIDTH, height: HEIGHT }) });
}

function folders(others: Entry[], go: (name: string) => void): HTMLElement[] {
  if (others.length === 0) return [];
  const detail = (child: Entry): string => (child.kind === "damaged" ? child.error : child.kind === "group" ? (child.title ?? `${child.format} group`) : "folder");
  const items = others.map((child) => h("li", {}, h("button", { type: "button", class: `variable plain ${child.kind}`, click: () => go(child.name) }, h("span", { class: "names" }, h("strong", {}, child.name), h("span", {}, detail(child))))));
  return [h("section", {}, h("h3", {}, "Groups"), h("ul", { class: "variables" }, ...items))];
}

/** Returns the wells of an OME-Zarr plate as a grid. */
function plate(place: Place, node: NodeInfo | null, go: (name: string) => void): HTMLElement[] {
  const described = object(object(node?.attributes["ome"])?.["plate"] ?? node?.attributes["plate"]);
  const wells = described?.["wells"];
  if (!Array.isArray(wells)) return [];
  const names = (member: string): string[] => (Array.isArray(described?.[member]) ? (described[member] as Json[]).map((one) => text(object(one)?.["name"])) : []);
  const [rows, columns] = [names("rows"), names("columns")];
  const cells = new Map(wells.map((well) => text(object(well)?.["path"])).map((path) => [path, path]));
  const cell = (row: string, column: string): HTMLElement => {
    const path = cells.get(`${row}/${column}`);
    if (!path) return h("td", {});
    const button = h("button", { type: "button", title: `well ${row}${column}`, "aria-label": `Well ${row}${column}`, click: () => go(path) });
    void wellPicture(below(place, path)).then((picture) => button.append(picture ?? `${row}${column}`));
    return h("td", {}, button);
  };
  const head = h("tr", {}, h("th", {}), ...columns.map((column) => h("th", { scope: "col" }, column)));
  const body = rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row), ...columns.map((column) => cell(row, column))));
  return [h("section", {}, h("h3", {}, "Wells"), h("div", { class: "plate", tabindex: 0, role: "region", "aria-label": "Wells" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...body))))];
}

/** Returns a thumbnail of the first field of a well. */
async function wellPicture(well: Place): Promise<HTMLElement | null> {
  const node = await call<NodeInfo | null>("node", well, { stored: "none", optional: true }).catch(() => null);
  const images = object(object(node?.attributes["ome"])?.["well"] ?? node?.attributes["well"])?.["images"];
  const image = below(well, text(object(Array.isArray(images) ? images[0] : undefined)?.["path"]) || "0");
  const group = await call<NodeInfo | null>("node", image, { stored: "none", optional: true }).catch(() => null);
  const scales = object(Array.isArray(group?.attributes["multiscales"]) ? group?.attributes["multiscales"][0] : undefined) ?? object((object(group?.attributes["ome"])?.["multiscales"] as Json[] | undefined)?.[0]);
  const sets = scales?.["datasets"];
  const path = Array.isArray(sets) ? text(object(sets[sets.length - 1])?.["path"]) : "";
  const level = path ? await call<NodeInfo | null>("node", below(image, path), { stored: "none", optional: true }).catch(() => null) : null;
  return level?.kind === "array" ? thumbnail(below(image, path), level) : null;
}
