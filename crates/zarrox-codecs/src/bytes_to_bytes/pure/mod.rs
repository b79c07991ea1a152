//! Compression in pure Rust: replacements for the C libraries whose features are disabled.

#[cfg(not(feature = "libdeflate"))]
pub(crate) mod deflate;
#[cfg(not(feature = "lz4"))]
pub(crate) mod lz4;
#[cfg(not(feature = "zstd"))]
pub(crate) mod zstd;
