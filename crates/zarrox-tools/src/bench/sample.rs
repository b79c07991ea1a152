//! The sample of a benchmark: a box of whole chunks in the middle of an array.

use zarrox_core::Result;

use crate::pass::{Region, elements_of};
use zarrox::Array;

/// The maximum number of chunks in a sample; more chunks take time without improving the estimate.
const MOST: u64 = 4096;

/// A box of elements.
pub(super) struct Sample(Region);

impl Sample {
    /// Returns a sample of at most `most` bytes, or one chunk if a chunk is larger. The sample is in the middle of the array, or
    /// around a stored chunk if no chunk is stored in the middle.
    pub(super) fn of(array: &Array, most: u64) -> Result<Self> {
        let middle: Vec<u64> = array.shape().iter().map(|length| length / 2).collect();
        let sample = Self(region(array, &middle, most));
        if is_stored(array, &sample)? {
            return Ok(sample);
        }
        let mut largest = (0, None);
        array.raw().visit(&mut |chunk, size| {
            if chunk.is_some() && size > largest.0 {
                largest = (size, chunk);
            }
        })?;
        let Some(chunk) = largest.1 else { return Ok(sample) };
        let start = |(dim, index): (usize, &u64)| {
            array.chunk_grid().chunk_place(dim, *index).map_or(0, |(start, _)| start)
        };
        let start: Vec<u64> = chunk.iter().enumerate().map(start).collect();
        Ok(Self(region(array, &start, most)))
    }

    pub(super) fn region(&self) -> &[(u64, u64)] {
        &self.0
    }

    pub(super) fn into_region(self) -> Region {
        self.0
    }

    pub(super) fn elements(&self) -> u64 {
        elements_of(&self.0)
    }

    /// Returns the indices of all stored objects that overlap the sample.
    pub(super) fn objects(&self, array: &Array) -> Vec<Vec<u64>> {
        let grid = array.chunk_grid();
        let mut all = vec![Vec::new()];
        for (dim, &(begin, end)) in self.0.iter().enumerate() {
            let along = indices(begin, end, |index| grid.chunk_place(dim, index));
            all = all
                .iter()
                .flat_map(|first: &Vec<u64>| along.iter().map(|index| [first.as_slice(), &[*index]].concat()))
                .collect();
        }
        all
    }
}

/// Returns the indices, along a dimension, of the chunks between two positions.
fn indices(begin: u64, end: u64, place: impl Fn(u64) -> Option<(u64, u64)>) -> Vec<u64> {
    let ends_after = |index: u64| place(index).is_none_or(|(start, length)| start + length > begin);
    // Bisects for the first chunk that ends after `begin`: the starts increase with the index.
    let (mut low, mut high) = (0, begin + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        (low, high) = if ends_after(middle) { (low, middle) } else { (middle + 1, high) };
    }
    (low..).take_while(|&index| place(index).is_some_and(|(start, _)| start < end)).collect()
}

fn is_stored(array: &Array, sample: &Sample) -> Result<bool> {
    for object in sample.objects(array) {
        if array.stored_size(&object)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a box around a position that consists of whole objects, or of inner chunks if an object is too large.
fn region(array: &Array, position: &[u64], most: u64) -> Region {
    let item = array.data_type().size().max(1) as u64;
    let shape = array.shape();
    let (grid, inner) = (array.chunk_grid(), array.unit_shape());
    let objects: Vec<(u64, u64)> = position
        .iter()
        .enumerate()
        .map(|(dim, &at)| grid.chunk_at(dim, at).unwrap_or((0, shape[dim])))
        .collect();
    let bytes = objects.iter().fold(item, |size, (_, length)| size.saturating_mul(*length));
    let units: Vec<(u64, u64)> = match bytes > most && array.shard_shape().is_some() {
        true => {
            let chunk = |(dim, &(start, _)): (usize, &(u64, u64))| {
                let length = inner[dim].max(1);
                (start + (position[dim] - start) / length * length, length)
            };
            objects.iter().enumerate().map(chunk).collect()
        }
        false => objects,
    };
    let mut counts = vec![1_u64; units.len()];
    let length = |dim: usize, count: u64| units[dim].1.saturating_mul(count).min(shape[dim]);
    let (mut dim, mut refused) = (0, 0);
    while refused < units.len() {
        let doubled = |other: usize| if other == dim { counts[other] * 2 } else { counts[other] };
        let size = (0..units.len()).fold(item, |size, dim| size.saturating_mul(length(dim, doubled(dim))));
        let chunks = (0..units.len()).fold(1_u64, |all, dim| {
            all.saturating_mul(length(dim, doubled(dim)).div_ceil(inner[dim].max(1)))
        });
        let grows = length(dim, counts[dim]) < shape[dim] && size <= most && chunks <= MOST;
        counts[dim] *= if grows { 2 } else { 1 };
        refused = if grows { 0 } else { refused + 1 };
        dim = (dim + 1) % units.len();
    }
    let along = |dim: usize| {
        let (start, unit) = units[dim];
        let begin = start.saturating_sub(counts[dim] / 2 * unit);
        let end = begin.saturating_add(length(dim, counts[dim])).min(shape[dim]);
        // At the end of the array, the box starts earlier, at a chunk boundary.
        let missing = length(dim, counts[dim]) - (end - begin);
        (begin.saturating_sub(missing.div_ceil(unit) * unit), end)
    };
    (0..units.len()).map(along).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_between_two_positions() {
        let place = |index: u64| (index < 10).then_some((index * 10, 10));
        assert_eq!(indices(0, 10, place), [0]);
        assert_eq!(indices(15, 31, place), [1, 2, 3]);
        assert_eq!(indices(99, 100, place), [9]);
    }
}
