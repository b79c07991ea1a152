//! Bytes in memory are read as the file that they came from.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use zarrox::ErrorKind;
use zarrox::stores::{Bytes, Key, Prefix, Store};
use zarrox_files::{FileStore, Kind, open_file};

fn data(name: &str) -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name))
}

fn in_memory(path: &Path) -> zarrox::Result<FileStore> {
    let kind = Kind::of(path).unwrap().unwrap();
    kind.open_bytes(path.file_name().unwrap(), std::fs::read(path).unwrap())
}

/// Returns the values of a store that are not too large.
fn values(store: &FileStore) -> Vec<(Key, Option<Bytes>)> {
    let mut keys = Vec::new();
    let every = |key, size: u64| {
        if size < 1 << 16 {
            keys.push(key);
        }
        ControlFlow::Continue(())
    };
    store.list_prefix(&Prefix::new("").unwrap(), &mut { every }).unwrap();
    keys.into_iter()
        .map(|key| {
            let value = store.get(&key).ok().flatten();
            (key, value)
        })
        .collect()
}

#[test]
fn files_are_the_same_in_memory() {
    let mut count = 0;
    for directory in ["files", "images", "nifti", "tables", "tiff"] {
        for entry in std::fs::read_dir(data(directory)).unwrap() {
            let path = entry.unwrap().path();
            let Some(store) = path.is_file().then(|| open_file(&path)).and_then(Result::ok) else { continue };
            // Pairs, and images with planes in other files, consist of several files.
            let Ok(alone) = in_memory(&path) else { continue };
            if alone.left_out() != store.left_out() {
                continue;
            }
            assert_eq!(values(&alone), values(&store), "{}", path.display());
            assert_eq!(alone.notes(), store.notes(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[cfg(feature = "hdf5")]
#[test]
fn files_that_bytes_in_memory_name_are_not_read() {
    for (name, nodes) in [("external.h5", 2), ("virtual.h5", 9)] {
        let store = in_memory(&data("hdf5").join(name)).unwrap();
        let forbidden = store.left_out().iter().filter(|found| found.kind == ErrorKind::Forbidden).count();
        assert!(forbidden + 1 >= nodes, "{name}: {:?}", store.left_out());
    }
}

#[cfg(feature = "nifti")]
#[test]
fn a_pair_in_memory_is_refused() {
    let header = std::fs::read_dir(data("nifti")).unwrap().map(|entry| entry.unwrap().path());
    let header = header.filter(|path| path.extension().is_some_and(|suffix| suffix == "hdr")).min().unwrap();
    let error =
        Kind::Nifti.open_bytes(header.file_name().unwrap(), std::fs::read(&header).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
}
