//! The filters of version 2, as zarr-python writes and reads them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use zarrox::codecs::V2Filter;
use zarrox::codecs::{ByteShuffle, Delta};
use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, CodecSpec, ErrorKind, OpenOptions, Strictness, s};
use zarrox_core::internals::metadata::{ReadContext, Source};
use zarrox_core::{ArrayMetadata, NodeMetadata, NodePath};
use zarrox_tools::copy::{Action, Copier, Obstacle, Property, Verify};

/// Creates a store with an array of this type and these filters, of one chunk of 2 × 3 elements.
fn stored(dtype: impl Into<Json>, order: &str, filters: &Json, chunk: &[u8]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = document(dtype, order, filters);
    let set =
        |key: &str, bytes: &[u8]| store.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
    set(".zarray", meta.to_string().as_bytes());
    set("0.0", chunk);
    store
}

/// Returns the document of such an array.
fn document(dtype: impl Into<Json>, order: &str, filters: &Json) -> Json {
    json!({
        "zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": dtype.into(), "compressor": null,
        "fill_value": null, "order": order, "filters": filters, "dimension_separator": ".",
    })
}

fn chunk_of(store: &Arc<dyn Store>) -> Vec<u8> {
    store.get(&Key::new("0.0").unwrap()).unwrap().unwrap().to_vec()
}

/// zarr-python 2.18.7 and numcodecs 0.15.1 wrote the chunks, of the numbers `[[1, 2, 4], [8, 16, 32]]`.
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
        let array = OpenOptions::new().open((store.clone(), "")).unwrap().into_array().unwrap();
        let values = array.read::<DynArray>(..).unwrap();
        let found: Vec<f64> = if dtype.ends_with("f8") {
            values.to::<ArrayD<f64>>().unwrap().into_iter().collect()
        } else {
            values.to::<ArrayD<i32>>().unwrap().into_iter().map(f64::from).collect()
        };
        assert_eq!(found, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], "{dtype} {order} {filters}");
        let part = array.read::<DynArray>(s![1..2, 1..3]).unwrap();
        assert_eq!(part.as_bytes(), &values.as_bytes()[values.as_bytes().len() / 3 * 2..], "{filters}");
        array.write(.., &values).unwrap();
        assert_eq!(chunk_of(&store), chunk, "{dtype} {order} {filters}");
    }
}

/// Returns a filter of each kind in the form of `.zarray`.
fn delta(dtype: &str, astype: &str) -> Json {
    json!({"id": "delta", "dtype": dtype, "astype": astype})
}

fn shuffle(size: usize) -> Json {
    json!({"id": "shuffle", "elementsize": size})
}

