/** The page: a tree on the left, a view in the middle, and a panel on the right. */

import { begin, call, forget, onConnection, type NodeInfo, type Place } from "./data/api";
import { carried } from "./data/carry";
import { begun, Comparison } from "./views/compare";
import { ChunkView } from "./views/chunks";
import type { Exports } from "./frame/code";
import { allMaps, type Maps } from "./image/colours";
import { DimensionRows } from "./frame/dimensions";
import { choice, fill, h } from "./dom";
import { coordinate, indices } from "./data/links";
import { goTo } from "./frame/goto";
import { help } from "./frame/help";
import { ImageView, type Around } from "./image/image";
import { Message, told } from "./views/message";
import { along, fieldOf, pinAlong, shownCount, shownSelection, thirdOf, thirds, views, type Shown } from "./data/model";
import { nodeAt, open } from "./data/open";
import { overview } from "./views/overview";
import { Panel } from "./frame/panel";
import { crossed, Planes } from "./views/planes";
import { PlotView } from "./views/plot";
import { edge, isNarrow, toggle } from "./frame/sides";
import { Store, type State } from "./data/state";
import { StylePanel } from "./frame/style";
import { TableView } from "./views/table";
import { TopBar } from "./frame/topbar";
import { Tree } from "./frame/tree";

/** A view in the middle. */
interface View {
  element: HTMLElement;
  update(state: State): void;
  close(): void;
}

/** The maximum number of pins. */
const PINS = 6;

class App {
  private readonly store = new Store();
  private readonly begun = begin();
  private readonly maps: Maps = allMaps(this.begun.colours);
  private readonly tree = new Tree(this.store, this.begun.roots.map((root) => root.name), (error) => this.message.show(told(error), null, []));
  private readonly style = new StylePanel(this.store, this.maps);
  private readonly panel = new Panel(this.style.element);
  private readonly message = new Message();
  private readonly lost = h("div", { class: "lost", role: "alert", hidden: true });
  private readonly middle = h("div", { class: "view" });
  private readonly dock = h("section", { class: "dock", "aria-label": "Plots of pins", hidden: true });
  private readonly rows: DimensionRows = new DimensionRows(this.store, () => this.image?.fixed() ?? {}, () => this.middle.querySelector(".busy") !== null, (state) => this.image?.prefetch(state));
  private readonly bar: TopBar;
  private shown: Shown | null = null;
  private node: NodeInfo | null = null;
  private view: View | null = null;
  /** The name of the shown view; `null` before the first view. */
  private kind: string | null = null;
  private plots: PlotView | null = null;
  private comparison: Comparison | null = null;
  private planes: Planes | null = null;
  private readonly comparing = h("div", {});
  private readonly alongBox = h("span", { class: "along" });
  /** The last array that was shown, with its state and its contrast limits. */
  private last: { shown: Shown; state: State; limits: number[] } | null = null;
  private opened = 0;

  constructor() {
    this.bar = new TopBar(this.store, this.begun.token, () => toggle("tree"), () => toggle("panel"), () => ({ ...this.store.state, ...(this.image?.fixed() ?? {}) }), () => this.selection(), () => this.exports());
  }

  async begin(): Promise<void> {
    // In a frame, such as one in a notebook, the side panels are closed in favour of the picture.
    document.body.classList.toggle("no-tree", window.self !== window.top);
    const main = h("main", {}, this.message.element, this.comparing, this.middle, this.rows.element);
    document.body.replaceChildren(this.bar.element, this.lost, this.tree.element, edge("tree"), main, edge("panel"), this.panel.element);
    onConnection((isConnected) => this.connection(isConnected));
    addEventListener("keydown", (event) => this.key(event));
    this.store.naming = ({ root, path }, dimension, at) => {
      const isShown = this.shown !== null && this.node !== null && root === this.shown.place.root && path === this.node.path;
      return isShown ? coordinate(this.shown!, dimension, at) : null;
    };
    this.store.listen((state, before) => {
      if (state.root !== before.root || state.path !== before.path) void this.open();
      else this.update();
    });
    await Promise.all([this.tree.begin(), this.open()]);
  }

