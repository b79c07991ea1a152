/** All that is known of a node, on the right. */

import { address, type Codec, type Json, type NodeInfo, type Place } from "./api";
import { packed } from "./coordinates";
import { copier, fill, h } from "./dom";
import { count, size, value as numeral } from "./numbers";
import type { State } from "./state";

type Row = [string, string | HTMLElement | null | undefined];

function table(rows: Row[]): HTMLDListElement {
  const list = h("dl", {});
  for (const [name, value] of rows) if (value !== null && value !== undefined && value !== "") list.append(h("dt", {}, name), h("dd", {}, value));
  return list;
}

/** Attributes of the CF and OME conventions, with what they mean. */
const MEANINGS: Record<string, string> = {
  units: "the unit of the values",
  long_name: "what the values are",
  standard_name: "the name in the CF conventions",
  _FillValue: "the value that means: missing",
  missing_value: "the value that means: missing",
  scale_factor: "stored values are multiplied by this",
  add_offset: "and this is added",
  calendar: "the calendar of times",
  multiscales: "this image in several sizes",
  omero: "how channels are shown",
  "image-label": "the colours of labels",
  coordinates: "other arrays with coordinates",
  grid_mapping: "the array that describes the map projection",
  cell_methods: "how the values were made of others",
};

export class NodePanel {
  readonly element = h("aside", { class: "node", "aria-label": "metadata" });

  private table = h("dl", {});

  /** Tells what is stored of the shown node, which was counted meanwhile. */
  counted(node: NodeInfo): void {
    const known = table(this.facts(node));
    this.table.replaceWith(known);
    this.table = known;
  }

  /** Shows a node. `selection` gives the part that is looked at. */
  show(place: Place, node: NodeInfo, state: () => State, selection: () => string): void {
    const title = node.name || place.root;
    const array = node.kind === "array" ? node : null;
    this.table = table(this.facts(node));
    fill(
      this.element,
      h("h2", {}, title),
      array?.unreadable ? h("p", { class: "problem", role: "alert" }, array.unreadable) : null,
      this.table,
      array ? h("section", {}, h("h3", {}, "codecs"), pipeline(array.codecs)) : null,
      attributes(node.attributes),
      array ? h("section", {}, h("h3", {}, "copy"), copies(place, node, selection)) : null,
      array ? h("section", {}, h("h3", {}, "download"), downloads(place, state, selection)) : null,
      !node.v3.possible ? h("p", { class: "note" }, `Zarr 3 cannot say this node: ${node.v3.why ?? ""}`) : null,
    );
  }

  /** Shows what is wrong with a node. */
  fail(place: Place, message: string): void {
    fill(this.element, h("h2", {}, place.path.split("/").pop() || place.root), h("p", { class: "problem", role: "alert" }, message));
  }

  private facts(node: NodeInfo): Row[] {
    const lengths = (shape: number[] | null | undefined): string | null => (shape ? shape.map(count).join(" × ") || "scalar" : null);
    const array = node.kind === "array" ? node : null;
    const stored = array?.stored;
    const rows: Row[] = [
      ["kind", `${node.kind} of ${node.format}`],
      ["store", node.store],
      ["shape", lengths(array?.shape)],
      ["dimensions", array?.dimension_names?.map((name) => name ?? "–").join(", ")],
      ["type", array?.data_type.name],
      ["fields", array?.data_type.fields?.map((field) => `${field.name}: ${field.data_type}`).join(", ")],
      ["chunks", lengths(array?.chunk_shape)],
      ["shards", lengths(array?.shard_shape)],
      ["fill value", array?.fill_text],
      ["elements", typeof array?.bytes === "number" ? size(array.bytes) : null],
    ];
    if (stored) {
      rows.push(["stored", size(stored.bytes)]);
      rows.push(["chunks stored", `${count(stored.stored)} of ${stored.chunks === null ? "?" : count(stored.chunks)}`]);
      if (stored.ratio !== null) rows.push(["ratio", `${stored.ratio.toFixed(2)} : 1`]);
    }
    return rows;
  }
}

/** Codecs in their order, with those inside of shards, whose kinds are not told. */
function pipeline(codecs: (Omit<Codec, "kind"> & { kind?: Codec["kind"] })[]): HTMLElement {
  const item = (codec: (typeof codecs)[number]): HTMLElement => {
    const inside = codec.configuration["codecs"];
    const { codecs: _, index_codecs: __, ...rest } = codec.configuration;
    const settings = Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const list = Array.isArray(inside)
      ? pipeline((inside as { name: string; configuration?: Codec["configuration"] }[]).map((one) => ({ name: one.name, configuration: one.configuration ?? {} })))
      : null;
    return h("li", {}, h("strong", {}, codec.name), codec.kind ? h("small", {}, ` ${codec.kind.replaceAll("-to-", " → ")}`) : null, settings.length > 0 ? h("div", { class: "settings" }, settings.join(", ")) : null, list);
  };
  return h("ol", { class: "codecs" }, ...codecs.map(item));
}

function attributes(all: NodeInfo["attributes"]): HTMLElement | null {
  const entries = Object.entries(all);
  if (entries.length === 0) return null;
  const text = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value, null, 1));
  const rows = entries.map(([name, value]): Row => {
    const number = name === "_FillValue" && typeof value === "string" ? packed(value) : null;
    const long = number === null ? text(value) : `${numeral(number)} (in base64, ${text(value)})`;
    const shown = long.length > 300 ? h("details", {}, h("summary", {}, `${long.slice(0, 80)} …`), h("pre", {}, long)) : h("span", {}, long);
    const meaning = MEANINGS[name];
    return [name, h("span", { title: meaning }, shown)];
  });
  return h("section", {}, h("h3", {}, "attributes"), table(rows));
}

/** The path or URL of a node, as programs open it. */
function location(place: Place, node: NodeInfo): string {
  return [node.store.replace(/\/$/, ""), place.path].filter((part) => part !== "").join("/");
}

function copies(place: Place, node: NodeInfo, selection: () => string): HTMLElement {
  const where = location(place, node);
  const quoted = (text: string): string => JSON.stringify(text);
  const rust = (): string => {
    const items = selection().replaceAll(":", "..").replaceAll(/\.\.(-?\d+)\.\.(\d+)/g, "..$1;$2");
    return `let array = zarrox::open_array(${quoted(where)})?;\nlet part = array.read_dyn(s![${items}])?;`;
  };
  return h(
    "div",
    { class: "bar" },
    copier("Python", () => `import zarrox as zarr\n\nz = zarr.open_array(${quoted(where)}, mode="r")\nz[${selection()}]`),
    copier("Rust", rust),
    copier("command", () => `zarrox dump '${where.replaceAll("'", "'\\''")}[${selection()}]'`),
    copier("path", () => where),
  );
}

function downloads(place: Place, state: () => State, selection: () => string): HTMLElement {
  const npy = h("a", { class: "button", href: "#", click: (event: Event) => aim(event) }, ".npy");
  function aim(event: Event): void {
    (event.currentTarget as HTMLAnchorElement).href = address("slice", place, { select: selection(), as: "npy", download: true, field: state().field || undefined });
  }
  return h("div", { class: "bar" }, npy);
}
