//! Stores that fail: each reason keeps its kind up to the caller, nothing that failed is taken for a fill value, and what was
//! complete stays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use ndarray::Array1;
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Operation, Store, StoreErrorKind};
use zarrox::{ErrorKind, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::remote::Remote;

/// Ten chunks in a store that can be made to fail.
fn array(inner: Arc<dyn Store>) -> (FaultyStore, zarrox::Array) {
    let store = FaultyStore::new(inner);
    let builder = OpenOptions::new().create_array_in(Arc::new(store.clone()), "a").data_type(DataType::Int32);
    let array = builder.shape([10]).chunks([1]).create().unwrap();
    array.write(.., &Array1::from_elem(10, 1)).unwrap();
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
            let read = array.read::<i32>(..).unwrap_err();
            let written = array.write(.., &Array1::from_elem(10, 2)).unwrap_err();
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
fn what_was_written_before_a_failure_stays_and_nothing_is_torn() {
    for inner in stores() {
        let (store, array) = array(inner);
        store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]).nth(5));
        let error = array.write(.., &Array1::from_elem(10, 2)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        store.heal();
        let values = array.read::<i32>(..).unwrap();
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
            let error = OpenOptions::new().open_in(Arc::new(store.clone()), "a").unwrap_err();
            assert_ne!(error.kind(), ErrorKind::NotFound, "{error}");
            store.heal();
        }
    }
}
