//! Unusual HDF5 and NetCDF-4 files have the values that h5py and netCDF4 read, and parts that are left out are
//! named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::json::{self, Json};
use zarrox::{Array, DynArray, Group, OpenMode, OpenOptions};
use zarrox_files::{FileStore, Import, open_file};

pub(crate) fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5"))
}

fn expected() -> json::Map {
    json::parse_object(&std::fs::read(data().join("expected.json")).unwrap()).unwrap()
}

fn root(store: &FileStore) -> Group {
    let store = Arc::new(store.clone());
    OpenOptions::new().mode(OpenMode::Read).open((store, "")).unwrap().into_group().unwrap()
}

fn decoded(json: &Json) -> Vec<u8> {
    STANDARD.decode(json.as_str().unwrap()).unwrap()
}

fn check(array: &Array, said: &Json, place: &str) {
    let shape: Vec<u64> = said["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(array.shape(), shape, "{place}");
    let found = array.read::<DynArray>(..).unwrap();
    if let Some(texts) = said.get("texts").and_then(Json::as_array) {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_str().unwrap().as_bytes()).collect();
        assert_eq!(found.elements().collect::<Vec<_>>(), texts, "{place}");
    } else if let Some(lists) = said.get("lists").and_then(Json::as_array) {
        let lists: Vec<Vec<u8>> = lists.iter().map(decoded).collect();
        assert_eq!(found.elements().map(<[u8]>::to_vec).collect::<Vec<_>>(), lists, "{place}");
    } else {
        assert_eq!(found.packed().unwrap().into_bytes(), decoded(&said["bytes"]), "{place}");
    }
    if let Some(data_type) = said.get("type") {
        assert_eq!(array.data_type().to_string(), data_type.as_str().unwrap(), "{place}");
    }
    if let Some(names) = said.get("dimensions").and_then(Json::as_array) {
        let names: Vec<_> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
        assert_eq!(array.dimension_names().map(<[_]>::to_vec).unwrap_or_default(), names, "{place}");
    }
}