/// Returns types, orders, filters and chunks. zarr-python 2.18.7 and numcodecs 0.15.1 wrote the chunks, of the numbers
/// `[[1, 2, 4], [8, 16, 32]]`, or of the booleans `[[true, false, true], [false, true, false]]`.
fn filters_of_bytes() -> Vec<(&'static str, &'static str, Json, &'static str)> {
    let scaled = json!({"id": "fixedscaleoffset", "scale": 10, "offset": 1, "dtype": "<f8", "astype": ">i2"});
    let astype = json!({"id": "astype", "encode_dtype": "<i4", "decode_dtype": "<i2"});
    vec![
        // Numbers in another byte order.
        (">i4", "C", json!([delta("<i4", "<i4")]), "000000010000000100000002000000040000000800000010"),
        (">i4", "F", json!([delta("<i4", "<i4")]), "0000000100000007000000fa0000000e000000f40000001c"),
        ("<i4", "C", json!([delta(">i4", ">i4")]), "010000000100000002000000040000000800000010000000"),
        ("<f8", "C", json!([scaled, delta("<i2", "<i2")]), "0000000a00140028005001a0"),
        (
            ">f8",
            "C",
            json!([delta("<i8", "<i8")]),
            "3ff00000000000000110ffffffffffff0010000000000000001000000000000000100000000000000010000000000000",
        ),
        // Big-endian numbers of another size.
        (">i4", "C", json!([delta("|u1", "|u1")]), "00000001ff000002fe000004fc000008f8000010f0000020"),
        (">i4", "C", json!([delta(">i2", ">i2")]), "00000001ffff0002fffe0004fffc0008fff80010fff00020"),
        ("|V4", "C", json!([delta(">u4", ">u4")]), "010000000100000002000000040000000800000010000000"),
        // Bytes.
        (
            "<i4",
            "C",
            json!([shuffle(4), delta(">i4", ">i4")]),
            "010204080f1dfbf8efe00000000000000000000000000000",
        ),
        (
            "<i4",
            "C",
            json!([shuffle(4), delta(">i4", "<i4")]),
            "08040201f8fb1d0f0000e0ef000000000000000000000000",
        ),
        (
            "<i4",
            "F",
            json!([shuffle(4), delta("|u1", "|u1")]),
            "0107fa0ef41ce00000000000000000000000000000000000",
        ),
        (
            "<i4",
            "C",
            json!([shuffle(4), astype]),
            "010200000408000010200000000000000000000000000000000000000000000000000000000000000000000000000000",
        ),
        (
            "<i4",
            "C",
            json!([{"id": "crc32"}, delta("<u2", "<u2")]),
            "e77db7686319ffff0200feff0400fcff0800f8ff1000f0ff2000e0ff",
        ),
        (
            "<i4",
            "C",
            json!([delta("<i4", "<i4"), shuffle(4), delta("|u1", "|u1"), {"id": "adler32"}, delta("<i4", "<i4")]),
            "0101381200ffc8ef0308effefcf70fff000000000000000000000000",
        ),
        ("|b1", "C", json!([shuffle(2), {"id": "packbits"}]), "02e0"),
        // Compressed bytes, whose number differs from chunk to chunk.
        (
            "<i4",
            "C",
            json!([{"id": "zlib", "level": 1}, delta("|u1", "<u2")]),
            "7800890062000100fc0000000000a2006000b4000a00c6001a0062009f001f003600aa0062009e000100f70008004000",
        ),
    ]
}

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Returns the elements of an array with the type `dtype`.
fn numbers(array: &Array, dtype: &str) -> Vec<f64> {
    let values = array.read::<DynArray>(..).unwrap();
    match dtype {
        "|V4" => values
            .as_bytes()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f64::from(u32::from_le_bytes(*bytes)))
            .collect(),
        "|b1" => values.as_bytes().iter().map(|&byte| f64::from(byte)).collect(),
        _ if dtype.ends_with("f8") => values.to::<ArrayD<f64>>().unwrap().into_iter().collect(),
        _ => values.to::<ArrayD<i32>>().unwrap().into_iter().map(f64::from).collect(),
    }
}

/// numcodecs passes bytes to every filter, regardless of their type and order.
#[test]
fn filters_see_bytes_as_numbers_of_their_own_type() {
    for (dtype, order, filters, chunk) in filters_of_bytes() {
        let what = format!("{dtype} {order} {filters}");
        let store = stored(dtype, order, &filters, &hex(chunk));
        let array = OpenOptions::new().strict(true).open((store.clone(), "")).unwrap().into_array().unwrap();
        let expected =
            if dtype == "|b1" { [1.0, 0.0, 1.0, 0.0, 1.0, 0.0] } else { [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] };
        assert_eq!(numbers(&array, dtype), expected, "{what}");
        let values = array.read::<DynArray>(..).unwrap();
        let item = values.as_bytes().len() / 6;
        assert_eq!(
            array.read::<DynArray>(s![1, 1..]).unwrap().as_bytes(),
            &values.as_bytes()[item * 4..],
            "{what}"
        );
        array.raw().erase(&[0, 0]).unwrap();
        array.write(s![..1, ..], array.read::<DynArray>(s![..1, ..]).unwrap()).unwrap();
        array.write(s![1.., ..], array.read::<DynArray>(s![..1, ..]).unwrap()).unwrap();
        array.write(.., &values).unwrap();
        assert_eq!(numbers(&array, dtype), expected, "{what}");
        // The output of zlib is not unique.
        if !filters.to_string().contains("zlib") {
            assert_eq!(chunk_of(&store), hex(chunk), "{what}");
        }
    }
}

