//! Random arrays, chains and selections against a naive model: an array in memory, touched element by element.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use zarrox::codecs::{
    Blosc, Bytes, Bz2, Crc32c, Gzip, Lz4, N5Default, Sharding, Shuffle, Transpose, Zlib, Zstd,
};
use zarrox::stores::{DirectoryStore, MemoryStore, Store};
use zarrox::{
    Array, CodecSpec, DataType, DimSelection, Element, Format, IntoSelection, OpenOptions, Selection,
};

/// How many random cases each property is tried with in memory, and how many on disk, which is slower. Together more than
/// 10,000 arrays with up to four selections each.
const CASES: u32 = 3500;
const CASES_ON_DISK: u32 = 500;

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    /// How many chunks a shard has along each dimension, from the outside in.
    shards: Vec<Vec<u64>>,
    /// For rectilinear grids the lengths of stored chunks along each dimension, in units that inner chunks divide.
    lengths: Option<Vec<Vec<u64>>>,
    units: Vec<u64>,
    codecs: Vec<CodecSpec>,
    format: Format,
    store_empty: bool,
    steps: Vec<(Selection, u8)>,
}

fn dim_selection(length: u64) -> impl Strategy<Value = DimSelection> + use<> {
    let n = i64::try_from(length).unwrap();
    let bound = prop::option::of(-n - 2..=n + 2);
    let slice = (bound.clone(), bound, prop_oneof![-4_i64..=-1, 1_i64..=4, Just(1_i64)])
        .prop_map(|(start, stop, step)| DimSelection::Slice { start, stop, step });
    if n == 0 {
        return slice.boxed();
    }
    prop_oneof![3 => slice, 1 => (-n..n).prop_map(DimSelection::Index)].boxed()
}

fn selection(shape: &[u64]) -> impl Strategy<Value = Selection> + use<> {
    let dims: Vec<_> = shape.iter().map(|&length| dim_selection(length)).collect();
    (dims, 0..=shape.len(), any::<bool>()).prop_map(|(mut dims, at, ellipsis)| {
        if ellipsis {
            // An ellipsis in place of all dimensions from `at` on is the same as leaving them out.
            dims.truncate(at);
            dims.push(DimSelection::Ellipsis);
        }
        dims.into_selection()
    })
}

fn bytes_to_bytes() -> impl Strategy<Value = Vec<CodecSpec>> {
    let one: BoxedStrategy<CodecSpec> = prop_oneof![
        Just(Zstd::level(1).into()),
        Just(Gzip::level(1).into()),
        Just(Zlib::level(1).into()),
        Just(Bz2::level(1).into()),
        Just(Lz4::default().into()),
        Just(Crc32c::default().into()),
        Just(Blosc::lz4().shuffle(Shuffle::Byte).into()),
        Just(Blosc::lz4().shuffle(Shuffle::Bit).into()),
    ]
    .boxed();
    prop::collection::vec(one, 0..=2)
}

/// Now and then a grid of chunks that differ.
fn rectilinear(ndim: usize) -> impl Strategy<Value = Option<Vec<Vec<u64>>>> {
    let dim = prop::collection::vec(1_u64..=4, 1..=5);
    prop::option::weighted(0.3, prop::collection::vec(dim, ndim))
}

fn case() -> impl Strategy<Value = Case> {
    prop::collection::vec((0_u64..=9, 1_u64..=4, 1_u64..=3, 1_u64..=2), 0..=4)
        .prop_flat_map(|dims| {
            let shape: Vec<u64> = dims.iter().map(|d| d.0).collect();
            let chunks: Vec<u64> = dims.iter().map(|d| d.1).collect();
            let inner: Vec<u64> = dims.iter().map(|d| d.2).collect();
            let outer: Vec<u64> = dims.iter().map(|d| d.3).collect();
            let ndim = shape.len();
            let steps = prop::collection::vec((selection(&shape), any::<u8>()), 1..=4);
            let order = Just((0..ndim).collect::<Vec<_>>()).prop_shuffle();
            (
                Just((shape, chunks, inner, outer)),
                0_usize..=2,
                order,
                (any::<(bool, bool, bool, bool)>(), rectilinear(ndim)),
                bytes_to_bytes(),
                bytes_to_bytes(),
                steps,
            )
        })
        .prop_map(
            |((shape, chunks, inner, outer), depth, order, (flags, lengths), mut bytes, outside, steps)| {
                let (transpose, big, v2, store_empty) = flags;
                // v2 has neither shards nor any transposition but the whole one.
                let depth = if v2 { 0 } else { depth };
                let mut codecs: Vec<CodecSpec> = Vec::new();
                match (transpose, v2) {
                    (true, false) => codecs.push(Transpose::order(order).into()),
                    (true, true) if shape.len() > 1 => {
                        codecs.push(Transpose::order((0..shape.len()).rev().collect::<Vec<_>>()).into());
                    }
                    _ => {}
                }
                codecs.push(if big { Bytes::big().into() } else { Bytes::little().into() });
                let block = big && !v2 && bytes.len() < 2 && outside.len() == 1;
                codecs.append(&mut bytes);
                if block {
                    codecs = vec![N5Default::new(codecs).into()];
                }
                let shards = [inner, outer].into_iter().take(depth).collect();
                let lengths = lengths.filter(|_| !v2);
                let units = vec![1; shape.len()];
                let format = if v2 { Format::V2 } else { Format::V3 };
                let mut case =
                    Case { shape, chunks, shards, lengths, units, codecs, format, store_empty, steps };
                case.nest();
                if depth > 0 && transpose {
                    // A codec outside the shards, so that they cannot be read in parts.
                    case.codecs.extend(outside);
                }
                case
            },
        )
}

