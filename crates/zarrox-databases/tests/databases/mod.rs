//! Embedded databases, and the common parts of their tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "berkeley-db")]
mod berkeley_db;
mod damage;
#[cfg(feature = "gdbm")]
mod gdbm;
mod golden;
mod handles;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "sqlite")]
mod sqlite;
