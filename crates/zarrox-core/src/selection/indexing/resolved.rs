//! A selection resolved for an array of a given shape: positions in the array and in the result.

use std::sync::Arc;

use crate::error::Result;
use crate::scratch::Positions;
use crate::strided::Dims;

use super::Mask;

/// A selection resolved for an array of a given shape.
///
/// The dimensions of the array are divided among independent axes. An axis has one dimension, or several dimensions along which
/// positions are selected jointly, point by point. The result has one axis for each sliced dimension, the axes of the joint shape
/// of index arrays, no axis for a dimension with a single index, and a new axis for each `newaxis`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedSelection {
    /// The axes, in the order of their first dimensions. Each dimension of the array belongs to exactly one of them.
    pub axes: Vec<ResolvedAxis>,
    /// The axes of the result, in order. An axis to which no [`ResultAxis::Of`] refers is dropped from the result.
    pub result: Vec<ResultAxis>,
}

/// Positions along some dimensions of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedAxis {
    /// Evenly spaced positions along one dimension.
    Span(ResolvedSpan),
    /// Listed positions.
    Points(Points),
    /// The positions where a mask is true, in row-major order.
    Mask(MaskedPoints),
}

/// Evenly spaced positions along one dimension, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedSpan {
    /// The dimension of the array.
    pub dim: usize,
    /// The lowest position.
    pub start: u64,
    /// The distance between positions, at least 1.
    pub step: u64,
    /// The number of positions.
    pub count: u64,
    /// True if the positions are in descending order in the result.
    pub reversed: bool,
}

/// Listed positions along one or several dimensions, in the order of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// The dimensions of the array, in ascending order. The list is empty if a selection repeats the element of a
    /// zero-dimensional array, or if a zero-dimensional mask is false.
    pub dims: Dims<usize>,
    /// The position of each point, along each of these dimensions. All lists have the same length, and all positions are inside
    /// the array.
    pub coordinates: Dims<Arc<Positions>>,
    /// The shape of the points in the result, in row-major order.
    pub shape: Vec<usize>,
}

/// The positions where a mask over some dimensions is true, in row-major order. They form one axis of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedPoints {
    /// The dimensions of the array that the mask covers, in ascending order: one for each dimension of the mask.
    pub dims: Dims<usize>,
    /// The mask, which has the array's length along each of these dimensions.
    pub mask: Mask,
    /// The number of true positions.
    pub count: usize,
}

/// The origin of an axis of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultAxis {
    /// A new axis, of length 1.
    New,
    /// An axis of the array.
    Of {
        /// The index into [`ResolvedSelection::axes`].
        axis: usize,
        /// The index into the [shape](ResolvedAxis::shape) of the axis: 0, unless it is a list of points whose shape has several
        /// dimensions.
        part: usize,
    },
}

impl ResolvedAxis {
    /// Returns the dimensions of the array that belong to the axis, in ascending order.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Span(span) => std::slice::from_ref(&span.dim),
            Self::Points(points) => &points.dims,
            Self::Mask(masked) => &masked.dims,
        }
    }

    /// Returns the shape of the positions in the result, unless the axis is dropped.
    #[inline]
    pub fn shape(&self) -> Dims<u64> {
        match self {
            Self::Span(span) => [span.count].into_iter().collect(),
            Self::Points(points) => points.shape.iter().map(|&n| n as u64).collect(),
            Self::Mask(masked) => [masked.count as u64].into_iter().collect(),
        }
    }
}

impl ResolvedSelection {
    /// Returns the shape of the result.
    pub fn shape(&self) -> Vec<u64> {
        let length = |axis: &ResultAxis| match *axis {
            ResultAxis::New => 1,
            ResultAxis::Of { axis, part } => match &self.axes[axis] {
                ResolvedAxis::Span(span) => span.count,
                ResolvedAxis::Points(points) => points.shape[part] as u64,
                ResolvedAxis::Mask(masked) => masked.count as u64,
            },
        };
        self.result.iter().map(length).collect()
    }

    /// Returns true if no element is selected.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| match axis {
            ResolvedAxis::Span(span) => span.count == 0,
            ResolvedAxis::Points(points) => points.shape.contains(&0),
            ResolvedAxis::Mask(masked) => masked.count == 0,
        })
    }
}

impl ResolvedSpan {
    /// Returns the position of the `n`-th element in the order of the result. The element must exist.
    pub fn position(&self, n: u64) -> u64 {
        let n = if self.reversed { self.count - 1 - n } else { n };
        self.start + n * self.step
    }
}

impl MaskedPoints {
    /// Returns the positions as lists.
    ///
    /// # Errors
    /// When memory for the lists cannot be allocated.
    pub fn to_points(&self) -> Result<Points> {
        let coordinates = self.mask.nonzero()?.into_iter().map(Arc::new).collect();
        Ok(Points { dims: self.dims.clone(), coordinates, shape: vec![self.count] })
    }
}
