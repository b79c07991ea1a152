//! Assertions about errors.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::fmt::{Debug, Display};

use zarrox_core::codec::CodecError;
use zarrox_core::{Error, ErrorKind};
#[cfg(feature = "stores")]
use zarrox_stores::{StoreError, StoreErrorKind};

/// An error with a kind.
pub trait HasKind: Display {
    /// The type of its kind.
    type Kind: Copy + Debug + PartialEq;

    /// Returns the kind.
    fn kind(&self) -> Self::Kind;
}

/// Checks that an operation failed with an error of this kind. The text of the error must contain a part: the location, or the
/// reason.
///
/// # Panics
///
/// When the operation did not fail, or failed with another error.
#[track_caller]
pub fn assert_error<T, E: HasKind>(result: Result<T, E>, kind: E::Kind, part: &str) {
    match result {
        Ok(_) => panic!("it succeeded, instead of failing with {kind:?}"),
        Err(error) => {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(part), "'{part}' is not in '{error}'");
        }
    }
}

impl HasKind for Error {
    type Kind = ErrorKind;

    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl HasKind for CodecError {
    type Kind = ErrorKind;

    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

#[cfg(feature = "stores")]
impl HasKind for StoreError {
    type Kind = StoreErrorKind;

    fn kind(&self) -> StoreErrorKind {
        self.kind()
    }
}
