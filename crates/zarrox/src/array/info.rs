//! A description of an array, for people and programs.

use std::ops::ControlFlow;

use zarrox_core::json::{Json, json};
use zarrox_core::{ChunkGrid, CodecSpec, DataType, Error, FillValue, Format, Order, Result};

use super::Array;
use super::iterate::indices;
use crate::pool::too_many;

/// The number of chunks whose sizes are requested in parallel.
const TOGETHER: usize = 4_096;

/// A description of an array: its metadata, and the number and size of its stored chunks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArrayInfo {
    /// The path of the array in its hierarchy.
    pub path: String,
    /// The location of the store.
    pub store: String,
    /// The format of the metadata.
    pub format: Format,
    /// The shape, in elements.
    pub shape: Vec<u64>,
    /// The data type.
    pub data_type: DataType,
    /// The unknown data type of the metadata, if [`data_type`](Self::data_type) is its fallback.
    pub fallback_from: Option<Json>,
    /// The chunk grid: the grid of shards, if the array has shards.
    pub chunk_grid: ChunkGrid,
    /// The shape of the chunks of the grid. See [`Array::chunk_shape`].
    pub chunk_shape: Vec<u64>,
    /// The shape of the inner chunks, if the array has shards.
    pub inner_chunk_shape: Option<Vec<u64>>,
    /// The value of elements that were never written.
    pub fill_value: FillValue,
    /// The fill value as text, as formatted by [`Array::format_element`].
    pub fill_text: String,
    /// The codecs.
    pub codecs: Vec<CodecSpec>,
    /// The order of elements within stored chunks; `None` if the codecs permute the dimensions in another way, or the array has
    /// shards.
    pub order: Option<Order>,
    /// The dimension names, if there are any.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The size of all elements in memory, in bytes; `None` if it exceeds `u64`.
    pub bytes: Option<u64>,
    /// True if the stored chunks were counted. Otherwise the numbers of stored chunks and bytes are meaningless.
    pub counted: bool,
    /// The number of stored bytes, including metadata.
    pub bytes_stored: u64,
    /// The number of stored chunks, or of stored shards if the array has shards.
    pub chunks_stored: u64,
    /// The number of possible chunks; `None` if it exceeds `u64`.
    pub chunks: Option<u64>,
    /// The size in memory of the elements in the stored chunks, in bytes; `None` if it exceeds `u64`.
    pub chunk_bytes: Option<u64>,
    /// The total size of the stored chunks, in bytes.
    pub chunk_bytes_stored: u64,
    /// The reason why elements cannot be read, such as an unknown codec.
    pub unreadable: Option<String>,
}

impl ArrayInfo {
    /// Returns the compression ratio: the size in memory of the stored chunks, divided by their stored size.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn ratio(&self) -> Option<f64> {
        let bytes = self.chunk_bytes.filter(|_| self.chunk_bytes_stored > 0)?;
        Some(bytes as f64 / self.chunk_bytes_stored as f64)
    }
}

/// The stored objects of an array.
#[derive(Default)]
struct Stored {
    /// The total size of all objects, in bytes.
    bytes: u64,
    /// The number of stored chunks.
    chunks: u64,
    /// The total size of the stored chunks, in bytes.
    chunk_bytes: u64,
    /// The number of elements in the stored chunks; `None` if it exceeds `u64`.
    elements: Option<u64>,
}

