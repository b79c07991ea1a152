//! CF times: counts of a unit since a date in a calendar.

use zarrox::json::Map;

/// The length of a day in microseconds.
const DAY: i128 = 86_400 * SECOND;
const SECOND: i128 = 1_000_000;

/// A CF calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calendar {
    /// Julian before 15 October 1582, Gregorian from then on.
    Standard,
    Gregorian,
    Julian,
    /// Every year has 365 days.
    NoLeap,
    /// Every year has 366 days.
    AllLeap,
    /// Every month has 30 days.
    Days360,
}

impl Calendar {
    /// Returns the calendar with the given name; without a name, the standard calendar.
    fn named(name: Option<&str>) -> Option<Self> {
        Some(match name.unwrap_or("standard").to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::Gregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// Returns the number of days in a month.
    fn days_of(self, year: i64, month: i64) -> i64 {
        let is_leap = match self {
            Self::Days360 => return 30,
            Self::NoLeap => false,
            Self::AllLeap => true,
            Self::Julian => year % 4 == 0,
            Self::Standard if year <= 1582 => year % 4 == 0,
            Self::Standard | Self::Gregorian => year % 4 == 0 && (year % 100 != 0 || year % 400 == 0),
        };
        match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Returns the number of days from a fixed reference day in the calendar to a date.
    fn day(self, year: i64, month: i64, day: i64) -> i64 {
        let of_year = |leap: i64| (1..month).map(|month| self.days_of(leap, month)).sum::<i64>() + day - 1;
        match self {
            Self::Standard if (year, month, day) >= (1582, 10, 15) => gregorian(year, month, day),
            Self::Gregorian => gregorian(year, month, day),
            Self::Standard | Self::Julian => julian(year, month, day),
            Self::NoLeap => year * 365 + of_year(1),
            Self::AllLeap => year * 366 + of_year(4),
            Self::Days360 => year * 360 + (month - 1) * 30 + day - 1,
        }
    }

    /// Returns the start and end of the time span denoted by a string such as `2000`, `2000-02`, `2000-02-28` or
    /// `2000-02-28T12:30`, in microseconds since the reference day of the calendar.
    pub(crate) fn span(self, text: &str) -> Option<(i128, i128)> {
        let text = text.trim();
        let (date, time) = match text.find(['T', ' ']) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?.trim()),
            None => (text, ""),
        };
        let (is_negative, digits) = match date.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, date),
        };
        let mut numbers = digits.split('-').map(number);
        let year = numbers.next()??;
        let year = if is_negative { -year } else { year };
        let (month, day) = (numbers.next(), numbers.next());
        if numbers.next().is_some() {
            return None;
        }
        let start = |year, month, day| i128::from(self.day(year, month, day)) * DAY;
        match (month, day) {
            (None, _) if time.is_empty() => Some((start(year, 1, 1), start(year + 1, 1, 1))),
            (Some(month), None) if time.is_empty() => {
                let month = month.filter(|month| (1..=12).contains(month))?;
                let next = if month == 12 { start(year + 1, 1, 1) } else { start(year, month + 1, 1) };
                Some((start(year, month, 1), next))
            }
            (Some(month), Some(day)) => {
                let month = month.filter(|month| (1..=12).contains(month))?;
                let day = day.filter(|day| (1..=self.days_of(year, month)).contains(day))?;
                let (first, length) = if time.is_empty() { (0, DAY) } else { clock(time)? };
                let start = start(year, month, day) + first;
                Some((start, start + length))
            }
            _ => None,
        }
    }
}

