//! [`RedbStore`].

use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, fs, io};

use bytes::Bytes;
use redb::backends::FileBackend;
use redb::{
    Database, Error, ReadOnlyDatabase, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable,
    StorageBackend, Table, TableDefinition,
};

use crate::database::digest::{Digested, conflict, is_unchanged, version_of};
use crate::database::options::{DatabaseOptions, DatabaseStore, opened_by_default};
use crate::database::ordered::{KeyRange, Ordered, Page};
use crate::database::scheme::{FILE_TIMEOUT, scheme};
use crate::database::shared::{OpenDatabases, Shared};
use zarrox_stores::internals::fork::delay_fork;
use zarrox_stores::internals::panics;
use zarrox_stores::internals::per_process::PerProcess;
use zarrox_stores::internals::support::{MOMENT, directory_of, reserved, retry_for, stamp_of, sweep};
use zarrox_stores::internals::temporary;
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Scheme, Stamp,
    StorageOption, Store, StoreError, StoreErrorKind, Value, provided,
};

const TABLE: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("zarr");

/// The first bytes of every redb file.
const MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";

static OPEN: OpenDatabases<Handle> = OpenDatabases::new();

pub(crate) static SCHEME: Scheme = scheme::<RedbStore>(&["redb"], &[StorageOption::SYNC, FILE_TIMEOUT]);

/// A store whose values are in a table of a redb database, which is a single file and needs neither a server nor a C library.
///
/// All values are in the table `zarr`, which maps the bytes of a key to the bytes of its value (`TableDefinition<&[u8], &[u8]>`).
/// Other tables are ignored. Every write is a transaction, so readers see either the old or the new value, and a crash leaves one
/// of the two.
///
/// | option | default |
/// |---|---|
/// | [`read_only`](DatabaseOptions::read_only) | reads and writes |
/// | [`sync`](DatabaseOptions::sync) | every write is flushed to the disk |
/// | [`lock_timeout`](DatabaseOptions::lock_timeout) | 0.1 s |
///
/// Only one process can have the file open for writing, with any number of handles, which share the options of the first handle.
/// Another process, even a forked one, fails to open it with [`StoreErrorKind::Unreachable`]. Several processes can have the file
/// open if all of them only read. The version of a value is a digest of its bytes. Writes are flushed once any handle has set
/// `sync`. Values have up to 3 GiB, and are always read as a whole.
#[derive(Clone, Debug)]
pub struct RedbStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Shared<Handle>,
    writable: bool,
}

/// [`DatabaseOptions`] of a [`RedbStore`].
pub type RedbOptions = DatabaseOptions<RedbStore>;

opened_by_default!(RedbStore);

impl DatabaseStore for RedbStore {
    type Settings = ();

    const EXTENSIONS: &'static [&'static str] = &["redb"];
    const LOCK_TIMEOUT: Duration = MOMENT;

    fn open_at(path: PathBuf, options: RedbOptions, create: bool) -> Result<Self, StoreError> {
        let handle = OPEN.open(&path, || Handle::open(&path, create, &options));
        let handle = handle.map_err(|fault| fault.into_error("opening"))?;
        if create {
            options.flush_name(&path)?;
        }
        handle.sync.fetch_or(options.sync, Ordering::Relaxed);
        options.check_access(handle.read_only)?;
        Ok(Self(Arc::new(Inner { handle, writable: !options.read_only })))
    }
}

enum Access {
    Reading(ReadOnlyDatabase),
    /// `None` only while this value is being dropped.
    Writing(Option<Database>),
}

impl Drop for Access {
    fn drop(&mut self) {
        let Self::Writing(database) = self else { return };
        // Closing a database writes to it, which panics if the database is damaged.
        let close = || {
            drop(database.take());
            Ok(())
        };
        if guarded(close).is_err() {
            tracing::error!("a redb database is damaged: it could not be closed");
        }
    }
}

/// One open database.
struct Handle {
    path: PathBuf,
    read_only: bool,
    lock_timeout: Duration,
    /// True once any handle has set `sync`.
    sync: Arc<AtomicBool>,
    /// A forked process must open the file itself, which fails as long as its parent has it open.
    access: PerProcess<Arc<Access>>,
}

impl Handle {
    fn open(path: &Path, create: bool, options: &RedbOptions) -> Result<Self, Fault> {
        let missing = !path.exists();
        if !(create && missing) {
            check_file(path)?;
        }
        let handle = Self {
            path: path.to_owned(),
            read_only: options.read_only,
            lock_timeout: options.lock_timeout,
            sync: Arc::new(AtomicBool::new(options.sync)),
            access: PerProcess::new(),
        };
        match &*handle.access_or_new(create && missing)? {
            Access::Writing(Some(database)) if create => guarded(|| {
                let transaction = database.begin_write()?;
                drop(transaction.open_table(TABLE)?);
                Ok(transaction.commit()?)
            })?,
            _ => handle.read(|_| Ok(()))?,
        }
        Ok(handle)
    }

