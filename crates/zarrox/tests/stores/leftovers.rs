//! Chunks outside the shape, which must never be exposed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::sync::Arc;

use ndarray::Array2;
use zarrox::ErrorKind;
use zarrox::stores::{Condition, Key, MemoryStore, Prefix, Store, StoreExt};
use zarrox::{Format, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::remote::Remote;

fn stores() -> [Arc<dyn Store>; 2] {
    [Arc::new(MemoryStore::new()), Remote::default().blocking()]
}

fn create(store: &Arc<dyn Store>, format: Format, shape: [u64; 2]) -> zarrox::Array {
    let options = OpenOptions::new().format(format);
    let array = options.create_array((store.clone(), "")).shape(shape).chunks([4, 4]);
    array.data_type(DataType::Int32).create().unwrap()
}

/// Creates an array of this shape whose chunks contain only ones, also beyond the shape, as after a shrink that
/// was killed.
fn with_leftovers(
    store: &Arc<dyn Store>,
    format: Format,
    shape: [u64; 2],
    stored: [u64; 2],
) -> zarrox::Array {
    let mut large = create(store, format, stored);
    large.write(.., Array2::<i32>::ones([0, 1].map(|dim| usize::try_from(stored[dim]).unwrap()))).unwrap();
    let mut values = Vec::new();
    let mut keys = Vec::new();
    store
        .list_prefix(&Prefix::root(), &mut |key, _| {
            keys.push(key);
            ControlFlow::Continue(())
        })
        .unwrap();
    for key in keys {
        let value = store.get(&key).unwrap().unwrap();
        values.push((key, value));
    }
    large.resize(shape).unwrap();
    let is_document =
        |name: &str| name.starts_with('.') || name.ends_with(".json") || matches!(name, "meta" | "attrs");
    let is_chunk = |key: &Key| !is_document(key.name());
    for (key, value) in values.iter().filter(|(key, _)| is_chunk(key)) {
        store.set(key, value, Condition::Always).unwrap();
    }
    OpenOptions::new().mode(OpenMode::ReadWrite).open((store.clone(), "")).unwrap().into_array().unwrap()
}

/// Returns the number of ones, and of fill values.
fn ones_and_fills(array: &zarrox::Array) -> (usize, usize) {
    let values = array.read::<ArrayD<i32>>(..).unwrap();
    let count = |wanted| values.iter().filter(|value| **value == wanted).count();
    (count(1), count(0))
}

#[test]
fn growing_shows_fill_values() {
    for format in Format::all() {
        for store in stores() {
            let mut array = with_leftovers(&store, format, [6, 5], [16, 16]);
            assert_eq!(ones_and_fills(&array), (30, 0), "{format}");
            array.resize([16, 5]).unwrap();
            assert_eq!(ones_and_fills(&array), (30, 50), "{format}");
            array.resize([16, 20]).unwrap();
            assert_eq!(ones_and_fills(&array), (30, 290), "{format}");
        }
    }
}

/// Many chunks are found in a listing, without a request for each possible chunk.
#[test]
fn growing_far_shows_fill_values() {
    for store in stores() {
        let mut array = with_leftovers(&store, Format::V3, [3, 4], [9, 9]);
        array.resize([4000, 4000]).unwrap();
        let corner = array.read::<ArrayD<i32>>(s![..12, ..12]).unwrap();
        let ones = corner.iter().filter(|value| **value == 1).count();
        assert_eq!((ones, corner.iter().filter(|value| **value == 0).count()), (12, 132));
    }
}

/// A chunk that cannot be read does not prevent growing, and is not overwritten.
#[test]
fn growing_beside_a_damaged_chunk() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut array = with_leftovers(&store, Format::V3, [6, 4], [8, 4]);
    let damaged = Key::new(array.raw().key(&[1, 0]).unwrap()).unwrap();
    store.set(&damaged, b"nonsense", Condition::Always).unwrap();
    array.resize([12, 4]).unwrap();
    assert_eq!(store.get(&damaged).unwrap().unwrap(), "nonsense");
    assert_error(array.read::<ArrayD<i32>>(..), ErrorKind::Corrupt, "chunk [1, 0]");
    assert_eq!(array.read::<ArrayD<i32>>(s![8.., ..]).unwrap(), Array2::<i32>::zeros((4, 4)).into_dyn());
}

#[test]
fn leftovers_of_an_append_are_cleared_by_growing() {
    for store in stores() {
        let mut array = with_leftovers(&store, Format::V2, [6, 4], [16, 4]);
        array.append(Array2::<i32>::from_elem((3, 4), 2), 0).unwrap();
        array.resize([16, 4]).unwrap();
        let values = array.read::<ArrayD<i32>>(..).unwrap();
        let count = |wanted| values.iter().filter(|value| **value == wanted).count();
        assert_eq!([1, 2, 0].map(count), [24, 12, 28]);
    }
}
