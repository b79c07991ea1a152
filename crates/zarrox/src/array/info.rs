//! What there is to know about an array.

use std::ops::ControlFlow;

use zarrox_core::grid::ChunkGrid;
use zarrox_core::json::Json;
use zarrox_core::{CodecSpec, DataType, FillValue, Format, Result};

use super::Array;
use crate::error::from_store;

/// What there is to know about an array: how it is made, and how much of it is stored.
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
    /// How the array is divided into chunks, or into shards where there are shards.
    pub chunk_grid: ChunkGrid,
    /// The shape of a chunk; where chunks differ, the largest length along each dimension.
    pub chunk_shape: Vec<u64>,
    /// The shape of a shard, if there are shards; where they differ, the largest length along each dimension.
    pub shard_shape: Option<Vec<u64>>,
    /// The element that fills what nobody has written.
    pub fill_value: FillValue,
    /// The codecs.
    pub codecs: Vec<CodecSpec>,
    /// The names of the dimensions.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// How many bytes all elements take in memory; `None` beyond 2^64.
    pub bytes: Option<u64>,
    /// How many bytes are stored for the array, metadata included.
    pub bytes_stored: u64,
    /// How many chunks (shards, where there are shards) are stored.
    pub chunks_initialised: u64,
    /// How many there can be; `None` beyond 2^64.
    pub chunks: Option<u64>,
}

impl ArrayInfo {
    /// How many times larger the elements are in memory than in the store.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn ratio(&self) -> Option<f64> {
        let bytes = self.bytes.filter(|_| self.bytes_stored > 0)?;
        Some(bytes as f64 / self.bytes_stored as f64)
    }
}

impl Array {
    /// Collects what there is to know about the array. Lists its stored chunks, and decodes none.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn info(&self) -> Result<ArrayInfo> {
        self.confirm()?;
        let (bytes_stored, chunks_initialised) = self.stored()?;
        let item = self.data_type().size() as u64;
        let empty = self.shape().contains(&0);
        let bytes = self.shape().iter().try_fold(item, |size, &n| size.checked_mul(n));
        Ok(ArrayInfo {
            path: self.path().to_string(),
            store: self.location.store.location(),
            format: self.metadata.format,
            shape: self.shape().to_vec(),
            data_type: self.data_type().clone(),
            fallback_from: self.fallback_from().cloned(),
            chunk_grid: self.chunk_grid().clone(),
            chunk_shape: self.chunk_shape(),
            shard_shape: self.shard_shape().map(<[u64]>::to_vec),
            fill_value: self.fill_value(),
            codecs: self.codecs(),
            dimension_names: self.metadata.dimension_names.clone(),
            bytes: if empty { Some(0) } else { bytes },
            bytes_stored,
            chunks_initialised,
            chunks: self.metadata.chunk_grid.chunk_count(self.shape()),
        })
    }

    /// The bytes of everything that is stored for the array, and the number of its chunks.
    fn stored(&self) -> Result<(u64, u64)> {
        let (mut bytes, mut chunks) = (self.location.size_of_documents(self.metadata.format)?, 0);
        self.visit_stored(&mut |chunk, size| {
            bytes += size;
            chunks += u64::from(chunk.is_some());
        })?;
        Ok((bytes, chunks))
    }

    /// Visits everything but documents that is stored for the array, with its size in bytes: its chunks, and what is no
    /// chunk of the grid (`None`).
    pub(crate) fn visit_stored(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
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
        self.location.store.list_prefix(prefix, &mut visit).map_err(from_store)
    }
}
