//! The URLs of the databases that are opened with [`DatabaseOptions`].

use zarrox_stores::internals::{LOCK_TIMEOUT, SYNC};
use zarrox_stores::{Located, Scheme, StorageOption, StorageOptions, StoreError, StoreErrorKind, StoreUrl};

use crate::database::files::split;
use crate::database::options::{DatabaseOptions, DatabaseStore};

/// The lock timeout of databases that only one process can have open at a time.
#[cfg(any(feature = "redb", feature = "gdbm"))]
pub(super) const FILE_TIMEOUT: StorageOption = StorageOption::text(
    LOCK_TIMEOUT,
    "the timeout for a file that another process has open, in seconds [default: 0.1]",
);

/// Returns the URL scheme of a kind of database.
pub(super) const fn scheme<S: DatabaseStore>(
    names: &'static [&'static str],
    options: &'static [StorageOption],
) -> Scheme {
    Scheme::new(names, open::<S>)
        .with_options(options)
        .with_file(|url| split(url, S::EXTENSIONS, S::exists).0)
}

/// Opens the database of a URL, and creates it if requested. A database without write permission is opened read-only.
fn open<S: DatabaseStore>(url: &StoreUrl<'_>, storage: &StorageOptions) -> Result<Located, StoreError> {
    let (file, rest) = split(url, S::EXTENSIONS, S::exists);
    let options = storage.flag(SYNC)?.into_iter().fold(DatabaseOptions::<S>::new(), DatabaseOptions::sync);
    let options = storage.seconds(LOCK_TIMEOUT)?.into_iter().fold(options, DatabaseOptions::lock_timeout);
    if storage.creates() {
        return Ok(Located::whole(options.create(&file)?, rest));
    }
    let store = match options.clone().open(&file) {
        Err(error) if matches!(error.kind(), StoreErrorKind::Forbidden | StoreErrorKind::ReadOnly) => {
            options.read_only(true).open(&file)?
        }
        opened => opened?,
    };
    Ok(Located::whole(store, rest))
}
