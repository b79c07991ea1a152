/** The tree of nodes on the left: opened as far as somebody looks, paged, and searched. */

import { call, roots as rootNames, type Entry, type Found, type Page } from "./api";
import { fill, h } from "./dom";
import { count } from "./numbers";
import { fresh, type Store } from "./state";

const PAGE = 200;
const ICONS: Record<Entry["kind"], string> = { group: "▣", array: "▦", folder: "▢", damaged: "⚠" };

/** A node of the tree, with its place in the page. */
interface Branch {
  root: string;
  entry: Entry;
  item: HTMLLIElement;
  label: HTMLElement;
  below: HTMLUListElement;
  open: boolean;
  loaded: boolean;
}

export class Tree {
  readonly element: HTMLElement;
  private readonly list = h("ul", { role: "tree", "aria-label": "nodes" });
  private readonly results = h("ul", { class: "results", "aria-label": "search results" });
  private readonly input: HTMLInputElement;
  private readonly branches = new Map<string, Branch>();
  private asked: AbortController | null = null;
  private timer = 0;

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
      const branch = this.branch(root, { name: root, path: "", kind: "group" });
      this.list.append(branch.item);
    }
    if (!names.includes(this.store.state.root)) this.store.change(fresh({ root: names[0] ?? "", path: "" }), true);
    this.input.value = this.store.state.search;
    await Promise.all([this.reveal(), this.search(this.store.state.search)]);
  }

  private id(root: string, path: string): string {
    return `${root}\n${path}`;
  }

  private branch(root: string, entry: Entry): Branch {
    const known = this.branches.get(this.id(root, entry.path));
    if (known) return known;
    const has = entry.kind === "group" || entry.kind === "folder";
    const detail = entry.shape ? `${entry.shape.join("×") || "scalar"} ${entry.data_type ?? ""}` : (entry.error ?? "");
    const id = `below-${this.branches.size}`;
    const below = h("ul", { role: "group", hidden: true, id });
    const label = h(
      "div",
      {
        class: `label ${entry.kind}`,
        role: "treeitem",
        tabindex: -1,
        title: entry.error ?? detail,
        "aria-expanded": has ? "false" : undefined,
        "aria-owns": has ? id : undefined,
        "aria-selected": "false",
      },
      h("span", { class: "twist", "aria-hidden": "true" }, has ? "▸" : ""),
      h("span", { class: "icon", "aria-hidden": "true" }, ICONS[entry.kind]),
      h("span", { class: "name" }, entry.name || "/"),
      h("small", {}, detail),
    );
    const item = h("li", { role: "none" }, label, below);
    const branch: Branch = { root, entry, item, label, below, open: false, loaded: false };
    label.addEventListener("click", (event) => {
      const twisted = (event.target as HTMLElement).classList.contains("twist");
      if (has && (twisted || this.isChosen(branch))) void this.toggle(branch);
      else if (has && !branch.open) void this.toggle(branch);
      if (!twisted) this.choose(branch);
    });
    this.branches.set(this.id(root, entry.path), branch);
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

  /** Adds a page of children. */
  private async more(branch: Branch, after: string | undefined): Promise<void> {
    const page = await call<Page>("tree", { root: branch.root, path: branch.entry.path }, { limit: PAGE, after });
    for (const child of page.children) branch.below.append(this.branch(branch.root, child).item);
    if (page.children.length === 0 && !after && page.node.kind !== "array") branch.below.append(h("li", { class: "nothing" }, "nothing below"));
    if (page.next === null) return;
    const next = page.next;
    const button = h("button", { type: "button" }, "more …");
    const item = h("li", { role: "none" }, button);
    button.addEventListener("click", () => {
      item.remove();
      this.more(branch, next).catch(this.fail);
    });
    branch.below.append(item);
  }

  /** Opens the tree as far as the chosen node, and marks it. */
  private async reveal(): Promise<void> {
    const { root, path } = this.store.state;
    const parts = path.split("/").filter((part) => part !== "");
    for (let depth = 0; depth <= parts.length; depth++) {
      const at = parts.slice(0, depth).join("/");
      const branch = this.branches.get(this.id(root, at));
      if (!branch) break;
      if (depth < parts.length || depth === 0) await this.toggle(branch, true);
    }
    for (const branch of this.branches.values()) {
      const chosen = this.isChosen(branch);
      branch.label.setAttribute("aria-selected", String(chosen));
      branch.label.tabIndex = chosen ? 0 : -1;
      if (chosen) branch.label.scrollIntoView({ block: "nearest" });
    }
    if (!this.list.querySelector('[tabindex="0"]')) this.list.querySelector<HTMLElement>('[role="treeitem"]')?.setAttribute("tabindex", "0");
  }

  // Keys.

  private key(event: KeyboardEvent): void {
    const items = [...this.list.querySelectorAll<HTMLElement>('[role="treeitem"]')].filter((item) => item.offsetParent !== null);
    const at = items.indexOf(document.activeElement as HTMLElement);
    const branch = [...this.branches.values()].find((one) => one.label === items[at]);
    if (!branch) return;
    const focus = (index: number): void => {
      items.forEach((item) => (item.tabIndex = -1));
      const item = items[Math.max(0, Math.min(items.length - 1, index))]!;
      item.tabIndex = 0;
      item.focus();
    };
    if (event.key === "ArrowDown") focus(at + 1);
    else if (event.key === "ArrowUp") focus(at - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(items.length - 1);
    else if (event.key === "ArrowRight") branch.open ? focus(at + 1) : void this.toggle(branch, true);
    else if (event.key === "ArrowLeft") {
      if (branch.open) void this.toggle(branch, false);
      else focus(items.indexOf(branch.item.parentElement?.closest("li")?.querySelector<HTMLElement>('[role="treeitem"]') ?? items[0]!));
    } else if (event.key === "Enter" || event.key === " ") this.choose(branch);
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
