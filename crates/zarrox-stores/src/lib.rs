//! Stores: where the documents and chunks of Zarr hierarchies are kept.
//!
//! A [`Store`] maps keys to values, as the [abstract store interface] of the Zarr v3 specification
//! has it. This crate has the trait, the validated [`Key`] and [`Prefix`] types, and these stores:
//!
//! | store | keeps values in |
//! |---|---|
//! | [`MemoryStore`] | the memory of this process |
//! | [`DirectoryStore`] | the files of a directory, on Unix |
//! | `SqliteStore` | an SQLite database, as zarr-python 2 does; feature `sqlite` |
//! | `LmdbStore` | an LMDB database, as zarr-python 2 does; feature `lmdb` |
//! | `RedbStore` | a redb database; feature `redb` |
//! | `GdbmStore` | a GDBM file, as Python's `dbm.gnu` and zarr-python 2 do; feature `gdbm` |
//! | `BerkeleyDbStore` | a Berkeley DB file, for reading, as zarr-python 2 writes it; feature `berkeley-db` |
//! | `RedisStore` | a Redis database, as zarr-python 2 does; feature `redis` |
//! | `MongoDbStore` | a MongoDB collection, as zarr-python 2 does; feature `mongodb` |
//! | `ZipStore` | a zip archive; feature `zip` |
//! | `S3Store` | a bucket of S3 or of a service like it; feature `s3` |
//! | `AzureStore` | a container of Azure Blob Storage; feature `azure` |
//! | `HttpStore` | a web server, for reading; feature `http` |
//! | `GcsStore` | a bucket of Google Cloud Storage; feature `gcs` |
//! | `WebDavStore` | the files of a WebDAV server; feature `webdav` |
//! | `FtpStore` | the files of an FTP server; feature `ftp` |
//! | `HdfsStore` | the files of a Hadoop cluster; feature `hdfs` |
//! | `ReferenceStore` | references as kerchunk writes them, for reading; feature `references` |
//! | [`ReadOnlyStore`] | another store, which it protects from writes |
//! | [`PrefixStore`] | a prefix of another store |
//! | [`LimitStore`] | another store, of which it lets only so many operations be under way |
//! | [`CountingStore`] | another store, whose operations it counts |
//! | `TracedStore` | another store, whose operations it tells `tracing`; feature `traced` |
//! | `RetryStore` | another store, whose operations it repeats when they fail for a while; feature `retry` |
//! | `LruCacheStore` | another store, whose values it keeps in memory; feature `cache` |
//! | `DiskCacheStore` | another store, whose values it keeps in a directory; feature `cache` |
//!
//! Further stores are written with [`provided!`], further wrappers with [`Wrapper`] and [`wrapped!`].
//!
//! ```
//! use zarrox_stores::{Condition, Key, MemoryStore, Store, StoreExt};
//!
//! let store = MemoryStore::new();
//! let key = Key::new("group/array/c/0/0")?;
//! store.set(&key, b"chunk", Condition::Always)?;
//! assert_eq!(store.get(&key)?.as_deref(), Some(&b"chunk"[..]));
//! # Ok::<(), zarrox_stores::StoreError>(())
//! ```
//!
//! [abstract store interface]: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#abstract-store-interface

mod archive;
#[cfg(feature = "async")]
mod asynchronous;
mod cloud;
mod database;
mod error;
#[doc(hidden)]
pub mod fork;
mod hold;
mod key;
mod key_map;
mod local;
mod lock;
#[cfg(feature = "async")]
mod parts;
#[doc(hidden)]
pub mod per_process;
#[cfg(feature = "references")]
mod references;
#[cfg(feature = "async")]
mod runtime;
mod server;
#[doc(hidden)]
pub mod store;
mod sync;
#[doc(hidden)]
pub mod system;
#[cfg(any(unix, feature = "ftp", feature = "hdfs"))]
mod temporary;
#[doc(hidden)]
pub mod turns;
mod url;
#[cfg(any(feature = "gcs", feature = "webdav"))]
mod web;
#[doc(hidden)]
pub mod wrapper;

pub use bytes::Bytes;

#[cfg(unix)]
pub use self::url::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use self::url::{
    LOCK_TIMEOUT, Located, NamedStore, OptionValue, SYNC, StorageOption, StorageOptions, StoreUrl, file_of,
    is_url, open_url, storage_options,
};
#[cfg(all(unix, feature = "zip"))]
pub use archive::zip::{ZipMode, ZipStore};
#[cfg(feature = "async")]
pub use asynchronous::{AsyncStore, Blocking, Head, Pages, ValuePart};
#[cfg(feature = "azure")]
pub use cloud::azure::{AzureOptions, AzureStore};
#[cfg(any(feature = "s3", feature = "azure", feature = "http"))]
pub use cloud::connection::ConnectionOptions;
#[cfg(feature = "gcs")]
pub use cloud::gcs::{GcsOptions, GcsStore};
#[cfg(feature = "http")]
pub use cloud::http::{HttpOptions, HttpStore, WebServer};
#[cfg(any(feature = "s3", feature = "azure"))]
pub use cloud::object::CloudStore;
#[cfg(feature = "s3")]
pub use cloud::s3::{S3Options, S3Store};
#[cfg(all(unix, feature = "berkeley-db"))]
pub use database::berkeley_db::BerkeleyDbStore;
#[cfg(feature = "gdbm")]
pub use database::gdbm::{GdbmOptions, GdbmStore};
#[cfg(feature = "lmdb")]
pub use database::lmdb::{LmdbOptions, LmdbStore};
#[cfg(feature = "redb")]
pub use database::redb::{RedbOptions, RedbStore};
#[cfg(feature = "sqlite")]
pub use database::sqlite::{SqliteOptions, SqliteStore};
pub use error::{StoreError, StoreErrorKind};
pub use hold::{Hold, HoldGuard};
pub use key::{Key, Prefix};
#[cfg(unix)]
pub use local::directory::DirectoryStore;
pub use local::durable::flush_name;
pub use local::memory::MemoryStore;
pub use lock::LockGuard;
#[cfg(feature = "async")]
pub use parts::ByteParts;
#[cfg(feature = "references")]
pub use references::options::ReferenceOptions;
#[cfg(feature = "references")]
pub use references::store::ReferenceStore;
#[cfg(feature = "async")]
pub use runtime::run_blocking;
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
pub use store::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, PartSource, Payload, Stamp, Store, StoreExt,
    Value, Version,
};
pub use wrapper::counting::{CountingStore, Counts};
#[cfg(all(unix, feature = "cache"))]
pub use wrapper::disk_cache::{DiskCacheOptions, DiskCacheStore};
pub use wrapper::forward::{Call, Operation, WrappedValue, Wrapper};
pub use wrapper::limit::LimitStore;
#[cfg(feature = "cache")]
pub use wrapper::lru_cache::{CacheStatistics, LruCacheStore};
pub use wrapper::prefix::PrefixStore;
pub use wrapper::read_only::ReadOnlyStore;
#[cfg(feature = "retry")]
pub use wrapper::retry::{RetryOptions, RetryStore};
#[cfg(feature = "traced")]
pub use wrapper::traced::TracedStore;
