//! Elements of variable length as Rust values: text, bytes, arrays of numbers, Python objects.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn, arr0, arr1, arr2};
use zarrox::codecs::{Bytes, Categorize, Json2, MsgPack2, Sharding, VlenArray, VlenUtf8};
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ArrayBuilder, CodecSpec, ErrorKind, FromElement, OpenOptions, ToElement};

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn builder(store: &Arc<dyn Store>, data_type: DataType, format: Format) -> ArrayBuilder {
    let builder = OpenOptions::new().create_array((store.clone(), "a")).format(format);
    builder.data_type(data_type).shape([5]).chunks([2])
}

fn open(store: &Arc<dyn Store>) -> zarrox::Result<Array> {
    OpenOptions::new().open((store.clone(), "a"))?.into_array()
}

fn document(store: &Arc<dyn Store>) -> Json {
    serde_json::from_slice(&store.get(&Key::new("a/.zarray").unwrap()).unwrap().unwrap()).unwrap()
}

fn set(store: &Arc<dyn Store>, key: &str, bytes: impl AsRef<[u8]>) {
    store.set(&Key::new(key).unwrap(), bytes.as_ref(), Condition::Always).unwrap();
}

fn named(name: &str) -> DataType {
    DataType::parse(name, &zarrox::codecs::registry()).unwrap()
}

