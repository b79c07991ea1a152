//! Stores with `sync`: every write that has returned is on the disk.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use zarrox_stores::{Condition, StorageOptions, Store, StoreExt, registry};
use zarrox_testkit::durability::{check, mark, traced_store, write_all};
use zarrox_testkit::store::key;

/// The test that the traced process runs, and the number of its marks.
const CHILD: (&str, usize) = ("durability::child", 5);

fn open(url: &str, sync: &str) -> Arc<dyn Store> {
    registry().open(url, &StorageOptions::new().create(true).with("sync", sync)).unwrap().store
}

#[test]
fn child() {
    let Some((url, sync)) = traced_store() else { return };
    write_all(&*open(&url, &sync));
}

/// The traced process, in directories that another process has created and not flushed.
#[test]
fn child_among_others() {
    let Some((url, sync)) = traced_store() else { return };
    let path = Path::new(url.strip_prefix("file://").unwrap());
    let store = open(&url, &sync);
    for name in ["group/array/0", "group/other/0"] {
        std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        store.set(&key(name), &[1; 100], Condition::Always).unwrap();
        mark(name);
    }
}

#[test]
fn a_directory_has_flushed_what_it_has_returned() {
    check(CHILD, "file://ROOT/above/data.zarr");
}

#[test]
fn a_directory_flushes_the_directories_above_that_others_have_made() {
    check(("durability::child_among_others", 2), "file://ROOT/above/data.zarr");
}

#[test]
#[cfg(feature = "zip")]
fn an_archive_has_flushed_what_it_has_finished() {
    check(CHILD, "zip::ROOT/above/data.zip");
}
