//! The filters of version 2, as zarr-python writes and reads them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use serde_json::{Value, json};
use zarrox::prelude::*;
use zarrox::stores::{Key, MemoryStore, Store};
use zarrox::{ErrorKind, OpenOptions};

/// A store with an array of this type and these filters, of one chunk of 2 × 3 elements.
fn stored(dtype: &str, order: &str, filters: &Value, chunk: &[u8]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = json!({
        "zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": dtype, "compressor": null, "fill_value": 0,
        "order": order, "filters": filters, "dimension_separator": ".",
    });
    let set =
        |key: &str, bytes: &[u8]| store.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
    set(".zarray", meta.to_string().as_bytes());
    set("0.0", chunk);
    store
}

fn chunk_of(store: &Arc<dyn Store>) -> Vec<u8> {
    store.get(&Key::new("0.0").unwrap()).unwrap().unwrap().to_vec()
}

/// The chunks are those of zarr-python 2.18.7 and numcodecs 0.15.1, of the numbers `[[1, 2, 4], [8, 16, 32]]`.
#[test]
fn byte_orders_and_orders_of_elements() {
    let delta = |dtype: &str, astype: &str| json!({"id": "delta", "dtype": dtype, "astype": astype});
    let scaled = json!({"id": "fixedscaleoffset", "scale": 10, "offset": 1, "dtype": ">f8", "astype": "<i2"});
    for (dtype, order, filters, chunk) in [
        ("<i4", "C", json!([delta("<i4", "|i1")]), vec![1, 1, 2, 4, 8, 16]),
        (">i4", "F", json!([delta(">i4", ">i2")]), vec![0, 1, 0, 7, 255, 250, 0, 14, 255, 244, 0, 28]),
        (">i4", "C", json!([delta(">i4", "<i2")]), vec![1, 0, 1, 0, 2, 0, 4, 0, 8, 0, 16, 0]),
        (
            ">f8",
            "F",
            json!([scaled, delta("<i2", ">i2")]),
            vec![0, 0, 0, 70, 255, 196, 0, 140, 255, 136, 1, 24],
        ),
        ("<f8", "C", json!([delta("f8", "i2")]), vec![1, 0, 1, 0, 2, 0, 4, 0, 8, 0, 16, 0]),
    ] {
        let store = stored(dtype, order, &filters, &chunk);
        let array = OpenOptions::new().open_in(store.clone(), "").unwrap().into_array().unwrap();
        let values = array.read_dyn(..).unwrap();
        let found: Vec<f64> = if dtype.ends_with("f8") {
            values.to_typed::<f64>().unwrap().into_iter().collect()
        } else {
            values.to_typed::<i32>().unwrap().into_iter().map(f64::from).collect()
        };
        assert_eq!(found, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], "{dtype} {order} {filters}");
        let part = array.read_dyn(s![1..2, 1..3]).unwrap();
        assert_eq!(part.as_bytes(), &values.as_bytes()[values.as_bytes().len() / 3 * 2..], "{filters}");
        array.write_dyn(.., &values).unwrap();
        assert_eq!(chunk_of(&store), chunk, "{dtype} {order} {filters}");
    }
}

#[test]
fn what_numcodecs_would_take_for_other_numbers_is_refused() {
    let open = |dtype: &str, filters: Value| {
        let opened = OpenOptions::new().open_in(stored(dtype, "C", &filters, &[0; 24]), "");
        opened.and_then(|node| node.into_array()).unwrap_err()
    };
    let error = open(">i4", json!([{"id": "delta", "dtype": "<i4", "astype": "<i4"}]));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("big-endian elements for little-endian ones"), "{error}");
    let error = open(
        "<f8",
        json!([
            {"id": "fixedscaleoffset", "scale": 10, "offset": 1, "dtype": "<f8", "astype": ">i2"},
            {"id": "delta", "dtype": "<i2", "astype": "<i2"},
        ]),
    );
    assert!(error.to_string().contains("'numcodecs.delta' takes big-endian elements"), "{error}");
    // Numbers whose bytes went through a codec for bytes are no array any more.
    let error =
        open("<i4", json!([{"id": "bz2", "level": 1}, {"id": "delta", "dtype": "|u1", "astype": "|u1"}]));
    assert!(error.to_string().contains("codec 'numcodecs.delta' needs an array"), "{error}");
}
