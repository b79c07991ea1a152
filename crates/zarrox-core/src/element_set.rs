//! Elements of a chunk that need not form a box, and where each of them is in memory.

use std::ops::Range;
use std::sync::Arc;

use crate::strided::{Dims, Span};

/// Points in an order in which those of one chunk follow each other, and where each of them is in the result.
#[derive(Debug)]
pub struct PlacedPoints {
    /// For each dimension the position of each point.
    pub coordinates: Dims<Arc<Vec<usize>>>,
    /// Where each point is along the axis of the result; where absent, the n-th point is the n-th there.
    pub places: Option<Vec<usize>>,
}

/// Some of these points, counted from an origin: those in one chunk.
#[derive(Debug, Clone)]
pub struct PointRange {
    /// Which dimensions of the chunk the points have.
    pub dims: Dims<usize>,
    /// All points.
    pub points: Arc<PlacedPoints>,
    /// Which of them.
    pub range: Range<usize>,
    /// What is to be subtracted from each position, one number for each of `dims`.
    pub origin: Dims<usize>,
}

/// Positions along some dimensions of a chunk; along one axis of the memory that the elements are copied from or to.
#[derive(Debug, Clone)]
pub enum ElementAxis {
    /// Evenly spaced positions along one dimension.
    Span {
        /// Which dimension of the chunk.
        dim: usize,
        /// The positions.
        span: Span,
        /// Where the first of them is in memory; the others follow.
        place: usize,
    },
    /// Listed positions.
    Points(PointRange),
}

/// Elements of a chunk: every combination of what its axes select. Each dimension of the chunk is in just one axis.
///
/// In memory, the elements have one axis for each of these, in the same order. So a set says which element goes where, between a
/// chunk and any memory: for reading, the result; for writing, the new values.
#[derive(Debug, Clone)]
pub struct ElementSet {
    /// The axes, in the order of the memory's.
    pub axes: Dims<ElementAxis>,
}
