//! Arrays that are read and written in parts: the store counts the requests for each chunk.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use ndarray::ArrayD;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarrox::internals::Parts;
use zarrox::stores::{CountingStore, MemoryStore, Operation};
use zarrox::{AccessOptions, Array, DataType, DimSelection, DynArray, OpenOptions};

fn counted(chunks: [u64; 2]) -> (CountingStore, Array) {
    let store = CountingStore::new(Arc::new(MemoryStore::new()));
    let builder = OpenOptions::new().create_array((Arc::new(store.clone()), ""));
    let array = builder.shape([60, 44]).data_type(DataType::Int32).chunks(chunks).create().unwrap();
    store.take();
    (store, array)
}

fn place(part: Vec<Range<u64>>) -> Vec<DimSelection> {
    part.into_iter().map(DimSelection::from).collect()
}

fn write(array: &Array, parts: Parts) {
    for part in parts {
        let lengths: Vec<usize> = part.iter().map(|r| usize::try_from(r.end - r.start).unwrap()).collect();
        let bytes = vec![7; lengths.iter().product::<usize>() * 4];
        let values = DynArray::new(DataType::Int32, lengths, bytes).unwrap();
        array.write(place(part), &values).unwrap();
    }
}

#[test]
fn each_chunk_is_written_and_read_once_in_parts_of_whole_chunks() {
    for most in [1, 80, 500, 10_000] {
        let (store, array) = counted([8, 10]);
        write(&array, array.slice(..).parts(most, zarrox::Order::RowMajor).unwrap());
        assert_eq!(store.take().of(Operation::Set), 8 * 5, "{most}");
        for part in array.slice(..).parts(most, zarrox::Order::ColumnMajor).unwrap() {
            array.read::<DynArray>(place(part)).unwrap();
        }
        assert_eq!(store.take().values(), 8 * 5, "{most}");
    }
}

#[test]
fn parts_in_order_report_how_often_a_chunk_is_read() {
    for (most, times) in [(10_000, 1), (8 * 44, 1), (2 * 44, 4), (44, 8)] {
        let (store, array) = counted([8, 10]);
        let parts = array.slice(..56).parts_in_order(most, zarrox::Order::RowMajor).unwrap();
        assert_eq!((parts.times(), parts.whole_rows()), (times, 8 * 44));
        write(&array, parts);
        assert_eq!(store.take().of(Operation::Set), 7 * 5 * times, "{most}");
    }
}

#[test]
fn the_chunk_listener_is_called_for_every_chunk() {
    let (_, array) = counted([8, 10]);
    let (chunks, elements) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let heard = (chunks.clone(), elements.clone());
    let array = array.with_options(&AccessOptions::new().on_chunk(move |count| {
        heard.0.fetch_add(1, Ordering::Relaxed);
        heard.1.fetch_add(count, Ordering::Relaxed);
    }));
    array.write(.., 3).unwrap();
    array.read::<ArrayD<i32>>((.., ..22)).unwrap();
    assert_eq!(chunks.load(Ordering::Relaxed), 40 + 24);
    assert_eq!(elements.load(Ordering::Relaxed), 60 * 44 + 60 * 22);
}
