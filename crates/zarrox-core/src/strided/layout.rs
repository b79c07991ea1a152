//! Shapes and strides.

use smallvec::SmallVec;

use super::span::{Dims, Span};

/// The shape in elements, the strides in bytes, and the size of an element.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) shape: Dims<usize>,
    pub(crate) strides: Dims<isize>,
    pub(crate) item: usize,
}

/// Copies whole slices, because a derived `clone` would work element by element, and views are created many times for every
/// chunk.
impl Clone for Layout {
    fn clone(&self) -> Self {
        Self::new(&self.shape, &self.strides, self.item)
    }
}

impl Layout {
    pub(crate) fn new(shape: &[usize], strides: &[isize], item: usize) -> Self {
        Self { shape: SmallVec::from_slice(shape), strides: SmallVec::from_slice(strides), item }
    }

    pub(crate) fn contiguous(shape: &[usize], item: usize) -> Self {
        Self { shape: SmallVec::from_slice(shape), strides: contiguous_strides(shape, item), item }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    pub(crate) fn len_bytes(&self) -> usize {
        // Without elements, the product of the other lengths may overflow.
        if self.is_empty() { 0 } else { self.shape.iter().product::<usize>() * self.item }
    }

    pub(crate) fn is_contiguous(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut expected = self.item.cast_signed();
        for (&length, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if length != 1 && stride != expected {
                return false;
            }
            expected *= length.cast_signed();
        }
        true
    }

    /// Restricts the layout to spans; returns the byte offset of the new first element.
    pub(crate) fn narrow(&mut self, spans: &[Span]) -> isize {
        assert_eq!(spans.len(), self.shape.len(), "there must be one span for each dimension");
        let mut offset = 0;
        for (dim, span) in spans.iter().enumerate() {
            if span.count > 0 {
                let last = span.start + (span.count - 1) * span.step;
                assert!(last < self.shape[dim], "span {span:?} leaves dimension {dim}");
                offset += span.start.cast_signed() * self.strides[dim];
            }
            self.shape[dim] = span.count;
            // A stride is this large only if another dimension is empty.
            self.strides[dim] = self.strides[dim].saturating_mul(span.step.cast_signed());
        }
        offset
    }

    pub(crate) fn permute(&mut self, order: &[usize]) {
        self.shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.strides = order.iter().map(|&axis| self.strides[axis]).collect();
    }

    /// Changes the shape to another shape with the same number of elements; returns false and does nothing if there are gaps,
    /// or the number of elements differs.
    pub(crate) fn reshape(&mut self, shape: &[usize]) -> bool {
        let empty = shape.contains(&0);
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        let fits = if empty { self.is_empty() } else { count == Some(self.shape.iter().product()) };
        if !fits || !self.is_contiguous() {
            return false;
        }
        *self = Self::contiguous(shape, self.item);
        true
    }

    pub(crate) fn insert_axis(&mut self, dim: usize) {
        self.shape.insert(dim, 1);
        self.strides.insert(dim, 0);
    }

    /// Removes an axis of length 1.
    pub(crate) fn remove_axis(&mut self, dim: usize) {
        assert!(self.shape[dim] == 1, "only an axis of length 1 can be removed");
        self.shape.remove(dim);
        self.strides.remove(dim);
    }

    /// Merges `count` axes from `dim` on into one; returns false and does nothing if their elements are not evenly spaced. If
    /// `count` is 0, an axis of length 1 is inserted.
    pub(crate) fn merge(&mut self, dim: usize, count: usize) -> bool {
        let (mut length, mut stride) = (1_usize, 0_isize);
        for axis in (dim..dim + count).rev().filter(|&axis| self.shape[axis] != 1) {
            let continues = self.strides[axis] == stride.saturating_mul(length.cast_signed());
            if length != 1 && !continues && !self.is_empty() {
                return false;
            }
            stride = if length == 1 { self.strides[axis] } else { stride };
            length = length.saturating_mul(self.shape[axis]);
        }
        self.shape.drain(dim..dim + count);
        self.strides.drain(dim..dim + count);
        self.shape.insert(dim, length);
        self.strides.insert(dim, stride);
        true
    }

    /// Splits an axis at `middle`. Returns the layout before `middle`, the layout from `middle` on, and the byte offset of
    /// the second layout.
    pub(crate) fn halves(self, dim: usize, middle: usize) -> (Self, Self, isize) {
        let length = self.shape[dim];
        assert!(middle <= length, "the axis must be split inside");
        let (mut before, mut after) = (self.clone(), self);
        before.shape[dim] = middle;
        after.shape[dim] = length - middle;
        // If no positions are left, the stride may be so large that the product overflows.
        let offset = if after.is_empty() { 0 } else { middle.cast_signed() * after.strides[dim] };
        (before, after, offset)
    }

    /// Reverses a dimension; returns the byte offset of the new first element.
    pub(crate) fn reverse(&mut self, dim: usize) -> isize {
        if self.is_empty() {
            return 0;
        }
        let offset = (self.shape[dim] - 1).cast_signed() * self.strides[dim];
        self.strides[dim] = -self.strides[dim];
        offset
    }
}

/// Returns the row-major strides in bytes of a shape in elements.
pub fn contiguous_strides(shape: &[usize], item: usize) -> Dims<isize> {
    let mut stride = item.cast_signed();
    let from_the_last = shape.iter().rev().map(|&length| {
        let next = stride.saturating_mul(length.cast_signed());
        std::mem::replace(&mut stride, next)
    });
    let mut strides: Dims<isize> = from_the_last.collect();
    strides.reverse();
    strides
}
