//! Stores of this machine: the memory of this process, and directories.

#[cfg(unix)]
pub(crate) mod directory;
#[cfg(any(unix, feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm", feature = "zip"))]
pub(crate) mod durable;
#[cfg(unix)]
pub(crate) mod held;
pub(crate) mod memory;
#[cfg(unix)]
pub(crate) mod node;
