/** The information about a node: its metadata and its attributes. */

import { type Json, type NodeInfo, type Place } from "../data/api";
import { packed } from "../data/coordinates";
import { fill, h, type Child } from "../dom";
import { dimensionNames } from "../data/coordinates";
import { count, exact, short } from "../data/numbers";

type Row = [string, Child];

/** Returns a list of names and values. */
export function table(rows: Row[]): HTMLDListElement {
  const list = h("dl", {});
  for (const [name, value] of rows) if (value !== null && value !== undefined && value !== "" && value !== false) list.append(h("dt", {}, name), h("dd", {}, value));
  return list;
}

/** The meanings of attributes of the CF and OME conventions. */
const MEANINGS: Record<string, string> = {
  units: "the unit of the values",
  long_name: "what the values are",
  standard_name: "the name in the CF conventions",
  _FillValue: "the value that means missing",
  missing_value: "the value that means missing",
  scale_factor: "stored values are multiplied by this number",
  add_offset: "this number is added after the multiplication",
  calendar: "the calendar of times",
  multiscales: "this image in several sizes",
  omero: "how channels are shown",
  "image-label": "the colours of labels",
  coordinates: "other arrays with coordinates",
  grid_mapping: "the array that describes the map projection",
  cell_methods: "how the values were made of others",
};

export const lengths = (shape: number[] | null | undefined): string | null => (shape ? shape.map(count).join(" × ") || "scalar" : null);

const FORMATS: Record<string, string> = { v3: "Zarr v3", v2: "Zarr v2", v1: "Zarr v1", n5: "N5" };

/** Fills the panel with the information about a node. */
export function showInfo(element: HTMLElement, place: Place, node: NodeInfo): void {
  const array = node.kind === "array" ? node : null;
  const names = array ? dimensionNames(array) : [];
  const rows: Row[] = [
    ["kind", `${FORMATS[node.format] ?? node.format} ${node.kind}`],
    ["file", node.file && `${node.file.format}, read as ${FORMATS[node.format] ?? node.format}`],
    ["shape", lengths(array?.shape)],
    ["dimensions", names.some((name) => name !== null) ? names.map((name) => name ?? "–").join(", ") : null],
    ["data type", array?.data_type.name],
    ["fields", array?.data_type.fields?.map((field) => `${field.name}: ${field.data_type}`).join(", ")],
    ["fill value", array?.fill_text],
    ["size", typeof array?.bytes === "number" ? h("span", { title: `${count(array.bytes)} bytes` }, `${short(array.bytes)} uncompressed`) : null],
    ["location", [node.store.replace(/\/$/, ""), place.path].filter((part) => part !== "").join("/")],
  ];
  fill(
    element,
    array?.unreadable ? h("p", { class: "problem", role: "alert" }, array.unreadable) : null,
    table(rows),
    attributes(node.attributes),
    !node.v3.possible ? h("p", { class: "note" }, `Not expressible in Zarr v3: ${node.v3.why ?? ""}`) : null,
  );
}

/** The number of attributes that are shown at first. */
const MOST = 200;

function attributes(all: NodeInfo["attributes"]): HTMLElement | null {
  // The dimension names are shown separately.
  const entries = Object.entries(all).filter(([name]) => name !== "_ARRAY_DIMENSIONS");
  if (entries.length === 0) return null;
  const list = table(entries.slice(0, MOST).map(attribute));
  const rest = entries.slice(MOST);
  const more = rest.length > 0 && h("button", { type: "button", click: (event: Event) => { (event.target as HTMLElement).remove(); list.append(...table(rest.map(attribute)).children); } }, `${count(rest.length)} more attributes`);
  list.classList.add("attributes");
  return h("section", {}, h("h3", {}, "Attributes"), list, more);
}

function attribute([name, value]: [string, Json]): Row {
  const text = typeof value === "string" ? value : typeof value === "number" ? exact(value) : JSON.stringify(value, null, 1);
  const number = name === "_FillValue" && typeof value === "string" ? packed(value) : null;
  const long = number === null ? text : `${exact(number)} (in base64, ${text})`;
  const shown = long.length > 300 ? h("details", {}, h("summary", {}, `${long.slice(0, 80)} …`), h("pre", {}, long)) : h("span", {}, long);
  return [name, h("span", { title: MEANINGS[name] }, shown)];
}
