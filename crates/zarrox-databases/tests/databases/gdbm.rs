//! The GDBM store: the suite, Python's files, and features of GDBM.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;
use zarrox_databases::{GdbmOptions, GdbmStore};
use zarrox_stores::{Condition, Store, StoreError, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list, store_suite};

use super::damage::check_damaged;
use super::golden::{check_golden, golden};
use super::handles::check_two_handles;
use zarrox_testkit::other_process;
use zarrox_testkit::processes::{check_turns, is_child, take_turns};

const CHILD: &str = "ZARROX_TEST_GDBM";

fn temporary() -> (TempDir, PathBuf, GdbmStore) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.gdbm");
    let store = GdbmOptions::new().sync(false).create(&path).unwrap();
    store.set(&key("a/b"), b"value", Condition::Always).unwrap();
    (directory, path, store)
}

#[test]
fn passes_the_suite() {
    let kept = Mutex::new(Vec::new());
    store_suite(|| {
        let (directory, _path, store) = temporary();
        store.erase(&key("a/b")).unwrap();
        kept.lock().unwrap().push(directory);
        Box::new(store)
    });
}

#[test]
fn values_outlive_the_handles() {
    let (_directory, path, store) = temporary();
    drop(store);
    let store = GdbmStore::open(&path).unwrap();
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    store.set(&key("c"), b"1", Condition::Always).unwrap();
    drop(store);
    assert_eq!(list(&GdbmStore::open(&path).unwrap(), "").len(), 2);
}

#[test]
fn a_read_only_database_refuses_only_writes() {
    let (_directory, path, store) = temporary();
    drop(store);
    let store = GdbmOptions::new().read_only(true).open(&path).unwrap();
    store_suite(|| Box::new(store.clone()));
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    let error = GdbmStore::open(&path).unwrap_err();
    assert!(error.to_string().contains("open read-only"), "{error}");
}

#[test]
fn files_of_zarr_python_are_read_and_changed() {
    let (_directory, path) = golden("gdbm");
    check_golden(&GdbmStore::open(&path).unwrap());
}

#[test]
fn another_or_a_damaged_file_is_an_error() {
    let (directory, path) = golden("gdbm");
    let open = |path: &Path| GdbmStore::open(path).map(|store| Box::new(store) as Box<dyn Store>);
    check_damaged(&open, &fs::read(path).unwrap());
    let missing = GdbmStore::open(directory.path().join("none.gdbm")).unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::NotFound, "{missing}");
    assert_eq!(GdbmStore::open(directory.path()).unwrap_err().kind(), StoreErrorKind::Obstructed);
}

#[test]
fn two_handles_are_one_storage() {
    let (_directory, path, store) = temporary();
    check_two_handles(&store, &GdbmStore::open(path).unwrap());
}

#[test]
fn another_process_gets_an_error_that_the_file_is_locked() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let (_directory, path, _store) = temporary();
    other_process::finish(other_process::start("databases::gdbm::the_other_process", CHILD, &path));
}

/// The other process of the test above.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let error = GdbmStore::open(path).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("another process"), "{error}");
}

#[test]
fn processes_count_in_turns() {
    if is_child() {
        return;
    }
    let (_directory, path, store) = temporary();
    drop(store);
    check_turns("databases::gdbm::processes_count_in_turns_child", &path, &open_any);
}

/// Another process of the test above.
#[test]
fn processes_count_in_turns_child() {
    take_turns(&open_any);
}

fn open_any(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(GdbmStore::open(path)?))
}
