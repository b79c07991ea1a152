//! Local stores: memory and directories.

pub(crate) mod directory;
pub(crate) mod durable;
mod fault;
pub(crate) mod file_lock;
pub(crate) mod files;
pub(crate) mod held;
pub(crate) mod memory;
pub(crate) mod node;
pub(crate) mod open_nodes;
