//! Values that are open for reading: [`Value`].

use bytes::Bytes;
use smallvec::SmallVec;

use crate::{StoreError, StoreErrorKind};

/// The version of a value: values of one key with equal versions have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(SmallVec<[u8; 24]>);

impl Version {
    /// Returns the bytes of the version, which the store chooses, such as an ETag.
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

/// The version that a store reports for a value without reading it. See [`Store::stamp`](crate::Store::stamp).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The store would have to read the value.
    Unknown,
    /// The value does not exist.
    Missing,
    /// The value has this version: while it keeps the version, it has not been replaced.
    Settled(Version),
    /// The value has this version, but so recently that a later value may have the same version.
    Recent(Version),
}

/// One version of a stored value, open for reading.
pub trait Value: Send + Sync {
    /// Returns the length in bytes.
    fn size(&self) -> u64;

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when the range lies outside the value, [`StoreErrorKind::Conflict`] when this version
    /// does not exist any more, and an error when it cannot be read. After an error, the content of the buffer is
    /// unspecified.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError>;

    /// Returns the whole value, if it is in memory already.
    fn as_bytes(&self) -> Option<&Bytes> {
        None
    }

    /// Returns true if the whole value is in memory, perhaps in several pieces, so that reading is only a copy.
    #[doc(hidden)]
    fn is_in_memory(&self) -> bool {
        self.as_bytes().is_some()
    }

    /// Returns the version of the value, if the store can identify it reliably. Bytes of the value may then be cached under
    /// the version.
    fn version(&self) -> Option<Version> {
        None
    }

    /// Reads the `length` bytes from `offset` on. They are not copied if the value is in memory already.
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

/// Checks that a range lies inside a value and fits into memory.
pub fn checked_length(size: u64, offset: u64, length: u64) -> Result<usize, StoreError> {
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(out_of_range(&format!("{length} bytes from offset {offset}"), size));
    }
    usize::try_from(length).map_err(|error| out_of_memory(length).with_source(error))
}

/// Returns an empty buffer with room for `length` bytes, or an error instead of aborting if memory is short.
pub fn reserved(length: usize) -> Result<Vec<u8>, StoreError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|error| out_of_memory(length as u64).with_source(error))?;
    Ok(buffer)
}

/// Returns the error of a buffer that cannot be allocated.
pub(crate) fn out_of_memory(length: u64) -> StoreError {
    let message = format!("memory allocation of {length} bytes failed");
    StoreError::new(StoreErrorKind::OutOfMemory, "reading", message)
}

/// Returns the error of a range that does not lie inside its value.
pub(super) fn out_of_range(range: &str, size: u64) -> StoreError {
    let message = format!("{range} is outside the value of {size} bytes");
    StoreError::new(StoreErrorKind::OutOfRange, "reading", message)
}
