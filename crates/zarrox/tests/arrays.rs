//! Tests of arrays: creating, resizing, appending, policies, chunks, many threads.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayD, IxDyn, arr1, arr2};
use zarrox::codecs::{Blosc, Bytes, Bz2, Crc32c, Gzip, Lzma, Zstd};
use zarrox::json::{Json, Map, json};
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{
    ArrayBuilder, ChunkKeyEncoding, CodecSpec, ErrorKind, MissingChunks, OpenMode, OpenOptions, Separator,
};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn int32(store: &Arc<dyn Store>, shape: &[u64], chunks: &[u64]) -> ArrayBuilder {
    let builder = OpenOptions::new().create_array((store.clone(), "a"));
    builder.shape(shape).chunks(chunks).data_type(DataType::Int32)
}

fn document(store: &Arc<dyn Store>, key: &str) -> Json {
    serde_json::from_slice(&store.get(&Key::new(key).unwrap()).unwrap().unwrap()).unwrap()
}

#[test]
fn a_v3_array_is_written_in_the_strict_form_with_its_ancestors() {
    let store = memory();
    OpenOptions::new()
        .create_array((store.clone(), "climate/t2m"))
        .shape([4, 6])
        .chunks([2, 3])
        .shards([4, 6])
        .data_type(DataType::Float32)
        .compressor(Zstd::level(3))
        .fill_value(f32::NAN)
        .dimension_names(["lat", "lon"])
        .create()
        .unwrap();
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    assert_eq!(document(&store, "zarr.json"), group);
    assert_eq!(document(&store, "climate/zarr.json"), group);
    assert_eq!(
        document(&store, "climate/t2m/zarr.json"),
        json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": [4, 6],
            "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": "NaN",
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [2, 3],
                "codecs": [
                    {"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "zstd", "configuration": {"level": 3, "checksum": false}},
                ],
                "index_codecs": [
                    {"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "crc32c"},
                ],
                "index_location": "end",
            }}],
            "attributes": {},
            "dimension_names": ["lat", "lon"],
        })
    );
}

#[test]
fn a_v2_array_is_written_with_the_names_of_numcodecs() {
    let store = memory();
    let builder = OpenOptions::new().create_array((store.clone(), "x/y")).format(Format::V2);
    builder
        .shape([4, 6])
        .chunks([2, 3])
        .data_type(DataType::Int16)
        .order(Order::ColumnMajor)
        .create()
        .unwrap();
    assert_eq!(document(&store, ".zgroup"), json!({"zarr_format": 2}));
    assert_eq!(document(&store, "x/.zgroup"), json!({"zarr_format": 2}));
    assert_eq!(
        document(&store, "x/y/.zarray"),
        json!({
            "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "fill_value": 0, "order": "F",
            "filters": null, "dimension_separator": ".",
            "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
        })
    );
}

#[test]
fn chunks_with_only_fill_values_are_stored_only_with_the_option() {
    for (store_empty, expected) in [(false, 0), (true, 4)] {
        let store = memory();
        let options = OpenOptions::new().store_empty_chunks(store_empty);
        let builder = options.create_array((store.clone(), "a")).shape([4, 4]).chunks([2, 2]);
        let array = builder.data_type(DataType::Float64).fill_value(f64::NAN).create().unwrap();
        array.write(.., f64::NAN).unwrap();
        assert_eq!(array.info().unwrap().chunks_stored, expected);
        assert!(array.read::<ArrayD<f64>>(..).unwrap().iter().all(|v| v.is_nan()));
    }
}

#[test]
fn a_chunk_that_becomes_all_fill_values_is_erased() {
    let array = int32(&memory(), &[4], &[2]).create().unwrap();
    array.write(.., arr1(&[1, 2, 3, 4])).unwrap();
    array.write(s![..2], 0).unwrap();
    assert_eq!(array.info().unwrap().chunks_stored, 1);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[0, 0, 3, 4]).into_dyn());
}

