//! Positions along one dimension, from indices, slices, lists and masks. Evenly spaced positions become a span.

use std::sync::Arc;

use super::super::masked;
use super::arrays::reserved;
use super::{Points, ResolvedAxis, ResolvedSpan};
use crate::error::{Error, Result};
use crate::scratch::Positions;

/// The number of distances that are compared at once, which is enough for vector instructions.
const COMPARED: usize = 1024;

/// Checks that elements can be selected from an array of this shape.
///
/// # Errors
/// When a dimension is too long.
pub fn check_lengths(shape: &[u64]) -> Result<()> {
    (0..shape.len()).try_for_each(|axis| Dim::new(shape, axis).map(drop))
}

/// A dimension of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dim {
    /// The index of the dimension.
    pub(super) axis: usize,
    /// The length of the dimension, as a signed integer.
    pub(super) length: i64,
}

impl Dim {
    /// Creates the `axis`-th dimension of an array of this shape.
    pub(super) fn new(shape: &[u64], axis: usize) -> Result<Self> {
        // Positions are signed during the computation; real arrays are far below the limit.
        let length = i64::try_from(shape[axis]).map_err(|_| {
            Error::selection(format!("axis {axis} has length {}, which is more than 2^63", shape[axis]))
        })?;
        Ok(Self { axis, length })
    }

    fn outside(self, index: i64) -> Error {
        let Self { axis, length } = self;
        Error::selection(format!("index {index} is out of bounds for axis {axis} with size {length}"))
    }

    /// Returns the position that an index selects, counted from the beginning.
    pub(super) fn index(self, index: i64) -> Result<u64> {
        let position = if index < 0 { index.saturating_add(self.length) } else { index };
        if position < 0 || position >= self.length {
            return Err(self.outside(index));
        }
        Ok(position.cast_unsigned())
    }

    /// Returns every position.
    pub(super) fn all(self) -> ResolvedSpan {
        let count = self.length.cast_unsigned();
        ResolvedSpan { dim: self.axis, start: 0, step: 1, count, reversed: false }
    }

    /// Returns the positions of Python's `slice.indices` in ascending order.
    pub(super) fn slice(self, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<ResolvedSpan> {
        if step == 0 {
            return Err(Error::selection(format!("the slice step of axis {} cannot be zero", self.axis)));
        }
        let n = self.length;
        let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let clip = |bound: i64| {
            let bound = if bound < 0 { bound.saturating_add(n) } else { bound };
            bound.clamp(lowest, highest)
        };
        let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let start = start.map_or(first, clip);
        let stop = stop.map_or(end, clip);
        let distance = if step > 0 { stop - start } else { start - stop };
        let stride = step.unsigned_abs();
        let count = if distance > 0 { distance.cast_unsigned().div_ceil(stride) } else { 0 };
        let start = match (count, step > 0) {
            (0, _) => 0,
            (_, true) => start.cast_unsigned(),
            (_, false) => start.cast_unsigned() - (count - 1) * stride,
        };
        // With at most one position, the step has no effect. A step of 1 keeps later arithmetic small.
        let step_out = if count > 1 { stride } else { 1 };
        Ok(ResolvedSpan { dim: self.axis, start, step: step_out, count, reversed: step < 0 && count > 1 })
    }

    /// Resolves a one-dimensional list of indices. Negative indices count from the end.
    pub(super) fn list(self, values: &[i64]) -> Result<ResolvedAxis> {
        if let Some(span) = self.evenly_spaced_indices(values) {
            return Ok(ResolvedAxis::Span(span));
        }
        Ok(self.positions(self.normalized(values)?))
    }

    /// Returns a span if the indices are evenly spaced, all count from the same end, and are within bounds.
    fn evenly_spaced_indices(self, values: &[i64]) -> Option<ResolvedSpan> {
        let (&first, &last) = (values.first()?, values.last()?);
        if (first < 0) != (last < 0) {
            return None;
        }
        let step = even_step(values, |value| value)?;
        let (first, last) = (self.index(first).ok()?, self.index(last).ok()?);
        Some(span(self.axis, first, last, step, values.len()))
    }

    /// Returns the given positions, which must be inside the array, as a span if they are evenly spaced.
    fn positions(self, list: Positions) -> ResolvedAxis {
        if let Some(span) = spaced(self.axis, &list) {
            return ResolvedAxis::Span(span);
        }
        ResolvedAxis::Points(Points {
            dims: [self.axis].into_iter().collect(),
            shape: vec![list.len()],
            coordinates: [Arc::new(list)].into_iter().collect(),
        })
    }

    /// Converts indices to positions from the beginning, or returns an error that names the first out-of-bounds index.
    pub(super) fn normalized(self, values: &[i64]) -> Result<Positions> {
        let n = self.length;
        let mut list = reserved(values.len())?;
        // One pass without branches, so that the processor handles several values in parallel.
        let mut outside = false;
        list.extend(values.iter().map(|&value| {
            let position = value.wrapping_add(n & (value >> 63));
            outside |= !(0..n).contains(&position);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked below")]
            let position = position as usize;
            position
        }));
        // With 32-bit addresses, a list cannot contain positions beyond `usize`.
        let inside = |value: i64| self.index(value).is_ok_and(|position| usize::try_from(position).is_ok());
        if outside || usize::try_from(n).is_err() {
            match values.iter().find(|&&value| !inside(value)) {
                Some(&index) => return Err(self.outside(index)),
                None => return Ok(list),
            }
        }
        Ok(list)
    }

    /// Returns the positions where a mask of the dimension's length is true.
    pub(super) fn mask(self, mask: &[bool]) -> Result<ResolvedAxis> {
        let first = mask.iter().position(|&value| value);
        let last = mask.iter().rposition(|&value| value);
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(ResolvedAxis::Span(none(self.axis)));
        };
        let mask = &mask[first..=last];
        let count = masked::count(mask);
        if count == mask.len() {
            return Ok(ResolvedAxis::Span(span(self.axis, first as u64, last as u64, 1, count)));
        }
        let mut list = reserved(count)?;
        list.extend(mask.iter().enumerate().filter(|(_, value)| **value).map(|(at, _)| first + at));
        Ok(self.positions(list))
    }
}

