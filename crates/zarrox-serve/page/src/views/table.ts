/** Elements as a table, with all their digits. */

import { exactly, type Slice } from "../data/api";
import { find, timesOf, told } from "../data/coordinates";
import { fill, h } from "../dom";
import { written, type Exact } from "../data/exact";
import { Heading, sliceOf } from "./heading";
import { Message, told as toldError } from "./message";
import { isNumeric, selection, sides, type Shown } from "../data/model";
import { count, exact } from "../data/numbers";
import type { State, Store } from "../data/state";

/** The number of rows and columns of a page. */
const [ROWS, COLUMNS] = [100, 50];

export class TableView {
  private readonly heading = new Heading();
  private readonly message = new Message();
  private readonly body = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Elements" });
  private readonly bar = h("form", { class: "bar", submit: (event: Event) => event.preventDefault() });
  readonly element = h("div", { class: "table view-of" }, this.heading.element, this.message.element, this.body, this.bar);
  private asked: AbortController | null = null;
  private key = "";

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
  ) {}

  close(): void {
    this.asked?.abort();
  }

  update(state: State): void {
    const key = JSON.stringify([state.row, state.column, state.at, state.x, state.y]);
    if (key === this.key) return;
    this.key = key;
    void this.read(state);
  }

  /** Returns the dimensions of rows and columns; -1 for none. */
  private dimensions(state: State): [number, number] {
    const ndim = this.shown.shape.length;
    if (ndim === 0) return [-1, -1];
    const [x, y] = sides(this.shown, state);
    return ndim === 1 || y < 0 ? [x, -1] : [y, x];
  }

  private async read(state: State): Promise<void> {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    const { shape } = this.shown;
    const [down, across] = this.dimensions(state);
    const first = Math.min(state.row, Math.max(0, (shape[down] ?? 1) - 1));
    const left = Math.min(state.column, Math.max(0, (shape[across] ?? 1) - 1));
    const select = selection(this.shown, state, (dimension) => {
      if (dimension === down) return `${first}:${Math.min(shape[dimension]!, first + ROWS)}`;
      return dimension === across ? `${left}:${Math.min(shape[dimension]!, left + COLUMNS)}` : null;
    });
    this.element.classList.add("busy");
    try {
      const answer = await exactly<Slice>("slice", this.shown.place, { as: "json", select: shape.length === 0 ? undefined : select }, asked.signal);
      if (asked.signal.aborted) return;
      this.message.clear();
      this.show(state, answer.values as Exact, [down, across], [first, left]);
    } catch (error) {
      if (asked.signal.aborted) return;
      fill(this.body);
      this.heading.show(this.shown, state, sliceOf(this.shown, state, "table"));
      this.message.show(toldError(error), null, [["Retry", () => void this.read(state)]]);
    }
    if (this.asked === asked) this.element.classList.remove("busy");
  }

  private show(state: State, values: Exact, [down, across]: [number, number], [first, left]: [number, number]): void {
    // The axes of the response are in the order of the dimensions.
    const listed = down >= 0 && across >= 0 && down > across ? transposed(values as Exact[][]) : values;
    const rows = down < 0 ? [listed] : (listed as Exact[]);
    const fields = this.shown.node.data_type.fields?.map((field) => field.name) ?? null;
    const [rowAxis, columnAxis] = [this.shown.axes[down], this.shown.axes[across]];
    const head = h("tr", {}, h("th", { scope: "col" }, [rowAxis?.name, columnAxis?.name].filter(Boolean).join(" \\ ")));
    const columns = across >= 0 ? ((rows[0] as Exact[] | undefined) ?? []).map((_, column) => told(columnAxis!, left + column)) : (fields ?? ["value"]);
    for (const column of columns) head.append(h("th", { scope: "col" }, column));
    const body = rows.map((row, number) => {
      const cells = across >= 0 ? (row as Exact[]) : fields ? fieldsOf(row, fields) : [row];
      return h("tr", {}, h("th", { scope: "row", title: `index ${first + number}` }, rowAxis ? told(rowAxis, first + number) : ""), ...cells.map((cell) => this.cell(cell, fields !== null)));
    });
    this.heading.show(this.shown, state, sliceOf(this.shown, state, "table"));
    fill(this.body, h("table", {}, h("thead", {}, head), h("tbody", {}, ...body)));
    fill(this.bar, ...this.pages("Row", down, first, rows.length, ROWS, (row) => ({ row })), ...(across >= 0 ? this.pages("Column", across, left, columns.length, COLUMNS, (column) => ({ column })) : []));
  }

  /** Returns the controls for other rows or columns. */
  private pages(name: string, dimension: number, first: number, number: number, each: number, to: (at: number) => Partial<State>): (HTMLElement | string)[] {
    const [length, axis] = [this.shown.shape[dimension] ?? 1, this.shown.axes[dimension]];
    if (length <= each || !axis) return [h("span", {}, `${count(length)} ${name.toLowerCase()}${length === 1 ? "" : "s"}`)];
    const page = (at: number, label: string, words: string, isPossible: boolean): HTMLElement =>
      h("button", { type: "button", class: "icon", disabled: !isPossible, "aria-label": words, title: words, click: () => this.store.change(to(Math.max(0, at))) }, label);
    const field = h("input", { type: "text", class: "go", placeholder: axis.isKnown ? told(axis, 0) : "0", "aria-label": `Go to ${name.toLowerCase()}` });
    field.addEventListener("change", () => {
      const at = find(axis, field.value);
      field.classList.toggle("wrong", at === null);
      if (at !== null) this.store.change(to(at));
    });
    return [
      page(first - each, "◀", `Previous ${name.toLowerCase()}s`, first > 0),
      h("span", {}, `${name}s ${count(first)} to ${count(first + number - 1)} of ${count(length)}`),
      page(first + each, "▶", `Next ${name.toLowerCase()}s`, first + each < length),
      field,
    ];
  }

  /** Returns a cell with the value that an element means. A tooltip shows a different stored value. Attributes do not apply to fields. */
  private cell(value: Exact, isField: boolean): HTMLElement {
    if (value === null) return h("td", {});
    const { meaning, node } = this.shown;
    const { kind, bytes } = node.data_type;
    if (typeof value === "bigint" && (isField || meaning.isPlain)) return h("td", { class: "number" }, String(value));
    if (typeof value !== "number" && typeof value !== "bigint") return h("td", {}, typeof value === "string" ? value : Array.isArray(value) && kind === "complex" ? complex(value) : written(value));
    if (isField) return h("td", { class: "number" }, exact(value));
    const meant = meaning.of(Number(value));
    const title = meaning.isPlain ? undefined : `stored: ${value}`;
    const times = isNumeric(node) ? timesOf(node) : null;
    if (Number.isNaN(meant)) return h("td", { title, class: "missing" }, "missing");
    return h("td", { title, class: "number" }, times ? times.text(meant) : exact(meant, meaning.isPlain && kind === "float" ? bytes : 8));
  }
}

function complex([real, imaginary]: Exact[]): string {
  const part = (one: Exact | undefined): string => (typeof one === "number" ? exact(one) : String(one));
  return `${part(real)} ${typeof imaginary === "number" && imaginary < 0 ? "−" : "+"} ${part(typeof imaginary === "number" ? Math.abs(imaginary) : imaginary)}i`;
}

function fieldsOf(row: Exact, fields: string[]): Exact[] {
  if (Array.isArray(row)) return row;
  if (row !== null && typeof row === "object") return fields.map((field) => row[field] ?? null);
  return [row];
}

function transposed(rows: Exact[][]): Exact[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? null));
}
