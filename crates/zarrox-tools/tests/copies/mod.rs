//! Copies of arrays and hierarchies.

mod convert;
mod copy;
mod in_place;
mod rechunk;
mod reshard;
