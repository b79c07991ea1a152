//! The files below the root, on Unix.
//!
//! Keys are never simply joined to a path. First the directory is opened, following the rules for links, and then files are named
//! relative to the open directory. So no other process can swap a directory for a link between a check and a write.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{self as sys, AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use super::fault::Fault;
use crate::local::durable::create_directories;
use crate::temporary::is_temporary;
use crate::{DirListing, Key, Prefix, Stamp, Version};

/// The flags for reading a file. Opening a pipe must not block, and a terminal must not become the controlling terminal.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The flags for opening a directory relative to which files are named. They require no read permission.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const DIRECTORY: OFlags = LISTING;

/// The flags for opening any file to examine it. They require no read permission.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LOOK: OFlags = READ;

/// The flags for opening a directory to list it.
pub(super) const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The maximum number of attempts of an operation while other operations keep removing the directory that it needs.
const ATTEMPTS: usize = 100;

/// The root directory, with the rules that apply below it.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The absolute path without links.
    pub(super) path: PathBuf,
    pub(super) follow_links: bool,
    pub(super) sync: bool,
    /// False if there are no other writers, so that files need not be locked.
    pub(super) locks: bool,
    /// The timeout of a lock that another process holds.
    pub(super) lock_timeout: Duration,
    /// True on file systems that report a failed write only when the file is closed. It is determined on the first write.
    late: OnceLock<bool>,
}

/// The result of looking up a key.
pub(super) enum Found {
    Missing,
    /// An open file, and its length.
    File(File, u64),
    Directory,
}

/// An entry of a directory.
pub(super) enum Entry {
    Missing,
    File(Mode),
    Directory,
    Link,
    Odd(FileType),
}

/// The time within which two changes to a file may have the same timestamps, on file systems that store fractions of a second.
const TICK: Duration = Duration::from_millis(20);

/// The age at which a file's timestamps reliably distinguish its last change from a later one. File system clocks are coarse.
const SETTLED: Duration = Duration::from_secs(2);

/// Returns the version of a file's content: the file's identity, its length and the time of its last change. Returns `None` if
/// the file was changed so recently that another change might have the same timestamp.
pub(super) fn version(file: &File) -> Option<Version> {
    let metadata = file.metadata().ok()?;
    let age = SystemTime::now().duration_since(metadata.modified().ok()?).ok()?;
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let identity = [metadata.dev(), metadata.ino(), metadata.size()].map(u64::to_ne_bytes).concat();
    (age >= SETTLED).then(|| [identity, times.map(i64::to_ne_bytes).concat()].concat().into())
}

/// Returns the stamp of a value from the properties of its file: the file's identity, its length and the times of its last
/// changes.
fn stamp(stat: &sys::Stat) -> Stamp {
    let [written, changed] = [stat.st_mtime, stat.st_ctime].map(i64::cast_unsigned);
    let facts =
        [stat.st_dev, stat.st_ino, length(stat), written, stat.st_mtime_nsec, changed, stat.st_ctime_nsec];
    let version = Version::from(facts.map(u64::to_ne_bytes).as_flattened());
    let changed = u64::try_from(stat.st_ctime).ok().map(|seconds| {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(stat.st_ctime_nsec)
    });
    let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
    let tick = if stat.st_ctime_nsec == 0 { SETTLED } else { TICK };
    if age.is_some_and(|age| age < tick) { Stamp::Recent(version) } else { Stamp::Settled(version) }
}

/// The identity of a directory.
type Identity = (u64, u64);

