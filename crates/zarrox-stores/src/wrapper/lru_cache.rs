//! [`LruCacheStore`].

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::store::{WHOLE, ranges_of};
use crate::sync::{Mutex, unpoisoned};
use crate::wrapper::generations::{Generation, Generations, Stamps};
use crate::{
    ByteRange, Bytes, Capabilities, Condition, DirListing, GetDone, Hold, HoldGuard, Key, LockGuard, Payload,
    Prefix, Stamp, Store, StoreError, StoreErrorKind, Value, Version, provided,
};

/// The default size up to which a value is read and cached as a whole when only part of it is requested.
const SMALL: u64 = 1 << 20;

/// The typical size of a value, in bytes.
const TYPICAL: u64 = 64 << 10;

/// The approximate memory overhead of an entry, in bytes.
const OVERHEAD: usize = 192;

/// A store that caches the values and listings of another store in memory, up to a number of bytes. Values are cached in their
/// stored form. The least recently used entries are evicted, as in zarr-python's `LRUStoreCache`.
///
/// Values that are written through this store are evicted. A cache does not notice other writers; see
/// [`invalidate`](Self::invalidate). But when the [stamp](Store::stamp) of a node's document changes, the cached values of that
/// node are evicted. The absence of a key is not cached.
///
/// A value is cached when the whole value is read, or when any part of a [small](Self::small) value is read. Parts of larger
/// values are read from the wrapped store. A value is not cached if it is larger than the cache or nearly as large. Clones share
/// the cache.
#[derive(Clone)]
pub struct LruCacheStore {
    inner: Arc<dyn Store>,
    small: u64,
    shared: Arc<Shared>,
}

struct Shared {
    entries: Cache<CacheKey, Cached, Weight>,
    generations: Generations,
    stamps: Stamps,
    /// The total number of writes, since any write may change a listing.
    writes: Mutex<u64>,
    /// True if the store compares versions. In this case, a cached value without a version does not satisfy a request that may
    /// need the version.
    versioned: bool,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The hits, misses and size of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// The number of requests for which a value or a listing was cached.
    pub hits: u64,
    /// The number of requests for which neither a value nor a listing was cached.
    pub misses: u64,
    /// The memory in use, in bytes.
    pub bytes: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum CacheKey {
    Value(Key),
    Listing(Prefix),
}

#[derive(Clone)]
enum Cached {
    Value(CachedValue),
    Listing(Arc<DirListing>),
}

/// One version of a value in memory.
#[derive(Clone)]
struct CachedValue {
    bytes: Bytes,
    version: Option<Version>,
}

impl LruCacheStore {
    /// Wraps the store with a cache of at most `bytes` bytes.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bytes: u64) -> Self {
        let shared = Shared {
            entries: cache_of(bytes),
            generations: Generations::default(),
            stamps: Stamps::default(),
            writes: Mutex::default(),
            versioned: store.capabilities().set_if_unchanged,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        Self { inner: store, small: SMALL, shared: Arc::new(shared) }
    }

    /// Sets the size in bytes up to which a value is read and cached as a whole when only part of it is requested; 1 MiB by
    /// default.
    #[must_use]
    pub fn small(mut self, bytes: u64) -> Self {
        self.small = bytes;
        self
    }

    /// Evicts everything. Call this if another writer may have changed the store.
    pub fn invalidate(&self) {
        self.invalidate_values();
        self.invalidate_keys();
    }

    /// Evicts all values.
    #[doc(hidden)]
    pub fn invalidate_values(&self) {
        self.forget_below(&Prefix::root());
    }

    /// Evicts all listings.
    #[doc(hidden)]
    pub fn invalidate_keys(&self) {
        self.forget_listings(|kept| kept.retain(|cache_key, _| !matches!(cache_key, CacheKey::Listing(_))));
    }

    /// Returns the numbers of hits and misses since the store was wrapped, and the current size.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        let shared = &self.shared;
        CacheStatistics {
            hits: shared.hits.load(Relaxed),
            misses: shared.misses.load(Relaxed),
            bytes: shared.entries.weight(),
        }
    }

    /// Returns the cached entry if `take` accepts it.
    fn find<T>(&self, cache_key: &CacheKey, take: impl FnOnce(Cached) -> Option<T>) -> Option<T> {
        let found = self.shared.entries.get(cache_key).and_then(take);
        let counter = if found.is_some() { &self.shared.hits } else { &self.shared.misses };
        counter.fetch_add(1, Relaxed);
        found
    }

