//! A resolved selection, for an array of a certain shape: positions, and their places in the result.

use std::sync::Arc;

use crate::error::Result;
use crate::scratch::Positions;
use crate::strided::Dims;

use super::Mask;

/// A selection that fits an array of a certain shape.
///
/// The dimensions of the array are divided among axes, which are selected from independently of each other; an axis has one
/// dimension, or several that are selected from together, point by point. The result has an axis of its own for each
/// dimension that is sliced, as many as the index arrays have for points, none for a dimension with a single index, and those
/// that were asked for by `newaxis`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedSelection {
    /// Each dimension of the array is in just one of them; in the order of their first dimensions.
    pub axes: Vec<ResolvedAxis>,
    /// The axes of the result, in order. What is no [`ResultAxis::Of`] any axis was dropped.
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
    /// Which dimension of the array.
    pub dim: usize,
    /// The lowest position.
    pub start: u64,
    /// The distance between positions, at least 1.
    pub step: u64,
    /// The number of positions.
    pub count: u64,
    /// True if the result has them in descending order.
    pub reversed: bool,
}

/// Listed positions along one or several dimensions, in the order of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// Which dimensions of the array, ascending. There are none where an array without dimensions is selected from more than
    /// once, and where a mask without dimensions is false.
    pub dims: Dims<usize>,
    /// For each of these dimensions the position of each point; all lists are equally long, and all positions lie inside
    /// the array.
    pub coordinates: Dims<Arc<Positions>>,
    /// The shape that the points have in the result, row-major; of as many elements as there are points.
    pub shape: Vec<usize>,
}

/// The positions where a mask over some dimensions is true, in row-major order: one axis of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedPoints {
    /// Which dimensions of the array, ascending; as many as the mask has.
    pub dims: Dims<usize>,
    /// The mask; as long as the array along each of the dimensions.
    pub mask: Mask,
    /// The number of true positions.
    pub count: usize,
}

/// Where an axis of the result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultAxis {
    /// From nowhere: its length is 1.
    New,
    /// From the array.
    Of {
        /// Which of [`ResolvedSelection::axes`].
        axis: usize,
        /// Which of the dimensions that its positions have in the result: 0, but for points of several dimensions.
        part: usize,
    },
}

impl ResolvedAxis {
    /// Which dimensions of the array, ascending.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Span(span) => std::slice::from_ref(&span.dim),
            Self::Points(points) => &points.dims,
            Self::Mask(masked) => &masked.dims,
        }
    }

    /// The shape that the positions have in the result, unless they are dropped.
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
    /// The shape of the result.
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
    /// The position of the `n`-th element in the order of the result; there must be as many.
    pub fn position(&self, n: u64) -> u64 {
        let n = if self.reversed { self.count - 1 - n } else { n };
        self.start + n * self.step
    }
}

impl MaskedPoints {
    /// The positions, listed.
    ///
    /// # Errors
    /// When there is not enough memory for the lists.
    pub fn to_points(&self) -> Result<Points> {
        let coordinates = self.mask.nonzero()?.into_iter().map(Arc::new).collect();
        Ok(Points { dims: self.dims.clone(), coordinates, shape: vec![self.count] })
    }
}
