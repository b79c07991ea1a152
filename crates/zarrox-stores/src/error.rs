//! [`StoreError`], the error type of every store.

use std::error::Error;
use std::{fmt, io};

use zarrox_core::ErrorKind;

/// The error of a store operation.
///
/// The kind is for programs. The message is for people: it names the file or key and, if there is a remedy, says what to do. A
/// missing key is not an error: reads return `None`.
pub struct StoreError(Box<Inner>);

struct Inner {
    kind: StoreErrorKind,
    operation: &'static str,
    location: Option<String>,
    key: Option<String>,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    no_server: bool,
}

/// The kind of an error. See [`StoreError::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// A key or store that the operation requires does not exist, such as the source of a rename.
    NotFound,
    /// The key already has a value, and the operation requires that it has none.
    AlreadyExists,
    /// The store denies access because of permissions, credentials, or a link that leads out of the store.
    Forbidden,
    /// The store cannot be reached, or the connection was interrupted; a retry may succeed.
    Unreachable,
    /// The store did not respond in time; a retry may succeed.
    TimedOut,
    /// The store is read-only.
    ReadOnly,
    /// No space or quota is left. The previous value is untouched.
    StorageFull,
    /// The string is not a valid key, or the store cannot store a value under this key.
    InvalidKey,
    /// Another writer has changed the value in the meantime.
    Conflict,
    /// Something other than a value is in the way, such as a directory or a pipe in place of a file.
    Obstructed,
    /// A byte range is out of bounds for the value.
    OutOfRange,
    /// The value is larger than the store or a limit allows.
    TooLarge,
    /// Memory could not be allocated.
    OutOfMemory,
    /// The storage itself is damaged, such as a truncated database, or has an unexpected format.
    Corrupt,
    /// This store does not support the operation.
    Unsupported,
    /// Any other error; the message and the source describe it.
    Other,
}

impl StoreError {
    /// Creates an error of the given kind. `operation` is a word ending in "-ing", such as "reading".
    #[must_use]
    pub fn new(kind: StoreErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        let inner =
            Inner { kind, operation, location: None, key: None, message, source: None, no_server: false };
        Self(Box::new(inner))
    }

    /// Creates an error from an operating system error. Its kind is derived from the [`io::ErrorKind`].
    #[must_use]
    pub fn from_io(operation: &'static str, error: io::Error) -> Self {
        let (kind, message) = describe(error.kind());
        let message = message.map_or_else(|| error.to_string(), str::to_owned);
        Self::new(kind, operation, message).with_source(error)
    }

    /// Adds the name of the store. See [`Store::location`](crate::Store::location).
    #[must_use]
    pub fn with_location(mut self, location: impl Into<String>) -> Self {
        self.0.location = Some(location.into());
        self
    }

    /// Adds the name of a store to an error that does not yet name one.
    #[must_use]
    #[doc(hidden)]
    pub fn or_location(self, location: impl FnOnce() -> String) -> Self {
        if self.location().is_some() { self } else { self.with_location(location()) }
    }

    /// Replaces the operation of an error.
    #[cfg(feature = "object_store")]
    #[must_use]
    pub(crate) fn with_operation(mut self, operation: &'static str) -> Self {
        self.0.operation = operation;
        self
    }