    fn find_value(&self, key: &Key) -> Option<CachedValue> {
        self.find(&CacheKey::Value(key.clone()), Cached::into_value)
    }

    /// Returns the cached value for a request that may need the version.
    fn find_version(&self, key: &Key) -> Option<CachedValue> {
        let will_do = |value: &CachedValue| value.version.is_some() || !self.shared.versioned;
        self.find(&CacheKey::Value(key.clone()), |kept| kept.into_value().filter(will_do))
    }

    fn keep(&self, since: Generation, key: &Key, value: &CachedValue) {
        let insert =
            || self.shared.entries.insert(CacheKey::Value(key.clone()), Cached::Value(value.clone()));
        self.shared.generations.keep(since, insert);
    }

    /// Opens a value that is not cached, and caches it if it is small or already in memory.
    fn open_through(
        &self,
        key: &Key,
        open: impl FnOnce() -> Result<Option<Box<dyn Value>>, StoreError>,
    ) -> Result<Option<Box<dyn Value>>, StoreError> {
        let since = self.shared.generations.now(key);
        let Some(value) = open()? else { return Ok(None) };
        let through = ValueThrough { store: self.clone(), key: key.clone(), since, value };
        if !through.value.is_in_memory() && through.size() > self.small {
            return Ok(Some(Box::new(through)));
        }
        match through.read_whole() {
            Ok(kept) => Ok(Some(Box::new(kept))),
            // A later read returns the error, or succeeds.
            Err(_) => Ok(Some(Box::new(through))),
        }
    }

    fn write<T>(&self, key: &Key, write: impl FnOnce() -> T) -> T {
        let forget = || drop(self.shared.entries.remove(&CacheKey::Value(key.clone())));
        // Only listings after the write must be up to date. A listing during the write may see either state.
        let written = self.shared.generations.write(key, forget, write);
        self.forget_listings(|kept| {
            let above = std::iter::successors(Some(key.parent()), Prefix::parent);
            above.for_each(|prefix| drop(kept.remove(&CacheKey::Listing(prefix))));
        });
        written
    }

    fn write_below<T>(&self, prefixes: &[&Prefix], write: impl FnOnce() -> T) -> T {
        let forget = || prefixes.iter().for_each(|prefix| self.forget_values(prefix));
        let written = self.shared.generations.write_many(forget, write);
        self.invalidate_keys();
        written
    }

    fn forget_below(&self, prefix: &Prefix) {
        self.shared.generations.forget_many(|| self.forget_values(prefix));
    }

    fn forget_values(&self, prefix: &Prefix) {
        self.shared
            .entries
            .retain(|cache_key, _| !matches!(cache_key, CacheKey::Value(key) if prefix.contains(key)));
    }

    fn forget_listings(&self, forget: impl FnOnce(&Cache<CacheKey, Cached, Weight>)) {
        let mut writes = unpoisoned(&self.shared.writes);
        *writes += 1;
        forget(&self.shared.entries);
    }

    fn writes(&self) -> u64 {
        *unpoisoned(&self.shared.writes)
    }
}

impl fmt::Debug for LruCacheStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("LruCacheStore");
        shown.field("inner", &self.inner).field("statistics", &self.statistics()).finish()
    }
}

impl Store for LruCacheStore {
    provided!(directory);

    fn location(&self) -> String {
        self.inner.location()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        match self.find_version(key) {
            Some(value) => Ok(Some(Box::new(value))),
            None => self.open_through(key, || self.inner.open_with(key, first)),
        }
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        if let Some(value) = self.find_value(key) {
            return Ok(Some(value.bytes));
        }
        let Some(value) = self.open_through(key, || self.inner.open_with(key, Some(WHOLE)))? else {
            return Ok(None);
        };
        value.read(0, value.size()).map(Some)
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        if let Some(value) = self.find_value(key) {
            return ranges_of(self, key, &value, ranges).map(Some);
        }
        let Some(first) = ranges.first() else { return Ok(self.inner.size(key)?.map(|_| Vec::new())) };
        let Some(value) = self.open_through(key, || self.inner.open_with(key, Some(*first)))? else {
            return Ok(None);
        };
        match ranges_of(self, key, &*value, ranges) {
            // The inner store can read ranges even from values that are continually replaced.
            Err(error) if error.kind() == StoreErrorKind::Conflict => self.inner.get_ranges(key, ranges),
            parts => parts.map(Some),
        }
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let find = |key: &Key| self.find_value(key).map(|value| Ok(value.bytes));
        let keep = |since, key: &Key, bytes: &Bytes| {
            self.keep(since, key, &CachedValue { bytes: bytes.clone(), version: None });
        };
        self.shared.generations.get_many(&*self.inner, keys, find, keep, done);
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        match self.find_value(key) {
            Some(value) => Ok(Some(value.size())),
            None => self.inner.size(key),
        }
    }

    fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        if self.find_value(key).is_some() { Ok(true) } else { self.inner.contains(key) }
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        // The value is evicted even if the write fails, since another writer may have changed it.
        self.write(key, || self.inner.put(key, payload, condition))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        self.write(key, || self.inner.erase_if(key, condition))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.write_below(&[prefix], || self.inner.erase_prefix(prefix))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.inner.list_prefix(prefix, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let cache_key = CacheKey::Listing(prefix.clone());
        if let Some(listing) = self.find(&cache_key, Cached::into_listing) {
            return Ok((*listing).clone());
        }
        let before = self.writes();
        let listing = self.inner.list_dir(prefix)?;
        let writes = unpoisoned(&self.shared.writes);
        if *writes == before {
            self.shared.entries.insert(cache_key, Cached::Listing(Arc::new(listing.clone())));
        }
        Ok(listing)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        self.write_below(&[from, to], || self.inner.rename_prefix(from, to))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush()
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.lock(key)
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        let stamp = self.inner.stamp(key)?;
        if self.shared.stamps.is_new(key, &stamp) {
            self.forget_below(&key.parent());
            self.invalidate_keys();
        }
        Ok(stamp)
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        self.inner.hold(prefix, how)
    }

    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
        self.write_below(&[one, other], || self.inner.exchange(one, other))
    }
}

impl Cached {
    fn into_value(self) -> Option<CachedValue> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    fn into_listing(self) -> Option<Arc<DirListing>> {
        if let Self::Listing(listing) = self { Some(listing) } else { None }
    }

    /// Returns the memory of the entry, in bytes.
    fn bytes(&self) -> usize {
        let text = |text: &str| text.len() + size_of::<Key>();
        match self {
            Self::Value(value) => {
                value.bytes.len() + value.version.as_ref().map_or(0, |version| version.as_bytes().len())
            }
            Self::Listing(listing) => {
                let keys: usize = listing.keys.iter().map(|key| text(key.as_str())).sum();
                keys + listing.prefixes.iter().map(|prefix| text(prefix.as_str())).sum::<usize>()
            }
        }
    }
}

impl Value for CachedValue {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.bytes.read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        Some(&self.bytes)
    }

    fn version(&self) -> Option<Version> {
        self.version.clone()
    }
}

/// A value that is not cached. Parts are read from the wrapped store. The value is cached when the whole value is read at once.
struct ValueThrough {
    store: LruCacheStore,
    key: Key,
    since: Generation,
    value: Box<dyn Value>,
}

impl ValueThrough {
    fn read_whole(&self) -> Result<CachedValue, StoreError> {
        let bytes = self.value.read(0, self.value.size())?;
        let value = CachedValue { bytes, version: self.value.version() };
        self.store.keep(self.since, &self.key, &value);
        Ok(value)
    }
}

impl Value for ValueThrough {
    fn size(&self) -> u64 {
        self.value.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.value.read_at(offset, buffer)
    }

    fn version(&self) -> Option<Version> {
        self.value.version()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        if offset == 0 && length == self.size() {
            return self.read_whole().map(|value| value.bytes);
        }
        self.value.read(offset, length)
    }
}

