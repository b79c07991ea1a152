//! A part of another store's value.

use bytes::Bytes;

use crate::store::checked_length;
use crate::{StoreError, Value, Version};

/// The `length` bytes starting at `offset`, which are known to lie within the value.
pub(super) struct Part {
    pub(super) whole: Box<dyn Value>,
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl Value for Part {
    fn size(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        checked_length(self.length, offset, buffer.len() as u64)?;
        self.whole.read_at(self.offset + offset, buffer)
    }

    fn version(&self) -> Option<Version> {
        self.whole.version()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        checked_length(self.length, offset, length)?;
        self.whole.read(self.offset + offset, length)
    }
}
