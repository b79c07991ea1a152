//! A selected part of an array, of which blocks are read one after the other.

use std::ops::Range;
use std::sync::Arc;

use zarrox::data_type::Storage;
use zarrox::indexing::ResolvedDim;
use zarrox::{Array, DataType, DimSelection, DynArray, Error, ErrorKind, Result, Selection};

use crate::slabs::Slabs;

/// So many bytes an element of variable length is thought to take, since nobody knows before it is read.
const VARIABLE: usize = 128;

/// How much memory an element takes, in bytes: of variable length, an estimate.
pub(crate) fn memory_size(data_type: &DataType) -> usize {
    match data_type.storage() {
        Storage::Variable => VARIABLE,
        fixed => fixed.size(),
    }
}

/// A selected part of an array. Positions are those of the result, without the dimensions that were dropped.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    array: &'a Array,
    dims: Vec<ResolvedDim>,
    /// The fields that are selected; none stand for the whole elements.
    fields: Vec<&'a str>,
    data_type: DataType,
    /// The dimensions that a single selected field adds, where it is an array.
    inner: Vec<u64>,
}

impl<'a> Window<'a> {
    /// A part of an array; of one field, its own elements; of several fields, structures of just these.
    pub(crate) fn new(array: &'a Array, selection: &Selection, fields: &'a [String]) -> Result<Self> {
        let place = |error| place(array, error);
        let dims = selection.resolve(array.shape()).map_err(place)?.dims;
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let (data_type, inner) = selected(array.data_type(), &fields).map_err(place)?;
        Ok(Self { array, dims, fields, data_type, inner })
    }

    /// An error that names the array.
    pub(crate) fn place(&self, error: Error) -> Error {
        place(self.array, error)
    }

    /// What the elements are.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        self.kept().map(|(_, dim)| dim.count).chain(self.inner.iter().copied()).collect()
    }

    /// How many elements; the largest number there is when there are more.
    pub(crate) fn len(&self) -> u64 {
        count(&self.shape())
    }

    /// How many bytes all elements take in memory; of variable length, an estimate.
    pub(crate) fn bytes(&self) -> u64 {
        self.len().saturating_mul(memory_size(&self.data_type) as u64)
    }

    /// Blocks that cover the window in row-major order.
    pub(crate) fn slabs(&self, memory: u64) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let stored = self.array.metadata().chunk_grid.largest_chunk();
        let chunks: Vec<u64> = self.kept().map(|(axis, dim)| stored[axis].div_ceil(dim.step)).collect();
        let outer: Vec<u64> = self.kept().map(|(_, dim)| dim.count).collect();
        let item = count(&self.inner).saturating_mul(memory_size(&self.data_type) as u64);
        let inner: Vec<Range<u64>> = self.inner.iter().map(|&length| 0..length).collect();
        Slabs::new(&outer, &chunks, item, memory).map(move |mut block| {
            block.extend(inner.iter().cloned());
            block
        })
    }

    /// Reads a block: a range of positions for each dimension, none of them empty.
    pub(crate) fn read(&self, block: &[Range<u64>]) -> Result<DynArray> {
        let mut ranges = block.iter();
        let mut range = |dim: &ResolvedDim| if dim.dropped { None } else { ranges.next() };
        let select = |dim| range(dim).map_or(DimSelection::from(dim.start), |range| slice(dim, range));
        let selection = self.dims.iter().map(select).collect::<Vec<_>>();
        match self.fields.as_slice() {
            [] => self.array.read_dyn(selection),
            [one] => self.inside(self.array.read_field_dyn(one, selection)?, ranges.as_slice()),
            several => self.array.read_fields(several, selection),
        }
    }

    /// The part of elements in the dimensions that a field adds.
    fn inside(&self, whole: DynArray, ranges: &[Range<u64>]) -> Result<DynArray> {
        if self.inner.iter().zip(ranges).all(|(&length, range)| *range == (0..length)) {
            return Ok(whole);
        }
        let lengths = |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let outer = &whole.shape()[..whole.shape().len() - ranges.len()];
        let shape = outer.iter().copied().chain(ranges.iter().map(lengths)).collect();
        let is_inside = |element: u64| {
            let mut position = element;
            self.inner.iter().zip(ranges).rev().all(|(&length, range)| {
                let index = position % length;
                position /= length;
                range.contains(&index)
            })
        };
        let chosen = (0..).zip(whole.elements()).filter(|(nth, _)| is_inside(*nth));
        DynArray::from_elements(self.data_type.clone(), shape, chosen.map(|(_, element)| element))
    }

    fn kept(&self) -> impl Iterator<Item = (usize, &ResolvedDim)> {
        self.dims.iter().enumerate().filter(|(_, dim)| !dim.dropped)
    }
}

fn place(array: &Array, error: Error) -> Error {
    error.at(format!("array '{}'", array.path()))
}

/// The type of the selected fields, and the dimensions that a single one adds.
fn selected(data_type: &DataType, names: &[&str]) -> Result<(DataType, Vec<u64>)> {
    if names.is_empty() {
        return Ok((data_type.clone(), Vec::new()));
    }
    let structure = data_type.fields().ok_or_else(|| {
        Error::new(ErrorKind::InvalidArgument, format!("the elements are {data_type}, which has no fields"))
    })?;
    let is_empty = |name: &&str| structure.field(name).is_some_and(|field| field.size() == 0);
    if names.iter().all(is_empty) {
        let message = format!("the field '{}' is an array without elements", names[0]);
        return Err(Error::new(ErrorKind::InvalidSelection, message));
    }
    let (structure, fields) = structure.select(names)?;
    match fields.as_slice() {
        [one] => Ok((one.data_type.clone(), one.shape.iter().map(|&length| length as u64).collect())),
        _ => Ok((DataType::Struct(Arc::new(structure)), Vec::new())),
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
