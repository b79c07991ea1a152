//! The URL schemes of this crate.

use zarrox_stores::{Scheme, StoreRegistry};

/// The URL schemes that this build supports.
static SCHEMES: &[&Scheme] = &[
    #[cfg(feature = "sqlite")]
    &crate::database::sqlite::SCHEME,
    #[cfg(feature = "lmdb")]
    &crate::database::lmdb::SCHEME,
    #[cfg(feature = "redb")]
    &crate::database::redb::SCHEME,
    #[cfg(feature = "gdbm")]
    &crate::database::gdbm::SCHEME,
    #[cfg(all(unix, feature = "berkeley-db"))]
    &crate::database::berkeley_db::SCHEME,
    #[cfg(feature = "redis")]
    &crate::server::redis::SCHEME,
    #[cfg(feature = "mongodb")]
    &crate::server::mongodb::SCHEME,
    #[cfg(feature = "webdav")]
    &crate::server::webdav::SCHEME,
    #[cfg(feature = "ftp")]
    &crate::server::ftp::SCHEME,
    #[cfg(feature = "hdfs")]
    &crate::server::hdfs::SCHEME,
];

/// Returns a registry with all stores of this crate and of `zarrox-stores`.
#[must_use]
pub fn registry() -> StoreRegistry {
    zarrox_stores::registry().with(SCHEMES)
}
