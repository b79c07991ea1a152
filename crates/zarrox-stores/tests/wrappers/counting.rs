//! Wrappers that count and that limit operations.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarrox_stores::{
    ByteRange, Capabilities, Condition, CountingStore, Key, LimitStore, MemoryStore, Operation, Prefix,
    Store, StoreExt, Wrapper, provided, wrapped,
};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::store::{key, store_suite};

fn memory(names: &[&str]) -> Arc<MemoryStore> {
    let store = MemoryStore::new();
    for name in names {
        store.set(&key(name), b"0123456789", Condition::Always).unwrap();
    }
    Arc::new(store)
}

fn limited(store: Arc<dyn Store>, limit: usize) -> LimitStore {
    LimitStore::new(store, NonZeroUsize::new(limit).unwrap())
}

#[test]
fn counting_and_limited_and_faultless_stores_pass_the_suite() {
    store_suite(|| Box::new(CountingStore::new(memory(&[]))));
    store_suite(|| Box::new(limited(memory(&[]), 1)));
    store_suite(|| Box::new(limited(memory(&[]), 3)));
    store_suite(|| Box::new(FaultyStore::new(memory(&[]))));
}

#[test]
fn operations_are_counted() {
    let store = CountingStore::new(memory(&["a", "b"]));
    store.get(&key("a")).unwrap();
    let value = store.open_with(&key("b"), Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    assert!(value.as_bytes().is_none());
    value.read(8, 2).unwrap();
    value.read_at(0, &mut [0; 3]).unwrap();
    value.read(8, 3).unwrap_err();
    store.get_ranges(&key("a"), &[ByteRange::From { offset: 9, length: None }]).unwrap();
    store.get_many(&[key("a"), key("b"), key("c")], &|_, answer| drop(answer.unwrap()));
    store.set(&key("c"), b"12345", Condition::Always).unwrap();
    store.set(&key("c"), b"12345", Condition::Absent).unwrap_err();
    store.list_dir(&Prefix::root()).unwrap();
    drop(store.lock(&key("a")).unwrap());

    let counts = store.clone().take();
    let expected = [
        (Operation::Get, 4),
        (Operation::Open, 1),
        (Operation::Read, 3),
        (Operation::GetRanges, 1),
        (Operation::Set, 2),
        (Operation::ListDir, 1),
        (Operation::Lock, 1),
        (Operation::Erase, 0),
    ];
    for (operation, expected) in expected {
        assert_eq!(counts.of(operation), expected, "{operation:?} in {counts:?}");
    }
    assert_eq!((counts.bytes_read, counts.bytes_written), (10 + 2 + 3 + 1 + 20, 5), "{counts:?}");
    assert_eq!((counts.failed, counts.total(), counts.values()), (2, 12, 6), "{counts:?}");
    assert_eq!(counts.listings(), 1);
    assert_eq!(store.counts().total(), 0);
}

#[test]
fn no_more_than_the_limit_are_under_way() {
    const LIMIT: usize = 3;
    let names: Vec<String> = (0..40).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let slow = FaultyStore::new(memory(&names));
    slow.inject(Fault::delay(Duration::from_millis(1)));
    let counting = CountingStore::new(Arc::new(slow));
    let store = limited(Arc::new(counting.clone()), LIMIT);
    let keys: Vec<Key> = names.iter().map(|name| key(name)).collect();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| keys.iter().for_each(|key| drop(store.get(key).unwrap())));
        }
        scope.spawn(|| {
            // The callback may use the store.
            store.get_many(&keys, &|_, answer| {
                assert_eq!(answer.unwrap().unwrap(), "0123456789");
                store.size(&keys[0]).unwrap();
            });
        });
    });
    let counts = counting.counts();
    assert_eq!(counts.most_under_way, LIMIT, "{counts:?}");
    assert_eq!(counts.of(Operation::Get), 9 * 40, "{counts:?}");
}

#[test]
fn an_operation_does_not_wait_for_a_waiting_one() {
    let store = limited(memory(&["a", "b"]), 1);
    let mut seen = 0;
    let mut visit = |key: Key, _| {
        // Another thread reads the value, and this thread waits for it.
        thread::scope(|scope| drop(scope.spawn(|| store.get(&key).unwrap().unwrap())));
        seen += 1;
        ControlFlow::Continue(())
    };
    store.list_prefix(&Prefix::root(), &mut visit).unwrap();
    assert_eq!(seen, 2);
    let held = store.lock(&key("a")).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| drop(store.lock(&key("a")).unwrap()));
        thread::sleep(Duration::from_millis(10));
        store.get(&key("a")).unwrap();
        drop(held);
        waiter.join().unwrap();
    });
}

/// A store that sets the number of parallel requests.
#[derive(Clone, Debug)]
struct Remote(Arc<dyn Store>, usize);

impl Wrapper for Remote {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }
}

impl Store for Remote {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.in_flight = NonZeroUsize::new(self.1);
        capabilities
    }
}

#[test]
fn the_limit_is_a_capability() {
    for (worth, expected) in [(64, Some(3)), (2, Some(2)), (0, None)] {
        let store = limited(Arc::new(Remote(memory(&[]), worth)), 3);
        assert_eq!(store.capabilities().in_flight.map(usize::from), expected, "{worth}");
    }
}
