//! Failures below the root of a directory: [`Fault`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{StoreError, StoreErrorKind};

/// A failure below the root, to which the operation and the key have not been added yet.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    /// A link leads out of the root.
    Escapes,
    /// The target of a link does not exist. The path of the link is relative to the root.
    Dangling {
        name: PathBuf,
        target: PathBuf,
    },
    /// Something other than a regular file or directory is in the way.
    Obstructed(String),
    /// A value or a directory already exists.
    Exists,
    /// Another writer replaced or removed the file in the meantime.
    Changed,
    /// Another process, or a thread that opened the file by another name, held the file's lock until this timeout.
    Taken(Duration),
    /// Other holders held the directory until this timeout.
    Held(Duration),
    /// The file system cannot exchange directories atomically.
    NoExchange,
    /// The file system cannot lock files.
    NoLocks(io::Error),
    /// The rename would cross file systems, and would therefore have to copy.
    OtherDevice,
    /// This system cannot store a part of the key.
    #[cfg_attr(all(unix, not(zarrox_portable_fs)), expect(dead_code, reason = "Unix stores all names"))]
    Name(String),
    /// The file system does not distinguish upper and lower case, and the existing name differs in case.
    #[cfg_attr(all(unix, not(zarrox_portable_fs)), expect(dead_code, reason = "Unix stores all names"))]
    OtherCase(String),
    /// The failure concerns a key other than the requested key.
    At(String, Box<Fault>),
}

impl Fault {
    /// Returns the failure for a value whose name belongs to a directory.
    pub(crate) fn directory() -> Self {
        Self::Obstructed("a directory has the name of the value".into())
    }

    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::Io(error) => {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
            // A key that cannot be stored has no value.
            Self::Name(_) | Self::OtherCase(_) => true,
            _ => false,
        }
    }

    /// Returns true if the name does not exist and no part of the path above it is a file.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Converts the failure for an existing file to the failure for a concurrent change.
    pub(crate) fn or_changed(self) -> Self {
        if matches!(self, Self::Exists) { Self::Changed } else { self }
    }

    pub(crate) fn into_error(self, operation: &'static str, key: String) -> StoreError {
        use StoreErrorKind as Kind;
        let new = |kind, message: &str| StoreError::new(kind, operation, message);
        let error = match self {
            Self::At(key, fault) => return fault.into_error(operation, key),
            Self::Io(error) => StoreError::from_io(operation, error),
            Self::Escapes => new(
                Kind::Forbidden,
                "a symbolic link leads out of the store; only the option `follow_links` allows that,",
            ),
            Self::Dangling { name, target } => {
                let message = format!(
                    "the symbolic link '{}' leads to '{}', which does not exist (`git annex get` or \
                     `datalad get` fetch the content of annexed files; a link to a value that is gone can be removed),",
                    shown(&name),
                    shown(&target)
                );
                new(Kind::Unreachable, &message)
            }
            Self::Obstructed(what) => new(Kind::Obstructed, &what),
            Self::Exists => new(Kind::AlreadyExists, "the destination already exists"),
            Self::Changed => new(Kind::Conflict, "another writer changed the value in the meantime"),
            Self::Taken(longest) => {
                let seconds = longest.as_secs_f64();
                let message = format!(
                    "another process has locked the file for more than {seconds} s (or a thread that reaches it by another name); \
                     end that process if it hangs, or wait longer with the option `lock_timeout`,"
                );
                new(Kind::TimedOut, &message)
            }
            Self::NoLocks(error) => {
                let message = "the file system cannot lock files, so that another process that writes to the same chunk or \
                               document could be overwritten; open the hierarchy with the option `exclusive` if no other process \
                               writes, or with a synchronizer,";
                new(Kind::Unsupported, message).with_source(error)
            }
            Self::Held(longest) => {
                let seconds = longest.as_secs_f64();
                let message = format!(
                    "another process has written into, moved or replaced the node for more than {seconds} s; end it if it \
                     hangs, or wait longer with the option `lock_timeout`,"
                );
                new(Kind::TimedOut, &message)
            }
            Self::NoExchange => {
                new(Kind::Unsupported, "the file system cannot exchange two directories in one step")
            }
            Self::Name(what) => new(Kind::InvalidKey, &what),
            Self::OtherCase(name) => {
                let message = format!(
                    "'{name}' exists, whose name differs only in upper and lower case, which this file system does not \
                     distinguish; choose another name,"
                );
                new(Kind::Obstructed, &message)
            }
            Self::OtherDevice => {
                new(Kind::Unsupported, "source and destination are on different file systems")
            }
        };
        error.with_key(key)
    }
}

/// Returns a path with escaped control characters, so that they cannot garble a terminal.
fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

impl<E: Into<io::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Io(error.into())
    }
}
