//! The experimental version 3 of zarr-python 2.12 to 2.18: its data are read, and written data agree with its own.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::json::{Json, Map, json};
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*};
use zarrox::{ErrorKind, OpenMode, OpenOptions};

fn cases() -> Vec<PathBuf> {
    let corpus = zarrox_testkit::corpus::directory("v3-experimental");
    let entries = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(cases.len(), 5);
    cases
}

fn values(case: &Path) -> Map {
    let json: Json = serde_json::from_slice(&std::fs::read(case.join("values.json")).unwrap()).unwrap();
    json.as_object().unwrap().clone()
}

/// Returns all elements that zarr-python recorded in `values.json`.
fn hex(array: &Array) -> String {
    let elements = array.read::<DynArray>(..).unwrap();
    let mut hex = String::new();
    let word = array.data_type().storage().word();
    for number in elements.as_bytes().chunks(word) {
        let mut bytes = number.to_vec();
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        bytes.iter().for_each(|byte| write!(hex, "{byte:02x}").unwrap());
    }
    hex
}

#[test]
fn data_of_zarr_python_is_read_like_zarr_python_reads_it() {
    let options = OpenOptions::new().mode(OpenMode::Read);
    for case in cases() {
        for (path, expected) in values(&case) {
            let array = options.open(case.join("h.zarr").join(&path)).unwrap().into_array().unwrap();
            let place = format!("{}/{path}", case.display());
            assert_eq!(array.metadata().format, Format::V3Experimental, "{place}");
            assert_eq!(json!(array.shape()), expected["shape"], "{place}");
            match expected.get("text") {
                Some(texts) => {
                    let read = array
                        .read::<DynArray>(..)
                        .unwrap()
                        .to::<ArrayD<String>>()
                        .unwrap()
                        .into_raw_vec_and_offset()
                        .0;
                    assert_eq!(&json!(read), texts, "{place}");
                }
                None => assert_eq!(hex(&array), expected["hex"].as_str().unwrap(), "{place}"),
            }
            let mut attributes = expected["attributes"].as_object().unwrap().clone();
            attributes.remove("filters");
            assert_eq!(array.attributes(), &attributes, "{place}");
            // Only the shards that are needed are read.
            assert_eq!(array.shard_shape().is_some(), case.ends_with("shards"), "{place}");
        }
    }
}

#[test]
fn groups_are_listed_with_those_that_have_no_document() {
    let tree = cases().into_iter().find(|case| case.ends_with("tree")).unwrap();
    let root =
        OpenOptions::new().mode(OpenMode::Read).open(tree.join("h.zarr")).unwrap().into_group().unwrap();
    assert_eq!(root.attributes()["title"], "a tree");
    assert_eq!(
        root.tree().unwrap().to_string(),
        "/\n├── explicit\n└── implicit\n    └── deep\n        └── x (3,) int16"
    );
    let alone = cases().into_iter().find(|case| case.ends_with("alone")).unwrap();
    let root = zarrox::open_group(alone.join("h.zarr")).unwrap();
    assert_eq!(root.arrays().unwrap()[0].path().to_string(), "/x");
}

/// Returns the documents of an array after reading and writing them.
fn rewritten(array: &Array) -> Json {
    let node = zarrox::NodeMetadata::Array(array.metadata().clone());
    let documents =
        Format::V3Experimental.def().to_documents(array.path(), &node, &zarrox::codecs::registry()).unwrap();
    serde_json::from_slice(&documents[0].1).unwrap()
}

#[test]
fn documents_of_zarr_python_are_written_as_they_were_read() {
    let mut compared = 0;
    for case in cases() {
        for path in values(&case).keys() {
            let hierarchy = case.join("h.zarr");
            let array =
                OpenOptions::new().strict(true).mode(OpenMode::Read).open(hierarchy.join(path)).unwrap();
            let document = std::fs::read(hierarchy.join(format!("meta/root/{path}.array.json"))).unwrap();
            let mut document: Json = serde_json::from_slice(&document).unwrap();
            match path.as_str() {
                // A plain string has the same meaning, and zarr-python reads it.
                "raw" => document["data_type"]["type"] = json!("|V3"),
                // The zeros at the end are kept.
                "bytes" => document["fill_value"] = json!("AAAA"),
                // False members are left out, as older versions require.
                "zstd" => {
                    drop(document["compressor"]["configuration"].as_object_mut().unwrap().remove("checksum"));
                }
                _ => {}
            }
            assert_eq!(rewritten(&array.into_array().unwrap()), document, "{path}");
            compared += 1;
        }
    }
    assert!(compared > 20);
}

