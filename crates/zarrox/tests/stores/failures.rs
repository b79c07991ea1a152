//! Failing stores: each error keeps its kind up to the caller, no failure is read as a fill value, and complete data remain.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::sync::Arc;

use ndarray::Array1;
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Operation, Prefix, Store, StoreErrorKind};
use zarrox::{Consolidated, ErrorKind, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::remote::Remote;

/// Ten chunks in a store that can be made to fail.
fn array(inner: Arc<dyn Store>) -> (FaultyStore, zarrox::Array) {
    let store = FaultyStore::new(inner);
    let builder = OpenOptions::new().create_array((Arc::new(store.clone()), "a")).data_type(DataType::Int32);
    let array = builder.shape([10]).chunks([1]).create().unwrap();
    array.write(.., Array1::from_elem(10, 1)).unwrap();
    (store, array)
}

fn stores() -> [Arc<dyn Store>; 2] {
    [Arc::new(MemoryStore::new()), Remote::default().blocking()]
}

#[test]
fn every_reason_keeps_its_kind() {
    let kinds = [
        (StoreErrorKind::Forbidden, ErrorKind::Forbidden),
        (StoreErrorKind::Unreachable, ErrorKind::Unreachable),
        (StoreErrorKind::TimedOut, ErrorKind::TimedOut),
        (StoreErrorKind::Corrupt, ErrorKind::Corrupt),
        (StoreErrorKind::StorageFull, ErrorKind::StorageFull),
    ];
    for inner in stores() {
        let (store, array) = array(inner);
        for (cause, kind) in kinds {
            store.inject(Fault::fail(cause).key("a/c/7"));
            let read = array.read::<ArrayD<i32>>(..).unwrap_err();
            let written = array.write(.., Array1::from_elem(10, 2)).unwrap_err();
            for error in [read, written] {
                assert_eq!(error.kind(), kind, "{error}");
                let text = error.to_string();
                assert!(text.contains("a/c/7") && text.contains("[7]") && text.contains("'/a'"), "{text}");
            }
            store.heal();
        }
    }
}

#[test]
fn chunks_written_before_a_failure_stay_and_none_is_torn() {
    for inner in stores() {
        let (store, array) = array(inner);
        store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]).nth(5));
        let error = array.write(.., Array1::from_elem(10, 2)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        store.heal();
        let values = array.read::<ArrayD<i32>>(..).unwrap();
        assert!(values.iter().all(|value| [1, 2].contains(value)), "{values}");
        assert!(values.iter().filter(|value| **value == 2).count() >= 4, "{values}");
    }
}

#[test]
fn a_node_that_cannot_be_read_is_not_missing() {
    for inner in stores() {
        let (store, _) = array(inner);
        for cause in [StoreErrorKind::Forbidden, StoreErrorKind::TimedOut] {
            store.inject(Fault::fail(cause).key("a/zarr.json"));
            let error = OpenOptions::new().open((Arc::new(store.clone()), "a")).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::NotFound, "{error}");
            store.heal();
        }
    }
}

/// Creates a hierarchy with consolidated metadata that cannot be written any more.
fn consolidated(format: Format, cause: StoreErrorKind) -> (FaultyStore, zarrox::Group) {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let options = OpenOptions::new().format(format);
    let root = options.create_group((Arc::new(store.clone()), "")).unwrap();
    let array = root.create_array("a").shape([2]).data_type(DataType::Int32).create().unwrap();
    array.write(.., 1).unwrap();
    root.consolidate_metadata().unwrap();
    let key = if format == Format::V2 { ".zmetadata" } else { "zarr.json" };
    store.inject(Fault::fail(cause).on(&[Operation::Set]).key(key));
    (store, root)
}

#[test]
fn consolidated_metadata_that_cannot_be_written_is_an_error_of_a_change_that_was_made() {
    type Change = fn(&zarrox::Group) -> zarrox::Result<()>;
    type IsMade = fn(&zarrox::Group) -> bool;
    let array = |root: &zarrox::Group| root.open("a").unwrap().into_array().unwrap();
    let changes: [(Change, IsMade); 5] = [
        (
            |root| root.open("a")?.update_attributes(|all| drop(all.insert("x".to_owned(), 1.into()))),
            |root| root.open("a").unwrap().attributes().contains_key("x"),
        ),
        (
            |root| root.open("a")?.into_array()?.append(ndarray::arr1(&[2]), 0).map(drop),
            |root| root.open("a").unwrap().into_array().unwrap().shape() == [3],
        ),
        (|root| root.create_group("g").map(drop), |root| root.contains("g").unwrap()),
        (|root| root.move_node("a", "b"), |root| root.contains("b").unwrap() && !root.contains("a").unwrap()),
        (|root| root.delete("a"), |root| !root.contains("a").unwrap()),
    ];
    for (format, cause) in [
        (Format::V2, StoreErrorKind::StorageFull),
        (Format::V3, StoreErrorKind::StorageFull),
        (Format::V3, StoreErrorKind::Unreachable),
    ] {
        for (change, is_made) in changes {
            let (store, root) = consolidated(format, cause);
            assert_eq!(array(&root).shape(), [2]);
            let error = change(&root).unwrap_err();
            assert_eq!(Some(error.kind()), error_kind(cause), "{error}");
            let text = error.to_string();
            assert!(text.contains("the change was made") && text.contains("zarrox consolidate"), "{text}");
            store.heal();
            let root = OpenOptions::new().consolidated(Consolidated::Never).open((Arc::new(store), ""));
            let root = root.unwrap().into_group().unwrap();
            assert!(is_made(&root), "{format} {error}");
            root.consolidate_metadata().unwrap();
            assert_eq!(root.check_consolidated().unwrap(), []);
        }
    }
}

fn error_kind(cause: StoreErrorKind) -> Option<ErrorKind> {
    match cause {
        StoreErrorKind::StorageFull => Some(ErrorKind::StorageFull),
        StoreErrorKind::Unreachable => Some(ErrorKind::Unreachable),
        _ => None,
    }
}

#[test]
fn deleting_works_on_a_full_disk() {
    for path in ["a", "g", ""] {
        let store = FaultyStore::new(Arc::new(MemoryStore::new()));
        let root = OpenOptions::new().create_group((Arc::new(store.clone()), "")).unwrap();
        for array in ["a", "g/b"] {
            let array = root.create_array(array).shape([2]).data_type(DataType::Int32).create().unwrap();
            array.write(.., 1).unwrap();
        }
        store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]));
        OpenOptions::new().delete((Arc::new(store.clone()), path)).unwrap();
        let mut left = Vec::new();
        let below = Prefix::new(if path.is_empty() { String::new() } else { format!("{path}/") }).unwrap();
        store
            .list_prefix(&below, &mut |key, _| {
                left.push(key);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(left, [], "{path}");
    }
}