#[test]
fn missing_chunks_are_fill_values_or_errors_by_policy() {
    let store = memory();
    let array = int32(&store, &[4], &[2]).fill_value(7).create().unwrap();
    array.write(s![..2], 1).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[1, 1, 7, 7]).into_dyn());
    let complete = OpenOptions::new().missing_chunks(MissingChunks::Error);
    let array = complete.open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![..2]).unwrap().len(), 2);
    let error = array.read::<ArrayD<i32>>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("chunk [1] (key 'a/c/1')"), "{error}");
    assert_eq!((error.path(), error.chunk(), error.key()), (Some("/a"), Some(&[1][..]), Some("a/c/1")));
}

#[test]
fn the_fill_value_is_an_element() {
    let array = int32(&memory(), &[4], &[2]).fill_value(7).create().unwrap();
    assert_eq!(array.fill_value::<i32>().unwrap(), 7);
    let error = array.fill_value::<f32>().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::DataTypeMismatch, Some("/a")));
}

#[test]
fn growing_again_after_shrinking_gives_fill_values() {
    for shards in [false, true] {
        let store = memory();
        let builder = int32(&store, &[7, 6], &[2, 2]).fill_value(-1);
        let builder = if shards { builder.shards([4, 4]) } else { builder };
        let mut array = builder.create().unwrap();
        let values = Array2::from_shape_fn((7, 6), |(i, j)| i32::try_from(i * 6 + j).unwrap());
        array.write(.., &values).unwrap();
        array.resize([3, 5]).unwrap();
        assert_eq!(
            array.read::<ArrayD<i32>>(..).unwrap(),
            values.slice(ndarray::s![..3, ..5]).to_owned().into_dyn()
        );
        let inside = array.info().unwrap();
        assert_eq!(inside.chunks_stored, inside.chunks.unwrap(), "chunks outside are gone");
        array.resize([7, 6]).unwrap();
        let expected =
            Array2::from_shape_fn((7, 6), |(i, j)| if i < 3 && j < 5 { values[(i, j)] } else { -1 });
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), expected.into_dyn());
        let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
        assert_eq!(reopened.shape(), [7, 6]);
    }
}

#[test]
fn resizing_keeps_unknown_members_of_the_document() {
    let store = memory();
    int32(&store, &[4], &[2]).format(Format::V2).create().unwrap();
    let mut zarray = document(&store, "a/.zarray");
    zarray["later"] = json!({"keep": "me"});
    let key = Key::new("a/.zarray").unwrap();
    store.set(&key, zarray.to_string().as_bytes(), Default::default()).unwrap();
    let mut array = OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap();
    array.resize([9]).unwrap();
    zarray["shape"] = json!([9]);
    assert_eq!(document(&store, "a/.zarray"), zarray);
}

#[test]
fn append_grows_along_any_axis() {
    let mut array = int32(&memory(), &[2, 3], &[2, 2]).create().unwrap();
    array.write(.., arr2(&[[1, 2, 3], [4, 5, 6]])).unwrap();
    assert_eq!(array.append(arr2(&[[7, 8, 9]]), 0).unwrap(), [3, 3]);
    assert_eq!(array.append(arr2(&[[10], [11], [12]]), 1).unwrap(), [3, 4]);
    let expected = arr2(&[[1, 2, 3, 10], [4, 5, 6, 11], [7, 8, 9, 12]]);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), expected.into_dyn());
    for (values, axis) in [(arr2(&[[1, 2]]), 0), (arr2(&[[1, 2, 3, 4]]), 2), (arr2(&[[1, 2, 3, 4]]), 1)] {
        assert_eq!(array.append(&values, axis).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    assert_eq!(array.shape(), [3, 4]);
}

#[test]
fn two_handles_that_append_in_turn_lose_nothing() {
    let store = memory();
    int32(&store, &[0], &[3]).create().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                let mut array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
                for _ in 0..25 {
                    array.append(arr1(&[thread, thread]), 0).unwrap();
                }
            });
        }
    });
    let array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    let values = array.read::<ArrayD<i32>>(..).unwrap();
    assert_eq!(values.len(), 200);
    for thread in 0..4 {
        assert_eq!(values.iter().filter(|&&v| v == thread).count(), 50);
    }
}

