//! The integration tests, in one program: it is linked once.

#[cfg(feature = "async")]
mod asynchronous;
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
mod durability;
mod fallback;
mod memory;
mod other_process;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm", feature = "zip"))]
mod processes;
#[cfg(feature = "references")]
mod references;
mod wrappers;
#[cfg(feature = "zip")]
mod zip;
