//! Directories given by path, and their options.

use std::path::Path;

use super::options::{LOCK_TIMEOUT, SYNC, StorageOption, StorageOptions};
use super::scheme::{Located, Scheme};
use super::stage::strip_file_scheme;
use crate::{DirectoryStore, StoreError};

/// The name of the option that allows links to lead out of a directory.
pub const FOLLOW_LINKS: &str = "follow_links";
/// The name of the option for a directory without other writers.
pub const EXCLUSIVE: &str = "exclusive";

pub(super) static SCHEME: Scheme = Scheme::new(&["file"], |url, options| {
    let text = format!("file://{}", url.rest());
    Ok(Located::whole(open_directory(strip_file_scheme(&text).unwrap_or_default(), options)?, ""))
})
.with_options(&[
    StorageOption::flag(
        FOLLOW_LINKS,
        "follow symbolic links that lead out of the directory (a path is one, too)",
    ),
    StorageOption::SYNC,
    StorageOption::flag(
        EXCLUSIVE,
        "do not lock files (for a single writer, and for file systems without locks)",
    ),
    StorageOption::LOCK_TIMEOUT,
]);

/// Opens a directory with storage options.
///
/// # Errors
///
/// The errors of [`DirectoryStore::open`], and an error for an invalid option value.
pub fn open_directory(
    path: impl AsRef<Path>,
    options: &StorageOptions,
) -> Result<DirectoryStore, StoreError> {
    let store = DirectoryStore::open(path)?
        .follow_links(options.flag(FOLLOW_LINKS)?.unwrap_or_default())
        .exclusive(options.flag(EXCLUSIVE)?.unwrap_or_default())
        .sync(options.flag(SYNC)?.unwrap_or_default());
    let longest = options.seconds(LOCK_TIMEOUT)?;
    Ok(longest.into_iter().fold(store, DirectoryStore::lock_timeout))
}
