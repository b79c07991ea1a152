//! Arrays in directories, opened for a kind of work.

use std::sync::Arc;

use zarrs::array::{
    Array, ArrayBytes, ArrayShardedExt, ArrayShardedReadableExt, ArrayShardedReadableExtCache, ArraySubset,
    ChunkShapeTraits, CodecOptions,
};
use zarrs::filesystem::{FilesystemStore, FilesystemStoreOptions};

use crate::outcome::Outcome;

pub(crate) type Directory = Array<FilesystemStore>;

/// The number of files that stay open for reads of their parts.
const OPEN_FILES: usize = 128;

/// An array to read, with caches that make reading parts of shards fast.
pub(crate) struct Source {
    pub(crate) array: Directory,
    indexes: ArrayShardedReadableExtCache,
    shard_elements: u64,
}

impl Source {
    pub(crate) fn open(path: &str) -> Outcome<Self> {
        let mut options = FilesystemStoreOptions::default();
        options.file_handle_cache_size(OPEN_FILES);
        let store = Arc::new(FilesystemStore::new_with_options(path, options)?);
        let array = Array::open(store, "/")?;
        let shard_elements = array.chunk_shape(&vec![0; array.dimensionality()])?.num_elements_u64();
        Ok(Self { indexes: ArrayShardedReadableExtCache::new(&array), shard_elements, array })
    }

    /// Reads small parts of shards through the cache of their indexes; otherwise chunks are decoded directly into the result.
    pub(crate) fn read(&self, subset: &ArraySubset, options: &CodecOptions) -> Outcome<ArrayBytes<'static>> {
        let values = if self.indexes.array_is_sharded() && subset.num_elements() < self.shard_elements {
            self.array.retrieve_array_subset_sharded_opt(&self.indexes, subset, options)
        } else {
            self.array.retrieve_array_subset_opt(subset, options)
        };
        Ok(values?)
    }

    /// Returns the number of chunks of a shard; 1 without shards.
    pub(crate) fn chunks_per_object(&self) -> Outcome<u64> {
        let Some(chunk) = self.array.subchunk_shape() else { return Ok(1) };
        let shard = stored_shape(&self.array)?;
        Ok(shard.iter().zip(chunk.to_array_shape()).map(|(shard, chunk)| shard.div_ceil(chunk)).product())
    }

    pub(crate) fn width(&self) -> usize {
        self.array.data_type().fixed_size().unwrap_or(1)
    }
}

pub(crate) fn store(path: &str) -> Outcome<Arc<FilesystemStore>> {
    Ok(Arc::new(FilesystemStore::new(path)?))
}

/// Opens an array to write to.
pub(crate) fn open_output(path: &str) -> Outcome<Directory> {
    Ok(Array::open(store(path)?, "/")?)
}

/// Returns the shape of chunks, or of shards.
pub(crate) fn stored_shape(array: &Directory) -> Outcome<Vec<u64>> {
    Ok(array.chunk_shape(&vec![0; array.dimensionality()])?.to_array_shape())
}
