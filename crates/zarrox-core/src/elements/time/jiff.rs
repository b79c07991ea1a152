//! Times of the crate `jiff`.

use jiff::civil::{Date, DateTime, Time as OfDay};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::{Time, floored};
use crate::data_type::TimeKind;

/// Creates a duration from seconds and non-negative nanoseconds.
fn duration(seconds: i64, nanoseconds: u32) -> Option<SignedDuration> {
    SignedDuration::from_secs(seconds).checked_add(SignedDuration::from_nanos(nanoseconds.into()))
}

impl Time for SignedDuration {
    const KIND: TimeKind = TimeKind::Span;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        duration(seconds, nanoseconds)
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        floored(self.as_secs(), self.subsec_nanos())
    }
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl Time for DateTime {
    const KIND: TimeKind = TimeKind::Point;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        EPOCH.checked_add(duration(seconds, nanoseconds)?).ok()
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        self.duration_since(EPOCH).to_seconds()
    }

    fn from_month(year: i64, month: u8) -> Option<Self> {
        let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, 1).ok()?;
        Some(date.to_datetime(OfDay::midnight()))
    }

    fn to_month(&self) -> Option<(i64, u8)> {
        Some((self.year().into(), self.month().try_into().ok()?))
    }
}

/// The time is in UTC.
impl Time for Timestamp {
    const KIND: TimeKind = TimeKind::Point;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        Self::from_duration(duration(seconds, nanoseconds)?).ok()
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        self.as_duration().to_seconds()
    }

    fn from_month(year: i64, month: u8) -> Option<Self> {
        Offset::UTC.to_timestamp(DateTime::from_month(year, month)?).ok()
    }

    fn to_month(&self) -> Option<(i64, u8)> {
        Offset::UTC.to_datetime(*self).to_month()
    }
}
