//! Every kind of URL that this build knows: [`SCHEMES`].

use std::path::PathBuf;
use std::sync::LazyLock;

#[cfg(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    all(unix, feature = "berkeley-db")
))]
use super::files::{self, file_of as file_of_scheme};
use super::named;
use super::options::StorageOptions;
use super::scheme::{Located, Scheme};
use super::text::StoreUrl;
use crate::{MemoryStore, StoreError, StoreErrorKind};

/// Every kind of URL that this build knows.
pub(super) static SCHEMES: &[&Scheme] = &[
    &MEMORY,
    #[cfg(unix)]
    &super::directory::SCHEME,
    #[cfg(feature = "s3")]
    &crate::cloud::s3::SCHEME,
    #[cfg(feature = "azure")]
    &crate::cloud::azure::SCHEME,
    #[cfg(feature = "http")]
    &crate::cloud::http::SCHEME,
    #[cfg(feature = "sqlite")]
    &files::SQLITE,
    #[cfg(feature = "lmdb")]
    &files::LMDB,
    #[cfg(feature = "redb")]
    &files::REDB,
    #[cfg(feature = "gdbm")]
    &files::GDBM,
    #[cfg(all(unix, feature = "berkeley-db"))]
    &files::BERKELEY_DB,
    #[cfg(feature = "redis")]
    &crate::server::redis::SCHEME,
    #[cfg(feature = "mongodb")]
    &crate::server::mongodb::SCHEME,
    #[cfg(feature = "gcs")]
    &crate::cloud::gcs::SCHEME,
    #[cfg(feature = "webdav")]
    &crate::server::webdav::SCHEME,
    #[cfg(feature = "ftp")]
    &crate::server::ftp::SCHEME,
    #[cfg(feature = "hdfs")]
    &crate::server::hdfs::SCHEME,
];

/// All memory that is named by URLs is one store of the process, as fsspec has it.
static MEMORY: Scheme = Scheme {
    names: &["memory"],
    options: &[],
    open: |url, _| {
        static SHARED: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
        Ok(Located::one_of_many(SHARED.clone(), url.rest()))
    },
};

/// Every kind of URL that there is a store for, and the feature that it needs.
const FEATURES: &[(&str, &str)] = &[
    ("sqlite", "sqlite"),
    ("lmdb", "lmdb"),
    ("redb", "redb"),
    ("gdbm", "gdbm"),
    ("bdb", "berkeley-db"),
    ("redis", "redis"),
    ("rediss", "redis"),
    ("mongodb", "mongodb"),
    ("mongodb+srv", "mongodb"),
    ("s3", "s3"),
    ("s3a", "s3"),
    ("gs", "gcs"),
    ("gcs", "gcs"),
    ("az", "azure"),
    ("azure", "azure"),
    ("abfs", "azure"),
    ("abfss", "azure"),
    ("http", "http"),
    ("https", "http"),
    ("webdav", "webdav"),
    ("webdavs", "webdav"),
    ("hdfs", "hdfs"),
    ("ftp", "ftp"),
    ("reference", "references"),
];

/// Opens the store that this URL names, and repeats what fails for a while where the store is remote.
pub(super) fn open_scheme(url: &StoreUrl<'_>, options: &StorageOptions) -> Result<Located, StoreError> {
    let named = |scheme: &&&Scheme| scheme.names.contains(&url.scheme());
    match SCHEMES.iter().find(named) {
        Some(scheme) => Ok(steady((scheme.open)(url, options)?)),
        None => named::find(url).ok_or_else(|| unknown(url)),
    }
}

/// A store that repeats what fails for a while, where it is reached through a network.
#[cfg(feature = "retry")]
fn steady(located: Located) -> Located {
    match located.store.capabilities().in_flight {
        Some(_) => Located { store: std::sync::Arc::new(crate::RetryStore::new(located.store)), ..located },
        None => located,
    }
}

#[cfg(not(feature = "retry"))]
fn steady(located: Located) -> Located {
    located
}

fn unknown(url: &StoreUrl<'_>) -> StoreError {
    let scheme = url.scheme();
    let message = match FEATURES.iter().find(|(name, _)| *name == scheme) {
        Some((_, feature)) => {
            format!("'{scheme}://' needs the feature `{feature}` of zarrox, which is not enabled")
        }
        None => {
            let known: Vec<&str> = SCHEMES.iter().flat_map(|scheme| scheme.names).copied().collect();
            format!("unknown scheme '{scheme}://'; known are {}", known.join(", "))
        }
    };
    StoreError::new(StoreErrorKind::Unsupported, "opening", message).with_location(url.to_string())
}

/// The file, or LMDB's directory, in which the store of a URL keeps everything, whether it is there yet or not; `None` for other
/// stores, and for those that are only read.
#[must_use]
pub fn file_of(url: &str) -> Option<PathBuf> {
    file_of_scheme(&StoreUrl::parse(url).ok()?)
}

#[cfg(not(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    all(unix, feature = "berkeley-db")
)))]
fn file_of_scheme(_: &StoreUrl<'_>) -> Option<PathBuf> {
    None
}
