//! The Berkeley DB store: files that zarr-python and the library itself wrote, and damaged files.

#![cfg(unix)]
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zarrox_databases::{BerkeleyDbStore, registry};
use zarrox_stores::{StorageOptions, Store, StoreErrorKind};
use zarrox_testkit::store::{key, list, prefix, store_suite};

use super::damage::check_damaged;

/// The kinds of files that `DBMStore` creates.
const HIERARCHIES: [&str; 3] = ["hierarchy.btree", "hierarchy.hash", "hierarchy.ndbm"];

/// Files with many keys, of both kinds and both byte orders.
const MANY: [&str; 4] = ["little.btree", "little.hash", "big.btree", "big.hash"];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/berkeley_db").join(name)
}

fn open(name: &str) -> BerkeleyDbStore {
    BerkeleyDbStore::open(golden(name)).unwrap()
}

/// Returns the entries that `write.py` puts into each file with many keys.
fn many() -> BTreeMap<String, Vec<u8>> {
    let small = (0..400_usize).filter(|n| n % 7 != 0);
    let small = small.map(|n| (format!("many/{n}"), vec![u8::try_from(n % 256).unwrap(); n % 40]));
    let large = (1..5_u8).map(|n| (format!("large/{n}"), vec![n; usize::from(n) * 600]));
    let long =
        (1..5_usize).map(|n| (format!("long/{n}/{}", "x".repeat(n * 200)), n.to_string().into_bytes()));
    small.chain(large).chain(long).collect()
}

#[test]
fn writes_are_refused() {
    for name in HIERARCHIES {
        store_suite(|| Box::new(open(name)));
    }
}

#[test]
fn hierarchies_of_zarr_python_are_read() {
    let names = [
        ".zattrs",
        ".zgroup",
        "group/.zgroup",
        "group/counts/.zarray",
        "group/counts/.zattrs",
        "group/counts/0.0",
        "group/counts/0.1",
        "group/counts/1.0",
    ];
    for name in HIERARCHIES {
        let store = open(name);
        let listed = list(&store, "");
        assert_eq!(listed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names, "{name}");
        let listing = store.list_dir(&prefix("group/")).unwrap();
        assert_eq!(
            (listing.keys, listing.prefixes),
            (vec![key("group/.zgroup")], vec![prefix("group/counts/")])
        );
        for (chunk, first) in [("0.0", 0_i32), ("0.1", 100), ("1.0", 200)] {
            let value = store.get(&key(&format!("group/counts/{chunk}"))).unwrap().unwrap();
            let expected: Vec<u8> = (0..12).flat_map(|n| (first + n).to_le_bytes()).collect();
            assert_eq!(value, expected, "{name}: {chunk}");
        }
        assert_eq!(store.get(&key("group/counts/1.1")).unwrap(), None, "{name}");
        let url = format!("bdb://{}", golden(name).display());
        assert_eq!(registry().open(&url, &StorageOptions::new()).unwrap().path, "");
    }
}

#[test]
fn every_key_is_found_and_listed() {
    let expected = many();
    for name in MANY {
        let store = open(name);
        for (own, value) in &expected {
            let own = key(own);
            assert_eq!(store.get(&own).unwrap().unwrap(), value, "{name}: {own}");
            assert_eq!(store.size(&own).unwrap().unwrap(), value.len() as u64, "{name}: {own}");
        }
        for absent in ["many/0", "many/7", "many", "many/4000", "a", "zz", "large/5", "long/1/y"] {
            assert_eq!(store.get(&key(absent)).unwrap(), None, "{name}: {absent}");
        }
        for below in ["", "many/", "many/1/", "large/", "long/", "long/4/", "none/"] {
            let sizes = expected.iter().filter(|(own, _)| own.starts_with(below));
            let sizes: Vec<_> = sizes.map(|(own, value)| (own.clone(), value.len() as u64)).collect();
            assert_eq!(list(&store, below), sizes, "{name}: {below}");
        }
        let listing = store.list_dir(&prefix("")).unwrap();
        assert_eq!(listing.prefixes, ["large/", "long/", "many/"].map(prefix), "{name}");
        let mut seen = 0;
        let mut visit = |_, _| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        store.list_prefix(&prefix(""), &mut visit).unwrap();
        assert_eq!(seen, 3, "{name}");
    }
}

#[test]
fn another_or_a_damaged_file_is_an_error() {
    let open = |path: &Path| BerkeleyDbStore::open(path).map(|store| Box::new(store) as Box<dyn Store>);
    for name in HIERARCHIES[..2].iter().chain(&MANY[..2]) {
        check_damaged(&open, &fs::read(golden(name)).unwrap());
    }
    let directory = TempDir::new().unwrap();
    let missing = BerkeleyDbStore::open(directory.path().join("none.db")).unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::NotFound, "{missing}");
    assert_eq!(BerkeleyDbStore::open(directory.path()).unwrap_err().kind(), StoreErrorKind::Obstructed);
}

/// Pages with changed numbers: cycles, and items that extend beyond their page.
#[test]
fn damaged_pages_give_errors_and_come_to_an_end() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("damaged.db");
    for name in MANY {
        let whole = fs::read(golden(name)).unwrap();
        let mut failed = 0;
        for page in (512..whole.len()).step_by(3 * 512) {
            for (place, value) in
                [(16, 0), (17, 1), (19, 1), (20, 0xff), (22, 1), (24, 9), (25, 3), (27, 0xff), (40, 3)]
            {
                let mut damaged = whole.clone();
                damaged[page + place] ^= value;
                damaged[page + 18] ^= u8::from(value == 0);
                fs::write(&path, &damaged).unwrap();
                let store = BerkeleyDbStore::open(&path).unwrap();
                let mut visit = |name, _| {
                    failed += usize::from(store.get(&name).is_err());
                    ControlFlow::Continue(())
                };
                let listed = store.list_prefix(&prefix(""), &mut visit);
                let kinds = listed.as_ref().err().map(|error| error.kind());
                assert!(kinds.is_none_or(|kind| kind == StoreErrorKind::Corrupt), "{listed:?}");
                failed += usize::from(listed.is_err());
            }
        }
        assert!(failed > 0, "{name}");
    }
}

#[test]
fn unsupported_files_are_errors() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("other.db");
    let whole = fs::read(golden("little.btree")).unwrap();
    for (place, value, what) in [
        (16, 4, "version 4"),
        (24, 1, "encryption"),
        (26, 1, "checksums"),
        (48, 1, "several values"),
        (48, 0x20, "several databases"),
    ] {
        let mut other = whole.clone();
        other[place] = value;
        fs::write(&path, &other).unwrap();
        let error = BerkeleyDbStore::open(&path).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains(what) && error.to_string().contains("other.db"), "{error}");
    }
}
