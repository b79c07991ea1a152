//! The codecs that compress numbers, in arrays of each format.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array1, ArrayD};
use zarrox::codecs::{Pcodec, Zfp, Zfpy};
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{CodecSpec, ErrorKind, OpenOptions};

/// Creates a store with an array of v2 at its root.
fn v2(document: &Json, chunks: &[(&str, &str)]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.set(&Key::new(".zarray").unwrap(), document.to_string().as_bytes(), Condition::Always).unwrap();
    for (key, digits) in chunks {
        let pairs = digits.as_bytes().chunks_exact(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        store.set(&Key::new(*key).unwrap(), &pairs.map(byte).collect::<Vec<_>>(), Condition::Always).unwrap();
    }
    store
}

fn open(store: &Arc<dyn Store>) -> zarrox::Result<Array> {
    OpenOptions::new().open((store.clone(), ""))?.into_array()
}

fn pcodec() -> Json {
    json!({
        "id": "pcodec", "level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to",
        "delta_encoding_order": null, "equal_pages_up_to": 262_144,
    })
}

fn zfpy(tolerance: &Json) -> Json {
    json!({
        "id": "zfpy", "mode": 4, "compression_kwargs": {"tolerance": tolerance}, "tolerance": tolerance, "rate": -1,
        "precision": -1,
    })
}

/// Returns the numbers 0 to 11, in three rows.
fn counted<T: From<u8> + Clone>() -> ArrayD<T> {
    Array1::from_iter((0..12).map(T::from)).into_shape_with_order(vec![3, 4]).unwrap()
}

#[test]
fn numbers_of_zarr_python_2_are_read() {
    // zarr-python 2.18.7, with numcodecs 0.15.1, pcodec 1.1.0 and zfpy 1.0.1, wrote `np.arange(12)` of
    // the type.
    let document = |dtype: &str, changes: Json| {
        let mut document = json!({
            "zarr_format": 2, "shape": [3, 4], "chunks": [3, 4], "dtype": dtype, "fill_value": 0, "order": "C",
            "filters": null, "compressor": null,
        });
        document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        document
    };
    let zlib = || json!({"id": "zlib", "level": 1});
    let store = v2(
        &document("<i4", json!({"compressor": pcodec(), "chunks": [2, 4]})),
        &[
            ("0.0", "70636f2103000302040103070000001000000000001c0088c6fa00"),
            ("1.0", "70636f210300030204010307000000100000000000240098ba000000"),
        ],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<i32>>(..).unwrap(), counted::<i32>());
    assert_eq!(open(&store).unwrap().read::<ArrayD<i32>>(s![1.., 2]).unwrap().as_slice(), Some(&[6, 10][..]));
    let store = v2(
        &document("<f8", json!({"compressor": pcodec(), "order": "F"})),
        &[(
            "0.0",
            "70636f21030003030401060b0000200340002000000040a0034000000000000040ff01020000000000c0fb0f400000000000000280\
             800100000000002000040000000000000002200000000000000020000100000000000000010c000000000000000080e7c980a22a09\
             2b010000",
        )],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<f64>>(..).unwrap(), counted::<f64>());
    let store = v2(
        &document("<u2", json!({"compressor": zlib(), "filters": [pcodec()]})),
        &[("0.0", "78012b48ce5764666066666164e766601060646c60706000020027120256")],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<u16>>(..).unwrap(), counted::<u16>());
    let store = v2(
        &document("<M8[s]", json!({"compressor": pcodec()})),
        &[("0.0", "70636f21030003030401040b0000001000000000000000000024001032547698ba00")],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<i64>>(..).unwrap(), counted::<i64>());
    let store = v2(
        &document("<f4", json!({"compressor": zfpy(&json!(0.01))})),
        &[("0.0", "7a667005360000200000c0ca0771488c465420020000000000000000000000000000000000000000")],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<f32>>(..).unwrap(), counted::<f32>());
    let store = v2(
        &document("<f8", json!({"compressor": zlib(), "filters": [zfpy(&json!(-1))]})),
        &[("0.0", "7801ab4a2b6035676050606060e8e0ddc0a1c0c0d8e0c020c0c000003a2203eb")],
    );
    assert_eq!(open(&store).unwrap().read::<ArrayD<f64>>(..).unwrap(), counted::<f64>());
    let store = v2(
        &document(
            "<i8",
            json!({"compressor": zfpy(&json!(-1)), "order": "F", "shape": [12, 1], "chunks": [12, 1]}),
        ),
        &[(
            "0.0",
            "7a667005050000b0000000883f0000000000000020fd0000000000000060a81f000000000000000b1400000000000000",
        )],
    );
    assert_eq!(
        open(&store).unwrap().read::<ArrayD<i64>>(..).unwrap().as_slice(),
        counted::<i64>().as_slice()
    );
}

#[test]
fn numcodecs_lists_them_as_compressors() {
    for (codec, id) in [(CodecSpec::from(Pcodec::default()), "pcodec"), (Zfpy::reversible().into(), "zfpy")] {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder = OpenOptions::new().create_array((store.clone(), "")).format(Format::V2);
            let builder = builder.shape([3, 4]).chunks([2, 3]).data_type(DataType::Float64);
            let array = builder.order(order).compressor(codec.clone()).create().unwrap();
            array.write(.., counted::<f64>()).unwrap();
            array.write(s![1, 1..], -1.5).unwrap();
            let bytes = store.get(&Key::new(".zarray").unwrap()).unwrap().unwrap();
            let document: Json = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(document["compressor"], if id == "zfpy" { zfpy(&json!(-1)) } else { pcodec() });
            assert_eq!((&document["filters"], &document["dtype"]), (&Json::Null, &json!("<f8")));
            let mut wanted = counted::<f64>();
            wanted.slice_mut(ndarray::s![1, 1..]).fill(-1.5);
            assert_eq!(open(&store).unwrap().read::<ArrayD<f64>>(..).unwrap(), wanted);
        }
    }
}

#[test]
fn big_endian_numbers_are_not_guessed_at() {
    for compressor in [pcodec(), zfpy(&json!(-1))] {
        let document = json!({
            "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": ">i8", "fill_value": 0, "order": "C",
            "filters": null, "compressor": compressor,
        });
        let error = open(&v2(&document, &[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("big-endian"), "{error}");
    }
}

#[test]
fn lossy_chunks_hold_their_tolerance_in_shards_and_when_they_are_changed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store.clone(), "")).shape([50, 40]).chunks([16, 16]);
    let builder = builder.shards([32, 32]).data_type(DataType::Float32).compressor(Zfp::fixed_accuracy(0.01));
    let array = builder.create().unwrap();
    let wave = |i: usize| (i as f32 / 17.0).sin() * 100.0;
    let wanted = ArrayD::from_shape_fn(vec![50, 40], |index| wave(40 * index[0] + index[1]));
    array.write(.., &wanted).unwrap();
    let near = |found: &ArrayD<f32>, times: f32| {
        let error = (found - &wanted).iter().fold(0.0_f32, |most, error| most.max(error.abs()));
        assert!(error <= times * 0.01, "{error}");
    };
    near(&open(&store).unwrap().read(..).unwrap(), 1.0);
    array.write(s![3..20, 5..9], wanted.slice(ndarray::s![3..20, 5..9])).unwrap();
    near(&array.read(..).unwrap(), 2.0);
    let error = array.write(s![..2, ..2], f32::NAN).unwrap_err().to_string();
    assert!(error.contains("NaN") && error.contains("'zfp'"), "{error}");
    near(&array.read(..).unwrap(), 2.0);
}
