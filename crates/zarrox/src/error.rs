//! Errors about arguments.

use zarrox_core::{Error, ErrorKind};

/// Creates an error about an argument.
pub fn argument(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
