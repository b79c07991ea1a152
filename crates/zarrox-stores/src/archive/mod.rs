//! Stores that keep many values in a single file.

#[cfg(feature = "zip")]
pub(crate) mod zip;
