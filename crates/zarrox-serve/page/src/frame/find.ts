/** Searches for nodes in all roots, by name and by descriptive attributes. */

import { call, type Entry, type Found } from "../data/api";
import { fill, h } from "../dom";
import { told } from "../views/message";
import { count, unit } from "../data/numbers";
import { fresh, type Store } from "../data/state";

/** The number of nodes of each root that are shown at first, and with each further page. */
const PAGE = 20;

export class Finder {
  readonly input = h("input", { type: "search", placeholder: "Find in all roots", "aria-label": "Find in all roots", title: "Find by path, long_name or standard_name (/)", input: () => this.type(), "aria-controls": "found" });
  readonly element = h("div", { class: "found", id: "found", role: "region", "aria-label": "Search results", hidden: true });
  private asked: AbortController | null = null;
  private timer = 0;

  constructor(
    private readonly store: Store,
    private readonly roots: string[],
    /** Called when the results appear or disappear. */
    private readonly changed: (isOpen: boolean) => void,
  ) {
    const rows = (): HTMLElement[] => [...this.element.querySelectorAll<HTMLElement>("button")];
    const move = (event: KeyboardEvent): void => {
      if (event.key === "Escape") {
        this.input.value = "";
        this.type();
        this.input.focus();
      }
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const at = rows().indexOf(document.activeElement as HTMLElement) + by;
      (rows()[at] ?? this.input).focus();
    };
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") rows()[0]?.click();
      else move(event);
    });
    this.element.addEventListener("keydown", move);
  }

  private type(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(this.input.value.trim()), 200) as unknown as number;
  }

  private search(text: string): void {
    this.asked?.abort();
    this.element.hidden = text === "";
    this.changed(text !== "");
    fill(this.element);
    if (text === "") return;
    const asked = new AbortController();
    this.asked = asked;
    // The current root comes first.
    const own = this.store.state.root;
    for (const root of [own, ...this.roots.filter((one) => one !== own)].filter((one) => this.roots.includes(one))) {
      const part = h("section", { "aria-busy": "true" }, h("h3", {}, root), h("p", { class: "note" }, "Searching …"));
      this.element.append(part);
      void this.searchIn(root, text, PAGE, part, asked);
    }
  }

  private async searchIn(root: string, text: string, limit: number, part: HTMLElement, asked: AbortController): Promise<void> {
    try {
      const found = await call<Found>("tree", { root, path: "" }, { search: text, limit }, asked.signal);
      const matches = ranked(found.matches, text);
      const note = found.complete ? (matches.length === 0 ? "no match" : `${count(matches.length)} found`) : `first ${count(matches.length)} of many`;
      const more = !found.complete && matches.length >= limit && limit < 2000 && h("button", { type: "button", class: "more", click: () => void this.searchIn(root, text, Math.min(2000, limit * 5), part, asked) }, "More");
      fill(part, h("h3", {}, root, h("small", {}, ` ${note}`)), ...matches.map((entry) => this.row(root, entry)), more);
    } catch (error) {
      if (asked.signal.aborted) return;
      fill(part, h("h3", {}, root), h("p", { class: "note" }, told(error)));
    }
    part.removeAttribute("aria-busy");
  }

  private row(root: string, entry: Entry): HTMLElement {
    const choose = (): void => this.store.change(fresh({ root, path: entry.path }));
    const words = entry.kind === "array" ? [entry.title, entry.units && unit(entry.units), entry.shape.join(" × ") || "scalar"] : [entry.kind === "group" ? entry.title : "", entry.kind];
    return h("button", { type: "button", class: "result", click: choose }, h("strong", {}, entry.path || "/"), h("small", {}, words.filter(Boolean).join(" · ")));
  }
}

/** Sorts nodes: first those with the searched name, then those whose name begins with it. */
function ranked(entries: Entry[], text: string): Entry[] {
  const wanted = text.toLowerCase();
  const rank = ({ name }: Entry): number => (name.toLowerCase() === wanted ? 0 : name.toLowerCase().startsWith(wanted) ? 1 : name.toLowerCase().includes(wanted) ? 2 : 3);
  return [...entries].sort((a, b) => rank(a) - rank(b));
}
