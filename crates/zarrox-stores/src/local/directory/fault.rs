//! Failures below the root of a directory: [`Fault`].

use std::io;

use crate::{StoreError, StoreErrorKind};

/// A failure below the root, before the operation and the key are added.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    /// A link leads out of the root.
    Escapes,
    /// Something is in the way that is not what it should be.
    Obstructed(String),
    /// There is a value or a directory already.
    Exists,
    /// A rename needs a copy.
    OtherDevice,
    /// At another key than the one that was asked for.
    At(String, Box<Fault>),
}

impl Fault {
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    }

    pub(super) fn into_error(self, operation: &'static str, key: String) -> StoreError {
        use StoreErrorKind as Kind;
        let new = |kind, message: &str| StoreError::new(kind, operation, message);
        let error = match self {
            Self::At(key, fault) => return fault.into_error(operation, key),
            Self::Io(error) => StoreError::from_io(operation, error),
            Self::Escapes => new(
                Kind::Forbidden,
                "a symbolic link leads out of the store, which only the option `follow_links` allows,",
            ),
            Self::Obstructed(what) => new(Kind::Obstructed, &what),
            Self::Exists => new(Kind::AlreadyExists, "there is something already"),
            Self::OtherDevice => new(Kind::Unsupported, "the places are on different file systems"),
        };
        error.with_key(key)
    }
}

impl<E: Into<io::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Io(error.into())
    }
}
