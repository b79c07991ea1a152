//! Iteration over rows and chunks: the same values as plain reads, each chunk decoded once, in bounded memory.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ndarray::{ArrayD, Axis, IxDyn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use zarrox::codec::{BytesToBytes, Codec, CodecDef, CodecError, CodecKind, Size};
use zarrox::json::{Json, Map};
use zarrox::stores::{Call, MemoryStore, Operation, Store, StoreError, Wrapper, provided, wrapped};
use zarrox::{AccessOptions, ArrayView, CodecSpec, DimSelection, ErrorKind, OpenOptions};
use zarrox::{Array, prelude::*, s};
use zarrox_testkit::errors::assert_error;

/// The number of times that each object was opened.
type Opened = Arc<Mutex<HashMap<String, u64>>>;

/// A store that counts.
#[derive(Clone, Debug)]
struct Counting(Arc<MemoryStore>, Opened);

impl Wrapper for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if call.operation() == Operation::Open {
            *self.1.lock().unwrap().entry(call.key().to_owned()).or_default() += 1;
        }
        run()
    }
}

impl Store for Counting {
    // All other operations open values.
    wrapped!(location capabilities open_with put);
    wrapped!(erase_if erase_prefix list_prefix list_dir lock);
    provided!(directory get get_ranges get_many size contains rename_prefix flush stamp hold exchange);
}

fn counting() -> (Arc<dyn Store>, Opened) {
    let opened = Opened::default();
    (Arc::new(Counting(Arc::default(), opened.clone())), opened)
}

/// Returns the largest number of times that an object was opened since the last call, without documents.
fn most_opened(opened: &Opened) -> u64 {
    let taken = std::mem::take(&mut *opened.lock().unwrap());
    taken
        .into_iter()
        .filter(|(key, _)| !key.ends_with("zarr.json"))
        .map(|(_, times)| times)
        .max()
        .unwrap_or(0)
}

/// Returns an array whose elements are their row-major positions.
fn numbered(shape: &[usize]) -> ArrayD<i32> {
    let count: usize = shape.iter().product();
    let count = i32::try_from(count).unwrap();
    ArrayD::from_shape_vec(IxDyn(shape), (0..count).collect()).unwrap()
}

fn lengths(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&n| n as u64).collect()
}

fn stored(shape: &[usize], chunks: &[usize], shards: Option<&[usize]>) -> (Array, Opened) {
    let (store, opened) = counting();
    let array =
        OpenOptions::new().create_array((store, "a")).shape(lengths(shape)).data_type(DataType::Int32);
    let array = array.chunks(lengths(chunks)).fill_value(-1_i32);
    let array = match shards {
        Some(shards) => array.shards(lengths(shards)),
        None => array,
    };
    let array = array.create().unwrap();
    array.write(.., numbered(shape)).unwrap();
    opened.lock().unwrap().clear();
    (array, opened)
}

/// Checks that the rows of a view agree with a plain read, in any order of iteration.
fn check_rows(view: &ArrayView<'_>) {
    let all = view.read::<ArrayD<i32>>().unwrap();
    let wanted: Vec<ArrayD<i32>> = all.axis_iter(Axis(0)).map(|row| row.to_owned()).collect();
    let rows = || view.rows::<ArrayD<i32>>().unwrap();
    assert_eq!(rows().len(), wanted.len());
    assert_eq!(rows().collect::<Result<Vec<_>, _>>().unwrap(), wanted);
    let mut backwards = rows().rev().collect::<Result<Vec<_>, _>>().unwrap();
    backwards.reverse();
    assert_eq!(backwards, wanted);
    let mut both = rows();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    while let Some(row) = both.next() {
        first.push(row.unwrap());
        last.extend(both.next_back().map(Result::unwrap));
    }
    first.extend(last.into_iter().rev());
    assert_eq!(first, wanted);
    let stepped = rows().skip(1).step_by(3).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(stepped, wanted.iter().skip(1).step_by(3).cloned().collect::<Vec<_>>());
    for (row, wanted) in view.rows::<DynArray>().unwrap().zip(&wanted) {
        assert_eq!(row.unwrap().to::<ArrayD<i32>>().unwrap(), wanted);
    }
}

