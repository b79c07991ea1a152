//! The files that tests go through.

#![expect(clippy::panic, reason = "a test that has nothing to go through fails")]

use std::path::{Path, PathBuf};

/// What is in a directory, in the order of names.
///
/// # Panics
///
/// When nothing is there: a test that goes through an empty directory would pass without a test.
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
