//! The digest of zarr-python 2.

use std::collections::BTreeMap;

use zarrox::prelude::*;
use zarrox::{ErrorKind, OpenMode, OpenOptions};
use zarrox_testkit::corpus::directory;

/// The digests that zarr-python computes for arrays, by writer and path: see `README.md`.
const GOLDEN: &str = include_str!("hexdigests.json");

#[test]
fn hexdigests_are_those_of_zarr_python() {
    let golden: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(GOLDEN).unwrap();
    // Arrays whose elements cannot be decoded have a digest as well: stored bytes are hashed.
    let options = OpenOptions::new().metadata_only(true).mode(OpenMode::Read).format(Format::V2);
    let mut count = 0;
    for (writer, arrays) in golden {
        let data = directory(&writer);
        for (path, expected) in arrays {
            let array = options.open(data.join(&path)).and_then(Node::into_array);
            let found = array.and_then(|array| zarrox_tools::hexdigest(&array));
            assert_eq!(found.as_ref().ok(), Some(&expected), "{writer} {path}: {found:?}");
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn other_formats_have_none() {
    let array =
        OpenOptions::new().create_array((super::memory(), "")).shape([3]).data_type(DataType::Int8).create();
    assert_eq!(zarrox_tools::hexdigest(&array.unwrap()).unwrap_err().kind(), ErrorKind::Unsupported);
}
