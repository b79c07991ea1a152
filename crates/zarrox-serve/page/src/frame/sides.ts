/** The tree and the panel, which can be closed, opened and resized. */

import { h } from "../dom";

type Side = "tree" | "panel";

/** The minimum and the maximum width of a side, in pixels. */
const [LEAST, MOST] = [140, 640];

/** Opens or closes a side. */
export function toggle(side: Side): void {
  // On a phone, the tree is a drawer that is closed at first.
  document.body.classList.toggle(isNarrow() && side === "tree" ? "drawer" : `no-${side}`);
}

export const isNarrow = (): boolean => matchMedia("(max-width: 48rem)").matches;

/** Returns the edge of a side, which resizes it by dragging or with the arrow keys. */
export function edge(side: Side): HTMLElement {
  const name = side === "tree" ? "--tree" : "--side";
  const width = (): number => parseFloat(getComputedStyle(document.body).getPropertyValue(name));
  const set = (wanted: number): void => {
    const now = Math.max(LEAST, Math.min(MOST, wanted));
    document.body.style.setProperty(name, `${now}px`);
    element.setAttribute("aria-valuenow", String(Math.round(now)));
  };
  const element = h("div", { class: `edge of-${side}`, role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": side === "tree" ? "Width of the tree" : "Width of the panel", "aria-valuemin": LEAST, "aria-valuemax": MOST, "aria-valuenow": 0 });
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) set(side === "tree" ? event.clientX : innerWidth - event.clientX);
  });
  element.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(width() + (side === "tree" ? by : -by));
  });
  return element;
}
