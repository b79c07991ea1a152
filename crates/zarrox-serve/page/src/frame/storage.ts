/** The storage of an array, and the cost of the shown view. */

import type { ArrayNode, Codec } from "../data/api";
import { fill, h } from "../dom";
import { along, pinAlong, sides, type Shown } from "../data/model";
import { lengths, table } from "./node";
import { count, short } from "../data/numbers";
import type { State } from "../data/state";

/** Fills the panel with the chunks, the codecs, and the cost of views. */
export function showStorage(element: HTMLElement, node: ArrayNode, shown: Shown | null, state: State, kind: string, times: HTMLElement): void {
  const { stored } = node;
  const chunks = stored ? `${count(stored.stored)} of ${stored.chunks === null ? "?" : count(stored.chunks)} written` : null;
  const ratio = stored && stored.ratio !== null ? `${stored.ratio.toFixed(1)}×` : null;
  fill(
    element,
    shown && h("section", {}, h("h3", {}, "Reading"), ...costs(shown, node, state, kind), times),
    h("section", {}, h("h3", {}, "Chunks"), table([
      ["size", typeof node.bytes === "number" ? `${short(node.bytes)} uncompressed` : null],
      ["on disk", stored ? h("span", { title: `${count(stored.bytes)} bytes` }, short(stored.bytes)) : "counting …"],
      ["compression", ratio],
      [node.shard_shape ? "shards" : "chunks", chunks],
      ["chunk shape", lengths(node.chunk_shape)],
      ["shard shape", lengths(node.shard_shape)],
    ])),
    h("section", {}, h("h3", {}, "Codecs"), pipeline(node.codecs)),
  );
}

/** Returns the cost of a view: the number of chunks that it reads, and their stored bytes if the mean size of a chunk is known. */
function costs(shown: Shown, node: ArrayNode, state: State, kind: string): HTMLElement[] {
  const each = node.stored && node.stored.stored > 0 ? node.stored.chunk_bytes / node.stored.stored : null;
  const cut = node.shard_shape ?? node.chunk_shape;
  const [x, y] = kind === "plot" ? [along(shown, state), -1] : sides(shown, state);
  const all = shown.shape.map((length, dimension) => Math.ceil(length / Math.max(1, cut[dimension] ?? 1)));
  const total = all.reduce((product, number) => product * number, 1);
  const span = (dimension: number, side: 0 | 1): number => {
    const length = Math.max(1, cut[dimension] ?? 1);
    if (state.box.length !== 4 || kind === "table") return all[dimension]!;
    const [from, to] = [Math.max(0, state.box[side]!), Math.min(shown.shape[dimension]!, state.box[side + 2]!)];
    return Math.max(1, Math.ceil(to / length) - Math.floor(from / length));
  };
  const words = (number: number): [string, string] => [`${count(number)} of ${count(total)} ${node.shard_shape ? "shards" : "chunks"}`, each === null ? "" : ` (about ${short(each * number)} on disk)`];
  const touched = shown.shape.reduce((product, _, dimension) => product * (dimension === x ? span(dimension, 0) : dimension === y ? span(dimension, 1) : dimension === shown.colours ? all[dimension]! : 1), 1);
  const sentences = [sentence("This view reads", words(touched), touched, total)];
  const series = kind === "plot" ? -1 : pinAlong(shown, state);
  if (series >= 0) {
    const name = shown.axes[series]!.name;
    const used = (shown.shape[series]! * Math.max(1, node.data_type.bytes)) / Math.max(1, all[series]! * cut.reduce((product, length) => product * length, Math.max(1, node.data_type.bytes)));
    const why = used < 0.01 ? ` Of the decoded bytes it uses ${(100 * used).toPrecision(1)} %: chunks span ${spanned(shown, cut, series)}.` : "";
    sentences.push(sentence(`A series along ${name} at a point reads`, words(all[series]!), all[series]!, total, why));
    if (used < 0.01 && all[series]! > 4) sentences.push(advice(shown, node, series));
  }
  return sentences;
}

function sentence(begin: string, [number, bytes]: [string, string], touched: number, total: number, end = ""): HTMLElement {
  return h("p", {}, `${begin} `, h("strong", { class: touched === total && total > 4 ? "all" : "" }, number), `${bytes}.${end}`);
}

/** Returns the dimensions along which a chunk is long. */
function spanned(shown: Shown, cut: number[], except: number): string {
  return shown.axes.flatMap((axis, dimension) => (dimension !== except && (cut[dimension] ?? 1) > 16 ? [(cut[dimension] ?? 1) >= axis.length ? `all of ${axis.name}` : `${count(cut[dimension]!)} of ${axis.name}`] : [])).join(" × ");
}

/** Returns the command that would store series contiguously. */
function advice(shown: Shown, node: ArrayNode, series: number): HTMLElement {
  const goal = Math.max(1, (1 << 20) / Math.max(1, node.data_type.bytes));
  const others = shown.shape.filter((_, dimension) => dimension !== series && shown.shape[dimension]! > 1).length;
  const along_ = Math.min(shown.shape[series]!, goal);
  const side = Math.max(1, Math.floor((goal / along_) ** (1 / Math.max(1, others))));
  const chunks = shown.shape.map((length, dimension) => (dimension === series ? along_ : Math.min(length, side)));
  const source = [node.store.replace(/\/$/, ""), node.path].filter((part) => part !== "").join("/");
  const command = `zarrox rechunk '${source.replaceAll("'", "'\\''")}' OUT --chunks ${chunks.map(Math.floor).join(",")}`;
  return h("details", {}, h("summary", {}, "Store series together"), h("pre", {}, command));
}

/** Returns the codecs in order, including those within shards, whose kinds are unknown. */
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
