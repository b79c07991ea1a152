//! Times of the crate `chrono`.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::{Time, floored};
use crate::data_type::TimeKind;

impl Time for TimeDelta {
    const KIND: TimeKind = TimeKind::Span;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        Self::new(seconds, nanoseconds)
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        floored(self.num_seconds(), self.subsec_nanos())
    }
}

impl Time for NaiveDateTime {
    const KIND: TimeKind = TimeKind::Point;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        DateTime::from_timestamp(seconds, nanoseconds).map(|time| time.naive_utc())
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        let time = self.and_utc();
        // A leap second has more nanoseconds than other seconds, and no distinct count since 1970.
        let nanoseconds =
            Some(time.timestamp_subsec_nanos()).filter(|&nanoseconds| nanoseconds < 1_000_000_000);
        Some((time.timestamp(), nanoseconds?))
    }

    fn from_month(year: i64, month: u8) -> Option<Self> {
        let date = NaiveDate::from_ymd_opt(year.try_into().ok()?, month.into(), 1)?;
        Some(date.and_time(NaiveTime::MIN))
    }

    fn to_month(&self) -> Option<(i64, u8)> {
        Some((self.year().into(), self.month().try_into().ok()?))
    }
}

/// The time is in UTC.
impl Time for DateTime<Utc> {
    const KIND: TimeKind = TimeKind::Point;

    fn from_seconds(seconds: i64, nanoseconds: u32) -> Option<Self> {
        Self::from_timestamp(seconds, nanoseconds)
    }

    fn to_seconds(&self) -> Option<(i64, u32)> {
        self.naive_utc().to_seconds()
    }

    fn from_month(year: i64, month: u8) -> Option<Self> {
        NaiveDateTime::from_month(year, month).map(|time| time.and_utc())
    }

    fn to_month(&self) -> Option<(i64, u8)> {
        self.naive_utc().to_month()
    }
}
