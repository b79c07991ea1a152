/** The bar at the top: the path, the views, and actions such as sharing and export. */

import type { NodeInfo, Place } from "../data/api";
import { codePanel, exportPanel, type Exports } from "./code";
import { copy, fill, h, popover, type Child } from "../dom";
import { help } from "./help";
import { fragment, fresh, type State, type Store } from "../data/state";

const NAMES: Record<string, string> = { image: "Image", plot: "Plot", table: "Table", chunks: "Chunks" };

export class TopBar {
  private readonly path = h("nav", { class: "crumbs", "aria-label": "Path" });
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
  private readonly actions = h("div", { class: "actions" });
  readonly element: HTMLElement;
  private shown = "";
  private node: { place: Place; node: NodeInfo } | null = null;

  constructor(
    private readonly store: Store,
    private readonly token: string | null,
    toggleTree: () => void,
    togglePanel: () => void,
    /** Returns the state for a link. */
    private readonly linked: () => State,
    private readonly selection: () => string,
    private readonly exports: () => Exports | null,
  ) {
    const tree = h("button", { type: "button", class: "icon", "aria-label": "Show or hide the tree", title: "Show or hide the tree ([)", click: toggleTree }, "☰");
    const panel = h("button", { type: "button", class: "icon", "aria-label": "Show or hide the panel", title: "Show or hide the panel (])", click: togglePanel }, "◨");
    const keys = h("button", { type: "button", class: "icon", "aria-label": "Keys", title: "Keys (?)", click: help }, "?");
    const label = token ? "Copies a link with the token of this server: people who have it can read everything that is served" : "Copies a link to this view";
    const link = h("button", { type: "button", title: label, click: () => void this.copyLink(link) }, "Copy link");
    const code = popover("Code", () => this.code(), { "data-control": "Code" });
    const files = popover("Export", (close) => this.files(close), { "data-control": "Export" });
    this.actions.append(link, code, files);
    this.element = h("header", {}, tree, h("h1", {}, "Zarrox"), this.path, this.tabs, h("span", { class: "space" }), this.actions, keys, panel);
  }

  /** Returns the link to the shown data, with the token. */
  link(): string {
    const url = new URL(location.href);
    url.search = "";
    // Within frames, the token is in the path.
    if (this.token && !url.pathname.includes(`/t/${encodeURIComponent(this.token)}/`)) url.searchParams.set("token", this.token);
    url.hash = this.store.fragment(this.linked());
    return url.href;
  }

  private async copyLink(button: HTMLElement): Promise<void> {
    button.textContent = (await copy(this.link())) ? "Copied" : "Cannot copy";
    setTimeout(() => (button.textContent = "Copy link"), 1200);
  }

  private code(): Child[] {
    return this.node ? codePanel(this.node.place, this.node.node, this.selection()) : [h("p", {}, "Choose a group or an array first.")];
  }

  private files(close: () => void): Child[] {
    const exports = this.exports();
    return exports ? exportPanel(exports, close) : [h("p", {}, "Choose an array first.")];
  }

  /** Shows the path of a location. */
  showPlace(place: Place): void {
    const parts = [place.root, ...place.path.split("/").filter(Boolean)];
    const items = parts.flatMap((part, depth) => {
      const path = parts.slice(1, depth + 1).join("/");
      const isLast = depth === parts.length - 1;
      const link = isLast ? h("strong", { "aria-current": "page" }, part) : h("a", { href: fragment(fresh({ root: place.root, path })) }, part);
      return depth === 0 ? [link] : [h("span", { "aria-hidden": "true" }, "/"), link];
    });
    fill(this.path, ...items);
    this.path.title = parts.join("/");
  }

  showNode(place: Place, node: NodeInfo | null): void {
    this.node = node ? { place, node } : null;
    this.actions.hidden = node === null;
  }

  /** Shows the views of an array. */
  showTabs(possible: string[], chosen: string): void {
    const shown = `${possible.join()} ${chosen}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const choose = (view: string): void => this.store.change({ view, box: [], row: 0, column: 0 });
    const key = (event: KeyboardEvent, at: number): void => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      choose(possible[(at + by + possible.length) % possible.length]!);
      this.tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    };
    fill(this.tabs, ...possible.map((name, at) => h("button", { type: "button", role: "tab", "aria-selected": String(name === chosen), tabindex: name === chosen ? 0 : -1, "data-view": name, click: () => choose(name), keydown: (event: KeyboardEvent) => key(event, at) }, NAMES[name])));
  }
}
