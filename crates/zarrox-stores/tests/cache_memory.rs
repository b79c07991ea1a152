//! The memory of caches.

#![cfg(unix)]

use std::sync::Arc;

use zarrox_stores::{Condition, DirectoryStore, DiskCacheOptions, LruCacheStore, Store, StoreExt};
use zarrox_testkit::allocator::{Counting, MEASURING, taken};
use zarrox_testkit::store::key;

#[global_allocator]
static ALLOCATOR: Counting = MEASURING;

/// A single test, since several tests would count each other's memory.
#[test]
fn caches_keep_within_their_limits() {
    let directory = tempfile::tempdir().unwrap();
    let values = Arc::new(DirectoryStore::open(directory.path().join("values")).unwrap());

    for index in 0..500 {
        values.set(&key(&format!("some/{index}")), &[7; 20_000], Condition::Always).unwrap();
        values.set(&key(&format!("tiny/{index}")), b"", Condition::Always).unwrap();
    }
    let cache = LruCacheStore::new(Arc::clone(&values) as _, 1 << 20);
    let (most, held) = taken(|| {
        for index in 0..1_500 {
            cache.get(&key(&format!("some/{}", index % 500))).unwrap().unwrap();
            cache.get(&key(&format!("tiny/{}", index % 500))).unwrap().unwrap();
        }
    });
    assert!(held > 500_000, "nothing is cached: {held} bytes");
    assert!(most < (1 << 20) + 200_000, "{most} bytes for a cache of 1 MiB");
    assert!(cache.statistics().bytes <= 1 << 20);

    values.set(&key("large"), &vec![7; 64 << 20], Condition::Always).unwrap();
    let cache = DiskCacheOptions::new().open(values, directory.path().join("copies")).unwrap();
    let (most, held) = taken(|| {
        let value = cache.open(&key("large")).unwrap().unwrap();
        assert_eq!(value.read((64 << 20) - 1, 1).unwrap(), &[7][..]);
    });
    assert!(most < 10 << 20, "{most} bytes to copy a value block by block");
    assert!(held < 100_000, "{held} bytes are in use afterwards");
}
