//! Columns that are read in blocks of rows.

use std::fmt::Debug;
use std::ops::ControlFlow;

use zarrox::data_type::Storage;
use zarrox::{DataType, DynArray, Error, Result};

use crate::chunks::Elements;
use crate::input::unsupported;

/// The maximum total size in bytes of the strings in a block of rows.
pub(super) const MOST_TEXT: usize = 512 << 20;

/// The rows of a column.
pub(super) trait Rows: Debug + Send + Sync {
    /// Returns the values in a block of rows.
    fn read(&self, block: u64) -> Result<Values>;
}

/// Values of a column.
#[derive(Debug)]
pub(super) enum Values {
    /// The bytes of fixed-size elements.
    Fixed(Vec<u8>),
    /// Variable-length elements.
    Any(Pieces),
}

/// Concatenated variable-length elements.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    /// The position after the last byte of each element.
    ends: Vec<usize>,
}

impl Pieces {
    /// Appends an element.
    pub(super) fn push(&mut self, element: &[u8]) {
        self.bytes.extend_from_slice(element);
        self.ends.push(self.bytes.len());
    }

    /// Returns the number of elements.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the total size of the elements in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the index of the first element that is not valid UTF-8.
    pub(super) fn first_without_text(&self) -> Option<usize> {
        // All elements are valid UTF-8 if their concatenation is valid UTF-8 and each element ends at a character boundary.
        let text = std::str::from_utf8(&self.bytes);
        if text.is_ok_and(|text| self.ends.iter().all(|&end| text.is_char_boundary(end))) {
            return None;
        }
        self.iter().position(|element| std::str::from_utf8(element).is_err())
    }

    /// Returns the elements in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.bytes[begin..end])
    }
}

/// Returns the error for a block whose strings are too large.
pub(super) fn too_much_text() -> Error {
    unsupported("the text of one block of rows takes more than 512 MiB")
}

/// A column as an array.
#[derive(Debug)]
pub(super) struct Column<R> {
    pub(super) rows: R,
    pub(super) data_type: DataType,
    /// The number of blocks; for a column of lists, followed by 1.
    grid: Vec<u64>,
    /// The number of rows in a block; for a column of lists, followed by the number of values in a list.
    shape: Vec<u64>,
}

impl<R: Rows> Column<R> {
    pub(super) fn new(rows: R, data_type: DataType, count: u64, in_block: u64) -> Self {
        let in_block = in_block.clamp(1, count.max(1));
        Self { rows, data_type, grid: vec![count.div_ceil(in_block)], shape: vec![in_block] }
    }

    /// Returns the column with rows that are lists of `length` values. If `length` is `None`, rows are single values.
    pub(super) fn of_lists(self, length: Option<u64>) -> Self {
        let grid = self.grid.into_iter().chain(length.map(|length| length.min(1))).collect();
        let shape = self.shape.into_iter().chain(length.map(|length| length.max(1))).collect();
        Self { grid, shape, ..self }
    }
}

impl<R: Rows> Elements for Column<R> {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        true
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        let blocks = if self.grid.contains(&0) { 0 } else { self.grid.first().copied().unwrap_or(0) };
        let mut chunk = vec![0; self.grid.len()];
        (0..blocks).try_for_each(|block| {
            chunk.iter_mut().take(1).for_each(|index| *index = block);
            visit(&chunk)
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let block = chunk.first().copied().unwrap_or(0);
        let shape: Vec<usize> =
            self.shape.iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let length = shape.iter().fold(1_usize, |all, &length| all.saturating_mul(length));
        match self.rows.read(block)? {
            Values::Fixed(mut bytes) => {
                bytes.resize(length.saturating_mul(self.data_type.size()), 0);
                DynArray::new(self.data_type.clone(), shape, bytes)
            }
            Values::Any(elements) => {
                // There are no values for elements after the last row.
                let blank = match self.data_type.storage() {
                    Storage::Variable => Vec::new(),
                    _ => vec![0; self.data_type.size()],
                };
                let missing = length.saturating_sub(elements.count());
                let all = elements.iter().take(length).chain(std::iter::repeat_n(&blank[..], missing));
                DynArray::from_elements(self.data_type.clone(), shape, all)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_are_no_text_are_found() {
        let first = |elements: &[&[u8]]| {
            let mut pieces = Pieces::default();
            elements.iter().for_each(|element| pieces.push(element));
            assert!(pieces.iter().eq(elements.iter().copied()));
            pieces.first_without_text()
        };
        assert_eq!(first(&["né".as_bytes(), b"", b"a"]), None);
        assert_eq!(first(&[b"a", b"\xff", b"b"]), Some(1));
        assert_eq!(first(&[b"n\xc3", b"\xa9"]), Some(0), "a character that two elements split is invalid");
        assert_eq!(first(&[]), None);
    }
}
