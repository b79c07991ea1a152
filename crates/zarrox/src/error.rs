//! Errors about arguments.

use zarrox_core::{Error, ErrorKind};

/// An error about an argument.
pub fn argument(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
