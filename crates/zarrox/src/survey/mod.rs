//! Findings of a look at many chunks: differences, statistics, speeds, and the space that nodes take.

pub mod bench;
pub mod diff;
mod pass;
pub mod stats;
pub mod usage;
