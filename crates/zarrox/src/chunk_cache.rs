//! The cache of decoded chunks for later reads.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use zarrox_core::strided::Dims;
use zarrox_stores::{Key, Version};

/// The key of a cached chunk.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct DecodedChunk {
    pub(crate) key: Key,
    /// The index of the inner chunk within its shard, if the object is a shard.
    pub(crate) cell: Dims<usize>,
    /// True if the cached elements are in the stored byte order.
    pub(crate) as_stored: bool,
}

type Entries = Cache<DecodedChunk, (Version, Arc<[u8]>), Weight>;

/// A cache of decoded chunks, limited in bytes. Handles with the same options share it.
#[derive(Clone)]
pub(crate) struct ChunkCache {
    pub(crate) limit: usize,
    entries: Arc<Entries>,
}

impl ChunkCache {
    /// Creates a cache of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        /// The approximate size of a cached chunk, in bytes.
        const TYPICAL: usize = 64 << 10;
        Self { limit, entries: Arc::new(Cache::with_weighter(limit / TYPICAL + 1, limit as u64, Weight)) }
    }

    pub(crate) fn get(&self, place: &DecodedChunk, version: &Version) -> Option<Arc<[u8]>> {
        self.entries.get(place).filter(|(cached, _)| cached == version).map(|(_, decoded)| decoded)
    }

    pub(crate) fn contains(&self, place: &DecodedChunk) -> bool {
        self.entries.contains_key(place)
    }

    pub(crate) fn insert(&self, place: DecodedChunk, version: Version, decoded: Arc<[u8]>) {
        self.entries.insert(place, (version, decoded));
    }
}

impl std::fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChunkCache({} of {} bytes)", self.entries.weight(), self.limit)
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<DecodedChunk, (Version, Arc<[u8]>)> for Weight {
    fn weight(
        &self,
        DecodedChunk { key, cell, .. }: &DecodedChunk,
        (version, decoded): &(Version, Arc<[u8]>),
    ) -> u64 {
        let own = size_of::<DecodedChunk>() + size_of::<(Version, Arc<[u8]>)>();
        (own + key.as_str().len() + size_of_val(cell.as_slice()) + version.as_bytes().len() + decoded.len())
            as u64
    }
}