    /// Adds the key or prefix.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.0.key = Some(key.into());
        self
    }

    /// Adds the error that caused this error.
    #[must_use]
    pub fn with_source(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        let mut error = self.because_of(&*source);
        error.0.source = Some(source);
        error
    }

    /// Records whether the cause of this error shows that the server does not exist, but does not keep the cause.
    #[must_use]
    #[doc(hidden)]
    pub fn because_of(mut self, cause: &(dyn Error + 'static)) -> Self {
        self.0.no_server |= says_no_server(cause);
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.0.kind
    }

    /// Returns the store operation that failed: "reading", "writing", "erasing", "listing", "renaming" …
    #[must_use]
    pub fn operation(&self) -> &str {
        self.0.operation
    }

    /// Returns the name of the store, if the error has one.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }

    /// Returns the key or prefix, if the error has one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// Returns true if no server could be reached at all: the connection was refused, or the host name is unknown. If that server
    /// has not sent any response yet, the most likely cause is a misspelt address.
    #[must_use]
    #[doc(hidden)]
    pub fn is_no_server(&self) -> bool {
        self.0.no_server
    }

    /// Returns the message without the remedy.
    pub(crate) fn reason(&self) -> String {
        let Inner { operation, message, .. } = &*self.0;
        let place = self.place().map_or(String::new(), |place| format!(" '{}'", printable(&place)));
        format!("{message} while {operation}{place}")
    }

    /// Returns the remedy, if there is one.
    fn advice(&self) -> Option<&'static str> {
        match self.kind() {
            StoreErrorKind::Forbidden if self.source().is_some() => Some("check the permissions"),
            StoreErrorKind::StorageFull => {
                Some("the previous value is untouched; free some space and try again")
            }
            StoreErrorKind::ReadOnly => Some("write to another location"),
            StoreErrorKind::Unreachable if self.is_no_server() => {
                Some("check the address, and that the server runs")
            }
            StoreErrorKind::Unreachable => Some("check that the storage is connected and try again"),
            StoreErrorKind::TimedOut => Some("try again, or with a longer timeout"),
            _ => None,
        }
    }

    /// Returns the location and the key as one string, such as `/data/a.zarr/.zarray`.
    fn place(&self) -> Option<String> {
        match (self.location(), self.key()) {
            (None, None) => None,
            (Some(location), None | Some("")) => Some(location.to_owned()),
            (None, Some(key)) => Some(key.to_owned()),
            (Some(location), Some(key)) if location.ends_with('/') => Some(format!("{location}{key}")),
            (Some(location), Some(key)) => Some(format!("{location}/{key}")),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason())?;
        self.advice().map_or(Ok(()), |advice| write!(formatter, "; {advice}"))
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("StoreError");
        debug.field("kind", &self.0.kind).field("message", &self.to_string());
        debug.field("source", &self.0.source).finish()
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// Returns the text with control characters escaped, so that a key cannot garble a terminal. The backslashes of Windows paths
/// stay.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '\'' | '"' => printable.push(character),
            _ => printable.extend(character.escape_debug()),
        }
    }
    printable
}

