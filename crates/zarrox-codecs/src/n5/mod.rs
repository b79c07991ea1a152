//! The codecs of N5.

pub(crate) mod block;
pub(crate) mod default;
#[cfg(any(feature = "lz4", feature = "pure"))]
pub(crate) mod lz4;
