//! Stores in a single file that holds many values.

#[cfg(all(unix, feature = "zip"))]
pub(crate) mod zip;
