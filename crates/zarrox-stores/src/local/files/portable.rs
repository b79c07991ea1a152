//! The files below a root, by paths and the standard library: for Windows.
//!
//! A path is resolved and checked before it is used. In contrast to Unix, another process that can replace a directory by a link
//! between the check and the use can therefore lead this process out of the root.
//!
//! The lock of a file is a [`LockFile`] beside it, which is named after the identity of the file: Windows refuses to replace open
//! files on some file systems, so that a locked file must be closed. Holds are lock files in the directory for temporary files of
//! the user, since Windows does not rename a directory that contains an open file.

use std::fs::{self, File, FileType, OpenOptions, Permissions, ReadDir, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::common::{
    ATTEMPTS, Entry, Facts, Identity, Kind, Opening, SETTLED, Target, Tree, not_a_file, stamp_of,
    unless_missing,
};
#[cfg(windows)]
use super::identity::BACKUP_SEMANTICS;
pub use super::identity::identity;
use super::identity::identity_of;
use super::lock_file::LockFile;
use super::names::{canonicalize, in_other_case, refusal};
use super::positioned::read_exact_at;
use crate::local::fault::Fault;
use crate::local::file_lock::{MOMENT, retry_for};
use crate::sync::{Mutex, unpoisoned};
use crate::temporary::lock_name;
use crate::{Hold, Stamp, Version};

/// The time during which a change is retried while another program has opened the file.
const BUSY: Duration = Duration::from_secs(10);
/// The time during which a change is retried that Windows denies: it denies changes to files that are being removed, or that are
/// open and have to be replaced, by the same error as changes without permission.
const DENIED: Duration = Duration::from_secs(1);

/// Checks whether this system can store a path.
fn check_path(path: &str) -> Result<(), Fault> {
    match refusal(path) {
        Some(reason) if cfg!(windows) => Err(Fault::Name(reason)),
        _ => Ok(()),
    }
}

/// Makes a change, and retries while another program has opened the file.
fn patiently<T>(mut change: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    let is_busy = |error: &io::Error| {
        cfg!(windows) && matches!(error.raw_os_error(), Some(SHARING_VIOLATION | LOCK_VIOLATION))
    };
    let is_denied = |error: &io::Error| cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied;
    retry_for(DENIED, || retry_for(BUSY, &mut change, is_busy), is_denied)
}

/// Returns true if a path is too long to be resolved.
fn is_too_long(error: &io::Error) -> bool {
    const MORE_DATA: i32 = 234;
    cfg!(windows) && error.raw_os_error() == Some(MORE_DATA)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn kind(of_file: FileType) -> Kind {
    if of_file.is_file() {
        return Kind::File;
    }
    match of_file.is_dir() {
        true => Kind::Directory,
        false => odd(of_file),
    }
}

#[cfg(unix)]
fn odd(of_file: FileType) -> Kind {
    use std::os::unix::fs::FileTypeExt;

    match of_file {
        kind if kind.is_symlink() => Kind::Other,
        kind if kind.is_fifo() => Kind::Odd("a pipe"),
        kind if kind.is_socket() => Kind::Odd("a socket"),
        _ => Kind::Odd("a device"),
    }
}

#[cfg(not(unix))]
fn odd(_: FileType) -> Kind {
    Kind::Other
}

/// Returns options for opening a file for reading. On Windows, they open directories as well.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, BACKUP_SEMANTICS);
    options
}

/// Returns the identity of the file to which a path leads, if any.
fn identity_at(path: &Path) -> Result<Option<Identity>, Fault> {
    match patiently(|| identity_of(path)) {
        Ok(identity) => Ok(Some(identity)),
        Err(error) if is_missing(&error) || path.is_symlink() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the properties of an open file.
pub(crate) fn facts(file: &File) -> io::Result<Facts> {
    Ok(facts_of(&file.metadata()?, identity(file)?))
}

fn facts_of(metadata: &fs::Metadata, identity: Identity) -> Facts {
    Facts {
        kind: kind(metadata.file_type()),
        size: metadata.len(),
        identity,
        permissions: metadata.permissions(),
    }
}

/// Returns the version of a file's content, and the time of its last change. The version consists of the file's identity, its
/// length, and the time of its last change.
fn version_and_time(file: &File) -> io::Result<(Version, SystemTime)> {
    let metadata = file.metadata()?;
    let (volume, index) = identity(file)?;
    let modified = metadata.modified()?;
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let facts = [volume, index, metadata.len(), since.as_secs(), u64::from(since.subsec_nanos())];
    Ok((Version::from(facts.map(u64::to_ne_bytes).as_flattened()), modified))
}

/// Returns the version of a file's content. Returns `None` if the file was changed so recently that another change might have the
/// same timestamp.
pub(crate) fn version(file: &File) -> Option<Version> {
    let (version, modified) = version_and_time(file).ok()?;
    (SystemTime::now().duration_since(modified).ok()? >= SETTLED).then_some(version)
}

impl Tree<'_> {
    /// Checks whether this system can store a path, and whether an existing name differs from it only in case.
    pub(crate) fn check(&self, path: &str) -> Result<(), Fault> {
        check_path(path)?;
        match self.resolve(path) {
            Err(fault @ Fault::OtherCase(_)) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Opens a file for reading.
    pub(crate) fn open_file(&self, path: &str) -> Result<File, Fault> {
        let path = self.resolve(path)?;
        // Opening a pipe would block.
        if let Kind::Odd(what) = kind(fs::metadata(&path)?.file_type()) {
            return Err(not_a_file(what));
        }
        Ok(reading().open(path)?)
    }

    /// Returns the properties of a file, which need not be readable.
    pub(crate) fn examine(&self, path: &str) -> Result<Facts, Fault> {
        let path = self.resolve(path)?;
        Ok(facts_of(&fs::metadata(&path)?, identity_of(&path)?))
    }

    /// Opens a directory relative to which files are named.
    pub(crate) fn open_directory(&self, path: &str) -> Result<Directory, Fault> {
        let path = self.resolve(path)?;
        match fs::metadata(&path)?.is_dir() {
            true => Ok(Directory(path)),
            false => Err(io::Error::from(io::ErrorKind::NotADirectory).into()),
        }
    }

    /// Opens a directory to list it.
    pub(crate) fn open_listing(&self, path: &str) -> Result<Listing, Fault> {
        self.open_directory(path)?.get().listing()
    }

    /// Opens a directory to hold its node.
    pub(crate) fn open_hold(&self, path: &str) -> Result<HoldFile, Fault> {
        let identity = identity_of(&self.open_directory(path)?.0)?;
        let directory = std::env::temp_dir().join("zarrox-locks");
        fs::create_dir_all(&directory)?;
        let lock = directory.join(lock_name(identity));
        Ok(HoldFile { identity, lock, held: Mutex::new(None) })
    }

    /// Returns what is locked to lock an open file: a lock file beside it. On Windows, the file is closed.
    pub(crate) fn lockable(
        &self,
        path: &str,
        file: File,
        identity: Identity,
    ) -> (Lockable, Option<Arc<File>>) {
        let file = cfg!(unix).then(|| Arc::new(file));
        let path = self.whole(path);
        // If the file is gone, any lock will do, since the path will lead to another file under the lock.
        let path = canonicalize(&path).unwrap_or(path);
        (Lockable { lock: path.with_file_name(lock_name(identity)), file }, None)
    }

    /// Returns the identity of the file to which a path leads, if any. All links are followed, since nothing is read.
    pub(crate) fn identity(&self, path: &str) -> Result<Option<Identity>, Fault> {
        identity_at(&self.whole(path))
    }

    /// Returns the stamp of a value. All links are followed, since nothing is read.
    pub(crate) fn stamp(&self, path: &str) -> Result<Stamp, Fault> {
        let whole = self.whole(path);
        let found = check_path(path).and_then(|()| Ok(fs::metadata(&whole)?));
        let file = match found
            .and_then(|found| if found.is_file() { Ok(Some(reading().open(&whole)?)) } else { Ok(None) })
        {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Stamp::Missing),
            Err(fault) if fault.is_missing() || whole.is_symlink() => return Ok(Stamp::Missing),
            Err(fault) => return Err(fault),
        };
        let (version, modified) = version_and_time(&file)?;
        Ok(stamp_of(version, Some(modified)))
    }

    fn whole(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.path.to_owned() } else { self.path.join(path) }
    }

    /// Returns the path without links of an existing file, following the rules for links.
    fn resolve(&self, path: &str) -> Result<PathBuf, Fault> {
        check_path(path)?;
        let whole = self.whole(path);
        let real = match canonicalize(&whole) {
            // Wine does not resolve paths of more than 260 characters.
            Err(error) if is_too_long(&error) && !self.has_link(&whole) => whole.clone(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.dangling_on(&whole).unwrap_or(error.into()));
            }
            found => found?,
        };
        let is_inside =
            |real: &Path| Ok(real.starts_with(self.path) || real.starts_with(canonicalize(self.path)?));
        if !self.follow_links && !is_inside(&real).map_err(Fault::Io)? {
            return Err(Fault::Escapes);
        }
        if in_other_case(&whole, &real) && !self.has_link(&whole) {
            return Err(Fault::OtherCase(
                real.strip_prefix(self.path).unwrap_or(&real).display().to_string(),
            ));
        }
        Ok(real)
    }

    fn has_link(&self, path: &Path) -> bool {
        path.ancestors().take_while(|way| *way != self.path).any(Path::is_symlink)
    }
}

/// A directory: its path without links.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Opens a directory by its path, to list it.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        canonicalize(path).map(Self)
    }

    pub(crate) fn get(&self) -> DirectoryRef<'_> {
        DirectoryRef(&self.0)
    }
}