impl Case {
    /// Puts the chain into one sharding codec after the other.
    fn nest(&mut self) {
        for factors in std::mem::take(&mut self.shards) {
            let chain = std::mem::take(&mut self.codecs);
            self.codecs = vec![Sharding::new(self.chunks.clone(), chain).into()];
            self.units.clone_from(&self.chunks);
            for (length, factor) in self.chunks.iter_mut().zip(factors) {
                *length *= factor;
            }
        }
    }

    /// The lengths in elements; the last is repeated until the chunks reach as far as the array.
    fn covering(&self, lengths: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let covering = |(dim, units): (usize, &Vec<u64>)| {
            let mut lengths: Vec<u64> = units.iter().map(|n| n * self.units[dim]).collect();
            let last = lengths[lengths.len() - 1];
            while lengths.iter().sum::<u64>() < self.shape[dim] {
                lengths.push(last);
            }
            lengths
        };
        lengths.iter().enumerate().map(covering).collect()
    }

    fn create<T: Element>(&self, store: Arc<dyn Store>, fill: T) -> zarrox::Result<Array> {
        let builder = OpenOptions::new()
            .store_empty_chunks(self.store_empty)
            .threads(2)
            .create_array_in(store, "group/array")
            .format(self.format)
            .shape(self.shape.clone());
        let builder = match &self.lengths {
            None => builder.chunks(self.chunks.clone()),
            Some(lengths) => builder.rectilinear_chunks(self.covering(lengths)),
        };
        builder.data_type(T::data_type()).codecs(self.codecs.clone()).fill_value(fill).create()
    }
}

/// The positions that a selection means, in the order of the result, and the shape of the result: from the definition of
/// slices, without any of the library's arithmetic.
fn positions(shape: &[u64], selection: &Selection) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut dims = selection.items().to_vec();
    if let Some(at) = dims.iter().position(|dim| *dim == DimSelection::Ellipsis) {
        let rest = shape.len() + 1 - dims.len();
        dims.splice(at..=at, std::iter::repeat_n(DimSelection::ALL, rest));
    }
    dims.resize(shape.len(), DimSelection::ALL);
    let mut lists = Vec::new();
    let mut result = Vec::new();
    for (dim, &length) in dims.iter().zip(shape) {
        let n = i64::try_from(length).unwrap();
        let list: Vec<usize> = match *dim {
            DimSelection::Index(index) => {
                vec![usize::try_from(if index < 0 { index + n } else { index }).unwrap()]
            }
            DimSelection::Slice { start, stop, step } => {
                let from_end = |v: i64| if v < 0 { v + n } else { v };
                let (start, stop) = (start.map(from_end), stop.map(from_end));
                let inside = |i: &i64| {
                    let (after, before) = (start.is_none_or(|s| *i >= s), stop.is_none_or(|s| *i < s));
                    let (below, above) = (start.is_none_or(|s| *i <= s), stop.is_none_or(|s| *i > s));
                    if step > 0 { after && before } else { below && above }
                };
                let mut all: Vec<i64> = (0..n).filter(inside).collect();
                if step < 0 {
                    all.reverse();
                }
                all.into_iter()
                    .step_by(usize::try_from(step.abs()).unwrap())
                    .map(|i| usize::try_from(i).unwrap())
                    .collect()
            }
            DimSelection::Ellipsis => unreachable!("replaced above"),
        };
        if !matches!(dim, DimSelection::Index(_)) {
            result.push(list.len());
        }
        lists.push(list);
    }
    (lists, result)
}

