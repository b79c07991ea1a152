//! [`GdbmStore`].

use std::fmt;
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use gdbm_native::{Error, FromBytes, Gdbm, OpenOptions};

use crate::database::digest::{Digested, conflict, is_unchanged, version_of};
use crate::database::shared::{OpenDatabases, Shared, canonical};
use crate::fork::busy;
use crate::key::valid;
use crate::local::durable::{create_directories, directory_of, sync_directory};
use crate::local::file_lock::MOMENT;
use crate::per_process::PerProcess;
use crate::store::stamp_of;
use crate::sync::{Mutex, unpoisoned};
use crate::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Stamp, Store,
    StoreError, StoreErrorKind, Value, Version, provided,
};

static OPEN: OpenDatabases<Handle> = OpenDatabases::new();

/// Keeps each value in a GDBM file under its key, as zarr-python's `DBMStore` and Python's `dbm.gnu` do.
///
/// For data that is in such files. New data is better kept elsewhere: a write that is cut short by a crash may leave a torn
/// value or a damaged file, since GDBM has no transactions, and one process excludes all others while it writes.
///
/// | option | when not set |
/// |---|---|
/// | [`read_only`](GdbmOptions::read_only) | writes too |
/// | [`sync`](GdbmOptions::sync) | every write is flushed to the disk |
/// | [`wait`](GdbmOptions::wait) | a file that another process has locked is an error at once |
///
/// The file is locked as long as a handle is open, as GDBM does it: by one process that writes, or by any number that only
/// read. The version of a value is a digest of its bytes. All handles of a process share one open file, with the options of the first; writes are flushed as soon as one handle asks
/// for it. Key and value together have up
/// to 2 GiB, and values are read whole, also to tell their sizes in a listing. GDBM has no order of keys, so that every
/// listing walks through all keys; they go through a temporary file.
#[derive(Clone, Debug)]
pub struct GdbmStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Shared<Handle>,
    writable: bool,
}

/// Options with which a [`GdbmStore`] is opened.
#[derive(Clone, Debug)]
pub struct GdbmOptions {
    read_only: bool,
    sync: bool,
    wait: Duration,
}

impl Default for GdbmOptions {
    fn default() -> Self {
        Self { read_only: false, sync: true, wait: MOMENT }
    }
}

impl GdbmOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether nothing is ever written.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets whether writes are flushed to the disk. Without, writing is much faster, but a process that is
    /// killed before the last handle is dropped may leave a file that has lost values. [`GdbmStore::flush`]
    /// flushes at once.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the time that opening waits for other processes that have the file: 100 ms by default.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Opens a file that is there.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when there is no file, [`StoreErrorKind::Corrupt`] when it is no GDBM file, and
    /// [`StoreErrorKind::Unreachable`] when another process has locked it.
    pub fn open(self, path: impl AsRef<Path>) -> Result<GdbmStore, StoreError> {
        self.open_or_create(path.as_ref(), false)
    }

    /// Opens a file, and makes it when it is not there, with the directories above it.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and one when the file cannot be made.
    pub fn create(self, path: impl AsRef<Path>) -> Result<GdbmStore, StoreError> {
        let create = !self.read_only;
        self.open_or_create(path.as_ref(), create)
    }

    fn open_or_create(self, path: &Path, create: bool) -> Result<GdbmStore, StoreError> {
        let place = |error: StoreError| error.with_location(path.to_string_lossy());
        let io = |error| place(StoreError::from_io("opening", error));
        if create {
            create_directories(directory_of(path), self.sync).map_err(io)?;
        }
        let path = canonical(path).map_err(io)?;
        if path.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        let mut options = OpenOptions::new();
        // Without the extended header, which versions before 1.21 of GDBM cannot read.
        options.write(!self.read_only).create(create).numsync(false).sync(self.sync).lock_wait(self.wait);
        let open = || {
            let handle = Handle {
                options,
                database: PerProcess::new(),
                path: path.clone(),
                read_only: self.read_only,
                sync: AtomicBool::new(self.sync),
            };
            handle.with(|_| Ok(())).map(|()| handle)
        };
        let handle = OPEN.open(&path, open).map_err(|error| place(into_error("opening", error)))?;
        if self.sync && !handle.sync.swap(true, Ordering::Relaxed) {
            let flush = |database: &mut Gdbm| {
                database.set_sync(true);
                database.sync()
            };
            handle.with(flush).map_err(|error| place(into_error("writing", error)))?;
        }
        if create && self.sync {
            sync_directory(directory_of(&path)).map_err(io)?;
        }
        if handle.read_only && !self.read_only {
            let message = "this process has the file open for reading only; close that handle first";
            return Err(place(StoreError::new(StoreErrorKind::Other, "opening", message)));
        }
        Ok(GdbmStore(Arc::new(Inner { handle, writable: !self.read_only })))
    }
}