/// Creates a cache with a single shard. With several, each shard would only have its share of the memory, and would reject larger
/// values.
fn cache_of(bytes: u64) -> Cache<CacheKey, Cached, Weight> {
    let count = usize::try_from(bytes / TYPICAL).unwrap_or(usize::MAX).clamp(16, 1 << 20);
    let mut options = OptionsBuilder::new();
    options.estimated_items_capacity(count).weight_capacity(bytes).shards(1);
    match options.build() {
        Ok(options) => {
            Cache::with_options(options, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
        }
        // This only fails if one of the two numbers is missing.
        Err(_) => Cache::with_weighter(count, bytes, Weight),
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<CacheKey, Cached> for Weight {
    fn weight(&self, cache_key: &CacheKey, kept: &Cached) -> u64 {
        let name = match cache_key {
            CacheKey::Value(key) => key.as_str(),
            CacheKey::Listing(prefix) => prefix.as_str(),
        };
        (name.len() + kept.bytes() + OVERHEAD) as u64
    }
}

#[cfg(all(test, model))]
mod model {
    use shuttle::thread;

    use super::*;
    use crate::sync::check;
    use crate::{MemoryStore, StoreExt};

    /// A key whose values keep growing, so that a value is identified by its size.
    struct Growing {
        store: Arc<dyn Store>,
        cache: LruCacheStore,
        key: Key,
        /// The minimum size that all later reads must return.
        known: AtomicU64,
    }

    impl Growing {
        fn new() -> Self {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let cache = LruCacheStore::new(Arc::clone(&store), 1 << 20);
            let growing = Self { store, cache, key: Key::new("c/0").unwrap(), known: AtomicU64::new(1) };
            growing.write(&growing.cache, 1);
            growing
        }

        fn write(&self, store: &dyn Store, length: u8) {
            store.set(&self.key, &vec![0; length.into()], Condition::Always).unwrap();
        }

        /// Returns the size of the value, using one of several methods.
        fn read(&self, way: usize) -> u64 {
            let (cache, key) = (&self.cache, &self.key);
            match way {
                0 => cache.get(key).unwrap().unwrap().size(),
                1 => cache.open_with(key, None).unwrap().unwrap().size(),
                2 => {
                    let length = AtomicU64::new(0);
                    let done: &GetDone<'_> =
                        &|_, answer| length.store(answer.unwrap().unwrap().size(), Relaxed);
                    cache.get_many(std::slice::from_ref(key), done);
                    length.into_inner()
                }
                _ => cache.size(key).unwrap().unwrap(),
            }
        }

        /// Runs a writer concurrently with three readers, each of which reads twice.
        fn run(&self, write: impl Fn() + Send + Sync, read: impl Fn(usize) + Sync) {
            thread::scope(|scope| {
                scope.spawn(write);
                for way in 0..3 {
                    let read = &read;
                    scope.spawn(move || (0..2).for_each(|more| read(way + more)));
                }
            });
        }
    }

    #[test]
    fn no_read_returns_an_older_value_than_an_earlier_read_or_write() {
        check(|| {
            let growing = Growing::new();
            let write = || {
                for length in [2, 3] {
                    growing.write(&growing.cache, length);
                    growing.known.fetch_max(length.into(), Relaxed);
                }
            };
            growing.run(write, |way| {
                let known = growing.known.load(Relaxed);
                let length = growing.read(way);
                assert!(length >= known, "{length} after {known}");
                growing.known.fetch_max(length, Relaxed);
            });
        });
    }

    #[test]
    fn no_read_returns_an_older_value_than_at_the_invalidation() {
        check(|| {
            let growing = Growing::new();
            let write = || {
                growing.write(&*growing.store, 2);
                growing.cache.invalidate_values();
                growing.known.store(2, Relaxed);
            };
            growing.run(write, |way| {
                let known = growing.known.load(Relaxed);
                let length = growing.read(way);
                assert!(length >= known, "{length} after {known}");
            });
        });
    }

    #[test]
    fn a_value_that_was_erased_with_a_prefix_is_missing_for_all() {
        check(|| {
            let growing = Growing::new();
            let erase = || {
                growing.cache.erase_prefix(&growing.key.parent()).unwrap();
                growing.known.store(0, Relaxed);
            };
            growing.run(erase, |_| {
                let erased = growing.known.load(Relaxed) == 0;
                let found = growing.cache.get(&growing.key).unwrap();
                assert!(found.is_none() || !erased);
            });
        });
    }

    #[test]
    fn a_listing_has_what_was_written_before() {
        check(|| {
            let growing = Growing::new();
            let write = || {
                (2..4).for_each(|count| {
                    growing
                        .cache
                        .set(&Key::new(format!("c/{count}")).unwrap(), b"", Condition::Always)
                        .unwrap();
                    growing.known.store(count, Relaxed);
                })
            };
            growing.run(write, |_| {
                let known = growing.known.load(Relaxed);
                let listed = growing.cache.list_dir(&growing.key.parent()).unwrap().keys.len() as u64;
                assert!(listed >= known, "{listed} after {known}");
            });
        });
    }
}
