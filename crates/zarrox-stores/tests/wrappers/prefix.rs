//! The store of a prefix of another store.

use std::sync::Arc;

use zarrox_stores::{Condition, MemoryStore, Prefix, PrefixStore, Store, StoreExt};
use zarrox_testkit::store::{key, list, prefix, store_suite};

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(PrefixStore::new(Arc::new(MemoryStore::new()), prefix("a/b c/"))));
}

#[test]
fn passes_the_suite_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    let store = Arc::new(zarrox_stores::DirectoryStore::open(directory.path()).unwrap());
    store_suite(|| {
        count.set(count.get() + 1);
        Box::new(PrefixStore::new(Arc::clone(&store) as _, prefix(&format!("root/{}/", count.get()))))
    });
}

#[test]
fn contains_only_keys_below_the_prefix() {
    let all = Arc::new(MemoryStore::new());
    for name in ["a/x", "ab/x", "a", "b/a/x"] {
        all.set(&key(name), name.as_bytes(), Condition::Always).unwrap();
    }
    let store = PrefixStore::new(Arc::clone(&all) as _, prefix("a/"));
    assert_eq!(list(&store, ""), [("x".to_owned(), 3)]);
    store.set(&key("y/z"), b"new", Condition::Always).unwrap();
    assert_eq!(all.get(&key("a/y/z")).unwrap().unwrap(), "new");
    store.erase_prefix(&Prefix::root()).unwrap();
    let left = ["a", "ab/x", "b/a/x"].map(|name| (name.to_owned(), name.len() as u64));
    assert_eq!(list(&*all, ""), left);
}

#[test]
fn errors_and_locations_name_the_whole_place() {
    let all = Arc::new(MemoryStore::new());
    let whole = PrefixStore::new(Arc::clone(&all) as _, Prefix::root());
    assert_eq!(whole.location(), all.location());
    let store = PrefixStore::new(Arc::clone(&all) as _, prefix("a/"));
    let store = PrefixStore::new(Arc::new(store), prefix("b/"));
    assert_eq!(store.location(), format!("{}/a/b", all.location()));
    store.set(&key("c"), b"1", Condition::Absent).unwrap();
    let error = store.set(&key("c"), b"2", Condition::Absent).unwrap_err();
    assert_eq!(error.key(), Some("c"));
    assert!(error.to_string().contains(&format!("'{}/a/b/c'", all.location())), "{error}");
}

#[test]
fn locks_exclude_users_without_the_prefix() {
    let all = Arc::new(MemoryStore::new());
    let store = PrefixStore::new(Arc::clone(&all) as _, prefix("a/"));
    let held = all.lock(&key("a/b")).unwrap();
    drop(store.lock(&key("a/b")).unwrap());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| store.lock(&key("b")).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiter.is_finished());
        drop(held);
        waiter.join().unwrap().unwrap();
    });
}
