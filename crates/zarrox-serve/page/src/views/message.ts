/** Messages over a view, which are removed when they no longer apply. */

import { ApiError } from "../data/api";
import { fill, h } from "../dom";

/** A button of a message: its label and its action. */
export type Action = [label: string, act: () => void];

export class Message {
  readonly element = h("div", { class: "message problem", role: "alert", hidden: true });

  /** Shows a problem, and the actions that can solve it. */
  show(text: string, details: string | null, actions: Action[]): void {
    const buttons = actions.map(([label, act]) => h("button", { type: "button", click: act }, label));
    const close = h("button", { type: "button", class: "icon", "aria-label": "Close the message", click: () => this.clear() }, "×");
    fill(this.element, h("span", {}, text), details ? h("details", {}, h("summary", {}, "Details"), details) : null, ...buttons, close);
    this.element.hidden = false;
  }

  clear(): void {
    this.element.hidden = true;
    fill(this.element);
  }
}

/** Returns an error as text, with advice. */
export function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const advice = error instanceof ApiError && error.advice ? `: ${error.advice}` : "";
  return `${error.message}${advice}`;
}
