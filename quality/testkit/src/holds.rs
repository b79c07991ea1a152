//! The part of the suite of stores about whole nodes: holds, stamps and exchanges.

#![expect(clippy::unwrap_used, reason = "a suite fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use zarrox_stores::{Condition, Hold, Key, Prefix, Stamp, Store, StoreErrorKind, StoreExt};

/// Checks that a writable store has holds, detects replaced values, and exchanges prefixes in one step or not at all.
pub(crate) fn whole_nodes(make: &dyn Fn() -> Box<dyn Store>) {
    a_hold_alone_excludes_others(&*make());
    stamps_tell_values_apart(&*make());
    exchanges(&*make());
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&Key::new(name).unwrap(), value, Condition::Always).unwrap();
}

fn get(store: &dyn Store, name: &str) -> Option<Vec<u8>> {
    store.get(&Key::new(name).unwrap()).unwrap().map(|bytes| bytes.to_vec())
}

fn a_hold_alone_excludes_others(store: &dyn Store) {
    put(store, "a/b", b"1");
    let prefix = Prefix::new("a/").unwrap();
    let (first, second) =
        (store.hold(&prefix, Hold::Shared).unwrap(), store.hold(&prefix, Hold::Shared).unwrap());
    let is_alone = AtomicBool::new(false);
    thread::scope(|scope| {
        let alone = scope.spawn(|| {
            let held = store.hold(&prefix, Hold::Exclusive).unwrap();
            is_alone.store(true, Ordering::SeqCst);
            put(store, "a/b", b"2");
            drop(held);
        });
        drop(first);
        // Other prefixes are free, and a hold does not block writes.
        drop(store.hold(&Prefix::new("b/").unwrap(), Hold::Exclusive).unwrap());
        put(store, "a/c", b"3");
        assert!(!is_alone.load(Ordering::SeqCst));
        drop(second);
        alone.join().unwrap();
    });
    drop(store.hold(&prefix, Hold::Shared).unwrap());
    assert_eq!(get(store, "a/b").unwrap(), b"2");
}

fn stamps_tell_values_apart(store: &dyn Store) {
    let key = Key::new("a/b").unwrap();
    let missing = store.stamp(&key).unwrap();
    if missing == Stamp::Unknown {
        return;
    }
    assert_eq!(missing, Stamp::Missing);
    put(store, "a/b", b"1");
    let first = store.stamp(&key).unwrap();
    put(store, "a/b", b"2");
    let second = store.stamp(&key).unwrap();
    assert!(first != second || matches!(second, Stamp::Recent(_)), "{first:?}");
    store.erase(&key).unwrap();
    assert_eq!(store.stamp(&key).unwrap(), Stamp::Missing);
}

fn exchanges(store: &dyn Store) {
    put(store, "a/b", b"1");
    put(store, "a/c/d", b"2");
    put(store, "x/y/b", b"3");
    let (one, other) = (Prefix::new("a/").unwrap(), Prefix::new("x/y/").unwrap());
    match store.exchange(&one, &other) {
        Err(error) if error.kind() == StoreErrorKind::Unsupported => {
            assert_eq!(get(store, "a/b").unwrap(), b"1");
            return;
        }
        done => done.unwrap(),
    }
    let now = ["a/b", "a/c/d", "x/y/b", "x/y/c/d"].map(|name| get(store, name));
    assert_eq!(now, [Some(b"3".to_vec()), None, Some(b"1".to_vec()), Some(b"2".to_vec())]);
    let kind = |one: &str, other: &str| {
        store.exchange(&Prefix::new(one).unwrap(), &Prefix::new(other).unwrap()).unwrap_err().kind()
    };
    assert_eq!(kind("a/", "missing/"), StoreErrorKind::NotFound);
    assert_eq!(kind("missing/", "a/"), StoreErrorKind::NotFound);
    assert_eq!(kind("x/", "x/y/"), StoreErrorKind::InvalidKey);
}
