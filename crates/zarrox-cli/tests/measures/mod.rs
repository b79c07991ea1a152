//! Differences, space and statistics.

mod diff;
mod measuring;
