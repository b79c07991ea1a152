/** Dates of the CF conventions in all their calendars, and of NumPy's types of times. */

/** A calendar, which counts days from 1970-01-01 if it has leap years, and otherwise from its own first day. */
interface Calendar {
  day: (year: number, month: number, day: number) => number;
  date: (day: number) => [number, number, number];
}

/** Returns the day of a year that begins in March; the next function is the inverse. */
const inYear = (month: number, day: number): number => Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
function fromMarch(year: number, of: number): [number, number, number] {
  const shifted = Math.floor((5 * of + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return [month <= 2 ? year + 1 : year, month, of - Math.floor((153 * shifted + 2) / 5) + 1];
}

const GREGORIAN: Calendar = {
  day(year, month, day) {
    const shifted = month <= 2 ? year - 1 : year;
    const era = Math.floor(shifted / 400);
    const inEra = shifted - era * 400;
    return era * 146_097 + inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + inYear(month, day) - 719_468;
  },
  date(day) {
    const shifted = day + 719_468;
    const era = Math.floor(shifted / 146_097);
    const inEra = shifted - era * 146_097;
    const year = Math.floor((inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365);
    return fromMarch(year + era * 400, inEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100)));
  },
};

const JULIAN: Calendar = {
  day(year, month, day) {
    const shifted = month <= 2 ? year - 1 : year;
    const era = Math.floor(shifted / 4);
    return era * 1461 + (shifted - era * 4) * 365 + inYear(month, day) - 719_470;
  },
  date(day) {
    const shifted = day + 719_470;
    const era = Math.floor(shifted / 1461);
    const inEra = shifted - era * 1461;
    const year = Math.floor((inEra - Math.floor(inEra / 1460)) / 365);
    return fromMarch(year + era * 4, inEra - 365 * year);
  },
};

/** The first day of the Gregorian calendar, 1582-10-15. */
const REFORM = GREGORIAN.day(1582, 10, 15);
const MIXED: Calendar = {
  day: (year, month, day) => {
    const new_ = GREGORIAN.day(year, month, day);
    return new_ >= REFORM ? new_ : JULIAN.day(year, month, day);
  },
  date: (day) => (day >= REFORM ? GREGORIAN : JULIAN).date(day),
};

/** Returns a calendar whose years all have these months. */
function uniform(months: number[]): Calendar {
  const all = months.reduce((sum, days) => sum + days, 0);
  const before = months.map((_, month) => months.slice(0, month).reduce((sum, days) => sum + days, 0));
  return {
    day: (year, month, day) => year * all + (before[month - 1] ?? 0) + day - 1,
    date: (day) => {
      const year = Math.floor(day / all);
      const rest = day - year * all;
      let month = 0;
      while (month < 11 && before[month + 1]! <= rest) month += 1;
      return [year, month + 1, rest - before[month]! + 1];
    },
  };
}

const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const NO_LEAP = uniform(MONTHS);
const ALL_LEAP = uniform(MONTHS.map((days, month) => (month === 1 ? 29 : days)));
const THIRTY = uniform(MONTHS.map(() => 30));

const CALENDARS: Record<string, Calendar> = {
  "": MIXED, standard: MIXED, gregorian: MIXED, proleptic_gregorian: GREGORIAN, julian: JULIAN,
  noleap: NO_LEAP, "365_day": NO_LEAP, all_leap: ALL_LEAP, "366_day": ALL_LEAP, "360_day": THIRTY,
};

const DAY = 86_400;
const SECONDS: Record<string, number> = {
  microsecond: 1e-6, microsec: 1e-6, us: 1e-6, millisecond: 0.001, msec: 0.001, ms: 0.001, second: 1, sec: 1, s: 1, minute: 60, min: 60, hour: 3600, hr: 3600, h: 3600, day: DAY, d: DAY, week: 7 * DAY,
};

/** The conversion between numbers and dates. */
export interface Times {
  /** Returns a number as text in the form of ISO 8601, without trailing zero parts. */
  text: (number: number) => string;
  /** Returns the number of a date such as `2020-06-24 12:00`; `null` for other texts. */
  number: (text: string) => number | null;
  /** Returns the number of a date from its year, month and day. */
  at: (year: number, month: number, day: number) => number;
  /** Returns the year, the month and the day of a number. */
  date: (number: number) => [number, number, number];
  /** The number of seconds in one unit. */
  seconds: number;
}

const pad = (number: number, digits = 2): string => String(number).padStart(digits, "0");

function times(calendar: Calendar, origin: number, seconds: number): Times {
  const ofSeconds = (total: number): number => (total - origin) / seconds;
  const split = (number: number): [number, number] => {
    const total = Math.round((number * seconds + origin) * 1e6) / 1e6;
    const day = Math.floor(total / DAY);
    return [day, total - day * DAY];
  };
  return {
    seconds,
    at: (year, month, day) => ofSeconds(calendar.day(year, month, day) * DAY),
    date: (number) => calendar.date(split(number)[0]),
    text(number) {
      if (!Number.isFinite(number)) return "no time";
      const [day, rest] = split(number);
      const [year, month, date] = calendar.date(day);
      const days = `${year < 0 ? `-${pad(-year, 4)}` : pad(year, 4)}-${pad(month)}-${pad(date)}`;
      if (rest === 0 && seconds >= DAY) return days;
      const second = Math.round((rest % 60) * 1e6) / 1e6;
      const clock = `${days} ${pad(Math.floor(rest / 3600))}:${pad(Math.floor(rest / 60) % 60)}`;
      return second === 0 ? clock : `${clock}:${second < 10 ? "0" : ""}${second}`;
    },
    number(text) {
      const total = secondsOf(text, calendar);
      return total === null ? null : ofSeconds(total);
    },
  };
}

/** Returns the seconds of a date in a calendar. */
function secondsOf(text: string, calendar: Calendar): number | null {
  const parts = /^\s*([+-]?\d{1,6})-(\d{1,2})(?:-(\d{1,2}))?(?:[ T]+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?)?\s*(Z|UTC|([+-]\d{1,2}):?(\d{2})?)?\s*$/i.exec(text);
  if (!parts) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const zone = Number(parts[8] ?? 0) * 3600 + Math.sign(Number(parts[8] ?? 0)) * Number(parts[9] ?? 0) * 60;
  if (month! < 1 || month! > 12) return null;
  return calendar.day(year!, month!, parts[3] === undefined ? 1 : day!) * DAY + hour! * 3600 + minute! * 60 + second! - zone;
}

/** Returns the conversion for units such as "hours since 1900-01-01" in a calendar; `null` for other units. */
export function dates(units: string, name: string): Times | null {
  const match = /^\s*([a-z]+?)s?\s+since\s+(.+?)\s*$/i.exec(units);
  const calendar = CALENDARS[name.toLowerCase()];
  if (!match || !calendar) return null;
  const word = match[1]!.toLowerCase();
  const months: Record<string, number> = { month: 30 * DAY, year: 360 * DAY };
  // Months have a fixed number of days in one calendar only.
  const seconds = SECONDS[word] ?? SECONDS[`${word}s`] ?? (calendar === THIRTY ? months[word] : undefined);
  const origin = secondsOf(match[2]!, calendar);
  return seconds === undefined || origin === null ? null : times(calendar, origin, seconds);
}

const NUMPY: Record<string, number> = { W: 7 * DAY, D: DAY, h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, "μs": 1e-6, ns: 1e-9, ps: 1e-12, fs: 1e-15, as: 1e-18 };

/** Returns the conversion for NumPy's time types, such as `datetime64[ns]`; `null` for other types. */
export function timesOfType(type: string): Times | null {
  const match = /^\W*(?:numpy\.)?datetime64\D*?(?:\[|unit\W+)(\d*)\s*(Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as)\b/.exec(type);
  if (!match) return null;
  const factor = Number(match[1] || 1);
  const unit = match[2]!;
  if (unit !== "Y" && unit !== "M") return times(GREGORIAN, 0, factor * NUMPY[unit]!);
  const perYear = unit === "Y" ? 1 : 12;
  const date = (number: number): [number, number, number] => [1970 + Math.floor((number * factor) / perYear), perYear === 1 ? 1 : (((number * factor) % 12) + 12) % 12 + 1, 1];
  const at = (year: number, month: number): number => ((year - 1970) * perYear + (perYear === 1 ? 0 : month - 1)) / factor;
  return {
    seconds: factor * (unit === "Y" ? 365.2425 : 30.436875) * DAY,
    at,
    date,
    text: (number) => (Number.isFinite(number) ? date(number).slice(0, unit === "Y" ? 1 : 2).map((part, digit) => pad(part, digit === 0 ? 4 : 2)).join("-") : "no time"),
    number: (text) => {
      const parts = /^\s*(\d{1,6})(?:-(\d{1,2}))?/.exec(text);
      return parts ? at(Number(parts[1]), Number(parts[2] ?? 1)) : null;
    },
  };
}

const SHORT_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns about `wanted` round times between two numbers, with short texts: years, months, days or hours. */
export function timeTicks(of: Times, low: number, high: number, wanted: number): [number, string][] {
  const days = ((high - low) * of.seconds) / DAY;
  const each = days / Math.max(1, wanted);
  if (!(each > 0)) return [];
  const found: [number, string][] = [];
  const put = (number: number, text: string): void => {
    if (number >= low && number <= high) found.push([number, text]);
  };
  const [from, to] = [of.date(low), of.date(high)];
  if (each >= 25) {
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000].find((candidate) => candidate * 30.5 >= each * 0.9) ?? 12_000;
    const last = to[0] * 12 + to[1] - 1;
    for (let at = Math.ceil((from[0] * 12 + from[1] - 1) / months) * months; at <= last; at += months) {
      const [year, month] = [Math.floor(at / 12), (at % 12) + 1];
      put(of.at(year, month, 1), months >= 12 ? String(year) : month === 1 ? `Jan ${year}` : SHORT_MONTHS[month - 1]!);
    }
    return found;
  }
  const step = [1 / 24, 1 / 8, 1 / 4, 1 / 2, 1, 2, 5, 10, 15].find((candidate) => candidate >= each * 0.8) ?? 15;
  if (each < 1 / 60) return [];
  const start = of.at(...from);
  const perDay = DAY / of.seconds;
  for (let at = 0; at * step <= days + 1; at++) {
    const number = start + at * step * perDay;
    const [, month, day] = of.date(number);
    const clock = of.text(number).slice(11, 16);
    put(number, step >= 1 || clock === "" || clock === "00:00" ? `${day} ${SHORT_MONTHS[month - 1]}` : clock);
  }
  return found;
}
