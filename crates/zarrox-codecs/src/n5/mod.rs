//! The codecs of N5.

pub(crate) mod block;
pub(crate) mod default;
#[cfg(feature = "lz4")]
pub(crate) mod lz4;