/// Filters of bytes are written as they were read, in v2 and in the formats with v2's metadata; v3 cannot represent them.
#[test]
fn filters_of_bytes_are_only_of_v2() {
    let registry = zarrox::codecs::registry();
    let context = ReadContext::new(&registry, Strictness::Strict);
    for (dtype, order, filters, _) in filters_of_bytes() {
        let what = format!("{dtype} {order} {filters}");
        let document = document(dtype, order, &filters);
        let v2 = Format::V2.def();
        let read = v2.from_documents(&[Some(Source::Json(&document)), None, None], &context).unwrap();
        let Some(NodeMetadata::Array(array)) = read else { panic!("{what}") };
        let write = |format: Format, array: &ArrayMetadata| {
            let array = ArrayMetadata { format, ..array.clone() };
            format.def().to_documents(&NodePath::root(), &NodeMetadata::Array(array), &registry)
        };
        let written = write(Format::V2, &array).unwrap();
        assert_eq!(serde_json::from_slice::<Json>(&written[0].1).unwrap(), document, "{what}");
        let error = write(Format::V3, &array).unwrap_err().to_string();
        assert!(error.contains("Zarr v3 does not support 'v2_filter(filter="), "{what}: {error}");
        // The filter cannot be inside a shard either.
        let codecs: Vec<Json> =
            array.codecs.iter().map(|c| json!({"name": c.name, "configuration": c.configuration})).collect();
        let sharding = json!({"chunk_shape": [2, 3], "codecs": codecs, "index_codecs": ["bytes"]});
        let sharded = vec![CodecSpec::new("sharding_indexed", sharding)];
        let error = write(Format::V3, &ArrayMetadata { codecs: sharded, ..array.clone() }).unwrap_err();
        assert!(error.to_string().contains("Zarr v3 does not support"), "{what}: {error}");
        let n5 = ArrayMetadata { chunk_key_encoding: Format::N5.def().default_chunk_key_encoding(), ..array };
        let codecs = Format::N5.def().new_codecs(n5.codecs.clone());
        assert!(write(Format::N5, &ArrayMetadata { codecs, ..n5 }).is_err(), "{what}");
    }
}

#[test]
fn v3_metadata_with_a_filter_of_bytes_is_refused() {
    let filter = json!({"name": "numcodecs.delta", "configuration": {"dtype": "|u1", "astype": "|u1"}});
    let filter = json!({"name": "v2_filter", "configuration": {"filter": filter}});
    let inner = json!({"chunk_shape": [2], "codecs": ["bytes", filter], "index_codecs": ["bytes"]});
    for codecs in [json!(["bytes", filter]), json!([{"name": "sharding_indexed", "configuration": inner}])] {
        let meta = json!({
            "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": codecs,
        });
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let key = Key::new("zarr.json").unwrap();
        store.set(&key, meta.to_string().as_bytes(), Default::default()).unwrap();
        let error = OpenOptions::new().open((store, "")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("the codec 'v2_filter' exists only in v2"), "{error}");
    }
    let create = |format: Format| {
        let options = OpenOptions::new().format(format);
        let builder =
            options.create_array((Arc::new(MemoryStore::new()), "")).shape([6]).data_type(DataType::Int32);
        builder.filter(ByteShuffle::element_size(4)).filter(V2Filter::new(Delta::new("<i4"))).create()
    };
    let error = create(Format::V3).unwrap_err().to_string();
    assert!(error.contains("Zarr v3 does not support 'v2_filter"), "{error}");
    for format in [Format::V2, Format::V3Experimental, Format::V3Draft] {
        let array = create(format).unwrap();
        array.write(.., ndarray::arr1(&[1, -2, 3, 4, 5, i32::MIN])).unwrap();
        assert_eq!(
            array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0,
            [1, -2, 3, 4, 5, i32::MIN]
        );
    }
}