  private get image(): ImageView | null {
    return this.view instanceof ImageView ? this.view : null;
  }

  /** Shows that the connection to the server is lost or restored. */
  private connection(isConnected: boolean): void {
    this.lost.hidden = isConnected;
    const retry = async (): Promise<void> => {
      const answer = await fetch("api/v1/", { credentials: "same-origin" }).catch(() => null);
      if (answer?.status === 401) location.reload();
      else if (answer?.ok) {
        this.lost.hidden = true;
        forget();
        await this.open();
      }
    };
    if (!isConnected) fill(this.lost, h("span", {}, "Disconnected from the server"), h("button", { type: "button", click: () => void retry() }, "Retry"));
  }

  /** Opens the node of the state. */
  private async open(): Promise<void> {
    const number = ++this.opened;
    const { root, path } = this.store.state;
    const place = { root, path };
    document.body.classList.remove("drawer");
    this.clear();
    document.title = `${path.split("/").pop() || root} – Zarrox`;
    this.bar.showPlace(place);
    if (root === "") return;
    let node: NodeInfo | null = null;
    let failed: unknown = null;
    try {
      node = await nodeAt(place);
    } catch (error) {
      failed = error;
    }
    if (number !== this.opened) return;
    document.body.classList.remove("loading");
    this.bar.showNode(place, node);
    if (failed) return this.fail(failed);
    this.node = node;
    if (node) this.panel.show(place, node);
    let shown: Shown | null = null;
    try {
      shown = node && (await open(place, node));
    } catch (error) {
      if (number === this.opened) this.fail(error);
      return;
    }
    if (number !== this.opened) return;
    if (shown) this.show(shown, place, number);
    else if (node?.kind === "array") fill(this.middle, h("p", { class: "nothing" }, node.unreadable ?? ""));
    else void overview(this.middle, this.store, place, node, () => number === this.opened);
  }

  /** Shows an error in place of a view. */
  private fail(error: unknown): void {
    this.message.show(told(error), null, [["Retry", () => void this.open()]]);
  }

  private show(shown: Shown, place: Place, number: number): void {
    if (this.node?.kind === "group") this.panel.allowStyle();
    // A link contains the whole state, so that nothing is carried over.
    if (this.last && this.store.isChosen) {
      this.shown = null;
      this.store.change(carried(this.last.shown, this.last.state, shown, this.last.limits), true);
    }
    this.shown = shown;
    this.update();
    const array = { root: place.root, path: shown.place.path };
    // Counting chunks may take longer than the picture.
    void call<NodeInfo | null>("node", array, { optional: true }).then((counted) => {
      if (number !== this.opened || counted?.kind !== "array") return;
      shown.node.stored = counted.stored;
      this.update();
    }, () => undefined);
  }

  private clear(): void {
    if (this.last && this.image) this.last.limits = this.image.limits(this.last.state) ?? [];
    this.view?.close();
    this.plots?.close();
    this.endComparison();
    this.endPlanes();
    [this.view, this.plots, this.shown, this.kind, this.node] = [null, null, null, null, null];
    this.message.clear();
    this.rows.clear();
    this.panel.clear();
    this.bar.showNode(this.store.state, null);
    this.bar.showTabs([], "");
    this.dock.hidden = true;
    document.body.classList.add("loading");
    fill(this.middle, h("div", { class: "skeleton", "aria-label": "Loading" }, h("i", {}), h("i", {}), h("i", {})));
  }

