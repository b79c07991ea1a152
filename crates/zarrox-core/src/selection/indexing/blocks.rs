//! Selections of whole chunks by their indices in a grid.

use std::borrow::Cow;

use super::arrays::saturated;
use super::positions::Dim;
use super::selection::Kind;
use super::{DimSelection, Selection};
use crate::error::{Error, Result};
use crate::grid::ChunkGrid;

impl Selection {
    /// Rewrites block selections as slices, for an array of this shape with this grid. Other selections are unchanged.
    ///
    /// # Errors
    /// When a block does not exist, or an item is neither an integer nor a slice without a step.
    #[doc(hidden)]
    pub fn on_grid(&self, grid: &ChunkGrid, shape: &[u64]) -> Result<Cow<'_, Self>> {
        if self.kind != Kind::Blocks {
            return Ok(Cow::Borrowed(self));
        }
        let mentioned = self.items.iter().filter(|item| **item != DimSelection::Ellipsis).count();
        if mentioned > shape.len() || self.items.len() - mentioned > 1 {
            return Err(Error::selection(format!(
                "blocks are selected along {mentioned} dimensions, but the array has {} (shape {shape:?}); \
                 only one ellipsis (...) is allowed",
                shape.len()
            )));
        }
        let counts = grid.grid_shape(shape);
        let mut slices = Vec::with_capacity(self.items.len());
        let mut dim = 0;
        for item in &self.items {
            if *item == DimSelection::Ellipsis {
                slices.push(DimSelection::Ellipsis);
                dim += shape.len() - mentioned;
                continue;
            }
            slices.push(block_slice(item, dim, grid, &counts, shape)?);
            dim += 1;
        }
        Ok(Cow::Owned(slices.into_iter().collect()))
    }
}

/// Returns the elements of the selected blocks along a dimension as a slice.
fn block_slice(
    item: &DimSelection,
    dim: usize,
    grid: &ChunkGrid,
    counts: &[u64],
    shape: &[u64],
) -> Result<DimSelection> {
    let blocks = Dim::new(counts, dim)?;
    let (first, count) = match item {
        DimSelection::Index(index) => {
            let first = blocks.index(*index).map_err(|_| {
                let count = counts[dim];
                Error::selection(format!("block {index} is out of bounds for axis {dim} with {count} blocks"))
            })?;
            (first, 1)
        }
        DimSelection::Slice { start, stop, step: 1 } => {
            let span = blocks.slice(*start, *stop, 1)?;
            (span.start, span.count)
        }
        other => {
            return Err(Error::selection(format!(
                "blocks of axis {dim} are selected with {other}; a block selection has only integers and slices \
                 without steps"
            )));
        }
    };
    if count == 0 {
        return Ok(DimSelection::from(0..0));
    }
    let missing = || Error::selection(format!("the chunk grid ends before block {first} of axis {dim}"));
    let (start, _) = grid.chunk_place(dim, first).ok_or_else(missing)?;
    let (last, length) = grid.chunk_place(dim, first + count - 1).ok_or_else(missing)?;
    let end = last.saturating_add(length).min(shape[dim]);
    Ok(DimSelection::Slice { start: Some(saturated(start)), stop: Some(saturated(end)), step: 1 })
}
