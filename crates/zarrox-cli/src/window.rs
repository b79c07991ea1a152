//! A selected part of an array, of which blocks are read one after the other.

use std::ops::Range;

use zarrox::indexing::ResolvedDim;
use zarrox::{Array, DimSelection, DynArray, Result, Selection};

use crate::slabs::Slabs;

/// A selected part of an array. Positions are those of the result, without the dimensions that were dropped.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    array: &'a Array,
    dims: Vec<ResolvedDim>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(array: &'a Array, selection: &Selection) -> Result<Self> {
        let place = |error: zarrox::Error| error.at(format!("array '{}'", array.path()));
        let dims = selection.resolve(array.shape()).map_err(place)?.dims;
        Ok(Self { array, dims })
    }

    pub(crate) fn array(&self) -> &'a Array {
        self.array
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        self.kept().map(|(_, dim)| dim.count).collect()
    }

    /// How many elements; the largest number there is when there are more.
    pub(crate) fn len(&self) -> u64 {
        count(&self.shape())
    }

    /// How many bytes all elements take.
    pub(crate) fn bytes(&self) -> u64 {
        self.len().saturating_mul(self.array.data_type().size() as u64)
    }

    /// Blocks that cover the window in row-major order.
    pub(crate) fn slabs(&self, memory: u64) -> Slabs {
        let stored = self.array.metadata().chunk_grid.chunk_shape();
        let chunks: Vec<u64> = self.kept().map(|(axis, dim)| stored[axis].div_ceil(dim.step)).collect();
        Slabs::new(&self.shape(), &chunks, self.array.data_type().size(), memory)
    }

    /// Reads a block: a range of positions for each dimension, none of them empty.
    pub(crate) fn read(&self, block: &[Range<u64>]) -> Result<DynArray> {
        let mut ranges = block.iter();
        let mut range = |dim: &ResolvedDim| if dim.dropped { None } else { ranges.next() };
        let select = |dim| range(dim).map_or(DimSelection::from(dim.start), |range| slice(dim, range));
        self.array.read_dyn(self.dims.iter().map(select).collect::<Vec<_>>())
    }

    fn kept(&self) -> impl Iterator<Item = (usize, &ResolvedDim)> {
        self.dims.iter().enumerate().filter(|(_, dim)| !dim.dropped)
    }
}

/// The number of elements of a shape; the largest number there is when there are more.
pub(crate) fn count(shape: &[u64]) -> u64 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |count, &n| count.saturating_mul(n))
}

/// The positions of the array that a range of positions of the result are.
fn slice(dim: &ResolvedDim, range: &Range<u64>) -> DimSelection {
    // Positions were resolved from an array whose lengths fit into an `i64`.
    let position = |nth: u64| (dim.start + nth * dim.step).cast_signed();
    let step = dim.step.cast_signed();
    if !dim.reversed {
        return DimSelection::Slice {
            start: Some(position(range.start)),
            stop: Some(position(range.end - 1) + 1),
            step,
        };
    }
    let (first, last) = (dim.count - 1 - range.start, dim.count - range.end);
    let stop = Some(position(last) - 1).filter(|&stop| stop >= 0);
    DimSelection::Slice { start: Some(position(first)), stop, step: -step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_selection_are_selections_of_the_array() {
        for text in ["2:9:3", "::-1", "7:1:-2", "-1:-9:-3", ":", "4:5"] {
            let length = 10;
            let all: Vec<u64> = positions(&text.parse().unwrap(), length);
            let dim = text.parse::<Selection>().unwrap().resolve(&[length]).unwrap().dims[0];
            for start in 0..dim.count {
                for end in start + 1..=dim.count {
                    let part = zarrox::IntoSelection::into_selection([slice(&dim, &(start..end))]);
                    let wanted = &all[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
                    assert_eq!(positions(&part, length), wanted, "{text} {start}..{end}");
                }
            }
        }
    }

    fn positions(selection: &Selection, length: u64) -> Vec<u64> {
        let dim = selection.resolve(&[length]).unwrap().dims[0];
        let mut positions: Vec<u64> = (0..dim.count).map(|nth| dim.start + nth * dim.step).collect();
        if dim.reversed {
            positions.reverse();
        }
        positions
    }
}
