//! [`DirectoryStore`].

mod flushed;
mod hold;
mod root;
mod sweep;
mod temporary_file;
mod write;

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use self::root::{Lookup, Root};
pub use self::sweep::sweep;
use self::write::Rule;
use super::fault::Fault;
use super::files::{self, canonicalize};
use crate::store::{check_rename, checked_length, copy_then_erase, reserved};
use crate::{
    ByteRange, Capabilities, Condition, DirListing, Hold, HoldGuard, Key, LockGuard, Prefix, Stamp, Store,
    StoreError, StoreErrorKind, Value, Version,
};
use crate::{Payload, provided, temporary};

/// A store that keeps each value in a file below one directory, the root: the value of `a/b` is in the file `a/b`.
///
/// # Writing
///
/// A value is written to a temporary file in the same directory, which is then renamed into place: readers see either the old or
/// the new value, and a failure leaves the old value untouched. Directories are created when a value needs them, and all except
/// the root are removed when the last value in them is erased.
///
/// Names that begin with `.zarrox-` and end in `.tmp` are reserved for these temporary files: they are never listed and are not
/// valid keys. A killed process may leave temporary files behind. The next process that writes to their directory removes them.
/// It does not remove the files of running writers, since these files are locked.
///
/// # Other processes
///
/// [`Store::lock`] also excludes other processes, by a lock on the value's file (`flock`), and leaves no file behind. Values are
/// replaced and erased under the same lock, so that no read-modify-write update is lost. On file systems that do not support
/// locks, [`Store::lock`] fails if the key has a value; see [`exclusive`](Self::exclusive).
///
/// By default, nothing is flushed to disk: a value survives the end of the process, but not necessarily a power failure. See
/// [`sync`](Self::sync).
///
/// # Links and special files
///
/// The root may be a symbolic link, which is resolved once, when the store is opened. Links below the root are followed if their
/// targets are below the root, and otherwise are an error of the kind [`StoreErrorKind::Forbidden`]; see
/// [`follow_links`](Self::follow_links). If the file of a value is a link, writing the value replaces the link and erasing the
/// value removes the link, never its target. The lock of a key is the lock of its file: all links, mounts and spellings that lead
/// to the same file share the lock.
///
/// A dangling link, which git-annex uses for data in another location, is an unreachable value: it is listed, and reading it is
/// an error of the kind [`StoreErrorKind::Unreachable`]. Pipes, sockets and devices are listed as well, but reading them is an
/// error of the kind [`StoreErrorKind::Obstructed`]. A directory is not a value. All methods treat its key as missing, except for
/// [`open_with`](Store::open_with), which fails, since a chunk is never a directory. Names that are not valid keys, such as names
/// that are not UTF-8, are not listed.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    root: Arc<Root>,
}

impl DirectoryStore {
    /// Opens a store in a directory. If the directory does not exist, the first write creates it.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Obstructed`] when the path is not a directory, and an error when the path cannot be looked up.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let fail = |error| StoreError::from_io("opening", error).with_location(path.to_string_lossy());
        let root = resolve(path).map_err(fail)?;
        match fs::metadata(&root) {
            Ok(metadata) if !metadata.is_dir() => Err(fail(io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fail(error)),
            _ => Ok(Self { root: Arc::new(Root::new(root)) }),
        }
    }

