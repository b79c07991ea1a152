//! Stores: storage for the metadata documents and chunks of Zarr hierarchies.
//!
//! A [`Store`] maps keys to values, as defined by the [abstract store interface] of the Zarr v3 specification. This crate
//! contains the trait, the validated types [`Key`] and [`Prefix`], and the following stores:
//!
//! | store | location of the values |
//! |---|---|
//! | [`MemoryStore`] | the memory of this process |
//! | [`DirectoryStore`] | the files of a directory |
//! | `ZipStore` | a zip archive; feature `zip` |
//! | `S3Store` | a bucket of S3 or a compatible service; feature `s3` |
//! | `AzureStore` | a container of Azure Blob Storage; feature `azure` |
//! | `HttpStore` | a web server, for reading; feature `http` |
//! | `GcsStore` | a bucket of Google Cloud Storage; feature `gcs` |
//! | `ReferenceStore` | the objects that kerchunk references point to, for reading; feature `references` |
//! | [`ReadOnlyStore`] | another store, which it protects from writes |
//! | [`PrefixStore`] | a prefix of another store |
//! | [`LimitStore`] | another store, whose concurrent operations it limits |
//! | [`CountingStore`] | another store, whose operations it counts |
//! | `TracedStore` | another store, whose operations it reports to `tracing`; feature `traced` |
//! | `RetryStore` | another store, whose operations it retries after temporary errors; feature `retry` |
//! | `LruCacheStore` | another store, whose values it caches in memory; feature `cache` |
//! | `DiskCacheStore` | another store, whose values it caches in a directory; feature `cache` |
//!
//! Stores that use databases, or servers with protocols of their own, are in the crate `zarrox-databases`. To implement another
//! store, use [`provided!`]. To implement another wrapper, use [`Wrapper`] and [`wrapped!`]. A [`StoreRegistry`] opens the store
//! at a URL.
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
mod error;
mod fork;
mod hold;
#[doc(hidden)]
pub mod internals;
mod key;
mod key_map;
mod local;
mod lock;
mod panics;
#[cfg(feature = "async")]
mod parts;
mod per_process;
#[cfg(feature = "references")]
mod references;
#[cfg(feature = "async")]
mod runtime;
mod semaphore;
mod store;
mod support;
mod sync;
mod system;
mod temporary;
mod url;
#[cfg(feature = "web")]
mod web;
mod wrapper;

pub use bytes::Bytes;

pub use self::url::{
    Located, OpenStore, Scheme, StorageOption, StorageOptions, StoreRegistry, StoreUrl, registry,
};
#[cfg(feature = "zip")]
pub use archive::zip::{ZipMode, ZipStore};
#[cfg(feature = "async")]
pub use asynchronous::{AsyncStore, Blocking, Head, Pages, ValuePart};
#[cfg(feature = "azure")]
pub use cloud::azure::{AzureOptions, AzureStore};
#[cfg(any(feature = "object_store", feature = "http"))]
pub use cloud::connection::ConnectionOptions;
#[cfg(feature = "gcs")]
pub use cloud::gcs::{GcsOptions, GcsStore};
#[cfg(feature = "http")]
pub use cloud::http::{HttpOptions, HttpStore, WebServer};
#[cfg(feature = "object_store")]
pub use cloud::object::CloudStore;
#[cfg(feature = "s3")]
pub use cloud::s3::{S3Options, S3Store};
pub use error::{StoreError, StoreErrorKind};
pub use hold::{Hold, HoldGuard};
pub use key::{Key, Prefix};
pub use local::directory::DirectoryStore;
pub use local::memory::MemoryStore;
pub use lock::LockGuard;
#[cfg(feature = "async")]
pub use parts::ByteParts;
#[cfg(feature = "references")]
pub use references::options::ReferenceOptions;
#[cfg(feature = "references")]
pub use references::store::ReferenceStore;
pub use store::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, PartSource, Payload, Stamp, Store, StoreExt,
    Value, Version,
};
pub use wrapper::counting::{CountingStore, Counts};
#[cfg(all(unix, feature = "cache"))]
pub use wrapper::disk_cache::{DiskCacheOptions, DiskCacheStore};
pub use wrapper::forward::{Call, Operation, Wrapper};
pub use wrapper::limit::LimitStore;
#[cfg(feature = "cache")]
pub use wrapper::lru_cache::{CacheStatistics, LruCacheStore};
pub use wrapper::prefix::PrefixStore;
pub use wrapper::read_only::ReadOnlyStore;
#[cfg(feature = "retry")]
pub use wrapper::retry::{RetryOptions, RetryStore};
#[cfg(feature = "traced")]
pub use wrapper::traced::TracedStore;
