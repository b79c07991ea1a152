/** The tree of nodes on the left: opened as far as somebody looks, paged, and searched. */

import { call, roots as rootNames, type Entry, type Found, type Page } from "./api";
import { fill, h } from "./dom";
import { count, short } from "./numbers";
import { fresh, type Store } from "./state";

/** The nodes that are loaded at once: as somebody scrolls, and on the way to a chosen one. */
const [PAGE, LARGEST] = [200, 2000];
const ICONS: Record<Entry["kind"], string> = { group: "▣", array: "▦", folder: "▢", damaged: "⚠" };

/** What the tree tells of a node. */
interface Summary {
  name: string;
  path: string;
  kind: Entry["kind"];
  /** What an array has, or what is wrong with a node. */
  detail: string;
}

function summary(entry: Entry): Summary {
  const { name, path, kind } = entry;
  return { name, path, kind, detail: detail(entry) };
}

function detail(entry: Entry): string {
  if (entry.kind === "damaged") return entry.error;
  if (entry.kind !== "array") return "";
  const bytes = entry.bytes === null ? "" : ` · ${short(entry.bytes)}`;
  return `${entry.shape.join("×") || "scalar"} ${entry.data_type}${bytes}`;
}

/** A node of the tree, with its place in the page. */
interface Branch {
  root: string;
  entry: Summary;
  item: HTMLLIElement;
  label: HTMLElement;
  below: HTMLUListElement;
  open: boolean;
  loaded: boolean;
  /** The name after which the nodes below that are not loaded begin, if there are any. */
  next: string | null;
  /** Removes the button that loads them. */
  end: (() => void) | null;
}

/** The open list below a row. */
const open = (row: Element): Element | null => row.querySelector(":scope > ul:not([hidden])");

/** The last row of a list, as one sees it. */
function last(list: Element): Element | null {
  const row = list.lastElementChild;
  const inside = row ? open(row) : null;
  return (inside && last(inside)) ?? row;
}

/** The row below another one, as one sees it. */
function below(row: Element): Element | null {
  const first = open(row)?.firstElementChild;
  if (first) return first;
  for (let at: Element | null | undefined = row; at; at = at.parentElement?.closest("li")) if (at.nextElementSibling) return at.nextElementSibling;
  return null;
}

/** The row above another one, as one sees it. */
function above(row: Element): Element | null {
  const before = row.previousElementSibling;
  if (!before) return row.parentElement?.closest("li") ?? null;
  const list = open(before);
  return (list && last(list)) ?? before;
}

