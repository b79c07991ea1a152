/** Readable numbers, sizes and units. */

const INTEGERS = new Intl.NumberFormat("en-US");

/** Returns a count with thousands separators. */
export function count(number: number): string {
  return INTEGERS.format(number);
}

/** Returns a number of bytes in a suitable unit. */
export function short(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return unit === 0 ? `${count(bytes)} B` : `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
}

/** Returns a number with all its digits: the shortest text that is parsed as the same float of this many bytes. */
export function exact(number: number | bigint, bytes = 8): string {
  if (typeof number === "bigint") return String(number);
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Number.isSafeInteger(number)) return String(number);
  return plain(bytes === 4 ? single(number) : bytes === 2 ? Number(number.toPrecision(5)) : number);
}

/** Returns the shortest decimal that identifies a four-byte float. */
function single(number: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(number.toPrecision(digits));
    if (Math.fround(shorter) === Math.fround(number)) return shorter;
  }
  return Number(number.toPrecision(9));
}

/** Returns a number, in exponential notation if that is shorter. */
function plain(number: number): string {
  if (number !== 0 && (Math.abs(number) >= 1e15 || Math.abs(number) < 1e-6)) return number.toExponential().replace("e+", "e");
  return String(number);
}

/** Returns a number with the digits that are useful in a summary. */
export function rounded(number: number, digits = 4): string {
  if (!Number.isFinite(number)) return exact(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e7) return String(number);
  const whole = Math.abs(number) >= 10 ** digits && Math.abs(number) < 1e7;
  return plain(whole ? Math.round(number) : Number(number.toPrecision(digits)));
}

/** The largest end of a scale: differences between such ends are finite. */
const MOST = Number.MAX_VALUE / 4;

/** Returns finite, distinct ends of a scale. */
export function ends(low: number, high: number): [number, number] {
  const [from, to] = [Math.max(-MOST, Math.min(MOST, low)), Math.max(-MOST, Math.min(MOST, high))];
  const least = Math.max(Math.abs(from), Math.abs(to)) * 1e-12;
  if (to - from > least) return [from, to];
  const margin = Math.max(0.5, least);
  return [from - margin, to + margin];
}

/** Returns the distance of about `wanted` ticks: 1, 2 or 5 times a power of ten. */
export function tickStep(low: number, high: number, wanted = 4, factors: readonly number[] = [1, 2, 5, 10]): number {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0) || !Number.isFinite(rough)) return 0;
  const power = 10 ** Math.floor(Math.log10(rough));
  return factors.map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999) ?? rough;
}

/** Returns the multiples of a step between two numbers. */
export function multiples(low: number, high: number, step: number): number[] {
  if (!(step > 0) || (high - low) / step > 1000) return [low];
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** Returns round numbers between two numbers. */
export function ticks(low: number, high: number, wanted = 4): number[] {
  return multiples(low, high, tickStep(low, high, wanted));
}

/** Returns ticks as text with the same number of decimals. */
export function tickTexts(values: number[]): string[] {
  const step = values.length > 1 ? Math.abs(values[1]! - values[0]!) : 0;
  const most = Math.max(...values.map(Math.abs));
  const decimals = step > 0 ? Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  const isPlain = most < 1e7 && decimals <= 6 && values.every((value) => Math.abs(value - Number(value.toFixed(decimals))) <= Math.abs(value) * 1e-9);
  return values.map((value) => (isPlain ? value.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1") : plain(Number(value.toPrecision(6)))).replace("-", "−"));
}

const UNITS: Record<string, string> = {
  "1": "", degrees_north: "°N", degree_north: "°N", degrees_east: "°E", degree_east: "°E", degrees: "°", degree: "°", degc: "°C", celsius: "°C", degree_celsius: "°C", degrees_celsius: "°C", deg_c: "°C",
  micrometer: "µm", micrometre: "µm", micron: "µm", um: "µm", nanometer: "nm", nanometre: "nm", millimeter: "mm", millimetre: "mm", meter: "m", metre: "m", meters: "m", metres: "m",
  second: "s", seconds: "s", millisecond: "ms", kelvin: "K", hertz: "Hz", percent: "%",
};
const RAISED: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };

/** Returns a unit for display: `m s-1` as `m s⁻¹`, `degrees_north` as `°N`. */
export function unit(text: string): string {
  const known = UNITS[text.trim().toLowerCase()];
  if (known !== undefined) return known;
  const raise = (power: string): string => [...power].map((digit) => RAISED[digit] ?? "").join("");
  return text.trim().replace(/([A-Za-z])(?:\*\*|\^)?(-?\d)(?=$|[\s.*/])/g, (_, letter: string, power: string) => letter + raise(power));
}
