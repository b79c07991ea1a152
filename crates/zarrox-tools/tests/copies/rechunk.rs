//! Arrays that are copied to arrays with other chunks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use ndarray::{ArrayD, IxDyn};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, Interrupt, MissingChunks, OpenOptions};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::Rechunk;

fn create(path: impl AsRef<Path>, shape: &[u64], chunks: &[u64]) -> Array {
    let array =
        zarrox::create_array(path.as_ref()).shape(shape).data_type(DataType::Int32).chunks(chunks.to_vec());
    array.fill_value(-1).create().unwrap()
}

/// Returns an array in which each element is its own index.
fn numbered(shape: &[u64]) -> ArrayD<i32> {
    let shape: Vec<usize> = shape.iter().map(|&length| usize::try_from(length).unwrap()).collect();
    let count = i32::try_from(shape.iter().product::<usize>()).unwrap();
    ArrayD::from_shape_vec(IxDyn(&shape), (0..count).collect()).unwrap()
}

/// A shape, the chunk shapes of the source and the target, and the memory limit.
type Case = (&'static [u64], &'static [u64], &'static [u64], usize);

#[test]
fn elements_are_the_same_in_whatever_chunks() {
    let cases: [Case; 11] = [
        (&[], &[], &[], 0),
        (&[0, 5], &[1, 5], &[1, 1], 1 << 20),
        (&[1000], &[7], &[100], 200),
        (&[30, 20], &[1, 20], &[30, 1], 0),
        (&[30, 20], &[1, 20], &[30, 1], 1 << 30),
        (&[256, 192], &[1, 192], &[256, 1], 100_000),
        (&[251, 191], &[3, 191], &[251, 5], 100_000),
        (&[12, 30, 50], &[1, 30, 50], &[12, 4, 7], 20_000),
        (&[700, 800], &[100, 100], &[100, 100], 1 << 30),
        (&[701, 799], &[50, 25], &[100, 400], 1 << 30),
        (&[701, 799], &[50, 25], &[100, 400], 100_000),
    ];
    for (shape, from, to, memory) in cases {
        for is_direct in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let place = |name: &str| directory.path().join(name);
            let (source, target) = (create(place("a"), shape, from), create(place("b"), shape, to));
            source.write(.., numbered(shape)).unwrap();
            let rechunk = Rechunk::new().memory(memory);
            let rechunk = if is_direct { rechunk } else { rechunk.scratch(place("between")) };
            rechunk.run(&source, &target).unwrap();
            let found = target.read::<ArrayD<i32>>(..).unwrap();
            assert_eq!(found, numbered(shape), "{shape:?} from {from:?} to {to:?} in {memory}");
            assert!(!place("between").exists());
        }
    }
}

/// Returns a source of 1 MiB whose chunks are rows, with every second chunk stored, and a target
/// whose chunks are columns.
fn rows_and_columns(directory: &Path) -> (Array, Array) {
    let (source, target) = (
        create(directory.join("rows"), &[512, 512], &[1, 512]),
        create(directory.join("columns"), &[512, 512], &[512, 1]),
    );
    source.write(s![0..;2, ..256], numbered(&[256, 256])).unwrap();
    (source, target)
}

#[test]
fn there_is_an_array_on_the_way_where_chunks_would_be_read_many_times() {
    let directory = tempfile::tempdir().unwrap();
    let (source, target) = rows_and_columns(directory.path());
    let taken = directory.path().join("taken");
    std::fs::write(&taken, "foreign").unwrap();
    let tight = Rechunk::new().memory(512 << 10).scratch(&taken);
    assert_error(tight.run(&source, &target), ErrorKind::InvalidArgument, "is not a directory");
    assert_eq!(std::fs::read(&taken).unwrap(), b"foreign");
    Rechunk::new().scratch(&taken).run(&source, &target).unwrap();
    assert_eq!(target.read::<ArrayD<i32>>(..).unwrap(), source.read::<ArrayD<i32>>(..).unwrap());
    let stored = target.info().unwrap().chunks_stored;
    assert_eq!(stored, 256, "columns of nothing but the fill value");
}

#[test]
fn a_raised_interrupt_cancels_the_copy() {
    let directory = tempfile::tempdir().unwrap();
    let (rows, columns) = rows_and_columns(directory.path());
    let interrupt = Interrupt::new();
    interrupt.raise();
    let cancelled = Rechunk::new().interrupt(&interrupt).run(&rows, &columns);
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Interrupted);
    Rechunk::new().run(&rows, &columns).unwrap();
}

