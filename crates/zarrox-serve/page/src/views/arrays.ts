/** A field for the path of an array in any root, which suggests arrays. */

import { call, type Entry, type Found, type Page, type Place } from "../data/api";
import { h } from "../dom";
import { sides, type Shown } from "../data/model";
import type { State } from "../data/state";

let fields = 0;

/** Returns a field for an array. It suggests the arrays beside the shown one at first, and arrays of all roots for typed text. */
export function arrayField(label: string, place: Place, roots: string[], shown: Shown, state: State, choose: (place: Place) => void): HTMLElement {
  const list = h("datalist", { id: `arrays-${fields++}` });
  const value = textOf(place);
  const field = h("input", { type: "text", class: "array", list: list.id, value, title: `${value}: type a path, or a part of a name`, "aria-label": label, spellcheck: "false", autocomplete: "off" });
  const suggest = (root: string, entries: Entry[], above = ""): void => {
    for (const entry of entries) {
      if (entry.kind !== "array" || !isImage(entry.shape, shown, state)) continue;
      const path = textOf({ root, path: [above, entry.path || entry.name].filter(Boolean).join("/") });
      if ([...list.children].some((one) => (one as HTMLOptionElement).value === path)) continue;
      list.append(h("option", { value: path }, [entry.title, entry.shape.join(" × ")].filter(Boolean).join(" · ")));
    }
  };
  let [timer, isListed] = [0, false];
  field.addEventListener("focus", () => {
    field.select();
    if (isListed) return;
    isListed = true;
    const above = shown.place.path.split("/").slice(0, -1).join("/");
    call<Page>("tree", { root: shown.place.root, path: above }, { limit: 200 }).then((page) => suggest(shown.place.root, page.children), () => undefined);
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const text = (field.value.split("/").pop() ?? "").trim();
    if (text === "") return;
    timer = setTimeout(() => {
      for (const root of roots) call<Found>("tree", { root, path: "" }, { search: text, limit: 50 }).then((found) => suggest(root, found.matches), () => undefined);
    }, 200) as unknown as number;
  });
  field.addEventListener("change", () => {
    const typed = field.value.trim().replace(/^\/+|\/+$/g, "");
    // Without a root, the path is in the root of the image.
    const root = roots.filter((one) => typed === one || typed.startsWith(`${one}/`)).sort((a, b) => b.length - a.length)[0];
    field.blur();
    choose(root === undefined ? { root: shown.place.root, path: typed } : { root, path: typed.slice(root.length + 1) });
  });
  return h("span", { class: "opener" }, field, list);
}

const textOf = ({ root, path }: Place): string => [root, path].filter(Boolean).join("/");

/** Returns true if an array of this shape can be shown beside an image. The arrays with the same lengths come first in a list of names. */
function isImage(shape: number[], shown: Shown, state: State): boolean {
  const lengths = sides(shown, state).map((dimension) => shown.shape[dimension] ?? 1);
  return lengths.every((length) => shape.includes(length)) || shape.filter((length) => length > 1).length >= 2;
}
