//! Rectilinear grids: arrays of zarr-python, chunks of several lengths, growing and shrinking.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::{Array1, ArrayD, Dimension, IxDyn, arr1};
use zarrox::codecs::{Bytes, Gzip};
use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Store, StoreExt};
use zarrox::{
    Array, ArrayBuilder, ChunkLengths, CodecSpec, ErrorKind, ListedLength, OpenMode, OpenOptions, Selection,
    s,
};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::Copier;

/// Returns the arrays of `corpus/rectilinear/make.py`: their shapes, and the regions in which elements were written.
fn corpus() -> Vec<(&'static str, Vec<u64>, Selection)> {
    vec![
        ("plain", vec![10, 7, 5], s![..]),
        ("surplus", vec![8], s![..]),
        ("partial", vec![6, 6], s![1..3, 3..]),
        ("sharded", vec![10, 6], s![1..9, ..]),
        ("transposed", vec![7, 4], s![..]),
        ("grown", vec![9], s![..]),
    ]
}

fn directory(name: &str) -> PathBuf {
    zarrox_testkit::corpus::directory("rectilinear").join(name)
}

fn foreign(name: &str) -> Array {
    OpenOptions::new().mode(OpenMode::Read).strict(true).open(directory(name)).unwrap().into_array().unwrap()
}

fn positions(shape: &[u64]) -> ArrayD<i32> {
    let shape: Vec<usize> = shape.iter().map(|&n| usize::try_from(n).unwrap()).collect();
    let count = i32::try_from(shape.iter().product::<usize>()).unwrap();
    ArrayD::from_shape_vec(IxDyn(&shape), (0..count).collect()).unwrap()
}

#[test]
fn arrays_of_zarr_python_are_read() {
    for (name, shape, written) in corpus() {
        let array = foreign(name);
        assert_eq!(array.shape(), shape, "{name}");
        let read = array.read::<ArrayD<i32>>(..).unwrap();
        let all = positions(&shape);
        let inside = array.read::<ArrayD<i32>>(&written).unwrap();
        assert!(inside.iter().all(|&value| value >= 0), "{name}");
        let there = read.iter().zip(&all).filter(|(read, position)| read == position).count();
        let fill = read.iter().filter(|&&value| value == -1).count();
        assert_eq!((there, there + fill), (inside.len(), all.len()), "{name}");
        let info = array.info().unwrap();
        assert!(info.chunks_stored > 0 && info.chunks_stored <= info.chunks.unwrap(), "{name}");
        assert!(info.chunk_grid.to_json()["name"] == "rectilinear", "{name}");
    }
}

/// Every file of zarr-python is written here as well, with the same bytes if it is uncompressed.
#[test]
fn the_same_arrays_are_written_with_the_same_bytes() {
    for (name, shape, written) in corpus() {
        let theirs = foreign(name);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let builder = OpenOptions::new().create_array((store.clone(), "")).shape(shape.clone());
        let builder = builder.data_type(DataType::Int32).fill_value(-1).codecs(theirs.codecs());
        let ours = builder.chunk_grid(theirs.chunk_grid().clone()).create().unwrap();
        ours.write(&written, theirs.read::<ArrayD<i32>>(&written).unwrap()).unwrap();
        let document = |bytes: &[u8]| serde_json::from_slice::<Json>(bytes).unwrap();
        let key = zarrox::stores::Key::new("zarr.json").unwrap();
        let document_of_ours = document(&store.get(&key).unwrap().unwrap());
        let document_of_theirs = document(&std::fs::read(directory(name).join("zarr.json")).unwrap());
        for member in ["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value"] {
            assert_eq!(document_of_ours[member], document_of_theirs[member], "{name}");
        }
        let mut chunks = 0;
        let grid: Vec<usize> = ours.grid_shape().iter().map(|&n| usize::try_from(n).unwrap()).collect();
        for index in ndarray::indices(IxDyn(&grid)) {
            let chunk: Vec<u64> = index.slice().iter().map(|&i| i as u64).collect();
            let (a, b) = (theirs.raw().read(&chunk).unwrap(), ours.raw().read(&chunk).unwrap());
            assert_eq!(a.is_some(), b.is_some(), "{name} {chunk:?}");
            chunks += u32::from(a.is_some());
            // zarr-python does not change elements beyond the shape.
            let cut = name == "surplus" && chunk == [2];
            if name != "partial" && name != "sharded" && !cut {
                assert_eq!(a, b, "{name} {chunk:?}");
            }
            assert_eq!(
                theirs.raw().shape(&chunk).unwrap(),
                ours.raw()
                    .decode::<ArrayD<i32>>(&chunk)
                    .unwrap()
                    .shape()
                    .iter()
                    .map(|&n| n as u64)
                    .collect::<Vec<_>>()
            );
        }
        assert!(chunks > 0);
    }
}

