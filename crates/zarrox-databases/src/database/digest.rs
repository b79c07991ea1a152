//! Versions of values in databases: digests of their bytes, since other programs that write there keep no numbers for us.

use bytes::Bytes;
use twox_hash::XxHash3_128;

use zarrox_stores::{Condition, StoreError, StoreErrorKind, Value, Version};

/// The version of a value of these bytes.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    let (digest, length) = (XxHash3_128::oneshot(bytes), bytes.len() as u64);
    Version::from([&digest.to_le_bytes()[..], &length.to_le_bytes()].concat())
}

/// Returns true if the condition asks for no version, or for the one that is there. `there` is called within the transaction that
/// changes the value.
pub(crate) fn is_unchanged<E>(
    condition: Condition<'_>,
    there: impl FnOnce() -> Result<Option<Version>, E>,
) -> Result<bool, E> {
    match condition {
        Condition::Matches(version) => Ok(there()?.as_ref() == Some(version)),
        _ => Ok(true),
    }
}

/// The error of a value that is another one than the condition says.
pub(crate) fn conflict(operation: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Conflict, operation, "another writer changed the value in the meantime")
}

/// A value in memory. Its version is calculated when somebody asks.
pub(crate) struct Digested(pub(crate) Bytes);

impl Value for Digested {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.0.read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        Some(&self.0)
    }

    fn version(&self) -> Option<Version> {
        Some(version_of(&self.0))
    }
}
