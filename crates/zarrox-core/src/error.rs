//! The error type of the library, and the simpler error type that codecs return.

use std::borrow::Cow;
use std::collections::TryReserveError;
use std::sync::Arc;
use std::{fmt, io};

/// The result of this library's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, for programs that act on it.
///
/// Missing, forbidden, unreachable and corrupt are different kinds on purpose: only a missing chunk may be read as the fill
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The node, chunk or file was not found.
    NotFound,
    /// The object to create already exists, and overwriting was not requested.
    AlreadyExists,
    /// The storage denies access.
    Forbidden,
    /// The storage could not be reached, or failed.
    Unreachable,
    /// The storage did not respond in time.
    TimedOut,
    /// Another program or thread changed the same object at the same time.
    Conflict,
    /// The operation was interrupted.
    Interrupted,
    /// The node or the store was opened read-only.
    ReadOnly,
    /// The storage has no space left.
    StorageFull,
    /// The stored bytes are damaged: truncated, altered, or inconsistent with the metadata.
    Corrupt,
    /// A metadata document violates its specification.
    InvalidMetadata,
    /// A valid feature that this library, or the target format, does not support.
    Unsupported,
    /// The selection is out of bounds, or does not fit the array.
    InvalidSelection,
    /// A node path, a shape, or another argument is invalid.
    InvalidArgument,
    /// The requested element type differs from the element type of the array.
    DataTypeMismatch,
    /// The operation needs more memory than the limits allow.
    LimitExceeded,
    /// Memory could not be allocated. The stored data may be intact.
    OutOfMemory,
}

/// An error: its cause, its location, and advice.
///
/// One opaque type serves the whole library, so that new causes of errors do not break a caller's `match`. Programs inspect
/// [`Error::kind`] and the location ([`Error::path`], [`Error::chunk`], [`Error::key`], [`Error::codec`]), show the `Display`
/// text to users, and find the underlying cause with [`std::error::Error::source`].
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// The locations, from the innermost to the outermost.
    places: Vec<ErrorPlace>,
    /// Parts of the location that the message already contains.
    path: Option<String>,
    key: Option<String>,
    inner_chunk: Option<Vec<u64>>,
    codec: Option<String>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// A location of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorPlace(PlaceKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PlaceKind {
    Node { kind: &'static str, path: String, store: Option<String> },
    Chunk { indices: Vec<u64>, key: String },
    Document(String),
    Other(String),
}

impl ErrorPlace {
    /// Creates the location of an array from its path.
    pub fn array(path: impl fmt::Display) -> Self {
        Self::node("array", path)
    }

    /// Creates the location of a group from its path.
    pub fn group(path: impl fmt::Display) -> Self {
        Self::node("group", path)
    }

    fn node(kind: &'static str, path: impl fmt::Display) -> Self {
        Self(PlaceKind::Node { kind, path: path.to_string(), store: None })
    }

    /// Creates the location of a chunk from its indices and its key.
    pub fn chunk(indices: &[u64], key: impl fmt::Display) -> Self {
        Self(PlaceKind::Chunk { indices: indices.to_vec(), key: key.to_string() })
    }

    /// Adds the name of the store of an array or a group.
    #[must_use]
    pub fn in_store(mut self, location: impl fmt::Display) -> Self {
        if let PlaceKind::Node { store, .. } = &mut self.0 {
            *store = Some(location.to_string());
        }
        self
    }
}

impl fmt::Display for ErrorPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            PlaceKind::Node { kind, path, store: None } => write!(f, "{kind} '{path}'"),
            PlaceKind::Node { kind, path, store: Some(store) } => write!(f, "{kind} '{path}' in {store}"),
            PlaceKind::Chunk { indices, key } => write!(f, "chunk {indices:?} (key '{key}')"),
            PlaceKind::Document(text) | PlaceKind::Other(text) => f.write_str(text),
        }
    }
}

macro_rules! places_of_text {
    ($($T:ty)*) => {$(
        impl From<$T> for ErrorPlace {
            fn from(text: $T) -> Self {
                Self(PlaceKind::Other(text.into()))
            }
        }
    )*};
}

