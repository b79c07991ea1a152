//! [`ReadOnlyStore`].

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use crate::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, Key, LockGuard, Prefix, Store, StoreError,
    StoreErrorKind, Value,
};

/// Protects another store: reads go through, writes fail with [`StoreErrorKind::ReadOnly`].
#[derive(Clone, Debug)]
pub struct ReadOnlyStore(Arc<dyn Store>);

impl ReadOnlyStore {
    /// Wraps the store. Whoever has another handle of it can still write.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    fn refuse<T>(&self, operation: &'static str, key: &str) -> Result<T, StoreError> {
        let error =
            StoreError::new(StoreErrorKind::ReadOnly, operation, "the store was opened for reading only");
        Err(error.with_location(self.location()).with_key(key))
    }
}

impl Store for ReadOnlyStore {
    fn location(&self) -> String {
        self.0.location()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: false,
            set_if_absent: false,
            set_if_unchanged: false,
            rename: false,
            ..self.0.capabilities()
        }
    }

    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.0.open(key)
    }

    fn open_with(&self, key: &Key, first: ByteRange) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.0.open_with(key, first)
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        self.0.get_many(keys, done);
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.0.get(key)
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.0.get_ranges(key, ranges)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.0.size(key)
    }

    fn set(&self, key: &Key, _value: &[u8], _condition: Condition<'_>) -> Result<(), StoreError> {
        self.refuse("writing", key.as_str())
    }

    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        self.refuse("erasing", key.as_str())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.refuse("erasing", prefix.as_str())
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.0.list_prefix(prefix, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.0.list_dir(prefix)
    }

    fn rename_prefix(&self, from: &Prefix, _to: &Prefix) -> Result<(), StoreError> {
        self.refuse("renaming", from.as_str())
    }

    /// What others wrote may be completed.
    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush()
    }

    /// A lock changes nothing, so it goes through.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.0.lock(key)
    }
}
