//! Databases with `sync`: every write that has returned is on the disk.

#![cfg(target_os = "linux")]

use zarrox_databases::registry;
use zarrox_stores::StorageOptions;
use zarrox_testkit::durability::{check, traced_store, write_all};

/// The test that the traced process runs, and the number of its marks.
const CHILD: (&str, usize) = ("durability::child", 5);

#[test]
fn child() {
    let Some((url, sync)) = traced_store() else { return };
    let options = StorageOptions::new().create(true).with("sync", sync);
    write_all(&*registry().open(&url, &options).unwrap().store);
}

#[test]
#[cfg(feature = "sqlite")]
fn sqlite_has_flushed_what_it_has_returned() {
    check(CHILD, "sqlite://ROOT/above/data.sqlite");
}

#[test]
#[cfg(feature = "lmdb")]
fn lmdb_has_flushed_what_it_has_returned() {
    check(CHILD, "lmdb://ROOT/above/data.lmdb");
}

#[test]
#[cfg(feature = "redb")]
fn redb_has_flushed_what_it_has_returned() {
    check(CHILD, "redb://ROOT/above/data.redb");
}

#[test]
#[cfg(feature = "gdbm")]
fn gdbm_has_flushed_what_it_has_returned() {
    check(CHILD, "gdbm://ROOT/above/data.gdbm");
}