export class Tree {
  readonly element: HTMLElement;
  private readonly list = h("ul", { role: "tree", "aria-label": "nodes" });
  private readonly results = h("ul", { class: "results", "aria-label": "search results" });
  private readonly input: HTMLInputElement;
  private readonly branches = new Map<string, Branch>();
  private readonly labels = new WeakMap<Element, Branch>();
  /** Loads the next nodes of a group whose end comes into sight. */
  private readonly ends = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) (target as HTMLButtonElement).click();
  });
  private asked: AbortController | null = null;
  private timer = 0;
  private chosen: Branch | null = null;
  /** The item that the tabulator key comes to. */
  private stop: HTMLElement | null = null;

  constructor(
    private readonly store: Store,
    private readonly fail: (error: unknown) => void,
  ) {
    this.input = h("input", { type: "search", placeholder: "search nodes", "aria-label": "search nodes", input: () => this.type() });
    this.element = h("nav", { class: "tree", "aria-label": "hierarchy" }, this.input, this.results, this.list);
    this.list.addEventListener("keydown", (event) => this.key(event));
    store.listen((state, before) => {
      if (state.root !== before.root || state.path !== before.path) void this.reveal();
      if (state.search !== before.search) void this.search(state.search);
    });
  }

  /** Shows the roots, and the node of the state. */
  async begin(): Promise<void> {
    const names = await rootNames();
    for (const root of names) {
      const branch = this.branch(root, { name: root, path: "", kind: "group", detail: "" });
      this.list.append(branch.item);
    }
    if (!names.includes(this.store.state.root)) this.store.change(fresh({ root: names[0] ?? "", path: "" }), true);
    this.input.value = this.store.state.search;
    await Promise.all([this.reveal(), this.search(this.store.state.search)]);
  }

  private id(root: string, path: string): string {
    return `${root}\n${path}`;
  }

  private branch(root: string, entry: Summary): Branch {
    const known = this.branches.get(this.id(root, entry.path));
    if (known) return known;
    const has = entry.kind === "group" || entry.kind === "folder";
    const id = `below-${this.branches.size}`;
    const below = h("ul", { role: "group", hidden: true, id });
    const label = h(
      "div",
      {
        class: `label ${entry.kind}`,
        role: "treeitem",
        tabindex: -1,
        title: entry.detail,
        "aria-expanded": has ? "false" : undefined,
        "aria-owns": has ? id : undefined,
        "aria-selected": "false",
      },
      h("span", { class: "twist", "aria-hidden": "true" }, has ? "▸" : ""),
      h("span", { class: "icon", "aria-hidden": "true" }, ICONS[entry.kind]),
      h("span", { class: "name" }, entry.name || "/"),
      h("small", {}, entry.detail),
    );
    const item = h("li", { role: "none" }, label, below);
    const branch: Branch = { root, entry, item, label, below, open: false, loaded: false, next: null, end: null };
    label.addEventListener("click", (event) => {
      const twisted = (event.target as HTMLElement).classList.contains("twist");
      if (has && (twisted || this.isChosen(branch))) void this.toggle(branch);
      else if (has && !branch.open) void this.toggle(branch);
      if (!twisted) this.choose(branch);
    });
    this.branches.set(this.id(root, entry.path), branch);
    this.labels.set(label, branch);
    return branch;
  }

  private isChosen(branch: Branch): boolean {
    return branch.root === this.store.state.root && branch.entry.path === this.store.state.path;
  }

  private choose(branch: Branch): void {
    this.store.change(fresh({ root: branch.root, path: branch.entry.path }, this.store.state.search));
  }

  private async toggle(branch: Branch, open = !branch.open): Promise<void> {
    if (branch.entry.kind === "array" || branch.entry.kind === "damaged") return;
    branch.open = open;
    branch.below.hidden = !open;
    branch.label.setAttribute("aria-expanded", String(open));
    branch.label.querySelector(".twist")!.textContent = open ? "▾" : "▸";
    if (open && !branch.loaded) {
      branch.loaded = true;
      await this.more(branch, undefined).catch((error: unknown) => {
        branch.loaded = false;
        fill(branch.below, h("li", { class: "problem" }, error instanceof Error ? error.message : String(error)));
      });
    }
  }

  /** Adds a page of children, and gives the name after which the next page begins. */
  private async more(branch: Branch, after: string | undefined, limit = PAGE): Promise<string | null> {
    const page = await call<Page>("tree", { root: branch.root, path: branch.entry.path }, { limit, after });
    for (const child of page.children) branch.below.append(this.branch(branch.root, summary(child)).item);
    if (page.children.length === 0 && !after && page.node.kind !== "array") branch.below.append(h("li", { class: "nothing" }, "nothing below"));
    branch.next = page.next;
    if (page.next === null) return null;
    const { next } = page;
    const button = h("button", { type: "button", tabindex: -1 }, "more …");
    const item = h("li", { role: "none" }, button);
    branch.end = () => {
      this.ends.unobserve(button);
      item.remove();
    };
    button.addEventListener("click", () => {
      const before = item.previousElementSibling;
      const focused = document.activeElement === button;
      branch.end?.();
      this.more(branch, next).then(() => focused && before && this.focus(before.nextElementSibling), this.fail);
    });
    branch.below.append(item);
    this.ends.observe(button);
    return next;
  }

  /** Opens the tree as far as the chosen node, and marks it. */
  private async reveal(): Promise<void> {
    const { root, path } = this.store.state;
    const parts = path.split("/").filter((part) => part !== "");
    for (let depth = 0; depth <= parts.length; depth++) {
      const branch = await this.loaded(root, parts.slice(0, depth));
      if (!branch) break;
      if (depth < parts.length || depth === 0) await this.toggle(branch, true);
    }
    if (this.store.state.root !== root || this.store.state.path !== path) return;
    this.chosen?.label.setAttribute("aria-selected", "false");
    this.chosen = this.branches.get(this.id(root, path)) ?? null;
    this.chosen?.label.setAttribute("aria-selected", "true");
    this.chosen?.label.scrollIntoView({ block: "nearest" });
    this.stopAt(this.chosen?.label ?? this.list.querySelector<HTMLElement>('[role="treeitem"]'));
  }

  /** A node whose parent is open. Nodes are sorted by their names, so that it is known when there is none. */
  private async loaded(root: string, parts: string[]): Promise<Branch | null> {
    const find = (): Branch | null => this.branches.get(this.id(root, parts.join("/"))) ?? null;
    const parent = this.branches.get(this.id(root, parts.slice(0, -1).join("/")));
    const name = parts[parts.length - 1];
    while (!find() && parent?.next && name !== undefined && parent.next < name) {
      parent.end?.();
      await this.more(parent, parent.next, LARGEST);
    }
    return find();
  }

  // Keys.

  /** Lets the tabulator key come back to an item of the tree. */
  private stopAt(item: HTMLElement | null): void {
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = item;
    if (item) item.tabIndex = 0;
  }

  /** Moves to the item in a row of the list, if it has one. */
  private focus(row: Element | null): boolean {
    const item = row?.querySelector<HTMLElement>(":scope > [role='treeitem'], :scope > button");
    if (!item) return false;
    this.stopAt(item);
    item.focus();
    return true;
  }

  private key(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest("li");
    if (!row) return;
    const branch = this.labels.get(event.target as HTMLElement);
    const step = (to: (row: Element) => Element | null): void => {
      for (let next = to(row); next && !this.focus(next); next = to(next)) continue;
    };
    if (event.key === "ArrowDown") step(below);
    else if (event.key === "ArrowUp") step(above);
    else if (event.key === "Home") this.focus(this.list.firstElementChild);
    else if (event.key === "End") this.focus(last(this.list));
    else if (event.key === "ArrowRight" && branch) branch.open ? step(below) : void this.toggle(branch, true);
    else if (event.key === "ArrowLeft") {
      if (branch?.open) void this.toggle(branch, false);
      else this.focus(row.parentElement?.closest("li") ?? null);
    } else if ((event.key === "Enter" || event.key === " ") && branch) this.choose(branch);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Searching.

  private type(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.store.change({ search: this.input.value.trim() }, true), 200) as unknown as number;
  }

  private async search(text: string): Promise<void> {
    this.asked?.abort();
    fill(this.results);
    this.list.hidden = text !== "";
    if (text === "") return;
    const asked = new AbortController();
    this.asked = asked;
    try {
      const found = await call<Found>("tree", { root: this.store.state.root, path: "" }, { search: text, limit: PAGE }, asked.signal);
      const items = found.matches.map((entry) => {
        const choose = (): void => this.store.change(fresh({ root: this.store.state.root, path: entry.path }, text));
        return h("li", {}, h("button", { type: "button", class: "label", click: choose }, h("span", { class: "icon", "aria-hidden": "true" }, ICONS[entry.kind]), entry.path || "/"));
      });
      const note = found.complete ? `${count(found.matches.length)} found` : `the first ${count(found.matches.length)}`;
      fill(this.results, h("li", { class: "nothing" }, note), ...items);
    } catch (error) {
      if (!asked.signal.aborted) this.fail(error);
    }
  }
}