    /// Opens a directory like [`open`](Self::open), but creates it and its missing parents immediately.
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open); also an error when the directory cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let fail = |error| StoreError::from_io("creating", error).with_location(path.to_string_lossy());
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            // Windows says so if a part of the path is a file.
            io::ErrorKind::AlreadyExists => fail(io::ErrorKind::NotADirectory.into()),
            _ => fail(error),
        })?;
        Self::open(path)
    }

    /// Sets whether every write is flushed to disk before it returns; `false` by default.
    ///
    /// Flushing makes every write much slower, and has two effects: values survive a power failure, and a full disk makes the
    /// write itself fail even on network file systems, which may detect it late.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        Arc::make_mut(&mut self.root).sync = sync;
        self
    }

    /// Declares that no other process and no other handle writes to the directory; `false` by default.
    ///
    /// Without other writers, files need not be locked. This is for file systems that do not support locks, on which parts of
    /// chunks cannot be written otherwise.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        Arc::make_mut(&mut self.root).locks = !exclusive;
        self
    }

    /// Sets how long to wait for a file that another process has locked; one minute by default. After that, the operation fails
    /// with [`StoreErrorKind::TimedOut`] without writing anything.
    #[must_use]
    pub fn lock_timeout(mut self, longest: Duration) -> Self {
        Arc::make_mut(&mut self.root).lock_timeout = longest;
        self
    }

    /// Finds the temporary files below a prefix whose writers have ended. Returns their paths relative to the root.
    ///
    /// # Errors
    ///
    /// When a directory cannot be listed.
    #[doc(hidden)]
    pub fn leftovers(&self, prefix: &Prefix) -> Result<Vec<String>, StoreError> {
        self.root.leftovers(prefix.segments(), false).map_err(self.fail("listing", prefix.as_str()))
    }

    /// Removes the temporary files below a prefix whose writers have ended. Returns their paths relative to the root. Files that
    /// another process is writing are kept.
    ///
    /// # Errors
    ///
    /// When a directory cannot be listed.
    #[doc(hidden)]
    pub fn remove_leftovers(&self, prefix: &Prefix) -> Result<Vec<String>, StoreError> {
        self.root.leftovers(prefix.segments(), true).map_err(self.fail("listing", prefix.as_str()))
    }

    /// Sets whether symbolic links below the root are followed wherever they lead; `false` by default.
    ///
    /// This is for data that is spread over several disks by means of links. Use it only if all writers of the directory are
    /// trusted: a link can lead to any file that this process may read or write.
    #[must_use]
    pub fn follow_links(mut self, follow: bool) -> Self {
        Arc::make_mut(&mut self.root).follow_links = follow;
        self
    }

    /// Returns the root: an absolute path without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root.path
    }

    /// Converts a failure to an error that names the operation and the file.
    fn fail(&self, operation: &'static str, key: &str) -> impl Fn(Fault) -> StoreError {
        move |fault| fault.into_error(operation, key.to_owned()).with_location(self.location())
    }

    fn value(&self, key: &Key, file: Arc<File>, size: u64) -> Box<dyn Value> {
        Box::new(FileValue { file, size, root: Arc::clone(&self.root), key: key.clone() })
    }

    fn writable(&self, key: &Key) -> Result<(), StoreError> {
        let place = |error: StoreError| error.with_location(self.location()).with_key(key.as_str());
        temporary::check(key.as_str()).map_err(place)
    }
}

impl Store for DirectoryStore {
    provided!(get_ranges get_many contains flush);