/// Writes blocks of 5³ elements into chunks, and into inner chunks of shards, of 10³ elements. In this case, other
/// implementations lose a third of the data.
#[test]
fn threads_that_write_parts_of_the_same_chunks_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for (name, shards) in [("chunks", None), ("shards", Some([20, 20, 20]))] {
        let path = directory.path().join(name);
        let builder = zarrox::create_array(&path).shape([20, 20, 20]).chunks([10, 10, 10]);
        let builder = builder.data_type(DataType::UInt16).compressor(Zstd::level(1));
        let array =
            if let Some(shards) = shards { builder.shards(shards) } else { builder }.create().unwrap();
        // Some threads write through another handle, opened by another path to the same directory.
        let other = zarrox::open_array(directory.path().join("./").join(name)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8_usize {
                let array = if thread % 2 == 0 { &array } else { &other };
                scope.spawn(move || {
                    for block in (thread..64).step_by(8) {
                        let corner = [block / 16, block / 4 % 4, block % 4].map(|i| i * 5);
                        let [a, b, c] = corner.map(|start| start..start + 5);
                        let value = u16::try_from(block + 1).unwrap();
                        array.write(s![a, b, c], value).unwrap();
                    }
                });
            }
        });
        let expected = ArrayD::from_shape_fn(IxDyn(&[20, 20, 20]), |at| {
            u16::try_from(at[0] / 5 * 16 + at[1] / 5 * 4 + at[2] / 5 + 1).unwrap()
        });
        assert_eq!(array.read::<ArrayD<u16>>(..).unwrap(), expected, "{name}");
    }
}

#[test]
fn writing_inside_a_pool_of_rayons_does_not_deadlock() {
    use rayon::prelude::*;
    let array = int32(&memory(), &[64, 64], &[64, 64]).create().unwrap();
    (0..64_u64).into_par_iter().for_each(|row| {
        let values = Array1::from_elem(64, i32::try_from(row).unwrap());
        array.write(s![row, ..], &values).unwrap();
    });
    let values = array.read::<Array2<i32>>(..).unwrap();
    assert!(values.indexed_iter().all(|((row, _), &value)| usize::try_from(value) == Ok(row)));
}

#[test]
fn zero_dimensional_and_empty_arrays_work() {
    for format in [Format::V2, Format::V3] {
        let array = int32(&memory(), &[], &[]).format(format).create().unwrap();
        array.write(.., ndarray::arr0(5)).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), ndarray::arr0(5).into_dyn());
        assert_eq!(array.info().unwrap().chunks, Some(1));
        let mut array = int32(&memory(), &[0, 3], &[2, 2]).format(format).create().unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().shape(), [0, 3]);
        array.write(.., Array2::<i32>::zeros((0, 3))).unwrap();
        array.append(arr2(&[[1, 2, 3]]), 0).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr2(&[[1, 2, 3]]).into_dyn());
    }
}

#[test]
fn values_are_broadcast_as_numpy_does() {
    let array = int32(&memory(), &[2, 3], &[1, 2]).create().unwrap();
    array.write(.., arr1(&[1, 2, 3])).unwrap();
    array.write(s![.., 1..2], arr2(&[[8], [9]])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr2(&[[1, 8, 3], [1, 9, 3]]).into_dyn());
    let error = array.write(.., arr1(&[1, 2])).unwrap_err();
    assert!(error.to_string().contains("[2] cannot be written to a selection of shape [2, 3]"), "{error}");
}

