/** Numbers and sizes as people read them. */

const INTEGERS = new Intl.NumberFormat("en-US");

/** A count, with its thousands apart. */
export function count(number: number): string {
  return INTEGERS.format(number);
}

/** Bytes in both forms. */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const short = (bytes / 1024 ** unit).toFixed(unit === 0 ? 0 : 1);
  return unit === 0 ? `${count(bytes)} B` : `${short} ${units[unit]} (${count(bytes)} B)`;
}

/** A value, with as many digits as help. */
export function value(number: number): string {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return String(number);
  return String(Number(number.toPrecision(7)));
}

/** Round numbers between two, some four of them. */
export function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 4;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const first = Math.ceil(low / step) * step;
  const found: number[] = [];
  for (let tick = first; tick <= high + step * 1e-9; tick += step) found.push(Number(tick.toPrecision(12)));
  return found;
}