#[test]
fn rows_and_chunks_are_those_of_plain_reads() {
    let dimension = || (1_usize..12, 1_usize..5, 1_usize..4);
    let dimensions = prop::collection::vec(dimension(), 1..4);
    let choices = (dimensions, any::<bool>(), prop_oneof![Just(1_usize), Just(200), Just(1 << 20)]);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(150) });
    let check = |(dimensions, sharded, memory): (Vec<(usize, usize, usize)>, bool, usize)| {
        let shape: Vec<usize> = dimensions.iter().map(|d| d.0).collect();
        let chunks: Vec<usize> = dimensions.iter().map(|d| d.1).collect();
        let shards: Vec<usize> = dimensions.iter().map(|d| d.1 * d.2).collect();
        let (array, _) = stored(&shape, &chunks, sharded.then_some(&shards));
        let array = array.with_options(&AccessOptions::new().memory(memory));
        check_rows(&array.slice(..));
        check_rows(&array.slice(s![..;-1]));
        check_rows(&array.slice(s![1..;2]));
        check_rows(&array.slice(s![-2..0;-3]));
        check_rows(&array.slice(s![NewAxis, ...]));
        let last = shape[0] - 1;
        check_rows(&array.oindex([0, last, 0, last / 2]));
        check_rows(&array.oindex([0, last / 2, last / 2, last]));
        check_rows(&array.vindex(vec![DimSelection::from(0); shape.len()]).slice(NewAxis));
        let mask = numbered(&shape).mapv(|value| value % 3 == 1);
        check_rows(&array.mask(&mask));
        check_rows(&array.slice(s![..0]));
        if shape.len() > 1 {
            check_rows(&array.slice(s![-1]));
            check_rows(&array.slice(s![.., ndarray::arr2(&[[0, 0], [0, 0]])]));
        }

        let mut seen = ArrayD::from_elem(IxDyn(&shape), -2);
        let mut before = None;
        for chunk in array.chunks::<ArrayD<i32>>().unwrap() {
            let (region, values) = chunk.unwrap();
            let starts: Vec<u64> = region.iter().map(|range| range.start).collect();
            assert!(before.as_ref() < Some(&starts), "row-major");
            assert_eq!(values, array.read::<ArrayD<i32>>(&region).unwrap());
            let mut part = seen.view_mut();
            for (axis, range) in region.iter().enumerate() {
                let [start, end] = [range.start, range.end].map(|end| usize::try_from(end).unwrap());
                part.slice_axis_inplace(Axis(axis), (start..end).into());
            }
            part.assign(&values);
            before = Some(starts);
        }
        assert_eq!(seen, numbered(&shape));
        let backwards: Vec<_> =
            array.chunks::<DynArray>().unwrap().rev().map(|chunk| chunk.unwrap().0).collect();
        let forwards: Vec<_> =
            array.stored_chunks::<DynArray>().unwrap().map(|chunk| chunk.unwrap().0).collect();
        assert!(backwards.iter().rev().eq(&forwards));
        Ok(())
    };
    runner.run(&choices, check).unwrap();
}

#[test]
fn every_chunk_is_opened_once_and_only_for_requested_rows() {
    // The rows are too large to be read together for several threads.
    let (array, opened) = stored(&[50, 300_000], &[7, 150_000], None);
    let sum: i64 = array.rows::<ArrayD<i32>>().unwrap().map(|row| i64::from(row.unwrap()[0])).sum();
    assert_eq!(sum, (0..50).map(|row| row * 300_000).sum::<i64>());
    assert_eq!(most_opened(&opened), 1);
    assert_eq!(array.slice(s![..;-3]).rows::<ArrayD<i32>>().unwrap().map(Result::unwrap).count(), 17);
    assert_eq!(most_opened(&opened), 1);
    let listed = array.oindex([0, 3, 6, 7, 7, 20, 49]);
    assert_eq!(listed.rows::<ArrayD<i32>>().unwrap().map(Result::unwrap).count(), 7);
    assert_eq!(most_opened(&opened), 1);
    // The rows go back and forth between chunks.
    assert_eq!(
        array.oindex(([49, 0, 48, 1], ..)).rows::<ArrayD<i32>>().unwrap().map(Result::unwrap).count(),
        4
    );
    assert_eq!(most_opened(&opened), 1);
    let mut both = array.rows::<ArrayD<i32>>().unwrap();
    while let (Some(_), Some(_)) = (both.next(), both.next_back()) {}
    assert_eq!(most_opened(&opened), 1);
    // Python's `islice(5, 20)`, in two ways.
    for rows in [array.slice(s![5..20]).rows::<ArrayD<i32>>().unwrap(), array.rows::<ArrayD<i32>>().unwrap()]
    {
        let skipped = if rows.len() == 50 { 5 } else { 0 };
        assert_eq!(rows.skip(skipped).take(15).map(Result::unwrap).count(), 15);
        let seen = std::mem::take(&mut *opened.lock().unwrap());
        let wanted = ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1", "a/c/2/0", "a/c/2/1"];
        let mut keys: Vec<&str> = seen.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, wanted);
        assert!(seen.values().all(|&times| times == 1));
    }
    assert_eq!(array.chunks::<ArrayD<i32>>().unwrap().map(Result::unwrap).count(), 16);
    assert_eq!(most_opened(&opened), 1);
}