/// The axes of the points of the first selection, and of the arrays of the second one, have another order in the result.
#[test]
fn through_a_view_the_last_value_in_the_order_of_the_result_stays() {
    let array = int32(&memory(), &[4], &[2]).create().unwrap();
    let points = array.vindex([[2, 0], [0, 0], [3, 2], [0, 0]]);
    let view = points.slice((.., [[1], [0], [1], [0]]));
    assert_eq!(view.shape().unwrap(), [4, 4, 1]);
    let values = Array1::from_iter(0..16).into_shape_with_order((4, 4, 1)).unwrap();
    view.write(&values).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[15, 0, 10, 11]).into_dyn());
}

#[test]
fn reading_into_memory_of_any_layout() {
    let array = int32(&memory(), &[3, 4], &[2, 2]).create().unwrap();
    let values = Array2::from_shape_fn((3, 4), |(i, j)| i32::try_from(i * 4 + j).unwrap());
    array.write(.., &values).unwrap();
    let mut memory = Array2::<i32>::zeros((8, 3));
    let mut view = memory.slice_mut(ndarray::s![..;-2, ..]);
    array.read_into(s![.., ..3], view.slice_mut(ndarray::s![1.., ..])).unwrap();
    assert_eq!(memory.row(5), arr1(&[0, 1, 2]));
    assert_eq!(memory.row(1), arr1(&[8, 9, 10]));
    let mut transposed = Array2::<i32>::zeros((4, 3)).reversed_axes();
    array.read_into(.., &mut transposed).unwrap();
    assert_eq!(transposed, values);
    assert_error(
        array.read_into(s![0, ..], &mut transposed),
        ErrorKind::InvalidArgument,
        "the memory has [3, 4]",
    );
}

#[test]
fn types_must_agree() {
    let array = int32(&memory(), &[2], &[2]).create().unwrap();
    let error = array.read::<ArrayD<f32>>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
    assert!(error.to_string().contains("the elements are int32, not float32"), "{error}");
    assert_eq!(array.write(.., arr1(&[1_u32, 2])).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    assert_eq!(array.write(.., u32::MAX).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    let error = int32(&memory(), &[2], &[2]).fill_value(1.5_f64).create().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
}

#[test]
fn chunks_can_be_read_encoded_and_decoded() {
    let array = int32(&memory(), &[3], &[2]).no_compressor().fill_value(9).create().unwrap();
    assert_eq!(array.raw().read(&[0]).unwrap(), None);
    array.write(.., arr1(&[1, 2, 3])).unwrap();
    assert_eq!(array.raw().key(&[1]).unwrap(), "a/c/1");
    assert_eq!(array.raw().read(&[1]).unwrap().unwrap(), [3, 0, 0, 0, 9, 0, 0, 0].as_slice());
    assert_eq!(array.raw().decode::<ArrayD<i32>>(&[1]).unwrap(), arr1(&[3, 9]).into_dyn());
    array.raw().write(&[0], &[5, 0, 0, 0, 6, 0, 0, 0]).unwrap();
    array.raw().encode(&[1], arr1(&[7, 8])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[5, 6, 7]).into_dyn());
    assert!(array.raw().erase(&[0]).unwrap());
    assert!(!array.raw().erase(&[0]).unwrap());
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[9, 9, 7]).into_dyn());
    for outside in [&[2][..], &[0, 0], &[]] {
        assert_eq!(array.raw().read(outside).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn an_array_opened_for_reading_refuses_every_change() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    zarrox::create_array(&path).shape([4]).data_type(DataType::Int8).create().unwrap();
    let options = OpenOptions::new().mode(OpenMode::Read);
    let mut array = options.open(&path).unwrap().into_array().unwrap();
    let kinds = [
        array.write(.., 1_i8).unwrap_err().kind(),
        array.resize([2]).unwrap_err().kind(),
        array.append(arr1(&[1_i8]), 0).unwrap_err().kind(),
        array.set_attributes(Map::new()).unwrap_err().kind(),
        array.raw().erase(&[0]).unwrap_err().kind(),
        array.raw().write(&[0], &[]).unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::ReadOnly; 6]);
    assert_eq!(array.read::<ArrayD<i8>>(..).unwrap().len(), 4);
}

