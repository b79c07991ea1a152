//! From a URL to a store: [`open_url`].

mod chain;
#[cfg(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    all(unix, feature = "berkeley-db")
))]
mod files;
mod options;
#[cfg(feature = "references")]
mod references;
mod text;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

#[cfg(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    all(unix, feature = "berkeley-db")
))]
use self::files::file_of as file_of_scheme;
#[cfg(feature = "references")]
pub(crate) use self::options::REMOTE;
pub use self::options::{OptionValue, StorageOption, StorageOptions};
pub use self::text::StoreUrl;

use crate::{MemoryStore, Store, StoreError, StoreErrorKind};

/// What a URL means: a store, and a place in it.
#[derive(Debug)]
pub struct Located {
    /// The store.
    pub store: Arc<dyn Store>,
    /// What the URL says behind the store: segments separated by `/`, without one at either end. It is not checked.
    pub path: String,
    /// Whether all that is in the store belongs together, as in a database; a bucket or a server has many things.
    pub whole: bool,
}

impl Located {
    /// A store of which all belongs together.
    pub(crate) fn whole(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { store: Arc::new(store), path: path.into().trim_matches('/').to_owned(), whole: true }
    }

    /// A store with many things.
    pub(crate) fn one_of_many(store: impl Store + 'static, path: impl Into<String>) -> Self {
        Self { whole: false, ..Self::whole(store, path) }
    }
}

/// A kind of URL.
pub(crate) struct Scheme {
    /// What stands before `://`.
    pub(crate) names: &'static [&'static str],
    /// The storage options that it takes.
    pub(crate) options: &'static [StorageOption],
    /// Finds the store.
    pub(crate) open: fn(&StoreUrl<'_>, &StorageOptions) -> Result<Located, StoreError>,
}

/// Every kind of URL that this build knows.
static SCHEMES: &[&Scheme] = &[
    &MEMORY,
    #[cfg(unix)]
    &DIRECTORY,
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
    #[cfg(feature = "references")]
    &references::SCHEME,
];

#[cfg(unix)]
static DIRECTORY: Scheme = Scheme {
    names: &["file"],
    options: DIRECTORY_OPTIONS,
    open: |url, options| {
        let follow = options.flag(FOLLOW_LINKS)?.unwrap_or_default();
        Ok(Located::whole(crate::DirectoryStore::open(url.rest())?.follow_links(follow), ""))
    },
};

/// The name of the option that lets links lead out of a directory.
pub const FOLLOW_LINKS: &str = "follow_links";

const DIRECTORY_OPTIONS: &[StorageOption] = &[StorageOption::flag(
    FOLLOW_LINKS,
    "follow symbolic links that lead out of the directory (a path is one, too)",
)];

/// All memory that is named by URLs is one store of the process, as fsspec has it.
static MEMORY: Scheme = Scheme {
    names: &["memory"],
    options: &[],
    open: |url, _| {
        static SHARED: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
        Ok(Located::one_of_many(SHARED.clone(), url.rest()))
    },
};

/// Every kind of store of this build: its names, which stand before `://` or `::`, and the storage options that it takes.
pub fn storage_options() -> impl Iterator<Item = (&'static [&'static str], &'static [StorageOption])> {
    let schemes = SCHEMES.iter().map(|scheme| (scheme.names, scheme.options));
    schemes.chain([(chain::CACHES, chain::CACHE_OPTIONS)])
}

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

