//! Stores in databases, and on servers that have their own protocols.
//!
//! | store | values are in |
//! |---|---|
//! | `SqliteStore` | an SQLite database, in the layout of zarr-python 2; feature `sqlite` |
//! | `LmdbStore` | an LMDB database, in the layout of zarr-python 2; feature `lmdb` |
//! | `RedbStore` | a redb database; feature `redb` |
//! | `GdbmStore` | a GDBM file, in the layout of Python's `dbm.gnu` and zarr-python 2; feature `gdbm` |
//! | `BerkeleyDbStore` | a Berkeley DB file of zarr-python 2, for reading; feature `berkeley-db` |
//! | `RedisStore` | a Redis database, in the layout of zarr-python 2; feature `redis` |
//! | `MongoDbStore` | a MongoDB collection, in the layout of zarr-python 2; feature `mongodb` |
//! | `WebDavStore` | the files of a WebDAV server; feature `webdav` |
//! | `FtpStore` | the files of an FTP server; feature `ftp` |
//! | `HdfsStore` | the files of a Hadoop cluster; feature `hdfs` |
//!
//! [`DatabaseOptions`] are the options of all writable embedded databases. [`registry`] returns a registry for the URLs of these
//! stores and of the stores of `zarrox-stores`. The crate `zarrox` re-exports all of these stores in `zarrox::stores`, behind
//! features of the same names.

mod database;
mod schemes;
mod server;

#[cfg(all(unix, feature = "berkeley-db"))]
pub use database::berkeley_db::BerkeleyDbStore;
#[cfg(feature = "gdbm")]
pub use database::gdbm::{GdbmOptions, GdbmStore};
#[cfg(feature = "lmdb")]
pub use database::lmdb::{LmdbOptions, LmdbStore};
#[cfg(feature = "files")]
pub use database::options::{DatabaseOptions, DatabaseStore};
#[cfg(feature = "redb")]
pub use database::redb::{RedbOptions, RedbStore};
#[cfg(feature = "sqlite")]
pub use database::sqlite::{SqliteOptions, SqliteStore};
pub use schemes::registry;
#[cfg(feature = "ftp")]
pub use server::ftp::{FtpOptions, FtpStore};
#[cfg(feature = "hdfs")]
pub use server::hdfs::{HdfsOptions, HdfsStore};
#[cfg(feature = "mongodb")]
pub use server::mongodb::{MongoDbOptions, MongoDbStore};
#[cfg(feature = "redis")]
pub use server::redis::{RedisOptions, RedisStore};
#[cfg(feature = "webdav")]
pub use server::webdav::{WebDavOptions, WebDavStore};

/// Returns the names and versions of the C libraries in this build, for `zarrox --version`.
#[doc(hidden)]
#[must_use]
pub fn libraries() -> Vec<(&'static str, String)> {
    vec![
        #[cfg(feature = "lmdb")]
        ("LMDB", {
            let version = heed::lmdb_version();
            format!("{}.{}.{}", version.major, version.minor, version.patch)
        }),
        #[cfg(feature = "sqlite")]
        ("SQLite", rusqlite::version().to_owned()),
    ]
}
