//! What the trait provides for stores that have no better way of their own.

use std::ops::ControlFlow;

use zarrox_stores::{
    Capabilities, Condition, DirListing, Key, LockGuard, MemoryStore, Prefix, Store, StoreError, Value,
};
use zarrox_testkit::store::store_suite;

/// A store with nothing but the required methods, whose values are not in memory.
#[derive(Debug, Default)]
struct Plain(MemoryStore);

struct PlainValue(Box<dyn Value>);

impl Value for PlainValue {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.0.read_at(offset, buffer)
    }
}

impl Store for Plain {
    fn location(&self) -> String {
        "plain".into()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.0.open(key)?.map(|value| Box::new(PlainValue(value)) as Box<dyn Value>))
    }

    fn set(&self, key: &Key, value: &[u8], condition: Condition<'_>) -> Result<(), StoreError> {
        self.0.set(key, value, condition)
    }

    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        self.0.erase(key)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.0.erase_prefix(prefix)
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

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.0.lock(key)
    }
}

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(Plain::default()));
}
