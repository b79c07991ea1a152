//! Elements with dimensions permuted to the order that OME-Zarr requires.

use std::ops::ControlFlow;

use zarrox::{DynArray, Result};

use crate::chunks::Elements;
use crate::input::corrupt;

/// The elements of an array with permuted dimensions. Two adjacent dimensions may be merged.
#[derive(Debug)]
pub(super) struct Arranged {
    inner: Box<dyn Elements>,
    /// The source dimension of each dimension.
    order: Vec<usize>,
    /// The first of the two merged dimensions. Chunks have length 1 along it.
    merged: Option<usize>,
    grid: Vec<u64>,
}

impl Arranged {
    pub(super) fn new(inner: Box<dyn Elements>, order: Vec<usize>, merged: Option<usize>) -> Self {
        let grid = join(&order.iter().map(|&dim| inner.grid()[dim]).collect::<Vec<_>>(), merged);
        Self { inner, order, merged, grid }
    }

    /// Converts a chunk index to the source grid.
    fn position(&self, chunk: &[u64]) -> Vec<u64> {
        let mut ordered = chunk.to_vec();
        if let Some(dim) = self.merged
            && let Some(&index) = chunk.get(dim)
        {
            let count = self.inner.grid()[self.order[dim + 1]].max(1);
            ordered.splice(dim..=dim, [index / count, index % count]);
        }
        let mut position = vec![0; ordered.len()];
        for (&dim, index) in self.order.iter().zip(ordered) {
            position[dim] = index;
        }
        position
    }

    /// Converts a source chunk index to the permuted grid.
    fn outer(&self, position: &[u64]) -> Vec<u64> {
        let mut ordered: Vec<u64> = self.order.iter().map(|&dim| position[dim]).collect();
        if let Some(dim) = self.merged {
            let count = self.inner.grid()[self.order[dim + 1]];
            let index = ordered[dim] * count + ordered[dim + 1];
            ordered.splice(dim..=dim + 1, [index]);
        }
        ordered
    }
}

/// Returns a shape after the two dimensions have been merged.
pub(super) fn join(lengths: &[u64], merged: Option<usize>) -> Vec<u64> {
    let mut lengths = lengths.to_vec();
    if let Some(dim) = merged {
        let product = lengths[dim].saturating_mul(lengths[dim + 1]);
        lengths.splice(dim..=dim + 1, [product]);
    }
    lengths
}

impl Elements for Arranged {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        let shape = self.inner.chunk_shape();
        join(&self.order.iter().map(|&dim| shape[dim]).collect::<Vec<_>>(), self.merged)
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        self.inner.is_stored(&self.position(chunk))
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        let is_same = self.merged.is_none() && self.order.is_sorted();
        if is_same {
            return self.inner.visit(visit);
        }
        let mut all = Vec::new();
        let _ = self.inner.visit(&mut |position| {
            all.push(self.outer(position));
            ControlFlow::Continue(())
        });
        all.sort_unstable();
        all.iter().try_for_each(|position| visit(position))
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let elements = self.inner.read(&self.position(chunk))?;
        let shape =
            self.chunk_shape().iter().map(|&length| usize::try_from(length)).collect::<Result<_, _>>();
        let shape: Vec<usize> = shape.map_err(|_| corrupt("a chunk is too large"))?;
        let mut bytes = Vec::new();
        elements.view().permuted(&self.order).append_to(&mut bytes, 1);
        DynArray::new(elements.data_type().clone(), shape, bytes)
    }
}
