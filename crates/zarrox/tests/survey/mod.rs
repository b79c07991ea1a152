//! Differences, statistics, and space.

mod diff;
mod stats;
mod usage;
