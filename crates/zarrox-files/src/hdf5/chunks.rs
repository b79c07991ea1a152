//! The elements of a dataset, chunk by chunk.

use std::ops::ControlFlow;

use zarrox::stores::Bytes;
use zarrox::{DynArray, Result};

use super::filter::Pipeline;
use super::format::File;
use super::table::Table;
use super::types::Mapped;
use super::values::Heap;
use crate::chunks::rows::{Form, Rows};
use crate::chunks::{Chunks, Elements, VisitChunk};
use crate::input::{corrupt, zeroed};

/// Chunks whose stored bytes are passed on unchanged.
#[derive(Debug)]
pub(super) struct AsStored {
    pub(super) file: File,
    pub(super) table: Table,
    pub(super) ndim: usize,
    /// Decodes chunks to check that they are not damaged; `None` to skip the check.
    pub(super) check: Option<Check>,
}

/// The check for chunks that are passed on unchanged.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) pipeline: Pipeline,
    /// The size of a decoded chunk in bytes.
    pub(super) size: usize,
    /// The size of an element in bytes.
    pub(super) element: usize,
}

impl Chunks for AsStored {
    fn ndim(&self) -> usize {
        self.ndim
    }

    fn any(&self) -> bool {
        !self.table.is_empty()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        self.table.find(chunk).map(|place| place.size)
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        self.table.visit(self.ndim, visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        let Some(place) = self.table.find(chunk) else { return Ok(None) };
        let bytes = self.file.read(place.address, place.size)?;
        if let Some(Check { pipeline, size, element }) = &self.check {
            pipeline.check(&bytes, place.mask, *size, *element)?;
        }
        Ok(Some(bytes.into()))
    }
}

/// A field of a structured data type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// The size of the structure in bytes.
    pub(super) whole: usize,
    /// The offset of the field in the structure.
    pub(super) offset: usize,
    /// The size of the field in bytes.
    pub(super) size: usize,
}

impl Column {
    /// Extracts the field from each structure into contiguous memory.
    pub(super) fn of(self, structures: &[u8]) -> Result<Vec<u8>> {
        let count = structures.len() / self.whole.max(1);
        let mut fields = zeroed(count.saturating_mul(self.size))?;
        let each = fields.chunks_exact_mut(self.size.max(1)).zip(structures.chunks_exact(self.whole.max(1)));
        for (field, structure) in each {
            let stored = structure.get(self.offset..).and_then(|rest| rest.get(..self.size));
            field.copy_from_slice(stored.ok_or_else(|| corrupt("a field lies outside its structure"))?);
        }
        Ok(fields)
    }
}

/// The format of the elements of a dataset.
#[derive(Debug)]
pub(super) struct ElementForm {
    pub(super) heap: Heap,
    pub(super) mapped: Mapped,
    /// The field to extract; `None` for whole structures.
    pub(super) column: Option<Column>,
}

impl Form for ElementForm {
    fn decode(&self, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray> {
        let bytes = match self.column {
            Some(column) => column.of(&bytes)?,
            None => bytes,
        };
        self.heap.elements(&self.mapped, shape, bytes)
    }
}

/// Chunks that are decoded on each read.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) file: File,
    pub(super) table: Table,
    pub(super) pipeline: Pipeline,
    pub(super) form: ElementForm,
    /// The number of chunks along each dimension, including the dimensions of array-typed elements.
    pub(super) grid: Vec<u64>,
    pub(super) chunk_shape: Vec<u64>,
    /// The size of a decoded chunk in bytes.
    pub(super) size: usize,
    /// The size of a stored element in bytes. For array-typed elements, it includes all items.
    pub(super) element: usize,
    pub(super) beyond: Option<Beyond>,
}

/// The fill value for chunk elements that are outside a dataset but within the lengths of its dimensions.
#[derive(Debug)]
pub(super) struct Beyond {
    /// The shape of the dataset.
    pub(super) shape: Vec<u64>,
    /// The fill value, encoded as a stored element.
    pub(super) fill: Vec<u8>,
}

impl Beyond {
    /// Sets the elements of a chunk that are outside the dataset to the fill value.
    fn apply(&self, bytes: &mut [u8], chunk: &[u64], chunk_shape: &[u64]) {
        let own = chunk_shape.get(..self.shape.len()).unwrap_or(chunk_shape);
        let inside: Vec<u64> = chunk
            .iter()
            .zip(own)
            .zip(&self.shape)
            .map(|((&index, &length), &end)| end.saturating_sub(index.saturating_mul(length)).min(length))
            .collect();
        if inside == own {
            return;
        }
        for (number, element) in bytes.chunks_exact_mut(self.fill.len().max(1)).enumerate() {
            let mut rest = number as u64;
            let is_outside = own.iter().zip(&inside).rev().any(|(&length, &inside)| {
                let index = rest % length.max(1);
                rest /= length.max(1);
                index >= inside
            });
            if is_outside {
                element.copy_from_slice(&self.fill);
            }
        }
    }
}

impl Elements for Decoded {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape.clone()
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        self.table.find(chunk).is_some()
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        self.table.visit(self.grid.len(), &mut |chunk, _| visit(chunk))
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let place = self.table.find(chunk).ok_or_else(|| corrupt("a chunk is not stored"))?;
        let bytes = self.file.read(place.address, place.size)?;
        let mut bytes = self.pipeline.decode(bytes, place.mask, self.size, self.element)?;
        if let Some(beyond) = &self.beyond {
            beyond.apply(&mut bytes, chunk, &self.chunk_shape);
        }
        self.form.elements(&self.chunk_shape, bytes)
    }
}

/// A field of contiguous structures.
#[derive(Debug)]
pub(super) struct ColumnInRows {
    /// The structures.
    pub(super) rows: Rows,
    pub(super) form: ElementForm,
    /// The number of chunks along each dimension, including the dimensions of the field.
    pub(super) grid: Vec<u64>,
    pub(super) chunk_shape: Vec<u64>,
}

impl Elements for ColumnInRows {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape.clone()
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        self.rows.any()
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        let ndim = self.grid.len();
        self.rows.visit(&mut |chunk| {
            let mut position = chunk.to_vec();
            position.resize(ndim, 0);
            visit(&position)
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let own = chunk.get(..self.rows.grid().len()).unwrap_or(chunk);
        self.form.elements(&self.chunk_shape, self.rows.read(own)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn elements_outside_of_the_dataset_are_set() {
        let beyond = Beyond { shape: vec![3, 2], fill: vec![9, 9] };
        let mut bytes = vec![1; 2 * 4 * 2];
        beyond.apply(&mut bytes, &[1, 0], &[2, 4]);
        assert_eq!(bytes, [1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
        let mut bytes = vec![1; 2 * 2 * 2];
        beyond.apply(&mut bytes, &[0, 0], &[2, 2]);
        assert_eq!(bytes, [1; 8]);
    }

    #[test]
    fn columns_are_the_fields_of_structures() {
        let column = Column { whole: 3, offset: 1, size: 2 };
        assert_eq!(column.of(&[0, 1, 2, 3, 4, 5]).unwrap(), [1, 2, 4, 5]);
        assert_error(
            Column { whole: 3, offset: 2, size: 2 }.of(&[0, 1, 2]),
            ErrorKind::Corrupt,
            "outside its structure",
        );
    }
}
