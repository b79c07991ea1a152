//! A store that counts which chunks are opened.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use zarrox::stores::{
    Capabilities, Condition, DirListing, Key, LockGuard, MemoryStore, Prefix, Store, StoreError, Value,
};

/// Values in memory, and how many chunks were opened for reading.
#[derive(Debug, Default)]
pub(crate) struct CountingStore {
    store: MemoryStore,
    opened: AtomicUsize,
}

impl CountingStore {
    /// How many chunks were opened since this was last asked.
    pub(crate) fn take(&self) -> usize {
        self.opened.swap(0, Relaxed)
    }
}

impl Store for CountingStore {
    fn location(&self) -> String {
        self.store.location()
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        let is_chunk = key.as_str().starts_with("c/");
        self.opened.fetch_add(usize::from(is_chunk), Relaxed);
        self.store.open(key)
    }

    fn set(&self, key: &Key, value: &[u8], condition: Condition<'_>) -> Result<(), StoreError> {
        self.store.set(key, value, condition)
    }

    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        self.store.erase(key)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.store.erase_prefix(prefix)
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.store.list_prefix(prefix, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.store.list_dir(prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.store.lock(key)
    }
}
