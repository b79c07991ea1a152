//! Compression in pure Rust, which replaces the C libraries whose Cargo features are disabled.

#[cfg(not(feature = "libdeflate"))]
pub(crate) mod deflate;
#[cfg(not(feature = "lz4"))]
pub(crate) mod lz4;
#[cfg(not(feature = "zstd"))]
pub(crate) mod zstd;
