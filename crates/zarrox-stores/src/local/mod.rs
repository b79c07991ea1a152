//! Local stores: memory and directories.

#[cfg(unix)]
pub(crate) mod directory;
pub(crate) mod durable;
pub(crate) mod file_lock;
#[cfg(unix)]
pub(crate) mod held;
pub(crate) mod memory;
#[cfg(unix)]
pub(crate) mod node;
#[cfg(unix)]
pub(crate) mod open_nodes;
