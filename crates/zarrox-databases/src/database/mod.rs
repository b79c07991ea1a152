//! Stores in embedded databases.

#[cfg(all(unix, feature = "berkeley-db"))]
pub(crate) mod berkeley_db;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm", feature = "mongodb"))]
pub(crate) mod digest;
#[cfg(any(feature = "files", all(unix, feature = "berkeley-db")))]
mod files;
#[cfg(feature = "gdbm")]
pub(crate) mod gdbm;
#[cfg(feature = "lmdb")]
pub(crate) mod lmdb;
#[cfg(feature = "files")]
pub(crate) mod options;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "mongodb"))]
pub(crate) mod ordered;
#[cfg(feature = "redb")]
pub(crate) mod redb;
#[cfg(feature = "files")]
mod scheme;
#[cfg(feature = "files")]
mod shared;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