impl Root {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            follow_links: false,
            sync: false,
            locks: true,
            lock_timeout: crate::local::held::LOCK_TIMEOUT,
            late: OnceLock::new(),
        }
    }

    /// Opens the file of a value, and returns it with its length.
    pub(super) fn open_value(&self, key: &str) -> Result<Found, Fault> {
        self.look(key, READ)
    }

    pub(super) fn size(&self, key: &str) -> Result<Option<u64>, Fault> {
        match self.look(key, LOOK)? {
            Found::File(_, size) => Ok(Some(size)),
            Found::Missing | Found::Directory => Ok(None),
        }
    }

    /// Returns the stamp of a value, using a single system call. All links are followed, since nothing is read.
    pub(super) fn stamp(&self, key: &str) -> Result<Stamp, Fault> {
        match sys::statat(CWD, self.path.join(key), AtFlags::empty()) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => Ok(stamp(&stat)),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Stamp::Missing),
            Err(error) => Err(error.into()),
        }
    }

    fn look(&self, key: &str, flags: OFlags) -> Result<Found, Fault> {
        let file = match self.open(key, flags) {
            Ok(fd) => File::from(fd),
            Err(fault) if fault.is_missing() => return Ok(Found::Missing),
            // The error for opening a socket.
            Err(Fault::Io(error)) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                return Err(not_a_file("a socket or a device"));
            }
            Err(fault) => return Err(fault),
        };
        let stat = sys::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Found::File(file, length(&stat))),
            FileType::Directory => Ok(Found::Directory),
            kind => Err(odd(kind)),
        }
    }

    /// Removes everything in a directory, and the directory itself unless it is the root.
    pub(super) fn erase_tree(&self, path: &str) -> Result<(), Fault> {
        let (parent, name) = split(path);
        let flags = if path.is_empty() { LISTING } else { DIRECTORY };
        let directory = match self.open(parent, flags) {
            Err(fault) if fault.is_missing() => return Ok(()),
            other => other?,
        };
        if path.is_empty() {
            // Repeated until nothing is left, since a listing may miss entries while others are being removed.
            for _ in 0..ATTEMPTS {
                if !remove_content(directory.as_fd())? {
                    break;
                }
            }
            return self.flush(directory.as_fd());
        }
        match entry(directory.as_fd(), name)? {
            Entry::Directory => remove_tree(directory.as_fd(), name)?,
            Entry::Link if leads_to_directory(directory.as_fd(), name) => {
                unless_missing(sys::unlinkat(&directory, name, AtFlags::empty()))?;
            }
            _ => return Ok(()),
        }
        self.flush(directory.as_fd())?;
        self.prune(parent);
        Ok(())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), Fault> {
        let (from_parent, from_name) = split(from);
        let (to_parent, to_name) = split(to);
        let source = self.open(from_parent, DIRECTORY)?;
        match entry(source.as_fd(), from_name)? {
            Entry::Directory => {}
            // A link may have a different target after it is moved.
            Entry::Link => return Err(Fault::OtherDevice),
            _ => return Err(Errno::NOENT.into()),
        }
        let renamed = again_when_missing(|| {
            let (target, _) = self.make_directory(to_parent)?;
            sys::renameat(&source, from_name, &target, to_name)?;
            self.flush(target.as_fd())
        });
        if let Err(fault) = renamed {
            self.prune(to_parent);
            return Err(explain_rename(fault));
        }
        self.flush(source.as_fd())?;
        self.prune(from_parent);
        Ok(())
    }

    /// Lists the entries of a directory.
    pub(super) fn list(&self, prefix: &Prefix) -> Result<DirListing, Fault> {
        let mut listing = DirListing::default();
        let Some(mut directory) = self.open_listing(prefix.segments())? else { return Ok(listing) };
        while let Some(found) = directory.read() {
            let found = found?;
            let Some(name) = key_name(&found) else { continue };
            match found.file_type() {
                FileType::RegularFile => listing.keys.extend(prefix.key(name)),
                FileType::Directory => listing.prefixes.extend(prefix.child(name)),
                _ => match stat_target(directory.fd()?, name)? {
                    Target::File(_) => listing.keys.extend(prefix.key(name)),
                    Target::Directory => listing.prefixes.extend(prefix.child(name)),
                    Target::Gone => {}
                },
            }
        }
        Ok(listing)
    }

    /// Visits every file below a directory.
    pub(super) fn walk(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let Some(directory) = self.open_listing(prefix.segments())? else { return Ok(()) };
        Walk { root: self, above: Vec::new(), visit }.directory(directory, prefix).map(drop)
    }

    fn open_listing(&self, path: &str) -> Result<Option<Dir>, Fault> {
        match self.open(path, LISTING) {
            Err(fault) if fault.is_missing() => Ok(None),
            other => Ok(Some(Dir::new(other?)?)),
        }
    }

    /// Opens a path below the root, following the rules for links.
    ///
    /// If the path has no links, this takes a single system call, which also checks for links and whether the file exists.
    pub(super) fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Fault> {
        let path = if path.is_empty() { self.path.clone() } else { self.path.join(path) };
        let opened = if self.follow_links {
            sys::open(&path, flags, Mode::empty()).map_err(Fault::from)
        } else {
            match open_without_links(&path, flags) {
                // The path contains a link, or the kernel or a sandbox does not support the call.
                Err(Errno::LOOP | Errno::NOSYS | Errno::PERM) => self.open_through_links(&path, flags),
                other => return Ok(other?),
            }
        };
        match opened {
            Err(fault) if fault.is_not_found() => Err(self.dangling(&path).unwrap_or(fault)),
            opened => opened,
        }
    }

    /// Returns the failure that explains why a path does not exist: a dangling link on the path. Returns `None` if there is none.
    #[cold]
    fn dangling(&self, path: &Path) -> Option<Fault> {
        if matches!(open_without_links(path, LOOK), Err(Errno::NOENT)) {
            return None;
        }
        let ways = path.ancestors().take_while(|way| *way != self.path);
        // Paths that go through a dangling link do not exist either, so the longest existing path is the link.
        let (link, found) = ways.filter_map(|way| Some((way, fs::symlink_metadata(way).ok()?))).next()?;
        let is_dangling = found.is_symlink()
            && fs::metadata(link).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let target = fs::read_link(link).ok().filter(|_| is_dangling)?;
        let name = link.strip_prefix(&self.path).unwrap_or(link);
        Some(Fault::Dangling { name: name.into(), target })
    }

    fn open_through_links(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Fault> {
        let target = fs::canonicalize(path)?;
        if !target.starts_with(fs::canonicalize(&self.path)?) {
            return Err(Fault::Escapes);
        }
        match open_without_links(&target, flags) {
            // A directory could be swapped for a link in between. This branch is only for old kernels.
            Err(Errno::NOSYS | Errno::PERM) => {
                Ok(sys::open(target, flags | OFlags::NOFOLLOW, Mode::empty())?)
            }
            other => Ok(other?),
        }
    }

    /// Opens a directory below the root, creating it and its parents if they are missing. Also returns whether the directory was
    /// created.
    pub(super) fn make_directory(&self, path: &str) -> Result<(OwnedFd, bool), Fault> {
        match self.open(path, DIRECTORY) {
            Err(Fault::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(fault) if fault.is_missing() => return Err(self.value_above(path)),
            other => return Ok((other?, false)),
        }
        if path.is_empty() {
            create_directories(&self.path, self.sync)?;
            return Ok((self.open(path, DIRECTORY)?, false));
        }
        let (parent, name) = split(path);
        let (directory, _) = self.make_directory(parent)?;
        let made = match sys::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        if made {
            self.flush(directory.as_fd())?;
        }
        Ok((self.open(path, DIRECTORY)?, made))
    }

    /// Returns the failure that names the part of the path at which a value is in place of a directory.
    fn value_above(&self, path: &str) -> Fault {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let mut parents = ends.map(|end| &path[..end]);
        match parents.find(|parent| self.path.join(parent).is_file()) {
            Some(value) => Fault::Obstructed(format!("'{value}' is a file, where a directory is needed,")),
            None => Errno::NOTDIR.into(),
        }
    }

    /// Removes a directory and the directories above it, up to the root, as long as they are empty.
    pub(super) fn prune(&self, path: &str) {
        let mut path = path;
        while !path.is_empty() {
            let (parent, name) = split(path);
            let Ok(directory) = self.open(parent, DIRECTORY) else { return };
            // The reason why a directory stays does not matter: it may contain a new value, or be a mount point, or permissions
            // may be missing.
            if sys::unlinkat(&directory, name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
            path = parent;
        }
    }

    /// Returns true if a failed write is only reported when the file is closed or flushed, as on network file systems.
    pub(super) fn tells_errors_late(&self, directory: BorrowedFd<'_>) -> bool {
        *self.late.get_or_init(|| is_served(directory))
    }
}

/// Returns true if the file system is a network file system.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_served(directory: BorrowedFd<'_>) -> bool {
    // The magic numbers are those of statfs(2): 9P, AFS, Ceph, CIFS, FUSE, Lustre, NFS, SMB and SMB 2.
    const SERVED: [u64; 9] = [
        0x0102_1997,
        0x5346_414f,
        0x00c3_6400,
        0xff53_4d42,
        0x6573_5546,
        0x0bd0_0bd0,
        0x6969,
        0x517b,
        0xfe53_4d42,
    ];
    sys::fstatfs(directory)
        .is_ok_and(|system| SERVED.iter().any(|kind| u64::try_from(system.f_type) == Ok(*kind)))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_served(_directory: BorrowedFd<'_>) -> bool {
    false
}

/// A recursive walk over all files below a directory.
struct Walk<'a> {
    root: &'a Root,
    /// The directories that are being visited. Following a link to one of them would cause an infinite loop.
    above: Vec<Identity>,
    visit: &'a mut dyn FnMut(Key, u64) -> ControlFlow<()>,
}

impl Walk<'_> {
    fn directory(&mut self, mut directory: Dir, prefix: &Prefix) -> Result<ControlFlow<()>, Fault> {
        let at = |fault| Fault::At(prefix.as_str().to_owned(), Box::new(fault));
        let identity = identity(directory.fd().map_err(|error| at(error.into()))?).map_err(at)?;
        if self.above.contains(&identity) {
            return Ok(ControlFlow::Continue(()));
        }
        self.above.push(identity);
        while let Some(found) = directory.read() {
            let found = found.map_err(|error| at(error.into()))?;
            let Some(name) = key_name(&found) else { continue };
            let parent = directory.fd().map_err(|error| at(error.into()))?;
            if self.entry(parent, found.file_type(), prefix, name)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.above.pop();
        Ok(ControlFlow::Continue(()))
    }

    fn entry(
        &mut self,
        parent: BorrowedFd<'_>,
        kind: FileType,
        prefix: &Prefix,
        name: &str,
    ) -> Result<ControlFlow<()>, Fault> {
        let goes_on = Ok(ControlFlow::Continue(()));
        let at = |fault| Fault::At(format!("{prefix}{name}"), Box::new(fault));
        if kind == FileType::Directory {
            return self.child(parent, prefix, name).unwrap_or(goes_on);
        }
        match stat_target(parent, name).map_err(at)? {
            Target::Directory => self.child(parent, prefix, name).unwrap_or(goes_on),
            Target::File(size) => match prefix.key(name) {
                Ok(key) => Ok((self.visit)(key, size)),
                Err(_) => goes_on,
            },
            Target::Gone => goes_on,
        }
    }

    /// Opens a subdirectory. Returns `None` if it was removed, or if its name is not valid in a key.
    fn child(
        &mut self,
        parent: BorrowedFd<'_>,
        prefix: &Prefix,
        name: &str,
    ) -> Option<Result<ControlFlow<()>, Fault>> {
        let child = prefix.child(name).ok()?;
        let opened = match sys::openat(parent, name, LISTING | OFlags::NOFOLLOW, Mode::empty()) {
            // The name is a link, so the rules for links apply.
            Err(Errno::LOOP | Errno::NOTDIR) => self.root.open(child.segments(), LISTING),
            other => other.map_err(Fault::from),
        };
        match opened.and_then(|fd| Ok(Dir::new(fd)?)) {
            Ok(directory) => Some(self.directory(directory, &child)),
            Err(fault) if fault.is_missing() => None,
            Err(fault) => Some(Err(Fault::At(child.as_str().to_owned(), Box::new(fault)))),
        }
    }
}

/// The file or directory with a name, after following links.
enum Target {
    /// A file, with its size; or an entry that cannot be read, such as a pipe or a dangling link.
    File(u64),
    Directory,
    /// The entry was removed in the meantime.
    Gone,
}

fn stat_target(directory: BorrowedFd<'_>, name: &str) -> Result<Target, Fault> {
    let stat = match sys::statat(directory, name, AtFlags::empty()) {
        // A dangling link is an unreachable value. A listing that omitted it would be mistaken for a complete listing.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
            let is_gone = matches!(entry(directory, name)?, Entry::Missing);
            return Ok(if is_gone { Target::Gone } else { Target::File(0) });
        }
        // A link that may not be followed must not hide its siblings. Opening it reports the error.
        Err(Errno::ACCESS) => return Ok(Target::File(0)),
        other => other?,
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Target::File(length(&stat)),
        FileType::Directory => Target::Directory,
        _ => Target::File(0),
    })
}