/// Parses decimal digits.
fn number(digits: &str) -> Option<i64> {
    let is_number = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Parses a time of day. Returns the microseconds since midnight, and the length of the time span that the string denotes.
fn clock(text: &str) -> Option<(i128, i128)> {
    let (text, zone) = zoned(text)?;
    let mut parts = text.split(':');
    let hours = number(parts.next()?).filter(|&hours| hours <= 24)?;
    let minutes = parts.next().map(|minutes| number(minutes).filter(|&minutes| minutes < 60));
    let seconds = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let whole = i128::from(hours) * 3600 + i128::from(minutes.unwrap_or(Some(0))?) * 60;
    let (of_second, length) = match (minutes, seconds) {
        (None, _) => (0, 3600 * SECOND),
        (_, None) => (0, 60 * SECOND),
        (_, Some(seconds)) => {
            let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            let seconds = number(seconds).filter(|&seconds| seconds < 60)?;
            let is_fraction = fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
            let fraction = is_fraction.then(|| format!("{fraction:0<6}"))?.parse::<i128>().ok()?;
            (i128::from(seconds) * SECOND + fraction, SECOND)
        }
    };
    Some((whole * SECOND + of_second - zone, length))
}

/// Returns a string without its time zone, and the offset of the time zone from UTC in microseconds.
fn zoned(text: &str) -> Option<(&str, i128)> {
    for end in ["Z", "z", "UTC", "GMT"] {
        if let Some(rest) = text.strip_suffix(end) {
            return Some((rest.trim_end(), 0));
        }
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (rest, zone) = (text.get(..at)?.trim_end(), text.get(at + 1..)?);
    let (hours, minutes) = match zone.split_once(':') {
        Some((hours, minutes)) => (number(hours)?, number(minutes)?),
        None if zone.len() == 4 => (number(zone.get(..2)?)?, number(zone.get(2..)?)?),
        None => (number(zone)?, 0),
    };
    if hours > 24 || minutes > 59 {
        return None;
    }
    let length = i128::from(hours * 60 + minutes) * 60 * SECOND;
    Some((rest, if text.as_bytes().get(at) == Some(&b'-') { -length } else { length }))
}

/// Returns the number of days from 1970 to a date in the Gregorian calendar. The calculation uses years that begin in
/// March, so that the leap day is the last day of a year.
pub(crate) fn gregorian(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the number of days from 1970 in the Gregorian calendar to a date in the Julian calendar.
fn julian(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year.div_euclid(4) + (153 * month + 2) / 5 + day - 1 - 719_470
}

/// The unit and origin of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// The length of the unit in microseconds.
    step: i128,
    /// The origin, in microseconds since the reference day of the calendar.
    origin: i128,
    pub(crate) calendar: Calendar,
}

impl Units {
    /// Returns the units of an array with the given attributes; `None` if the elements are not times, or if the unit has
    /// no fixed length, as for months.
    pub(crate) fn of(attributes: &Map) -> Option<Self> {
        let text = |name: &str| attributes.get(name).and_then(|value| value.as_str());
        Self::parse(text("units")?, text("calendar"))
    }

    /// Parses units such as `days since 2000-01-01`.
    fn parse(units: &str, calendar: Option<&str>) -> Option<Self> {
        let calendar = Calendar::named(calendar)?;
        let (unit, origin) = units.split_once(" since ")?;
        let step = match unit.trim().to_ascii_lowercase().as_str() {
            "days" | "day" | "d" => DAY,
            "hours" | "hour" | "hr" | "hrs" | "h" => 3600 * SECOND,
            "minutes" | "minute" | "min" | "mins" => 60 * SECOND,
            "seconds" | "second" | "sec" | "secs" | "s" => SECOND,
            "milliseconds" | "millisecond" | "msec" | "msecs" | "ms" => 1000,
            "microseconds" | "microsecond" => 1,
            _ => return None,
        };
        Some(Self { step, origin: calendar.span(origin)?.0, calendar })
    }

    /// Converts a time to microseconds since the reference day of the calendar.
    pub(crate) fn position(&self, value: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "times are compared as floats")]
        let (step, origin) = (self.step as f64, self.origin as f64);
        value * step + origin
    }
}

/// The conversion of times from one unit and origin to another in the same calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    from: Units,
    to: Units,
}

