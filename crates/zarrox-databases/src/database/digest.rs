//! Versions of values in databases. They are digests of the bytes, since other programs that write to a database do not maintain
//! version numbers.

use bytes::Bytes;
use twox_hash::XxHash3_128;

use zarrox_stores::{Condition, StoreError, StoreErrorKind, Value, Version};

/// Returns the version of a value with these bytes.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    let (digest, length) = (XxHash3_128::oneshot(bytes), bytes.len() as u64);
    Version::from([&digest.to_le_bytes()[..], &length.to_le_bytes()].concat())
}

/// Returns true if the condition requires the current version, or no particular version. `there` returns the current version,
/// within the transaction that changes the value.
pub(crate) fn is_unchanged<E>(
    condition: Condition<'_>,
    there: impl FnOnce() -> Result<Option<Version>, E>,
) -> Result<bool, E> {
    match condition {
        Condition::Matches(version) => Ok(there()?.as_ref() == Some(version)),
        _ => Ok(true),
    }
}

/// Returns the error for a value whose version differs from that of the condition.
pub(crate) fn conflict(operation: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Conflict, operation, "another writer changed the value in the meantime")
}

/// A value in memory, whose version is computed on request.
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
