/** The panel on the right: style, metadata and storage of the shown node. */

import type { ArrayNode, NodeInfo, Place } from "../data/api";
import { fill, h } from "../dom";
import type { Shown } from "../data/model";
import { showInfo, table } from "./node";
import { showStorage } from "./storage";
import type { State } from "../data/state";

const TABS = ["Style", "Info", "Storage"] as const;
type Tab = (typeof TABS)[number];

export class Panel {
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Panel" });
  private readonly info = h("div", { class: "info" });
  private readonly storage = h("div", { class: "storage" });
  private readonly body = h("div", { class: "scroll", role: "tabpanel", tabindex: 0, "aria-label": "Panel" });
  readonly element = h("aside", { class: "panel", "aria-label": "Inspector" }, this.tabs, this.body);
  /** The loading times of the view, which are known later than the view. */
  private readonly times = h("div", {});
  private timesKey = "";
  private chosen: Tab = "Style";
  private possible: readonly Tab[] = TABS;
  private fillStorage: () => void = () => undefined;

  constructor(private readonly style: HTMLElement) {}

  /** Shows a node. A group has no style and no storage. */
  show(place: Place, node: NodeInfo): void {
    this.possible = node.kind === "array" ? TABS : ["Info"];
    showInfo(this.info, place, node);
    if (node.kind === "array" && node.unreadable) this.chosen = "Info";
    this.update();
  }

  /** Enables the style of a group that is an image. */
  allowStyle(): void {
    this.possible = TABS;
    this.update();
  }

  /** Shows the storage of an array, if that tab is open. */
  showStorage(node: ArrayNode, shown: Shown | null, state: State, kind: string): void {
    this.fillStorage = () => showStorage(this.storage, node, shown, state, kind, this.times);
    if (this.chosen === "Storage") this.fillStorage();
  }

  /** Shows the loading times of a view. */
  showTimes(times: [string, string][]): void {
    const key = times.join();
    if (key === this.timesKey) return;
    this.timesKey = key;
    fill(this.times, ...(times.length > 0 ? [h("h4", { title: "Fetching and decoding are sums over the threads of the server" }, "Times of this view"), table(times)] : []));
  }

  clear(): void {
    this.showTimes([]);
    this.possible = [];
    this.fillStorage = () => undefined;
    for (const element of [this.info, this.storage, this.style]) fill(element);
    this.update();
  }

  private update(): void {
    const chosen = this.possible.includes(this.chosen) ? this.chosen : this.possible[0];
    const choose = (tab: Tab): void => {
      this.chosen = tab;
      this.update();
    };
    const key = (event: KeyboardEvent, at: number): void => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      choose(this.possible[(at + by + this.possible.length) % this.possible.length]!);
      this.tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    };
    fill(this.tabs, ...this.possible.map((tab, at) => h("button", { type: "button", role: "tab", "aria-selected": String(tab === chosen), tabindex: tab === chosen ? 0 : -1, click: () => choose(tab), keydown: (event: KeyboardEvent) => key(event, at) }, tab)));
    if (chosen === "Storage") this.fillStorage();
    fill(this.body, chosen === "Style" ? this.style : chosen === "Info" ? this.info : chosen === "Storage" ? this.storage : null);
  }
}