fn builder(shape: impl Into<zarrox::Shape>) -> (Arc<dyn Store>, ArrayBuilder) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder =
        OpenOptions::new().create_array((store.clone(), "a")).shape(shape).data_type(DataType::Int32);
    (store, builder.no_compressor())
}

#[test]
fn chunks_are_read_and_written_in_their_own_shapes() {
    let (store, builder) = builder([10]);
    let array = builder.fill_value(-1).rectilinear_chunks([[1, 4, 4, 3]]).create().unwrap();
    assert_eq!((array.unit_shape(), array.grid_shape()), (vec![4], vec![4]));
    array.write(.., Array1::from_iter(0..10)).unwrap();
    assert_eq!(array.raw().shape(&[3]).unwrap(), [3]);
    assert_eq!(array.raw().decode::<ArrayD<i32>>(&[2]).unwrap(), arr1(&[5, 6, 7, 8]).into_dyn());
    assert_eq!(array.raw().decode::<ArrayD<i32>>(&[3]).unwrap(), arr1(&[9, -1, -1]).into_dyn());
    assert_eq!(array.raw().read(&[0]).unwrap().unwrap().len(), 4);
    array.raw().encode(&[0], arr1(&[100])).unwrap();
    let error = array.raw().encode(&[0], arr1(&[1, 2])).unwrap_err();
    assert!(error.to_string().contains("[1]"), "{error}");
    assert_error(
        array.raw().decode::<ArrayD<i32>>(&[4]),
        ErrorKind::InvalidArgument,
        "there is no chunk [4]",
    );
    let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(reopened.read::<ArrayD<i32>>(s![..;-3]).unwrap(), arr1(&[9, 6, 3, 100]).into_dyn());
}

#[test]
fn an_array_grows_within_its_chunks_and_gets_one_beyond_them() {
    let (store, builder) = builder([3, 4]);
    let lengths: [ChunkLengths; 2] = [[2, 2, 4].into(), 3.into()];
    let mut array = builder.rectilinear_chunks(lengths).create().unwrap();
    array.write(.., 1).unwrap();
    // The repeated length covers any shape, the list ends at 8.
    array.append(ArrayD::from_elem(IxDyn(&[3, 9]), 2), 1).unwrap();
    array.append(ArrayD::from_elem(IxDyn(&[5, 13]), 3), 0).unwrap();
    assert_eq!(array.chunk_grid().describe(), "([2 × 2, 4], 3)");
    let sums = |array: &Array| {
        [1, 2, 3].map(|n| array.read::<ArrayD<i32>>(..).unwrap().iter().filter(|&&v| v == n).count())
    };
    assert_eq!(sums(&array), [12, 27, 65]);
    // Removed elements have the fill value when the array grows again.
    array.resize([3, 5]).unwrap();
    array.resize([8, 13]).unwrap();
    assert_eq!(sums(&array), [12, 3, 0]);
    let reopened = OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!(reopened.chunk_grid(), array.chunk_grid());
    assert_eq!(sums(&reopened), [12, 3, 0]);
    // Only a chunk that is larger than all others contains these elements.
    array.append(ArrayD::from_elem(IxDyn(&[5, 13]), 3), 0).unwrap();
    assert_eq!(
        (array.shape(), array.chunk_grid().describe().as_str()),
        (&[13, 13][..], "([2 × 2, 4, 5], 3)")
    );
    assert_eq!(array.unit_shape(), [5, 3]);
    assert_eq!(sums(&array), [12, 3, 65]);
    // Chunks beyond the shape stay in the list, as zarr-python keeps them.
    array.resize([7, 13]).unwrap();
    array.resize([15, 13]).unwrap();
    assert_eq!((array.chunk_grid().describe().as_str(), sums(&array)), ("([2 × 2, 4, 5, 2], 3)", [12, 3, 0]));
    let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!((reopened.shape(), reopened.chunk_grid()), (array.shape(), array.chunk_grid()));
    assert_eq!(sums(&reopened), [12, 3, 0]);
}

