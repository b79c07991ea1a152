//! The source from which an archive is read.

use std::fs::File;

use bytes::Bytes;

use crate::store::{checked_length, reserved};
use crate::{StoreError, StoreErrorKind, Value};

/// The bytes of an archive. A file may grow while it is read.
pub(super) enum Source {
    File(File),
    Value(Box<dyn Value>),
}

impl Source {
    pub(super) fn size(&self) -> Result<u64, StoreError> {
        match self {
            Self::File(file) => Ok(file.metadata().map_err(failed)?.len()),
            Self::Value(value) => Ok(value.size()),
        }
    }

    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        match self {
            Self::File(file) => crate::local::files::read_exact_at(file, buffer, offset).map_err(failed),
            Self::Value(value) => value.read_at(offset, buffer),
        }
    }

    /// Reads `length` bytes from `offset` on. The range must be in bounds, so that the memory use is limited by the size of the
    /// archive.
    pub(super) fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let file = match self {
            Self::File(file) => file,
            Self::Value(value) => return value.read(offset, length),
        };
        let length = checked_length(self.size()?, offset, length)?;
        let mut buffer = reserved(length)?;
        crate::local::files::append_at(file, &mut buffer, length, offset).map_err(failed)?;
        Ok(buffer.into())
    }
}

fn failed(error: std::io::Error) -> StoreError {
    if error.kind() != std::io::ErrorKind::UnexpectedEof {
        return StoreError::from_io("reading", error);
    }
    let message = "the archive became shorter while it was read: another program writes into it";
    StoreError::new(StoreErrorKind::Conflict, "reading", message)
}
