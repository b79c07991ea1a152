//! The indices and regions of the chunks in the grid.

use std::ops::{Deref, Range};

use zarrox_core::{ChunkGrid, Result};

use super::Array;
use super::iterate::indices;

/// The index of a chunk in the grid, created by [`Array::chunk_indices`].
///
/// A chunk index is not a selection, since selections are given in elements; [`Array::chunk_region`] returns the region of the
/// chunk. It dereferences to `[u64]`, which the methods of [`Array::raw`] take.
///
/// ```compile_fail
/// fn read(array: &zarrox::Array, index: zarrox::ChunkIndex) -> zarrox::Result<Vec<f32>> {
///     array.read(index)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkIndex(Vec<u64>);

/// In these methods, a chunk is a stored object: a shard, if the array has shards.
impl Array {
    /// Iterates over the indices of all chunks of the [grid](Array::chunk_grid) in row-major order, whether stored or not.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([5, 2]).data_type(DataType::Int32).chunks([3, 2]).create()?;
    /// let indices: Vec<_> = array.chunk_indices().collect();
    /// assert_eq!(indices[1][..], [1, 0]);
    /// assert_eq!(array.chunk_region(&indices[1]), Some(vec![3..5, 0..2]));
    /// assert_eq!(array.chunk_regions().collect::<Vec<_>>(), [[0..3, 0..2], [3..5, 0..2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunk_indices(&self) -> impl DoubleEndedIterator<Item = ChunkIndex> + Clone + Send + use<> {
        let grid = self.grid_shape();
        self.chunk_numbers().map(move |number| ChunkIndex(indices(number, &grid)))
    }

    /// Iterates over the regions of all chunks, in elements and in row-major order. The region of a chunk is the part of it that
    /// lies inside the array. A region is a selection: `array.read(&region)`.
    pub fn chunk_regions(&self) -> impl DoubleEndedIterator<Item = Vec<Range<u64>>> + Clone + Send + use<> {
        let (grid, shape) = (self.chunk_grid().clone(), self.shape().to_vec());
        self.chunk_indices().map(move |chunk| region(&grid, &shape, &chunk))
    }

    /// Returns the region of one chunk, as in [`Array::chunk_regions`]; `None` if the grid does not contain the chunk.
    pub fn chunk_region(&self, chunk: &[u64]) -> Option<Vec<Range<u64>>> {
        self.has_chunk(chunk).then(|| region(self.chunk_grid(), self.shape(), chunk))
    }
}

impl Array {
    /// Returns the indices of the stored chunks, in row-major order.
    pub(super) fn stored_indices(
        &self,
    ) -> Result<impl DoubleEndedIterator<Item = ChunkIndex> + ExactSizeIterator + use<>> {
        let grid = self.grid_shape();
        Ok(self.stored_numbers()?.map(move |number| ChunkIndex(indices(number, &grid))))
    }

    /// Returns the row-major linear indices of all chunks.
    pub(super) fn chunk_numbers(&self) -> Range<u64> {
        // An iteration never reaches the end of a grid of 2^64 chunks.
        0..self.chunk_grid().chunk_count(self.shape()).unwrap_or(u64::MAX)
    }
}

fn region(grid: &ChunkGrid, shape: &[u64], chunk: &[u64]) -> Vec<Range<u64>> {
    let range = |(dim, &index): (usize, &u64)| {
        let (start, length) = grid.chunk_place(dim, index).unwrap_or((shape[dim], 0));
        start..start.saturating_add(length).min(shape[dim])
    };
    chunk.iter().enumerate().map(range).collect()
}

impl Deref for ChunkIndex {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}