#[test]
fn arrays_are_created_written_sharded_and_read_again() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = OpenOptions::new().format(Format::V3Experimental);
    let root = options.create_group((store.clone(), "")).unwrap();
    let values = ndarray::Array1::from_iter(0..42_i32).into_shape_with_order((7, 6)).unwrap();
    for (name, shards) in [("plain", None), ("sharded", Some([4, 6]))] {
        let mut builder = root.create_array(name).shape([7, 6]).data_type(DataType::Int32).chunks([2, 3]);
        if let Some(shards) = shards {
            builder = builder.shards(shards);
        }
        let array = builder.order(Order::ColumnMajor).create().unwrap();
        array.write(.., &values).unwrap();
        let again = root.open(name).unwrap().into_array().unwrap();
        assert_eq!(again.read::<ArrayD<i32>>(..).unwrap(), values.clone().into_dyn());
        assert_eq!(again.shard_shape(), shards.as_ref().map(<[u64; 2]>::as_slice));
        assert_eq!(again.unit_shape(), [2, 3]);
    }
    let has = |key: &str| store.get(&Key::new(key).unwrap()).unwrap().is_some();
    for key in [
        "zarr.json",
        "meta/root.group.json",
        "meta/root/plain.array.json",
        "data/root/plain/c3/1",
        "data/root/sharded/c1/0",
    ] {
        assert!(has(key), "{key}");
    }
    // A missing node is not looked for in another format.
    for missing in ["nothing", "plain/c0", "meta"] {
        let error = OpenOptions::new().open((store.clone(), missing)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{missing}: {error}");
        assert_eq!(root.open(missing).unwrap_err().kind(), ErrorKind::NotFound);
    }
    let inherited = OpenOptions::new().create_group((store.clone(), "new/one")).unwrap();
    assert_eq!(inherited.metadata().format, Format::V3Experimental);
    let scalar = root.create_array("scalar").shape([]).data_type(DataType::Int8).create().unwrap();
    scalar.write(.., 1_i8).unwrap();
    assert!(has("data/root/scalar/c0"));
    let undefined = root.create_array("u").shape([1]).data_type(DataType::Int8).fill_value_json(Json::Null);
    assert_eq!(undefined.create().unwrap().metadata().fill_value, None);
}

#[test]
fn filters_are_not_the_users_attributes() {
    let case = cases().into_iter().find(|case| case.ends_with("codecs")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    for key in ["zarr.json", "meta/root/filtered.array.json"] {
        let to = directory.path().join(key);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(case.join("h.zarr").join(key), to).unwrap();
    }
    let mut array = zarrox::open_array(directory.path().join("filtered")).unwrap();
    assert_eq!(array.attributes().keys().collect::<Vec<_>>(), ["unit"]);
    array.update_attributes(|map| drop(map.insert("unit".into(), json!("km")))).unwrap();
    let codecs = array.codecs();
    let again = zarrox::open_array(directory.path().join("filtered")).unwrap();
    assert_eq!((again.attributes()["unit"].as_str(), again.codecs()), (Some("km"), codecs));
    let taken = array.update_attributes(|map| drop(map.insert("filters".into(), json!([])))).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::Unsupported);
}

#[test]
fn documents_with_small_differences_are_read() {
    let core = "https://purl.org/zarr/spec/protocol/core/3.0";
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let put =
        |key: &str, bytes: &[u8]| store.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
    // The entry document has no "extensions". The list of codecs, the names of types and the chunk key of a scalar
    // are those of the draft.
    let entry = json!({"zarr_format": core, "metadata_encoding": core, "metadata_key_suffix": ".json"});
    put("zarr.json", entry.to_string().as_bytes());
    let mut document = json!({
        "shape": [2],
        "data_type": "int16",
        "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
        "chunk_memory_layout": "C",
        "codecs": [{"type": "https://purl.org/zarr/spec/codecs/zlib/1.0", "configuration": {"level": 1}}],
        "fill_value": null,
        "attributes": {},
    });
    put("meta/root/a.array.json", document.to_string().as_bytes());
    let options = OpenOptions::new();
    let array = options.open((store.clone(), "a")).unwrap().into_array().unwrap();
    array.write(.., ndarray::arr1(&[1_i16, -2])).unwrap();
    assert_eq!(array.codecs()[1].name, "numcodecs.zlib");
    document["codecs"] = json!([]);
    document["shape"] = json!([]);
    document["chunk_grid"]["chunk_shape"] = json!([]);
    put("meta/root/s.array.json", document.to_string().as_bytes());
    for (key, value) in [("data/root/s/c", 7_i16), ("data/root/s/c0", 8)] {
        put(key, &value.to_le_bytes());
        let scalar = options.open((store.clone(), "s")).unwrap().into_array().unwrap();
        assert_eq!(scalar.read::<ArrayD<i16>>(..).unwrap().sum(), value, "{key}");
    }
}