/// Formats with v2's metadata keep the encoded chunks; for v3 the chunks are encoded without the filter, and the report says so.
#[test]
fn conversions_keep_the_filter_or_report_its_removal() {
    for (dtype, order, filters, chunk) in filters_of_bytes() {
        let what = format!("{dtype} {order} {filters}");
        let source = stored(dtype, order, &filters, &hex(chunk));
        let values =
            numbers(&OpenOptions::new().open((source.clone(), "")).unwrap().into_array().unwrap(), dtype);
        for format in [Format::V2, Format::V3Experimental, Format::V3Draft, Format::V3, Format::N5] {
            let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let plan = Copier::new().format(format).lossy(true).verify(Verify::Everything);
            let plan = plan.plan((source.clone(), ""), (target.clone(), "")).unwrap();
            let report = match plan.run() {
                Ok(report) => report,
                // N5 supports neither raw bits nor booleans.
                Err(error) => {
                    assert!(
                        format == Format::N5 && error.kind() == ErrorKind::Unsupported,
                        "{what}: {error}"
                    );
                    continue;
                }
            };
            let words = ![Format::V3, Format::N5].contains(&format);
            let action = if words { Action::CopyChunks } else { Action::Reencode };
            assert_eq!(report.nodes[0].action, action, "{what}: {format}");
            let goes =
                |f: &Obstacle| f.property == Property::Codecs && f.reason.contains("v2_filter(filter=");
            assert!(words || report.obstacles.iter().any(goes), "{what}: {format}: {report}");
            let array = OpenOptions::new().open((target, "")).unwrap().into_array().unwrap();
            assert_eq!(numbers(&array, dtype), values, "{what}: {format}");
            assert_eq!(
                array.codecs().iter().any(|codec| codec.name == "v2_filter"),
                words,
                "{what}: {format}"
            );
        }
        let error = Copier::new().format(Format::V3).plan_in_place((source, "")).unwrap().run().unwrap_err();
        for part in ["refused (codecs)", "Zarr v3 does not support 'v2_filter(filter=", "give a destination"]
        {
            assert!(error.to_string().contains(part), "{what}: {error}");
        }
    }
}

#[test]
fn structures_are_bytes_to_filters() {
    // The same programs wrote this chunk, of the structures `(1, 2), (3, 4), …, (11, 12)`.
    let dtype = json!([["a", "<i2"], ["b", ">i4"]]);
    let chunk = hex("0100ffff000203fefdff000405fcfbff000607faf9ff000809f8f7ff000a0bf6f5ff000c");
    let store = stored(dtype, "C", &json!([delta("<u2", "<u2")]), &chunk);
    let array = OpenOptions::new().open((store.clone(), "")).unwrap().into_array().unwrap();
    let values = array.read::<DynArray>(..).unwrap();
    let numbers = [1, 3, 5, 7, 9, 11_i16].map(|a| (a, i32::from(a) + 1));
    let expected: Vec<u8> =
        numbers.iter().flat_map(|(a, b)| [&a.to_ne_bytes()[..], &b.to_ne_bytes()].concat()).collect();
    assert_eq!(values.as_bytes(), expected);
    array.raw().erase(&[0, 0]).unwrap();
    array.write(.., &values).unwrap();
    assert_eq!(chunk_of(&store), chunk);
}

/// Chunks that these filters cannot have encoded, and numbers that they would not decode to the same value.
#[test]
fn filters_of_bytes_refuse_chunks_and_numbers_that_do_not_fit() {
    let open = |dtype: &str, filters: Json, chunk: &[u8]| {
        let store = stored(dtype, "C", &filters, chunk);
        OpenOptions::new().open((store, "")).unwrap().into_array().unwrap()
    };
    for length in [0, 3, 23, 25] {
        let array = open("<i4", json!([shuffle(4), delta("<i4", "<i4")]), &vec![0; length]);
        let error = array.read::<DynArray>(..).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
        assert!(error.to_string().contains("codec 'v2_filter'") || length % 4 == 0, "{length}: {error}");
    }
    let array = open("<i4", json!([{"id": "crc32"}, delta("<i8", "<i8")]), &[0; 32]);
    let error = array.write(.., ndarray::arr2(&[[1, 2, 3], [4, 5, 6]])).unwrap_err().to_string();
    assert!(error.contains("28 bytes are not a whole number of elements of 8 bytes"), "{error}");
    let quantize = json!({"id": "quantize", "digits": 1, "dtype": "<f4", "astype": "<f4"});
    let array = open("<f4", json!([shuffle(4), quantize]), &[0; 24]);
    assert_eq!(array.read::<ArrayD<f32>>(..).unwrap().sum(), 0.0);
    let error = array.write(.., ndarray::arr2(&[[1.1_f32, 2.2, 3.3], [4.4, 5.5, 6.6]])).unwrap_err();
    assert!(error.to_string().contains("would not restore exactly"), "{error}");
    // Values that numcodecs cannot write either.
    let store = stored("<f4", "C", &json!([shuffle(4), {"id": "bitround", "keepbits": 3}]), &[0; 24]);
    let error = OpenOptions::new().open((store, "")).and_then(|node| node.into_array()).unwrap_err();
    assert!(error.to_string().contains("'numcodecs.bitround' has bytes as its input here"), "{error}");
}
