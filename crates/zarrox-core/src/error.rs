//! The error type of the library, and the smaller one that codecs return.

use std::collections::TryReserveError;
use std::fmt;
use std::sync::Arc;

/// The result of this library's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, for programs that act on it.
///
/// Missing, forbidden, unreachable and corrupt are different kinds on purpose: only a missing chunk may be read as the fill
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The node, chunk or file does not exist.
    NotFound,
    /// Something already exists, and overwriting was not requested.
    AlreadyExists,
    /// The storage denies access.
    Forbidden,
    /// The storage could not be reached, or failed.
    Unreachable,
    /// The storage did not answer in time.
    TimedOut,
    /// Another program or thread changed the same thing at the same time.
    Conflict,
    /// The operation was interrupted.
    Interrupted,
    /// The node or the store was opened for reading only.
    ReadOnly,
    /// The storage has no space left.
    StorageFull,
    /// Stored bytes are damaged: truncated, altered, or in contradiction to the metadata.
    Corrupt,
    /// A metadata document violates the rules of its format.
    InvalidMetadata,
    /// A valid feature that this library, or the target format, does not support.
    Unsupported,
    /// The selection does not fit the array.
    InvalidSelection,
    /// A node path, a shape, or another argument is invalid.
    InvalidArgument,
    /// The requested element type differs from the array's.
    DataTypeMismatch,
    /// The operation would need more memory than the limits allow.
    LimitExceeded,
    /// Memory could not be allocated. The stored data may be intact.
    OutOfMemory,
}

/// An error: its cause, its place, and advice.
///
/// One opaque type serves the whole library, so that new causes never break a caller's `match`. Programs act on [`Error::kind`],
/// show the `Display` text to people, and find the underlying cause by [`std::error::Error::source`].
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of a kind, with a message that says what was wrong and what to do.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), context: Vec::new(), source: None }))
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Adds a place, from the innermost to the outermost: `chunk [0, 1]`, then `array '/t2m'`.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.context.push(place.to_string());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the places.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn metadata(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidMetadata, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn selection(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidSelection, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in self.0.context.iter().rev() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// The error of a codec: one sentence, without the place. The chain adds the name of the codec, and the array adds the chunk and
/// the key.
#[derive(Debug)]
pub struct CodecError {
    kind: ErrorKind,
    message: String,
    /// True if a larger buffer might be enough.
    overflow: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl CodecError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), overflow: false, source: None }
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The encoded bytes are damaged.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Creates the error for decoded bytes that do not fit into `room` bytes.
    pub fn overflow(room: usize) -> Self {
        let error = Self::corrupt(format!("decodes to more than the {room} bytes that there should be"));
        Self { overflow: true, ..error }
    }

    /// Returns true if it is [an overflow](CodecError::overflow).
    pub fn is_overflow(&self) -> bool {
        self.overflow
    }

    /// The configuration, or the data to encode, violates the rules of the codec.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidMetadata, message)
    }

    /// A valid request that this implementation does not support.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The operation would need more memory than the limit allows.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::LimitExceeded, message)
    }

    /// Memory could not be allocated.
    pub fn out_of_memory(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutOfMemory, message)
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Adds a place inside the chunk: `inner chunk [0, 1]`.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Adds the name of the codec, unless the error has one.
    #[must_use]
    pub fn in_codec(mut self, codec: &str) -> Self {
        let place = format!("codec '{codec}': ");
        if !self.message.starts_with(&place) {
            self.message.insert_str(0, &place);
        }
        self
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<TryReserveError> for CodecError {
    fn from(error: TryReserveError) -> Self {
        Self::out_of_memory(format!("not enough memory: {error}"))
    }
}

impl From<CodecError> for Error {
    fn from(error: CodecError) -> Self {
        let converted = Self::new(error.kind, error.message);
        match error.source {
            Some(source) => converted.with_source(source),
            None => converted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_printed_from_the_outside_inwards() {
        let error = Error::from(CodecError::corrupt("checksum differs").in_codec("crc32c"))
            .at("chunk [0, 1]")
            .at("array '/a'");
        assert_eq!(error.to_string(), "array '/a': chunk [0, 1]: codec 'crc32c': checksum differs");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn what_caused_the_error_of_a_codec_is_kept() {
        let error = CodecError::corrupt("has failed").with_source(fmt::Error).at("inside").in_codec("own");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<fmt::Error>());
        assert!(source.is_some());
        let error = Error::from(error).at("array '/a'");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<fmt::Error>());
        assert!(source.is_some());
    }
}
