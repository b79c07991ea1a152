//! Parts of values: [`ByteRange`].

use std::ops::Range;

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From an offset on.
    From {
        /// The first byte, counted from the start of the value.
        offset: u64,
        /// How many bytes; up to the end of the value when `None`.
        length: Option<u64>,
    },
    /// The last bytes.
    Suffix {
        /// How many bytes.
        length: u64,
    },
}

impl ByteRange {
    /// The bytes that this means in a value of `size` bytes; `None` when some lie outside.
    #[must_use]
    pub fn resolve(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From { offset, length: None } => offset..size,
            Self::From { offset, length: Some(length) } => offset..offset.checked_add(length)?,
            Self::Suffix { length } => size.checked_sub(length)?..size,
        };
        (range.start <= range.end && range.end <= size).then_some(range)
    }
}

/// All of a value.
pub(crate) const WHOLE: ByteRange = ByteRange::From { offset: 0, length: None };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_resolve_inside_the_value_or_not_at_all() {
        let from = |offset, length| ByteRange::From { offset, length };
        assert_eq!(from(2, None).resolve(5), Some(2..5));
        assert_eq!(from(5, None).resolve(5), Some(5..5));
        assert_eq!(from(6, None).resolve(5), None);
        assert_eq!(from(1, Some(4)).resolve(5), Some(1..5));
        assert_eq!(from(1, Some(5)).resolve(5), None);
        assert_eq!(from(u64::MAX, Some(2)).resolve(5), None);
        assert_eq!(ByteRange::Suffix { length: 5 }.resolve(5), Some(0..5));
        assert_eq!(ByteRange::Suffix { length: 6 }.resolve(5), None);
    }
}
