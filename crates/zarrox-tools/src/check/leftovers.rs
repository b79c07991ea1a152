//! Temporary files of writers that have ended.

use std::path::Path;

use zarrox_core::{Error, Result};
use zarrox_stores::{DirectoryStore, Prefix};

use super::finding::{Finding, FindingKind, Remedy};
use super::session::Session;

/// Looks for temporary files below the start, and deletes them on request.
pub(super) fn check(session: &Session<'_>) -> Result<()> {
    let Some(directory) = &session.directory else { return Ok(()) };
    let store = DirectoryStore::open(directory)?;
    let prefix = Prefix::new(session.start.path.prefix())?;
    // Directories that cannot be listed are reported by the check of keys.
    let left = store.leftovers(&prefix).unwrap_or_default();
    if left.is_empty() {
        return Ok(());
    }
    let findings = left.into_iter().map(|key| finding(session, directory, &key)).collect();
    session.settle(findings, || store.remove_leftovers(&prefix).map(drop).map_err(Error::from))
}

fn finding(session: &Session<'_>, directory: &Path, key: &str) -> Finding {
    let size = directory.join(key).metadata().map_or(0, |file| file.len());
    let message = format!("a temporary file of {size} bytes whose writer has ended");
    let path = session.start.path.as_str();
    Finding::new(FindingKind::TemporaryFile, path, message, Remedy::Delete).at_key(key)
}