/// Returns true if this error or one of its sources shows that the server does not exist.
fn says_no_server(error: &(dyn Error + 'static)) -> bool {
    let mut link = Some(error);
    while let Some(cause) = link {
        let io = cause.downcast_ref::<io::Error>();
        if io.is_some_and(is_no_server) || NO_HOST.iter().any(|words| cause.to_string().starts_with(words)) {
            return true;
        }
        // An operating system error hides the error from which it was created.
        let inner = io.and_then(io::Error::get_ref).map(|inner| inner as &(dyn Error + 'static));
        link = inner.or_else(|| cause.source());
    }
    false
}

fn is_no_server(error: &io::Error) -> bool {
    use io::ErrorKind as Io;
    matches!(error.kind(), Io::ConnectionRefused | Io::HostUnreachable | Io::NetworkUnreachable)
}

/// The prefixes of the messages with which the standard library and the HTTP client report an unknown host. There is no error
/// kind for it.
const NO_HOST: [&str; 2] = ["failed to lookup address information", "dns error"];

/// Returns the kind for an operating system error, and a message if the system's own message is not clear enough.
fn describe(kind: io::ErrorKind) -> (StoreErrorKind, Option<&'static str>) {
    use StoreErrorKind as Kind;
    use io::ErrorKind as Io;
    match kind {
        Io::NotFound => (Kind::NotFound, Some("nothing found")),
        Io::NotADirectory => (Kind::Obstructed, Some("a part of the path is not a directory")),
        Io::IsADirectory => (Kind::Obstructed, Some("a directory is in the way")),
        Io::AlreadyExists | Io::DirectoryNotEmpty => (Kind::AlreadyExists, Some("the path already exists")),
        Io::PermissionDenied => (Kind::Forbidden, Some("permission denied")),
        Io::StorageFull => (Kind::StorageFull, Some("no space left on device")),
        Io::QuotaExceeded => (Kind::StorageFull, Some("the quota is exceeded")),
        Io::ReadOnlyFilesystem => (Kind::ReadOnly, Some("read-only file system")),
        Io::InvalidFilename => (Kind::InvalidKey, Some("the file system does not allow this name")),
        Io::FileTooLarge => (Kind::TooLarge, Some("larger than the file system allows")),
        Io::OutOfMemory => (Kind::OutOfMemory, Some("not enough memory")),
        Io::Unsupported => (Kind::Unsupported, Some("the file system does not support this")),
        Io::StaleNetworkFileHandle
        | Io::HostUnreachable
        | Io::NetworkUnreachable
        | Io::NetworkDown
        | Io::NotConnected
        | Io::ConnectionAborted
        | Io::ConnectionRefused
        | Io::ConnectionReset => (Kind::Unreachable, None),
        Io::TimedOut => (Kind::TimedOut, None),
        _ => (Kind::Other, None),
    }
}

/// Converts a store error. Its message already names the key and the remedy.
impl From<StoreError> for zarrox_core::Error {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::NotFound => ErrorKind::NotFound,
            StoreErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            StoreErrorKind::Forbidden => ErrorKind::Forbidden,
            StoreErrorKind::ReadOnly => ErrorKind::ReadOnly,
            StoreErrorKind::StorageFull => ErrorKind::StorageFull,
            StoreErrorKind::InvalidKey => ErrorKind::InvalidArgument,
            StoreErrorKind::OutOfRange | StoreErrorKind::Corrupt => ErrorKind::Corrupt,
            StoreErrorKind::TooLarge => ErrorKind::LimitExceeded,
            StoreErrorKind::OutOfMemory => ErrorKind::OutOfMemory,
            StoreErrorKind::TimedOut => ErrorKind::TimedOut,
            StoreErrorKind::Conflict => ErrorKind::Conflict,
            StoreErrorKind::Unsupported => ErrorKind::Unsupported,
            _ => ErrorKind::Unreachable,
        };
        let library = Self::new(kind, error.to_string());
        let library = match error.key() {
            Some(key) if !key.is_empty() => library.with_key(key),
            _ => library,
        };
        library.with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place_and_the_remedy() {
        let denied = StoreError::from_io("reading", io::ErrorKind::PermissionDenied.into())
            .with_location("/data/a.zarr")
            .with_key(".zarray");
        assert_eq!(denied.kind(), StoreErrorKind::Forbidden);
        assert_eq!(
            denied.to_string(),
            "permission denied while reading '/data/a.zarr/.zarray'; check the permissions"
        );
        assert!(denied.source().is_some());

        let full = StoreError::from_io("writing", io::ErrorKind::QuotaExceeded.into()).with_location("/a");
        assert_eq!(full.kind(), StoreErrorKind::StorageFull);
        assert!(full.to_string().contains("previous value is untouched"), "{full}");
    }

    #[test]
    fn the_cause_shows_that_no_server_exists() {
        let unreachable = |cause: io::Error| {
            StoreError::new(StoreErrorKind::Unreachable, "reading", "no answer").with_source(cause)
        };
        assert!(unreachable(io::ErrorKind::ConnectionRefused.into()).is_no_server());
        let inner = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(unreachable(io::Error::other(inner)).is_no_server());
        let unknown = io::Error::other("failed to lookup address information: Name or service not known");
        assert!(unreachable(unknown).to_string().ends_with("check the address, and that the server runs"));
        for other in [io::ErrorKind::ConnectionReset, io::ErrorKind::TimedOut] {
            assert!(!unreachable(other.into()).is_no_server(), "{other}");
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let error = StoreError::new(StoreErrorKind::Other, "reading", "odd").with_key("a\u{1b}[2Jb");
        assert_eq!(error.to_string(), "odd while reading 'a\\u{1b}[2Jb'");
        let error = StoreError::new(StoreErrorKind::Other, "reading", "odd").with_location(r"C:\data");
        assert_eq!(error.to_string(), r"odd while reading 'C:\data'");
    }
}
