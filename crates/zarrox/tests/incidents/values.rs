//! Values and codecs that other programs confuse.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array1, arr1};
use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, ErrorKind, OpenOptions};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn set(store: &Arc<dyn Store>, key: &str, value: &[u8]) {
    store.set(&Key::new(key).unwrap(), value, Condition::Always).unwrap();
}

fn open(store: &Arc<dyn Store>) -> zarrox::Result<Array> {
    OpenOptions::new().open((store.clone(), "a"))?.into_array()
}

#[test]
fn incident_12_a_structure_keeps_its_byte_order() {
    let store = memory();
    let document = json!({
        "zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "filters": null, "compressor": null,
        "dtype": [["x", ">i4"], ["y", ">f8"]], "fill_value": null,
    });
    set(&store, "a/.zarray", document.to_string().as_bytes());
    let mut chunk = Vec::new();
    for (x, y) in [(1_i32, 2.5_f64), (258, -1.0)] {
        chunk.extend(x.to_be_bytes());
        chunk.extend(y.to_be_bytes());
    }
    set(&store, "a/0", &chunk);
    let array = open(&store).unwrap();
    assert_eq!(array.field("x").read::<ArrayD<i32>>().unwrap(), arr1(&[1, 258]).into_dyn());
    assert_eq!(array.field("y").read::<ArrayD<f64>>().unwrap(), arr1(&[2.5, -1.0]).into_dyn());
    array.field("x").write(arr1(&[3, 515])).unwrap();
    let written = store.get(&Key::new("a/0").unwrap()).unwrap().unwrap();
    assert_eq!((&written[..4], &written[12..16]), (&[0, 0, 0, 3][..], &[0, 0, 2, 3][..]));
    assert_eq!(written[4..12], 2.5_f64.to_be_bytes());
    // A change of attributes keeps the stored data type.
    let mut array = open(&store).unwrap();
    array.update_attributes(|map| drop(map.insert("a".to_owned(), json!(1)))).unwrap();
    let document = store.get(&Key::new("a/.zarray").unwrap()).unwrap().unwrap();
    let document: Json = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["dtype"], json!([["x", ">i4"], ["y", ">f8"]]));
    assert_eq!(open(&store).unwrap().field("x").read::<ArrayD<i32>>().unwrap(), arr1(&[3, 515]).into_dyn());
}

#[test]
fn incident_13_every_nan_comes_back() {
    // The usual quiet NaN, one with a payload, and a negative one.
    let nans = [0x7ff8_0000_0000_0000, 0x7ff8_0000_0000_1234, 0xfff8_0000_0000_0000_u64].map(f64::from_bits);
    let bits = |values: &ndarray::ArrayD<f64>| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for fill in nans {
        let store = memory();
        let builder = OpenOptions::new().create_array((store.clone(), "a")).shape([12]).chunks([4]);
        let array = builder.data_type(DataType::Float64).fill_value(fill).create().unwrap();
        assert_eq!(bits(&open(&store).unwrap().read::<ArrayD<f64>>(..).unwrap()), [fill.to_bits(); 12]);
        let values = Array1::from_iter(nans.into_iter().flat_map(|nan| [nan; 4]));
        array.write(.., &values).unwrap();
        assert_eq!(bits(&open(&store).unwrap().read::<ArrayD<f64>>(..).unwrap()), bits(&values.into_dyn()));
        // Only the chunk of fill values is not stored.
        let stored = zarrox_testkit::store::list(&*store, "a/c/").len();
        assert_eq!(stored, 2, "of the chunks of {:x}", fill.to_bits());
    }
}

#[test]
fn incident_16_pickle_behind_a_harmless_codec() {
    let pickle = json!({"id": "pickle", "protocol": 5});
    let harmless = ["vlen-utf8", "vlen-bytes", "json2", "msgpack2"].map(|id| json!({"id": id}));
    for codec in harmless {
        for (filters, compressor) in [
            (json!([codec, pickle]), Json::Null),
            (json!([pickle, codec]), Json::Null),
            (json!([codec]), pickle.clone()),
            (json!([codec, {"id": "zlib", "level": 1}, pickle]), Json::Null),
        ] {
            let store = memory();
            let document = json!({
                "zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "dtype": "|O", "fill_value": null,
                "filters": filters, "compressor": compressor,
            });
            set(&store, "a/.zarray", document.to_string().as_bytes());
            // The pickle would call `print`.
            set(&store, "a/0", b"cbuiltins\nprint\n(S'pickled'\ntR.");
            let error = open(&store).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{filters} {compressor}: {error}");
            assert!(error.to_string().contains("pickle"), "{error}");
        }
    }
}
