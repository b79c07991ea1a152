//! Points in time and time spans as types of other libraries.
//!
//! All arithmetic on counts is here. The types of the libraries know the calendar and their own range.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;

use ndarray::{ArrayD, IxDyn};
use zarrox_core::data_type::{NOT_A_TIME, TimeKind, TimeType, TimeUnit};
use zarrox_core::{DataType, Error, ErrorKind, Result};

use super::dynamic::{DynArray, position};
use crate::error::argument;

/// A library's type of points in time or of time spans, which [`DynArray::to_times`] and [`DynArray::from_times`] convert.
///
/// The features `jiff` and `chrono` implement it for the types of these crates. NumPy's times have no time zone, so the civil
/// types (`jiff::civil::DateTime`, `chrono::NaiveDateTime`) represent exactly what is stored; `jiff::Timestamp` and
/// `chrono::DateTime<Utc>` take it as UTC. Spans are `jiff::SignedDuration` and `chrono::TimeDelta`.
pub trait Time: Sized + std::fmt::Debug {
    /// The kind of the type: points in time, or time spans.
    const KIND: TimeKind;

    /// The point so many seconds and nanoseconds (below 10⁹) after the beginning of 1970, or the span of this length; `None`
    /// outside of the range of the type.
    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self>;

    /// The seconds and nanoseconds of a value; the nanoseconds are below 10⁹ and non-negative, even for negative values. `None`
    /// if the seconds have no count, such as a leap second.
    fn to_seconds(&self) -> Option<(i64, u32)>;

    /// The beginning of a month, which is numbered from 1 to 12. `None` for spans.
    fn from_month(year: i64, month: u8) -> Option<Self>;

    /// The year and the month of a point in time. `None` for spans.
    fn to_month(&self) -> Option<(i64, u8)>;
}

const NANO: i128 = 1_000_000_000;

/// One unit.
#[derive(Debug, Clone, Copy)]
enum Step {
    Months(i128),
    Seconds(i128),
    /// The number of units in a second.
    OfSecond(i128),
}

/// The reason why a value has no counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// The value lies between two values of the other type.
    Between,
    /// The value is outside of the range of the other type.
    OutOfRange,
}

