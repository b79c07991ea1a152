//! Stores of this machine: the memory of this process, and directories.

#[cfg(unix)]
pub(crate) mod directory;
#[cfg(unix)]
pub(crate) mod held;
pub(crate) mod memory;
