//! Timestamps in ISO 8601 format, in the Gregorian calendar.

use zarrox::data_type::TimeUnit;

use crate::times::gregorian;

const DAY: i64 = 86_400;

/// A timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    /// The seconds since 1970.
    seconds: i64,
    nanoseconds: u32,
    /// The coarsest unit that represents the timestamp exactly.
    pub(super) unit: TimeUnit,
}

impl Point {
    /// Parses `2024-05-01`, optionally followed by `T` or a space and `12:30`, `12:30:05` or
    /// `12:30:05.25`, and by `Z` or `+00:00`.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let [y @ .., b'-', m1, m2, b'-', d1, d2] = date else { return None };
        let (year, month, day) = (number(y)?, number(&[*m1, *m2])?, number(&[*d1, *d2])?);
        if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
            return None;
        }
        let seconds = gregorian(year, month, day) * DAY;
        let Some((separator, time)) = rest.split_first() else {
            return Some(Self { seconds, nanoseconds: 0, unit: TimeUnit::Day });
        };
        if !matches!(separator, b'T' | b't' | b' ') {
            return None;
        }
        let time = [b"Z".as_slice(), b"z", b"+00:00", b"+0000"]
            .iter()
            .find_map(|end| time.strip_suffix(*end))
            .unwrap_or(time);
        let (whole, fraction) = match time.iter().position(|&byte| byte == b'.') {
            Some(at) => (&time[..at], Some(&time[at + 1..])),
            None => (time, None),
        };
        let (hours, minutes, more) = match whole {
            [h1, h2, b':', m1, m2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?, 0),
            [h1, h2, b':', m1, m2, b':', s1, s2] => {
                (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?)
            }
            _ => return None,
        };
        if hours > 23 || minutes > 59 || more > 59 {
            return None;
        }
        let (nanoseconds, unit) = match fraction {
            None => (0, TimeUnit::Second),
            Some(digits) if (1..=9).contains(&digits.len()) && whole.len() == 8 => {
                let scale = 10_i64.pow(9 - u32::try_from(digits.len()).ok()?);
                let unit = match digits.len() {
                    1..=3 => TimeUnit::Millisecond,
                    4..=6 => TimeUnit::Microsecond,
                    _ => TimeUnit::Nanosecond,
                };
                (u32::try_from(number(digits)? * scale).ok()?, unit)
            }
            Some(_) => return None,
        };
        Some(Self { seconds: seconds + hours * 3600 + minutes * 60 + more, nanoseconds, unit })
    }

    /// Returns the seconds since 1970, and the additional nanoseconds.
    pub(super) fn since_1970(self) -> (i64, u32) {
        (self.seconds, self.nanoseconds)
    }

    /// Returns the timestamp as a count of units since 1970; `None` if the count does not fit or is not an integer.
    pub(super) fn count(self, unit: TimeUnit) -> Option<i64> {
        let nanoseconds = i64::from(self.nanoseconds);
        let fine = |in_second: i64| {
            let length = 1_000_000_000 / in_second;
            let whole = self.seconds.checked_mul(in_second)?.checked_add(nanoseconds / length)?;
            (nanoseconds % length == 0).then_some(whole)
        };
        let coarse =
            |length: i64| (nanoseconds == 0 && self.seconds % length == 0).then(|| self.seconds / length);
        match unit {
            TimeUnit::Week => coarse(7 * DAY),
            TimeUnit::Day => coarse(DAY),
            TimeUnit::Hour => coarse(3600),
            TimeUnit::Minute => coarse(60),
            TimeUnit::Second => coarse(1),
            TimeUnit::Millisecond => fine(1000),
            TimeUnit::Microsecond => fine(1_000_000),
            TimeUnit::Nanosecond => fine(1_000_000_000),
            _ => None,
        }
    }
}

/// Parses decimal digits.
fn number(digits: &[u8]) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_points_in_time() {
        let count = |text: &str, unit| Point::parse(text.as_bytes()).and_then(|point| point.count(unit));
        assert_eq!(count("1970-01-01", TimeUnit::Day), Some(0));
        assert_eq!(count("2000-03-01", TimeUnit::Day), Some(11017));
        assert_eq!(count("1969-12-31T23:59:59.5Z", TimeUnit::Millisecond), Some(-500));
        assert_eq!(count("2024-02-29 12:30", TimeUnit::Second), Some(1_709_209_800));
        assert_eq!(count("0001-01-01", TimeUnit::Day), Some(-719_162));
        assert_eq!(
            count("2024-05-01T00:00:00.123456789", TimeUnit::Nanosecond),
            Some(1_714_521_600_123_456_789)
        );
        assert_eq!(count("9999-12-31", TimeUnit::Nanosecond), None, "it does not fit");
        for bad in [
            "2023-02-29",
            "2024-13-01",
            "2024-05-01T24:00:00",
            "2024-05-01T",
            "24-05-01",
            "2024-05-01T12:30.5",
            "2024-05-01+01:00",
            "2024/05/01",
        ] {
            assert_eq!(Point::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
