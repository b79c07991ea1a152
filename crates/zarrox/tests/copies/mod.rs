//! Copies of arrays and hierarchies.

mod copy;
mod pyramid;
mod rechunk;
mod reshard;
