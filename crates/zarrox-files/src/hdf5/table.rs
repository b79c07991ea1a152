//! The locations of the chunks of a dataset.

use std::ops::ControlFlow;

use zarrox::Result;

use super::format::{Address, Dataset, File, StoredChunk};
use crate::input::corrupt;

/// The location of a chunk in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkLocation {
    /// The linear index of the chunk in row-major order.
    number: u64,
    pub(super) address: Address,
    /// The stored size in bytes.
    pub(super) size: u64,
    /// The filter mask: a bit is set for each skipped filter.
    pub(super) mask: u32,
}

/// The stored chunks of a dataset, in row-major order.
#[derive(Debug)]
pub(super) struct Table {
    grid: Vec<u64>,
    places: Vec<ChunkLocation>,
}

/// The properties of the chunks of a dataset.
pub(super) struct Chunked<'a> {
    /// The shape of the array.
    pub(super) shape: &'a [u64],
    /// The shape of a chunk.
    pub(super) chunk: &'a [u64],
    /// The size of a decoded chunk in bytes.
    pub(super) size: u64,
}

impl Table {
    /// Reads the chunk index of a dataset.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](zarrox::ErrorKind::Corrupt) if a chunk is not aligned to the grid, is outside the file, or
    /// is listed twice.
    pub(super) fn read(file: &File, dataset: &Dataset, chunked: &Chunked<'_>) -> Result<Self> {
        let grid = grid(chunked);
        let chunks = if chunked.shape.contains(&0) { Vec::new() } else { file.chunks(dataset)? };
        let end = file.input().length();
        let mut places = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let Some(number) = number(&chunk, chunked, &grid)? else { continue };
            let StoredChunk { address, mask, .. } = chunk;
            let size = if dataset.filters.is_empty() { chunked.size } else { chunk.size };
            let position = file.position(address)?;
            if position.checked_add(size).is_none_or(|behind| behind > end) {
                return Err(corrupt(format!(
                    "the chunk from element {:?} on has {size} bytes at {position}, but the file has only {end} bytes",
                    chunk.offset
                )));
            }
            places.push(ChunkLocation { number, address, size, mask });
        }
        places.sort_unstable_by_key(|place| place.number);
        if places.windows(2).any(|pair| pair[0].number == pair[1].number) {
            return Err(corrupt("the index lists a chunk twice"));
        }
        Ok(Self { grid, places })
    }

    /// Returns the table for a dataset without stored chunks.
    pub(super) fn empty(chunked: &Chunked<'_>) -> Self {
        Self { grid: grid(chunked), places: Vec::new() }
    }

    /// Returns true if every chunk of the grid is stored.
    pub(super) fn is_complete(&self) -> bool {
        let count = self.grid.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        count == Some(self.places.len() as u64)
    }

    pub(super) fn grid(&self) -> &[u64] {
        &self.grid
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns true if no chunk skipped a filter.
    pub(super) fn is_uniform(&self) -> bool {
        self.places.iter().all(|place| place.mask == 0)
    }

    /// Returns the location of a chunk. There is exactly one chunk along each dimension of array-typed elements.
    pub(super) fn find(&self, chunk: &[u64]) -> Option<ChunkLocation> {
        let (own, inner) = chunk.split_at_checked(self.grid.len())?;
        if inner.iter().any(|&index| index != 0)
            || own.iter().zip(&self.grid).any(|(index, count)| index >= count)
        {
            return None;
        }
        let number = own.iter().zip(&self.grid).fold(0, |number, (&index, &count)| number * count + index);
        let found = self.places.binary_search_by_key(&number, |place| place.number).ok()?;
        Some(self.places[found])
    }

    /// Calls a function with the chunk index, which has `ndim` dimensions, and the stored size of each chunk.
    pub(super) fn visit(
        &self,
        ndim: usize,
        visit: &mut dyn FnMut(&[u64], u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut position = vec![0; ndim];
        for place in &self.places {
            let mut number = place.number;
            for (index, &count) in position[..self.grid.len()].iter_mut().zip(&self.grid).rev() {
                *index = number % count;
                number /= count;
            }
            visit(&position, place.size)?;
        }
        ControlFlow::Continue(())
    }
}

/// Returns the number of chunks along each dimension.
fn grid(chunked: &Chunked<'_>) -> Vec<u64> {
    chunked.shape.iter().zip(chunked.chunk).map(|(n, chunk)| n.div_ceil(*chunk)).collect()
}

/// Returns the linear index of a chunk in row-major order; `None` for a chunk outside the shape. Such chunks remain in
/// the index after a dataset is shrunk.
fn number(stored: &StoredChunk, chunked: &Chunked<'_>, grid: &[u64]) -> Result<Option<u64>> {
    if stored.offset.len() != grid.len() {
        return Err(corrupt("a chunk in the index has a different number of dimensions"));
    }
    let mut number = 0_u64;
    for ((&offset, &chunk), &count) in stored.offset.iter().zip(chunked.chunk).zip(grid) {
        if offset % chunk != 0 {
            return Err(corrupt("a chunk in the index is not on the grid"));
        }
        let index = offset / chunk;
        if index >= count {
            return Ok(None);
        }
        let next = number.checked_mul(count).and_then(|number| number.checked_add(index));
        number = next.ok_or_else(|| corrupt("there are too many chunks"))?;
    }
    Ok(Some(number))
}