/// One open file.
struct Handle {
    options: OpenOptions,
    path: PathBuf,
    /// A process that was forked off has to open the file itself: with a file that is open goes the position in it.
    database: PerProcess<Arc<Mutex<Gdbm>>>,
    read_only: bool,
    /// True as soon as one handle asks that writes are flushed.
    sync: AtomicBool,
}

impl Handle {
    /// Works with the database, alone.
    fn with<T>(&self, work: impl FnOnce(&mut Gdbm) -> Result<T, Error>) -> Result<T, Error> {
        let _busy = busy();
        let open = || {
            let mut database = self.options.open(&self.path)?;
            database.set_sync(self.sync.load(Ordering::Relaxed));
            Ok::<_, Error>(Arc::new(Mutex::new(database)))
        };
        let database = self.database.try_get(open)?;
        work(&mut unpoisoned(&database))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Handle").field("read_only", &self.read_only).finish_non_exhaustive()
    }
}

/// A value that is read for its size alone.
struct Size(u64);

impl FromBytes for Size {
    fn from_bytes(bytes: &[u8]) -> gdbm_native::Result<Self> {
        Ok(Self(bytes.len() as u64))
    }
}

impl GdbmStore {
    /// Opens a file that is there, see [`GdbmOptions`].
    ///
    /// # Errors
    ///
    /// See [`GdbmOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        GdbmOptions::new().open(path)
    }

    /// Opens a file, and makes it when it is not there, see [`GdbmOptions`].
    ///
    /// # Errors
    ///
    /// See [`GdbmOptions::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        GdbmOptions::new().create(path)
    }

    /// Flushes to the disk what was written without [`GdbmOptions::sync`].
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.0.handle.with(Gdbm::sync).map_err(self.fail("writing", ""))
    }

    fn fail(&self, operation: &'static str, key: &str) -> impl Fn(Error) -> StoreError {
        move |error| self.place(into_error(operation, error), key)
    }

    fn place(&self, error: StoreError, key: &str) -> StoreError {
        error.with_location(self.location()).with_key(key)
    }

    fn writable(&self, operation: &'static str, key: &str) -> Result<(), StoreError> {
        if self.0.writable {
            return Ok(());
        }
        let message = "the store was opened for reading only";
        Err(self.place(StoreError::new(StoreErrorKind::ReadOnly, operation, message), key))
    }

    /// The keys below a prefix, with sizes that `size` finds out, in a temporary file: nobody may write while the table of
    /// hashes is walked through, but visitors may, and memory does not grow with the number of keys.
    fn spool(
        &self,
        prefix: &Prefix,
        size: impl Fn(&Gdbm, &Key) -> Result<u64, Error>,
    ) -> Result<Spool, Error> {
        let mut file = BufWriter::new(tempfile::tempfile()?);
        self.0.handle.with(|database| {
            for key in database.keys::<Vec<u8>>() {
                let Some(key) = valid(key?).filter(|key| prefix.contains(key)) else { continue };
                let size = size(database, &key)?;
                let length = key.as_str().len() as u64;
                file.write_all(&[length.to_le_bytes(), size.to_le_bytes()].concat())?;
                file.write_all(key.as_str().as_bytes())?;
            }
            Ok(())
        })?;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Spool(BufReader::new(file)))
    }
}

/// Keys and sizes in a temporary file.
struct Spool(BufReader<fs::File>);

