//! The properties of images that other programs read, from `expected.json` beside the images.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::json::{self, Json};
use zarrox::{Array, DynArray, Node, OpenMode, OpenOptions};
use zarrox_files::open_file;

/// Returns the directory with the images of this name.
pub(crate) fn data(name: &str) -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name))
}

/// Returns the properties of all images in a directory.
pub(crate) fn expected(data: &Path) -> json::Map {
    json::parse_object(&std::fs::read(data.join("expected.json")).unwrap()).unwrap()
}

/// Opens a file, and returns its root.
pub(crate) fn opened(path: &Path) -> Node {
    let store = Arc::new(open_file(path).unwrap());
    OpenOptions::new().mode(OpenMode::Read).open((store, "")).unwrap()
}

/// Compares the shape, the type and the elements of an array.
pub(crate) fn check(array: &Array, said: &Json, place: &str) {
    let shape: Vec<u64> = said["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(array.shape(), shape, "{place}");
    assert_eq!(array.data_type().to_string(), said["type"].as_str().unwrap(), "{place}");
    let bytes = array.read::<DynArray>(..).unwrap().into_bytes();
    assert_eq!(Json::from(crc32fast::hash(&bytes)), said["crc32"], "{place}: the elements differ");
}

/// Returns the numbers of a list, or of a list of lists.
pub(crate) fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(all) => all.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}
