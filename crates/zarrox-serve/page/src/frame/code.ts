/** Code that reads the shown data, a link to the data, and files with the data. */

import { address, asked, type ArrayNode, type NodeInfo, type Place } from "../data/api";
import { copier, download, fill, h, type Child } from "../dom";
import { told } from "../views/message";
import { count, short } from "../data/numbers";

/** Returns the path or URL of a node for other programs. */
export function location(place: Place, node: NodeInfo): string {
  return [node.store.replace(/\/$/, ""), place.path].filter((part) => part !== "").join("/");
}

/** Returns code by language that opens a node and reads a selection of it. */
export function snippets(place: Place, node: NodeInfo, selection: string): Record<string, string> {
  const where = location(place, node);
  const quoted = JSON.stringify(where);
  if (node.file) return ofFile(place, node, selection);
  const shell = `'${where.replaceAll("'", "'\\''")}`;
  const url = new URL(`v3/${[place.root, ...place.path.split("/").filter(Boolean)].map(encodeURIComponent).join("/")}`, document.baseURI.replace(/#.*/, "")).href;
  if (node.kind === "group") {
    return {
      Python: `import zarrox as zarr\n\ngroup = zarr.open_group(${quoted}, mode="r")\nprint(group.tree())`,
      xarray: `import xarray as xr\n\ndata = xr.open_zarr(${quoted})`,
      Rust: `let group = zarrox::open_group(${quoted})?;`,
      Command: `zarrox tree ${shell}'`,
      "Path or URL": where,
    };
  }
  const rust = selection.replaceAll(":", "..").replaceAll(/\.\.(-?\d+)\.\.(\d+)/g, "..$1;$2");
  const items = selection.split(", ").map((item) => (item === ":" ? "null" : item.includes(":") ? `zarr.slice(${item.split(":").join(", ")})` : item));
  const [group, name] = [where.split("/").slice(0, -1).join("/"), node.name];
  return {
    Python: `import zarrox as zarr\n\nz = zarr.open_array(${quoted}, mode="r")\nz[${selection}]`,
    "zarr-python": `import zarr\n\nz = zarr.open_array(${quoted}, mode="r")\nz[${selection}]`,
    xarray: name ? `import xarray as xr\n\ndata = xr.open_zarr(${JSON.stringify(group)})\ndata[${JSON.stringify(name)}][${selection}]` : `import xarray as xr\nimport zarrox as zarr\n\nxr.DataArray(zarr.open_array(${quoted}, mode="r")[${selection}])`,
    Rust: `let array = zarrox::open_array(${quoted})?;\nlet part = array.read_dyn(s![${rust}])?;`,
    Command: `zarrox dump ${shell}[${selection}]'`,
    JavaScript: `import * as zarr from "zarrita";\n\nconst store = new zarr.FetchStore(${JSON.stringify(url)});\nconst array = await zarr.open(store, { kind: "array" });\nconst part = await zarr.get(array, [${items.join(", ")}]);`,
    "Path or URL": where,
  };
}

/** Returns code that reads a file of another format: as a hierarchy after an import, and with the usual programs for the format. */
function ofFile(place: Place, node: NodeInfo, selection: string): Record<string, string> {
  const [file, copy] = [node.store, `${place.root.replace(/\.[^.]*$/, "")}.zarr`];
  const inside = [copy, place.path].filter(Boolean).join("/");
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const array = node.kind === "array" ? `\nz = zarr.open_array(${JSON.stringify(inside)}, mode="r")\nz[${selection}]` : `\ngroup = zarr.open_group(${JSON.stringify(inside)}, mode="r")`;
  const isDataset = /HDF5|NetCDF/.test(node.file?.format ?? "");
  const [group, name] = [place.path.split("/").slice(0, -1).join("/"), node.kind === "array" ? node.name : ""];
  return {
    Command: `zarrox import ${quoted(file)} ${quoted(copy)}`,
    Python: `import zarrox as zarr\n\nzarr.import_file(${JSON.stringify(file)}, ${JSON.stringify(copy)})${array}`,
    ...(isDataset ? { xarray: `import xarray as xr\n\ndata = xr.open_dataset(${JSON.stringify(file)}${group ? `, group=${JSON.stringify(group)}` : ""})${name ? `\ndata[${JSON.stringify(name)}][${selection}]` : ""}` } : {}),
    "Path or URL": file,
  };
}

/** Returns the panel that shows the code before it is copied. */
export function codePanel(place: Place, node: NodeInfo, selection: string): Child[] {
  const all = snippets(place, node, selection);
  const code = h("pre", { tabindex: 0 });
  const tabs = Object.keys(all).map((name) => h("button", { type: "button", "aria-pressed": "false", click: () => show(name) }, name));
  let shown = "";
  function show(name: string): void {
    shown = all[name] ?? "";
    code.textContent = shown;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.textContent === name));
  }
  show(Object.keys(all)[0]!);
  return [h("div", { class: "bar" }, ...tabs), code, h("div", { class: "bar" }, copier("Copy", () => shown))];
}

/** The maximum number of elements and of bytes in a response of the server. */
const [MOST, MOST_BYTES] = [64 << 20, 256 << 20];

/** The parts of an array that can be exported. */
export interface Exports {
  place: Place;
  node: ArrayNode;
  selection: string;
  field: string | undefined;
  /** The number of elements of the selection. */
  elements: number;
  /** Saves the figure; `null` if there is no figure. */
  figure: ((form: "png" | "svg") => void) | null;
}

/** Returns the export panel, which shows the size of each file first. */
export function exportPanel({ place, node, selection, field, elements, figure }: Exports, close: () => void): Child[] {
  const bytes = elements * Math.max(1, node.data_type.bytes);
  const size = `${count(elements)} elements, ${short(bytes)}`;
  const status = h("p", { class: "note", role: "status" });
  const save = async (form: "npy" | "json"): Promise<void> => {
    fill(status, "Reading …");
    try {
      const answer = await asked(address("slice", place, { select: node.shape.length > 0 ? selection : undefined, as: form, field, max_elements: form === "npy" && elements > 1 ? elements : undefined }));
      download(`${node.name || "array"}.${form}`, await answer.blob());
      close();
    } catch (error) {
      fill(status, told(error));
    }
  };
  const isTooMuch = elements > MOST || bytes > MOST_BYTES;
  const item = (label: string, note: string, act: () => void): HTMLElement => h("button", { type: "button", class: "item", click: act }, h("strong", {}, label), h("small", {}, note));
  const command = `zarrox export '${location(place, node).replaceAll("'", "'\\''")}' ${node.name || "array"}.npy`;
  return [
    figure && item("PNG", "figure, 2400 × 1800 pixels", () => { figure("png"); close(); }),
    figure && item("SVG", "figure, with lines and text", () => { figure("svg"); close(); }),
    isTooMuch
      ? h("div", {}, h("p", {}, `The selection has ${size}: more than the ${short(MOST_BYTES)} that the page saves. Zoom in, or use the command:`), h("pre", {}, command), copier("Copy the command", () => command))
      : item("NumPy .npy", size, () => void save("npy")),
    !isTooMuch && elements <= 1 << 20 && item("JSON", `${count(elements)} elements`, () => void save("json")),
    status,
  ];
}
