//! Arrays whose shape changes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ndarray::{Array1, Array2};
use zarrox::stores::{MemoryStore, Operation, Store, StoreErrorKind};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::remote::Remote;

fn array(store: &Arc<dyn Store>, length: u64) -> Array {
    let builder = OpenOptions::new().create_array((store.clone(), "a")).shape([length]).chunks([5]);
    let array = builder.data_type(DataType::Int32).create().unwrap();
    array.write(.., 1).unwrap();
    array
}

fn reopened(store: &Arc<dyn Store>) -> Array {
    OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap()
}

#[test]
fn incident_08_growing_after_shrinking_shows_fill_values() {
    for store in [Arc::new(MemoryStore::new()) as Arc<dyn Store>, Remote::default().blocking()] {
        let mut array = array(&store, 23);
        for (shrunk, grown) in [(12, 23), (0, 40), (7, 8)] {
            array.resize([shrunk]).unwrap();
            array.resize([grown]).unwrap();
            let values = reopened(&store).read::<ArrayD<i32>>(..).unwrap();
            let kept = values.iter().take_while(|value| **value == 1).count();
            assert!(kept as u64 <= shrunk && values.sum() == i32::try_from(kept).unwrap(), "{values}");
            array.write(.., 1).unwrap();
        }
    }
}

/// A shrink that fails at any of its operations leaves no elements that growing would expose.
#[test]
fn incident_08_growing_after_a_shrink_that_failed() {
    let mut failed = 0;
    for operation in [Operation::Set, Operation::Erase, Operation::ListPrefix] {
        for nth in 1..5 {
            let store = FaultyStore::new(Arc::new(MemoryStore::new()));
            let shared: Arc<dyn Store> = Arc::new(store.clone());
            let mut array = array(&shared, 23);
            store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&[operation]).nth(nth));
            let shrunk = array.resize([12]);
            store.heal();
            failed += u32::from(shrunk.is_err());
            let mut array = reopened(&shared);
            let length = usize::try_from(array.shape()[0]).unwrap();
            array.resize([30]).unwrap();
            let values = reopened(&shared).read::<ArrayD<i32>>(..).unwrap();
            let (old, new) = values.view().split_at(ndarray::Axis(0), length);
            assert!(old.iter().all(|value| *value == 1), "{operation:?} {nth}: {values}");
            assert!(new.iter().all(|value| *value == 0), "{operation:?} {nth}: {values}");
        }
    }
    assert!(failed > 3, "{failed}");
}

#[test]
fn incident_09_an_append_that_failed_is_tried_again() {
    let mut failed = 0;
    for operation in [Operation::Set, Operation::Open, Operation::Get] {
        for nth in 1..6 {
            for when_done in [false, true] {
                let store = FaultyStore::new(Arc::new(MemoryStore::new()));
                let shared: Arc<dyn Store> = Arc::new(store.clone());
                let mut array = array(&shared, 8);
                let fault = Fault::fail(StoreErrorKind::Unreachable).on(&[operation]).nth(nth);
                store.inject(if when_done { fault.when_done() } else { fault });
                let values = Array1::from_elem(9, 2);
                let first = array.append(&values, 0);
                store.heal();
                let mut expected = vec![1; 8];
                let after = reopened(&shared).shape()[0];
                if first.is_err() && after == 8 {
                    failed += 1;
                    array.append(&values, 0).unwrap();
                }
                expected.extend([2; 9]);
                let found = reopened(&shared).read::<ArrayD<i32>>(..).unwrap();
                assert_eq!(found.into_raw_vec_and_offset().0, expected, "{operation:?} {nth} {when_done}");
            }
        }
    }
    assert!(failed > 3, "{failed}");
}

/// Rows of an unfinished append are not exposed when the array grows.
#[test]
fn incident_09_growing_after_an_append_that_failed() {
    for nth in 1..6 {
        let store = FaultyStore::new(Arc::new(MemoryStore::new()));
        let shared: Arc<dyn Store> = Arc::new(store.clone());
        let mut array = array(&shared, 8);
        // Clearing fails as well.
        store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::Erase]));
        store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]).nth(nth));
        let appended = array.append(Array1::from_elem(20, 2), 0);
        store.heal();
        let mut array = reopened(&shared);
        let length = array.shape()[0];
        assert!(appended.is_err() == (length == 8), "{nth}");
        array.resize([40]).unwrap();
        let values = array.read::<ArrayD<i32>>(length..).unwrap();
        assert!(values.iter().all(|value| *value == 0), "{nth}: {values}");
    }
}

#[test]
fn incident_10_a_reader_with_the_old_shape() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store.clone(), "a")).shape([40, 3]).chunks([7, 2]);
    let mut array = builder.data_type(DataType::Int32).create().unwrap();
    array.write(.., 1).unwrap();
    let reader = reopened(&store);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Existing elements are read, and erased ones are fill values; no other values are ever read.
                let values = reader.read::<ArrayD<i32>>(..).unwrap();
                assert_eq!(values.shape(), [40, 3]);
                assert!(values.slice(ndarray::s![..20, ..]).iter().all(|value| *value == 1), "{values}");
                assert!(values.iter().all(|value| [0, 1].contains(value)), "{values}");
            }
        });
        for _ in 0..50 {
            array.resize([20, 3]).unwrap();
            array.append(Array2::from_elem((25, 3), 1), 0).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(reader.shape(), [40, 3]);
    assert_eq!(reopened(&store).shape(), [45, 3]);
    assert_eq!(reader.read::<ArrayD<i32>>(s![44, 0]).unwrap_err().kind(), ErrorKind::InvalidSelection);
}
