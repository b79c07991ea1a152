//! The hierarchy that zarr-python wrote, see the README beside the files.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zarrox_stores::{Condition, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list, prefix};

/// The keys with the sizes of their values.
const KEYS: [(&str, u64); 8] = [
    (".zattrs", 41),
    (".zgroup", 24),
    ("group/.zgroup", 24),
    ("group/counts/.zarray", 0),
    ("group/counts/.zattrs", 0),
    ("group/counts/0.0", 48),
    ("group/counts/0.1", 48),
    ("group/counts/1.0", 48),
];

/// Returns a copy of a file that zarr-python wrote.
pub(crate) fn golden(extension: &str) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let name = format!("hierarchy.{extension}");
    let path = directory.path().join(&name);
    fs::copy(golden_path(&name), &path).unwrap();
    (directory, path)
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Checks that the values that zarr-python wrote exist, and can be changed.
pub(crate) fn check_golden(store: &dyn Store) {
    let listed = list(store, "");
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, KEYS.map(|(name, _)| name));
    for ((name, size), (_, expected)) in listed.iter().zip(KEYS) {
        assert!(expected == 0 || *size == expected, "{name} has {size} bytes");
    }
    let counts = |first: i32| -> Vec<u8> { (0..12).flat_map(|n| (first + n).to_le_bytes()).collect() };
    for (chunk, first) in [("0.0", 0), ("0.1", 100), ("1.0", 200)] {
        let value = store.get(&key(&format!("group/counts/{chunk}"))).unwrap().unwrap();
        assert_eq!(value, counts(first), "{chunk}");
    }
    let document = store.get(&key("group/counts/.zarray")).unwrap().unwrap();
    assert!(std::str::from_utf8(&document).unwrap().contains("\"dtype\": \"<i4\""));
    let listing = store.list_dir(&prefix("group/")).unwrap();
    assert_eq!((listing.keys.len(), listing.prefixes.len()), (1, 1));

    store.set(&key("group/counts/1.1"), &counts(300), Condition::Absent).unwrap();
    let taken = store.set(&key("group/counts/0.0"), b"", Condition::Absent).unwrap_err();
    assert_eq!(taken.kind(), StoreErrorKind::AlreadyExists);
    store.set(&key("group/counts/0.0"), &counts(400), Condition::Always).unwrap();
    assert!(store.erase(&key("group/counts/0.1")).unwrap());
    assert_eq!(store.get(&key("group/counts/0.0")).unwrap().unwrap(), counts(400));
    assert_eq!(list(store, "group/counts/").len(), 5);
}
