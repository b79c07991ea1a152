//! A description of an array, for people and programs.

use std::ops::ControlFlow;

use zarrox_core::Error;
use zarrox_core::grid::ChunkGrid;
use zarrox_core::json::Json;
use zarrox_core::{CodecSpec, DataType, FillValue, Format, Result};

use super::Array;
use super::iterate::indices;
use crate::pool::too_many;

/// The sizes of so many chunks are asked for together.
const TOGETHER: usize = 4_096;

/// A description of an array: its metadata, and how much of it is stored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArrayInfo {
    /// Where the array is in its hierarchy.
    pub path: String,
    /// Where the hierarchy is.
    pub store: String,
    /// The format of the metadata.
    pub format: Format,
    /// The shape, in elements.
    pub shape: Vec<u64>,
    /// The data type.
    pub data_type: DataType,
    /// The data type that the metadata gives, where it is not known and [`data_type`](Self::data_type) is the one that it
    /// names in its place.
    pub fallback_from: Option<Json>,
    /// The division of the array into chunks, or into shards where there are shards.
    pub chunk_grid: ChunkGrid,
    /// The shape of a chunk; where chunks differ, the largest length along each dimension.
    pub chunk_shape: Vec<u64>,
    /// The shape of a shard, if there are shards; where they differ, the largest length along each dimension.
    pub shard_shape: Option<Vec<u64>>,
    /// The element that fills what nobody has written.
    pub fill_value: FillValue,
    /// That element as people read it, in the way of [`Array::format_element`].
    pub fill_text: String,
    /// The codecs.
    pub codecs: Vec<CodecSpec>,
    /// The names of the dimensions.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The size of all elements in memory, in bytes; `None` beyond 2^64.
    pub bytes: Option<u64>,
    /// True where what is stored was counted; if not, the numbers of that say nothing.
    pub counted: bool,
    /// The number of bytes that are stored for the array, metadata included.
    pub bytes_stored: u64,
    /// The number of chunks (shards, where there are shards) that are stored.
    pub chunks_initialised: u64,
    /// The number of chunks that there can be; `None` beyond 2^64.
    pub chunks: Option<u64>,
    /// The size of the elements of stored chunks in memory, in bytes; `None` beyond 2^64.
    pub chunk_bytes: Option<u64>,
    /// The number of bytes that the chunks are stored as.
    pub chunk_bytes_stored: u64,
    /// Why elements cannot be read, see [`Array::unreadable`].
    pub unreadable: Option<String>,
}

impl ArrayInfo {
    /// The ratio of compression: the size in memory of the chunks that are stored, divided by their stored size.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn ratio(&self) -> Option<f64> {
        let bytes = self.chunk_bytes.filter(|_| self.chunk_bytes_stored > 0)?;
        Some(bytes as f64 / self.chunk_bytes_stored as f64)
    }
}

/// The chunks that are stored of an array.
#[derive(Default)]
struct Stored {
    /// The bytes of everything.
    bytes: u64,
    /// The number of chunks.
    chunks: u64,
    /// The bytes of the chunks.
    chunk_bytes: u64,
    /// The number of elements of the array that are in them; `None` beyond 2^64.
    elements: Option<u64>,
}

impl Array {
    /// Collects what there is to know about the array. Lists its stored chunks, and decodes none; where a store cannot list its keys,
    /// as a web server, each chunk that there could be is asked for.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn info(&self) -> Result<ArrayInfo> {
        self.confirm()?;
        Ok(self.describe(Some(self.stored()?)))
    }

    /// Like [`info`](Self::info), but counts nothing in stores far away: there, that is a request for each thousand chunks, or for each.
    ///
    /// # Errors
    /// The errors of [`Array::info`].
    pub fn quick_info(&self) -> Result<ArrayInfo> {
        if self.location.is_remote() { Ok(self.describe(None)) } else { self.info() }
    }

    fn describe(&self, stored: Option<Stored>) -> ArrayInfo {
        let counted = stored.is_some();
        let stored = stored.unwrap_or_default();
        let item = self.data_type().size() as u64;
        let empty = self.shape().contains(&0);
        let bytes = self.shape().iter().try_fold(item, |size, &n| size.checked_mul(n));
        ArrayInfo {
            path: self.path().to_string(),
            store: self.location.store.location(),
            format: self.metadata.format,
            shape: self.shape().to_vec(),
            data_type: self.data_type().clone(),
            fallback_from: self.fallback_from().cloned(),
            chunk_grid: self.chunk_grid().clone(),
            chunk_shape: self.chunk_shape(),
            shard_shape: self.shard_shape().map(<[u64]>::to_vec),
            fill_text: self.format_element(self.fill_value().as_bytes()).unwrap_or_default(),
            fill_value: self.fill_value(),
            codecs: self.codecs(),
            dimension_names: self.metadata.dimension_names.clone(),
            bytes: if empty { Some(0) } else { bytes },
            counted,
            bytes_stored: stored.bytes,
            chunks_initialised: stored.chunks,
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

    /// The number of elements of the array that are in a chunk; `None` beyond 2^64.
    fn elements_of(&self, chunk: &[u64]) -> Option<u64> {
        let mut dims = chunk.iter().zip(self.shape()).enumerate();
        dims.try_fold(1_u64, |count, (dim, (&index, &length))| {
            let (start, size) = self.chunk_grid().chunk_place(dim, index)?;
            count.checked_mul(size.min(length.saturating_sub(start)))
        })
    }

    /// Visits everything but documents that is stored for the array, with its size in bytes: its chunks, and what is no
    /// chunk of the grid (`None`).
    pub(crate) fn visit_stored(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
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

    /// Visits the stored chunks where keys cannot be listed: each chunk that there could be is asked for.
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