/// Returns one position along a dimension.
pub(super) fn single(dim: usize, position: u64) -> ResolvedSpan {
    ResolvedSpan { dim, start: position, step: 1, count: 1, reversed: false }
}

/// Returns a span without positions.
fn none(dim: usize) -> ResolvedSpan {
    ResolvedSpan { dim, start: 0, step: 1, count: 0, reversed: false }
}

/// Returns `count` evenly spaced positions from the first to the last.
fn span(dim: usize, first: u64, last: u64, step: i64, count: usize) -> ResolvedSpan {
    let (step, reversed) = if count > 1 { (step.unsigned_abs(), step < 0) } else { (1, false) };
    ResolvedSpan { dim, start: first.min(last), step, count: count as u64, reversed }
}

/// Returns positions along a dimension as a span, if they are evenly spaced.
pub(super) fn spaced(dim: usize, list: &[usize]) -> Option<ResolvedSpan> {
    let (Some(&first), Some(&last)) = (list.first(), list.last()) else { return Some(none(dim)) };
    let step = even_step(list, |position| (position as u64).cast_signed())?;
    Some(span(dim, first as u64, last as u64, step, list.len()))
}

/// Returns the distance between consecutive values, if it is constant and not zero; 1 for a single value.
fn even_step<T: Copy>(values: &[T], number: impl Fn(T) -> i64) -> Option<i64> {
    let (&first, &last) = (values.first()?, values.last()?);
    let Some(&second) = values.get(1) else { return Some(1) };
    let step = number(second).checked_sub(number(first)).filter(|&step| step != 0)?;
    // If the values are evenly spaced, the step determines the last one. Checking this first ensures that the arithmetic below
    // does not wrap.
    let distance = i128::from(number(last)) - i128::from(number(first));
    if distance != i128::from(step) * (values.len() as i128 - 1) {
        return None;
    }
    let even = |(a, b): (&T, &T)| number(*b).wrapping_sub(number(*a)) == step;
    let mut blocks = values.chunks(COMPARED).zip(values[1..].chunks(COMPARED));
    blocks
        .all(|(before, after)| before.iter().zip(after).fold(true, |all, pair| all & even(pair)))
        .then_some(step)
}
