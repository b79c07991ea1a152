//! Types of one or two bytes by the list of their numbers: the small floats, and types of the user's own.

use std::sync::Arc;

use zarrox_core::data_type::Number;
use zarrox_core::{DataType, Registry};

use super::exact::{Missing, Real, pattern, write_pattern};
use super::rounding::{OutOfRange, Rounding};

/// All numbers of a type.
#[derive(Debug, Clone)]
pub(crate) struct Table(Arc<Numbers>);

#[derive(Debug)]
struct Numbers {
    size: usize,
    /// The number of each pattern.
    values: Vec<f64>,
    /// The finite ones, ascending; -0 before 0.
    finite: Vec<Entry>,
    nan: Option<u64>,
    /// The patterns of -∞ and ∞.
    infinities: Option<[u64; 2]>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    value: f64,
    pattern: u64,
    /// True if the number just between this and the next becomes the next.
    tie_up: bool,
}

impl Table {
    /// A type's; `None` when it has more bytes, or its elements are no real numbers.
    pub(super) fn of(data_type: &DataType, registry: &Registry) -> Option<Self> {
        let size = data_type.size();
        let family = registry.family(data_type).ok()?;
        let mut element = vec![0; size];
        if !(1..=2).contains(&size) {
            return None;
        }
        let values: Option<Vec<f64>> = (0..1_u64 << (8 * size))
            .map(|pattern| {
                write_pattern(pattern, &mut element);
                match family.number(data_type, &element)? {
                    Number::Float(value) => Some(value),
                    number @ Number::Integer(_) => Some(number.to_f64()),
                    Number::Complex(..) => None,
                }
            })
            .collect();
        let values = values?;
        let mut finite: Vec<Entry> = (values.iter().zip(0_u64..))
            .filter(|(value, _)| value.is_finite())
            .map(|(&value, pattern)| Entry { value, pattern, tie_up: false })
            .collect();
        // Where the upper bits mean nothing, the pattern without them comes first.
        finite.sort_by(|a, b| a.value.total_cmp(&b.value));
        finite.dedup_by(|later, first| later.value.to_bits() == first.value.to_bits());
        for index in 1..finite.len() {
            let between = Number::Float(finite[index - 1].value.midpoint(finite[index].value));
            let written = family.write_number(data_type, between, &mut element);
            finite[index - 1].tie_up = written && pattern(&element) == finite[index].pattern;
        }
        let of =
            |value: f64| (values.iter().zip(0_u64..)).find(|&(&v, _)| v == value).map(|(_, pattern)| pattern);
        let infinities = of(f64::NEG_INFINITY).zip(of(f64::INFINITY)).map(|(below, above)| [below, above]);
        let nan =
            family.write_number(data_type, Number::Float(f64::NAN), &mut element).then(|| pattern(&element));
        let nan = nan.filter(|&pattern| usize::try_from(pattern).is_ok_and(|at| values[at].is_nan()));
        Some(Self(Arc::new(Numbers { size, values, finite, nan, infinities })))
    }

    pub(super) fn size(&self) -> usize {
        self.0.size
    }

    pub(super) fn has_infinities(&self) -> bool {
        self.0.infinities.is_some()
    }

    /// The number of each pattern.
    pub(super) fn values(&self) -> &[f64] {
        &self.0.values
    }

    pub(super) fn value(&self, pattern: u64) -> f64 {
        usize::try_from(pattern).ok().and_then(|at| self.0.values.get(at).copied()).unwrap_or(f64::NAN)
    }

    pub(super) fn pattern(&self, value: Real, rounding: Rounding, range: OutOfRange) -> Result<u64, Missing> {
        let numbers = &*self.0;
        // An integer of more than 53 bits is far from every number of these types, or so between two that nothing is lost.
        let value = match value {
            Real::Float(value) => value,
            #[expect(clippy::cast_precision_loss, reason = "made odd where it is not exact")]
            Real::Whole(whole) => odd(whole as f64, whole),
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

    /// Rounds as if one more number followed at the same distance.
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

/// Returns true if a number between two others is rounded to the upper one.
fn goes_up(value: f64, below: f64, above: f64, rounding: Rounding, tie_up: impl Fn() -> bool) -> bool {
    // Numbers of few bits: their middle is exact, where the distances to it might not be.
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

/// The float next to an integer that has no float, in which a 1 in the last place stands for the rest.
#[expect(clippy::cast_possible_truncation, reason = "an integer of 128 bits at most")]
fn odd(nearest: f64, whole: i128) -> f64 {
    match (nearest as i128).unsigned_abs().cmp(&whole.unsigned_abs()) {
        std::cmp::Ordering::Equal => nearest,
        std::cmp::Ordering::Less => f64::from_bits(nearest.to_bits() | 1),
        std::cmp::Ordering::Greater => f64::from_bits((nearest.to_bits() - 1) | 1),
    }
}
