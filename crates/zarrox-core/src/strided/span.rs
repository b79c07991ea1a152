//! Positions along one dimension.

use smallvec::SmallVec;

/// A short list with one entry per dimension.
pub type Dims<T> = SmallVec<[T; 6]>;

/// Evenly spaced positions along one dimension of a chunk: `start`, `start + step`, … (`count` of them).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first position.
    pub start: usize,
    /// The distance between positions, at least 1.
    pub step: usize,
    /// The number of positions.
    pub count: usize,
}

impl Span {
    /// Returns the span of all positions of a dimension with this length.
    pub fn all(length: usize) -> Self {
        Self { start: 0, step: 1, count: length }
    }

    /// Returns true if the span contains all positions of a dimension with this length.
    #[doc(hidden)]
    pub fn covers(&self, length: usize) -> bool {
        self.start == 0 && self.count == length && (self.step == 1 || length <= 1)
    }
}
