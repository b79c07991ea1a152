//! [`Select`]: a range along a dimension, by index or by coordinate value.

use std::cmp::Ordering;
use std::str::FromStr;

use zarrox::{Array, DynArray, Error, ErrorKind, Result};

use crate::import::concat::values::Values;
use crate::times::Units;

/// A range along a dimension.
///
/// Indices follow the rules of NumPy slices: `time=0:100`, `time=-12:`, `x=::2`; a single index keeps its dimension, with
/// length 1. Coordinate values are separated by two dots, and both ends are included: `lat=10..50`, `lat=..0`,
/// `time=2000-01-01..2000-12-31`, where a date means the whole day, month or year.
///
/// ```
/// use zarrox_files::Select;
///
/// let select: Select = "time=2000-01..2000-06".parse()?;
/// assert_eq!(select.dimension(), "time");
/// assert!("time".parse::<Select>().is_err());
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    dimension: String,
    range: Range,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Range {
    Index(i64),
    Slice { start: Option<i64>, stop: Option<i64>, step: u64 },
    Labels { first: Option<String>, last: Option<String> },
}

/// A range of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) step: u64,
    pub(super) length: u64,
}

impl Span {
    /// Returns all indices of a dimension.
    pub(super) fn whole(length: u64) -> Self {
        Self { start: 0, step: 1, length }
    }
}

impl FromStr for Select {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the string is not a valid range.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            wrong(format!(
                "'{text}' is not a range of a dimension: {why}; examples are time=0:100 and lat=10..50"
            ))
        };
        let (dimension, range) = text.rsplit_once('=').ok_or_else(|| wrong("it has no '='"))?;
        let dimension = dimension.trim().to_owned();
        if dimension.is_empty() {
            return Err(wrong("the dimension has no name"));
        }
        let range = range.trim();
        if let Some((first, last)) = range.split_once("..") {
            let label = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            let (first, last) = (label(first), label(last));
            return Ok(Self { dimension, range: Range::Labels { first, last } });
        }
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<i64>().map(Some).map_err(|_| wrong("an index must be an integer")),
        };
        let parts: Vec<&str> = range.split(':').collect();
        let range = match parts.as_slice() {
            [index] => Range::Index(number(index)?.ok_or_else(|| wrong("the range is empty"))?),
            [start, stop] => Range::Slice { start: number(start)?, stop: number(stop)?, step: 1 },
            [start, stop, step] => {
                let step = number(step)?.unwrap_or(1);
                let step = u64::try_from(step).ok().filter(|&step| step > 0);
                let step = step.ok_or_else(|| wrong("the step must be at least 1"))?;
                Range::Slice { start: number(start)?, stop: number(stop)?, step }
            }
            _ => return Err(wrong("a slice has at most a start, a stop and a step")),
        };
        Ok(Self { dimension, range })
    }
}

impl Select {
    /// Returns the name of the dimension.
    pub fn dimension(&self) -> &str {
        &self.dimension
    }

    /// Returns true if the range is given by coordinate values.
    pub(super) fn needs_coordinate(&self) -> bool {
        matches!(self.range, Range::Labels { .. })
    }

    /// Returns the selected indices along a dimension of the given length.
    pub(super) fn of_indices(&self, length: u64) -> Result<Span> {
        let from_end =
            |index: i64| if index < 0 { i128::from(length) + i128::from(index) } else { index.into() };
        match self.range {
            Range::Index(index) => {
                let at = u64::try_from(from_end(index)).ok().filter(|&at| at < length);
                let at = at.ok_or_else(|| {
                    let message = format!(
                        "index {index} is outside the dimension '{}' of length {length}",
                        self.dimension
                    );
                    Error::new(ErrorKind::InvalidSelection, message)
                })?;
                Ok(Span { start: at, step: 1, length: 1 })
            }
            Range::Slice { start, stop, step } => {
                let clipped = |index: Option<i64>, other: u64| match index {
                    Some(index) => u64::try_from(from_end(index).clamp(0, length.into())).unwrap_or(length),
                    None => other,
                };
                let (start, stop) = (clipped(start, 0), clipped(stop, length));
                Ok(Span { start, step, length: stop.saturating_sub(start).div_ceil(step) })
            }
            Range::Labels { .. } => Ok(Span::whole(length)),
        }
    }

    /// Returns the indices at which the values of a coordinate are in the range.
    pub(super) fn of_labels(&self, coordinate: &Array) -> Result<Span> {
        let Range::Labels { first, last } = &self.range else {
            return self.of_indices(coordinate.shape().first().copied().unwrap_or(0));
        };
        if ["scale_factor", "add_offset"].iter().any(|name| coordinate.attributes().contains_key(name)) {
            return Err(wrong("the values of the coordinate are packed; select indices"));
        }
        let elements = coordinate.read::<DynArray>(..)?;
        let values =
            Values::of(&elements).ok_or_else(|| wrong("the values of the coordinate cannot be ordered"))?;
        if values.order().is_none() {
            return Err(wrong("the values of the coordinate are neither ascending nor descending"));
        }
        let units = Units::of(coordinate.attributes());
        let is_inside = inside(&values, units, first.as_deref(), last.as_deref())?;
        let start = is_inside.iter().position(|inside| *inside);
        let Some(start) = start else {
            return Err(wrong(format!(
                "no value is in the range; the values of the coordinate are {values}"
            )));
        };
        let length = is_inside.iter().filter(|inside| **inside).count();
        Ok(Span { start: start as u64, step: 1, length: length as u64 })
    }
}