/// Writes values in several ways, and reads them again in several ways.
fn round_trip<T: FromElement + ToElement + PartialEq + std::fmt::Debug>(
    array: &Array,
    reopen: impl Fn() -> Array,
    values: &[T; 5],
    nothing: &T,
) {
    let all = ArrayD::from_shape_vec(IxDyn(&[5]), values.to_vec()).unwrap();
    assert_eq!(array.read::<ArrayD<T>>(..).unwrap(), ArrayD::from_elem(IxDyn(&[5]), nothing.clone()));
    array.write(.., &all).unwrap();
    assert_eq!(reopen().read::<ArrayD<T>>(..).unwrap(), all);
    let backwards: Vec<T> = reopen().read::<ArrayD<T>>(s![..;-2]).unwrap().into_raw_vec_and_offset().0;
    assert_eq!(backwards, [&values[4], &values[2], &values[0]].map(Clone::clone));
    assert_eq!(array.read::<ArrayD<T>>(s![1]).unwrap(), arr0(values[1].clone()).into_dyn());
    array.write(s![1..4], arr0(values[0].clone())).unwrap();
    array.write(s![2..3], arr1(&[values[3].clone()])).unwrap();
    let mixed = [0, 0, 3, 0, 4].map(|index: usize| values[index].clone());
    assert_eq!(reopen().read::<ArrayD<T>>(..).unwrap(), arr1(&mixed).into_dyn());
    let error = array.write(s![..3], arr1(&values[..2])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let again = DynArray::from_values(array.data_type().clone(), &all).unwrap();
    assert_eq!(again.to::<ArrayD<T>>().unwrap(), all);
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
}

#[test]
fn every_kind_of_element_in_version_2() {
    let json2 = json!({
        "id": "json2", "encoding": "utf-8", "skipkeys": false, "ensure_ascii": true, "check_circular": true,
        "allow_nan": true, "indent": null, "separators": [",", ":"], "sort_keys": true, "strict": true,
    });
    let things = [json!("é"), json!([1, -2.5, null]), json!(true), json!({"a": {"b": []}}), json!(u64::MAX)];
    let msgpack2 = json!({"id": "msgpack2", "raw": false, "use_single_float": false, "use_bin_type": true});
    let codecs: [(Option<CodecSpec>, Json); 3] =
        [(None, json2.clone()), (Some(Json2.into()), json2), (Some(MsgPack2.into()), msgpack2)];
    for (codec, filter) in codecs {
        let store = store();
        let new = builder(&store, DataType::object(), Format::V2);
        let array = codec.into_iter().fold(new, ArrayBuilder::filter).create().unwrap();
        assert_eq!(document(&store)["dtype"], "|O");
        assert_eq!(document(&store)["filters"], json!([filter]));
        assert_eq!(document(&store)["fill_value"], Json::Null);
        round_trip(&array, || open(&store).unwrap(), &things, &Json::Null);
    }
    let store1 = store();
    let ragged =
        builder(&store1, DataType::vlen_array(DataType::Int16).unwrap(), Format::V2).create().unwrap();
    assert_eq!(document(&store1)["filters"], json!([{"id": "vlen-array", "dtype": "<i2"}]));
    let numbers = [vec![1_i16, -2], vec![], vec![300], vec![0; 40], vec![5]];
    round_trip(&ragged, || open(&store1).unwrap(), &numbers, &vec![]);
    let big = store();
    let new = builder(&big, named("array:f8"), Format::V2).filter(VlenArray::of(">f8"));
    let floats = [vec![0.5], vec![f64::MAX, -0.0], vec![], vec![1.0], vec![2.0]];
    round_trip(&new.create().unwrap(), || open(&big).unwrap(), &floats, &vec![]);
    let flags = store();
    let new = builder(&flags, DataType::vlen_array(DataType::Bool).unwrap(), Format::V2);
    let values = [vec![true], vec![], vec![false, true], vec![false], vec![true; 3]];
    round_trip(&new.create().unwrap(), || open(&flags).unwrap(), &values, &vec![]);
    let categories = store();
    let new =
        builder(&categories, named("string"), Format::V2).filter(Categorize::labels(["a", "é", "long"]));
    let texts = ["a", "long", "", "é", "a"].map(str::to_owned);
    round_trip(&new.create().unwrap(), || open(&categories).unwrap(), &texts, &String::new());
    let filter = json!({"id": "categorize", "labels": ["a", "é", "long"], "dtype": "|O", "astype": "|u1"});
    assert_eq!(document(&categories)["filters"], json!([filter]));
}

#[test]
fn text_and_bytes_in_both_versions() {
    for format in [Format::V2, Format::V3] {
        let store = store();
        let array = builder(&store, named("string"), format).create().unwrap();
        let texts = ["", "né", "🧊x", "a longer text", "z"].map(str::to_owned);
        round_trip(&array, || open(&store).unwrap(), &texts, &String::new());
        assert_eq!(array.read::<ArrayD<Vec<u8>>>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
        let store = self::store();
        let array = builder(&store, named("variable_length_bytes"), format).create().unwrap();
        let bytes = [vec![], vec![0, 255], vec![1; 300], b"text".to_vec(), vec![0]];
        round_trip(&array, || open(&store).unwrap(), &bytes, &vec![]);
        array.write(s![0], "text").unwrap();
        assert_eq!(array.get::<Vec<u8>>([0]).unwrap(), b"text");
        assert_eq!(array.get::<String>([0]).unwrap(), "text");
        array.write(s![1], arr0(vec![0_u8, 255])).unwrap();
        assert_eq!(array.get::<String>([1]).unwrap_err().kind(), ErrorKind::Corrupt);
        let error = array.write(.., 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
    }
}

#[test]
fn broadcasting_in_two_dimensions_columns_and_fill_values() {
    let store = store();
    let ragged = DataType::vlen_array(DataType::UInt8).unwrap();
    let new = builder(&store, ragged, Format::V2).shape([3, 4]).chunks([2, 3]).order(Order::ColumnMajor);
    let array = new.fill_value_json(json!([9])).create().unwrap();
    let column = arr2(&[[vec![1_u8]], [vec![2, 2]]]);
    array.write(s![1.., 1..], &column).unwrap();
    let row = arr1(&[vec![7_u8], vec![]]);
    array.write(s![..;-2, 2..], &row).unwrap();
    let found = open(&store).unwrap().read::<ArrayD<Vec<u8>>>(..).unwrap();
    let nine = || vec![9];
    let expected = arr2(&[
        [nine(), nine(), vec![7], vec![]],
        [nine(), vec![1], vec![1], vec![1]],
        [nine(), vec![2, 2], vec![7], vec![]],
    ]);
    assert_eq!(found, expected.into_dyn());
    assert_eq!(document(&store)["fill_value"], json!([9]));
    assert_eq!(document(&store)["order"], "F");
}

#[test]
fn version_3_has_no_objects() {
    for (data_type, name) in [(DataType::object(), "object"), (named("array:i4"), "vlen_array")] {
        let store = store();
        for (format, says) in
            [(Format::V3, "Zarr v3 has no data type"), (Format::V3Draft, "Zarr v3-draft has no data type")]
        {
            let error = builder(&store, data_type.clone(), format).create().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            let text = error.to_string();
            assert!(text.contains(says) && text.contains(name), "{text}");
        }
        assert!(open(&store).is_err(), "nothing was created");
    }
}

#[test]
fn codecs_that_mean_something_else_by_the_same_bytes_are_refused() {
    let shard = Sharding::new([2], [CodecSpec::from(Json2)]);
    let cases: [(DataType, CodecSpec, Format); 6] = [
        (named("string"), Json2.into(), Format::V2),
        (named("string"), shard.into(), Format::V3),
        (DataType::object(), VlenUtf8.into(), Format::V2),
        (DataType::object(), VlenArray::of("<i4").into(), Format::V2),
        (DataType::object(), Categorize::labels(["a"]).into(), Format::V2),
        (named("array:i4"), VlenArray::of("<i8").into(), Format::V2),
    ];
    for (data_type, codec, format) in cases {
        let error = builder(&store(), data_type, format).filter(codec).create().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("stores elements of"), "{error}");
    }
    let columns = builder(&store(), DataType::object(), Format::V2)
        .shape([2, 2])
        .chunks([2, 2])
        .order(Order::ColumnMajor);
    assert!(columns.create().unwrap_err().to_string().contains("order F"));
}

#[test]
fn values_beyond_json_are_read_as_message_pack() {
    let store = store();
    let array = builder(&store, DataType::object(), Format::V2).filter(MsgPack2).create().unwrap();
    let bytes =
        DynArray::from_elements(DataType::object(), vec![2], [b"\xc4\x01x", b"\x93\x01\x02"]).unwrap();
    let error = array.write(s![..2], &bytes).unwrap_err().to_string();
    assert!(error.contains("element 1") && error.contains("end inside"), "{error}");
    let bytes =
        DynArray::from_elements(DataType::object(), vec![2], [&b"\xc4\x01x"[..], b"\x91\x02"]).unwrap();
    array.write(s![..2], &bytes).unwrap();
    let read = open(&store).unwrap().read::<DynArray>(s![..2]).unwrap();
    assert_eq!(read, bytes);
    let texts = read.elements().map(|element| array.format_element(element).unwrap());
    assert_eq!(texts.collect::<Vec<_>>(), ["b'x'", "[2]"]);
    let error = array.read::<ArrayD<Json>>(..).unwrap_err().to_string();
    assert!(error.contains("element [0]: JSON cannot represent bytes"), "{error}");
    assert_eq!(zarrox::internals::msgpack::to_json(read.elements().nth(1).unwrap()).unwrap(), json!([2]));
    let json = builder(&self::store(), DataType::object(), Format::V2).create().unwrap();
    let error = json.write(s![..2], &bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("JSON cannot represent bytes; msgpack2 can represent more"),
        "{error}"
    );
}

#[test]
fn damaged_chunks_are_errors_that_name_them() {
    let codecs: [(DataType, CodecSpec, &[u8]); 4] = [
        (DataType::object(), Json2.into(), br#"["a","#),
        (DataType::object(), MsgPack2.into(), b"\x94\xa1a\xa1b\xa2|O\x91\x03"),
        (named("array:i4"), VlenArray::of("<i4").into(), b"\x02\0\0\0\x03\0\0\0abc\0\0\0\0"),
        (named("string"), Categorize::labels(["a"]).into(), b"\x01\x02"),
    ];
    for (data_type, codec, chunk) in codecs {
        let store = store();
        let array = builder(&store, data_type, Format::V2).filter(codec).no_compressor().create().unwrap();
        set(&store, "a/1", chunk);
        let error = array.read::<DynArray>(..).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("chunk [1]"), "{error}");
        assert!(array.read::<DynArray>(s![..2]).is_ok());
    }
}

#[test]
fn objects_of_zarr_python_2_without_its_defaults() {
    // In the metadata, members with default values are missing. The pickle codec also stands where
    // no object codec is expected.
    let with = |filters: Json, compressor: Json| {
        let store = store();
        let document = json!({
            "zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "dtype": "|O", "fill_value": 0,
            "filters": filters, "compressor": compressor,
        });
        set(&store, "a/.zarray", document.to_string());
        store
    };
    for (id, chunk) in [
        ("json2", &br#"["a",[1],"|O",[2]]"#[..]),
        ("json", br#"["a",[1],"|O"]"#),
        ("msgpack2", b"\x94\xa1a\x91\x01\xa2|O\x91\x02"),
        ("msgpack", b"\x93\xa1a\x91\x01\xa2|O"),
    ] {
        for (filters, compressor) in [(json!([{"id": id}]), Json::Null), (Json::Null, json!({"id": id}))] {
            let store = with(filters, compressor);
            assert_eq!(
                open(&store).unwrap().read::<ArrayD<Json>>(..).unwrap(),
                arr1(&[json!(0), json!(0)]).into_dyn()
            );
            set(&store, "a/0", chunk);
            let read = open(&store).unwrap().read::<ArrayD<Json>>(..).unwrap();
            assert_eq!(read, arr1(&[json!("a"), json!([1])]).into_dyn());
        }
    }
    let pickle = json!({"id": "pickle", "protocol": 5});
    for (filters, compressor) in [
        (json!([pickle]), Json::Null),
        (Json::Null, pickle.clone()),
        (json!([{"id": "vlen-utf8"}]), pickle.clone()),
        (json!([{"id": "vlen-utf8"}, pickle]), Json::Null),
    ] {
        let error = open(&with(filters, compressor)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("rewrite the array with zarr-python"), "{error}");
    }
}

#[test]
fn pickles_in_version_3() {
    let pickle = json!({"name": "numcodecs.pickle", "configuration": {"protocol": 5}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let shards = |inner: Json| {
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1], "codecs": inner, "index_codecs": [bytes], "index_location": "end",
        }})
    };
    for codecs in [
        json!([pickle]),
        json!(["pickle"]),
        json!([bytes, pickle]),
        json!([shards(json!([pickle]))]),
        json!([shards(json!([bytes, pickle]))]),
    ] {
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int32", "codecs": codecs, "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default"},
        });
        let store = store();
        set(&store, "a/zarr.json", document.to_string());
        let error = open(&store).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("reading pickled objects is not safe"), "{error}");
    }
}

