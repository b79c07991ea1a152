//! [`DiskCacheStore`].

mod entry;
mod files;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use self::entry::{Entry, Name};
use self::files::{BLOCK, Files};
use crate::store::ranges_of;
use crate::wrapper::generations::{Generation, Generations, Stamps};
use crate::{
    ByteRange, Bytes, Capabilities, Condition, DirListing, GetDone, Hold, HoldGuard, Key, LockGuard, Payload,
    Prefix, Stamp, Store, StoreError, StoreErrorKind, StoreExt, Value, provided,
};

/// The number of attempts to copy a value that other writers keep replacing. After that, the value is read without a copy.
const ATTEMPTS: usize = 3;

/// Options for opening a [`DiskCacheStore`].
#[derive(Clone, Debug)]
pub struct DiskCacheOptions {
    limit: u64,
    largest: u64,
    validate: bool,
}

impl Default for DiskCacheOptions {
    fn default() -> Self {
        Self { limit: 10 << 30, largest: u64::MAX, validate: false }
    }
}

impl DiskCacheOptions {
    /// Creates the default options: at most 10 GiB, without validation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum total size of the copies in bytes; 10 GiB by default.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the maximum size in bytes of a value to cache. By default, every value that fits within the limit is cached.
    ///
    /// A smaller maximum is useful if only small parts of large shards are read.
    #[must_use]
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = bytes;
        self
    }

    /// Sets whether, each time a value is opened, the wrapped store is queried to check that the copy is up to date; `false` by
    /// default. This costs one request for each value, and requires a store whose values have [versions](Value::version). A value
    /// without a version is always read again.
    #[must_use]
    pub fn validate(mut self, validate: bool) -> Self {
        self.validate = validate;
        self
    }

    /// Wraps a store. The copies are stored in the directory, which is created if it is missing. Other files in it are ignored.
    ///
    /// # Errors
    ///
    /// When the directory cannot be created or read.
    pub fn open(
        self,
        store: Arc<dyn Store>,
        directory: impl AsRef<Path>,
    ) -> Result<DiskCacheStore, StoreError> {
        let files = Files::open(directory.as_ref(), self.limit)?;
        let largest = self.largest.min(self.limit);
        let shared = Shared {
            location: store.location(),
            versioned: store.capabilities().set_if_unchanged,
            files,
            largest,
            validate: self.validate,
            generations: Generations::default(),
            stamps: Stamps::default(),
        };
        Ok(DiskCacheStore { inner: store, shared: Arc::new(shared) })
    }
}

/// A store that caches the values of another store as files in a directory, like fsspec's `simplecache::`. A whole value is
/// copied when it is first opened, and from then on it is read from disk. The least recently used values are evicted.
///
/// Copies are assumed to be up to date unless [`validate`](DiskCacheOptions::validate) is set: the cache does not notice other
/// writers, including other processes. Writing a value through this store evicts it, and a change of the [stamp](Store::stamp) of
/// a node's document evicts the values of that node.
///
/// A copy is completely on disk before it gets its name, so an interruption cannot leave a partial copy. Several stores and
/// processes may share a directory; together they may exceed the limit by one eighth for each process. If the directory is not
/// writable, values are read without a copy.
#[derive(Clone, Debug)]
pub struct DiskCacheStore {
    inner: Arc<dyn Store>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    location: String,
    /// True if cached values must have a version, since writers compare versions.
    versioned: bool,
    files: Files,
    largest: u64,
    validate: bool,
    generations: Generations,
    stamps: Stamps,
}

impl DiskCacheStore {
    /// Removes all copies from the directory, including those of other stores.
    ///
    /// # Errors
    ///
    /// When a file cannot be removed.
    pub fn clear(&self) -> Result<(), StoreError> {
        let mut result = Ok(());
        self.shared.generations.forget_many(|| result = self.shared.files.clear());
        result
    }

    fn name(&self, key: &Key) -> Name {
        Name::new(&self.shared.location, key)
    }

    /// Returns the copy of a value, if a suitable copy exists.
    fn copy(&self, key: &Key, with_version: bool) -> Option<Entry> {
        let entry = self.shared.files.open_entry(&self.name(key))?;
        (!with_version || entry.version().is_some()).then_some(entry)
    }

