//! Ranges of bytes in a stored object.

use crate::error::CodecError;

/// A range of bytes of a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// From `offset` on; to the end when there is no `length`.
    From {
        /// The first byte.
        offset: u64,
        /// The number of bytes; all that follow when absent.
        length: Option<u64>,
    },
    /// The last bytes.
    Suffix {
        /// The number of bytes.
        length: u64,
    },
}

impl ByteRange {
    /// Offset and length in an object of `size` bytes, or an error when the range is not inside.
    pub fn within(self, size: u64) -> Result<(u64, u64), CodecError> {
        let (offset, length) = match self {
            Self::From { offset, length } => (Some(offset), length.or_else(|| size.checked_sub(offset))),
            Self::Suffix { length } => (size.checked_sub(length), Some(length)),
        };
        match (offset, length) {
            (Some(offset), Some(length)) if offset.checked_add(length).is_some_and(|end| end <= size) => {
                Ok((offset, length))
            }
            _ => Err(CodecError::corrupt(format!("the stored bytes end after {size}; {self} is needed"))),
        }
    }

    /// These bytes of an object in memory, or an error when the range is not inside.
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

/// The place of an encoded chunk in a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes; to the end of an object of unknown size when absent.
    pub length: Option<u64>,
}

impl Window {
    /// A whole object of this size.
    pub fn of_size(size: u64) -> Self {
        Self { offset: 0, length: Some(size) }
    }

    /// All of the window.
    pub fn whole(self) -> ByteRange {
        ByteRange::From { offset: self.offset, length: self.length }
    }

    /// The bytes of an object in memory that are in the window; an error when it is not inside.
    pub fn of(self, object: &[u8]) -> Result<&[u8], CodecError> {
        self.whole().of(object)
    }

    /// Part of the window; an error when it is not inside.
    pub fn part(self, offset: u64, length: u64) -> Result<ByteRange, CodecError> {
        let end = offset.checked_add(length);
        let inside = self.length.is_none_or(|size| end.is_some_and(|end| end <= size));
        let start = self.offset.checked_add(offset).filter(|_| inside && end.is_some());
        let Some(offset) = start else {
            let size = self.length.unwrap_or(u64::MAX);
            return Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, {length} at {offset} are needed"
            )));
        };
        Ok(ByteRange::From { offset, length: Some(length) })
    }

    /// The last bytes of the window; an error when it has not as many.
    pub fn suffix(self, length: u64) -> Result<ByteRange, CodecError> {
        match self.length {
            None => Ok(ByteRange::Suffix { length }),
            Some(size) if size >= length => self.part(size - length, length),
            Some(size) => Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, {length} at the end are needed"
            ))),
        }
    }
}