#[test]
fn the_numbers_of_categories_have_a_byte_order_of_their_own() {
    let new = |dtype: &str, bytes: Option<Bytes>| {
        let configuration = json!({"labels": ["abc", "é"], "dtype": dtype, "astype": ">u2"});
        let categorize = CodecSpec::new("numcodecs.categorize", configuration);
        let store = store();
        let data_type = if dtype == "|O" { named("string") } else { named(dtype) };
        let new = builder(&store, data_type, Format::V2).no_compressor().filter(categorize);
        bytes.into_iter().fold(new, ArrayBuilder::filter).create().map(|array| (store, array))
    };
    for dtype in ["|O", "<U3", ">U3"] {
        let (store, array) = new(dtype, Some(Bytes::big())).unwrap();
        let texts = arr1(&["é", "abc", "é", "", "abc"]).into_dyn();
        array.write(.., DynArray::from_values(array.data_type().clone(), &texts).unwrap()).unwrap();
        assert_eq!(document(&store)["dtype"], dtype);
        assert_eq!(store.get(&Key::new("a/0").unwrap()).unwrap().unwrap()[..], [0, 2, 0, 1]);
        let read = open(&store).unwrap().read::<DynArray>(..).unwrap().to::<ArrayD<String>>().unwrap();
        assert_eq!(read, texts.mapv(str::to_owned));
        let error = new(dtype, Some(Bytes::little())).unwrap_err().to_string();
        assert!(error.contains("another byte order"), "{error}");
    }
}
