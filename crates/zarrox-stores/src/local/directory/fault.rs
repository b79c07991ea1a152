//! Failures below the root of a directory: [`Fault`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{StoreError, StoreErrorKind};

/// A failure below the root, before the operation and the key are added.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    /// A link leads out of the root.
    Escapes,
    /// A link, whose path from the root this is, leads to nothing.
    Dangling {
        name: PathBuf,
        target: PathBuf,
    },
    /// Something is in the way that is not what it should be.
    Obstructed(String),
    /// There is a value or a directory already.
    Exists,
    /// Somebody else replaced or removed the file meanwhile.
    Changed,
    /// Another process, or a thread that reaches the file by another name, has had the lock of the file for so long.
    Taken(Duration),
    /// Others have held the directory for so long.
    Held(Duration),
    /// The file system cannot exchange directories in one step.
    NoExchange,
    /// The file system cannot lock files.
    NoLocks(io::Error),
    /// A rename needs a copy.
    OtherDevice,
    /// At another key than the requested one.
    At(String, Box<Fault>),
}

impl Fault {
    /// The failure of a value whose name a directory has.
    pub(super) fn directory() -> Self {
        Self::Obstructed("a directory has the name of the value".into())
    }

    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    }

    /// Returns true if there is nothing under the name, and no file above it.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Takes a file that is there for one that came meanwhile.
    pub(super) fn or_changed(self) -> Self {
        if matches!(self, Self::Exists) { Self::Changed } else { self }
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
            Self::Dangling { name, target } => {
                let message = format!(
                    "the symbolic link '{}' leads to '{}', where nothing is (`git annex get` or `datalad get` fetch what they have \
                     left out; a link to a value that is gone can be removed),",
                    shown(&name),
                    shown(&target)
                );
                new(Kind::Unreachable, &message)
            }
            Self::Obstructed(what) => new(Kind::Obstructed, &what),
            Self::Exists => new(Kind::AlreadyExists, "there is something already"),
            Self::Changed => new(Kind::Conflict, "somebody else changed the value meanwhile"),
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
                               document could be overwritten; open the hierarchy with the option `exclusive` if nobody else \
                               writes, or with a synchronizer,";
                new(Kind::Unsupported, message).with_source(error)
            }
            Self::Held(longest) => {
                let seconds = longest.as_secs_f64();
                let message = format!(
                    "others have written into the node, or moved or replaced it, for more than {seconds} s; end that process if it \
                     hangs, or wait longer with the option `lock_timeout`,"
                );
                new(Kind::TimedOut, &message)
            }
            Self::NoExchange => new(Kind::Unsupported, "the places cannot be exchanged in one step"),
            Self::OtherDevice => new(Kind::Unsupported, "the places are on different file systems"),
        };
        error.with_key(key)
    }
}

/// A path whose control characters cannot garble a terminal.
fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

impl<E: Into<io::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Io(error.into())
    }
}