/// Returns a mask of the values that lie between two labels.
fn inside(
    values: &Values,
    units: Option<Units>,
    first: Option<&str>,
    last: Option<&str>,
) -> Result<Vec<bool>> {
    let numbers: Vec<f64> = match values {
        Values::Text(texts) => {
            let is_inside = |text: &String| {
                first.is_none_or(|first| text.as_str().cmp(first) != Ordering::Less)
                    && last.is_none_or(|last| text.as_str().cmp(last) != Ordering::Greater)
            };
            return Ok(texts.iter().map(is_inside).collect());
        }
        #[expect(clippy::cast_precision_loss, reason = "labels are compared as floats")]
        Values::Whole(values) => values.iter().map(|&value| value as f64).collect(),
        Values::Float(values) => values.clone(),
    };
    let plain =
        |label: Option<&str>| label.is_none_or(|label| label.parse::<f64>().is_ok_and(|n| !n.is_nan()));
    let is_year = |label: &str| label.len() == 4 && label.bytes().all(|byte| byte.is_ascii_digit());
    let has_years = [first, last].into_iter().flatten().any(is_year);
    if plain(first) && plain(last) && !(units.is_some() && has_years) {
        let bound =
            |label: Option<&str>, other: f64| label.and_then(|label| label.parse().ok()).unwrap_or(other);
        let (low, high) = (bound(first, f64::NEG_INFINITY), bound(last, f64::INFINITY));
        return Ok(numbers.iter().map(|&value| low <= value && value <= high).collect());
    }
    let units = units.ok_or_else(|| wrong("the times of the coordinate cannot be decoded; give numbers"))?;
    let span = |label: Option<&str>| match label {
        Some(label) => {
            units.calendar.span(label).map(Some).ok_or_else(|| wrong(format!("'{label}' is not a date")))
        }
        None => Ok(None),
    };
    #[expect(clippy::cast_precision_loss, reason = "times are compared as floats")]
    let (low, high) = (
        span(first)?.map_or(f64::NEG_INFINITY, |(start, _)| start as f64),
        span(last)?.map_or(f64::INFINITY, |(_, end)| end as f64),
    );
    let position = |value: &f64| units.position(*value);
    Ok(numbers.iter().map(position).map(|value| low <= value && value < high).collect())
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn slices_follow_numpy() {
        let span = |text: &str, length| {
            let span = format!("x={text}").parse::<Select>().unwrap().of_indices(length);
            span.map(|span| (span.start, span.step, span.length)).ok()
        };
        assert_eq!(span("2:5", 10), Some((2, 1, 3)));
        assert_eq!(span(":", 10), Some((0, 1, 10)));
        assert_eq!(span("-3:", 10), Some((7, 1, 3)));
        assert_eq!(span("::4", 10), Some((0, 4, 3)));
        assert_eq!(span("8:100", 10), Some((8, 1, 2)));
        assert_eq!(span("5:2", 10), Some((5, 1, 0)));
        assert_eq!(span("-1", 10), Some((9, 1, 1)));
        assert_eq!(span("10", 10), None);
        for bad in ["x", "=1", "x=", "x=1:2:3:4", "x=::0", "x=::-1", "x=a:b"] {
            assert!(bad.parse::<Select>().is_err(), "{bad}");
        }
    }

    #[test]
    fn labels_are_inclusive() {
        let values = Values::Float(vec![50.0, 40.0, 30.0]);
        assert_eq!(inside(&values, None, Some("30"), Some("40")).unwrap(), [false, true, true]);
        assert_eq!(inside(&values, None, None, Some("30")).unwrap(), [false, false, true]);
        let attributes = zarrox::json::parse_object(br#"{"units": "hours since 2000-01-01"}"#).unwrap();
        let units = Units::of(&attributes);
        let values = Values::Whole(vec![0, 23, 24, 744]);
        let days = |first, last| inside(&values, units, first, last).unwrap();
        assert_eq!(days(Some("2000-01-01"), Some("2000-01-01")), [true, true, false, false]);
        assert_eq!(days(Some("2000-01-02"), Some("2000-01")), [false, false, true, false]);
        assert_eq!(days(Some("2000"), Some("2000")), [true; 4]);
        assert_eq!(days(Some("23"), Some("24")), [false, true, true, false]);
        assert_error(
            inside(&values, None, Some("2000-01-01"), None),
            ErrorKind::InvalidArgument,
            "cannot be decoded",
        );
    }
}