impl Array {
    /// Describes the array. The stored chunks are listed, but not decoded. If the store cannot list its keys, as is the case for
    /// a web server, a request is sent for each possible chunk.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn info(&self) -> Result<ArrayInfo> {
        self.confirm()?;
        Ok(self.describe(Some(self.stored()?)))
    }

    /// Returns the same description as [`info`](Self::info), but does not count chunks in remote stores, where counting takes one
    /// request per thousand chunks, or even one per chunk.
    ///
    /// # Errors
    /// The errors of [`Array::info`].
    #[doc(hidden)]
    pub fn quick_info(&self) -> Result<ArrayInfo> {
        if self.location.is_remote() { Ok(self.describe(None)) } else { self.info() }
    }

    fn order(&self) -> Option<Order> {
        let codecs = self.codecs();
        let Some(transpose) = codecs.iter().find(|codec| codec.name == "transpose") else {
            return self.inner_chunk_shape().is_none().then_some(Order::RowMajor);
        };
        let reversed: Vec<usize> = (0..self.ndim()).rev().collect();
        (transpose.configuration.get("order") == Some(&json!(reversed))).then_some(Order::ColumnMajor)
    }

    fn describe(&self, stored: Option<Stored>) -> ArrayInfo {
        let counted = stored.is_some();
        let stored = stored.unwrap_or_default();
        let item = self.data_type().size() as u64;
        ArrayInfo {
            path: self.path().to_string(),
            store: self.location.store.location(),
            format: self.metadata.format,
            shape: self.shape().to_vec(),
            data_type: self.data_type().clone(),
            fallback_from: self.fallback_from().cloned(),
            chunk_grid: self.chunk_grid().clone(),
            chunk_shape: self.chunk_shape().to_vec(),
            inner_chunk_shape: self.inner_chunk_shape(),
            fill_text: self.format_element(self.fill_bytes().as_bytes()).unwrap_or_default(),
            fill_value: self.fill_bytes(),
            order: self.order(),
            codecs: self.codecs(),
            dimension_names: self.metadata.dimension_names.clone(),
            bytes: self.nbytes(),
            counted,
            bytes_stored: stored.bytes,
            chunks_stored: stored.chunks,
            chunks: self.metadata.chunk_grid.chunk_count(self.shape()),
            chunk_bytes: stored.elements.and_then(|elements| elements.checked_mul(item)),
            chunk_bytes_stored: stored.chunk_bytes,
            unreadable: self.unreadable().map(str::to_owned),
        }
    }

    fn stored(&self) -> Result<Stored> {
        let bytes = self.location.size_of_documents(self.metadata.format)?;
        let mut stored = Stored { bytes, chunks: 0, chunk_bytes: 0, elements: Some(0) };
        self.visit_stored(&mut |chunk, size| {
            stored.bytes += size;
            let Some(chunk) = chunk else { return };
            stored.chunks += 1;
            stored.chunk_bytes += size;
            let elements = self.elements_of(&chunk);
            stored.elements = stored.elements.and_then(|sum| sum.checked_add(elements?));
        })?;
        Ok(stored)
    }

    /// Returns the number of elements of a chunk that are inside the array; `None` if it exceeds `u64`.
    fn elements_of(&self, chunk: &[u64]) -> Option<u64> {
        let mut dims = chunk.iter().zip(self.shape()).enumerate();
        dims.try_fold(1_u64, |count, (dim, (&index, &length))| {
            let (start, size) = self.chunk_grid().chunk_place(dim, index)?;
            count.checked_mul(size.min(length.saturating_sub(start)))
        })
    }

    /// Visits all stored objects of the array except its documents. The visitor is called with the chunk index, or with `None`
    /// for an object that is not a chunk of the grid, and with the size of the object in bytes.
    #[doc(hidden)]
    pub fn visit_stored(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
        if !self.location.store.capabilities().listable {
            return self.visit_by_keys(visit);
        }
        let prefix = &self.chunks;
        let (grid, keys) = (self.grid_shape(), self.chunk_key_encoding()?);
        let documents = self.location.layout_for(self.metadata.format)?.keys(self.path());
        let inside = |chunk: &Vec<u64>| chunk.iter().zip(&grid).all(|(index, count)| index < count);
        let mut visit = |key: zarrox_stores::Key, size: u64| {
            if !documents.iter().any(|document| document == key.as_str()) {
                let name = &key.as_str()[prefix.as_str().len()..];
                let chunk = keys.decode(name, self.ndim());
                visit(chunk.filter(inside), size);
            }
            ControlFlow::Continue(())
        };
        self.location.store.list_prefix(prefix, &mut visit).map_err(Error::from)
    }

    /// Visits the stored chunks in a store that cannot list its keys, by requesting each possible chunk.
    fn visit_by_keys(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
        let grid = self.grid_shape();
        let count = self.chunk_grid().chunk_count(self.shape()).ok_or_else(|| too_many("the chunks"))?;
        let mut first = 0;
        while first < count {
            let numbers: Vec<u64> = (first..count).take(TOGETHER).collect();
            first += numbers.len() as u64;
            let size_of = |number| {
                let chunk = indices(number, &grid);
                let size = self.stored_size(&chunk)?;
                Ok((chunk, size))
            };
            let sizes = self.location.pool().map(numbers, 0, usize::MAX, size_of)?;
            for (chunk, size) in sizes {
                if let Some(size) = size {
                    visit(Some(chunk), size);
                }
            }
        }
        Ok(())
    }
}