    /// Returns the database as opened by this process.
    fn access(&self) -> Result<Arc<Access>, Fault> {
        self.access_or_new(false)
    }

    fn access_or_new(&self, new: bool) -> Result<Arc<Access>, Fault> {
        let path = &self.path;
        let open = || {
            if self.read_only {
                return Ok(Arc::new(Access::Reading(ReadOnlyDatabase::open(path)?)));
            }
            let created = if new { create_file(path, &self.sync)? } else { None };
            let database = match created {
                Some(database) => database,
                None => writing(fs::OpenOptions::new().read(true).write(true).open(path), &self.sync)?,
            };
            Ok(Arc::new(Access::Writing(Some(database))))
        };
        let is_taken = |fault: &Fault| matches!(fault, Fault::Redb(Error::DatabaseAlreadyOpen));
        self.access.try_get(|| retry_for(self.lock_timeout, || guarded(open), is_taken))
    }

    /// Reads the table. The transaction stays open while the result is in use, so that none of its pages is freed.
    fn read<T>(&self, read: impl FnOnce(&Reader) -> Result<T, Fault>) -> Result<T, Fault> {
        let _delay = delay_fork();
        let access = self.access()?;
        guarded(|| {
            let table = access.reader()?.open_table(TABLE)?;
            read(&table)
        })
    }

    /// Writes in a single transaction, which is rolled back on error.
    fn write<T>(&self, write: impl FnOnce(&mut Writer<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let _delay = delay_fork();
        let access = self.access()?;
        let Access::Writing(Some(database)) = &*access else { return Err(read_only()) };
        guarded(|| {
            let transaction = database.begin_write()?;
            let mut table = transaction.open_table(TABLE)?;
            let done = write(&mut table)?;
            drop(table);
            transaction.commit()?;
            Ok(done)
        })
    }
}

/// A file that is flushed only if `sync` is set. Without flushes, redb's writes still take effect in order as long as the system
/// does not crash.
#[derive(Debug)]
struct Backend {
    file: FileBackend,
    sync: Arc<AtomicBool>,
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.sync.load(Ordering::Relaxed) { self.file.sync_data() } else { Ok(()) }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

impl Access {
    fn reader(&self) -> Result<ReadTransaction, Fault> {
        Ok(match self {
            Self::Reading(database) => database.begin_read()?,
            Self::Writing(Some(database)) => database.begin_read()?,
            Self::Writing(None) => {
                return Err(Fault::Other(StoreErrorKind::Other, "the database was closed".into()));
            }
        })
    }
}

/// Opens the database in a file, which may be empty.
fn writing(file: io::Result<fs::File>, sync: &Arc<AtomicBool>) -> Result<Database, Fault> {
    let file = FileBackend::new(file.map_err(Error::Io)?)?;
    Ok(Database::builder().create_with_backend(Backend { file, sync: Arc::clone(sync) })?)
}

/// Creates a new database under a temporary name, so that a database whose creator dies is never mistaken for a damaged one.
/// `None` if another process has created the database first.
fn create_file(path: &Path, sync: &Arc<AtomicBool>) -> Result<Option<Database>, Fault> {
    sweep(directory_of(path));
    let temporary = path.with_file_name(temporary::next_name());
    let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&temporary);
    let named = guarded(|| writing(file, sync)).and_then(|database| match fs::hard_link(&temporary, path) {
        Ok(()) => Ok(Some(database)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Error::Io(error).into()),
    });
    fs::remove_file(&temporary).map_err(Error::Io)?;
    named
}

fn read_only() -> Fault {
    Fault::Other(StoreErrorKind::ReadOnly, "the store was opened read-only".into())
}

/// Checks the file, since redb would turn an empty file into a database, and its error messages for other formats are unclear.
fn check_file(path: &Path) -> Result<(), Fault> {
    let mut head = Vec::new();
    let file = fs::File::open(path).map_err(Error::Io)?;
    if file.metadata().map_err(Error::Io)?.is_dir() {
        return Err(Fault::Other(StoreErrorKind::Obstructed, "the path is a directory".into()));
    }
    let mut start = std::io::Read::take(file, MAGIC.len() as u64);
    std::io::Read::read_to_end(&mut start, &mut head).map_err(Error::Io)?;
    if head != MAGIC {
        return Err(Fault::Other(StoreErrorKind::Corrupt, "the file is not a redb database".into()));
    }
    Ok(())
}

/// Converts a panic to an error, since redb panics on damaged pages.
fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    panics::caught(work)
        .unwrap_or_else(|| Err(Fault::Other(StoreErrorKind::Corrupt, "the redb database is damaged".into())))
}

impl RedbStore {
    fn fail(&self, operation: &'static str, key: &str) -> impl Fn(Fault) -> StoreError {
        move |fault| fault.into_error(operation).with_location(self.location()).with_key(key)
    }

