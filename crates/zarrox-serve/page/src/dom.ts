/** Elements of the page. */

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, unknown>;

/** Creates an element. Functions among the attributes are listeners; an attribute `false` is omitted. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, String(value));
  }
  add(element, children);
  return element;
}

/** Appends the children that are not empty. */
function add(element: Element, children: Child[]): void {
  for (const child of children) if (child || child === "") element.append(child);
}

/** Replaces the content of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

/** Returns a control with its name beside it. */
export function row(name: string, ...controls: Child[]): HTMLElement {
  return h("div", { class: "row" }, h("span", {}, name), h("div", {}, ...controls));
}

/** Returns a choice among values, each with its label. */
export function choice(label: string, options: readonly (readonly [value: string, words: string])[], chosen: string, change: (value: string) => void): HTMLSelectElement {
  const select = h("select", { "aria-label": label, "data-control": label, change: () => change(select.value) });
  for (const [value, words] of options) select.append(h("option", { value, selected: value === chosen }, words));
  return select;
}

/** Returns a choice among words. */
export function words(label: string, options: readonly string[], chosen: string, change: (word: string) => void): HTMLSelectElement {
  return choice(label, options.map((word) => [word, word] as const), chosen, change);
}

/** Returns a checkbox. */
export function check(label: string, isChecked: boolean, change: (isChecked: boolean) => void, title?: string): HTMLLabelElement {
  const box = h("input", { type: "checkbox", checked: isChecked, "data-control": label, change: () => change(box.checked) });
  return h("label", { class: "check", title }, box, label);
}

/** Replaces the content of an element, and preserves the focus. */
export function refill(element: Element, ...children: Child[]): void {
  const active = document.activeElement;
  const name = active instanceof HTMLElement && element.contains(active) ? active.dataset["control"] : undefined;
  fill(element, ...children);
  if (name) [...element.querySelectorAll<HTMLElement>("[data-control]")].find((one) => one.dataset["control"] === name)?.focus();
}

/** Copies text. Browsers offer the clipboard only to pages with TLS or on the local machine; other pages copy a selection. */
export async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard && (await navigator.clipboard.writeText(text).then(() => true, () => false))) return true;
  const field = h("textarea", { class: "offscreen", readonly: true });
  field.value = text;
  const active = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (active instanceof HTMLElement) active.focus();
  return done;
}

/** Returns a button that copies text and confirms it. */
export function copier(label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", click: () => void run() }, label);
  async function run(): Promise<void> {
    button.textContent = (await copy(text())) ? "Copied" : "Cannot copy";
    setTimeout(() => (button.textContent = label), 1200);
  }
  return button;
}

/** Downloads a file that the page has created. */
export function download(name: string, blob: Blob): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Returns a button that opens a panel below it. A click elsewhere or Escape closes the panel. */
export function popover(label: string, content: (close: () => void) => Child[], attributes: Attributes = {}): HTMLElement {
  const panel = h("div", { class: "popover", role: "dialog", "aria-label": label, hidden: true });
  const button = h("button", { type: "button", "aria-expanded": "false", "aria-haspopup": "dialog", click: () => toggle(panel.hidden), ...attributes }, label);
  const element = h("div", { class: "opener" }, button, panel);
  const outside = (event: Event): void => {
    if (!element.contains(event.target as Node)) toggle(false);
  };
  function toggle(isOpen: boolean): void {
    if (isOpen) fill(panel, ...content(() => toggle(false)));
    panel.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      addEventListener("pointerdown", outside, true);
      panel.querySelector<HTMLElement>("button, select, input, a, [tabindex]")?.focus();
    } else removeEventListener("pointerdown", outside, true);
  }
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    toggle(false);
    button.focus();
  });
  return element;
}
