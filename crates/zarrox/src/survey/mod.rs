//! Findings of a look at many chunks: differences, statistics, and the space that nodes take.

pub mod diff;
mod pass;
pub mod stats;
pub mod usage;
