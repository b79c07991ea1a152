/** Elements of the page. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, unknown>;

/** Makes an element. Functions among the attributes are listeners, and `false` leaves an attribute out. */
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

/** Appends what is not empty. */
function add(element: Element, children: Child[]): void {
  for (const child of children) if (child || child === "") element.append(child);
}

/** Replaces all that is inside of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

/** A labelled control. */
export function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  return h("label", { class: "control" }, h("span", {}, text), control);
}

/** A choice among words. */
export function choice(words: readonly string[], chosen: string, change: (word: string) => void): HTMLSelectElement {
  const select = h("select", { change: () => change(select.value) });
  for (const word of words) select.append(h("option", { value: word, selected: word === chosen }, word));
  return select;
}

/** A button that copies text, and says so. */
export function copier(label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", click: () => void copy() }, label);
  async function copy(): Promise<void> {
    const done = await navigator.clipboard.writeText(text()).then(() => true, () => false);
    button.textContent = done ? "copied" : "cannot copy";
    setTimeout(() => (button.textContent = label), 1200);
  }
  return button;
}

/** Downloads a file that the page has made. */
export function download(name: string, blob: Blob): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
