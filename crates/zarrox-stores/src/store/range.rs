//! ByteParts of values: [`ByteRange`].

pub use zarrox_core::codec::ByteRange;

/// All of a value.
pub(crate) const WHOLE: ByteRange = ByteRange::From { offset: 0, length: None };
