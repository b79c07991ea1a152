//! 96-bit timestamps, which old programs store in Parquet columns, and the choice of a unit for these columns in Zarr.

use parquet::data_type::Int96;
use zarrox::Result;
use zarrox::data_type::{NOT_A_TIME, TimeUnit};

use crate::input::{corrupt, unsupported};

/// The possible units of a column, starting with the finest, with their lengths in nanoseconds.
const UNITS: [(TimeUnit, i128); 4] = [
    (TimeUnit::Nanosecond, 1),
    (TimeUnit::Microsecond, 1_000),
    (TimeUnit::Millisecond, 1_000_000),
    (TimeUnit::Second, 1_000_000_000),
];

/// The Julian day of 1970-01-01.
const EPOCH: i128 = 2_440_588;

const NANOSECONDS_OF_DAY: i128 = 86_400_000_000_000;

/// Converts a stored timestamp, which consists of a day and a time of day, to nanoseconds since 1970. The crate `parquet`
/// would wrap the result to 64 bits.
pub(super) fn nanoseconds(stored: &Int96) -> i128 {
    let &[low, high, day] = stored.data() else { return 0 };
    let of_day = (u64::from(high) << 32 | u64::from(low)).cast_signed();
    (i128::from(day.cast_signed()) - EPOCH) * NANOSECONDS_OF_DAY + i128::from(of_day)
}

/// Converts a timestamp to a count of units of `unit` nanoseconds.
///
/// # Errors
/// If the unit cannot represent the timestamp.
pub(super) fn count(nanoseconds: i128, unit: i128) -> Result<i64> {
    let count = (nanoseconds % unit == 0).then_some(nanoseconds / unit);
    let count = count.and_then(|count| i64::try_from(count).ok()).filter(|&count| count != NOT_A_TIME);
    count.ok_or_else(|| corrupt(format!("the timestamp {nanoseconds} ns is outside the range of its column")))
}

/// Determines the units that represent all timestamps in a column.
#[derive(Debug)]
pub(super) struct Units {
    /// The earliest and latest timestamps, in nanoseconds since 1970.
    lowest: i128,
    highest: i128,
    /// The length in nanoseconds of the coarsest unit that divides all timestamps.
    step: i128,
}

impl Default for Units {
    fn default() -> Self {
        Self { lowest: 0, highest: 0, step: 1_000_000_000 }
    }
}

impl Units {
    /// Adds a timestamp.
    pub(super) fn add(&mut self, nanoseconds: i128) {
        self.lowest = self.lowest.min(nanoseconds);
        self.highest = self.highest.max(nanoseconds);
        while nanoseconds % self.step != 0 {
            self.step /= 1_000;
        }
    }

    /// Returns the finest unit that can represent all timestamps, and its length in nanoseconds.
    ///
    /// # Errors
    /// If no unit represents all of them.
    pub(super) fn finest(&self) -> Result<(TimeUnit, i128)> {
        let has = |at: i128, unit: i128| count(at / unit, 1).is_ok();
        let found = UNITS.into_iter().find(|&(_, unit)| has(self.lowest, unit) && has(self.highest, unit));
        found.filter(|&(_, unit)| self.step % unit == 0).ok_or_else(|| {
            unsupported(format!(
                "the timestamps from {} ns to {} ns have no common unit of 64 bits",
                self.lowest, self.highest
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn stored(day: i32, of_day: u64) -> Int96 {
        let mut stored = Int96::new();
        stored.set_data(
            u32::try_from(of_day & 0xffff_ffff).unwrap(),
            u32::try_from(of_day >> 32).unwrap(),
            day.cast_unsigned(),
        );
        stored
    }

    fn unit(all: &[Int96]) -> Option<(TimeUnit, i128)> {
        let mut units = Units::default();
        all.iter().for_each(|one| units.add(nanoseconds(one)));
        units.finest().ok()
    }

    #[test]
    fn the_finest_unit_that_has_all_points_in_time_is_taken() {
        assert_eq!(nanoseconds(&stored(2_440_588, 5)), 5);
        assert_eq!(nanoseconds(&stored(2_440_587, 0)), -86_400_000_000_000);
        assert_eq!(unit(&[]), Some((TimeUnit::Nanosecond, 1)));
        assert_eq!(unit(&[stored(2_440_588, 5)]), Some((TimeUnit::Nanosecond, 1)));
        // The years 9999 and -4712 are outside the range of 64-bit nanoseconds.
        for far in [stored(5_373_484, 1_000), stored(0, 0)] {
            let microseconds = Some((TimeUnit::Microsecond, 1_000));
            assert_eq!(unit(&[stored(2_440_588, 2_000), far]), microseconds);
            assert_eq!(unit(&[stored(2_440_588, 2_001), far]), None);
        }
        assert_eq!(unit(&[stored(i32::MAX, 1_000_000)]), Some((TimeUnit::Millisecond, 1_000_000)));
        assert_eq!(unit(&[stored(i32::MIN, 1_000)]), None);
    }

    #[test]
    fn a_count_that_the_unit_does_not_have_is_damage() {
        assert_eq!(count(-3_000, 1_000).unwrap(), -3);
        for (nanoseconds, unit) in [(1, 1_000), (1 << 63, 1), (-(1 << 63), 1)] {
            assert_error(count(nanoseconds, unit), ErrorKind::Corrupt, "outside the range");
        }
    }
}