#[test]
fn a_grid_stays_as_it_was_where_appending_fails() {
    let (store, builder) = builder([4]);
    let mut array = builder.rectilinear_chunks([[1, 3]]).create().unwrap();
    let failed = array.append_with(&[2], 0, |grown, place| {
        grown.write(place, arr1(&[7, 8]))?;
        grown.write(s![100], arr1(&[1]))
    });
    assert_error(failed, ErrorKind::InvalidSelection, "axis 0");
    assert_eq!((array.shape(), array.chunk_grid().describe().as_str()), (&[4][..], "([1, 3],)"));
    array.resize([6]).unwrap();
    let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(reopened.chunk_grid().describe(), "([1, 3, 2],)");
    assert_eq!(reopened.read::<ArrayD<i32>>(4..).unwrap().sum(), 0);
}

#[test]
fn shards_grow_only_by_whole_inner_chunks() {
    let (_, builder) = builder([8, 4]);
    let mut array = builder.chunks([2, 2]).rectilinear_chunks([vec![2, 6], vec![4]]).create().unwrap();
    let error = array.append(ArrayD::from_elem(IxDyn(&[3, 4]), 1), 0).unwrap_err();
    assert_eq!((error.kind(), array.shape()), (ErrorKind::InvalidArgument, &[8, 4][..]));
    assert!(error.to_string().contains("shards of length 3 in dimension 0"), "{error}");
    array.append(ArrayD::from_elem(IxDyn(&[10, 4]), 1), 0).unwrap();
    assert_eq!(array.shard_shape(), Some(&[10, 4][..]));
    assert_eq!(array.read::<ArrayD<i32>>(8..).unwrap().sum(), 40);
}

#[test]
fn a_grid_that_another_program_has_extended_is_used() {
    let (store, builder) = builder([4]);
    let mut array = builder.rectilinear_chunks([[1, 3]]).create().unwrap();
    array.write(.., arr1(&[1, 2, 3, 4])).unwrap();
    let key = zarrox::stores::Key::new("a/zarr.json").unwrap();
    let mut document: Json = serde_json::from_slice(&store.get(&key).unwrap().unwrap()).unwrap();
    document["shape"] = json!([6]);
    document["chunk_grid"]["configuration"]["chunk_shapes"] = json!([[1, 3, [2, 2]]]);
    store.set(&key, document.to_string().as_bytes(), zarrox::stores::Condition::Always).unwrap();
    array.append(arr1(&[7, 8]), 0).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[1, 2, 3, 4, 0, 0, 7, 8]).into_dyn());
    document["chunk_grid"] = json!({"name": "regular", "configuration": {"chunk_shape": [4]}});
    store.set(&key, document.to_string().as_bytes(), zarrox::stores::Condition::Always).unwrap();
    assert!(array.resize([2]).unwrap_err().to_string().contains("open it again"));
}

#[test]
fn shards_differ_and_their_inner_chunks_divide_them() {
    let (_, builder) = builder([12, 4]);
    let array = builder.chunks([2, 2]).rectilinear_chunks([vec![2, 6, 4], vec![4]]).create().unwrap();
    assert_eq!((array.unit_shape(), array.shard_shape()), (vec![2, 2], Some(&[6, 4][..])));
    array.write(s![1..9, 1..], positions(&[8, 3])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![1..9, 1..]).unwrap(), positions(&[8, 3]));
    let (_, builder) = self::builder([12, 4]);
    for lengths in [[vec![2, 6, 4], vec![3, 1]], [vec![3, 6, 4], vec![4, 4]]] {
        let error = builder.clone().chunks([2, 2]).rectilinear_chunks(lengths).create().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    assert_error(
        builder.rectilinear_chunks([vec![12], vec![4]]).shards([12, 4]).create(),
        ErrorKind::InvalidArgument,
        "are both given",
    );
}