impl Shift {
    /// Returns the conversion; `None` if the calendars differ.
    pub(crate) fn new(from: Units, to: Units) -> Option<Self> {
        (from.calendar == to.calendar).then_some(Self { from, to })
    }

    /// Converts an integer time; `None` if the result is not an integer.
    pub(crate) fn whole(&self, value: i128) -> Option<i128> {
        let at = value.checked_mul(self.from.step)?.checked_add(self.from.origin)?;
        let at = at.checked_sub(self.to.origin)?;
        (at % self.to.step == 0).then_some(at / self.to.step)
    }

    /// Converts a floating-point time; `None` if the result would be off by a microsecond or more.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the result is compared with the original"
    )]
    pub(crate) fn float(&self, value: f64) -> Option<f64> {
        /// The maximum number of microseconds up to which floats represent all integers exactly.
        const MOST: f64 = 9_007_199_254_740_992.0;
        if value.is_nan() {
            return Some(value);
        }
        let microseconds = value * self.from.step as f64;
        if microseconds.fract() != 0.0 || microseconds.abs() > MOST {
            return None;
        }
        let at = microseconds as i128 + self.from.origin - self.to.origin;
        let converted = at as f64 / self.to.step as f64;
        let back = converted * self.to.step as f64;
        (back.abs() <= MOST && back.round() as i128 == at).then_some(converted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, calendar: &str) -> Units {
        Units::parse(text, Some(calendar)).unwrap()
    }

    #[test]
    fn dates_follow_their_calendars() {
        // cftime: date2num(..., "days since 1970-01-01", calendar)
        for (calendar, date, days) in [
            ("standard", "2000-03-01", 11017),
            ("standard", "1582-10-15", -141_427),
            ("standard", "1582-10-04", -141_428),
            ("standard", "0001-01-01", -719_164),
            ("proleptic_gregorian", "0001-01-01", -719_162),
            ("julian", "2000-01-01", 365 * 30 + 7),
            ("noleap", "2000-03-01", 365 * 30 + 59),
            ("all_leap", "2000-03-01", 366 * 30 + 60),
            ("360_day", "2000-02-30", 360 * 30 + 59),
        ] {
            let units = units("days since 1970-01-01", calendar);
            let day = (units.calendar.span(date).unwrap().0 - units.origin) / DAY;
            assert_eq!(day, days, "{calendar} {date}");
        }
    }

    #[test]
    fn texts_are_spans() {
        let calendar = Calendar::Standard;
        let length = |text: &str| calendar.span(text).map(|(start, end)| end - start);
        assert_eq!(length("2000"), Some(366 * DAY));
        assert_eq!(length("2001-02"), Some(28 * DAY));
        assert_eq!(length("2000-02-29"), Some(DAY));
        assert_eq!(length("2000-02-29T12"), Some(3600 * SECOND));
        assert_eq!(length("2000-1-1 6:30:0.0"), Some(SECOND));
        let start = |text: &str| calendar.span(text).unwrap().0;
        assert_eq!(start("2000-01-01T06:00+02:00"), start("2000-01-01T04:00Z"));
        for bad in ["2001-02-29", "2000-13", "x", "2000-01-01T25", "2000-01-01-01", ""] {
            assert_eq!(calendar.span(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_are_converted_exactly_or_not_at_all() {
        let days = units("days since 2000-01-01", "standard");
        let hours = units("hours since 2000-01-02 12:00:00", "gregorian");
        let shift = Shift::new(hours, days).unwrap();
        assert_eq!(shift.whole(12), Some(2));
        assert_eq!(shift.whole(13), None);
        assert_eq!(shift.float(6.0), Some(1.75));
        assert_eq!(Shift::new(days, hours).unwrap().whole(2), Some(12));
        assert_eq!(Shift::new(days, units("days since 2000-01-01", "noleap")), None);
        for text in ["months since 2000-01-01", "days", "days since when"] {
            assert_eq!(Units::parse(text, None), None, "{text}");
        }
    }
}
