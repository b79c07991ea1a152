//! A cache for the bytes of stored objects that are needed repeatedly: shard indexes.

use std::sync::OnceLock;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use zarrox_stores::{Bytes, Key, Version};

/// The size of each array's cache, in bytes.
const LIMIT: u64 = 32 << 20;

/// The typical size of a shard index, in bytes.
const TYPICAL: u64 = 4 << 10;

/// The key of an object, and the offset and length of the cached bytes.
type CacheKey = (Key, u64, u64);

/// The cached bytes of an array, shared by all of its handles. The least recently used bytes are evicted.
#[derive(Default)]
pub(super) struct IndexCache(OnceLock<Cache<CacheKey, (Version, Bytes), Weight>>);

impl IndexCache {
    /// Returns the cached bytes of an object, if they have this version.
    pub(super) fn get(&self, place: &CacheKey, version: &Version) -> Option<Bytes> {
        self.0.get()?.get(place).filter(|(cached, _)| cached == version).map(|(_, bytes)| bytes)
    }

    /// Adds bytes to the cache.
    pub(super) fn insert(&self, place: CacheKey, version: Version, bytes: Bytes) {
        let count = usize::try_from(LIMIT / TYPICAL).unwrap_or(usize::MAX);
        let cache = self.0.get_or_init(|| Cache::with_weighter(count, LIMIT, Weight));
        cache.insert(place, (version, bytes));
    }
}

impl std::fmt::Debug for IndexCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IndexCache({} bytes)", self.0.get().map_or(0, Cache::weight))
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<CacheKey, (Version, Bytes)> for Weight {
    fn weight(&self, (key, ..): &CacheKey, (_, bytes): &(Version, Bytes)) -> u64 {
        (key.as_str().len() + bytes.len() + size_of::<CacheKey>() + size_of::<Bytes>()) as u64
    }
}