    /// Returns the value of a key from its copy.
    fn value(&self, key: &Key, with_version: bool) -> Result<Option<Box<dyn Value>>, StoreError> {
        let with_version = with_version || self.shared.validate;
        if let Some(entry) = self.copy(key, with_version) {
            if !self.shared.validate {
                return Ok(Some(Box::new(entry)));
            }
            let Some(value) = self.inner.open(key)? else {
                self.forget(key);
                return Ok(None);
            };
            if value.version() == entry.version() {
                return Ok(Some(Box::new(entry)));
            }
        }
        self.fetch(key, with_version)
    }

    /// Copies the value. Only one thread at a time copies a given value; other threads wait for the copy.
    fn fetch(&self, key: &Key, with_version: bool) -> Result<Option<Box<dyn Value>>, StoreError> {
        let _guard = LockGuard::in_process(self.shared.files.id(), key);
        if let Some(entry) = self.copy(key, with_version).filter(|_| !self.shared.validate) {
            return Ok(Some(Box::new(entry)));
        }
        for attempt in 0..=ATTEMPTS {
            let since = self.shared.generations.now(key);
            let first = ByteRange::From { offset: 0, length: Some(BLOCK) };
            let Some(value) = self.inner.open_with(key, Some(first))? else { return Ok(None) };
            if value.size() > self.shared.largest || attempt == ATTEMPTS {
                return Ok(Some(value));
            }
            let name = self.name(key);
            let written = match self.shared.files.write(&name, &*value) {
                Ok(written) => written,
                Err(error) if error.kind() == StoreErrorKind::Conflict => continue,
                Err(error) => return Err(error),
            };
            let Some((entry, copy)) = written else { return Ok(Some(value)) };
            self.shared.generations.keep(since, || self.shared.files.keep(&name, copy));
            return Ok(Some(Box::new(entry)));
        }
        Ok(None)
    }

    /// Caches a value that has been read anyway, if possible.
    fn keep(&self, since: Generation, key: &Key, bytes: &Bytes) {
        if self.shared.validate || bytes.len() as u64 > self.shared.largest {
            return;
        }
        let name = self.name(key);
        if let Ok(Some((_, copy))) = self.shared.files.write(&name, bytes) {
            self.shared.generations.keep(since, || self.shared.files.keep(&name, copy));
        }
    }

    fn forget(&self, key: &Key) {
        self.shared.generations.forget(key, || self.shared.files.remove(&self.name(key)));
    }

    fn forget_below(&self, prefix: &Prefix) {
        let forget = || self.shared.files.remove_below(&self.shared.location, &[prefix]);
        self.shared.generations.forget_many(forget);
    }

    fn write_below<T>(
        &self,
        prefixes: &[&Prefix],
        write: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let forget = || self.shared.files.remove_below(&self.shared.location, prefixes);
        self.shared.generations.write_many(forget, write)
    }
}

impl Store for DiskCacheStore {
    provided!(directory contains);

    fn location(&self) -> String {
        self.inner.location()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.value(key, self.shared.versioned)
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let Some(value) = self.value(key, false)? else { return Ok(None) };
        value.read(0, value.size()).map(Some)
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        let Some(value) = self.value(key, false)? else { return Ok(None) };
        match ranges_of(self, key, &*value, ranges) {
            // The inner store can read ranges even from values that are continually replaced.
            Err(error) if error.kind() == StoreErrorKind::Conflict => self.inner.get_ranges(key, ranges),
            parts => parts.map(Some),
        }
    }

    /// Values without a copy are read in parallel. With validation, all values are read, since requesting the version costs as
    /// much as reading the value.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let copy = |key: &Key| self.copy(key, false).filter(|_| !self.shared.validate);
        let find = |key: &Key| copy(key).map(|entry| entry.read(0, entry.size()));
        let keep = |since, key: &Key, bytes: &Bytes| self.keep(since, key, bytes);
        self.shared.generations.get_many(&*self.inner, keys, find, keep, done);
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        match self.copy(key, false).filter(|_| !self.shared.validate) {
            Some(entry) => Ok(Some(entry.size())),
            None => self.inner.size(key),
        }
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let forget = || self.shared.files.remove(&self.name(key));
        // The value is evicted even if the write fails, since another writer may have changed it.
        self.shared.generations.write(key, forget, || self.inner.put(key, payload, condition))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        let forget = || self.shared.files.remove(&self.name(key));
        self.shared.generations.write(key, forget, || self.inner.erase_if(key, condition))
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
        self.inner.list_dir(prefix)
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
