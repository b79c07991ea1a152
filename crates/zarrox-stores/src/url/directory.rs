//! Directories by their paths, and the options that they have.

use std::path::Path;
use std::time::Duration;

use super::options::{SYNC, SYNC_OPTION, StorageOption, StorageOptions, wrong};
use super::scheme::{Located, Scheme};
use crate::{DirectoryStore, StoreError};

/// The name of the option that lets links lead out of a directory.
pub const FOLLOW_LINKS: &str = "follow_links";
/// The name of the option that says that nobody else writes to a directory.
pub const EXCLUSIVE: &str = "exclusive";
/// The name of the option that says how many seconds to wait for a file that another process has locked.
pub const LOCK_TIMEOUT: &str = "lock_timeout";

pub(super) static SCHEME: Scheme = Scheme {
    names: &["file"],
    options: &[
        StorageOption::flag(
            FOLLOW_LINKS,
            "follow symbolic links that lead out of the directory (a path is one, too)",
        ),
        SYNC_OPTION,
        StorageOption::flag(
            EXCLUSIVE,
            "lock no files, since nobody else writes (for file systems without locks)",
        ),
        StorageOption::text(
            LOCK_TIMEOUT,
            "the number of seconds to wait for a file that another process has locked: 60",
        ),
    ],
    open: |url, options| Ok(Located::whole(open_directory(url.rest(), options)?, "")),
};

/// Opens a directory as its options say.
///
/// # Errors
///
/// Those of [`DirectoryStore::open`], and one for a value that an option cannot have.
pub fn open_directory(
    path: impl AsRef<Path>,
    options: &StorageOptions,
) -> Result<DirectoryStore, StoreError> {
    let store = DirectoryStore::open(path)?
        .follow_links(options.flag(FOLLOW_LINKS)?.unwrap_or_default())
        .exclusive(options.flag(EXCLUSIVE)?.unwrap_or_default())
        .sync(options.flag(SYNC)?.unwrap_or_default());
    let Some(text) = options.get(LOCK_TIMEOUT) else { return Ok(store) };
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let Some(longest) = seconds else {
        return Err(wrong(format!("'{text}' is not a number of seconds for the option '{LOCK_TIMEOUT}'")));
    };
    Ok(store.lock_timeout(longest))
}
