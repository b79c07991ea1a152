//! Copies of arrays and hierarchies.

mod copy;
mod in_place;
mod pyramid;
mod rechunk;
mod reshard;
