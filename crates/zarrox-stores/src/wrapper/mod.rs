//! Stores that wrap other stores.

pub(crate) mod counting;
// A copy that is open must be removable, or it would become stale.
#[cfg(all(unix, feature = "cache"))]
pub(crate) mod disk_cache;
pub(crate) mod forward;
#[cfg(feature = "cache")]
mod generations;
pub(crate) mod limit;
#[cfg(feature = "cache")]
pub(crate) mod lru_cache;
pub(crate) mod prefix;
pub(crate) mod read_only;
#[cfg(feature = "retry")]
pub(crate) mod retry;
#[cfg(feature = "traced")]
pub(crate) mod traced;
