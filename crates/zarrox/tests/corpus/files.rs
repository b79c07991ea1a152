//! The files of the corpus.

use std::path::{Path, PathBuf};

use zarrox::json::{Json, Map};
use zarrox::stores::{Key, Store};

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The names of all directories that hold what some writer wrote.
pub(crate) fn writers() -> Vec<String> {
    let entries = corpus().read_dir().unwrap().map(Result::unwrap);
    let writers = entries.filter(|entry| entry.path().join("expected.json").exists());
    writers.map(|writer| writer.file_name().into_string().unwrap()).collect()
}

/// The hierarchies of a writer, each with its nodes.
pub(crate) fn expected(directory: &Path) -> Map {
    let text = std::fs::read(directory.join("expected.json")).unwrap();
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