  /** Shows the state. */
  private update(): void {
    const { shown } = this;
    const { state } = this.store;
    if (!shown) return;
    if (Object.keys(state.named).length > 0) return this.locate(shown, state);
    const possible = views(shown);
    const kind = possible.includes(state.view) ? state.view : (possible[0] ?? "");
    if (kind !== this.kind) this.change(kind, shown);
    this.bar.showTabs(possible, kind);
    this.rows.show(shown, kind);
    this.view?.update(state);
    this.compare(shown, state);
    this.cross(shown, state);
    this.style.show(shown, this.image, kind);
    this.panel.showStorage(shown.node, shown, state, kind);
    this.updatePlots(shown, state, kind);
    this.last = { shown, state, limits: [] };
  }

  /** Sets the indices from the coordinates in a link. */
  private locate(shown: Shown, state: State): void {
    const { at, notes } = indices(shown, state.named);
    this.store.settle({ at: { ...state.at, ...at }, named: {} });
    if (notes.length > 0) this.message.show(notes.join(". "), null, []);
  }

  private change(kind: string, shown: Shown): void {
    this.view?.close();
    this.endComparison();
    this.endPlanes();
    this.kind = kind;
    this.message.clear();
    if (kind === "image") this.view = new ImageView(shown, this.store, this.maps, this.around());
    else if (kind === "plot") this.view = new PlotView(shown, this.store, (state) => along(shown, state), false, () => []);
    else if (kind === "table") this.view = new TableView(shown, this.store);
    else if (kind === "chunks") this.view = new ChunkView(shown, this.store);
    else this.view = null;
    this.place();
  }

  /** Arranges the views in the middle. */
  private place(): void {
    const nothing = this.view ? null : h("p", { class: "nothing" }, "The array has no elements.");
    const others = this.comparison?.elements ?? this.planes?.elements ?? [];
    const beside = others.filter((other) => !other.classList.contains("over")).length;
    this.middle.classList.toggle("several", beside > 0);
    this.middle.classList.toggle("quad", beside > 1);
    this.middle.classList.toggle("ortho", this.planes !== null);
    fill(this.middle, this.view?.element, ...others, nothing, this.kind === "image" && this.shown && this.tools(this.shown), this.dock);
  }

  private around(): Around {
    return {
      pin: (y, x, add) => this.pin(y, x, add),
      changed: () => {
        this.style.changed();
        this.panel.showTimes(this.image?.times ?? []);
        this.planes?.update();
      },
      showChunks: () => this.store.change({ view: "chunks" }),
    };
  }

  private compare(shown: Shown, state: State): void {
    if (!this.image || state.compare === "") return this.endComparison();
    if (!this.comparison) {
      this.comparison = new Comparison(shown, this.store, this.maps, this.around(), this.image, this.begun.roots.map((root) => root.name), () => this.place());
      fill(this.comparing, this.comparison.bar);
    }
    this.comparison.update(state);
  }

  private endComparison(): void {
    if (!this.comparison) return;
    this.comparison.close();
    this.comparison = null;
    fill(this.comparing);
    this.place();
  }

  /** Shows three orthogonal planes, if the state has a third dimension. */
  private cross(shown: Shown, state: State): void {
    const third = this.image && state.compare === "" ? thirdOf(shown, state) : -1;
    if (this.planes?.third !== third) this.endPlanes();
    if (!this.image || third < 0) return;
    if (!this.planes) {
      this.planes = new Planes(shown, this.store, this.maps, this.around(), this.image, third);
      this.place();
    }
    this.planes.update();
  }

  private endPlanes(): void {
    if (!this.planes) return;
    this.planes.close();
    this.planes = null;
    this.place();
  }

  /** Returns the buttons over an image. */
  private tools(shown: Shown): HTMLElement {
    const button = (label: string, name: string, act: () => void): HTMLElement => h("button", { type: "button", class: "icon", "aria-label": name, title: name, click: act }, label);
    return h("div", { class: "tools" }, button("+", "Zoom in", () => this.image?.zoom(0.7)), button("−", "Zoom out", () => this.image?.zoom(1 / 0.7)), button("⤢", "Fit (0)", () => this.image?.fit()), button("⊙", "Go to a place (g)", () => goTo(shown, this.store)), thirds(shown, this.store.state).length > 0 && button("⊞", "Orthogonal planes", () => this.store.change(thirdOf(shown, this.store.state) >= 0 ? { planes: -1 } : crossed(shown, this.store.state, thirds(shown, this.store.state)[0]!))), button("◫", "Compare", () => this.store.change(this.store.state.compare ? { compare: "", others: [] } : begun(shown, this.store.state))));
  }

