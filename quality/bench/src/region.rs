//! Boxes of an array.

use std::ops::Range;

/// A range for each axis.
pub(crate) type Region = Vec<Range<usize>>;

/// Returns the lengths of the ranges of a region.
pub(crate) fn lengths(region: &[Range<usize>]) -> Vec<usize> {
    region.iter().map(ExactSizeIterator::len).collect()
}