/// The kind of time and the unit of the elements of a type, if the Rust type can represent them.
fn counted<T: Time>(data_type: &DataType) -> Result<(TimeType, Step)> {
    let mismatch = |why: &str| {
        let message = format!("elements of {data_type} cannot be {}: {why}", std::any::type_name::<T>());
        Error::new(ErrorKind::DataTypeMismatch, message)
    };
    let time = data_type.time().ok_or_else(|| mismatch("they are not times"))?;
    match (time.kind(), T::KIND) {
        (TimeKind::Point, TimeKind::Span) => {
            return Err(mismatch("they are points in time, and the type is a time span"));
        }
        (TimeKind::Span, TimeKind::Point) => {
            return Err(mismatch("they are time spans, and the type is a point in time"));
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

/// The value of a count. No product here exceeds 2¹²⁷: a count has 63 bits, its scale 31, a week of seconds 20.
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

/// The count of a value.
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

/// The quotient, if there is no remainder.
fn divided(number: i128, by: i128) -> std::result::Result<i128, Problem> {
    if number % by == 0 { Ok(number / by) } else { Err(Problem::Between) }
}

impl DynArray {
    /// Converts elements of `numpy.datetime64` or `numpy.timedelta64` to times of another library; "not a time" becomes `None`.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements are not such times, have a generic unit, or are spans of months or
    /// years. [`ErrorKind::Unsupported`] when an element is outside of the range of the library's type, or finer than its
    /// nanoseconds: nothing is rounded.
    pub fn to_times<T: Time>(&self) -> Result<ArrayD<Option<T>>> {
        let (time, step) = counted::<T>(self.data_type())?;
        let counts = self.elements().map(|element| element.try_into().map_or(NOT_A_TIME, i64::from_ne_bytes));
        let times = counts.enumerate().map(|(index, count)| match count {
            NOT_A_TIME => Ok(None),
            count => value(time.scale(), step, count).map(Some).map_err(|problem| {
                let why = match problem {
                    Problem::Between => "has a fraction of a nanosecond",
                    Problem::OutOfRange => "is outside of its range",
                };
                let (scale, unit) = (time.scale(), time.unit().name());
                let message = format!(
                    "{count} times {scale} {unit} cannot be a {}: it {why}; read the counts as i64",
                    std::any::type_name::<T>()
                );
                Error::new(ErrorKind::Unsupported, message).at(self.place(index))
            }),
        });
        let times = times.collect::<Result<Vec<_>>>()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), times).map_err(|error| argument(error.to_string()))
    }

    /// Converts times of another library to elements of `numpy.datetime64` or `numpy.timedelta64`; `None` becomes "not a time".
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] as for [`DynArray::to_times`]. [`ErrorKind::InvalidArgument`] when a time is not a whole
    /// number of the type's units, or is outside of its range: nothing is rounded.
    pub fn from_times<T: Time>(data_type: DataType, times: &ArrayD<Option<T>>) -> Result<Self> {
        let (time, step) = counted::<T>(&data_type)?;
        let mut bytes = Vec::with_capacity(8 * times.len());
        for (index, value) in times.iter().enumerate() {
            let count = match value {
                None => Ok(NOT_A_TIME),
                Some(value) => count(time.scale(), step, value).map_err(|problem| (value, problem)),
            };
            let count = count.map_err(|(value, problem)| {
                let (scale, unit) = (time.scale(), time.unit().name());
                let why = match problem {
                    Problem::Between => format!("is not a whole number of {scale} {unit}"),
                    Problem::OutOfRange => format!("is outside of the range of {data_type}"),
                };
                argument(format!("{value:?} {why}"))
                    .at(format!("element {:?}", position(times.shape(), index)))
            })?;
            bytes.extend_from_slice(&count.to_ne_bytes());
        }
        Self::new(data_type, times.shape().to_vec(), bytes)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::arr1;

    use super::*;

    /// A type of one's own: centuries, and nothing between them.
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

    fn type_of(unit: TimeUnit, scale: u32) -> DataType {
        TimeType::new(TimeKind::Point, unit, scale).unwrap().into()
    }

    #[test]
    fn errors_name_the_element_and_what_is_wrong_with_it() {
        let counts = |data_type, counts: [i64; 2]| {
            let bytes = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
            DynArray::new(data_type, vec![1, 2], bytes).unwrap()
        };
        let decades = type_of(TimeUnit::Year, 10);
        let read = counts(decades.clone(), [3, -7]).to_times::<Century>().unwrap();
        assert_eq!(read.as_slice().unwrap(), [Some(Century(20)), Some(Century(19))]);
        let error = counts(decades, [3, 4]).to_times::<Century>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let message = error.to_string();
        assert!(message.starts_with("element [0, 1]: 4 times 10 Y cannot be a "), "{message}");
        assert!(message.ends_with("it is outside of its range; read the counts as i64"), "{message}");
        let written = arr1(&[None, Some(Century(20))]).into_dyn();
        let array = DynArray::from_times(type_of(TimeUnit::Month, 180), &written).unwrap();
        assert_eq!(array.to_typed::<i64>().unwrap().as_slice().unwrap(), [NOT_A_TIME, 2]);
        let error = DynArray::from_times(type_of(TimeUnit::Year, 7), &written).unwrap_err();
        assert_eq!(error.to_string(), "element [1]: Century(20) is not a whole number of 7 Y");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn types_that_do_not_fit_are_refused_also_without_elements() {
        let none = |data_type| DynArray::new(data_type, vec![0], vec![]).unwrap().to_times::<Century>();
        assert!(none(type_of(TimeUnit::Attosecond, 1)).is_ok());
        for (data_type, why) in [
            (DataType::Int64, "not times"),
            (DataType::timedelta64(TimeUnit::Day), "spans"),
            (type_of(TimeUnit::Generic, 1), "their unit is generic"),
        ] {
            let error = none(data_type).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
