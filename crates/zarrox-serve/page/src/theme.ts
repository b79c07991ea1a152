/** The colours of the style sheet, for drawing. */
export interface Theme {
  paper: string;
  ink: string;
  soft: string;
  faint: string;
  alarm: string;
  accent: string;
}

/** The colours of figures in files. */
export const PRINT: Theme = { paper: "#ffffff", ink: "#1c2127", soft: "#55606c", faint: "#c5ccd3", alarm: "#b3261e", accent: "#0067a8" };

/** The colours of pins and their lines. */
export const SERIES = ["#d1495b", "#0077b6", "#2a9d50", "#b5651d", "#7b4bb7", "#00838f"];

/** The colours are cached, since reading a style makes the browser compute it. */
let known: Theme | null = null;
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => (known = null));

/** Returns the colours of the preferred theme. */
export function theme(): Theme {
  if (known) return known;
  const style = getComputedStyle(document.body);
  const of = (name: string): string => style.getPropertyValue(`--${name}`) || "gray";
  known = { paper: of("paper"), ink: style.color, soft: of("soft"), faint: of("faint"), alarm: of("alarm"), accent: of("accent") };
  return known;
}

/** Adds a listener for changes of the preferred theme. Returns a function that removes it. */
export function onTheme(changed: () => void): () => void {
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
}