#[test]
fn short_chunks_are_read_together() {
    let (array, opened) = stored(&[1000, 4], &[1, 4], None);
    let mut rows = array.rows::<ArrayD<i32>>().unwrap();
    rows.next().unwrap().unwrap();
    assert_eq!(opened.lock().unwrap().len(), 1000, "16 KB");
    assert_eq!(rows.map(Result::unwrap).count(), 999);
    assert_eq!(most_opened(&opened), 1);
    // No more rows are read ahead than the memory limit allows.
    let tight = array.with_options(&AccessOptions::new().memory(4 * 160));
    let mut rows = tight.rows::<ArrayD<i32>>().unwrap();
    rows.next().unwrap().unwrap();
    assert_eq!(opened.lock().unwrap().len(), 10);
    rows.next_back().unwrap().unwrap();
    assert_eq!(opened.lock().unwrap().len(), 20);
}

/// A codec that copies bytes and counts how often it decodes.
#[derive(Debug)]
struct Tally;

static DECODED: AtomicU64 = AtomicU64::new(0);

static TALLY: CodecDef =
    CodecDef::new("example.tally", CodecKind::BytesToBytes, |_, _| Ok(Codec::BytesToBytes(Box::new(Tally))));

impl BytesToBytes for Tally {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        encoded.extend_from_slice(decoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        DECODED.fetch_add(1, Ordering::Relaxed);
        decoded[..encoded.len()].copy_from_slice(encoded);
        Ok(encoded.len())
    }
}

#[test]
fn every_chunk_and_inner_chunk_is_decoded_once() {
    let options = OpenOptions::new().registry(zarrox::codecs::registry().with_codec(&TALLY));
    let tally = || CodecSpec::new("example.tally", Json::Null);
    let create = |path: &str| {
        let array = options.create_array((Arc::new(MemoryStore::new()), path)).shape([64, 4096]);
        array.data_type(DataType::Int32).chunks([8, 2048])
    };
    let plain = create("plain").compressor(tally()).create().unwrap();
    let shards = create("shards").shards([32, 4096]).compressor(tally()).create().unwrap();
    // A codec around the shards must be decoded before their inner chunks.
    let inner = shards.codecs().pop().unwrap();
    let wrapped = create("wrapped").chunks([32, 4096]).codecs([inner, tally()]).create().unwrap();
    for (array, chunks) in [(plain, 16), (shards, 16), (wrapped, 2 + 16)] {
        array.write(.., numbered(&[64, 4096])).unwrap();
        let views = [array.slice(..), array.slice(s![..;-1]), array.slice(s![..;2]), array.slice(s![1..63])];
        for view in &views {
            DECODED.store(0, Ordering::Relaxed);
            let wanted = view.read::<ArrayD<i32>>().unwrap();
            assert_eq!(DECODED.swap(0, Ordering::Relaxed), chunks, "reading as a whole");
            for (row, wanted) in view.rows::<ArrayD<i32>>().unwrap().zip(wanted.outer_iter()) {
                assert_eq!(row.unwrap(), wanted);
            }
            assert_eq!(DECODED.swap(0, Ordering::Relaxed), chunks, "{}: {:?}", array.path(), view.shape());
        }
        let grid = array.chunks::<ArrayD<i32>>().unwrap().map(Result::unwrap).count();
        assert_eq!(grid as u64, array.info().unwrap().chunks.unwrap());
        assert_eq!(DECODED.swap(0, Ordering::Relaxed), chunks);
    }
}

#[test]
fn damage_ends_the_iteration_over_rows_and_is_one_item_of_that_over_chunks() {
    let (array, _) = stored(&[40, 4], &[10, 2], None);
    array.raw().write(&[2, 1], b"no chunk").unwrap();
    let mut rows = array.rows::<ArrayD<i32>>().unwrap();
    for wanted in numbered(&[20, 4]).outer_iter() {
        assert_eq!(rows.next().unwrap().unwrap(), wanted.into_dyn());
    }
    let error = rows.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("chunk [2, 1] (key 'a/c/2/1')"), "{error}");
    assert_eq!(rows.len(), 0);
    assert!(rows.next().is_none() && rows.next_back().is_none());
    let mut backwards = array.rows::<ArrayD<i32>>().unwrap().rev();
    assert_eq!(backwards.by_ref().take_while(Result::is_ok).count(), 10);
    assert!(backwards.next().is_none());

    let mut chunks = array.chunks::<ArrayD<i32>>().unwrap();
    assert_eq!(chunks.by_ref().take_while(Result::is_ok).count(), 5);
    assert_eq!(chunks.map(Result::unwrap).count(), 2);
    let stored = array.stored_chunks::<ArrayD<i32>>().unwrap().rev();
    let errors: Vec<_> = stored.filter_map(Result::err).map(|error| error.kind()).collect();
    assert_eq!(errors, [ErrorKind::Corrupt]);
}

