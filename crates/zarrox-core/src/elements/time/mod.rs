//! Timestamps and durations as types of other crates.
//!
//! All arithmetic on counts is implemented here. The types of the other crates implement the calendar and check their own ranges.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;

use super::{Decode, Elements, Encode, FromElement, IntoElements, Target, ToElement};
use crate::data_type::{DataType, NOT_A_TIME, TimeKind, TimeType, TimeUnit};
use crate::error::{Error, ErrorKind, Result};

/// A type of timestamps or durations from another crate.
///
/// NumPy's times have no time zone, so the civil types (`jiff::civil::DateTime`, `chrono::NaiveDateTime`) represent the stored
/// times exactly; `jiff::Timestamp` and `chrono::DateTime<Utc>` interpret them as UTC.
trait Time: Sized + std::fmt::Debug {
    /// The kind of the type: timestamps or durations.
    const KIND: TimeKind;

    /// Returns the timestamp that is this number of seconds and nanoseconds (below 10⁹) after the beginning of 1970, or the
    /// duration of this length. Returns `None` outside the range of the type.
    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self>;

    /// Returns the seconds and nanoseconds of a value; the nanoseconds are below 10⁹ and non-negative, even for negative
    /// values. Returns `None` for a time without a count, such as a leap second.
    fn to_seconds(&self) -> Option<(i64, u32)>;

    /// Returns the beginning of a month; months are numbered from 1 to 12. Returns `None` for types of durations.
    fn from_month(_year: i64, _month: u8) -> Option<Self> {
        None
    }

    /// Returns the year and the month of a timestamp. Returns `None` for durations.
    fn to_month(&self) -> Option<(i64, u8)> {
        None
    }
}

/// Returns the seconds and the non-negative nanoseconds of a duration. In the arguments, both parts of a negative duration are
/// negative.
#[cfg(any(feature = "chrono", feature = "jiff"))]
fn floored(seconds: i64, nanoseconds: i32) -> Option<(i64, u32)> {
    match u32::try_from(nanoseconds) {
        Ok(nanoseconds) => Some((seconds, nanoseconds)),
        Err(_) => Some((seconds.checked_sub(1)?, u32::try_from(1_000_000_000 + nanoseconds).ok()?)),
    }
}

const NANO: i128 = 1_000_000_000;

/// The length of one unit.
#[derive(Debug, Clone, Copy)]
enum Step {
    Months(i128),
    Seconds(i128),
    /// The number of units in a second.
    OfSecond(i128),
}

/// The reason why the other type cannot represent a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// The value lies between two values of the other type.
    Between,
    /// The value is outside the range of the other type.
    OutOfRange,
}

/// Returns the time type and the length of the unit of a data type, if the Rust type can represent its elements.
fn counted<T: Time>(data_type: &DataType) -> Result<(TimeType, Step)> {
    let mismatch = |why: &str| {
        let message = format!("elements of {data_type} cannot be {}: {why}", std::any::type_name::<T>());
        Error::new(ErrorKind::DataTypeMismatch, message)
    };
    let time = data_type.time().ok_or_else(|| mismatch("they are not times"))?;
    match (time.kind(), T::KIND) {
        (TimeKind::Point, TimeKind::Span) => {
            return Err(mismatch("they are timestamps, and the type is a duration"));
        }
        (TimeKind::Span, TimeKind::Point) => {
            return Err(mismatch("they are durations, and the type is a timestamp"));
        }
        _ => {}
    }
    let step = match time.unit() {
        TimeUnit::Generic => return Err(mismatch("their unit is generic; read them as i64")),
        TimeUnit::Year | TimeUnit::Month if T::KIND == TimeKind::Span => {
            return Err(mismatch("months and years have no fixed length; read them as i64"));
        }
        TimeUnit::Year => Step::Months(12),
        TimeUnit::Month => Step::Months(1),
        TimeUnit::Week => Step::Seconds(7 * 86_400),
        TimeUnit::Day => Step::Seconds(86_400),
        TimeUnit::Hour => Step::Seconds(3_600),
        TimeUnit::Minute => Step::Seconds(60),
        TimeUnit::Second => Step::Seconds(1),
        TimeUnit::Millisecond => Step::OfSecond(1_000),
        TimeUnit::Microsecond => Step::OfSecond(1_000_000),
        TimeUnit::Nanosecond => Step::OfSecond(NANO),
        TimeUnit::Picosecond => Step::OfSecond(NANO * 1_000),
        TimeUnit::Femtosecond => Step::OfSecond(NANO * 1_000_000),
        TimeUnit::Attosecond => Step::OfSecond(NANO * NANO),
    };
    Ok((time, step))
}

