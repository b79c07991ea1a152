//! Checksums in the metadata of v2 and v3, their conversion, and reads that skip them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use zarrox::codecs::{Blosc, Gzip, Zstd};
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{AccessOptions, CodecSpec, ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_tools::copy::Copier;

fn document(store: &Arc<dyn Store>, key: &str) -> Json {
    serde_json::from_slice(&store.get(&Key::new(key).unwrap()).unwrap().unwrap()).unwrap()
}

fn v2_array(filters: &Json, compressor: &Json) -> Arc<dyn Store> {
    let array = json!({
        "zarr_format": 2, "shape": [12], "chunks": [6], "dtype": "<i4", "fill_value": 0, "order": "C",
        "filters": filters, "compressor": compressor,
    });
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.set(&Key::new(".zarray").unwrap(), array.to_string().as_bytes(), Condition::Always).unwrap();
    store
}

/// Converts a hierarchy, and returns it with the document of the array.
fn converted(from: &Arc<dyn Store>, to: Format, key: &str) -> (Arc<dyn Store>, Json) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Copier::new().format(to).plan((from.clone(), ""), (store.clone(), "")).unwrap().run().unwrap();
    let document = document(&store, key);
    (store, document)
}

#[test]
fn checksums_survive_conversion_into_every_format() {
    let start = json!({"id": "crc32c", "location": "start"});
    let v3_start = json!({"name": "numcodecs.crc32c", "configuration": {"location": "start"}});
    let shuffle = json!([{"id": "shuffle", "elementsize": 4}, {"id": "fletcher32"}]);
    let v3_shuffle = json!([
        {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
        {"name": "numcodecs.fletcher32", "configuration": {}},
    ]);
    let zlib = json!({"id": "zlib", "level": 1});
    let v3_zlib = json!({"name": "numcodecs.zlib", "configuration": {"level": 1}});
    let crc32_end = json!({"id": "crc32", "location": "end"});
    let v3_crc32_end = json!({"name": "numcodecs.crc32", "configuration": {"location": "end"}});
    let cases = [
        (json!(null), json!({"id": "crc32c"}), json!([{"name": "crc32c", "configuration": {}}])),
        (json!(null), start, json!([v3_start])),
        (json!([crc32_end]), zlib.clone(), json!([v3_crc32_end, v3_zlib.clone()])),
        (shuffle, zlib, json!([v3_shuffle[0], v3_shuffle[1], v3_zlib])),
    ];
    for (filters, compressor, v3) in cases {
        let store = v2_array(&filters, &compressor);
        let array = OpenOptions::new().strict(true).open((store.clone(), "")).unwrap().into_array();
        let values: Vec<i32> = (0..12).map(|i| i * i - 50).collect();
        array.unwrap().write(.., ndarray::arr1(&values)).unwrap();
        let (in_v3, document) = converted(&store, Format::V3, "zarr.json");
        let codecs = document["codecs"].as_array().unwrap();
        assert_eq!(codecs[0]["name"], "bytes");
        assert_eq!(json!(codecs[1..]), v3);
        let (in_v2, document) = converted(&in_v3, Format::V2, ".zarray");
        assert_eq!((&document["filters"], &document["compressor"]), (&filters, &compressor));
        for store in [in_v3, in_v2] {
            let array = OpenOptions::new().strict(true).open((store, "")).unwrap().into_array().unwrap();
            assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0, values);
        }
    }
}

#[test]
fn damage_is_found_unless_checksums_are_skipped() {
    let location = json!({"id": "adler32", "location": "start"});
    for checksum in [
        location,
        json!({"id": "fletcher32"}),
        json!({"id": "jenkins_lookup3", "initval": 1, "prefix": null}),
    ] {
        let store = v2_array(&json!(null), &checksum);
        let array = OpenOptions::new().open((store.clone(), "")).unwrap().into_array().unwrap();
        array.write(.., ndarray::Array1::from_iter(1..=12_i32)).unwrap();
        let mut stored = array.raw().read(&[0]).unwrap().unwrap().to_vec();
        assert_eq!(stored.len(), 28);
        // The offset of a byte of the checksum.
        let at = if checksum["id"] == "adler32" { 0 } else { 24 };
        stored[at] ^= 1;
        array.raw().write(&[0], &stored).unwrap();
        let error = array.read::<ArrayD<i32>>(s![..6]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("the checksum is "), "{error}");
        let trusting = array.with_options(&AccessOptions::new().verify_checksums(false));
        assert_eq!(trusting.read::<ArrayD<i32>>(..).unwrap().sum(), 78, "{checksum}");
        assert_eq!(trusting.read::<ArrayD<i32>>(s![2..4]).unwrap().sum(), 7, "{checksum}");
    }
}

/// A changed byte of a chunk is detected in every format with checksums.
#[test]
fn arrays_that_are_created_with_checksums_notice_every_changed_byte() {
    let compressors: [Option<CodecSpec>; 4] =
        [None, Some(Zstd::level(1).into()), Some(Blosc::lz4().into()), Some(Gzip::level(1).into())];
    for format in [Format::V2, Format::V3] {
        for compressor in &compressors {
            let what = format!("{format}, {compressor:?}");
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.zarr");
            let builder = zarrox::create_array(&path).format(format).shape([64]).chunks([64]).checksum(true);
            let builder = builder.data_type(DataType::Int16);
            let builder = match compressor {
                Some(compressor) => builder.compressor(compressor.clone()),
                None => builder.no_compressor(),
            };
            let array = builder.create().unwrap();
            assert!(zarrox::codecs::internals::has_checksum(&array.codecs()), "{what}");
            let values: Vec<i16> = (0..64).map(|n| n * 331).collect();
            array.write(.., ndarray::arr1(&values)).unwrap();
            let file = path.join(array.raw().key(&[0]).unwrap());
            let whole = std::fs::read(&file).unwrap();
            let read = || zarrox::open_array(&path).unwrap().read::<ArrayD<i16>>(..);
            assert_eq!(read().unwrap(), ndarray::arr1(&values).into_dyn(), "{what}");
            for at in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[at] ^= 4;
                std::fs::write(&file, damaged).unwrap();
                // Some bytes of a header do not affect elements.
                assert!(
                    read().is_err() || read().unwrap() == ndarray::arr1(&values).into_dyn(),
                    "{what}, {at}"
                );
            }
        }
    }
}

/// Inside of shards, each inner chunk has its checksum.
#[test]
fn inner_chunks_have_checksums_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a.zarr")).shape([64]).chunks([8]).shards([64]);
    let array = array.data_type(DataType::Int16).checksum(true).create().unwrap();
    let sharding = array.codecs().pop().unwrap();
    let inner = sharding.configuration["codecs"].as_array().unwrap();
    assert_eq!(inner.last().unwrap()["name"], "crc32c");
}
