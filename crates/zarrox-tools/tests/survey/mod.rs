//! Differences, statistics, and space.

mod along;
mod bench;
mod diff;
mod progress;
mod stats;
mod usage;
