//! Values that are open for reading: [`Value`].

use bytes::Bytes;
use smallvec::SmallVec;

use crate::{StoreError, StoreErrorKind};

/// The version of a value. If values of the same key have equal versions, their bytes are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(SmallVec<[u8; 24]>);

impl Version {
    /// Returns the bytes of the version. They are chosen by the store; an example is an ETag.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<T: AsRef<[u8]>> From<T> for Version {
    fn from(bytes: T) -> Self {
        Self(SmallVec::from_slice(bytes.as_ref()))
    }
}

/// The version of a value that a store can determine without reading the value. See [`Store::stamp`](crate::Store::stamp).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Unknown, since the store would have to read the value.
    Unknown,
    /// The value does not exist.
    Missing,
    /// The value has this version. As long as the version stays the same, the value has not been replaced.
    Settled(Version),
    /// The value has this version, but was written so recently that a later value may have the same version.
    Recent(Version),
}

/// One version of a stored value, open for reading.
pub trait Value: Send + Sync {
    /// Returns the length in bytes.
    fn size(&self) -> u64;

    /// Fills the buffer with the bytes that start at `offset`.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when the range lies outside the value, [`StoreErrorKind::Conflict`] when this version no
    /// longer exists, and an error when it cannot be read. After an error, the content of the buffer is unspecified.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError>;

    /// Returns the whole value if it is already in memory.
    fn as_bytes(&self) -> Option<&Bytes> {
        None
    }

    /// Returns true if the whole value is in memory, possibly in several pieces, so that reading only has to copy.
    #[doc(hidden)]
    fn is_in_memory(&self) -> bool {
        self.as_bytes().is_some()
    }

    /// Returns the version of the value, if the store can reliably identify it. The value's bytes may then be cached under the
    /// version.
    fn version(&self) -> Option<Version> {
        None
    }

    /// Reads the `length` bytes starting at `offset`. They are not copied if the value is already in memory.
    ///
    /// # Errors
    ///
    /// The errors of [`read_at`](Self::read_at). The range is checked before memory is allocated.
    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let length = checked_length(self.size(), offset, length)?;
        if let (Some(bytes), Ok(start)) = (self.as_bytes(), usize::try_from(offset)) {
            return Ok(bytes.slice(start..start + length));
        }
        let mut buffer = reserved(length)?;
        buffer.resize(length, 0);
        self.read_at(offset, &mut buffer)?;
        Ok(buffer.into())
    }
}

/// Checks that a range lies within a value and that its length fits in memory.
pub fn checked_length(size: u64, offset: u64, length: u64) -> Result<usize, StoreError> {
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(out_of_range(&format!("{length} bytes from offset {offset}"), size));
    }
    usize::try_from(length).map_err(|error| out_of_memory(length).with_source(error))
}

/// Returns an empty buffer with a capacity of `length` bytes. If memory cannot be allocated, returns an error instead of
/// aborting.
pub fn reserved(length: usize) -> Result<Vec<u8>, StoreError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|error| out_of_memory(length as u64).with_source(error))?;
    Ok(buffer)
}

/// Returns the error for a buffer that cannot be allocated.
pub(crate) fn out_of_memory(length: u64) -> StoreError {
    let message = format!("memory allocation of {length} bytes failed");
    StoreError::new(StoreErrorKind::OutOfMemory, "reading", message)
}

/// Returns the error for a range that does not lie within its value.
pub(super) fn out_of_range(range: &str, size: u64) -> StoreError {
    let message = format!("{range} is outside the value of {size} bytes");
    StoreError::new(StoreErrorKind::OutOfRange, "reading", message)
}
