/** Messages over a view, which go when they are no longer true. */

import { ApiError } from "../data/api";
import { fill, h } from "../dom";

/** What can be done about a message. */
export type Action = [label: string, act: () => void];

export class Message {
  readonly element = h("div", { class: "message problem", role: "alert", hidden: true });

  /** Shows what is wrong, and what can be done. */
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

/** An error as text, with what to do. */
export function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const advice = error instanceof ApiError && error.advice ? `: ${error.advice}` : "";
  return `${error.message}${advice}`;
}
