//! Byte ranges of a stored object.

use std::ops::Range;

use crate::error::CodecError;

/// A byte range of a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// The bytes from `offset` on: `length` bytes, or all bytes to the end.
    From {
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes; all bytes to the end if it is `None`.
        length: Option<u64>,
    },
    /// The last bytes of the object.
    Suffix {
        /// The number of bytes.
        length: u64,
    },
}

impl ByteRange {
    /// Returns the positions of these bytes in an object of `size` bytes; `None` if the range is out of bounds.
    #[must_use]
    #[doc(hidden)]
    pub fn resolve(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From { offset, length: None } => offset..size,
            Self::From { offset, length: Some(length) } => offset..offset.checked_add(length)?,
            Self::Suffix { length } => size.checked_sub(length)?..size,
        };
        (range.start <= range.end && range.end <= size).then_some(range)
    }

    /// Returns the offset and the length in an object of `size` bytes, or an error if the range is out of bounds.
    #[doc(hidden)]
    pub fn within(self, size: u64) -> Result<(u64, u64), CodecError> {
        let outside =
            || CodecError::corrupt(format!("the object ends after {size} bytes, but {self} is needed"));
        self.resolve(size).map(|range| (range.start, range.end - range.start)).ok_or_else(outside)
    }

    /// Returns these bytes of an object in memory, or an error if the range is out of bounds.
    #[doc(hidden)]
    pub fn of(self, object: &[u8]) -> Result<&[u8], CodecError> {
        let (offset, length) = self.within(object.len() as u64)?;
        #[expect(clippy::cast_possible_truncation, reason = "the range lies inside a slice")]
        Ok(&object[offset as usize..(offset + length) as usize])
    }
}

impl std::fmt::Display for ByteRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::From { offset, length: Some(length) } => write!(f, "range {offset}+{length}"),
            Self::From { offset, length: None } => write!(f, "all from {offset}"),
            Self::Suffix { length } => write!(f, "the last {length}"),
        }
    }
}

/// The range of an encoded chunk in a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes; `None` for all bytes to the end of an object of unknown size.
    pub length: Option<u64>,
}

impl Window {
    /// Returns the window of a whole object of this size.
    #[doc(hidden)]
    pub fn of_size(size: u64) -> Self {
        Self { offset: 0, length: Some(size) }
    }

    /// Returns the range of the whole window.
    pub fn whole(self) -> ByteRange {
        ByteRange::From { offset: self.offset, length: self.length }
    }

    /// Returns the bytes of the window in an object in memory, or an error if the window is out of bounds.
    #[doc(hidden)]
    pub fn of(self, object: &[u8]) -> Result<&[u8], CodecError> {
        self.whole().of(object)
    }

    /// Returns a part of the window, or an error if the part is out of bounds.
    pub fn part(self, offset: u64, length: u64) -> Result<ByteRange, CodecError> {
        let end = offset.checked_add(length);
        let inside = self.length.is_none_or(|size| end.is_some_and(|end| end <= size));
        let start = self.offset.checked_add(offset).filter(|_| inside && end.is_some());
        let Some(offset) = start else {
            let size = self.length.unwrap_or(u64::MAX);
            return Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, but {length} bytes at {offset} are needed"
            )));
        };
        Ok(ByteRange::From { offset, length: Some(length) })
    }

    /// Returns the last `length` bytes of the window, or an error if the window is shorter.
    #[doc(hidden)]
    pub fn suffix(self, length: u64) -> Result<ByteRange, CodecError> {
        match self.length {
            None => Ok(ByteRange::Suffix { length }),
            Some(size) if size >= length => self.part(size - length, length),
            Some(size) => Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, but {length} bytes at the end are needed"
            ))),
        }
    }
}

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