/// A borrowed directory, relative to which files are named.
#[derive(Clone, Copy)]
pub(crate) struct DirectoryRef<'a>(&'a Path);

impl DirectoryRef<'_> {
    pub(crate) fn listing(self) -> Result<Listing, Fault> {
        Ok(Listing { entries: fs::read_dir(self.0)?, path: self.0.to_owned() })
    }

    /// Opens a directory in this directory to list it. Returns `None` if the name is a link or a file.
    pub(crate) fn child(self, name: &str) -> Result<Option<Listing>, Fault> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path)?.is_dir() {
            true => DirectoryRef(&path).listing().map(Some),
            false => Ok(None),
        }
    }

    pub(crate) fn identity(self) -> io::Result<Identity> {
        identity_of(self.0)
    }

    /// Returns the identity of the file to which a name leads, if any. Links are followed.
    pub(crate) fn identity_at(self, name: &str) -> Result<Option<Identity>, Fault> {
        identity_at(&self.0.join(name))
    }

    pub(crate) fn entry(self, name: &str) -> Result<Entry, Fault> {
        let metadata = match fs::symlink_metadata(self.0.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::Missing),
            other => other?,
        };
        Ok(match kind(metadata.file_type()) {
            Kind::File => Entry::File(metadata.permissions()),
            Kind::Directory => Entry::Directory,
            Kind::Other => Entry::Link,
            Kind::Odd(what) => Entry::Odd(what),
        })
    }

    pub(crate) fn target(self, name: &str) -> Result<Target, Fault> {
        match fs::metadata(self.0.join(name)) {
            Ok(metadata) if metadata.is_dir() => Ok(Target::Directory),
            Ok(metadata) => Ok(Target::File(if metadata.is_file() { metadata.len() } else { 0 })),
            // A link that may not be followed must not hide its siblings. Opening it reports the error.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Target::File(0)),
            Err(error) => match self.entry(name)? {
                Entry::Missing => Ok(Target::Gone),
                // A dangling link is an unreachable value. A listing that omitted it would be mistaken for a complete listing.
                Entry::Link => Ok(Target::File(0)),
                _ => Err(error.into()),
            },
        }
    }

    /// Opens a file for reading. Links are not followed.
    pub(crate) fn open_entry(self, name: &str) -> Opening {
        let path = self.0.join(name);
        let found = fs::symlink_metadata(&path).map(|metadata| kind(metadata.file_type()));
        match found {
            Ok(Kind::File) => {}
            Ok(Kind::Other) => return Opening::Link,
            Ok(Kind::Directory | Kind::Odd(_)) => return Opening::Failed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Opening::Missing,
            Err(_) => return Opening::Failed,
        }
        match reading().open(path) {
            Ok(file) => Opening::File(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Opening::Missing,
            Err(_) => Opening::Failed,
        }
    }

    /// Creates a directory. Returns false if the name exists.
    pub(crate) fn make(self, name: &str) -> Result<bool, Fault> {
        match patiently(|| fs::create_dir(self.0.join(name))) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a file for writing, and locks it, with the permissions of the file that it will replace, if any. Returns `None` if
    /// the name exists, or if another process has already locked the file in order to remove it.
    pub(crate) fn create(self, name: &str, permissions: Option<&Permissions>) -> Result<Option<File>, Fault> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // The lock is that others cannot open the file for writing.
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1 | 4);
        let file = match options.open(self.0.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            other => other?,
        };
        if let Some(permissions) = permissions.filter(|_| cfg!(unix)) {
            // File systems without permissions reject this call, but do not need it.
            let _ = file.set_permissions(permissions.clone());
        }
        let is_taken = cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Ok((!is_taken).then_some(file))
    }

    /// Opens a file that [`create`](Self::create) made, if its writer has ended, and locks it.
    pub(crate) fn open_abandoned(self, name: &str) -> Option<File> {
        let path = self.0.join(name);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        if cfg!(windows) {
            return OpenOptions::new().write(true).open(path).ok();
        }
        let file = File::open(&path).ok()?;
        file.try_lock().ok()?;
        // The temporary file may have become the file of a value in the meantime. In this case, the lock is that of the value.
        (identity(&file).ok()? == identity_of(&path).ok()?).then_some(file)
    }

    /// Renames a file in this directory, replacing an existing file.
    pub(crate) fn replace(self, from: &str, to: &str) -> Result<(), Fault> {
        Ok(patiently(|| fs::rename(self.0.join(from), self.0.join(to)))?)
    }

    /// Renames a file in this directory, without replacing an existing file. Returns false, since the standard library cannot.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the interface is that on Unix")]
    pub(crate) fn rename_new(self, _from: &str, _to: &str) -> Result<bool, Fault> {
        Ok(false)
    }

    /// Gives a file a second name, which must not exist.
    pub(crate) fn link(self, from: &str, to: &str) -> Result<(), Fault> {
        match fs::hard_link(self.0.join(from), self.0.join(to)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Fault::Exists),
            Err(error) if is_missing(&error) => Err(error.into()),
            // FAT does not have hard links.
            Err(_) => self.rename_under_lock(from, to),
        }
    }

    /// Renames a file to a name that must not exist, under a lock that all programs take that use this function.
    fn rename_under_lock(self, from: &str, to: &str) -> Result<(), Fault> {
        let lock = Lockable { lock: self.0.join(lock_name(self.identity()?)), file: None };
        let _locked = retry_for(BUSY, || lock.try_lock(), |error| matches!(error, TryLockError::WouldBlock))
            .map_err(io::Error::from)?;
        match self.entry(to)? {
            Entry::Missing => self.replace(from, to),
            _ => Err(Fault::Exists),
        }
    }

    /// Renames a directory.
    pub(crate) fn rename_directory(
        self,
        from: &str,
        target: DirectoryRef<'_>,
        to: &str,
    ) -> Result<(), Fault> {
        // Unix replaces an empty directory, and Windows none.
        match target.entry(to)? {
            Entry::Missing => {}
            Entry::Directory => fs::remove_dir(target.0.join(to)).map_err(explained)?,
            _ => return Err(Fault::Obstructed("the destination is a file or a link".into())),
        }
        patiently(|| fs::rename(self.0.join(from), target.0.join(to))).map_err(explained)
    }

    /// Exchanges two directories, which the standard library cannot.
    #[expect(clippy::unused_self, reason = "the interface is that on Unix")]
    pub(crate) fn exchange(self, _: &str, _: DirectoryRef<'_>, _: &str) -> Result<(), Fault> {
        Err(Fault::NoExchange)
    }

    /// Removes a file. Returns false if it does not exist.
    pub(crate) fn unlink(self, name: &str) -> Result<bool, Fault> {
        Ok(unless_missing(patiently(|| fs::remove_file(self.0.join(name))))?.is_some())
    }

    /// Removes a link to a directory, if it exists.
    pub(crate) fn unlink_directory(self, name: &str) -> Result<(), Fault> {
        let path = self.0.join(name);
        let removed =
            patiently(|| if cfg!(windows) { fs::remove_dir(&path) } else { fs::remove_file(&path) });
        unless_missing(removed).map(drop)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_empty(self, name: &str) -> Result<(), Fault> {
        Ok(fs::remove_dir(self.0.join(name))?)
    }

    /// Removes a directory and its content. Links in it are removed, not followed.
    pub(crate) fn remove_tree(self, name: &str) -> Result<(), Fault> {
        let path = self.0.join(name);
        for _ in 0..ATTEMPTS {
            match patiently(|| fs::remove_dir_all(&path)) {
                // Another process wrote to the directory in the meantime.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) if is_missing(&error) && path.exists() => {}
                removed => return unless_missing(removed).map(drop),
            }
        }
        Err(io::Error::from(io::ErrorKind::DirectoryNotEmpty).into())
    }

    /// Removes the content of this directory. Returns true if the directory had any content.
    pub(crate) fn remove_content(self) -> Result<bool, Fault> {
        let mut any = false;
        for found in fs::read_dir(self.0)? {
            any = true;
            let path = found?.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let removed = match metadata.is_dir() {
                true => patiently(|| fs::remove_dir_all(&path)),
                false => patiently(|| fs::remove_file(&path)),
            };
            match removed {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                // On Windows, a link to a directory is a directory.
                Err(_) if metadata.is_symlink() && cfg!(windows) => fs::remove_dir(&path)?,
                other => unless_missing(other).map(drop)?,
            }
        }
        Ok(any)
    }

    /// Returns what is locked to lock a file that [`create`](Self::create) made in this directory: a lock file beside it.
    pub(crate) fn lock_created(self, file: &Arc<File>, identity: Identity) -> Result<FileLock, Fault> {
        let file = cfg!(unix).then(|| Arc::clone(file));
        let lock = Lockable { lock: self.0.join(lock_name(identity)), file };
        match retry_for(MOMENT, || lock.try_lock(), |error| matches!(error, TryLockError::WouldBlock)) {
            Ok(lock) => Ok(lock),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => Ok(FileLock::None),
            // The number belonged to a locked file, which a program without locks has removed.
            Err(TryLockError::WouldBlock) => Err(Fault::Changed),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Flushes the entries of this directory, if the system can.
    pub(crate) fn sync(self) -> Result<(), Fault> {
        Ok(crate::local::durable::sync_directory(self.0)?)
    }

    /// Returns true if the directory is on a network share.
    pub(crate) fn is_served(self) -> bool {
        use std::path::{Component, Prefix};
        matches!(self.0.components().next(), Some(Component::Prefix(prefix))
            if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)))
    }
}

