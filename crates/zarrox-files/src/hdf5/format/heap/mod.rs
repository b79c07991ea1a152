//! Heaps, which store names, links, attributes and variable-length values (section III of the specification).

mod doubling;
pub(super) mod fractal;
pub(super) mod global;
pub(super) mod local;
mod unfilter;
