/** Elements as a table: structures, text, and whatever else is no picture. */

import { call, type Json, type Slice } from "./api";
import { timesOf } from "./coordinates";
import { fill, h } from "./dom";
import { index, type Shown } from "./model";
import { count, value as text } from "./numbers";
import type { State, Store } from "./state";

/** The rows and columns of a page. */
const [ROWS, COLUMNS] = [100, 50];

export class TableView {
  readonly element = h("div", { class: "table" });
  private asked: AbortController | null = null;
  private key = "";

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    private readonly fail: (error: unknown) => void,
  ) {}

  close(): void {
    this.asked?.abort();
  }

  update(state: State): void {
    const key = JSON.stringify([state.row, state.at, state.x, state.y]);
    if (key === this.key) return;
    this.key = key;
    void this.read(state);
  }

  private async read(state: State): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    const ndim = this.shown.shape.length;
    // The last two dimensions that are longer than one are rows and columns.
    const long = this.shown.shape.map((_, dimension) => dimension).filter((dimension) => this.shown.shape[dimension]! !== 1);
    const [down, across] = long.length >= 2 ? [long[long.length - 2]!, long[long.length - 1]!] : [long[0] ?? -1, -1];
    const first = Math.min(state.row, Math.max(0, (this.shown.shape[down] ?? 1) - 1));
    const parts = this.shown.shape.map((length, dimension) => {
      if (dimension === down) return `${first}:${Math.min(length, first + ROWS)}`;
      if (dimension === across) return `0:${Math.min(length, COLUMNS)}`;
      return String(index(this.shown, state, dimension));
    });
    try {
      const select = ndim === 0 ? undefined : parts.join(", ");
      const answer = await call<Slice>("slice", this.shown.place, { as: "json", select }, asked.signal);
      this.show(answer.values, down, across, first);
    } catch (error) {
      if (!asked.signal.aborted) this.fail(error);
    }
  }

  private show(values: Json, down: number, across: number, first: number): void {
    const rows = down < 0 ? [values] : (values as Json[]);
    const fields = this.shown.node.data_type.fields?.map((field) => field.name) ?? null;
    const [rowAxis, columnAxis] = [this.shown.axes[down], this.shown.axes[across]];
    const head = h("tr", {}, h("th", { scope: "col" }, rowAxis?.name ?? ""));
    const columns = across >= 0 ? (rows[0] as Json[] | undefined)?.map((_, column) => columnAxis!.label(column)) : (fields ?? ["value"]);
    for (const column of columns ?? []) head.append(h("th", { scope: "col" }, column));
    const body = rows.map((row, number) => {
      const cells = across >= 0 ? (row as Json[]) : fields ? fieldsOf(row, fields) : [row];
      const label = rowAxis ? rowAxis.label(first + number) : "";
      return h("tr", {}, h("th", { scope: "row" }, label), ...cells.map((cell) => this.cell(cell, fields !== null)));
    });
    const length = this.shown.shape[down] ?? 1;
    const page = (to: number, label: string, possible: boolean): HTMLElement =>
      h("button", { type: "button", disabled: !possible, click: () => this.store.change({ row: Math.max(0, to) }) }, label);
    const wide = across >= 0 && this.shown.shape[across]! > COLUMNS ? `, the first ${COLUMNS} columns of ${count(this.shown.shape[across]!)}` : "";
    fill(
      this.element,
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "elements" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...body))),
      h(
        "div",
        { class: "bar" },
        page(first - ROWS, "previous", first > 0),
        h("span", {}, `rows ${count(first)} to ${count(first + rows.length - 1)} of ${count(length)}${wide}`),
        page(first + ROWS, "next", first + ROWS < length),
      ),
    );
  }

  /** A cell with what the value means; where it is stored as another one, the title tells that. Attributes say nothing of fields. */
  private cell(value: Json, isField: boolean): HTMLElement {
    if (value === null) return h("td", {});
    if (typeof value !== "number") return h("td", {}, typeof value === "string" ? value : JSON.stringify(value));
    if (isField) return h("td", {}, text(value));
    const { meaning } = this.shown;
    const meant = meaning.of(value);
    const title = meaning.isPlain ? undefined : `stored: ${value}`;
    const time = timesOf(this.shown.node);
    if (Number.isNaN(meant)) return h("td", { title }, "missing");
    return h("td", { title }, time ? time(meant) : text(meant));
  }
}

function fieldsOf(row: Json, fields: string[]): Json[] {
  if (Array.isArray(row)) return row;
  if (row !== null && typeof row === "object") return fields.map((field) => row[field] ?? null);
  return [row];
}
