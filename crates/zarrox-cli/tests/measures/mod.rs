//! Differences, space and statistics.

mod bench;
mod diff;
mod measuring;
