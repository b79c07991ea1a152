//! Types of one or two bytes, given by the list of their numbers: the small floats, and user-defined types.

use std::sync::Arc;

use super::{Missing, Number, OutOfRange, Rounding};

/// All numbers of a type.
#[derive(Debug, Clone)]
pub struct Table(Arc<Numbers>);

#[derive(Debug)]
struct Numbers {
    size: usize,
    /// The value of each pattern.
    values: Vec<f64>,
    /// The finite numbers, in ascending order; -0 comes before 0.
    finite: Vec<Entry>,
    nan: Option<u64>,
    /// The patterns of -∞ and ∞.
    infinities: Option<[u64; 2]>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    value: f64,
    pattern: u64,
    /// True if the midpoint between this number and the next is rounded to the next.
    tie_up: bool,
}

impl Table {
    /// Creates a table from the numbers of all patterns of `size` bytes. `nearest` returns the pattern of the number that is
    /// nearest to a value.
    pub fn new(size: usize, values: Vec<f64>, mut nearest: impl FnMut(f64) -> Option<u64>) -> Self {
        let mut finite: Vec<Entry> = (values.iter().zip(0_u64..))
            .filter(|(value, _)| value.is_finite())
            .map(|(&value, pattern)| Entry { value, pattern, tie_up: false })
            .collect();
        // If the upper bits have no meaning, the pattern in which they are zero comes first.
        finite.sort_by(|a, b| a.value.total_cmp(&b.value));
        finite.dedup_by(|later, first| later.value.to_bits() == first.value.to_bits());
        for index in 1..finite.len() {
            let between = finite[index - 1].value.midpoint(finite[index].value);
            finite[index - 1].tie_up = nearest(between) == Some(finite[index].pattern);
        }
        let of =
            |value: f64| (values.iter().zip(0_u64..)).find(|&(&v, _)| v == value).map(|(_, pattern)| pattern);
        let infinities = of(f64::NEG_INFINITY).zip(of(f64::INFINITY)).map(|(below, above)| [below, above]);
        let nan = nearest(f64::NAN);
        let nan = nan.filter(|&pattern| usize::try_from(pattern).is_ok_and(|at| values[at].is_nan()));
        Self(Arc::new(Numbers { size, values, finite, nan, infinities }))
    }

    pub(super) fn size(&self) -> usize {
        self.0.size
    }

    pub(super) fn has_infinities(&self) -> bool {
        self.0.infinities.is_some()
    }

    /// Returns the value of each pattern.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0.values
    }

    pub(super) fn value(&self, pattern: u64) -> f64 {
        usize::try_from(pattern).ok().and_then(|at| self.0.values.get(at).copied()).unwrap_or(f64::NAN)
    }

    pub(super) fn pattern(
        &self,
        value: Number,
        rounding: Rounding,
        range: OutOfRange,
    ) -> Result<u64, Missing> {
        let numbers = &*self.0;
        // An integer of more than 53 bits is out of range for these types or lies between two of their numbers, so its last bits
        // do not matter.
        let value = match value {
            Number::Float(value) | Number::Complex(value, _) => value,
            #[expect(clippy::cast_precision_loss, reason = "adjusted to an odd float if it is not exact")]
            Number::Integer(whole) => odd(whole as f64, whole),
        };
        if value.is_nan() {
            return numbers.nan.ok_or(Missing::NotANumber);
        }
        let infinity = numbers.infinities.map(|[below, above]| if value < 0.0 { below } else { above });
        if value.is_infinite() {
            return infinity.ok_or(Missing::Infinity);
        }
        let count = numbers.finite.partition_point(|entry| entry.value.total_cmp(&value).is_le());
        let below = count.checked_sub(1).map(|index| numbers.finite[index]);
        let above = numbers.finite.get(count).copied();
        for exact in [below, above].into_iter().flatten() {
            if exact.value == value {
                return Ok(exact.pattern);
            }
        }
        let rounded = match (below, above) {
            (Some(below), Some(above)) => {
                let up = goes_up(value, below.value, above.value, rounding, || below.tie_up);
                Some(if up { above } else { below })
            }
            (Some(last), None) => self.beyond_last(value, last, rounding),
            (None, Some(first)) => self.before_first(value, first, rounding),
            (None, None) => None,
        };
        match (rounded, range) {
            (Some(entry), _) => Ok(entry.pattern),
            (None, OutOfRange::Clamp) => {
                let last = if above.is_none() { numbers.finite.last() } else { numbers.finite.first() };
                infinity.or(last.map(|entry| entry.pattern)).ok_or(Missing::OutOfRange)
            }
            (None, _) => Err(Missing::OutOfRange),
        }
    }

    /// Rounds a value above the largest number, as if another number followed it at the same distance as between the last two
    /// numbers.
    fn beyond_last(&self, value: f64, last: Entry, rounding: Rounding) -> Option<Entry> {
        let before = self.0.finite.iter().rev().nth(1)?;
        let next = last.value + (last.value - before.value);
        let up = value >= next || goes_up(value, last.value, next, rounding, || last.pattern & 1 == 1);
        (!up).then_some(last)
    }

    fn before_first(&self, value: f64, first: Entry, rounding: Rounding) -> Option<Entry> {
        let after = self.0.finite.get(1)?;
        let next = first.value - (after.value - first.value);
        let up = value > next && goes_up(value, next, first.value, rounding, || first.pattern & 1 == 0);
        up.then_some(first)
    }
}

/// Returns true if a value between two numbers of the type is rounded to the upper number.
fn goes_up(value: f64, below: f64, above: f64, rounding: Rounding, tie_up: impl Fn() -> bool) -> bool {
    // The numbers have few bits, so their midpoint is exact, whereas the distances to it might not be.
    let middle = below.midpoint(above);
    match rounding {
        Rounding::TowardsPositive => true,
        Rounding::TowardsNegative => false,
        Rounding::TowardsZero => value < 0.0,
        _ if value != middle => value > middle,
        Rounding::NearestEven => tie_up(),
        Rounding::NearestAway => value > 0.0,
    }
}

/// Returns a float adjacent to an integer that floats cannot represent; a 1 in its last place represents the remaining bits.
#[expect(clippy::cast_possible_truncation, reason = "an integer of 128 bits at most")]
fn odd(nearest: f64, whole: i128) -> f64 {
    match (nearest as i128).unsigned_abs().cmp(&whole.unsigned_abs()) {
        std::cmp::Ordering::Equal => nearest,
        std::cmp::Ordering::Less => f64::from_bits(nearest.to_bits() | 1),
        std::cmp::Ordering::Greater => f64::from_bits((nearest.to_bits() - 1) | 1),
    }
}