    fn location(&self) -> String {
        self.root.path.to_string_lossy().into_owned()
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.path())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            listable: true,
            set_if_absent: true,
            locks_everyone: true,
            rename: true,
            values_above_values: false,
            ..Capabilities::default()
        }
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        if temporary::is_temporary(key.name()) {
            return Ok(None);
        }
        let fail = self.fail("reading", key.as_str());
        match self.root.open_value(key.as_str()).map_err(&fail)? {
            Lookup::Missing => Ok(None),
            Lookup::File(file, size) => Ok(Some(self.value(key, Arc::new(file), size))),
            Lookup::Directory => Err(fail(Fault::directory())),
        }
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        if temporary::is_temporary(key.name()) {
            return Ok(None);
        }
        match self.root.open_value(key.as_str()).map_err(self.fail("reading", key.as_str()))? {
            Lookup::Missing | Lookup::Directory => Ok(None),
            Lookup::File(file, size) => self.value(key, Arc::new(file), size).read(0, size).map(Some),
        }
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        if temporary::is_temporary(key.name()) {
            return Ok(None);
        }
        self.root.size(key.as_str()).map_err(self.fail("reading", key.as_str()))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        self.writable(key)?;
        condition.absent()?;
        let written = self.root.write(key.as_str(), &|write| payload.each(write), rule(condition));
        written.map_err(self.fail("writing", key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        if temporary::is_temporary(key.name()) {
            return Ok(false);
        }
        condition.unconditional()?;
        self.root.erase(key.as_str(), rule(condition)).map_err(self.fail("erasing", key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.root.erase_tree(prefix.segments()).map_err(self.fail("erasing", prefix.as_str()))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.root.walk(prefix, visit).map_err(self.fail("listing", prefix.as_str()))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let listing = self.root.list(prefix).map_err(self.fail("listing", prefix.as_str()))?;
        Ok(listing.sorted())
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        if !check_rename(from, to)? {
            return Ok(());
        }
        match self.root.rename(from.segments(), to.segments()) {
            Err(Fault::OtherDevice) => copy_then_erase(self, from, to),
            Err(Fault::Exists) => Err(self.fail("renaming", to.as_str())(Fault::Exists)),
            done => done.map_err(self.fail("renaming", from.as_str())),
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        // The name of the lock is the whole path, so that stores with nested roots share locks too. Threads that reach the file
        // by another path are excluded by the lock of the file itself.
        let guard = LockGuard::in_process(&format!("file://{}", self.location()), key);
        let (file, opened) = self.root.lock(key.as_str()).map_err(self.fail("locking", key.as_str()))?;
        Ok(guard.of_storage(file).with_value(opened.map(|(file, size)| self.value(key, file, size))))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        self.root.stamp(key.as_str()).map_err(self.fail("reading", key.as_str()))
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        let held = self.root.hold(prefix.segments(), how).map_err(self.fail("locking", prefix.as_str()))?;
        Ok(HoldGuard::of_storage(held))
    }

    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
        if !check_rename(one, other)? {
            return Ok(());
        }
        let exchanged = self.root.exchange(one.segments(), other.segments());
        exchanged.map_err(self.fail("exchanging", one.as_str()))
    }
}

/// Returns the rule for the file of a value under a condition that the store can check.
fn rule(condition: Condition<'_>) -> Rule<'_> {
    match condition {
        Condition::Locked(guard) => guard.storage().map_or(Rule::Always, Rule::Locked),
        Condition::Absent => Rule::Absent,
        Condition::Always | Condition::Matches(_) => Rule::Always,
    }
}

/// Resolves the links in a path. The last parts of the path need not exist.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return resolve(Path::new("."));
    }
    match canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        done => return done,
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "a dangling symbolic link"));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(resolve(parent)?.join(name)),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// An open file. Its content does not change when another file is renamed to its name.
struct FileValue {
    file: Arc<File>,
    size: u64,
    root: Arc<Root>,
    key: Key,
}

impl FileValue {
    fn fail(&self, error: io::Error) -> StoreError {
        let error = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let message = "the file became shorter while it was read: another program writes into it";
                StoreError::new(StoreErrorKind::Conflict, "reading", message)
            }
            _ => StoreError::from_io("reading", error),
        };
        self.named(error)
    }

    fn named(&self, error: StoreError) -> StoreError {
        error.with_location(self.root.path.to_string_lossy()).with_key(self.key.as_str())
    }

    fn checked_length(&self, offset: u64, length: u64) -> Result<usize, StoreError> {
        checked_length(self.size, offset, length).map_err(|error| self.named(error))
    }
}

impl Value for FileValue {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.checked_length(offset, buffer.len() as u64)?;
        files::read_exact_at(&self.file, buffer, offset).map_err(|error| self.fail(error))
    }

    fn version(&self) -> Option<Version> {
        files::version(&self.file)
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let length = self.checked_length(offset, length)?;
        let mut buffer = reserved(length).map_err(|error| self.named(error))?;
        files::append_at(&self.file, &mut buffer, length, offset).map_err(|error| self.fail(error))?;
        Ok(buffer.into())
    }
}