/// Chunks larger than a core's cache are decoded block by block.
#[test]
fn large_compressed_chunks_read_in_parts_like_small_ones() {
    let values = Array2::from_shape_fn((700, 600), |(i, j)| u32::try_from((i * j) % 1009).unwrap());
    for codecs in [vec![Bytes::little().into()], vec![Bytes::big().into()]] {
        let store = memory();
        let builder = OpenOptions::new().create_array((store, "a")).shape([700, 600]).chunks([512, 512]);
        let chain =
            codecs.into_iter().chain([Zstd::level(1).checksum(true).into(), Crc32c::default().into()]);
        let array = builder.data_type(DataType::UInt32).codecs(chain).create().unwrap();
        array.write(.., &values).unwrap();
        assert_eq!(array.read::<ArrayD<u32>>(..).unwrap(), values.clone().into_dyn());
        let part = values.slice(ndarray::s![3..650;7, 11..590;3]).to_owned();
        assert_eq!(array.read::<ArrayD<u32>>(s![3..650;7, 11..590;3]).unwrap(), part.into_dyn());
        assert_eq!(array.read::<ArrayD<u32>>(s![.., 5]).unwrap(), values.column(5).to_owned().into_dyn());
        let encoded = array.raw().read(&[0, 0]).unwrap().unwrap();
        for damage in [encoded.len() - 40, encoded.len() / 2] {
            let mut broken = encoded.to_vec();
            broken[damage] ^= 0x10;
            array.raw().write(&[0, 0], &broken).unwrap();
            let error = array.read::<ArrayD<u32>>(s![0, 0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }
}

#[test]
fn dynamic_arrays_go_in_and_out() {
    let array = int32(&memory(), &[2, 2], &[1, 2]).create().unwrap();
    let values = DynArray::new(DataType::Int32, vec![2], [1_i32, 2].map(i32::to_ne_bytes).concat()).unwrap();
    array.write(s![1, ..], &values).unwrap();
    let read = array.read::<DynArray>(s![1, ..]).unwrap();
    assert_eq!(read, values);
    assert_eq!(read.to::<ArrayD<i32>>().unwrap(), arr1(&[1, 2]).into_dyn());
    assert_error(read.to::<ArrayD<u32>>(), ErrorKind::DataTypeMismatch, "not uint32");
    assert!(array.write(s![.., 1..], &values).is_err(), "not the selection's shape");
    assert_error(
        DynArray::new(DataType::Int32, vec![3], vec![0; 4]),
        ErrorKind::InvalidArgument,
        "4 bytes are not an array",
    );
    let text: Vec<String> = read.as_bytes().chunks(4).map(|e| array.format_element(e).unwrap()).collect();
    assert_eq!(text, ["1", "2"]);
}

#[test]
fn old_nested_v2_stores_are_found_to_be_nested() {
    let store = memory();
    let array = int32(&store, &[4, 4], &[2, 2])
        .format(Format::V2)
        .separator(zarrox::Separator::Slash)
        .create()
        .unwrap();
    array.write(s![2.., 2..], 5).unwrap();
    let mut zarray = document(&store, "a/.zarray");
    zarray.as_object_mut().unwrap().remove("dimension_separator");
    let key = Key::new("a/.zarray").unwrap();
    store.set(&key, zarray.to_string().as_bytes(), Default::default()).unwrap();
    let array = OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![3, 3]).unwrap(), ndarray::arr0(5).into_dyn());
    assert_eq!(array.raw().key_encoding().unwrap(), ChunkKeyEncoding::V2(Separator::Slash));
    assert_eq!(array.info().unwrap().chunks_stored, 1);
    let written = array.clone();
    written.write(.., 6).unwrap();
    assert_eq!(array.info().unwrap().chunks_stored, 4);
    assert!(store.size(&Key::new("a/0.0").unwrap()).unwrap().is_none());

    // An array in an empty store uses the chunk keys of the specification, whatever other writers do afterwards.
    let empty = memory();
    empty.set(&key, zarray.to_string().as_bytes(), Default::default()).unwrap();
    let array = OpenOptions::new().open((empty.clone(), "a")).unwrap().into_array().unwrap();
    array.write(s![..2, 2..], 7).unwrap();
    empty.set(&Key::new("a/1/1").unwrap(), b"", Default::default()).unwrap();
    array.write(s![2.., ..2], 8).unwrap();
    for name in ["a/0.1", "a/1.0"] {
        assert!(empty.size(&Key::new(name).unwrap()).unwrap().is_some(), "{name}");
    }
}

#[test]
fn arrays_of_a_hierarchy_share_codecs_only_where_nothing_differs() {
    let store = memory();
    let create = |name: &str, fill: i32, chunk: u64, level: i32| {
        let array = OpenOptions::new().create_array((store.clone(), name)).shape([4]).chunks([chunk]);
        array.data_type(DataType::Int32).compressor(Zstd::level(level)).fill_value(fill).create().unwrap();
    };
    let different = [("a", 1, 2, 3), ("b", 1, 2, 3), ("c", 2, 2, 3), ("d", 2, 4, 3), ("e", 2, 4, 5)];
    for (name, fill, chunk, level) in different {
        create(name, fill, chunk, level);
    }
    let group = OpenOptions::new().open((store, "")).unwrap().into_group().unwrap();
    for (name, fill, chunk, level) in different {
        let array = group.open(name).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(0).unwrap(), ndarray::arr0(fill).into_dyn(), "{name}");
        assert_eq!(array.unit_shape(), [chunk], "{name}");
        assert_eq!(array.codecs()[1].configuration["level"], level, "{name}");
    }
}