/// Returns the value of a count. No product here exceeds 2¹²⁷: a count has 63 bits, its scale 31, and the number of seconds in a
/// week 20.
fn value<T: Time>(scale: u32, step: Step, count: i64) -> std::result::Result<T, Problem> {
    let units = i128::from(count) * i128::from(scale);
    let value = match step {
        Step::Months(months) => {
            let months = units * months;
            let year = i64::try_from(1970 + months.div_euclid(12)).map_err(|_| Problem::OutOfRange)?;
            let month = u8::try_from(months.rem_euclid(12) + 1).map_err(|_| Problem::OutOfRange)?;
            T::from_month(year, month)
        }
        Step::Seconds(seconds) => i64::try_from(units * seconds).ok().and_then(|s| T::from_seconds(s, 0)),
        Step::OfSecond(parts) => {
            let nanoseconds = match units.rem_euclid(parts) {
                rest if parts <= NANO => rest * (NANO / parts),
                rest => divided(rest, parts / NANO)?,
            };
            let seconds = i64::try_from(units.div_euclid(parts)).ok();
            seconds.zip(u32::try_from(nanoseconds).ok()).and_then(|(s, ns)| T::from_seconds(s, ns))
        }
    };
    value.ok_or(Problem::OutOfRange)
}

/// Returns the count of a value.
fn count<T: Time>(scale: u32, step: Step, value: &T) -> std::result::Result<i64, Problem> {
    let (seconds, nanoseconds) = value.to_seconds().ok_or(Problem::Between)?;
    let whole = if nanoseconds == 0 { Ok(i128::from(seconds)) } else { Err(Problem::Between) };
    let units = match step {
        Step::Months(months) => {
            let (year, month) = value.to_month().ok_or(Problem::OutOfRange)?;
            let beginning = T::from_month(year, month).and_then(|beginning| beginning.to_seconds());
            if beginning != Some((seconds, nanoseconds)) {
                return Err(Problem::Between);
            }
            divided((i128::from(year) - 1970) * 12 + i128::from(month) - 1, months)?
        }
        Step::Seconds(step) => divided(whole?, step)?,
        Step::OfSecond(parts) => {
            let nanoseconds = i128::from(nanoseconds);
            let of_second =
                if parts < NANO { divided(nanoseconds, NANO / parts)? } else { nanoseconds * (parts / NANO) };
            i128::from(seconds) * parts + of_second
        }
    };
    let count = i64::try_from(divided(units, scale.into())?).map_err(|_| Problem::OutOfRange)?;
    if count == NOT_A_TIME { Err(Problem::OutOfRange) } else { Ok(count) }
}

/// Returns the quotient of a division without remainder.
fn divided(number: i128, by: i128) -> std::result::Result<i128, Problem> {
    if number % by == 0 { Ok(number / by) } else { Err(Problem::Between) }
}

/// Returns the function that decodes counts.
fn decoder<T: Time + 'static>(data_type: &DataType) -> Result<Decode<T>> {
    let (time, step) = counted::<T>(data_type)?;
    Ok(Box::new(move |element| {
        let name = std::any::type_name::<T>();
        let count = element.try_into().map_or(NOT_A_TIME, i64::from_ne_bytes);
        if count == NOT_A_TIME {
            let message = format!("NaT cannot be a {name}; read an `Option` of it");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        value(time.scale(), step, count).map_err(|problem| {
            let why = match problem {
                Problem::Between => "has a fraction of a nanosecond",
                Problem::OutOfRange => "is outside of its range",
            };
            let (scale, unit) = (time.scale(), time.unit().name());
            let message =
                format!("{count} times {scale} {unit} cannot be a {name}: it {why}; read the counts as i64");
            Error::new(ErrorKind::Unsupported, message)
        })
    }))
}

