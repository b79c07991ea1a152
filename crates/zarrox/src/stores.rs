//! The stores that contain the documents and chunks of hierarchies, and their URLs.
//!
//! These are the stores of `zarrox-stores` and, behind features of the same names, those of `zarrox-databases`: SQLite, LMDB,
//! redb, GDBM, Berkeley DB, Redis, MongoDB, WebDAV, FTP and HDFS.

#[cfg(feature = "zarrox-databases")]
pub use zarrox_databases::*;
pub use zarrox_stores::*;

#[cfg(feature = "zarrox-databases")]
use zarrox_databases::registry as available;
#[cfg(not(feature = "zarrox-databases"))]
use zarrox_stores::registry as available;

/// The URL schemes of `zarrox-databases`. If none of its features is enabled, that crate is not compiled.
static DATABASES: [&Scheme; 10] = [
    &Scheme::needs_feature(&["sqlite"], "sqlite"),
    &Scheme::needs_feature(&["lmdb"], "lmdb"),
    &Scheme::needs_feature(&["redb"], "redb"),
    &Scheme::needs_feature(&["gdbm"], "gdbm"),
    &Scheme::needs_feature(&["bdb"], "berkeley-db"),
    &Scheme::needs_feature(&["redis", "rediss"], "redis"),
    &Scheme::needs_feature(&["mongodb", "mongodb+srv"], "mongodb"),
    &Scheme::needs_feature(&["webdav", "webdavs"], "webdav"),
    &Scheme::needs_feature(&["ftp"], "ftp"),
    &Scheme::needs_feature(&["hdfs"], "hdfs"),
];

/// Returns the URL schemes of all stores in this build. [`OpenOptions::stores`](crate::OpenOptions::stores) can set others.
#[must_use]
pub fn registry() -> StoreRegistry {
    available().with(&DATABASES)
}

/// Opens the store of a URL. See [`StoreRegistry::open`].
///
/// # Errors
/// The errors of [`StoreRegistry::open`].
pub fn open_url(url: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    registry().open(url, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_known_or_names_its_feature() {
        for (scheme, is_on) in [
            ("sqlite", cfg!(feature = "sqlite")),
            ("bdb", cfg!(feature = "berkeley-db")),
            ("mongodb+srv", cfg!(feature = "mongodb")),
            ("hdfs", cfg!(feature = "hdfs")),
            ("s3", cfg!(feature = "s3")),
        ] {
            let is_listed = registry().storage_options().any(|(names, _)| names.contains(&scheme));
            assert_eq!(is_listed, is_on, "{scheme}");
            if !is_on {
                let error = open_url(&format!("{scheme}://a/b"), &StorageOptions::new()).unwrap_err();
                assert_eq!(error.kind(), StoreErrorKind::Unsupported);
                assert!(error.to_string().contains("needs the feature"), "{error}");
            }
        }
        for (names, _) in registry().storage_options() {
            let owners = registry().storage_options().filter(|(others, _)| *others == names).count();
            assert_eq!(owners, 1, "{names:?}");
        }
    }
}