    fn write<T>(&self, write: impl FnOnce(&mut Writer<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.0.writable { self.0.handle.write(write) } else { Err(read_only()) }
    }

    fn look<T>(
        &self,
        key: &Key,
        look: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let read = |table: &Reader| {
            let value = table.get(key.as_str().as_bytes())?;
            value.map(|value| look(value.value())).transpose().map_err(Fault::Store)
        };
        self.0.handle.read(read).map_err(self.fail("reading", key.as_str()))
    }
}

type Reader = ReadOnlyTable<&'static [u8], &'static [u8]>;

type Writer<'a> = Table<'a, &'static [u8], &'static [u8]>;

/// Returns an error if the value does not satisfy the condition. This is called in the transaction that changes the value.
fn check(
    table: &Writer<'_>,
    key: &Key,
    condition: Condition<'_>,
    operation: &'static str,
) -> Result<(), Fault> {
    let there = || {
        let value = table.get(key.as_str().as_bytes())?;
        Ok::<_, Fault>(value.map(|value| version_of(value.value())))
    };
    if is_unchanged(condition, there)? { Ok(()) } else { Err(Fault::Store(conflict(operation))) }
}

impl Store for RedbStore {
    provided!(directory get_ranges get_many contains rename_prefix flush hold exchange);

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
        self.look(key, |bytes| {
            let mut buffer = reserved(bytes.len())?;
            buffer.extend_from_slice(bytes);
            Ok(buffer.into())
        })
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.look(key, |bytes| Ok(bytes.len() as u64))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let name = key.as_str().as_bytes();
        let put = |table: &mut Writer<'_>| {
            check(table, key, condition, "writing")?;
            if matches!(condition, Condition::Absent) && table.get(name)?.is_some() {
                return Err(Fault::Other(StoreErrorKind::AlreadyExists, "the value already exists".into()));
            }
            table.insert(name, value)?;
            Ok(())
        };
        self.write(put).map_err(self.fail("writing", key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        let erase = |table: &mut Writer<'_>| {
            check(table, key, condition, "erasing")?;
            Ok(table.remove(key.as_str().as_bytes())?.is_some())
        };
        self.write(erase).map_err(self.fail("erasing", key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let range = KeyRange::below(prefix);
        let erase = |table: &mut Writer<'_>| Ok(table.retain_in::<&[u8], _>(bounds(&range), |_, _| false)?);
        self.write(erase).map_err(self.fail("erasing", prefix.as_str()))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let place = |error: StoreError| error.with_location(self.location()).with_key(prefix.as_str());
        self.list_keys(prefix, visit).map_err(place)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let place = |error: StoreError| error.with_location(self.location()).with_key(prefix.as_str());
        self.list_directory(prefix).map_err(place)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("redb://{}", self.location()), key))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        stamp_of(self, key)
    }
}

impl Ordered for RedbStore {
    fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError> {
        let read = |table: &Reader| {
            let mut page = Page::new();
            for entry in table.range::<&[u8]>(bounds(range))?.take(limit) {
                let (key, value) = entry?;
                page.push((key.value().to_vec(), value.value().len() as u64));
            }
            Ok(page)
        };
        self.0.handle.read(read).map_err(|fault| fault.into_error("listing"))
    }
}

fn bounds(range: &KeyRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Included(&range.from[..]), range.before.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// An error to which the operation and the key have not been added yet.
enum Fault {
    Redb(Error),
    Store(StoreError),
    Other(StoreErrorKind, String),
}

impl Fault {
    fn into_error(self, operation: &'static str) -> StoreError {
        use StoreErrorKind as Kind;
        let error = match self {
            Self::Store(error) => return error,
            Self::Other(kind, message) => return StoreError::new(kind, operation, message),
            Self::Redb(Error::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                return StoreError::new(Kind::Corrupt, operation, "the redb database is damaged")
                    .with_source(error);
            }
            Self::Redb(Error::Io(error)) => return StoreError::from_io(operation, error),
            Self::Redb(error) => error,
        };
        let (kind, message) = match &error {
            Error::DatabaseAlreadyOpen => (Kind::Unreachable, "another process has the redb database open"),
            Error::Corrupted(_) | Error::RepairAborted => (Kind::Corrupt, "the redb database is damaged"),
            Error::UpgradeRequired(_) => {
                (Kind::Unsupported, "the redb database has an old format that must be upgraded")
            }
            Error::ValueTooLarge(_) => (Kind::TooLarge, "the value is larger than redb's 3 GiB"),
            Error::TableDoesNotExist(_) => {
                (Kind::Corrupt, "the redb database has no table 'zarr' with Zarr data")
            }
            Error::TableTypeMismatch { .. }
            | Error::TableIsMultimap(_)
            | Error::TypeDefinitionChanged { .. } => {
                (Kind::Corrupt, "the table 'zarr' of the redb database does not map bytes to bytes")
            }
            _ => return StoreError::new(Kind::Other, operation, error.to_string()).with_source(error),
        };
        StoreError::new(kind, operation, message).with_source(error)
    }
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Redb(error.into())
    }
}
