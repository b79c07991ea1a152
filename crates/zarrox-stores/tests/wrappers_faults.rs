//! No wrapper hides an error of the store that it wraps.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use zarrox_stores::{
    CountingStore, LimitStore, LruCacheStore, Prefix, PrefixStore, RetryOptions, RetryStore, TracedStore,
};
use zarrox_testkit::faults::faults_suite;

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