#[test]
fn an_append_that_fails_leaves_no_trace() {
    let store = memory();
    let mut array = int32(&store, &[3], &[2]).fill_value(-1).create().unwrap();
    array.write(.., arr1(&[1, 2, 3])).unwrap();
    let failed = array.append_with(&[6], 0, |grown, place| {
        assert_eq!(grown.shape(), [9]);
        grown.write(place, 7)?;
        assert_eq!(OpenOptions::new().open((store.clone(), "a"))?.into_array()?.shape(), [3], "not yet seen");
        grown.write(s![100], 0)
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::InvalidSelection);
    assert_eq!(array.shape(), [3]);
    assert_eq!(array.info().unwrap().chunks_stored, 2);
    array.resize([9]).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[1, 2, 3, -1, -1, -1, -1, -1, -1]).into_dyn());
}

#[test]
fn memory_that_is_shared_is_copied_before_it_is_read_into() {
    let array = int32(&memory(), &[8, 4], &[4, 4]).create().unwrap();
    let values = Array2::from_shape_fn((8, 4), |(row, column)| i32::try_from(row * 4 + column).unwrap());
    array.write(.., &values).unwrap();
    // The copies have other strides than the originals.
    let base = Array2::<i32>::zeros((8, 4));
    let mut borrowed = ndarray::CowArray::from(base.slice(ndarray::s![..;-1, ..;-1]));
    array.read_into(.., &mut borrowed).unwrap();
    assert_eq!(borrowed, values);
    assert_eq!(base.sum(), 0, "what was borrowed is left alone");
    let shared = ndarray::ArcArray2::<i32>::zeros((8 * 4096, 4));
    let mut part = shared.clone().slice_move(ndarray::s![..;4096, ..]);
    array.read_into(.., &mut part).unwrap();
    assert_eq!(part, values);
    assert_eq!(shared.sum(), 0);
}

