//! Equal boxes that an array is divided into to be worked on, whatever its chunks are.

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

/// The beginning and the end of a cell along each dimension.
pub(crate) type Region = Vec<(u64, u64)>;

/// The numbers of cells, each with the size of what is stored for it, in bytes.
pub type StoredCells = BTreeMap<u128, u64>;

impl Cells {
    /// Cells of these lengths, of which none is 0. Those at the end of a dimension are cut off by the shape.
    pub fn new(shape: &[u64], lengths: Vec<u64>) -> Self {
        let grid = shape.iter().zip(&lengths).map(|(length, cell)| length.div_ceil(*cell)).collect();
        Self { shape: shape.to_vec(), lengths, grid }
    }

    /// The number of cells; `None` beyond 2^128.
    pub(crate) fn count(&self) -> Option<u128> {
        self.grid.iter().try_fold(1_u128, |count, &n| count.checked_mul(n.into()))
    }

    /// Where a cell begins and ends along each dimension.
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

    /// Adds the cells that an array's stored chunks lie in. Each chunk's size counts for the first of them; for none if it is not
    /// asked for.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] when there are more than `most`, and what the store says.
    pub fn add_stored(&self, array: &Array, cells: &mut StoredCells, sized: bool, most: usize) -> Result<()> {
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
            let mut size = if sized { size } else { 0 };
            for index in self.numbers(&lengths) {
                *cells.entry(index).or_default() += std::mem::take(&mut size);
            }
            too_many = cells.len() > most;
        })?;
        if too_many {
            let message = format!("what is stored lies in more than {most} parts that are worked on at once");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        Ok(())
    }

    /// The cells along each dimension that a chunk lies in, if the grid has it.
    fn around(&self, array: &Array, chunk: &[u64]) -> Option<Region> {
        let along = |(dim, &index): (usize, &u64)| {
            let (begin, length) = array.chunk_grid().chunk_place(dim, index)?;
            let end = begin.saturating_add(length).min(self.shape[dim]);
            let last = end.div_ceil(self.lengths[dim]);
            Some(((begin / self.lengths[dim]).min(last), last))
        };
        chunk.iter().enumerate().map(along).collect()
    }

    /// The numbers of the cells in these ranges.
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

/// The elements of a region.
pub fn selection(region: &[(u64, u64)]) -> Vec<DimSelection> {
    region.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect()
}
