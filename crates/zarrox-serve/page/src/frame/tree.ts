/** The tree of nodes on the left, which is loaded page by page as nodes are expanded. */

import { call, type Entry, type Page } from "../data/api";
import { fill, h } from "../dom";
import { Finder } from "./find";
import { told } from "../views/message";
import { count, short, unit } from "../data/numbers";
import { fresh, type Store } from "../data/state";

/** The number of nodes that are loaded at once: while scrolling, and on the way to a chosen node. */
const [PAGE, LARGEST] = [200, 2000];
const ICONS: Record<Entry["kind"], string> = { group: "▣", array: "▦", folder: "▢", damaged: "⚠" };

/** The text that the tree shows for a node. */
interface Summary {
  name: string;
  path: string;
  kind: Entry["kind"];
  /** The size of an array. */
  size: string;
  /** The properties of an array, or the error of a node. */
  detail: string;
}

function summary(entry: Entry): Summary {
  const { name, path, kind } = entry;
  return { name, path, kind, size: entry.kind === "array" && entry.bytes !== null ? short(entry.bytes) : "", detail: detail(entry) };
}

function detail(entry: Entry): string {
  if (entry.kind === "damaged") return entry.error;
  if (entry.kind === "group") return entry.title ?? "";
  if (entry.kind !== "array") return "";
  const shape = entry.shape.map(count).join(" × ") || "scalar";
  return [entry.title, entry.units && !/ since /.test(entry.units) ? unit(entry.units) : "", shape, entry.title ? "" : entry.data_type].filter(Boolean).join(" · ");
}

/** A node of the tree, with its element in the page. */
interface Branch {
  root: string;
  entry: Summary;
  item: HTMLLIElement;
  label: HTMLElement;
  below: HTMLUListElement;
  open: boolean;
  loaded: boolean;
  /** The name after which the next page of children begins; `null` if all are loaded. */
  next: string | null;
  /** Removes the button that loads the next page. */
  end: (() => void) | null;
}

/** Returns the open list below a row. */
const open = (row: Element): Element | null => row.querySelector(":scope > ul:not([hidden])");

/** Returns the last visible row of a list. */
function last(list: Element): Element | null {
  const row = list.lastElementChild;
  const inside = row ? open(row) : null;
  return (inside && last(inside)) ?? row;
}

/** Returns the visible row below another one. */
function below(row: Element): Element | null {
  const first = open(row)?.firstElementChild;
  if (first) return first;
  for (let at: Element | null | undefined = row; at; at = at.parentElement?.closest("li")) if (at.nextElementSibling) return at.nextElementSibling;
  return null;
}

/** Returns the visible row above another one. */
function above(row: Element): Element | null {
  const before = row.previousElementSibling;
  if (!before) return row.parentElement?.closest("li") ?? null;
  const list = open(before);
  return (list && last(list)) ?? before;
}

export class Tree {
  readonly element: HTMLElement;
  private readonly list = h("ul", { role: "tree", "aria-label": "Nodes" });
  readonly finder: Finder;
  private readonly branches = new Map<string, Branch>();
  private readonly labels = new WeakMap<Element, Branch>();
  /** Loads the next children of a group when the end of its list becomes visible. */
  private readonly ends = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) (target as HTMLButtonElement).click();
  });
  private chosen: Branch | null = null;
  /** The item that the Tab key reaches. */
  private stop: HTMLElement | null = null;

  constructor(
    private readonly store: Store,
    private readonly roots: string[],
    private readonly fail: (error: unknown) => void,
  ) {
    this.finder = new Finder(store, roots, (isOpen) => (this.list.hidden = isOpen));
    this.element = h("nav", { class: "tree", "aria-label": "Hierarchy" }, this.finder.input, h("div", { class: "scroll" }, this.finder.element, this.list));
    this.list.addEventListener("keydown", (event) => this.key(event));
    store.listen((state, before) => {
      if (state.root !== before.root || state.path !== before.path) void this.reveal();
    });
  }

  /** Shows the roots, and the node of the state. */
  async begin(): Promise<void> {
    for (const root of this.roots) {
      const branch = this.branch(root, { name: root, path: "", kind: "group", size: "", detail: "" });
      this.list.append(branch.item);
    }
    if (!this.roots.includes(this.store.state.root)) this.store.change(fresh({ root: this.roots[0] ?? "", path: "" }), true);
    await this.reveal();
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
      h("small", { class: "size" }, entry.size),
      entry.detail ? h("small", { class: "detail" }, entry.detail) : null,
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
    this.store.change(fresh({ root: branch.root, path: branch.entry.path }));
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
        fill(branch.below, h("li", { class: "problem" }, told(error)));
      });
    }
  }

  /** Adds a page of children. Returns the name after which the next page begins. */
  private async more(branch: Branch, after: string | undefined, limit = PAGE): Promise<string | null> {
    const page = await call<Page>("tree", { root: branch.root, path: branch.entry.path }, { limit, after });
    for (const child of page.children) branch.below.append(this.branch(branch.root, summary(child)).item);
    if (page.children.length === 0 && !after && page.node.kind !== "array") branch.below.append(h("li", { class: "nothing" }, "empty"));
    branch.next = page.next;
    if (page.next === null) return null;
    const { next } = page;
    const button = h("button", { type: "button", tabindex: -1 }, "More …");
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

  /** Expands the tree down to the chosen node, and marks the node. */
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

  /** Returns a node whose parent is open. Since nodes are sorted by name, a missing node is detected. */
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

  /** Sets the item that the Tab key reaches. */
  private stopAt(item: HTMLElement | null): void {
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = item;
    if (item) item.tabIndex = 0;
  }

  /** Moves the focus to the item in a row of the list, if the row has one. */
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
}
