//! Elements that may be missing, from metadata to Rust's `Option`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array1, Array2, arr1, arr2};
use zarrox::codecs::{Bytes, Sharding, Transpose, ZarrsOptional};
use zarrox::data_type::Optional;
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn some<T: Element>(values: &[Option<T>]) -> Vec<Optional<T>> {
    values.iter().map(|&value| value.into()).collect()
}

fn document(store: &Arc<dyn Store>) -> Json {
    let bytes = store.get(&Key::new("zarr.json").unwrap()).unwrap().unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn options_are_written_and_read() {
    let store = memory();
    let array = OpenOptions::new()
        .create_array((store.clone(), ""))
        .shape([5])
        .chunks([2])
        .data_type(Optional::<f32>::data_type())
        .create()
        .unwrap();
    let values = [Some(1.5_f32), None, Some(-0.0)];
    array.write(s![1..4], Array1::from(some(&values))).unwrap();
    let document = document(&store);
    assert_eq!(document["fill_value"], json!(null));
    let data_type =
        json!({"name": "zarrs.optional", "configuration": {"name": "float32", "configuration": {}}});
    assert_eq!(document["data_type"], data_type);
    assert_eq!(document["codecs"][0]["name"], "zarrs.optional");
    for strict in [false, true] {
        let array =
            OpenOptions::new().strict(strict).open((store.clone(), "")).unwrap().into_array().unwrap();
        let read: Vec<Option<f32>> =
            array.read::<ArrayD<Optional<f32>>>(..).unwrap().iter().map(|&element| element.into()).collect();
        assert_eq!(read, [None, Some(1.5), None, Some(-0.0), None]);
        let every = array.read::<ArrayD<Optional<f32>>>(s![1..5;2]).unwrap();
        assert_eq!(every, arr1(&some(&[Some(1.5_f32), Some(0.0)])).into_dyn());
    }
    assert!(store.get(&Key::new("c/2").unwrap()).unwrap().is_none(), "only missing elements are not stored");
    let error = array.read::<ArrayD<Optional<f64>>>(..).unwrap_err();
    assert!(error.to_string().contains("zarrs.optional"), "{error}");
    assert_error(array.read::<ArrayD<f32>>(..), ErrorKind::DataTypeMismatch, "not float32");
}

#[test]
fn text_may_be_missing() {
    let store = memory();
    let text = DataType::optional(DataType::string()).unwrap();
    let create = OpenOptions::new().create_array((store.clone(), "")).shape([5]).chunks([3]);
    let array = create.data_type(text).fill_value_json(json!(["-"])).create().unwrap();
    let texts = [Some("né"), None, Some("")].map(|text| text.map(str::to_owned));
    array.write(s![1..4], arr1(&texts)).unwrap();
    let array = OpenOptions::new().strict(true).open((store, "")).unwrap().into_array().unwrap();
    let read = array.read::<ArrayD<Option<String>>>(..).unwrap();
    let [first, missing, empty] = texts;
    assert_eq!(read, arr1(&[Some("-".to_owned()), first, missing, empty, Some("-".to_owned())]).into_dyn());
    assert!(array.read::<ArrayD<String>>(..).unwrap_err().to_string().contains("zarrs.optional"));
    assert_error(
        array.read::<ArrayD<Option<Vec<u8>>>>(..),
        ErrorKind::DataTypeMismatch,
        "the elements are string, not lists of uint8",
    );
}

#[test]
fn they_move_as_other_elements_do() {
    let value = Bytes::big();
    let optional = ZarrsOptional::default().mask_codecs([value.into()]).data_codecs([value.into()]);
    let numbers: Array2<Optional<i16>> = Array2::from_shape_fn((6, 4), |(y, x)| {
        (x % 2 == 0).then_some(i16::try_from(10 * y + x).unwrap()).into()
    });
    for sharded in [false, true] {
        let inner = || [Transpose::order([1, 0]).into(), optional.clone().into()];
        let builder = OpenOptions::new().create_array((memory(), "")).shape([6, 4]).chunks([6, 4]);
        let builder = builder.data_type(Optional::<i16>::data_type());
        let array = match sharded {
            true => builder.codecs([Sharding::new([2, 2], inner()).into()]),
            false => builder.codecs(inner()),
        };
        let array = array.create().unwrap();
        array.write(.., &numbers).unwrap();
        assert_eq!(array.read::<ArrayD<Optional<i16>>>(..).unwrap(), numbers.clone().into_dyn());
        array.write(s![1, 1..3], arr1(&some(&[Some(7_i16), None]))).unwrap();
        let part = array.read::<ArrayD<Optional<i16>>>(s![1..3, ..3]).unwrap();
        let row = |values: [Option<i16>; 3]| values.map(Optional::from);
        let expected = arr2(&[row([Some(10), Some(7), None]), row([Some(20), None, Some(22)])]);
        assert_eq!(part, expected.into_dyn());
    }
}

#[test]
fn optional_arrays_of_zarrs_under_older_names_are_read() {
    let store = memory();
    // zarrs 0.23.14 wrote the chunk; the names in the document are those of older versions.
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [2, 3],
        "data_type": {"name": "optional", "configuration": {"name": "uint8", "configuration": {}}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": [9],
        "codecs": [{"name": "optional", "configuration": {
            "mask_codecs": [{"name": "packbits"}], "data_codecs": [{"name": "bytes"}]}}],
    });
    store.set(&Key::new("zarr.json").unwrap(), document.to_string().as_bytes(), Condition::Always).unwrap();
    let array = OpenOptions::new().open((store.clone(), "")).unwrap().into_array().unwrap();
    let read = || {
        array
            .read::<ArrayD<Optional<u8>>>(..)
            .unwrap()
            .iter()
            .map(|element| element.get())
            .collect::<Vec<_>>()
    };
    assert_eq!(read(), [Some(9); 6]);
    let chunk = [1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0x33, 1, 2, 5, 6];
    store.set(&Key::new("c/0/0").unwrap(), &chunk, Condition::Always).unwrap();
    assert_eq!(read(), [Some(1), Some(2), None, None, Some(5), Some(6)]);
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    let create = |format: Format| {
        let builder = OpenOptions::new().create_array((memory(), "")).format(format).shape([2]);
        builder.data_type(Optional::<u8>::data_type()).create()
    };
    for format in [Format::V2, Format::N5] {
        let error = create(format).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("zarrs.optional"), "{error}");
    }
    let builder = OpenOptions::new().create_array((memory(), "")).shape([2]);
    let error = builder.data_type(Optional::<u8>::data_type()).codecs([Bytes::little().into()]).create();
    assert!(error.unwrap_err().to_string().contains("need another codec"));
}
