/** Colours of red, green and blue, as numbers up to 255 and as `rrggbb`. */

export type Rgb = [number, number, number];

/** Returns the colour of a text `rrggbb`. */
export const rgb = (text: string): Rgb => [0, 2, 4].map((at) => parseInt(text.slice(at, at + 2), 16)) as Rgb;

/** Returns a colour as `rrggbb`. */
export const hex = (colour: Rgb): string => colour.map((part) => part.toString(16).padStart(2, "0")).join("");
