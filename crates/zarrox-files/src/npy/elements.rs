//! [`StoredElements`]: contiguous elements in a file as chunks of an array.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::internals::data_type::ByteOrder;
use zarrox::stores::{Bytes, StoreError, StoreErrorKind, Value};
use zarrox::{DataType, DynArray, Order, Result};

use super::conversion::Conversion;
use super::header::Header;
use super::stream::Stream;
use crate::chunks::rows::{Extent, Runs};
use crate::chunks::{Chunks, Elements, VisitChunk, each_position};
use crate::input::{Input, corrupt, zeroed};
use crate::store::store_error;

/// The source of the elements of an array.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A file, and the position of the first element.
    File(Arc<Input>, u64),
    /// A member of an archive.
    #[cfg(feature = "npz")]
    Member(Arc<super::npz::Member>),
    /// A stream.
    Stream(Arc<Stream>),
}

/// Elements in file order.
#[derive(Debug, Clone)]
pub(super) struct StoredElements {
    source: Source,
    /// The division of the array into chunks, with the dimensions in file order: the slowest-varying dimension first.
    runs: Runs,
    order: Order,
    grid: Vec<u64>,
}

/// Converts between the dimension order of the file and that of the array.
pub(super) fn ordered(order: Order, lengths: &[u64]) -> Vec<u64> {
    match order {
        Order::RowMajor => lengths.to_vec(),
        Order::ColumnMajor => lengths.iter().rev().copied().collect(),
    }
}

/// Returns the division into chunks of the array described by a header.
pub(super) fn runs_of(header: &Header) -> Runs {
    Runs::new(&ordered(header.order, &header.shape), header.data_type.size() as u64)
}

impl StoredElements {
    pub(super) fn new(source: Source, header: &Header) -> Self {
        let (runs, order) = (runs_of(header), header.order);
        let grid = ordered(order, runs.grid());
        Self { source, runs, order, grid }
    }

    /// Returns the shape of a chunk.
    pub(super) fn chunk_shape(&self) -> Vec<u64> {
        ordered(self.order, self.runs.chunk_shape())
    }

    fn has(&self, chunk: &[u64]) -> bool {
        chunk.len() == self.grid.len() && chunk.iter().zip(&self.grid).all(|(index, count)| index < count)
    }

    fn extent(&self, chunk: &[u64]) -> Extent {
        self.runs.extent(&ordered(self.order, chunk))
    }

    /// Returns the bytes of a chunk.
    fn bytes(&self, chunk: &[u64]) -> Result<Bytes> {
        let extent = self.extent(chunk);
        if let Source::Stream(stream) = &self.source {
            return stream.read(extent);
        }
        let mut bytes = zeroed(usize::try_from(extent.whole).map_err(|_| corrupt("a chunk is too large"))?)?;
        self.fill(&mut bytes, extent, 0)?;
        Ok(bytes.into())
    }

    /// Reads bytes of a chunk, starting at a position in the chunk. Bytes past the end of the array are zero.
    fn fill(&self, out: &mut [u8], extent: Extent, position: u64) -> Result<()> {
        let inside = usize::try_from(extent.length.saturating_sub(position)).unwrap_or(usize::MAX);
        let (inside, outside) = out.split_at_mut(inside.min(out.len()));
        outside.fill(0);
        let (input, start) = match &self.source {
            Source::File(input, start) => (&**input, *start),
            #[cfg(feature = "npz")]
            Source::Member(member) => member.elements()?,
            Source::Stream(stream) => {
                let bytes = stream.read(extent)?;
                let begin = usize::try_from(position).unwrap_or(usize::MAX);
                let found = bytes.get(begin..).and_then(|bytes| bytes.get(..inside.len()));
                inside.copy_from_slice(found.ok_or_else(|| corrupt("the elements are truncated"))?);
                return Ok(());
            }
        };
        let offset = start.checked_add(extent.offset + position);
        let offset = offset.ok_or_else(|| corrupt("an offset exceeds 64 bits"))?;
        if input.read_into(inside, offset)? < inside.len() {
            return Err(corrupt("the elements are truncated"));
        }
        Ok(())
    }
}

impl Chunks for StoredElements {
    fn ndim(&self) -> usize {
        self.grid.len()
    }

    fn any(&self) -> bool {
        !self.runs.is_empty()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        self.has(chunk).then(|| self.extent(chunk).whole)
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        each_position(&self.grid, &mut |chunk| visit(chunk, self.extent(chunk).whole))
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        self.has(chunk).then(|| self.bytes(chunk)).transpose()
    }

    fn open(&self, chunk: &[u64]) -> Result<Option<Box<dyn Value>>> {
        if !self.has(chunk) {
            return Ok(None);
        }
        Ok(Some(match &self.source {
            Source::Stream(_) => Box::new(self.bytes(chunk)?),
            _ => Box::new(Run { elements: self.clone(), extent: self.extent(chunk) }),
        }))
    }
}

/// A chunk whose parts are read from the file on demand.
#[derive(Debug)]
struct Run {
    elements: StoredElements,
    extent: Extent,
}

impl Value for Run {
    fn size(&self) -> u64 {
        self.extent.whole
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.size()) {
            let message = format!("{} bytes from offset {offset} are outside a chunk", buffer.len());
            return Err(StoreError::new(StoreErrorKind::OutOfRange, "reading", message));
        }
        self.elements.fill(buffer, self.extent, offset).map_err(|error| store_error(&error))
    }
}

/// Elements that are converted to another type on each read.
#[derive(Debug)]
pub(super) struct ConvertedElements {
    pub(super) stored: StoredElements,
    /// The type with which the bytes are read.
    pub(super) read_as: DataType,
    pub(super) endian: ByteOrder,
    pub(super) conversion: Conversion,
    pub(super) data_type: DataType,
    pub(super) name: String,
}

impl Elements for ConvertedElements {
    fn grid(&self) -> &[u64] {
        &self.stored.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.stored.chunk_shape()
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        self.stored.any()
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        each_position(&self.stored.grid, visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let lengths = self.chunk_shape().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
        let shape = lengths.map_err(|_| corrupt("a chunk is too large"))?;
        let bytes = self.stored.bytes(chunk)?.to_vec();
        let elements =
            DynArray::from_foreign(self.read_as.clone(), shape, bytes, &self.endian, self.stored.order)?;
        self.conversion.apply(elements, &self.data_type).map_err(|error| error.at(&self.name))
    }
}