fn length(stat: &sys::Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(super) fn leads_to_directory(directory: BorrowedFd<'_>, name: &str) -> bool {
    matches!(stat_target(directory, name), Ok(Target::Directory))
}

/// Returns the type of a directory entry. Links are not followed.
pub(super) fn entry(directory: BorrowedFd<'_>, name: &str) -> Result<Entry, Fault> {
    let stat = match sys::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Entry::Missing),
        other => other?,
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Entry::File(Mode::from_raw_mode(stat.st_mode)),
        FileType::Directory => Entry::Directory,
        FileType::Symlink => Entry::Link,
        kind => Entry::Odd(kind),
    })
}

/// Removes a directory and its content. Links in it are removed, not followed.
fn remove_tree<N: Arg + Copy>(parent: BorrowedFd<'_>, name: N) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        let opened = sys::openat(parent, name, LISTING | OFlags::NOFOLLOW, Mode::empty());
        let Some(directory) = unless_missing(opened)? else { return Ok(()) };
        remove_content(directory.as_fd())?;
        match sys::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            // Another process wrote to the directory in the meantime, or the listing was incomplete because of the removals.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            other => return unless_missing(other).map(drop),
        }
    }
    Err(Errno::NOTEMPTY.into())
}

/// Removes the content of a directory. Returns true if the directory had any content.
fn remove_content(directory: BorrowedFd<'_>) -> Result<bool, Fault> {
    let mut any = false;
    for found in Dir::read_from(directory)? {
        let found = found?;
        let name = found.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        any = true;
        match found.file_type() {
            FileType::Directory => remove_tree(directory, name)?,
            kind => match sys::unlinkat(directory, name, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) if kind == FileType::Unknown => remove_tree(directory, name)?,
                other => unless_missing(other).map(drop)?,
            },
        }
    }
    Ok(any)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    sys::openat2(CWD, path, flags, Mode::empty(), sys::ResolveFlags::NO_SYMLINKS)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_without_links(_path: &Path, _flags: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Reads `length` bytes into the spare capacity of the buffer, which need not be zeroed first.
pub(crate) fn append_at(file: &File, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()> {
    while buffer.len() < length {
        let position = offset + buffer.len() as u64;
        match rustix::io::pread(file, spare_capacity(buffer), position) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The capacity may be larger than requested.
    buffer.truncate(length);
    Ok(())
}

pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Retries an operation if a directory that it needs is removed concurrently.
pub(super) fn again_when_missing(mut operation: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        match operation() {
            Err(Fault::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    Err(Fault::Obstructed(
        "a directory of the path is removed again and again, or is a dangling link,".into(),
    ))
}

pub(super) fn unless_missing<T>(result: Result<T, Errno>) -> Result<Option<T>, Fault> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        other => Ok(Some(other?)),
    }
}

fn explain_rename(fault: Fault) -> Fault {
    let Fault::Io(error) = &fault else { return fault };
    match Errno::from_io_error(error) {
        Some(Errno::NOTEMPTY | Errno::EXIST) => Fault::Exists,
        Some(Errno::XDEV) => Fault::OtherDevice,
        Some(Errno::NOTDIR) => Fault::Obstructed("the destination is a file or a link".into()),
        _ => fault,
    }
}

fn identity(directory: BorrowedFd<'_>) -> Result<Identity, Fault> {
    let metadata = File::from(directory.try_clone_to_owned()?).metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Returns the name of a directory entry if it is valid in a key.
fn key_name(found: &DirEntry) -> Option<&str> {
    let name = found.file_name().to_str().ok()?;
    (!matches!(name, "." | "..") && !is_temporary(name)).then_some(name)
}

pub(super) fn not_a_file(what: &str) -> Fault {
    Fault::Obstructed(format!("{what} is not a value: a value is a regular file,"))
}

pub(super) fn odd(kind: FileType) -> Fault {
    not_a_file(match kind {
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    })
}

/// Splits a path into its directory and its file name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::new(fs::canonicalize(directory.path()).unwrap());
        fs::create_dir(root.path.join("a")).unwrap();
        fs::write(root.path.join("a/b"), b"value").unwrap();
        (directory, root)
    }

    /// Tests the fallback for kernels that cannot check for links while opening a file.
    #[test]
    fn opening_with_the_links_resolved_first() {
        let (_directory, root) = root();
        symlink("a", root.path.join("inside")).unwrap();
        symlink("/etc/passwd", root.path.join("outside")).unwrap();
        let open = |name| root.open_through_links(&root.path.join(name), READ);
        assert!(open("a/b").is_ok());
        assert!(open("inside/b").is_ok());
        assert!(open("missing").unwrap_err().is_missing());
        assert!(open("a/b/c").unwrap_err().is_missing());
        assert!(matches!(open("outside"), Err(Fault::Escapes)));
    }
}
