//! Copies of arrays and hierarchies.

mod copy;
mod rechunk;
mod reshard;
