//! Directories of files that tests iterate over.

#![expect(clippy::panic, reason = "a test without files fails")]

use std::path::{Path, PathBuf};

/// Returns the entries of a directory, sorted by name.
///
/// # Panics
///
/// When the directory is empty: a test without files would pass without testing anything.
#[must_use]
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()
    });
    let mut entries = entries.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    assert!(!entries.is_empty(), "{} is empty", directory.display());
    entries.sort();
    entries
}
