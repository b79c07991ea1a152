//! Stores in the files of embedded databases.

#[cfg(all(unix, feature = "berkeley-db"))]
pub(crate) mod berkeley_db;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm", feature = "mongodb"))]
pub(crate) mod digest;
#[cfg(feature = "gdbm")]
pub(crate) mod gdbm;
#[cfg(feature = "lmdb")]
pub(crate) mod lmdb;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "mongodb"))]
pub(crate) mod ordered;
#[cfg(feature = "redb")]
pub(crate) mod redb;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
mod shared;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
