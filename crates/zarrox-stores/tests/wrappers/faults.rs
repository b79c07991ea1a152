//! No wrapper hides an error of the store that it wraps.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use zarrox_stores::{
    Capabilities, Condition, CountingStore, Key, LimitStore, LruCacheStore, MemoryStore, Operation, Prefix,
    PrefixStore, RetryOptions, RetryStore, Store, StoreErrorKind, StoreExt, TracedStore, Value, Wrapper,
    provided, wrapped,
};
use zarrox_testkit::faults::{Fault, FaultyStore, faults_suite};
use zarrox_testkit::store::{key, list, prefix as below};

#[test]
fn prefix() {
    faults_suite(|store| Box::new(PrefixStore::new(store, Prefix::root())));
}

#[test]
fn limit() {
    faults_suite(|store| Box::new(LimitStore::new(store, NonZeroUsize::MIN)));
}

#[test]
fn counting() {
    faults_suite(|store| Box::new(CountingStore::new(store)));
}

#[test]
fn traced() {
    faults_suite(|store| Box::new(TracedStore::new(store)));
}

#[test]
fn retry() {
    let mut options = RetryOptions::default();
    (options.first_delay, options.deadline) = (Duration::from_micros(10), Duration::from_millis(1));
    faults_suite(|store| Box::new(RetryStore::with_options(store, options)));
}

#[test]
fn lru_cache() {
    faults_suite(|store| Box::new(LruCacheStore::new(store, 1 << 20)));
    faults_suite(|store| Box::new(LruCacheStore::new(store, 1 << 20).small(0)));
}

#[test]
#[cfg(unix)]
fn disk_cache() {
    use zarrox_stores::DiskCacheOptions;

    let directory = tempfile::tempdir().unwrap();
    faults_suite(|store| Box::new(DiskCacheOptions::new().open(store, directory.path()).unwrap()));
    let validated = DiskCacheOptions::new().validate(true);
    faults_suite(|store| Box::new(validated.clone().open(store, directory.path()).unwrap()));
}

#[test]
fn all_together() {
    faults_suite(|store| {
        let store = Arc::new(LruCacheStore::new(store, 1 << 20));
        let store = Arc::new(LimitStore::new(store, NonZeroUsize::MIN));
        Box::new(TracedStore::new(Arc::new(CountingStore::new(store))))
    });
}

/// A store that renames by copying.
#[derive(Clone, Debug)]
struct Copying(FaultyStore);

impl Wrapper for Copying {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn value(&self, _: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        value
    }
}

impl Store for Copying {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir flush lock);
    provided!(directory rename_prefix stamp hold exchange);

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.rename = false;
        capabilities
    }
}

#[test]
fn a_rename_whose_copying_fails_leaves_no_copies() {
    let set = Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]).nth(2);
    let get = Fault::fail(StoreErrorKind::Corrupt).key("a/3");
    let listing =
        Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::ListPrefix]).key("a/").after_keys(2);
    for fault in [set.clone(), set.when_done(), get, listing.nth(1)] {
        let faulty = FaultyStore::new(Arc::new(MemoryStore::new()));
        let store = Copying(faulty.clone());
        for name in ["a/1", "a/2", "a/3", "other"] {
            store.set(&key(name), name.as_bytes(), Condition::Always).unwrap();
        }
        let before = list(&store, "");
        faulty.inject(fault.clone());
        store.rename_prefix(&below("a/"), &below("b/")).unwrap_err();
        faulty.heal();
        assert_eq!(list(&store, ""), before, "{fault:?}");
        store.rename_prefix(&below("a/"), &below("b/")).unwrap();
        assert_eq!(list(&store, "b/").len(), 3);
    }
}
