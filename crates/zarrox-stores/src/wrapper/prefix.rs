//! [`PrefixStore`].

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use crate::store::check_rename;
use crate::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, Hold, HoldGuard, Key, LockGuard, Payload,
    Prefix, Stamp, Store, StoreError, Value, provided,
};

/// A store of the keys below a prefix of another store. With the prefix `a/b/`, the key `c` is the key `a/b/c` of the other
/// store.
///
/// Keys cannot lead out of the prefix. A lock also excludes users who access the same value through the other store.
#[derive(Clone, Debug)]
pub struct PrefixStore {
    inner: Arc<dyn Store>,
    prefix: Prefix,
}

impl PrefixStore {
    /// Creates a store of the keys below a prefix. There need not be any such keys yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, prefix: Prefix) -> Self {
        Self { inner: store, prefix }
    }

    /// Converts an error of the other store so that it contains the key in this store.
    fn own(&self, error: StoreError) -> StoreError {
        match error.key().and_then(|key| key.strip_prefix(self.prefix.as_str())).map(str::to_owned) {
            Some(key) => error.with_location(self.location()).with_key(key),
            None => error,
        }
    }

    fn own_listing(&self, listing: &DirListing) -> DirListing {
        DirListing {
            keys: listing.keys.iter().filter_map(|key| self.prefix.strip(key)).collect(),
            prefixes: listing.prefixes.iter().filter_map(|below| self.prefix.strip_prefix(below)).collect(),
        }
    }
}

impl Store for PrefixStore {
    provided!(directory);

    fn location(&self) -> String {
        let (inner, prefix) = (self.inner.location(), self.prefix.segments());
        match inner.strip_suffix('/').unwrap_or(&inner) {
            _ if self.prefix.is_root() => inner,
            inner => format!("{inner}/{prefix}"),
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.inner.open_with(&self.prefix.join(key), first).map_err(|error| self.own(error))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.inner.get(&self.prefix.join(key)).map_err(|error| self.own(error))
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.inner.get_ranges(&self.prefix.join(key), ranges).map_err(|error| self.own(error))
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let keys: Vec<Key> = keys.iter().map(|key| self.prefix.join(key)).collect();
        self.inner.get_many(&keys, &|index, answer| done(index, answer.map_err(|error| self.own(error))));
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.inner.size(&self.prefix.join(key)).map_err(|error| self.own(error))
    }

    fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        self.inner.contains(&self.prefix.join(key)).map_err(|error| self.own(error))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        self.inner.put(&self.prefix.join(key), payload, condition).map_err(|error| self.own(error))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        self.inner.erase_if(&self.prefix.join(key), condition).map_err(|error| self.own(error))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.inner.erase_prefix(&self.prefix.join_prefix(prefix)).map_err(|error| self.own(error))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut visit_own = |key: Key, size| match self.prefix.strip(&key) {
            Some(key) => visit(key, size),
            None => ControlFlow::Continue(()),
        };
        let listed = self.inner.list_prefix(&self.prefix.join_prefix(prefix), &mut visit_own);
        listed.map_err(|error| self.own(error))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let listing = self.inner.list_dir(&self.prefix.join_prefix(prefix));
        listing.map(|listing| self.own_listing(&listing)).map_err(|error| self.own(error))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        // This is checked here so that the message contains the names that the caller knows.
        if !check_rename(from, to)? {
            return Ok(());
        }
        let (from, to) = (self.prefix.join_prefix(from), self.prefix.join_prefix(to));
        self.inner.rename_prefix(&from, &to).map_err(|error| self.own(error))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush()
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.lock(&self.prefix.join(key)).map_err(|error| self.own(error))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        self.inner.stamp(&self.prefix.join(key)).map_err(|error| self.own(error))
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        self.inner.hold(&self.prefix.join_prefix(prefix), how).map_err(|error| self.own(error))
    }

    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
        let (one, other) = (self.prefix.join_prefix(one), self.prefix.join_prefix(other));
        self.inner.exchange(&one, &other).map_err(|error| self.own(error))
    }
}