impl Spool {
    fn next(&mut self) -> io::Result<Option<(Key, u64)>> {
        let mut head = [0; 16];
        match self.0.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            done => done?,
        }
        let word =
            |at: usize| head[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let mut key = Vec::new();
        self.0.by_ref().take(word(0)).read_to_end(&mut key)?;
        valid(key).map(|key| Some((key, word(8)))).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

fn version_in(database: &Gdbm, key: &Key) -> Result<Option<Version>, Error> {
    Ok(database.get::<_, Vec<u8>>(key.as_str())?.map(|bytes| version_of(&bytes)))
}

fn size_of_value(database: &Gdbm, key: &Key) -> Result<u64, Error> {
    Ok(database.get::<_, Size>(key.as_str())?.map_or(0, |Size(size)| size))
}

impl Store for GdbmStore {
    provided!(directory get_ranges get_many size contains rename_prefix hold exchange);

    fn location(&self) -> String {
        self.0.handle.path().to_string_lossy().into_owned()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: self.0.writable,
            listable: true,
            set_if_absent: self.0.writable,
            set_if_unchanged: self.0.writable,
            erase_if_unchanged: self.0.writable,
            digest_versions: true,
            rename: false,
            values_above_values: true,
            ..Capabilities::default()
        }
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(Digested(bytes)) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let value = self.0.handle.with(|database| database.get::<_, Vec<u8>>(key.as_str()));
        Ok(value.map_err(self.fail("reading", key.as_str()))?.map(Bytes::from))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        self.writable("writing", key.as_str())?;
        let written = self.0.handle.with(|database| {
            if !is_unchanged(condition, || version_in(database, key))? {
                return Ok(Err(conflict("writing")));
            }
            if matches!(condition, Condition::Absent) && database.contains_key(key.as_str())? {
                let message = "there is a value already";
                return Ok(Err(StoreError::new(StoreErrorKind::AlreadyExists, "writing", message)));
            }
            database.insert(key.as_str(), value).map(|_| Ok(()))
        });
        let written = written.map_err(self.fail("writing", key.as_str()))?;
        written.map_err(|error| self.place(error, key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        self.writable("erasing", key.as_str())?;
        let erased = self.0.handle.with(|database| {
            if !is_unchanged(condition, || version_in(database, key))? {
                return Ok(Err(conflict("erasing")));
            }
            Ok(Ok(database.remove(key.as_str())?.is_some()))
        });
        let erased = erased.map_err(self.fail("erasing", key.as_str()))?;
        erased.map_err(|error| self.place(error, key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.writable("erasing", prefix.as_str())?;
        let fail = self.fail("erasing", prefix.as_str());
        let mut keys = self.spool(prefix, |_, _| Ok(0)).map_err(&fail)?;
        let handle = &self.0.handle;
        let erase = |database: &mut Gdbm| {
            // Many keys are flushed together.
            database.set_sync(false);
            let mut erase = || -> Result<(), Error> {
                while let Some((key, _)) = keys.next()? {
                    database.remove(key.as_str())?;
                }
                Ok(())
            };
            let erased = erase();
            let sync = handle.sync.load(Ordering::Relaxed);
            database.set_sync(sync);
            let flushed = if sync { database.sync() } else { Ok(()) };
            erased.and(flushed)
        };
        handle.with(erase).map_err(fail)
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let fail = self.fail("listing", prefix.as_str());
        let mut keys = self.spool(prefix, size_of_value).map_err(&fail)?;
        while let Some((key, size)) = keys.next().map_err(|error| fail(error.into()))? {
            if visit(key, size).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = DirListing::default();
        let mut children = std::collections::BTreeSet::new();
        let keys = self.0.handle.with(|database| {
            let keys = database.keys::<Vec<u8>>().map(|key| Ok(valid(key?)));
            let inside = |key: &Result<Option<Key>, Error>| {
                key.as_ref().map_or(true, |key| key.as_ref().is_some_and(|key| prefix.contains(key)))
            };
            keys.filter(inside).collect::<Result<Vec<_>, Error>>()
        });
        for key in keys.map_err(self.fail("listing", prefix.as_str()))?.into_iter().flatten() {
            match key.as_str()[prefix.as_str().len()..].split_once('/') {
                Some((child, _)) => drop(children.insert(prefix.child(child)?)),
                None => listing.keys.push(key),
            }
        }
        listing.prefixes.extend(children);
        Ok(listing.sorted())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Self::flush(self)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("gdbm://{}", self.location()), key))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        stamp_of(self, key)
    }
}

fn into_error(operation: &'static str, error: Error) -> StoreError {
    use StoreErrorKind as Kind;
    let (kind, message) = match error {
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return StoreError::new(Kind::Corrupt, operation, "the GDBM file is cut off").with_source(error);
        }
        Error::Io(error) => return StoreError::from_io(operation, error),
        Error::BadMagic { .. } => (Kind::Corrupt, "the file is not a GDBM file"),
        Error::Locked => (Kind::Unreachable, "another process has locked the GDBM file"),
        Error::ReadOnly => (Kind::ReadOnly, "the store was opened for reading only"),
        Error::RecordTooLarge { .. } | Error::FileTooLarge { .. } => {
            (Kind::TooLarge, "larger than GDBM takes")
        }
        Error::Inconsistent => (
            Kind::Corrupt,
            "an earlier write to the GDBM file failed half-way; the program gdbmtool can recover it",
        ),
        _ => (Kind::Corrupt, "the GDBM file is damaged; the program gdbmtool can recover what is left"),
    };
    StoreError::new(kind, operation, message).with_source(error)
}
