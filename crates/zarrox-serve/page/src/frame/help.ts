/** The list of keyboard shortcuts. */

import { h } from "../dom";

const KEYS: Record<string, [string, string][]> = {
  Page: [["/ or ⌘K", "find in all roots"], ["[ and ]", "close or open the tree and the panel"], ["1 2 3 4", "image, plot, table, chunks"], ["?", "this sheet"]],
  Steps: [[", and .", "previous and next step along the first dimension"], ["Shift with ◀ or ▶", "ten steps"]],
  Image: [["wheel, pinch, + and −", "zoom"], ["drag, arrows", "move"], ["Shift + drag", "zoom to a box"], ["double click", "zoom in"], ["0", "fit"], ["click, Enter, long press", "pin a point and plot it"], ["Shift + click", "add a pin"], ["g", "go to a place, such as 52.5, 13.4"], ["b", "show the next view of a comparison that blinks"], ["Esc", "remove the pins"]],
};

/** Opens the list. */
export function help(): void {
  const sections = Object.entries(KEYS).map(([title, keys]) => h("section", {}, h("h3", {}, title), h("dl", {}, ...keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))));
  const close = h("button", { type: "button", click: () => sheet.close() }, "Close");
  const sheet = h("dialog", { class: "help", "aria-label": "Keys", close: () => sheet.remove() }, h("h2", {}, "Keys"), h("div", { class: "columns" }, ...sections), close);
  document.body.append(sheet);
  sheet.showModal();
}