fn explained(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Fault::Exists,
        io::ErrorKind::CrossesDevices => Fault::OtherDevice,
        io::ErrorKind::NotADirectory => Fault::Obstructed("the destination is a file or a link".into()),
        _ => error.into(),
    }
}

/// A directory that is being listed.
pub(crate) struct Listing {
    entries: ReadDir,
    path: PathBuf,
}

impl Listing {
    pub(crate) fn next(&mut self) -> Option<io::Result<Found>> {
        let found = self.entries.next()?;
        Some(found.map(|found| Found {
            kind: found.file_type().map_or(Kind::Other, kind),
            name: found.file_name().into_string().ok(),
        }))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the interface is that on Unix")]
    pub(crate) fn directory(&self) -> Result<DirectoryRef<'_>, Fault> {
        Ok(DirectoryRef(&self.path))
    }
}

/// An entry in the listing of a directory.
pub(crate) struct Found {
    name: Option<String>,
    kind: Kind,
}

impl Found {
    /// Returns the name; `None` for a name that is not Unicode.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }
}

/// Reads `length` bytes into the buffer, after the bytes that it already has, which are those at `offset`.
pub(crate) fn append_at(file: &File, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()> {
    let start = buffer.len();
    buffer.resize(length, 0);
    read_exact_at(file, &mut buffer[start..], offset + start as u64)
}

/// What is locked to lock a file: the path of a lock file.
pub(crate) struct Lockable {
    lock: PathBuf,
    /// The locked file, if open files can be replaced. While it is open, the system does not reuse its identity.
    file: Option<Arc<File>>,
}

impl Lockable {
    pub(crate) fn try_lock(&self) -> Result<FileLock, TryLockError> {
        let lock = LockFile::try_lock(&self.lock, Hold::Exclusive)?;
        Ok(FileLock::Beside(lock, self.file.clone()))
    }
}

/// The lock of a file.
pub enum FileLock {
    /// A lock file beside the file, and the file.
    Beside(LockFile, Option<Arc<File>>),
    /// A file that the caller has locked.
    Itself(File),
    /// The file system does not support locks.
    None,
}

impl From<File> for FileLock {
    fn from(locked: File) -> Self {
        Self::Itself(locked)
    }
}

/// The lock file of a directory, which is locked to hold its node.
pub(crate) struct HoldFile {
    identity: Identity,
    lock: PathBuf,
    held: Mutex<Option<LockFile>>,
}

impl HoldFile {
    #[expect(clippy::unnecessary_wraps, reason = "the interface is that on Unix")]
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        Ok(self.identity)
    }

    pub(crate) fn try_lock(&self, how: Hold) -> Result<(), TryLockError> {
        let lock = LockFile::try_lock(&self.lock, how)?;
        *unpoisoned(&self.held) = Some(lock);
        Ok(())
    }

    /// Releases the lock.
    pub(crate) fn unlock(&self) {
        *unpoisoned(&self.held) = None;
    }
}

