//! A selection of an array that is read in blocks.

use std::ops::Range;
use std::sync::Arc;

use zarrox::data_type::Storage;
use zarrox::internals::{ErrorPlace, Parts};
use zarrox::{Array, ArrayView, DataType, DimSelection, DynArray, Error, ErrorKind, Result, Selection};

/// The assumed size of a variable-length element in bytes, since its size is unknown before it is read.
const VARIABLE: usize = 128;

/// Returns the size of an element in memory, in bytes; an estimate for variable-length elements.
pub(crate) fn memory_size(data_type: &DataType) -> usize {
    match data_type.storage() {
        Storage::Variable => VARIABLE,
        fixed => fixed.size(),
    }
}

/// A selection of an array. Indices refer to the result, which does not have the dropped dimensions.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    view: ArrayView<'a>,
    /// The shape of the selection.
    outer: Vec<u64>,
    /// The selected fields; empty for whole elements.
    fields: Vec<&'a str>,
    data_type: DataType,
    /// The dimensions that a single selected field adds if it is a subarray.
    inner: Vec<u64>,
}

/// The blocks of a window.
#[derive(Debug)]
pub(crate) struct Blocks {
    parts: Parts,
    /// The ranges of the dimensions that a single selected field adds.
    inner: Vec<Range<u64>>,
    /// The maximum number of blocks that overlap the same chunk.
    pub(crate) times: u64,
    /// The memory in bytes that would let each chunk overlap only one block.
    pub(crate) memory: u64,
}

impl Iterator for Blocks {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut block = self.parts.next()?;
        block.extend(self.inner.iter().cloned());
        Some(block)
    }
}

impl<'a> Window<'a> {
    /// Creates a window. Its elements are whole elements of the array, the values of a single field, or structured elements with
    /// several fields.
    pub(crate) fn new(array: &'a Array, selection: &Selection, fields: &'a [String]) -> Result<Self> {
        let view = array.slice(selection);
        let outer = view.shape()?;
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let (data_type, inner) = selected(array.data_type(), &fields).map_err(|error| place(array, error))?;
        Ok(Self { view, outer, fields, data_type, inner })
    }

    /// Adds the array's path to an error.
    pub(crate) fn with_path(&self, error: Error) -> Error {
        place(self.view.array(), error)
    }

    /// Returns the data type of the elements.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        [self.outer.as_slice(), &self.inner].concat()
    }

    /// Returns the number of elements, saturating at `u64::MAX`.
    pub(crate) fn len(&self) -> u64 {
        count(&self.shape())
    }

    /// Returns the size of all elements in memory, in bytes; an estimate for variable-length elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.len().saturating_mul(memory_size(&self.data_type) as u64)
    }

    /// Returns blocks that cover the window in row-major order.
    pub(crate) fn in_order(&self, memory: u64) -> Result<Blocks> {
        Ok(self.blocks(self.view.parts_in_order(memory / self.item(), zarrox::Order::RowMajor)?))
    }

    /// Returns blocks of whole chunks that cover the window.
    pub(crate) fn whole_chunks(&self, memory: u64) -> Result<Blocks> {
        Ok(self.blocks(self.view.parts(memory / self.item(), zarrox::Order::RowMajor)?))
    }

    /// Returns the size of the window's elements at one index of the array, in bytes.
    fn item(&self) -> u64 {
        count(&self.inner).saturating_mul(memory_size(&self.data_type) as u64).max(1)
    }

    fn blocks(&self, parts: Parts) -> Blocks {
        let inner = self.inner.iter().map(|&length| 0..length).collect();
        Blocks { times: parts.times(), memory: parts.whole_rows().saturating_mul(self.item()), parts, inner }
    }

    /// Reads a block: a non-empty range of indices for each dimension.
    pub(crate) fn read(&self, block: &[Range<u64>]) -> Result<DynArray> {
        let (outer, inner) = block.split_at(self.outer.len());
        let view = self.view.slice(outer.iter().cloned().map(DimSelection::from).collect::<Vec<_>>());
        match self.fields.as_slice() {
            [] => view.read::<DynArray>(),
            [one] => self.inside(view.field(one).read::<DynArray>()?, inner),
            several => view.fields(several).read::<DynArray>(),
        }
    }

    /// Selects a part of the dimensions that a field adds.
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
}

fn place(array: &Array, error: Error) -> Error {
    error.at(ErrorPlace::array(array.path()))
}

/// Returns the data type of the selected fields, and the dimensions that a single field adds.
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

/// Returns the number of elements of a shape, saturating at `u64::MAX`.
pub(crate) fn count(shape: &[u64]) -> u64 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |count, &n| count.saturating_mul(n))
}
