//! The memory cache.

use std::sync::Arc;

use zarrox_stores::{ByteRange, Condition, CountingStore, LruCacheStore, Operation, Prefix, Store, StoreExt};
use zarrox_testkit::store::{key, prefix, store_suite};

use super::{get, memory, never_keeps_what_was_replaced, put, reads_what_was_written};

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(LruCacheStore::new(memory(), 1 << 20)));
    store_suite(|| Box::new(LruCacheStore::new(Arc::new(CountingStore::new(memory())), 100 << 20)));
}

#[test]
fn nothing_is_stale() {
    never_keeps_what_was_replaced(|store| Box::new(LruCacheStore::new(store, 1 << 20)));
    reads_what_was_written(&LruCacheStore::new(memory(), 1 << 20));
}

#[test]
fn cached_values_are_not_read_again_until_invalidated() {
    let counting = CountingStore::new(memory());
    put(&counting, "a/v", b"0123456789");
    let store = LruCacheStore::new(Arc::new(counting.clone()), 1 << 20);
    store.get(&key("a/v")).unwrap();
    store.list_dir(&prefix("a/")).unwrap();
    counting.take();
    assert_eq!(get(&store, "a/v").unwrap(), "0123456789");
    let part = ByteRange::From { offset: 8, length: None };
    assert_eq!(store.get_ranges(&key("a/v"), &[part]).unwrap().unwrap(), ["89"]);
    let value = store.open_with(&key("a/v"), Some(part)).unwrap().unwrap();
    assert!(value.as_bytes().is_some() && value.version().is_some());
    assert_eq!(store.size(&key("a/v")).unwrap(), Some(10));
    store.get_many(&[key("a/v")], &|_, answer| assert_eq!(answer.unwrap().unwrap(), "0123456789"));
    assert_eq!(store.list_dir(&prefix("a/")).unwrap().keys.len(), 1);
    assert_eq!(counting.counts().total(), 0, "{:?}", counting.counts());
    let statistics = store.statistics();
    assert_eq!((statistics.hits, statistics.misses), (6, 2));

    // Another writer changes the store.
    put(&counting, "a/v", b"new");
    put(&counting, "a/w", b"new");
    assert_eq!(get(&store, "a/v").unwrap(), "0123456789");
    store.invalidate_values();
    assert_eq!(get(&store, "a/v").unwrap(), "new");
    assert_eq!(store.list_dir(&prefix("a/")).unwrap().keys.len(), 1);
    store.invalidate_keys();
    assert_eq!(store.list_dir(&prefix("a/")).unwrap().keys.len(), 2);
    put(&counting, "a/v", b"newer");
    store.invalidate();
    assert_eq!(get(&store, "a/v").unwrap(), "newer");
    assert_eq!(store.statistics().misses, 5);
}

#[test]
fn large_values_are_kept_only_when_they_are_read_as_a_whole() {
    let counting = CountingStore::new(memory());
    put(&counting, "large", &[7; 1000]);
    let store = LruCacheStore::new(Arc::new(counting.clone()), 1 << 20).small(999);
    let read = |offset, length| store.open(&key("large")).unwrap().unwrap().read(offset, length).unwrap();
    for _ in 0..2 {
        counting.take();
        read(0, 10);
        store.get_ranges(&key("large"), &[ByteRange::Suffix { length: 10 }]).unwrap().unwrap();
        assert_eq!(counting.counts().bytes_read, 20);
    }
    read(0, 1000);
    counting.take();
    read(0, 10);
    assert_eq!(counting.counts().total(), 0);

    // Values for which there is no space are never cached.
    let store = LruCacheStore::new(Arc::new(counting), 1000);
    assert_eq!(get(&store, "large").unwrap().len(), 1000);
    assert_eq!(store.statistics().bytes, 0);
}

#[test]
fn the_memory_is_bounded_and_recently_used_values_stay() {
    const LIMIT: u64 = 100_000;
    let counting = CountingStore::new(memory());
    let store = LruCacheStore::new(Arc::new(counting.clone()), LIMIT);
    for index in 0..1_000_usize {
        put(&store, &format!("v/{index}"), &vec![7; index % 3_000]);
        put(&store, &format!("d/{index}/x"), b"");
    }
    for index in 0..1_000 {
        get(&store, &format!("v/{index}")).unwrap();
        get(&store, "v/999").unwrap();
        store.list_dir(&prefix(&format!("d/{index}/"))).unwrap();
        store.list_dir(&prefix("d/")).unwrap();
        assert!(store.statistics().bytes <= LIMIT, "{:?}", store.statistics());
    }
    assert!(store.statistics().bytes > LIMIT / 2, "{:?}", store.statistics());
    counting.take();
    get(&store, "v/999").unwrap();
    assert_eq!(counting.counts().total(), 0);
}

#[test]
fn a_writer_that_lost_reads_the_new_value() {
    let inner = memory();
    put(&*inner, "v", b"1");
    let store = LruCacheStore::new(Arc::clone(&inner), 1 << 20);
    let version = |store: &dyn Store| store.open(&key("v")).unwrap().unwrap().version().unwrap();
    // Values that are read in a batch have no versions.
    store.get_many(&[key("v")], &|_, answer| drop(answer.unwrap()));
    let old = version(&store);
    put(&*inner, "v", b"2");
    store.set(&key("v"), b"3", Condition::Matches(&old)).unwrap_err();
    store.set(&key("v"), b"3", Condition::Matches(&version(&store))).unwrap();
    assert_eq!(get(&*inner, "v").unwrap(), "3");
}

#[test]
fn missing_keys_are_asked_for_again() {
    let inner = CountingStore::new(memory());
    let store = LruCacheStore::new(Arc::new(inner.clone()), 1 << 20);
    assert_eq!(get(&store, "v"), None);
    put(&inner, "v", b"1");
    assert_eq!(get(&store, "v").unwrap(), "1");
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(get(&store, "v"), None);
    assert_eq!(inner.counts().of(Operation::ErasePrefix), 1);
}
