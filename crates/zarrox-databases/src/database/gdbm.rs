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
use crate::database::options::{DatabaseOptions, DatabaseStore, io, opened_by_default};
use crate::database::scheme::{FILE_TIMEOUT, scheme};
use crate::database::shared::{OpenDatabases, Shared};
use zarrox_stores::internals::fork::delay_fork;
use zarrox_stores::internals::per_process::PerProcess;
use zarrox_stores::internals::support::{MOMENT, stamp_of, valid};
use zarrox_stores::internals::sync::{Mutex, unpoisoned};
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Scheme, Stamp,
    StorageOption, Store, StoreError, StoreErrorKind, Value, Version, provided,
};

static OPEN: OpenDatabases<Handle> = OpenDatabases::new();

pub(crate) static SCHEME: Scheme = scheme::<GdbmStore>(&["gdbm"], &[StorageOption::SYNC, FILE_TIMEOUT]);

/// A store whose values are in a GDBM file under their keys, as in zarr-python's `DBMStore` with Python's `dbm.gnu`.
///
/// This store is for existing files. Other stores are better for new data: since GDBM has no transactions, a write that is
/// interrupted by a crash may leave a torn value or a damaged file. A process that writes excludes all other processes.
///
/// | option | default |
/// |---|---|
/// | [`read_only`](DatabaseOptions::read_only) | reads and writes |
/// | [`sync`](DatabaseOptions::sync) | every write is flushed to the disk |
/// | [`lock_timeout`](DatabaseOptions::lock_timeout) | 0.1 s |
///
/// As GDBM requires, the file is locked as long as a handle is open: by one process that writes, or by any number of processes
/// that only read. The version of a value is a digest of its bytes. All handles of a process share one open file, with the
/// options of the first handle; writes are flushed once any handle has set `sync`. A key and its value together have at most 2
/// GiB. Values are always read as a whole, even if only their size is needed for a listing. GDBM does not sort keys, so every
/// listing visits all keys and writes them to a temporary file.
#[derive(Clone, Debug)]
pub struct GdbmStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Shared<Handle>,
    writable: bool,
}

/// [`DatabaseOptions`] of a [`GdbmStore`].
pub type GdbmOptions = DatabaseOptions<GdbmStore>;

opened_by_default!(GdbmStore);

impl DatabaseStore for GdbmStore {
    type Settings = ();

    const EXTENSIONS: &'static [&'static str] = &["gdbm", "dbm", "db"];
    const LOCK_TIMEOUT: Duration = MOMENT;

    fn open_at(path: PathBuf, options: GdbmOptions, create: bool) -> Result<Self, StoreError> {
        if path.is_dir() {
            return Err(io(std::io::ErrorKind::IsADirectory.into()));
        }
        let handle = OPEN.open(&path, || Handle::open(&path, create, &options));
        let handle = handle.map_err(|error| into_error("opening", error))?;
        if options.sync {
            handle.flush_from_now_on().map_err(|error| into_error("writing", error))?;
        }
        if create {
            options.flush_name(&path)?;
        }
        options.check_access(handle.read_only)?;
        Ok(Self(Arc::new(Inner { handle, writable: !options.read_only })))
    }
}

/// One open file.
struct Handle {
    options: OpenOptions,
    path: PathBuf,
    /// A forked process must open the file itself, since an inherited open file shares its position with the parent.
    database: PerProcess<Arc<Mutex<Gdbm>>>,
    read_only: bool,
    /// True once any handle has set `sync`.
    sync: AtomicBool,
}

impl Handle {
    fn open(path: &Path, create: bool, options: &GdbmOptions) -> Result<Self, Error> {
        let mut open = OpenOptions::new();
        // A new file has no extended header, which GDBM before version 1.21 cannot read.
        open.write(!options.read_only).create(create).numsync(false);
        open.sync(options.sync).lock_wait(options.lock_timeout);
        let handle = Self {
            options: open,
            path: path.to_owned(),
            database: PerProcess::new(),
            read_only: options.read_only,
            sync: AtomicBool::new(options.sync),
        };
        handle.with(|_| Ok(()))?;
        Ok(handle)
    }

    /// Flushes earlier writes, and from then on every write.
    fn flush_from_now_on(&self) -> Result<(), Error> {
        if self.sync.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.with(|database| {
            database.set_sync(true);
            database.sync()
        })
    }

    /// Runs `work` with exclusive access to the database.
    fn with<T>(&self, work: impl FnOnce(&mut Gdbm) -> Result<T, Error>) -> Result<T, Error> {
        let _delay = delay_fork();
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

/// A value that is read only to determine its size.
struct Size(u64);

impl FromBytes for Size {
    fn from_bytes(bytes: &[u8]) -> gdbm_native::Result<Self> {
        Ok(Self(bytes.len() as u64))
    }
}

impl GdbmStore {
    /// Flushes writes to the disk that were made without [`GdbmOptions::sync`].
    ///
    /// # Errors
    ///
    /// When the writes cannot be flushed.
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
        let message = "the store was opened read-only";
        Err(self.place(StoreError::new(StoreErrorKind::ReadOnly, operation, message), key))
    }

    /// Writes the keys below a prefix to a temporary file, with the sizes that `size` returns. No thread may write while the hash
    /// table is being read; but a visitor may, since it is called while the temporary file is read. The memory does not grow with
    /// the number of keys.
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
        let mut capabilities = Capabilities::default();
        capabilities.writable = self.0.writable;
        capabilities.listable = true;
        capabilities.set_if_absent = self.0.writable;
        capabilities.set_if_unchanged = self.0.writable;
        capabilities.erase_if_unchanged = self.0.writable;
        capabilities.digest_versions = true;
        capabilities.rename = false;
        capabilities.values_above_values = true;
        capabilities
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
                let message = "the value already exists";
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
            // The erasures are flushed together at the end.
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
            return StoreError::new(Kind::Corrupt, operation, "the GDBM file is truncated")
                .with_source(error);
        }
        Error::Io(error) => return StoreError::from_io(operation, error),
        Error::BadMagic { .. } => (Kind::Corrupt, "the file is not a GDBM file"),
        Error::Locked => (Kind::Unreachable, "another process has locked the GDBM file"),
        Error::ReadOnly => (Kind::ReadOnly, "the store was opened read-only"),
        Error::RecordTooLarge { .. } | Error::FileTooLarge { .. } => {
            (Kind::TooLarge, "larger than GDBM supports")
        }
        Error::Inconsistent => (
            Kind::Corrupt,
            "an earlier write to the GDBM file was interrupted; the program gdbmtool can recover it",
        ),
        _ => (Kind::Corrupt, "the GDBM file is damaged; the program gdbmtool can recover the rest"),
    };
    StoreError::new(kind, operation, message).with_source(error)
}
