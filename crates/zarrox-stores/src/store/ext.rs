//! Methods that every store has: [`StoreExt`].

use super::contract::{Condition, Store};
use super::payload::{PartSource, Payload};
use super::value::Value;
use crate::{ByteRange, Key, StoreError, StoreErrorKind};

/// Methods of every store that are based on the methods of [`Store`].
pub trait StoreExt: Store {
    /// Opens the value for reading. Returns `None` if the key is missing. See [`Store::open_with`].
    ///
    /// # Errors
    ///
    /// When the value exists but cannot be read.
    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.open_with(key, None)
    }

    /// Opens the value like [`open_with`](Store::open_with), except that a directory in its place counts as a missing value, as
    /// for [`get`](Store::get).
    ///
    /// # Errors
    ///
    /// When the value exists but cannot be read, or when anything other than a directory is in its place.
    #[doc(hidden)]
    fn open_unless_directory(
        &self,
        key: &Key,
        first: Option<ByteRange>,
    ) -> Result<Option<Box<dyn Value>>, StoreError> {
        match self.open_with(key, first) {
            Err(error) if error.kind() == StoreErrorKind::Obstructed && self.size(key)?.is_none() => Ok(None),
            opened => opened,
        }
    }

    /// Writes a value from memory. See [`Store::put`].
    ///
    /// # Errors
    ///
    /// The errors of [`Store::put`].
    fn set(&self, key: &Key, value: &[u8], condition: Condition<'_>) -> Result<(), StoreError> {
        self.put(key, Payload::Bytes(value), condition)
    }

    /// Erases a value. Returns true if it existed. See [`Store::erase_if`].
    ///
    /// # Errors
    ///
    /// The errors of [`Store::erase_if`].
    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        self.erase_if(key, Condition::Always)
    }

    /// Writes a value of `length` bytes in parts. See [`Store::put`].
    ///
    /// A store may request the parts more than once, each time starting with the first part.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::put`].
    #[doc(hidden)]
    fn set_parts(
        &self,
        key: &Key,
        length: usize,
        parts: &PartSource<'_>,
        condition: Condition<'_>,
    ) -> Result<(), StoreError> {
        self.put(key, Payload::ByteParts { length, source: parts }, condition)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
