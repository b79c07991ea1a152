//! Stores that wrap other stores.

#[cfg(feature = "cache")]
mod caches;
mod counting;
#[cfg(all(feature = "cache", feature = "retry", feature = "traced"))]
mod faults;
mod prefix;
mod read_only;
#[cfg(all(feature = "http", feature = "retry"))]
mod retry;
#[cfg(feature = "traced")]
mod traced;
