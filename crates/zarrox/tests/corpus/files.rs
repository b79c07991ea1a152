//! The files of the corpus.

use std::path::Path;

use zarrox::json::{Json, Map};
use zarrox::stores::{Key, Store};
use zarrox_testkit::corpus::{directory, root};

/// The names of all writers of which `expected.json` says what there is.
pub(crate) fn writers() -> Vec<String> {
    let entries = root().read_dir().unwrap().map(Result::unwrap);
    let packed = entries.filter(|entry| entry.path().join("data.tar.xz").exists());
    let writers = packed.map(|entry| entry.file_name().into_string().unwrap());
    writers.filter(|writer| directory(writer).join("expected.json").exists()).collect()
}

/// The hierarchies of a writer, each with its nodes.
pub(crate) fn expected(writer: &str) -> Map {
    let text = std::fs::read(directory(writer).join("expected.json")).unwrap();
    let mut document: Json = serde_json::from_slice(&text).unwrap();
    document["hierarchies"].as_object_mut().map(std::mem::take).unwrap()
}

/// Copies the files below a directory into a store, each under its path behind a prefix.
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