#[test]
fn a_write_to_the_edge_keeps_what_another_handle_has_appended_behind_it() {
    for shards in [None, Some([8])] {
        let store = memory();
        let builder = int32(&store, &[5], &[4]);
        let builder = if let Some(shards) = shards { builder.shards(shards) } else { builder };
        let mut array = builder.create().unwrap();
        let other = array.clone();
        array
            .append_with(&[2], 0, |grown, place| {
                grown.write(place, arr1(&[7, 8]))?;
                // Even a new handle does not know the new shape yet.
                let fresh = OpenOptions::new().open((store.clone(), "a"))?.into_array()?;
                fresh.write(.., 1)
            })
            .unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[1, 1, 1, 1, 1, 7, 8]).into_dyn());
        other.write(.., 2).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[2, 2, 2, 2, 2, 7, 8]).into_dyn());
    }
}

#[test]
fn elements_without_bytes_or_with_too_many_are_refused() {
    for bytes in [0, (1 << 20) + 1, 1 << 58, usize::MAX / 8] {
        let builder = OpenOptions::new().create_array((memory(), "a")).shape([4]);
        let error = builder.data_type(DataType::RawBits(bytes)).create().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
}

#[test]
fn results_without_elements_may_have_any_lengths() {
    let huge = 1 << 40;
    let array = int32(&memory(), &[0, huge, huge, huge], &[1, 1, 1, 1]).create().unwrap();
    assert_eq!(array.read::<DynArray>(s![.., ..;-1, .., ..]).unwrap().as_bytes(), [0_u8; 0]);
    let foreign = |order| {
        let shape = vec![1 << 40, 1 << 40, 0];
        DynArray::from_foreign(
            DataType::Int32,
            shape,
            Vec::new(),
            &zarrox::internals::data_type::ByteOrder::One(zarrox::data_type::Endian::Big),
            order,
        )
    };
    // Whether such a shape is an error depends on the order of its dimensions, but it must not panic.
    assert!(foreign(zarrox::Order::RowMajor).is_err() || foreign(zarrox::Order::ColumnMajor).is_err());
}

#[test]
fn elements_of_a_type_known_only_at_run_time_are_broadcast() {
    let directory = tempfile::tempdir().unwrap();
    let pair = [("at", DataType::Int16), ("id", DataType::Int32)];
    let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3]).chunks([1, 2]);
    let array = array.data_type(DataType::structure(pair).unwrap()).create().unwrap();
    let numbers = |shape: &[usize], values: &[i32]| {
        let values = ndarray::ArrayD::from_shape_vec(shape, values.to_vec()).unwrap();
        DynArray::from_values(DataType::Int32, &values).unwrap()
    };
    array.field("id").write(numbers(&[3], &[1, 2, 3])).unwrap();
    array.oindex((1, [2, 0])).field("id").write(numbers(&[1, 1], &[9])).unwrap();
    let ids = array.field("id").read::<ArrayD<i32>>().unwrap();
    assert_eq!(ids, ndarray::arr2(&[[1, 2, 3], [9, 2, 9]]).into_dyn());
    let first = array.read::<DynArray>(s![0..1, 0..1]).unwrap();
    array.slice(s![1, ..]).write(&first).unwrap();
    array.mask(ndarray::arr2(&[[false, false, true], [false, false, true]])).write(&first).unwrap();
    let ids = array.field("id").read::<ArrayD<i32>>().unwrap();
    assert_eq!(ids, ndarray::arr2(&[[1, 2, 1], [1, 1, 1]]).into_dyn());
    for shape in [&[2][..], &[3, 1], &[2, 2, 3], &[0]] {
        let count = shape.iter().product();
        let error = array.field("id").write(numbers(shape, &vec![0; count])).unwrap_err();
        assert_eq!(error.kind(), zarrox::ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(&format!("{shape:?}")), "{error}");
    }
}

