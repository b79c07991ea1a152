//! The division of an array into equal boxes, independent of its chunks.

use std::collections::BTreeMap;

use zarrox_core::{DimSelection, Error, ErrorKind, Result};

use zarrox::Array;

/// Equal boxes, the cells, that cover a shape. They are numbered in row-major order.
pub struct Cells {
    shape: Vec<u64>,
    lengths: Vec<u64>,
    /// The number of cells along each dimension.
    grid: Vec<u64>,
}

/// The start and the end of a cell along each dimension.
pub(crate) type Region = Vec<(u64, u64)>;

/// The numbers of cells, each with its stored size in bytes.
pub type StoredCells = BTreeMap<u128, u64>;

impl Cells {
    /// Creates cells with these lengths, which must not be 0. Cells at the end of a dimension are truncated at the shape.
    pub fn new(shape: &[u64], lengths: Vec<u64>) -> Self {
        let grid = shape.iter().zip(&lengths).map(|(length, cell)| length.div_ceil(*cell)).collect();
        Self { shape: shape.to_vec(), lengths, grid }
    }

    /// Returns the number of cells; `None` beyond 2^128.
    pub(crate) fn count(&self) -> Option<u128> {
        self.grid.iter().try_fold(1_u128, |count, &n| count.checked_mul(n.into()))
    }

    /// Returns the start and the end of a cell along each dimension.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a division by a u64")]
    pub(crate) fn region(&self, mut index: u128) -> Region {
        let mut region = vec![(0, 0); self.grid.len()];
        for dim in (0..self.grid.len()).rev() {
            let count = u128::from(self.grid[dim]);
            let begin = (index % count) as u64 * self.lengths[dim];
            index /= count;
            region[dim] = (begin, begin.saturating_add(self.lengths[dim]).min(self.shape[dim]));
        }
        region
    }

    /// Adds the cells that overlap an array's stored chunks, with a size of 0.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if there are more than `most` cells, and the errors of the store.
    pub fn add_stored(&self, array: &Array, cells: &mut StoredCells, most: usize) -> Result<()> {
        self.add(array, cells, most, |_| 0)
    }

    /// Adds the cells that overlap an array's stored chunks. The size of a chunk is added to the first of its cells.
    ///
    /// # Errors
    /// The errors of the store.
    pub(crate) fn add_sizes(&self, array: &Array, cells: &mut StoredCells) -> Result<()> {
        self.add(array, cells, usize::MAX, |size| size)
    }

    fn add(
        &self,
        array: &Array,
        cells: &mut StoredCells,
        most: usize,
        counted: impl Fn(u64) -> u64,
    ) -> Result<()> {
        let mut too_many = false;
        array.visit_stored(&mut |chunk, size| {
            let Some(lengths) = chunk.filter(|_| !too_many).and_then(|chunk| self.around(array, &chunk))
            else {
                return;
            };
            let count =
                lengths.iter().try_fold(1_u64, |count, (first, last)| count.checked_mul(last - first));
            if count.is_none_or(|count| count > most as u64) {
                too_many = true;
                return;
            }
            let mut size = counted(size);
            for index in self.numbers(&lengths) {
                *cells.entry(index).or_default() += std::mem::take(&mut size);
            }
            too_many = cells.len() > most;
        })?;
        if too_many {
            let message =
                format!("the stored chunks overlap more than {most} units of work; use more memory");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        Ok(())
    }

    /// Returns the cells that a chunk overlaps along each dimension, if the chunk is in the grid.
    fn around(&self, array: &Array, chunk: &[u64]) -> Option<Region> {
        let along = |(dim, &index): (usize, &u64)| {
            let (begin, length) = array.chunk_grid().chunk_place(dim, index)?;
            let end = begin.saturating_add(length).min(self.shape[dim]);
            let last = end.div_ceil(self.lengths[dim]);
            Some(((begin / self.lengths[dim]).min(last), last))
        };
        chunk.iter().enumerate().map(along).collect()
    }

    /// Returns the numbers of the cells in these ranges.
    fn numbers(&self, ranges: &[(u64, u64)]) -> Vec<u128> {
        let mut numbers = vec![0_u128];
        for (&(first, last), &count) in ranges.iter().zip(&self.grid) {
            let along = |number: &u128| {
                let before = number * u128::from(count);
                (first..last).map(move |n| before + u128::from(n))
            };
            numbers = numbers.iter().flat_map(along).collect();
        }
        numbers
    }
}

/// Returns a region as a selection.
pub fn selection(region: &[(u64, u64)]) -> Vec<DimSelection> {
    region.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect()
}
