//! The read-only wrapper.

use std::sync::Arc;

use zarrox_stores::{Condition, MemoryStore, ReadOnlyStore, StoreExt};
use zarrox_testkit::store::{key, read_suite, store_suite};

#[test]
fn refuses_writes() {
    store_suite(|| Box::new(ReadOnlyStore::new(Arc::new(MemoryStore::new()))));
}

#[test]
fn reads_what_the_store_has() {
    read_suite(|content| {
        let store = MemoryStore::new();
        for (name, value) in content {
            store.set(&key(name), value, Condition::Always).unwrap();
        }
        Box::new(ReadOnlyStore::new(Arc::new(store)))
    });
}
