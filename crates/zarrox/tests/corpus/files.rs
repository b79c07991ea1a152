//! The files of the corpus.

use std::path::{Path, PathBuf};

use zarrox::json::{Json, Map};
use zarrox::stores::{Key, Store, StoreExt};
use zarrox_testkit::corpus::{directory, root};

/// Returns the names of all writers with an `expected.json`: `draft`, `zarr-python/2.18`.
pub(crate) fn writers() -> Vec<String> {
    let above = root();
    let folders = below(&above).into_iter().flat_map(|folder| [below(&folder), vec![folder]].concat());
    // If a script writes several archives, as for N5, its README describes their form.
    let packed =
        folders.filter(|folder| folder.join("make.py").exists() && folder.join("data.tar.xz").exists());
    let writers = packed.map(|folder| folder.strip_prefix(&above).unwrap().to_str().unwrap().to_owned());
    let writers: Vec<String> =
        writers.filter(|writer| directory(writer).join("expected.json").exists()).collect();
    assert!(!writers.is_empty(), "the corpus is empty");
    writers
}

/// The directories in a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

/// The hierarchies of a writer, each with its nodes.
pub(crate) fn expected(writer: &str) -> Map {
    let text = std::fs::read(directory(writer).join("expected.json")).unwrap();
    let mut document: Json = serde_json::from_slice(&text).unwrap();
    let hierarchies = document["hierarchies"].as_object_mut().map(std::mem::take).unwrap();
    assert!(!hierarchies.is_empty(), "{writer} has nothing");
    hierarchies
}

/// Copies the files below a directory into a store, under a prefix.
pub(crate) fn copy_below(prefix: &str, directory: &Path, store: &dyn Store) {
    for entry in directory.read_dir().unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            copy_below(&format!("{name}/"), &entry.path(), store);
        } else {
            let content = std::fs::read(entry.path()).unwrap();
            store.set(&Key::new(name).unwrap(), &content, Default::default()).unwrap();
        }
    }
}