places_of_text!(&str String &String Cow<'_, str>);

impl Error {
    /// Creates an error of the given kind. The message states what failed, the value, and the remedy.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (message, places) = (message.into(), Vec::new());
        let (path, key, inner_chunk, codec) = (None, None, None, None);
        Self(Box::new(Inner { kind, message, places, path, key, inner_chunk, codec, source: None }))
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Adds a location, from the innermost to the outermost: [a chunk](ErrorPlace::chunk), then [an array](ErrorPlace::array). A
    /// string such as `field 'x'` is also accepted as a location.
    #[must_use]
    #[doc(hidden)]
    pub fn at(mut self, place: impl Into<ErrorPlace>) -> Self {
        self.0.places.push(place.into());
        self
    }

    /// Adds the name of a metadata document as a location.
    #[must_use]
    pub(crate) fn in_document(self, name: impl Into<String>) -> Self {
        self.at(ErrorPlace(PlaceKind::Document(name.into())))
    }

    /// Returns the name of the metadata document, if the error concerns one.
    #[doc(hidden)]
    pub fn document(&self) -> Option<&str> {
        self.find(|place| match place {
            PlaceKind::Document(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Adds the path of a node. The message already contains the path.
    #[must_use]
    #[doc(hidden)]
    pub fn with_path(mut self, path: impl fmt::Display) -> Self {
        self.0.path = Some(path.to_string());
        self
    }

    /// Adds the key of a stored value. The message already contains the key.
    #[must_use]
    #[doc(hidden)]
    pub fn with_key(mut self, key: impl fmt::Display) -> Self {
        self.0.key = Some(key.to_string());
        self
    }

    fn find<'a, T>(&'a self, part: impl Fn(&'a PlaceKind) -> Option<T>) -> Option<T> {
        self.0.places.iter().find_map(|place| part(&place.0))
    }

    /// Returns the path of the array or group in its hierarchy, if the error has one, such as `/ocean/temperature`.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref().or_else(|| {
            self.find(|place| match place {
                PlaceKind::Node { path, .. } => Some(path.as_str()),
                _ => None,
            })
        })
    }

    /// Returns the indices of the chunk, if the error has one.
    ///
    /// ```
    /// use zarrox_core::{Error, ErrorKind};
    /// use zarrox_core::internals::error::ErrorPlace;
    ///
    /// let error = Error::new(ErrorKind::Corrupt, "truncated").at(ErrorPlace::chunk(&[0, 1], "c/0/1")).at(ErrorPlace::array("/a"));
    /// assert_eq!((error.path(), error.chunk(), error.key()), (Some("/a"), Some(&[0, 1][..]), Some("c/0/1")));
    /// assert_eq!(error.to_string(), "array '/a': chunk [0, 1] (key 'c/0/1'): truncated");
    /// ```
    pub fn chunk(&self) -> Option<&[u64]> {
        self.find(|place| match place {
            PlaceKind::Chunk { indices, .. } => Some(indices.as_slice()),
            _ => None,
        })
    }

    /// Returns the indices of the inner chunk, if the error concerns one. They count from the first inner chunk of the shard, which
    /// is [`chunk`](Self::chunk).
    pub fn inner_chunk(&self) -> Option<&[u64]> {
        self.0.inner_chunk.as_deref()
    }

    /// Returns the key of the stored value in its store, if the error has one: the key of the chunk, or of another value that
    /// was accessed.
    pub fn key(&self) -> Option<&str> {
        let of_chunk = self.find(|place| match place {
            PlaceKind::Chunk { key, .. } => Some(key.as_str()),
            _ => None,
        });
        of_chunk.or(self.0.key.as_deref())
    }

    /// Returns the name of the codec that failed, if the error has one. It is the innermost codec, such as a codec of a shard's
    /// inner chunks.
    pub fn codec(&self) -> Option<&str> {
        self.0.codec.as_deref()
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message without the locations.
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
        for place in self.0.places.iter().rev() {
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

/// An error returned by a codec: one sentence, without the location. The codec pipeline adds the name of the codec, and the array
/// adds the chunk and the key.
#[derive(Debug)]
pub struct CodecError {
    kind: ErrorKind,
    message: String,
    /// True if a larger buffer might suffice.
    overflow: bool,
    inner_chunk: Option<Vec<u64>>,
    /// The innermost codec.
    codec: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl CodecError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), overflow: false, inner_chunk: None, codec: None, source: None }
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Creates the error for damaged encoded bytes.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Creates the error for decoded bytes that do not fit into `room` bytes.
    #[doc(hidden)]
    pub fn overflow(room: usize) -> Self {
        let error = Self::corrupt(format!("decodes to more than the expected {room} bytes"));
        Self { overflow: true, ..error }
    }

    /// Returns true if the error is [an overflow](CodecError::overflow).
    #[doc(hidden)]
    pub fn is_overflow(&self) -> bool {
        self.overflow
    }

    /// Creates the error for a configuration, or data to encode, that violates the rules of the codec.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidMetadata, message)
    }

    /// Creates the error for a valid request that this implementation does not support.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Creates the error for an operation that needs more memory than the limit allows.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::LimitExceeded, message)
    }

    /// Creates the error for memory that could not be allocated.
    pub fn out_of_memory(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutOfMemory, message)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Adds the indices of an inner chunk as a location. If shards contain shards, the error keeps those in the outermost shard.
    #[must_use]
    #[doc(hidden)]
    pub fn at_inner_chunk(self, indices: &[usize]) -> Self {
        let inner_chunk = Some(indices.iter().map(|&index| index as u64).collect());
        Self { inner_chunk, ..self.at(format_args!("inner chunk {indices:?}")) }
    }

    /// Adds a location inside the chunk, such as `index`.
    #[must_use]
    #[doc(hidden)]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Adds the name of the codec, unless the error already has one.
    #[must_use]
    #[doc(hidden)]
    pub fn in_codec(mut self, codec: &str) -> Self {
        self.codec.get_or_insert_with(|| codec.to_owned());
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
        let mut converted = Self::new(error.kind, error.message);
        (converted.0.inner_chunk, converted.0.codec) = (error.inner_chunk, error.codec);
        match error.source {
            Some(source) => converted.with_source(source),
            None => converted,
        }
    }
}

/// Keeps the error as the source, available with [`io::Error::get_ref`]. An interruption is not mapped to
/// [`io::ErrorKind::Interrupted`], because functions of the standard library retry after errors of that kind.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        use ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::NotFound => io::ErrorKind::NotFound,
            Kind::AlreadyExists => io::ErrorKind::AlreadyExists,
            Kind::Forbidden => io::ErrorKind::PermissionDenied,
            Kind::Unreachable => io::ErrorKind::NotConnected,
            Kind::TimedOut => io::ErrorKind::TimedOut,
            Kind::Conflict => io::ErrorKind::ResourceBusy,
            Kind::ReadOnly => io::ErrorKind::ReadOnlyFilesystem,
            Kind::StorageFull => io::ErrorKind::StorageFull,
            Kind::Corrupt | Kind::InvalidMetadata => io::ErrorKind::InvalidData,
            Kind::Unsupported => io::ErrorKind::Unsupported,
            Kind::InvalidSelection | Kind::InvalidArgument | Kind::DataTypeMismatch => {
                io::ErrorKind::InvalidInput
            }
            Kind::OutOfMemory => io::ErrorKind::OutOfMemory,
            Kind::Interrupted | Kind::LimitExceeded => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_printed_from_the_outside_inwards() {
        let inner = CodecError::corrupt("checksum differs").in_codec("crc32c").at_inner_chunk(&[7]);
        let error = Error::from(inner.in_codec("sharding_indexed"))
            .at(ErrorPlace::chunk(&[0, 1], "c/0/1"))
            .at(ErrorPlace::array("/a").in_store("memory"));
        assert_eq!(
            error.to_string(),
            "array '/a' in memory: chunk [0, 1] (key 'c/0/1'): codec 'sharding_indexed': inner chunk [7]: codec 'crc32c': \
             checksum differs"
        );
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!((error.path(), error.key(), error.codec()), (Some("/a"), Some("c/0/1"), Some("crc32c")));
        assert_eq!((error.chunk(), error.inner_chunk()), (Some(&[0, 1][..]), Some(&[7][..])));
    }

    #[test]
    fn parts_of_the_place_may_be_in_the_message() {
        let error =
            Error::new(ErrorKind::NotFound, "no node found at '/x'").with_path("/x").with_key("x/zarr.json");
        assert_eq!((error.path(), error.key()), (Some("/x"), Some("x/zarr.json")));
        assert_eq!((error.chunk(), error.codec()), (None, None));
        assert_eq!(error.at("opening").to_string(), "opening: no node found at '/x'");
    }

    #[test]
    fn errors_go_through_the_standard_library() {
        let error = io::Error::from(Error::new(ErrorKind::Corrupt, "truncated").at(ErrorPlace::array("/a")));
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::InvalidData, "array '/a': truncated".to_owned())
        );
        let inside = error.get_ref().and_then(|inside| inside.downcast_ref::<Error>());
        assert_eq!(inside.and_then(Error::path), Some("/a"));
    }

    #[test]
    fn the_source_of_a_codec_error_is_kept() {
        let error = CodecError::corrupt("has failed").with_source(fmt::Error).at("inside").in_codec("own");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<fmt::Error>());
        assert!(source.is_some());
        let error = Error::from(error).at("array '/a'");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<fmt::Error>());
        assert!(source.is_some());
    }
}