  // Pins and their plots.

  private pin(y: number, x: number, add: boolean): void {
    if (this.planes && this.shown) return this.store.change(Planes.move(this.shown, this.store.state, y, x));
    if (!this.shown || pinAlong(this.shown, this.store.state) < 0) return;
    const points: [number, number][] = add ? [...this.store.state.points, [y, x]] : [[y, x]];
    this.store.change({ points: points.slice(-PINS) });
  }

  private updatePlots(shown: Shown, state: State, kind: string): void {
    const isWanted = kind === "image" && state.points.length > 0 && pinAlong(shown, state) >= 0;
    this.dock.hidden = !isWanted;
    if (!isWanted) {
      this.plots?.close();
      this.plots = null;
      return fill(this.dock);
    }
    if (!this.plots) {
      const close = h("button", { type: "button", class: "icon", "aria-label": "Clear the pins", title: "Clear the pins (Esc)", click: () => this.store.change({ points: [] }) }, "×");
      this.plots = new PlotView(shown, this.store, (one) => pinAlong(shown, one), true, (one) => this.image?.visible(one) ?? [], this.alongBox, close);
      fill(this.dock, this.plots.element);
    }
    const names = shown.axes.map((axis, dimension) => [String(dimension), axis.name] as const).filter(([dimension]) => Number(dimension) !== shown.colours && Number(dimension) !== shown.channelDimension);
    fill(this.alongBox, "along ", choice("Plot pins along", names, String(pinAlong(shown, state)), (dimension) => this.store.change({ along: Number(dimension) })));
    this.plots.update(state);
  }

  // Actions on the shown data.

  private selection(): string {
    return this.shown ? shownSelection(this.shown, this.store.state, this.kind ?? "") : "...";
  }

  private exports(): Exports | null {
    const { shown } = this;
    const { state } = this.store;
    if (!shown) return null;
    const image = this.image;
    const name = shown.node.name || shown.place.root;
    return {
      place: shown.place,
      node: shown.node,
      selection: this.selection(),
      field: fieldOf(shown, state)?.name,
      elements: shownCount(shown, state, this.kind ?? ""),
      figure: image ? (form) => image.save(form, name) : null,
    };
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return this.find();
    }
    const isTyping = /^(input|textarea|select)$/i.test(target.tagName) && (target as HTMLInputElement).type !== "range" && (target as HTMLInputElement).type !== "checkbox";
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const view = VIEWS[Number(event.key) - 1];
    if (event.key === "/") this.find();
    else if (event.key === "?") help();
    else if (event.key === "[") toggle("tree");
    else if (event.key === "]") toggle("panel");
    else if (event.key === ",") this.rows.step(-1);
    else if (event.key === ".") this.rows.step(1);
    else if (event.key === "b") this.comparison?.step();
    else if (event.key === "g" && this.shown && this.kind === "image") goTo(this.shown, this.store);
    else if (event.key === "Escape" && this.store.state.points.length > 0) this.store.change({ points: [] });
    else if (view && this.shown && views(this.shown).includes(view)) this.store.change({ view, box: [] });
    else return;
    event.preventDefault();
  }

  private find(): void {
    document.body.classList.remove("no-tree");
    if (isNarrow()) document.body.classList.add("drawer");
    this.tree.finder.input.focus();
    this.tree.finder.input.select();
  }
}

const VIEWS = ["image", "plot", "table", "chunks"];

async function start(): Promise<void> {
  try {
    await new App().begin();
  } catch (error) {
    document.body.replaceChildren(h("p", { class: "problem", role: "alert" }, told(error)));
  }
}

void start();
