//! The integration tests, in one program: it is linked once.

#[cfg(feature = "async")]
mod asynchronous;
#[cfg(feature = "berkeley-db")]
mod berkeley_db;
#[cfg(all(feature = "s3", feature = "azure", feature = "http"))]
mod cloud_faults;
#[cfg(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    feature = "berkeley-db"
))]
mod databases;
mod directory;
mod directory_disk;
mod directory_links;
mod fallback;
#[cfg(feature = "gdbm")]
mod gdbm;
#[cfg(feature = "lmdb")]
mod lmdb;
mod memory;
mod other_process;
mod read_only;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "references")]
mod references;
#[cfg(feature = "references")]
mod references_parquet;
#[cfg(feature = "sqlite")]
mod sqlite;
mod wrappers;
#[cfg(feature = "cache")]
mod wrappers_caches;
#[cfg(all(feature = "cache", feature = "retry", feature = "traced"))]
mod wrappers_faults;
mod wrappers_prefix;
#[cfg(feature = "retry")]
mod wrappers_retry;
#[cfg(feature = "traced")]
mod wrappers_traced;
#[cfg(feature = "zip")]
mod zip;
#[cfg(feature = "zip")]
mod zip_archives;
