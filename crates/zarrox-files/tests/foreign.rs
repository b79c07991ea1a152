//! Files of h5py, netCDF4 and xarray have their values.

use std::sync::Arc;

use base64::Engine as _;
use zarrox::data_type::Storage;
use zarrox::json::{self, Json};
use zarrox::stores::Store;
use zarrox::{Array, DynArray, Node, OpenMode, OpenOptions};
use zarrox_files::{Import, open_file};

use crate::data;

fn expected() -> json::Map {
    json::parse_object(&std::fs::read(data().join("expected.json")).unwrap()).unwrap()
}

fn root(file: &str) -> zarrox::Group {
    let store: Arc<dyn Store> = Arc::new(open_file(data().join(file)).unwrap());
    OpenOptions::new().mode(OpenMode::Read).open((store, "")).unwrap().into_group().unwrap()
}

/// Returns the bytes of all elements without padding.
fn bytes(array: &Array) -> Vec<u8> {
    array.read::<DynArray>(..).unwrap().packed().unwrap().into_bytes()
}

fn check(array: &Array, said: &Json, place: &str) {
    let shape: Vec<u64> = said["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(array.shape(), shape, "{place}");
    if let Some(texts) = said.get("texts") {
        let texts: Vec<&str> = texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let found = array.read::<DynArray>(..).unwrap();
        let found: Vec<&[u8]> = found.elements().collect();
        assert_eq!(found, texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>(), "{place}");
    } else {
        let wanted =
            base64::engine::general_purpose::STANDARD.decode(said["bytes"].as_str().unwrap()).unwrap();
        assert!(bytes(array) == wanted, "{place}: the values differ");
    }
    if let Some(names) = said.get("dimensions").and_then(Json::as_array) {
        let found = array.dimension_names().map(<[_]>::to_vec).unwrap_or_default();
        let names: Vec<_> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
        assert_eq!(found, names, "{place}");
    }
}

#[test]
fn every_type_layout_and_filter_has_its_values() {
    let mut count = 0;
    for (file, arrays) in &expected() {
        let root = root(file);
        for (path, said) in arrays.as_object().unwrap() {
            let place = format!("{file}: {path}");
            match root.open(path) {
                Ok(Node::Array(array)) => check(&array, said, &place),
                // Structures with arrays as fields have no equivalent in Zarr v3: each field is an array.
                Ok(Node::Group(group)) => {
                    assert!(path.ends_with("lists"), "{place} is a group");
                    assert_eq!(group.attributes()["columns"].to_string(), r#"["v","x"]"#);
                    assert_eq!(
                        root.open(format!("{path}/v")).unwrap().into_array().unwrap().shape(),
                        [2, 2, 2]
                    );
                }
                Err(error) => unreachable!("{place}: {error}"),
            }
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn chunks_are_copied_where_all_filters_have_codecs() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("filters.zarr");
    let report = Import::new().run(data().join("filters.h5"), &target).unwrap();
    assert!(report.nodes.iter().all(|node| node.chunks > 0 || !node.is_array));
    let codecs = |name: &str| -> Vec<String> {
        let array = zarrox::open_array(target.join(name)).unwrap();
        array.codecs().iter().map(|codec| codec.name.clone()).collect()
    };
    assert_eq!(codecs("all"), ["bytes", "numcodecs.shuffle", "numcodecs.zlib", "numcodecs.fletcher32"]);
    assert_eq!(codecs("zstd"), ["bytes", "zstd"]);
    assert_eq!(codecs("blosc_lz4_2"), ["bytes", "blosc"]);
    // A dataset that is not compressed, or whose filter has no codec, gets the codecs of a new array.
    assert_eq!(codecs("none"), codecs("lzf"));
    let file = std::fs::read(data().join("filters.h5")).unwrap();
    let chunk = zarrox::open_array(target.join("all")).unwrap().raw().read(&[0, 0]).unwrap().unwrap();
    assert!(file.windows(chunk.len()).any(|window| window == chunk), "the chunk is one of the file");
}

#[test]
fn attributes_have_the_types_of_json() {
    let root = root("types-latest.h5");
    let scalar = root.open("scalar").unwrap();
    let attributes = scalar.attributes();
    let text = |name: &str| attributes[name].to_string();
    assert_eq!(text("int"), "-5");
    assert_eq!(text("u8"), u64::MAX.to_string());
    assert_eq!(text("s"), r#""text""#);
    assert_eq!(text("b"), r#""fixed""#);
    assert_eq!(text("arr2"), "[[0.0,1.0],[2.0,3.0]]");
    assert_eq!(text("strs"), r#"["a","bc"]"#);
    assert_eq!(text("bool"), "true");
    assert_eq!(text("ref"), r#""/plain""#);
    assert_eq!(text("e"), "null");
    assert_eq!(text("vl"), "[[0,1],[0,1,2]]");
    assert_eq!(
        root.open("enum").unwrap().attributes()[zarrox_files::ENUM].to_string(),
        r#"{"BLUE":2,"GREEN":1,"RED":0}"#
    );
    let plain = root.open("plain").unwrap();
    assert_eq!(plain.attributes().len(), 20, "many attributes lie outside the header");
    let array = root.open("fill").unwrap().into_array().unwrap();
    assert_eq!(array.read::<ndarray::ArrayD<f32>>(zarrox::s![9, 9]).unwrap().sum(), -9.5);
    assert!(matches!(
        root.open("text").unwrap().into_array().unwrap().data_type().storage(),
        Storage::Variable
    ));
}

#[test]
fn a_file_is_imported_into_any_format_and_again_after_an_interruption() {
    let directory = tempfile::tempdir().unwrap();
    let v2 = directory.path().join("v2.zarr");
    let copier = zarrox_tools::copy::Copier::new().format(zarrox::Format::V2);
    Import::new().copier(copier).run(data().join("nc4.nc"), &v2).unwrap();
    let array = zarrox::open_array(v2.join("t2m")).unwrap();
    assert_eq!(array.attributes()["_ARRAY_DIMENSIONS"].to_string(), r#"["time","lat","lon"]"#);
    let stopped = directory.path().join("stopped.zarr");
    let copier = || zarrox_tools::copy::Copier::new();
    let stop = |done: zarrox::Progress| match done.done > 2000 {
        true => Err(zarrox::Error::new(zarrox::ErrorKind::Interrupted, "stop")),
        false => Ok(()),
    };
    let source = data().join("filters.h5");
    Import::new().copier(copier().on_progress(stop)).run(&source, &stopped).unwrap_err();
    assert!(zarrox::open(&stopped).is_err(), "there is no node before all is there");
    Import::new().copier(copier()).run(&source, &stopped).unwrap();
    let digest =
        |path: &std::path::PathBuf| zarrox_tools::digest(&zarrox::open(path).unwrap()).unwrap().to_string();
    let whole = directory.path().join("whole.zarr");
    Import::new().run(&source, &whole).unwrap();
    assert_eq!(digest(&stopped), digest(&whole));
}

#[test]
fn what_has_no_form_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.zarr");
    let error = Import::new().run(data().join("types-latest.h5"), &target).unwrap_err();
    assert_eq!(error.kind(), zarrox::ErrorKind::Unsupported);
    assert!(error.to_string().contains("/dangling"), "{error}");
    assert!(!target.exists());
    Import::new().skip_unsupported(true).run(data().join("types-latest.h5"), &target).unwrap();
    Import::new()
        .node("plain/i2")
        .run(data().join("types-latest.h5"), directory.path().join("b.zarr"))
        .unwrap();
}
