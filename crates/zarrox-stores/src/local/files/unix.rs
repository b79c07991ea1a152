//! The files below a root, on Unix.
//!
//! Keys are never simply joined to a path. First the directory is opened, following the rules for links, and then files are named
//! relative to the open directory. So no other process can swap a directory for a link between a check and a write.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{self as sys, AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use super::common::{
    ATTEMPTS, Entry, Facts, Identity, Kind, Opening, SETTLED, Target, Tree, not_a_file, stamp_of,
    unless_missing,
};
use crate::local::fault::Fault;
use crate::{Hold, Stamp, Version};

/// The flags for reading a file. Opening a pipe must not block, and a terminal must not become the controlling terminal.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The flags for opening a directory relative to which files are named. They require no read permission.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIRECTORY: OFlags = LISTING;

/// The flags for opening any file to examine it. They require no read permission.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LOOK: OFlags = READ;

/// The flags for opening a directory to list it.
const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Returns the version of a file's content: the file's identity, its length and the time of its last change. Returns `None` if
/// the file was changed so recently that another change might have the same timestamp.
pub(crate) fn version(file: &File) -> Option<Version> {
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
    stamp_of(version, changed)
}

/// Returns the properties of an open file.
pub(crate) fn facts(file: impl AsFd) -> io::Result<Facts> {
    let stat = sys::fstat(file)?;
    Ok(Facts {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        size: length(&stat),
        identity: identity_of(&stat),
        permissions: Permissions::from_mode(stat.st_mode),
    })
}

/// Returns the identity of an open file.
pub fn identity(file: &File) -> io::Result<Identity> {
    Ok(identity_of(&sys::fstat(file)?))
}

