//! Differences, statistics, and disk usage.

mod along;
mod bench;
mod diff;
mod progress;
mod stats;
mod usage;
