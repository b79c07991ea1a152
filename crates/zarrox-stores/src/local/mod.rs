//! Stores of this machine: the memory of this process, and directories.

#[cfg(unix)]
pub(crate) mod directory;
pub(crate) mod durable;
#[cfg(unix)]
pub(crate) mod held;
pub(crate) mod memory;
#[cfg(unix)]
pub(crate) mod node;