#[test]
fn grids_of_any_size_are_iterated_over_without_a_list() {
    let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
    let array =
        array.shape([1_u64 << 62, 1 << 62]).data_type(DataType::UInt8).chunks([1, 2]).create().unwrap();
    array.write(s![1_u64 << 61, 7], ndarray::arr0(9_u8)).unwrap();
    let mut chunks = array.chunks::<ArrayD<u8>>().unwrap();
    assert_eq!(chunks.next().unwrap().unwrap(), (vec![0..1, 0..2], ArrayD::zeros(IxDyn(&[1, 2]))));
    assert_eq!(chunks.nth(1 << 61).unwrap().unwrap().0, [1..2, 2..4]);
    assert_eq!(
        array.stored_chunks::<ArrayD<u8>>().unwrap_err().kind(),
        ErrorKind::LimitExceeded,
        "numbers beyond 2^64"
    );

    let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
    let array =
        array.shape([1_u64 << 62, 3]).data_type(DataType::UInt8).chunks([1 << 24, 2]).create().unwrap();
    array.write(s![(1_u64 << 61) + 1, 2], ndarray::arr0(9_u8)).unwrap();
    let stored: Vec<_> = array.stored_chunks::<ArrayD<u8>>().unwrap().map(Result::unwrap).collect();
    assert_eq!(
        (stored.len(), &stored[0].0, stored[0].1.shape()),
        (1, &vec![1 << 61..(1 << 61) + (1 << 24), 2..3], &[1 << 24, 1][..])
    );
    assert_eq!(stored[0].1[[1, 0]], 9);
    let mut rows = array.slice(s![1_u64 << 61.., 2]).rows::<ArrayD<u8>>().unwrap();
    assert_eq!(rows.len(), 1 << 61);
    assert_eq!([rows.next(), rows.next()].map(|row| row.unwrap().unwrap()[[]]), [0, 9]);
}

#[test]
fn chunks_of_any_lengths_and_arrays_without_dimensions() {
    let create =
        || OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).data_type(DataType::Int32);
    let array = create().shape([9, 3]).rectilinear_chunks([vec![4, 1, 5], vec![2, 1]]).create().unwrap();
    array.write(.., numbered(&[9, 3])).unwrap();
    check_rows(&array.slice(..));
    check_rows(&array.slice(s![..;-2, 1]));
    let shapes = array.chunks::<ArrayD<i32>>().unwrap().map(|chunk| chunk.unwrap().1.shape().to_vec());
    assert_eq!(shapes.collect::<Vec<_>>(), [[4, 2], [4, 1], [1, 2], [1, 1], [4, 2], [4, 1]]);

    let scalar = create().shape([0; 0]).fill_value(7_i32).create().unwrap();
    let error = scalar.rows::<ArrayD<i32>>().unwrap_err();
    assert!(error.to_string().contains("no dimensions"), "{error}");
    assert_error(array.slice(s![0, 0]).rows::<ArrayD<i32>>(), ErrorKind::InvalidArgument, "no first axis");
    let chunks: Vec<_> = scalar.chunks::<ArrayD<i32>>().unwrap().map(Result::unwrap).collect();
    assert_eq!(chunks, [(vec![], ndarray::arr0(7).into_dyn())]);
    assert_eq!(scalar.stored_chunks::<ArrayD<i32>>().unwrap().count(), 0);
    let empty = create().shape([0, 3]).create().unwrap();
    assert_eq!(
        (empty.rows::<ArrayD<i32>>().unwrap().count(), empty.chunks::<ArrayD<i32>>().unwrap().count()),
        (0, 0)
    );
    let hollow = create().shape([3, 0]).create().unwrap();
    assert!(hollow.rows::<ArrayD<i32>>().unwrap().all(|row| row.unwrap().shape() == [0]));
    assert!(array.rows::<ArrayD<f32>>().is_err() && array.chunks::<ArrayD<f32>>().is_err(), "another type");
    assert!(array.slice(s![9]).rows::<ArrayD<i32>>().is_err(), "out of bounds");
}

#[test]
fn rows_of_text() {
    let string = DataType::string();
    let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
    let array = array.shape([5, 2]).data_type(string).chunks([2, 1]).create().unwrap();
    let words = ArrayD::from_shape_fn(IxDyn(&[5, 2]), |at| format!("row {} of column {}", at[0], at[1]));
    array.write(.., &words).unwrap();
    for (row, wanted) in array.rows::<DynArray>().unwrap().zip(words.outer_iter()) {
        assert_eq!(row.unwrap().to::<ArrayD<String>>().unwrap(), wanted);
    }
}
