//! The redb store: the suite, and features of redb.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;
use zarrox_databases::{RedbOptions, RedbStore};
use zarrox_stores::{Condition, Store, StoreError, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list, store_suite};

use super::damage::check_damaged;
use super::handles::check_two_handles;
use zarrox_testkit::other_process;
use zarrox_testkit::processes::{check_turns, is_child, take_turns};

const CHILD: &str = "ZARROX_TEST_REDB";

fn temporary() -> (TempDir, PathBuf, RedbStore) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.redb");
    let store = RedbOptions::new().sync(false).create(&path).unwrap();
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
    let store = RedbStore::open(&path).unwrap();
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    store.set(&key("c"), b"1", Condition::Always).unwrap();
    drop(store);
    assert_eq!(list(&RedbStore::open(&path).unwrap(), "").len(), 2);
}

#[test]
fn a_read_only_database_refuses_only_writes() {
    let (_directory, path, store) = temporary();
    drop(store);
    let store = RedbOptions::new().read_only(true).open(&path).unwrap();
    store_suite(|| Box::new(store.clone()));
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    let error = RedbStore::open(&path).unwrap_err();
    assert!(error.to_string().contains("open read-only"), "{error}");
}

#[test]
fn another_or_a_damaged_file_is_an_error() {
    let (directory, path, store) = temporary();
    for name in ["group/counts/1.0", "c/0", "c/1"] {
        store.set(&key(name), &[7; 3_000], Condition::Always).unwrap();
    }
    drop(store);
    let open = |path: &Path| RedbStore::open(path).map(|store| Box::new(store) as Box<dyn Store>);
    check_damaged(&open, &fs::read(path).unwrap());
    let missing = RedbStore::open(directory.path().join("none.redb")).unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::NotFound, "{missing}");
    assert_eq!(RedbStore::open(directory.path()).unwrap_err().kind(), StoreErrorKind::Obstructed);
}

#[test]
fn two_handles_are_one_storage() {
    let (_directory, path, store) = temporary();
    check_two_handles(&store, &RedbStore::open(path).unwrap());
}

#[test]
fn another_process_gets_an_error_that_the_file_is_locked() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let (_directory, path, _store) = temporary();
    other_process::finish(other_process::start("databases::redb::the_other_process", CHILD, &path));
}

/// The other process of the test above.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let error = RedbStore::open(path).unwrap_err();
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
    check_turns("databases::redb::processes_count_in_turns_child", &path, &open_any);
}

/// Another process of the test above.
#[test]
fn processes_count_in_turns_child() {
    take_turns(&open_any);
}

fn open_any(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(RedbStore::open(path)?))
}
