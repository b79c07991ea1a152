//! The memory store.

use zarrox_stores::{Bytes, Condition, MemoryStore, Store, StoreExt};
use zarrox_testkit::store::{key, store_suite};

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(MemoryStore::new()));
}

#[test]
fn clones_share_values_and_locks_and_new_stores_do_not() {
    let store = MemoryStore::new();
    let clone = store.clone();
    store.set(&key("a"), b"1", Condition::Always).unwrap();
    assert_eq!(clone.get(&key("a")).unwrap(), Some(Bytes::from("1")));
    assert_eq!(MemoryStore::new().get(&key("a")).unwrap(), None);

    let held = store.lock(&key("a")).unwrap();
    drop(MemoryStore::new().lock(&key("a")).unwrap());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| clone.lock(&key("a")).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiter.is_finished());
        drop(held);
        waiter.join().unwrap().unwrap();
    });
}

#[test]
fn get_does_not_copy() {
    let store = MemoryStore::new();
    store.set(&key("a"), b"value", Condition::Always).unwrap();
    let (one, two) = (store.get(&key("a")).unwrap().unwrap(), store.get(&key("a")).unwrap().unwrap());
    assert_eq!(one.as_ptr(), two.as_ptr());
}