#[test]
fn every_node_has_its_values_or_is_named() {
    let mut count = 0;
    for (file, said) in &expected() {
        let store = open_file(data().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let left_out: BTreeSet<&str> = store.left_out().iter().map(|found| found.path.as_str()).collect();
        let wanted: BTreeSet<&str> =
            said["left_out"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
        assert_eq!(left_out, wanted, "{file}: {:?}", store.left_out());
        let root = root(&store);
        for (path, said) in said["nodes"].as_object().unwrap() {
            let place = format!("{file}: {path}");
            let array = root.open(path).unwrap_or_else(|error| panic!("{place}: {error}"));
            check(&array.into_array().unwrap_or_else(|_| panic!("{place} is not an array")), said, &place);
            count += 1;
        }
        let none = Json::Object(json::Map::default());
        for (path, attributes) in said.get("attributes").unwrap_or(&none).as_object().unwrap() {
            let found = if path.is_empty() {
                root.attributes().clone()
            } else {
                root.open(path).unwrap().attributes().clone()
            };
            for (name, value) in attributes.as_object().unwrap() {
                assert_eq!(found.get(name), Some(value), "{file}: {path}: {name}");
            }
        }
    }
    assert!(count > 70, "{count}");
}

#[test]
fn damage_is_told_from_what_zarr_does_not_have() {
    let kinds = |file: &str| -> Vec<(String, bool)> {
        let store = open_file(data().join(file)).unwrap();
        store.left_out().iter().map(|found| (found.path.clone(), found.is_damaged())).collect()
    };
    assert_eq!(open_file(data().join("cut.h5")).unwrap_err().kind(), zarrox::ErrorKind::Corrupt);
    for file in ["damaged.h5", "size.h5"] {
        assert!(kinds(file).iter().all(|(_, is_damaged)| *is_damaged), "{file}: {:?}", kinds(file));
    }
    let directory = tempfile::tempdir().unwrap();
    let error =
        Import::new().node("gone").run(data().join("external.h5"), directory.path().join("a")).unwrap_err();
    assert_eq!(error.kind(), zarrox::ErrorKind::NotFound, "{error}");
    let skipping = Import::new().skip_unsupported(true);
    skipping.run(data().join("external.h5"), directory.path().join("b")).unwrap();
    for file in ["types.h5", "links.h5", "names.h5", "virtual.h5", "external.h5"] {
        assert!(kinds(file).iter().all(|(_, is_damaged)| !is_damaged), "{file}: {:?}", kinds(file));
    }
}

#[test]
fn files_that_another_file_names_and_that_are_missing_are_not_damage() {
    let directory = tempfile::tempdir().unwrap();
    let kinds = |file: &str, from: &str, to: &str| {
        let mut bytes = std::fs::read(data().join(file)).unwrap();
        if let Some(at) = bytes.windows(from.len()).position(|part| part == from.as_bytes()) {
            bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        }
        let path = directory.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        let error = Import::new().run(&path, directory.path().join("a.zarr")).unwrap_err();
        assert!(error.to_string().contains("put a copy of the file there"), "{error}");
        error.kind()
    };
    // Neither a directory nor a path below a file is a file.
    std::fs::create_dir(directory.path().join("one_raw")).unwrap();
    std::fs::write(directory.path().join("f"), "x").unwrap();
    for name in ["one.raw", "one_raw", "f/x.raw"] {
        assert_eq!(kinds("external.h5", "one.raw", name), zarrox::ErrorKind::NotFound, "{name}");
    }
    assert_eq!(kinds("percent.h5", "100%", "100%"), zarrox::ErrorKind::NotFound);
}

#[test]
fn a_good_node_is_imported_beside_bad_ones() {
    let directory = tempfile::tempdir().unwrap();
    for (file, node) in [("damaged.h5", "good"), ("links.h5", "a/b/d"), ("virtual.h5", "stack")] {
        let target = directory.path().join(file);
        Import::new().node(node).run(data().join(file), &target).unwrap();
        assert!(zarrox::open_array(&target).is_ok(), "{file}");
    }
}

#[test]
fn files_outside_of_the_directory_are_read_when_they_are_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let moved = directory.path().join("virtual.h5");
    std::fs::copy(data().join("virtual.h5"), &moved).unwrap();
    let lost = open_file(&moved).unwrap();
    let reason =
        lost.left_out().iter().find(|found| found.path == "/stack").map(|found| found.reason.clone());
    assert!(reason.unwrap().contains("part_0.h5"));
}

#[test]
fn objects_are_counted() {
    let store = open_file(data().join("uneven.nc")).unwrap();
    let counted = store.inventory().unwrap();
    assert_eq!((counted.groups, counted.arrays, counted.elements), (1, 4, 6 + 18 + 6 + 3));
    assert_eq!(store.inventory_below("z").unwrap().elements, 6);
}

#[test]
fn a_file_outside_is_not_replaced_by_one_of_its_name_beside_the_importing_file() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let mut bytes = std::fs::read(data().join("external.h5")).unwrap();
    let (name, outside) = (b"gone.raw", b"../a.raw");
    while let Some(at) = bytes.windows(name.len()).position(|part| part == name) {
        bytes[at..at + name.len()].copy_from_slice(outside);
    }
    std::fs::write(inside.join("external.h5"), bytes).unwrap();
    let reason = || {
        let store = open_file(inside.join("external.h5")).unwrap();
        store.left_out().iter().find(|found| found.path == "/gone").map(|found| found.reason.clone())
    };
    std::fs::write(inside.join("a.raw"), [1; 80]).unwrap();
    assert_eq!(reason(), None, "files that were moved together are found");
    std::fs::write(directory.path().join("a.raw"), [2; 80]).unwrap();
    assert!(reason().unwrap().contains("outside its directory"));
}
