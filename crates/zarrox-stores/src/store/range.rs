//! Byte ranges of a value: [`ByteRange`].

pub use zarrox_core::codec::ByteRange;

/// The whole value.
pub(crate) const WHOLE: ByteRange = ByteRange::From { offset: 0, length: None };