/// Finds the store that a URL means. What is asked of it, also whether it is there, shows when it is used.
///
/// | URL | store |
/// |---|---|
/// | `file:///path` | a directory |
/// | `memory://path` | the memory that all such URLs of this process share |
/// | `s3://bucket/path` | S3; `endpoint`, `region`, `anonymous`, `profile` … are storage options or said by the environment |
/// | `az://container/path`, `abfss://container@account.dfs.core.windows.net/path` | Azure Blob Storage |
/// | `https://host/path` | a web server, for reading |
/// | `sqlite:///path/data.db/node`, `lmdb://`, `redb://`, `gdbm://` | a database file, and a node in it |
/// | `bdb:///path/data.bdb/node` | a Berkeley DB file, for reading, and a node in it |
/// | `simplecache::URL`, `filecache::URL` | any of these, behind a cache on disk (`cache_directory`, or `~/.cache/zarrox`); `filecache` asks each time whether a copy is still the same |
/// | `redis://user:password@host:port/database/node?prefix=` | a Redis database, and a node in it |
/// | `mongodb://user:password@host:port/database/collection/node?options` | a MongoDB collection, and a node in it |
/// | `gs://bucket/path` | a bucket of Google Cloud Storage; options `endpoint`, `token`, `credentials_file`, `anonymous` |
/// | `webdav://user:password@host/path`, `webdavs://` with TLS | the files of a WebDAV server; options `user`, `password`, `token` |
/// | `ftp://user:password@host/path` | the files of an FTP server; options `user`, `password` |
/// | `hdfs://user@namenode:8020/path` | the files of a Hadoop cluster; other options are settings of Hadoop's client |
/// | `URL/archive.zip/node`, `URL\|zip:node`, `zip://node::URL` | a zip archive in any of these, and a node in it |
/// | `reference://node::URL`, `URL\|reference:node`, `reference://node` with the option `fo` | references of kerchunk at a URL or path, and a node in them; options `target`, `remote_protocol`, `allow_local`, `memory_limit` and `remote_*` |
///
/// # Errors
///
/// [`StoreErrorKind::Unsupported`] when no store has this scheme, or this build lacks it; [`StoreErrorKind::InvalidKey`] when no store
/// takes one of the options; otherwise what the store says.
pub fn open_url(url: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    options.check()?;
    chain::open(url, options)
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

/// Whether a text is a URL, or a chain of stores that are inside of each other, and no path.
#[must_use]
pub fn is_url(text: &str) -> bool {
    chain::is_located(text)
}

fn open_scheme(url: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    let url = StoreUrl::parse(url)?;
    let named = |scheme: &&&Scheme| scheme.names.contains(&url.scheme());
    match SCHEMES.iter().find(named) {
        // What references lead to is steady already.
        Some(scheme) if url.scheme() == "reference" => (scheme.open)(&url, options),
        Some(scheme) => Ok(steady((scheme.open)(&url, options)?)),
        None => Err(unknown(&url)),
    }
}

/// A store that repeats what fails for a while, where it is reached through a network.
#[cfg(feature = "retry")]
fn steady(located: Located) -> Located {
    match located.store.capabilities().in_flight {
        Some(_) => Located { store: Arc::new(crate::RetryStore::new(located.store)), ..located },
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
        Some((_, feature)) => format!("'{scheme}://' needs the feature `{feature}` of zarrox, which is off"),
        None => {
            let known: Vec<&str> = SCHEMES.iter().flat_map(|scheme| scheme.names).copied().collect();
            format!("no store is known for '{scheme}://'; there are {}", known.join(", "))
        }
    };
    StoreError::new(StoreErrorKind::Unsupported, "opening", message).with_location(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_store_has_is_refused_without_secrets() {
        let error = open_url("gopher://me:secret@host/a?token=secret", &StorageOptions::new()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported);
        let text = format!("{error} {error:?}");
        assert!(text.contains("gopher://host/a") && !text.contains("secret"), "{text}");
    }

    #[test]
    fn memory_is_shared_by_all_urls() {
        use crate::{Condition, Key};
        let key = Key::new("shared/a").unwrap();
        let open = || open_url("memory://shared/b", &StorageOptions::new()).unwrap();
        open().store.set(&key, b"1", Condition::Always).unwrap();
        assert_eq!(open().store.get(&key).unwrap().unwrap(), "1");
        assert_eq!(open().path, "shared/b");
    }
}
