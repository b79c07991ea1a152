//! Differences, statistics, and space.

mod along;
mod bench;
mod diff;
mod stats;
mod usage;
