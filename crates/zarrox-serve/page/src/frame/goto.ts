/** Going to a typed position. */

import { find, told } from "../data/coordinates";
import { h } from "../dom";
import { sides, type Shown } from "../data/model";
import type { Store } from "../data/state";

/** Prompts for a position in the image, and adds a pin to it. */
export function goTo(shown: Shown, store: Store): void {
  const [x, y] = sides(shown, store.state);
  const [xAxis, yAxis] = [shown.axes[x]!, shown.axes[y]];
  if (!yAxis) return;
  const example = [yAxis, xAxis].map((axis) => axis.label(Math.floor(axis.length / 2))).join(", ");
  const field = h("input", { type: "text", placeholder: example, "aria-label": "Place", spellcheck: "false", autocomplete: "off" });
  const note = h("p", { class: "note", role: "status" });
  const submit = (event: Event): void => {
    event.preventDefault();
    const parts = field.value.split(/[,;]\s*|\s+(?=[#\d+−-])/).filter((part) => part.trim() !== "");
    const [row, column] = [parts[0] === undefined ? null : find(yAxis, parts[0]), parts[1] === undefined ? null : find(xAxis, parts[1])];
    if (row === null || column === null) {
      note.textContent = `Type ${yAxis.name} and ${xAxis.name}, such as ${example}, or indices such as #10, #20`;
      return;
    }
    dialog.close();
    const { box } = store.state;
    const [width, height] = [(box[2] ?? 0) - (box[0] ?? 0), (box[3] ?? 0) - (box[1] ?? 0)];
    store.change({ points: [[row, column]], ...(box.length === 4 ? { box: [column - width / 2, row - height / 2, column + width / 2, row + height / 2] } : {}) });
  };
  const range = [yAxis, xAxis].map((axis) => `${axis.name} from ${told(axis, 0)} to ${told(axis, axis.length - 1)}`).join(", ");
  const dialog = h("dialog", { class: "goto", "aria-label": "Go to a place", close: () => dialog.remove() }, h("form", { submit }, h("label", {}, `Go to ${yAxis.name}, ${xAxis.name}`, field), h("small", {}, range), note, h("div", { class: "bar" }, h("button", {}, "Go"), h("button", { type: "button", click: () => dialog.close() }, "Cancel"))));
  document.body.append(dialog);
  dialog.showModal();
}