/// Every position of the product of lists, in row-major order.
fn product(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter().flat_map(|head| list.iter().map(|&i| [head.as_slice(), &[i]].concat())).collect()
    })
}

/// Writes and reads through the library and through the model; they must agree after every step.
fn check<T: Element>(case: &Case, store: &Arc<dyn Store>, fill: T, value: impl Fn(usize) -> T) {
    let array = case.create(store.clone(), fill).unwrap();
    let shape: Vec<usize> = case.shape.iter().map(|&n| usize::try_from(n).unwrap()).collect();
    let mut model = ArrayD::from_elem(IxDyn(&shape), fill);
    for (index, (selection, seed)) in case.steps.iter().enumerate() {
        let (lists, result) = positions(&case.shape, selection);
        let targets = product(&lists);
        let values: Vec<T> = (0..targets.len())
            .map(|i| if seed % 4 == 0 { fill } else { value(i + usize::from(*seed) * 1000) })
            .collect();
        for (target, value) in targets.iter().zip(&values) {
            model[IxDyn(target)] = *value;
        }
        let values = ArrayD::from_shape_vec(IxDyn(&result), values).unwrap();
        if index % 2 == 0 {
            array.write(selection, &values).unwrap();
        } else {
            // The same values in the other order of memory.
            let reversed = values.t().as_standard_layout().into_owned();
            array.write(selection, &reversed.t()).unwrap();
        }
        let read = array.read::<T>(selection).unwrap();
        assert_eq!(read, values, "reading back what was written to [{selection}]");
    }
    let reopened = OpenOptions::new().open_in(store.clone(), "group/array").unwrap().into_array().unwrap();
    assert_eq!(reopened.read::<T>(..).unwrap(), model, "reading everything");
    assert_eq!(reopened.codecs(), array.codecs(), "the codecs survive");
    for (selection, _) in &case.steps {
        let (lists, result) = positions(&case.shape, selection);
        let expected: Vec<T> = product(&lists).iter().map(|at| model[IxDyn(at)]).collect();
        let mut out = ArrayD::from_elem(IxDyn(&result), fill);
        reopened.read_into(selection, &mut out).unwrap();
        assert_eq!(out, ArrayD::from_shape_vec(IxDyn(&result), expected).unwrap(), "reading [{selection}]");
    }
}

fn run(cases: u32, check: impl Fn(&Case)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&case(), |case| {
            check(&case);
            Ok(())
        })
        .unwrap();
}

#[test]
fn int32_in_memory() {
    run(CASES, |case| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        check::<i32>(case, &store, -7, |i| i32::try_from(i).unwrap());
    });
}

#[test]
fn float64_in_memory() {
    run(CASES, |case| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        check::<f64>(case, &store, 0.0, |i| f64::from(u32::try_from(i).unwrap()) / 3.0);
    });
}

#[test]
fn complex_and_raw_in_memory() {
    run(CASES, |case| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        check::<num_complex::Complex<f32>>(case, &store, num_complex::Complex::new(1.0, -1.0), |i| {
            let part = f32::from(u16::try_from(i % 65536).unwrap());
            num_complex::Complex::new(part, -part)
        });
        let single: Vec<CodecSpec> = case.codecs.clone();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let case = Case { codecs: single, ..case.clone() };
        check::<u16>(&case, &store, 65535, |i| u16::try_from(i % 65521).unwrap());
    });
}

#[test]
fn int16_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicUsize::new(0);
    run(CASES_ON_DISK, |case| {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = directory.path().join(next.to_string());
        let store: Arc<dyn Store> = Arc::new(DirectoryStore::open(&path).unwrap());
        check::<i16>(case, &store, 3, |i| i16::try_from(i % 30011).unwrap());
        std::fs::remove_dir_all(&path).unwrap();
    });
}

#[test]
fn booleans_are_booleans_whatever_was_stored() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = OpenOptions::new()
        .create_array_in(store, "b")
        .shape([4])
        .chunks([4])
        .data_type(DataType::Bool)
        .no_compressor()
        .create()
        .unwrap();
    array.write_encoded_chunk(&[0], &[0, 1, 2, 255]).unwrap();
    assert_eq!(array.read::<bool>(..).unwrap().into_raw_vec_and_offset().0, [false, true, true, true]);
    assert_eq!(array.read_dyn(..).unwrap().as_bytes(), [0, 1, 1, 1]);
}