/// The lock of a file against other writers: a lock file beside it, since Windows forbids to read a locked file.
#[cfg(feature = "zip")]
pub(crate) type WriterLock = LockFile;

/// Tries to lock an open file against other writers. Readers are not affected.
#[cfg(feature = "zip")]
pub(crate) fn try_lock_writer(file: &File, path: &Path) -> Result<WriterLock, TryLockError> {
    let identity = identity(file).map_err(TryLockError::Error)?;
    LockFile::try_lock(&path.with_file_name(lock_name(identity)), Hold::Exclusive)
}

/// Returns true if the error shows that the file system does not support locks.
pub fn is_unsupported(error: &io::Error) -> bool {
    const NO_LOCKS: i32 = 37;
    error.kind() == io::ErrorKind::Unsupported
        || cfg!(target_os = "linux") && error.raw_os_error() == Some(NO_LOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the fallback for file systems without hard links.
    #[test]
    fn renaming_under_a_lock_does_not_replace() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("old"), "old").unwrap();
        fs::write(directory.path().join("new"), "new").unwrap();
        let open = Directory::at(directory.path()).unwrap();
        assert!(matches!(open.get().rename_under_lock("new", "old"), Err(Fault::Exists)));
        open.get().rename_under_lock("new", "other").unwrap();
        assert_eq!(fs::read(directory.path().join("old")).unwrap(), b"old");
        assert_eq!(fs::read(directory.path().join("other")).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
