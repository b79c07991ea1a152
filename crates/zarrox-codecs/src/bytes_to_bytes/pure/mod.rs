//! Compression without C: what stands in for the libraries whose features are off.

#[cfg(not(feature = "libdeflate"))]
pub(crate) mod deflate;
#[cfg(not(feature = "lz4"))]
pub(crate) mod lz4;
#[cfg(not(feature = "zstd"))]
pub(crate) mod zstd;