fn identity_of(stat: &sys::Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

fn length(stat: &sys::Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn kind(of_file: FileType) -> Kind {
    match of_file {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink | FileType::Unknown => Kind::Other,
        FileType::Fifo => Kind::Odd("a pipe"),
        FileType::Socket => Kind::Odd("a socket"),
        _ => Kind::Odd("a device"),
    }
}

/// Returns the identity of the file to which a path leads, if any.
fn identity_at(directory: BorrowedFd<'_>, path: impl Arg) -> Result<Option<Identity>, Fault> {
    match sys::statat(directory, path, AtFlags::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        stat => Ok(Some(identity_of(&stat?))),
    }
}

impl Tree<'_> {
    /// Checks whether this system can store a path. Every valid key is a path on Unix.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "other systems refuse some names")]
    pub(crate) fn check(&self, _path: &str) -> Result<(), Fault> {
        Ok(())
    }

    /// Opens a file for reading.
    pub(crate) fn open_file(&self, path: &str) -> Result<File, Fault> {
        match self.open(path, READ) {
            // The error for opening a socket.
            Err(Fault::Io(error)) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                Err(not_a_file("a socket or a device"))
            }
            opened => opened.map(File::from),
        }
    }

    /// Returns the properties of a file, which need not be readable.
    pub(crate) fn examine(&self, path: &str) -> Result<Facts, Fault> {
        Ok(facts(self.open(path, LOOK)?)?)
    }

    /// Opens a directory relative to which files are named.
    pub(crate) fn open_directory(&self, path: &str) -> Result<Directory, Fault> {
        self.open(path, DIRECTORY).map(Directory)
    }

    /// Opens a directory to list it.
    pub(crate) fn open_listing(&self, path: &str) -> Result<Listing, Fault> {
        Ok(Listing(Dir::new(self.open(path, LISTING)?)?))
    }

    /// Opens a directory to hold its node.
    pub(crate) fn open_hold(&self, path: &str) -> Result<HoldFile, Fault> {
        self.open(path, LISTING).map(|fd| HoldFile(fd.into()))
    }

    /// Returns what is locked to lock an open file: the file itself, which may stay open.
    #[expect(clippy::unused_self, reason = "other systems lock a file beside it")]
    pub(crate) fn lockable(
        &self,
        _path: &str,
        file: File,
        _identity: Identity,
    ) -> (Lockable, Option<Arc<File>>) {
        let file = Arc::new(file);
        (Lockable(Arc::clone(&file)), Some(file))
    }

    /// Returns the identity of the file to which a path leads, if any. All links are followed, since nothing is read.
    pub(crate) fn identity(&self, path: &str) -> Result<Option<Identity>, Fault> {
        identity_at(CWD, self.path.join(path))
    }

    /// Returns the stamp of a value, using a single system call. All links are followed, since nothing is read.
    pub(crate) fn stamp(&self, path: &str) -> Result<Stamp, Fault> {
        match sys::statat(CWD, self.path.join(path), AtFlags::empty()) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => Ok(stamp(&stat)),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Stamp::Missing),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a path below the root, following the rules for links.
    ///
    /// If the path has no links, this takes a single system call, which also checks for links and whether the file exists.
    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Fault> {
        let path = if path.is_empty() { self.path.to_owned() } else { self.path.join(path) };
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

    #[cold]
    fn dangling(&self, path: &Path) -> Option<Fault> {
        if matches!(open_without_links(path, LOOK), Err(Errno::NOENT)) {
            return None;
        }
        self.dangling_on(path)
    }

    fn open_through_links(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Fault> {
        let target = fs::canonicalize(path)?;
        if !target.starts_with(fs::canonicalize(self.path)?) {
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
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    sys::openat2(CWD, path, flags, Mode::empty(), sys::ResolveFlags::NO_SYMLINKS)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_without_links(_path: &Path, _flags: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// An open directory.
pub(crate) struct Directory(OwnedFd);

impl Directory {
    /// Opens a directory by its path, to list it.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self(File::open(path)?.into()))
    }

    pub(crate) fn get(&self) -> DirectoryRef<'_> {
        DirectoryRef(self.0.as_fd())
    }
}

/// A borrowed open directory, relative to which files are named.
#[derive(Clone, Copy)]
pub(crate) struct DirectoryRef<'a>(BorrowedFd<'a>);

impl DirectoryRef<'_> {
    pub(crate) fn listing(self) -> Result<Listing, Fault> {
        Ok(Listing(Dir::new(sys::openat(self.0, c".", LISTING, Mode::empty())?)?))
    }

    /// Opens a directory in this directory to list it. Returns `None` if the name is a link or a file.
    pub(crate) fn child(self, name: &str) -> Result<Option<Listing>, Fault> {
        match sys::openat(self.0, name, LISTING | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::LOOP | Errno::NOTDIR) => Ok(None),
            other => Ok(Some(Listing(Dir::new(other?)?))),
        }
    }

    pub(crate) fn identity(self) -> io::Result<Identity> {
        Ok(identity_of(&sys::fstat(self.0)?))
    }

    /// Returns the identity of the file to which a name leads, if any. Links are followed.
    pub(crate) fn identity_at(self, name: &str) -> Result<Option<Identity>, Fault> {
        identity_at(self.0, name)
    }

    pub(crate) fn entry(self, name: &str) -> Result<Entry, Fault> {
        let stat = match sys::statat(self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(Entry::Missing),
            other => other?,
        };
        Ok(match kind(FileType::from_raw_mode(stat.st_mode)) {
            Kind::File => Entry::File(Permissions::from_mode(stat.st_mode)),
            Kind::Directory => Entry::Directory,
            Kind::Other => Entry::Link,
            Kind::Odd(what) => Entry::Odd(what),
        })
    }

    pub(crate) fn target(self, name: &str) -> Result<Target, Fault> {
        let stat = match sys::statat(self.0, name, AtFlags::empty()) {
            // A dangling link is an unreachable value. A listing that omitted it would be mistaken for a complete listing.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                let is_gone = matches!(self.entry(name)?, Entry::Missing);
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

    /// Opens a file for reading. Links are not followed.
    pub(crate) fn open_entry(self, name: &str) -> Opening {
        match sys::openat(self.0, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => Opening::File(fd.into()),
            Err(Errno::NOENT) => Opening::Missing,
            Err(Errno::LOOP) => Opening::Link,
            Err(_) => Opening::Failed,
        }
    }

    /// Creates a directory. Returns false if the name exists.
    pub(crate) fn make(self, name: &str) -> Result<bool, Fault> {
        match sys::mkdirat(self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a file for writing, and locks it, with the permissions of the file that it will replace, if any. Returns `None` if
    /// the name exists, or if another process has already locked the file in order to remove it.
    pub(crate) fn create(self, name: &str, permissions: Option<&Permissions>) -> Result<Option<File>, Fault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(permissions.map_or(0o666, Permissions::mode));
        let file = match sys::openat(self.0, name, flags, mode) {
            Err(Errno::EXIST) => return Ok(None),
            other => File::from(other?),
        };
        if permissions.is_some() && has_other_permissions(&file, mode) {
            // File systems without permissions reject this call, but do not need it.
            let _ = sys::fchmod(&file, mode);
        }
        // A file system without locks is never swept.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Ok((!is_taken).then_some(file))
    }

    /// Opens a file that [`create`](Self::create) made, if its writer has ended, and locks it.
    pub(crate) fn open_abandoned(self, name: &str) -> Option<File> {
        let file = File::from(sys::openat(self.0, name, READ | OFlags::NOFOLLOW, Mode::empty()).ok()?);
        file.try_lock().ok()?;
        // The temporary file may have become the file of a value in the meantime. In this case, the lock is that of the value.
        let stat = sys::statat(self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (identity(&file).ok()? == identity_of(&stat)).then_some(file)
    }

    /// Renames a file in this directory, replacing an existing file.
    pub(crate) fn replace(self, from: &str, to: &str) -> Result<(), Fault> {
        Ok(sys::renameat(self.0, from, self.0, to)?)
    }

    /// Renames a file in this directory, without replacing an existing file. Returns false if this is not supported.
    pub(crate) fn rename_new(self, from: &str, to: &str) -> Result<bool, Fault> {
        match rename_new(self.0, from, to) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Err(Fault::Exists),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file a second name, which must not exist.
    pub(crate) fn link(self, from: &str, to: &str) -> Result<(), Fault> {
        match sys::linkat(self.0, from, self.0, to, AtFlags::empty()) {
            Err(Errno::EXIST) => Err(Fault::Exists),
            Err(Errno::PERM) => Err(Errno::NOTSUP.into()),
            other => Ok(other?),
        }
    }

    /// Renames a directory.
    pub(crate) fn rename_directory(
        self,
        from: &str,
        target: DirectoryRef<'_>,
        to: &str,
    ) -> Result<(), Fault> {
        let renamed = sys::renameat(self.0, from, target.0, to);
        renamed.map_err(|error| match error {
            Errno::NOTEMPTY | Errno::EXIST => Fault::Exists,
            Errno::XDEV => Fault::OtherDevice,
            Errno::NOTDIR => Fault::Obstructed("the destination is a file or a link".into()),
            error => error.into(),
        })
    }

    /// Exchanges two directories.
    pub(crate) fn exchange(self, one: &str, target: DirectoryRef<'_>, other: &str) -> Result<(), Fault> {
        match rename_exchange(self.0, one, target.0, other) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::XDEV) => Err(Fault::NoExchange),
            done => Ok(done?),
        }
    }

    /// Removes a file. Returns false if it does not exist.
    pub(crate) fn unlink(self, name: &str) -> Result<bool, Fault> {
        Ok(unless_missing(sys::unlinkat(self.0, name, AtFlags::empty()))?.is_some())
    }

    /// Removes a link to a directory, if it exists.
    pub(crate) fn unlink_directory(self, name: &str) -> Result<(), Fault> {
        self.unlink(name).map(drop)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_empty(self, name: &str) -> Result<(), Fault> {
        Ok(sys::unlinkat(self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a directory and its content. Links in it are removed, not followed.
    pub(crate) fn remove_tree(self, name: &str) -> Result<(), Fault> {
        remove_tree(self.0, name)
    }

    /// Removes the content of this directory. Returns true if the directory had any content.
    pub(crate) fn remove_content(self) -> Result<bool, Fault> {
        remove_listed(Dir::read_from(self.0)?)
    }

    /// Returns what is locked to lock a file that [`create`](Self::create) made in this directory. On Unix, the file is locked.
    pub(crate) fn lock_created(self, file: &Arc<File>, _identity: Identity) -> Result<FileLock, Fault> {
        Ok(FileLock(Arc::clone(file)))
    }

    /// Flushes the entries of this directory.
    pub(crate) fn sync(self) -> Result<(), Fault> {
        Ok(sys::fsync(sys::openat(self.0, c".", LISTING, Mode::empty())?)?)
    }

    /// Returns true if the file system is a network file system.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn is_served(self) -> bool {
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
        sys::fstatfs(self.0)
            .is_ok_and(|system| SERVED.iter().any(|kind| u64::try_from(system.f_type) == Ok(*kind)))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn is_served(self) -> bool {
        false
    }
}

/// An open directory that is being listed.
pub(crate) struct Listing(Dir);

impl Listing {
    pub(crate) fn next(&mut self) -> Option<io::Result<Found>> {
        self.0.read().map(|found| Ok(Found(found?)))
    }

    pub(crate) fn directory(&self) -> Result<DirectoryRef<'_>, Fault> {
        Ok(DirectoryRef(self.0.fd()?))
    }
}

/// An entry in the listing of a directory.
pub(crate) struct Found(DirEntry);

impl Found {
    /// Returns the name; `None` for the directory itself and its parent, and for a name that is not UTF-8.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.file_name().to_str().ok().filter(|name| !matches!(*name, "." | ".."))
    }

    pub(crate) fn kind(&self) -> Kind {
        kind(self.0.file_type())
    }
}

/// Removes a directory and its content. Links in it are removed, not followed.
fn remove_tree<N: Arg + Copy>(parent: BorrowedFd<'_>, name: N) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        let opened = sys::openat(parent, name, LISTING | OFlags::NOFOLLOW, Mode::empty());
        let Some(directory) = unless_missing(opened)? else { return Ok(()) };
        remove_listed(Dir::new(directory)?)?;
        match sys::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            // Another process wrote to the directory in the meantime, or the listing was incomplete because of the removals.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            other => return unless_missing(other).map(drop),
        }
    }
    Err(Errno::NOTEMPTY.into())
}

/// Removes the content of an open directory. Returns true if the directory had any content.
fn remove_listed(mut listing: Dir) -> Result<bool, Fault> {
    let mut any = false;
    while let Some(found) = listing.read() {
        let found = found?;
        let directory = listing.fd()?;
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

/// Returns true if the permissions of a new file differ from the requested ones. They rarely do, and setting them would cost more
/// than this check.
fn has_other_permissions(file: &File, wanted: Mode) -> bool {
    sys::fstat(file).map_or(true, |stat| Mode::from_raw_mode(stat.st_mode) != wanted)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_new(directory: BorrowedFd<'_>, from: &str, to: &str) -> Result<(), Errno> {
    sys::renameat_with(directory, from, directory, to, sys::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_new(_directory: BorrowedFd<'_>, _from: &str, _to: &str) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exchange(
    one_parent: BorrowedFd<'_>,
    one: &str,
    other_parent: BorrowedFd<'_>,
    other: &str,
) -> Result<(), Errno> {
    sys::renameat_with(one_parent, one, other_parent, other, sys::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exchange(_: BorrowedFd<'_>, _: &str, _: BorrowedFd<'_>, _: &str) -> Result<(), Errno> {
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

/// What is locked to lock a file: the file itself (`flock`).
pub(crate) struct Lockable(Arc<File>);

impl Lockable {
    pub(crate) fn try_lock(&self) -> Result<FileLock, TryLockError> {
        self.0.try_lock().map(|()| FileLock(Arc::clone(&self.0)))
    }
}

/// The lock of a file. The kernel releases it when the file is closed.
pub struct FileLock(#[expect(dead_code, reason = "it keeps the file open")] Arc<File>);

impl From<File> for FileLock {
    /// The lock of a file that the caller has locked.
    fn from(locked: File) -> Self {
        Self(Arc::new(locked))
    }
}

/// An open directory, which is locked to hold its node.
pub(crate) struct HoldFile(File);

impl HoldFile {
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        identity(&self.0)
    }

    pub(crate) fn try_lock(&self, how: Hold) -> Result<(), TryLockError> {
        match how {
            Hold::Shared => self.0.try_lock_shared(),
            Hold::Exclusive => self.0.try_lock(),
        }
    }

    /// Releases the lock. Closing is not enough: a copy of the open directory in another process would keep the lock.
    pub(crate) fn unlock(&self) {
        let _ = self.0.unlock();
    }
}

/// The lock of a file against other writers: the open file has it.
#[cfg(feature = "zip")]
pub(crate) struct WriterLock;

/// Tries to lock an open file against other writers. Readers are not affected.
#[cfg(feature = "zip")]
pub(crate) fn try_lock_writer(file: &File, _path: &Path) -> Result<WriterLock, TryLockError> {
    file.try_lock().map(|()| WriterLock)
}

/// Returns true if the error shows that the file system does not support locks.
pub fn is_unsupported(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Tests the fallback for kernels that cannot check for links while opening a file.
    #[test]
    fn opening_with_the_links_resolved_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir(path.join("a")).unwrap();
        fs::write(path.join("a/b"), b"value").unwrap();
        symlink("a", path.join("inside")).unwrap();
        symlink("/etc/passwd", path.join("outside")).unwrap();
        let tree = Tree { path: &path, follow_links: false };
        let open = |name| tree.open_through_links(&path.join(name), READ);
        assert!(open("a/b").is_ok());
        assert!(open("inside/b").is_ok());
        assert!(open("missing").unwrap_err().is_missing());
        assert!(open("a/b/c").unwrap_err().is_missing());
        assert!(matches!(open("outside"), Err(Fault::Escapes)));
    }
}
