//! Files that are read as hierarchies, which are opened again when they were replaced.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use zarrox::OpenOptions;
use zarrox_files::Kind;

use crate::work::Limits;

/// A file of another format.
pub(crate) struct ReadFile {
    pub(crate) kind: Kind,
    /// The parts that have no form in Zarr, with the reasons.
    pub(crate) left_out: Vec<String>,
}

/// The file of a root that was read when the root was opened.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    pub(crate) limits: Limits,
    identity: Option<Vec<u8>>,
}

impl Source {
    /// Returns the source of a root that is opened next.
    pub(crate) fn new(path: &Path, options: &OpenOptions, limits: Limits) -> Self {
        Self { path: path.to_owned(), options: options.clone(), limits, identity: identity(path) }
    }

    /// Returns true if the path has another file now, or the file was changed. A deleted file remains open.
    pub(crate) fn is_replaced(&self) -> bool {
        identity(&self.path).is_some_and(|now| self.identity.as_ref() != Some(&now))
    }
}

/// Returns the size and the times of a file, and its number on systems that number files; `None` for a directory, and for a
/// path without a file.
pub(crate) fn identity(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let parts = [u128::from(found.len()), changed.as_nanos(), number(&found)];
    Some(parts.iter().flat_map(|part| part.to_le_bytes()).collect())
}

#[cfg(unix)]
fn number(found: &Metadata) -> u128 {
    use std::os::unix::fs::MetadataExt;

    u128::from(found.dev()) << 64 | u128::from(found.ino())
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u128 {
    0
}
