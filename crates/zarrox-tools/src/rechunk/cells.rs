//! The division of an array into equal boxes, regardless of its chunks.

use std::collections::BTreeMap;

use zarrox_core::{DimSelection, Error, ErrorKind, Result};

use zarrox::Array;

/// A set of equal boxes, called cells, that cover a shape. They are numbered in row-major order.
pub struct Cells {
    shape: Vec<u64>,
    lengths: Vec<u64>,
    /// The number of cells along each dimension.
    grid: Vec<u64>,
}

/// The start and the end of a cell along each dimension.
pub(crate) type Region = Vec<(u64, u64)>;

/// The numbers of cells, each with the stored size of the cell in bytes.
pub type StoredCells = BTreeMap<u128, u64>;

/// The maximum number of fine cells, which are held in memory together with the coarse cells.
const MOST_FINE: usize = 1 << 18;

/// Fine cells are used if the coarse cells have at least this many times as many elements.
const SPARSE: u128 = 8;

impl Cells {
    /// Creates cells with these lengths, which must not be 0. Cells at the end of a dimension are truncated at the shape.
    pub fn new(shape: &[u64], lengths: Vec<u64>) -> Self {
        let grid = shape.iter().zip(&lengths).map(|(length, cell)| length.div_ceil(*cell)).collect();
        Self { shape: shape.to_vec(), lengths, grid }
    }

    /// Returns the number of cells; `None` if it is not less than 2^128.
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
        let mut has_room = true;
        array.visit_stored(&mut |chunk, size| {
            if let Some(chunk) = chunk.filter(|_| has_room) {
                has_room = self.enter(array, &chunk, counted(size), cells, most);
            }
        })?;
        if has_room { Ok(()) } else { Err(too_many_cells(most)) }
    }

    /// Adds the cells that a stored chunk overlaps, and adds its size to the first of them. Returns false if there are more than
    /// `most` cells.
    fn enter(&self, array: &Array, chunk: &[u64], size: u64, cells: &mut StoredCells, most: usize) -> bool {
        let Some(ranges) = self.around(array, chunk) else { return true };
        let count = ranges.iter().try_fold(1_u64, |count, (first, last)| count.checked_mul(last - first));
        if count.is_none_or(|count| count > most as u64) {
            return false;
        }
        let mut size = size;
        for index in self.numbers(&ranges) {
            *cells.entry(index).or_default() += std::mem::take(&mut size);
        }
        cells.len() <= most
    }

    /// Returns the cells that overlap stored chunks of these arrays: the cells of `fine` if most elements in the cells of `self`
    /// belong to missing chunks, and the cells of `self` otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if there are more than `most` cells, and the errors of the store.
    pub(crate) fn stored_or(self, fine: Self, arrays: &[&Array], most: usize) -> Result<(Self, Vec<u128>)> {
        let (mut coarse_cells, mut fine_cells) = (StoredCells::new(), StoredCells::new());
        let (mut has_room, mut is_sparse) = (true, true);
        for array in arrays {
            array.visit_stored(&mut |chunk, _| {
                let Some(chunk) = chunk.filter(|_| has_room) else { return };
                has_room = self.enter(array, &chunk, 0, &mut coarse_cells, most);
                is_sparse = is_sparse && fine.enter(array, &chunk, 0, &mut fine_cells, MOST_FINE);
            })?;
        }
        if !has_room {
            return Err(too_many_cells(most));
        }
        let elements = |cells: &Self, stored: &StoredCells| stored.len() as u128 * cells.elements();
        is_sparse &= elements(&fine, &fine_cells) * SPARSE <= elements(&self, &coarse_cells);
        let (cells, stored) = if is_sparse { (fine, fine_cells) } else { (self, coarse_cells) };
        Ok((cells, stored.into_keys().collect()))
    }

    /// Returns the number of elements of a cell that is not truncated.
    pub(crate) fn elements(&self) -> u128 {
        self.lengths.iter().fold(1, |count: u128, &length| count.saturating_mul(length.into()))
    }

    /// Returns the range of cells that a chunk overlaps along each dimension; `None` if the chunk is outside the grid.
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

fn too_many_cells(most: usize) -> Error {
    let message = format!("the stored chunks overlap more than {most} units of work; use more memory");
    Error::new(ErrorKind::LimitExceeded, message)
}

/// Returns a region as a selection.
pub fn selection(region: &[(u64, u64)]) -> Vec<DimSelection> {
    region.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect()
}