/// Returns the function that encodes times as counts. No value is rounded.
fn encoder<T: Time + 'static>(data_type: &DataType) -> Result<Encode<T>> {
    let (time, step) = counted::<T>(data_type)?;
    let data_type = data_type.clone();
    Ok(Box::new(move |value, bytes| {
        let count = count(time.scale(), step, value).map_err(|problem| {
            let (scale, unit) = (time.scale(), time.unit().name());
            let why = match problem {
                Problem::Between => format!("is not a whole number of {scale} {unit}"),
                Problem::OutOfRange => format!("is outside of the range of {data_type}"),
            };
            Error::argument(format!("{value:?} {why}"))
        })?;
        bytes.extend_from_slice(&count.to_ne_bytes());
        Ok(())
    }))
}

/// Implements the element traits for timestamps or durations.
macro_rules! time_elements {
    ($($T:ty),+ $(,)?) => {$(
        impl FromElement for $T {
            fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
                decoder(data_type)
            }

            fn is_missing(_: &DataType, element: &[u8]) -> bool {
                element == NOT_A_TIME.to_ne_bytes()
            }
        }

        impl IntoElements for $T {
            fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
                Elements::encoded(std::iter::once(self), &[], target.data_type)
            }
        }

        impl ToElement for $T {
            fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
                encoder(data_type)
            }

            fn missing(_: &DataType) -> Option<Vec<u8>> {
                Some(NOT_A_TIME.to_ne_bytes().to_vec())
            }
        }
    )+};
}

#[cfg(feature = "chrono")]
time_elements!(::chrono::TimeDelta, ::chrono::NaiveDateTime, ::chrono::DateTime<::chrono::Utc>);
#[cfg(feature = "jiff")]
time_elements!(::jiff::SignedDuration, ::jiff::civil::DateTime, ::jiff::Timestamp);

#[cfg(test)]
mod tests {
    use super::*;

    /// A custom type that can represent only whole centuries.
    #[derive(Debug, Clone, PartialEq)]
    struct Century(i64);

    impl Time for Century {
        const KIND: TimeKind = TimeKind::Point;

        fn from_seconds(_: i64, _: u32) -> Option<Self> {
            None
        }

        fn to_seconds(&self) -> Option<(i64, u32)> {
            Some((self.0, 0))
        }

        fn from_month(year: i64, month: u8) -> Option<Self> {
            (year % 100 == 0 && month == 1).then_some(Self(year / 100))
        }

        fn to_month(&self) -> Option<(i64, u8)> {
            Some((self.0 * 100, 1))
        }
    }

    time_elements!(Century);

    fn type_of(unit: TimeUnit, scale: u32) -> DataType {
        TimeType::new(TimeKind::Point, unit, scale).unwrap().into()
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_value() {
        let decades = type_of(TimeUnit::Year, 10);
        let decode = Option::<Century>::decoder(&decades).unwrap();
        let read = |count: i64| decode(&count.to_ne_bytes());
        assert_eq!(read(3).unwrap(), Some(Century(20)));
        assert_eq!(read(NOT_A_TIME).unwrap(), None);
        let error = read(4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let message = error.to_string();
        assert!(message.starts_with("4 times 10 Y cannot be a "), "{message}");
        assert!(message.ends_with("it is outside of its range; read the counts as i64"), "{message}");
        let error = Century::decoder(&decades).unwrap()(&NOT_A_TIME.to_ne_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("NaT cannot be a "), "{error}");
        let encoded = |data_type: &DataType, value: Option<Century>| {
            let mut bytes = Vec::new();
            Option::encoder(data_type)?(&value, &mut bytes).map(|()| bytes)
        };
        let months = type_of(TimeUnit::Month, 180);
        assert_eq!(encoded(&months, Some(Century(20))).unwrap(), 2_i64.to_ne_bytes());
        assert_eq!(encoded(&months, None).unwrap(), NOT_A_TIME.to_ne_bytes());
        let error = encoded(&type_of(TimeUnit::Year, 7), Some(Century(20))).unwrap_err();
        assert_eq!(error.to_string(), "Century(20) is not a whole number of 7 Y");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn types_that_do_not_fit_are_refused() {
        <Century as FromElement>::check(&type_of(TimeUnit::Attosecond, 1)).unwrap();
        for (data_type, why) in [
            (DataType::Int64, "not times"),
            (DataType::timedelta64(TimeUnit::Day), "durations"),
            (type_of(TimeUnit::Generic, 1), "their unit is generic"),
        ] {
            let error = Century::decoder(&data_type).err().expect("the type is refused");
            assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
