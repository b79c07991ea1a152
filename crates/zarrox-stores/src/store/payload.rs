//! The bytes of a value to be written: [`Payload`].

use std::borrow::Cow;
use std::{fmt, io};

#[cfg(feature = "async")]
use bytes::Bytes;

use super::value::reserved;
use crate::{Key, StoreError};

/// A function that passes the parts of a value to a writing function, one after the other, until a write fails.
pub type PartSource<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> + 'a;

/// The bytes of a value to be written: in one piece, or as a sequence of parts.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// All bytes.
    Bytes(&'a [u8]),
    /// The bytes in parts, which can be produced more than once, each time starting with the first part.
    ByteParts {
        /// The total length of all parts, in bytes.
        length: usize,
        /// The function that produces the parts.
        source: &'a PartSource<'a>,
    },
}

impl<'a> Payload<'a> {
    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::ByteParts { length, .. } => *length,
        }
    }

    /// Returns true if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes the parts to a function, one after the other, until the function fails.
    ///
    /// # Errors
    ///
    /// The error of the function, or of the source that produces the parts.
    pub fn each(&self, write: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => write(bytes),
            Self::ByteParts { source, .. } => source(write),
        }
    }

    /// Returns all bytes as one slice. Parts are joined. A payload in one piece is not copied.
    ///
    /// # Errors
    ///
    /// When the parts cannot be produced, or memory cannot be allocated. The errors name this key.
    pub fn bytes(&self, key: &Key) -> Result<Cow<'a, [u8]>, StoreError> {
        if let Self::Bytes(bytes) = self {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut value = reserved(self.len()).map_err(|error| error.with_key(key.as_str()))?;
        let mut take = |part: &[u8]| {
            value.extend_from_slice(part);
            Ok(())
        };
        self.each(&mut take).map_err(|error| StoreError::from_io("writing", error).with_key(key.as_str()))?;
        Ok(Cow::Owned(value))
    }

    /// Returns all bytes in an owned buffer.
    ///
    /// # Errors
    ///
    /// When the parts cannot be produced, or memory cannot be allocated. The errors name this key.
    #[cfg(feature = "async")]
    pub(crate) fn into_owned(self, key: &Key) -> Result<Bytes, StoreError> {
        Ok(match self.bytes(key)? {
            Cow::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Cow::Owned(bytes) => bytes.into(),
        })
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Payload({} bytes)", self.len())
    }
}
