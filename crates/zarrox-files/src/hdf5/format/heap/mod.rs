//! Heaps: names, links, attributes and values of variable length (section III of the specification).

mod doubling;
pub(super) mod fractal;
pub(super) mod global;
pub(super) mod local;
mod unfilter;
