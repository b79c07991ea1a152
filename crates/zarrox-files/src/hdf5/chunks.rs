//! The elements of a dataset, chunk by chunk.

use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::stores::Bytes;
use zarrox::{DynArray, Result};

use super::pipeline::Pipeline;
use super::table::Table;
use super::types::Mapped;
use super::values::Heap;
use crate::chunks::{Chunks, Elements, VisitChunk};
use crate::input::{Input, corrupt};
use crate::rows::Form;

/// The bytes of a file, behind a block of the user.
#[derive(Debug, Clone)]
pub(super) struct Data {
    pub(super) input: Arc<Input>,
    /// The position of the address 0.
    pub(super) base: u64,
}

impl Data {
    fn read(&self, address: u64, length: u64) -> Result<Vec<u8>> {
        let offset = self.base.checked_add(address).ok_or_else(|| corrupt("an address is too large"))?;
        self.input.read(offset, length)
    }
}

/// Chunks whose bytes are those of Zarr.
#[derive(Debug)]
pub(super) struct AsStored {
    pub(super) data: Data,
    pub(super) table: Table,
    pub(super) ndim: usize,
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
        Ok(Some(self.data.read(place.address, place.size)?.into()))
    }
}

/// The form of the elements of a dataset.
#[derive(Debug)]
pub(super) struct ElementForm {
    pub(super) heap: Heap,
    pub(super) mapped: Mapped,
    /// The size of a stored element in bytes, without the dimensions that it has of its own.
    pub(super) item: usize,
}

impl Form for ElementForm {
    fn decode(&self, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray> {
        self.heap.elements(&self.mapped, self.item, shape, bytes)
    }
}

/// Elements in chunks that are decoded.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) data: Data,
    pub(super) table: Table,
    pub(super) pipeline: Pipeline,
    pub(super) form: ElementForm,
    /// The number of chunks along each dimension, also those that elements have of their own.
    pub(super) grid: Vec<u64>,
    pub(super) chunk_shape: Vec<u64>,
    /// The size of a decoded chunk in bytes.
    pub(super) size: usize,
    /// The size of an element, with the dimensions that it has of its own.
    pub(super) element: usize,
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
        let bytes = self.data.read(place.address, place.size)?;
        let bytes = self.pipeline.decode(bytes, place.mask, self.size, self.element)?;
        self.form.elements(&self.chunk_shape, bytes)
    }
}
