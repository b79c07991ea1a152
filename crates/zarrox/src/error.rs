//! Errors of stores as errors of the library.

use zarrox_core::{Error, ErrorKind};
use zarrox_stores::{StoreError, StoreErrorKind};

/// Turns a store's error into the library's; its text already says which key, and what to do.
pub fn from_store(error: StoreError) -> Error {
    let kind = match error.kind() {
        StoreErrorKind::NotFound => ErrorKind::NotFound,
        StoreErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        StoreErrorKind::Forbidden => ErrorKind::Forbidden,
        StoreErrorKind::ReadOnly => ErrorKind::ReadOnly,
        StoreErrorKind::StorageFull => ErrorKind::StorageFull,
        StoreErrorKind::InvalidKey => ErrorKind::InvalidArgument,
        StoreErrorKind::OutOfRange | StoreErrorKind::Corrupt => ErrorKind::Corrupt,
        StoreErrorKind::TooLarge => ErrorKind::LimitExceeded,
        StoreErrorKind::TimedOut => ErrorKind::TimedOut,
        StoreErrorKind::Conflict => ErrorKind::Conflict,
        StoreErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, error.to_string()).with_source(error)
}

/// An error about an argument.
pub(crate) fn argument(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
