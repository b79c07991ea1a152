//! What both implementations of the file operations share.

use std::fs::{self, Permissions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::local::fault::Fault;
use crate::{Stamp, Version};

/// The device and inode numbers of a file; on Windows, the volume serial number and the file index. The system does not reuse
/// them before the file is closed and unlinked.
pub type Identity = (u64, u64);

/// The maximum number of attempts of an operation while other operations keep removing the directory that it needs.
pub(crate) const ATTEMPTS: usize = 100;

/// The time within which two changes to a file may have the same timestamps, on file systems that store fractions of a second.
const TICK: Duration = Duration::from_millis(20);

/// The age at which a file's timestamps reliably distinguish its last change from a later one. File system clocks are coarse.
pub(super) const SETTLED: Duration = Duration::from_secs(2);

/// The directory below which files are named, with the rule for links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree<'a> {
    /// The absolute path without links.
    pub(crate) path: &'a Path,
    pub(crate) follow_links: bool,
}

/// An entry of a directory. Links are not followed.
pub(crate) enum Entry {
    Missing,
    File(Permissions),
    Directory,
    Link,
    /// A pipe, a socket or a device, with its name in errors.
    Odd(&'static str),
}

/// The file or directory with a name, after following links.
pub(crate) enum Target {
    /// A file, with its size; or an entry that cannot be read, such as a pipe or a dangling link.
    File(u64),
    Directory,
    /// The entry was removed in the meantime.
    Gone,
}

/// The type of an open file or of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    /// A link, or an entry whose type must be looked up.
    Other,
    /// A pipe, a socket or a device, with its name in errors.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows does not tell such files apart"))]
    Odd(&'static str),
}

/// The properties of an open file.
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) identity: Identity,
    pub(crate) permissions: Permissions,
}

/// The result of opening a directory entry without following links.
pub(crate) enum Opening {
    Missing,
    File(fs::File),
    Link,
    /// The entry exists, but cannot be opened.
    Failed,
}

/// Returns the stamp of a version whose file was changed at this time; `None` if the time is unknown.
pub(super) fn stamp_of(version: Version, changed: Option<SystemTime>) -> Stamp {
    let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
    let since = changed.and_then(|changed| changed.duration_since(SystemTime::UNIX_EPOCH).ok());
    // File systems without fractions of a second have coarser timestamps.
    let tick = if since.is_some_and(|since| since.subsec_nanos() == 0) { SETTLED } else { TICK };
    if age.is_some_and(|age| age < tick) { Stamp::Recent(version) } else { Stamp::Settled(version) }
}

/// Returns the failure for something other than a regular file.
pub(crate) fn not_a_file(what: &str) -> Fault {
    Fault::Obstructed(format!("{what} is not a value: a value is a regular file,"))
}

/// Converts the error for a missing file to `None`.
pub(crate) fn unless_missing<T>(result: Result<T, impl Into<io::Error>>) -> Result<Option<T>, Fault> {
    match result.map_err(Into::into) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl Tree<'_> {
    /// Returns the failure that explains why a path does not exist: a dangling link on the path. Returns `None` if there is none.
    #[cold]
    pub(super) fn dangling_on(&self, path: &Path) -> Option<Fault> {
        let ways = path.ancestors().take_while(|way| *way != self.path);
        // Paths that go through a dangling link do not exist either, so the longest existing path is the link.
        let (link, found) = ways.filter_map(|way| Some((way, fs::symlink_metadata(way).ok()?))).next()?;
        let is_dangling = found.is_symlink()
            && fs::metadata(link).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let target = fs::read_link(link).ok().filter(|_| is_dangling)?;
        let name = link.strip_prefix(self.path).unwrap_or(link);
        Some(Fault::Dangling { name: name.into(), target })
    }
}
