//! Zarr version 1.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array2, arr1};
use zarrox::codecs::Zstd;
use zarrox::json::{Json, json};
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{ErrorKind, OpenOptions, Separator};
use zarrox::{prelude::*, s};

fn set(store: &Arc<dyn Store>, key: &str, bytes: &[u8]) {
    store.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
}

fn json_of(store: &Arc<dyn Store>, key: &str) -> Json {
    serde_json::from_slice(&store.get(&Key::new(key).unwrap()).unwrap().unwrap()).unwrap()
}

/// The example of the specification; the chunk is Python's `zlib.compress(struct.pack("<100i", *[1] * 100), 1)`.
#[test]
fn the_example_of_the_specification_opens() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = json!({
        "chunks": [10, 10], "compression": "zlib", "compression_opts": 1, "dtype": "<i4", "fill_value": 42, "order": "C",
        "shape": [20, 20], "zarr_format": 1,
    });
    set(&store, "meta", meta.to_string().as_bytes());
    set(&store, "attrs", br#"{"foo": 42, "bar": "apples"}"#);
    set(
        &store,
        "0.0",
        &[
            0x78, 0x01, 0x63, 0x64, 0x60, 0x60, 0x60, 0x1c, 0xc5, 0x83, 0x26, 0x0c, 0x00, 0x50, 0x78, 0x00,
            0x65,
        ],
    );
    let mut array = OpenOptions::new().open((store.clone(), "")).unwrap().into_array().unwrap();
    assert_eq!(array.metadata().format, Format::V1);
    assert_eq!(array.attributes()["bar"], "apples");
    let expected = Array2::from_shape_fn((20, 20), |(i, j)| if i < 10 && j < 10 { 1 } else { 42 });
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), expected.into_dyn());
    array.write(s![10.., ..], 3).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![9..11, 9]).unwrap(), arr1(&[1, 3]).into_dyn());
    array.resize([25, 20]).unwrap();
    array.update_attributes(|map| drop(map.insert("baz".into(), json!([1, 2])))).unwrap();
    let mut grown = meta;
    grown["shape"] = json!([25, 20]);
    assert_eq!(json_of(&store, "meta"), grown);
    assert_eq!(json_of(&store, "attrs"), json!({"foo": 42, "bar": "apples", "baz": [1, 2]}));
}

#[test]
fn arrays_are_written_as_the_specification_has_them() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = OpenOptions::new().format(Format::V1);
    let builder =
        options.create_array((store.clone(), "")).shape([4]).chunks([2]).data_type(DataType::Float64);
    let array = builder.fill_value(f64::NAN).create().unwrap();
    array.write(s![1..3], arr1(&[1.5, 2.5])).unwrap();
    assert_eq!(
        json_of(&store, "meta"),
        json!({
            "zarr_format": 1, "shape": [4], "chunks": [2], "dtype": "<f8", "fill_value": "NaN", "order": "C",
            "compression": "blosc", "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1},
        })
    );
    assert_eq!(json_of(&store, "attrs"), json!({}));
    let read = options.open((store, "")).unwrap().into_array().unwrap().read::<ArrayD<f64>>(..).unwrap();
    assert!(read[0].is_nan() && read[1] == 1.5 && read[2] == 2.5 && read[3].is_nan());
    let elsewhere =
        || options.create_array((Arc::new(MemoryStore::new()), "")).shape([4]).data_type(DataType::Int8);
    for refused in [
        elsewhere().compressor(Zstd::level(1)).create(),
        elsewhere().separator(Separator::Slash).create(),
        elsewhere().dimension_names(["x"]).create(),
        options
            .create_array((Arc::new(MemoryStore::new()), "a/b"))
            .shape([4])
            .data_type(DataType::Int8)
            .create(),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