#[test]
fn invalid_grids_are_refused_with_the_reason() {
    for format in Format::all().filter(|format| *format != Format::V3) {
        let (_, builder) = builder([4]);
        let error = builder.clone().format(format).rectilinear_chunks([[1, 3]]).create().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{format}: {error}");
        let shards = builder.chunks([1]).format(format).rectilinear_chunks([[1, 3]]).create();
        assert_eq!(shards.unwrap_err().kind(), ErrorKind::Unsupported, "{format}");
    }
    for (lengths, named) in [(vec![1, 2], "end at 3"), (vec![4, 0], "length 0"), (vec![], "end at 0")] {
        let (_, builder) = builder([4]);
        let error = builder.rectilinear_chunks([lengths]).create().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(named), "{error}");
    }
}

/// Shards of different lengths have inner chunks of a single shape, which every format supports; chunks of different lengths get
/// the largest shape.
#[test]
fn other_formats_get_chunks_of_one_shape() {
    let convert = |source: Arc<dyn Store>| {
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let plan = Copier::new().format(Format::V2).plan((source, "a"), (target.clone(), "")).unwrap();
        plan.run().map(|_| OpenOptions::new().open((target, "")).unwrap().into_array().unwrap())
    };
    let (store, sharded) = builder([12, 4]);
    let sharded = sharded.chunks([2, 2]).rectilinear_chunks([vec![2, 6, 4], vec![4]]).create().unwrap();
    sharded.write(.., positions(&[12, 4])).unwrap();
    let converted = convert(store).unwrap();
    assert_eq!(converted.read::<ArrayD<i32>>(..).unwrap(), positions(&[12, 4]));
    assert_eq!(converted.unit_shape(), [2, 2]);
    let (store, plain) = builder([4]);
    plain.rectilinear_chunks([[1, 3]]).create().unwrap().write(.., 7).unwrap();
    let converted = convert(store).unwrap();
    assert_eq!(converted.read::<ArrayD<i32>>(..).unwrap(), ArrayD::from_elem(IxDyn(&[4]), 7));
    assert_eq!(converted.unit_shape(), [3]);
}

/// The memory for a run of equal chunks does not depend on its length.
#[test]
fn runs_of_any_length_cost_nothing() {
    let (_, builder) = builder([1 << 61]);
    let run = ListedLength::Run { length: 1, count: 1 << 60 };
    let rest = ListedLength::Run { length: 1 << 30, count: 1 << 30 };
    let array = builder.rectilinear_chunks([ChunkLengths::Listed(vec![run, rest])]).create().unwrap();
    let (last, middle) = ((1_i64 << 61) - 1, 1_i64 << 60);
    array.write(s![middle - 1], 5).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![middle - 2..middle]).unwrap(), arr1(&[0, 5]).into_dyn());
    assert_eq!(array.read::<ArrayD<i32>>(s![last]).unwrap(), ArrayD::from_elem(IxDyn(&[]), 0));
    assert_eq!(array.info().unwrap().chunks, Some((1 << 60) + (1 << 30)));
    assert_eq!(array.info().unwrap().chunks_stored, 1);
}

/// The array has more chunk shapes than are cached.
#[test]
fn any_number_of_shapes_works() {
    let (_, builder) = builder([20_100]);
    let codecs = [Bytes::big().into(), CodecSpec::from(Gzip::level(1))];
    let array =
        builder.codecs(codecs).rectilinear_chunks([(1..=200).collect::<Vec<u64>>()]).create().unwrap();
    array.write(.., Array1::from_iter(0..20_100)).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), positions(&[20_100]));
}