#[test]
fn an_invalid_compression_level_is_refused_for_new_arrays_and_ignored_by_readers() {
    let refused: [(CodecSpec, &str); 6] = [
        (Zstd::level(99).into(), "level 99 does not exist; the nearest is 22"),
        (Zstd::level(-200_000).into(), "level -200000 does not exist; the nearest is -131072"),
        (Gzip::level(20).into(), "-1 to 9"),
        (Bz2::level(0).into(), "1 to 9"),
        (Blosc::lz4().level(10).into(), "0 to 9"),
        (Lzma::xz(10).into(), "liblzma rejects"),
    ];
    for (codec, why) in refused {
        let store = memory();
        let plain = int32(&store, &[8], &[4]).compressor(codec.clone());
        for builder in [plain.clone(), plain.shards([8])] {
            let error = builder.create().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            assert!(error.to_string().contains(why), "{codec}: {error}");
        }
        assert_eq!(
            store.list_dir(&zarrox::stores::Prefix::root()).unwrap().prefixes,
            [],
            "nothing was written"
        );
    }
    let store = memory();
    let array = int32(&store, &[4], &[4]).compressor(Zstd::level(22)).create().unwrap();
    array.write(.., arr1(&[1, 2, 3, 4])).unwrap();
    let key = Key::new("a/zarr.json").unwrap();
    let document = String::from_utf8(store.get(&key).unwrap().unwrap().to_vec()).unwrap();
    let other = document.replace("\"level\": 22", "\"level\": 99").replace("\"level\":22", "\"level\":99");
    assert_ne!(document, other);
    store.set(&key, other.as_bytes(), zarrox::stores::Condition::Always).unwrap();
    let array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 10);
}

#[test]
fn an_array_like_another_has_its_properties_and_may_differ() {
    let directory = tempfile::tempdir().unwrap();
    let shards =
        zarrox::create_array(directory.path().join("a.zarr")).shape([8, 8]).chunks([2, 4]).shards([4, 8]);
    let shards =
        shards.data_type(DataType::Float32).fill_value(2).dimension_names(["y", "x"]).create().unwrap();
    let place = |name: &str| directory.path().join(name);
    let same = zarrox::create_array(place("b.zarr")).like(&shards).create().unwrap();
    assert_eq!(same.metadata(), shards.metadata());
    let other = zarrox::create_array(place("c.zarr"))
        .like(&shards)
        .shape([16, 8])
        .chunks([1, 8])
        .data_type(DataType::Int16)
        .create();
    let other = other.unwrap();
    assert_eq!((other.chunk_shape(), other.inner_chunk_shape()), (&[4, 8][..], Some(vec![1, 8])));
    assert_eq!(other.get::<i16>((15, 7)).unwrap(), 2);
    let larger = zarrox::create_array(place("d.zarr")).like(&shards).shards([8, 8]).create().unwrap();
    assert_eq!((larger.chunk_shape(), larger.inner_chunk_shape()), (&[8, 8][..], Some(vec![2, 4])));
}

#[test]
fn one_element_is_named_by_a_tuple_or_a_list() {
    let directory = tempfile::tempdir().unwrap();
    let array =
        zarrox::create_array(directory.path().join("a.zarr")).shape([4, 6]).data_type(DataType::Int32);
    let array = array.create().unwrap();
    array.write((3, 2), 5).unwrap();
    for element in
        [array.get::<i32>((3, -4)), array.get([3, 2]), array.get(&[-1_i64, 2][..]), array.get(s![3, 2])]
    {
        assert_eq!(element.unwrap(), 5);
    }
    assert_eq!(array.read::<Vec<i32>>(..).unwrap().iter().sum::<i32>(), 5);
    for error in [array.get::<i32>([3]).unwrap_err(), array.get::<i32>((3, ..)).unwrap_err()] {
        assert_eq!(error.kind(), zarrox::ErrorKind::InvalidSelection);
    }
}
