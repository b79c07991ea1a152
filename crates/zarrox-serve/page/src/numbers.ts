/** Numbers and sizes as people read them. */

const INTEGERS = new Intl.NumberFormat("en-US");

/** A count, with its thousands apart. */
export function count(number: number): string {
  return INTEGERS.format(number);
}

/** Bytes, in the unit that suits. */
export function short(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return unit === 0 ? `${count(bytes)} B` : `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
}

/** Bytes in both forms. */
export function size(bytes: number): string {
  return bytes < 1024 ? short(bytes) : `${short(bytes)} (${count(bytes)} B)`;
}

/** A value, with as many digits as help. */
export function value(number: number): string {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return String(number);
  return String(Number(number.toPrecision(7)));
}

/** The largest end of a scale: the difference of two is a number. */
const MOST = Number.MAX_VALUE / 4;

/** The ends of a scale: apart from one another, and not further than a number can say. */
export function ends(low: number, high: number): [number, number] {
  const [from, to] = [Math.max(-MOST, Math.min(MOST, low)), Math.max(-MOST, Math.min(MOST, high))];
  const least = Math.max(Math.abs(from), Math.abs(to)) * 1e-12;
  if (to - from > least) return [from, to];
  const margin = Math.max(0.5, least);
  return [from - margin, to + margin];
}

/** Round numbers between two, some four of them. */
export function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 4;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const first = Math.ceil(low / step);
  const found = Array.from({ length: 6 }, (_, number) => (first + number) * step);
  return found.filter((tick) => tick <= high + step * 1e-9).map((tick) => Number(tick.toPrecision(12)));
}
