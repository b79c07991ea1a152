//! The chunks of a dataset by position.

use zarrox::{Error, ErrorKind, Result};

use crate::hdf5::format::model::{Address, StoredChunk};
use crate::input::corrupt;

/// The maximum supported number of chunks in a dataset.
const MOST: usize = 1 << 24;

/// The chunk grid of a dataset, and the chunks found so far.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) shape: Vec<u64>,
    pub(super) max: Vec<Option<u64>>,
    pub(super) chunk: Vec<u64>,
    /// The size in bytes of an unfiltered chunk.
    pub(super) chunk_bytes: u64,
    pub(super) are_edges_unfiltered: bool,
    pub(super) found: Vec<StoredChunk>,
}

/// The index entry of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) address: Address,
    pub(super) size: u64,
    pub(super) mask: u32,
}

impl Grid {
    /// Adds the chunk whose first element is at the given offset. Chunks outside the shape are skipped: they can remain
    /// when a dataset is shrunk.
    pub(super) fn add(&mut self, offset: Vec<u64>, stored: Stored) -> Result<()> {
        if offset.iter().zip(&self.chunk).any(|(offset, length)| offset % length != 0) {
            return Err(corrupt(format!(
                "there is a chunk at {offset:?}, but chunks have the shape {:?}",
                self.chunk
            )));
        }
        if offset.iter().zip(&self.shape).any(|(offset, length)| offset >= length) {
            return Ok(());
        }
        if self.found.len() >= MOST {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("a dataset has more than {MOST} chunks"),
            ));
        }
        let Stored { address, size, mut mask } = stored;
        if self.are_edges_unfiltered && self.is_partial(&offset) {
            mask = u32::MAX;
        }
        self.found.push(StoredChunk { offset, address, size, mask });
        Ok(())
    }

    /// Adds the chunk with the given chunk index.
    pub(super) fn add_scaled(&mut self, scaled: &[u64], stored: Stored) -> Result<()> {
        let offset = scaled.iter().zip(&self.chunk).map(|(number, &length)| number.checked_mul(length));
        match offset.collect::<Option<Vec<u64>>>() {
            Some(offset) => self.add(offset, stored),
            // The offset overflows, so the chunk is outside the shape.
            None => Ok(()),
        }
    }

    /// Returns true if the chunk at an offset extends beyond the shape.
    fn is_partial(&self, offset: &[u64]) -> bool {
        let mut ends = offset.iter().zip(&self.chunk).map(|(offset, length)| offset.saturating_add(*length));
        let mut shape = self.shape.iter();
        ends.any(|end| shape.next().is_some_and(|&length| end > length))
    }

    /// Returns the number of chunks along each dimension of an array of the given shape.
    pub(super) fn counts(&self, shape: &[u64]) -> Vec<u64> {
        shape.iter().zip(&self.chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect()
    }

    /// Returns the order of chunks in an index that numbers the chunks of the maximum shape. If `has_unlimited` is true,
    /// the only unlimited dimension varies slowest.
    pub(super) fn order(&self, has_unlimited: bool) -> Result<Linear> {
        let unlimited: Vec<usize> =
            (0..self.max.len()).filter(|&dimension| self.max[dimension].is_none()).collect();
        let first = match (has_unlimited, unlimited.as_slice()) {
            (false, []) => None,
            (true, [dimension]) => Some(*dimension),
            _ => {
                let message =
                    format!("a dataset with the largest shape {:?} has an index of another kind", self.max);
                return Err(corrupt(message));
            }
        };
        let max: Vec<u64> = self.max.iter().map(|length| length.unwrap_or(0)).collect();
        let counts = self.counts(&max);
        let mut dimensions: Vec<usize> = (0..counts.len()).collect();
        if let Some(first) = first {
            dimensions[..=first].rotate_right(1);
        }
        let mut steps = vec![1_u64; counts.len()];
        for place in (1..dimensions.len()).rev() {
            let (here, before) = (dimensions[place], dimensions[place - 1]);
            let step = steps[here].checked_mul(counts[here]);
            steps[before] =
                step.ok_or_else(|| corrupt(format!("the largest shape {max:?} has too many chunks")))?;
        }
        let total =
            dimensions.first().map_or(Some(1), |&first| steps[first].checked_mul(counts[first].max(1)));
        let is_empty = total.is_none() || steps.contains(&0);
        Ok(Linear { dimensions, steps, is_empty })
    }
}

/// The order of chunks in a linear index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Linear {
    /// The dimensions, from slowest- to fastest-varying.
    dimensions: Vec<usize>,
    /// The stride in the linear index between neighbouring chunks along each dimension.
    steps: Vec<u64>,
    /// True if the dataset cannot have chunks.
    pub(super) is_empty: bool,
}

impl Linear {
    /// Converts a position in the linear index to a chunk index.
    pub(super) fn scaled(&self, index: u64) -> Vec<u64> {
        let mut scaled = vec![0; self.steps.len()];
        let mut rest = index;
        for &dimension in &self.dimensions {
            let step = self.steps[dimension].max(1);
            scaled[dimension] = rest / step;
            rest %= step;
        }
        scaled
    }

    /// Converts a chunk index to a position in the linear index.
    pub(super) fn index(&self, scaled: &[u64]) -> Option<u64> {
        let products = scaled.iter().zip(&self.steps).map(|(number, &step)| number.checked_mul(step));
        products.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn the_unlimited_dimension_is_the_slowest() {
        let grid = Grid {
            shape: vec![4, 9, 3],
            max: vec![Some(4), None, Some(6)],
            chunk: vec![2, 3, 3],
            chunk_bytes: 18,
            are_edges_unfiltered: true,
            found: Vec::new(),
        };
        let order = grid.order(true).unwrap();
        // There are 2 × 2 chunks for each step along the unlimited dimension.
        assert_eq!(order.scaled(0), [0, 0, 0]);
        assert_eq!(order.scaled(1), [0, 0, 1]);
        assert_eq!(order.scaled(2), [1, 0, 0]);
        assert_eq!(order.scaled(4), [0, 1, 0]);
        assert_eq!(order.scaled(11), [1, 2, 1]);
        assert_eq!(order.index(&[1, 2, 1]), Some(11));
        assert_error(grid.order(false), ErrorKind::Corrupt, "an index of another kind");
        assert!(grid.is_partial(&[2, 8, 0]) && !grid.is_partial(&[2, 6, 0]));
    }
}
