//! The chunks of the grid, without their elements.

use std::iter::FusedIterator;
use std::ops::Range;

use super::Array;
use super::iterate::indices;

/// An iterator over the indices of the chunks of a grid in row-major order; made by [`Array::chunk_indices`].
#[derive(Debug, Clone)]
pub struct ChunkIndices {
    grid: Vec<u64>,
    numbers: Range<u64>,
}

/// In these methods, a chunk is a stored object: a shard, if the array has shards.
impl Array {
    /// Iterates over the indices of all chunks of the [grid](Array::chunk_grid) in row-major order, stored or not.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([5, 2]).data_type(DataType::Int32).chunks([3, 2]).create()?;
    /// assert_eq!(array.chunk_indices().collect::<Vec<_>>(), [[0, 0], [1, 0]]);
    /// assert_eq!(array.chunk_regions().collect::<Vec<_>>(), [[0..3, 0..2], [3..5, 0..2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunk_indices(&self) -> ChunkIndices {
        // The end of a grid of 2^64 chunks is never reached.
        let count = self.chunk_grid().chunk_count(self.shape()).unwrap_or(u64::MAX);
        ChunkIndices { grid: self.grid_shape(), numbers: 0..count }
    }

    /// Iterates over the regions of all chunks in row-major order, in elements: the part of each chunk that lies inside the
    /// array. A region is a selection: `array.read(&region)`.
    pub fn chunk_regions(&self) -> impl DoubleEndedIterator<Item = Vec<Range<u64>>> + Clone + Send + use<> {
        let (grid, shape) = (self.chunk_grid().clone(), self.shape().to_vec());
        self.chunk_indices().map(move |chunk| {
            let range = |(dim, &index): (usize, &u64)| {
                let (start, length) = grid.chunk_place(dim, index).unwrap_or((shape[dim], 0));
                start..start.saturating_add(length).min(shape[dim])
            };
            chunk.iter().enumerate().map(range).collect()
        })
    }
}

impl Iterator for ChunkIndices {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.numbers.nth(n).map(|number| indices(number, &self.grid))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl DoubleEndedIterator for ChunkIndices {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.numbers.next_back().map(|number| indices(number, &self.grid))
    }
}

impl FusedIterator for ChunkIndices {}