#[test]
fn what_is_on_the_way_is_deleted_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let (source, target) = rows_and_columns(directory.path());
    let complete = OpenOptions::new().missing_chunks(MissingChunks::Error);
    let strict = complete.open(directory.path().join("rows")).unwrap().into_array().unwrap();
    let between = directory.path().join("between");
    let rechunk = Rechunk::new().memory(512 << 10).scratch(&between);
    assert_eq!(rechunk.run(&strict, &target).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!between.exists());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let told = rechunk.on_progress(move |progress| {
        listener.lock().unwrap().push(progress);
        Ok(())
    });
    told.run(&source, &target).unwrap();
    assert!(!between.exists());
    let seen = seen.lock().unwrap();
    let (bytes, last) = (source.shape().iter().product::<u64>() * 4, seen[seen.len() - 1]);
    assert_eq!((last.done, last.total), (2 * bytes, 2 * bytes), "all elements are copied twice");
    assert!(seen.is_sorted_by_key(|progress| progress.done) && seen.len() > 2);
    assert_eq!(target.read::<ArrayD<i32>>(..).unwrap(), source.read::<ArrayD<i32>>(..).unwrap());
}

#[test]
fn shards_and_elements_of_variable_length_are_copied() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let source = create(place("numbers"), &[100, 100], &[10, 100]);
    source.write(.., numbered(&[100, 100])).unwrap();
    let shards = zarrox::create_array(place("shards")).shape([100, 100]).data_type(DataType::Int32);
    let shards = shards.chunks([10, 10]).shards([50, 50]).create().unwrap();
    Rechunk::new().run(&source, &shards).unwrap();
    assert_eq!(shards.read::<ArrayD<i32>>(..).unwrap(), numbered(&[100, 100]));
    let again = create(place("again"), &[100, 100], &[100, 1]);
    Rechunk::new().memory(20_000).scratch(place("between")).run(&shards, &again).unwrap();
    assert_eq!(again.read::<ArrayD<i32>>(..).unwrap(), numbered(&[100, 100]));

    let text = DataType::string();
    let texts = |name: &str, chunks: [u64; 2]| {
        zarrox::create_array(place(name))
            .shape([20, 20])
            .data_type(text.clone())
            .chunks(chunks)
            .create()
            .unwrap()
    };
    let (rows, columns) = (texts("texts", [1, 20]), texts("columns", [20, 1]));
    let words = ArrayD::from_shape_fn(IxDyn(&[20, 20]), |at| "z".repeat(at[0] * at[1]));
    rows.write(.., DynArray::from_values(text, &words).unwrap()).unwrap();
    Rechunk::new().scratch(place("between")).run(&rows, &columns).unwrap();
    assert_eq!(columns.read::<DynArray>(..).unwrap().to::<ArrayD<String>>().unwrap(), words);
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let source = create(place("a"), &[10, 10], &[5, 5]);
    let other = create(place("b"), &[10, 11], &[5, 5]);
    let error = Rechunk::new().run(&source, &other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.to_string(), "an array of shape [10, 11] cannot hold elements of shape [10, 10]");
    let floats =
        zarrox::create_array(place("c")).shape([10, 10]).data_type(DataType::Float32).create().unwrap();
    assert_eq!(Rechunk::new().run(&source, &floats).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
}

#[test]
fn parts_of_a_plan_can_be_copied_by_anybody() {
    let at = tempfile::tempdir().unwrap();
    let values = numbered(&[300, 400]);
    let rows = create(at.path().join("rows"), &[300, 400], &[1, 400]);
    let columns = create(at.path().join("columns"), &[300, 400], &[300, 1]);
    rows.write(.., &values).unwrap();

    let rechunk = Rechunk::new().memory(200_000).scratch("anywhere");
    let plan = rechunk.plan(&rows, &columns).unwrap();
    let (chunks, before) = plan.between.unwrap();
    let between = create(at.path().join("between"), &[300, 400], &chunks);
    for index in (0..before.count).rev() {
        rechunk.copy_boxes(&rows, &between, &before.lengths, index..index + 1).unwrap();
    }
    rechunk.copy_boxes(&between, &columns, &plan.boxes.lengths, 0..plan.boxes.count).unwrap();
    assert_eq!(columns.read::<ArrayD<i32>>(..).unwrap(), values);

    assert!(Rechunk::new().plan(&rows, &columns).unwrap().between.is_none());
    for (lengths, end) in [(&[0, 1][..], 1), (&[300][..], 1), (&[300, 400][..], 2)] {
        let refused = rechunk.copy_boxes(&rows, &columns, lengths, 0..end);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
