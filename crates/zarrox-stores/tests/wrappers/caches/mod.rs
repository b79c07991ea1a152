//! Memory and disk caches.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod disk;
mod lru;
mod model;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarrox_stores::{Bytes, Condition, Key, MemoryStore, Operation, Store, StoreExt};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::store::key;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&key(name), value, Condition::Always).unwrap();
}

fn get(store: &dyn Store, name: &str) -> Option<Bytes> {
    store.get(&key(name)).unwrap()
}

/// Checks that an old value is not cached if it is replaced while a thread reads it.
fn never_keeps_what_was_replaced(wrap: impl Fn(Arc<dyn Store>) -> Box<dyn Store>) {
    let slow = FaultyStore::new(memory());
    let store = wrap(Arc::new(slow.clone()));
    for round in 0..5 {
        put(&*store, "v", format!("old {round}").as_bytes());
        slow.inject(Fault::delay(Duration::from_millis(20)).on(&[Operation::Read]));
        thread::scope(|scope| {
            let reader = scope.spawn(|| get(&*store, "v"));
            thread::sleep(Duration::from_millis(5));
            put(&*store, "v", format!("new {round}").as_bytes());
            reader.join().unwrap();
        });
        slow.heal();
        assert_eq!(get(&*store, "v").unwrap(), format!("new {round}"));
    }
}

/// Many readers and writers: a writer reads its own writes.
fn reads_what_was_written(store: &dyn Store) {
    let work = |writer: usize| {
        for round in 0..60 {
            let own: Key = key(&format!("{writer}/v"));
            let value = format!("{writer} {round}");
            store.set(&own, value.as_bytes(), Condition::Always).unwrap();
            assert_eq!(store.get(&own).unwrap().unwrap(), value);
            store.get(&key(&format!("{}/v", (writer + 1) % 4))).unwrap();
            assert_eq!(store.get(&own).unwrap().unwrap(), value);
        }
    };
    thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || work(writer)))));
}
