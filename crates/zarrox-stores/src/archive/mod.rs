//! Stores that keep many values in a single file.

#[cfg(all(unix, feature = "zip"))]
pub(crate) mod zip;
