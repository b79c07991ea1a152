//! [`LmdbStore`].

use std::fs::{File, TryLockError};
use std::io;
use std::io::Read;
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use bytes::Bytes as Buffer;
use heed::types::Bytes;
use heed::{
    CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags, RoTxn, RwTxn, WithoutTls,
};

use crate::database::digest::{Digested, conflict, is_unchanged, version_of};
use crate::database::options::{DatabaseOptions, DatabaseStore, opened_by_default};
use crate::database::ordered::{KeyRange, Ordered, Page};
use crate::database::scheme::scheme;
use crate::database::shared::{OpenDatabases, Shared};
use zarrox_stores::internals::support::{
    HeldLock, LOCK_TIMEOUT, NOTICE, checked_length, directory_of, identity, is_unsupported, ranges_of,
    reserved, stamp_of,
};
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Scheme, Stamp,
    StorageOption, Store, StoreError, StoreErrorKind, Value, provided,
};

/// The maximum length of a key in LMDB, in bytes.
const LONGEST_KEY: usize = 511;

/// The default address space of a database, in bytes. On 64-bit systems, it is the same as in zarr-python.
const MAP_SIZE: usize = if usize::BITS >= 64 { 1 << 40 } else { 1 << 28 };

/// The smallest address space to try, in bytes.
const SMALLEST_MAP: usize = 1 << 20;

/// The granularity of the address space, in bytes: a multiple of the page size of every system.
const GRAIN: usize = 1 << 16;

/// The data file of an environment that is a directory.
const DATA_FILE: &str = "data.mdb";

static OPEN: OpenDatabases<Environment> = OpenDatabases::new();

pub(crate) static SCHEME: Scheme =
    scheme::<LmdbStore>(&["lmdb"], &[StorageOption::SYNC, StorageOption::LOCK_TIMEOUT]);

/// A store whose values are in an LMDB database under their keys, as in zarr-python's `LMDBStore`.
///
/// All values are in the unnamed database of the environment, which is a directory with the files `data.mdb` and `lock.mdb`, or a
/// single file with a lock file beside it. Keys have up to 511 bytes. Every write is a transaction, so readers, including other
/// processes, see either the old or the new value.
///
/// | option | default |
/// |---|---|
/// | [`read_only`](DatabaseOptions::read_only) | reads and writes |
/// | [`map_size`](DatabaseOptions::map_size) | 1 TiB of address space, or less if that is not available; grows as needed |
/// | [`sync`](DatabaseOptions::sync) | every write is flushed to the disk |
/// | [`single_file`](DatabaseOptions::single_file) | a new database is a directory |
/// | [`lock_timeout`](DatabaseOptions::lock_timeout) | one minute |
///
/// All handles of a process share one environment, with the options of the first handle; writes are flushed once any handle has
/// set `sync`. On a local file system, other processes may use the database concurrently: a writer waits until no other process
/// is writing. The version of a value is a digest of its bytes; it is compared within the transaction that writes.
///
/// # Only for trusted files
///
/// LMDB maps its file into memory and trusts the contents. A truncated file, or a file in another format, is reported when it is
/// opened; but a file with internal damage, or one that is truncated while it is open, may crash the process.
#[derive(Clone, Debug)]
pub struct LmdbStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    environment: Shared<Environment>,
    writable: bool,
    lock_timeout: Duration,
}

/// [`DatabaseOptions`] of an [`LmdbStore`], with [`map_size`](DatabaseOptions::map_size) and
/// [`single_file`](DatabaseOptions::single_file).
pub type LmdbOptions = DatabaseOptions<LmdbStore>;

/// The settings that are specific to LMDB.
#[derive(Clone, Debug, Default)]
pub struct LmdbSettings {
    map_size: Option<usize>,
    single_file: bool,
}

impl DatabaseOptions<LmdbStore> {
    /// Sets the initial size of the address space, in bytes. The address space is doubled whenever it is too small.
    #[must_use]
    pub fn map_size(mut self, bytes: usize) -> Self {
        self.settings.map_size = Some(bytes);
        self
    }

    /// Sets whether [`create`](Self::create) creates a single file instead of a directory (`subdir=False` in Python's `lmdb`).
    #[must_use]
    pub fn single_file(mut self, single_file: bool) -> Self {
        self.settings.single_file = single_file;
        self
    }
}

opened_by_default!(LmdbStore);

impl DatabaseStore for LmdbStore {
    type Settings = LmdbSettings;

    const EXTENSIONS: &'static [&'static str] = &["lmdb", "mdb"];
    const LOCK_TIMEOUT: Duration = LOCK_TIMEOUT;

    fn exists(path: &Path) -> bool {
        path.is_file() || path.join(DATA_FILE).is_file()
    }

    fn parent<'a>(path: &'a Path, options: &LmdbOptions) -> &'a Path {
        if options.settings.single_file || path.exists() { directory_of(path) } else { path }
    }

    fn open_at(path: PathBuf, options: LmdbOptions, create: bool) -> Result<Self, StoreError> {
        let single_file = options.settings.single_file && !path.exists() || path.is_file();
        let data = if single_file { path.clone() } else { path.join(DATA_FILE) };
        // A process that was killed while creating a database may have left an empty file, which LMDB fills.
        let unmade = data.metadata().map_or(true, |found| found.is_file() && found.len() == 0);
        let failed = |fault: Fault| fault.into_error("opening");
        if !create || !unmade {
            check_file(&data).map_err(failed)?;
        }
        let open = || Environment::open(&path, single_file, &options);
        let environment = OPEN.open(&path, open).map_err(failed)?;
        if create {
            options.flush_name(&data)?;
        }
        environment.sync.fetch_or(options.sync, Ordering::Relaxed);
        options.check_access(environment.read_only)?;
        let (writable, lock_timeout) = (!options.read_only, options.lock_timeout);
        Ok(Self(Arc::new(Inner { environment, writable, lock_timeout })))
    }
}

/// Returns an error for a file that is not an LMDB database, or that is shorter than its header says: reading beyond the end
/// would crash the process.
fn check_file(path: &Path) -> Result<(), Fault> {
    let mut file = File::open(path)?;
    let corrupt = |message: &str| Err(Fault::Other(StoreErrorKind::Corrupt, message.into()));
    let mut head = Vec::new();
    // The header of the first page is followed by the first of two meta records.
    file.by_ref().take(META_END as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return corrupt(
            "the file is empty: the creation of an LMDB database was interrupted; create it again",
        );
    }
    let Some(first) = Meta::read(&head) else { return corrupt("the file is not an LMDB database") };
    let page = first.page_size;
    if !(512..=65_536).contains(&page) || !page.is_power_of_two() {
        return corrupt("the file is an LMDB database of another machine architecture");
    }
    let mut pages = vec![0; usize::try_from(2 * page).unwrap_or_default()];
    io::Seek::rewind(&mut file)?;
    file.read_exact(&mut pages).or_else(|_| corrupt("the LMDB database is truncated in its first pages"))?;
    let Some(second) = Meta::read(&pages[pages.len() / 2..]) else {
        return corrupt("the second page is not a page of an LMDB database");
    };
    let newest = if second.transaction > first.transaction { second } else { first };
    let needed = newest.last_page.checked_add(1).and_then(|pages| pages.checked_mul(u64::from(page)));
    // Another process may be writing, but it writes the pages of a meta record before the record itself.
    let length = file.metadata()?.len();
    match needed {
        Some(needed) if needed <= length => Ok(()),
        _ => corrupt("the LMDB database is truncated: the file is shorter than its header says"),
    }
}

/// The offset of the end of the first meta record, on 64-bit machines.
const META_END: usize = 16 + 136;

/// The required fields of a meta record.
struct Meta {
    page_size: u32,
    last_page: u64,
    transaction: u64,
}

impl Meta {
    /// Reads the record that follows the header of a page. For files of 32-bit machines, whose layout differs, only the magic
    /// number is checked.
    fn read(page: &[u8]) -> Option<Self> {
        let record = page.get(16..META_END)?;
        let word = |at: usize| Some(u32::from_ne_bytes(record.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(record.get(at..at + 8)?.try_into().ok()?));
        if word(0)? != 0xBEEF_C0DE {
            return None;
        }
        if usize::BITS < 64 {
            return Some(Self { page_size: 4096, last_page: 0, transaction: 0 });
        }
        Some(Self { page_size: word(24)?, last_page: long(120)?, transaction: long(128)? })
    }
}

/// One open environment.
#[derive(Debug)]
struct Environment {
    map: Map,
    /// The path of the data file.
    data: PathBuf,
    database: Table,
    read_only: bool,
    /// True once any handle has set `sync`.
    sync: AtomicBool,
    /// True if LMDB itself flushes each write.
    syncs: bool,
}

impl Environment {
    fn open(path: &Path, single_file: bool, options: &LmdbOptions) -> Result<Self, Fault> {
        let mut flags = EnvFlags::empty();
        flags.set(EnvFlags::NO_SUB_DIR, single_file);
        flags.set(EnvFlags::READ_ONLY, options.read_only);
        flags.set(EnvFlags::NO_SYNC, !options.sync);
        let mut size =
            options.settings.map_size.unwrap_or(MAP_SIZE).max(SMALLEST_MAP).next_multiple_of(GRAIN);
        let env = loop {
            match open_environment(path, flags, size) {
                Err(heed::Error::Io(error))
                    if error.kind() == io::ErrorKind::OutOfMemory && size > SMALLEST_MAP =>
                {
                    size = (size / 2).next_multiple_of(GRAIN);
                }
                done => break done?,
            }
        };
        // Entries of killed readers would prevent old pages from being reused.
        env.clear_stale_readers()?;
        let map = Map { env, in_use: RwLock::default() };
        let database = map.work(|env| Ok(main_database(env)?))?;
        let Some(database) = database else {
            let message = "the LMDB database has no main database";
            return Err(Fault::Other(StoreErrorKind::Corrupt, message.into()));
        };
        let sync = AtomicBool::new(options.sync);
        let data = if single_file { path.to_owned() } else { path.join(DATA_FILE) };
        Ok(Self { map, data, database, read_only: options.read_only, sync, syncs: options.sync })
    }

    fn read<T>(&self, read: impl Fn(&RoTxn<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        self.map.work(|env| read(&*env.read_txn()?))
    }

    fn write<T>(
        &self,
        longest: Duration,
        write: impl Fn(&mut RwTxn<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let _writing = self.lock_writers(longest)?;
        self.map.work(|env| {
            let mut transaction = env.write_txn()?;
            let done = write(&mut transaction)?;
            transaction.commit()?;
            if self.sync.load(Ordering::Relaxed) && !self.syncs {
                env.force_sync()?;
            }
            Ok(done)
        })
    }

    /// Waits until no other process is writing. LMDB's own lock is a robust mutex: if a process is killed just as it acquires the
    /// lock of another killed process, the kernel does not wake any waiter, and all of them wait forever. File locks do not have
    /// this race.
    fn lock_writers(&self, longest: Duration) -> Result<Option<HeldLock>, Fault> {
        let file = File::open(&self.data)?;
        let identity = identity(&file)?;
        let locked = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => wait_for_lock(file, longest, &self.data)?,
            Err(TryLockError::Error(error)) if is_unsupported(&error) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        };
        Ok(Some(HeldLock::adopt(locked, identity)))
    }
}

/// Waits at most `longest` for the lock of a file. The kernel queues the waiters, so that all of them get the lock in turn. Since
/// waiting in the kernel has no timeout, it is done on a separate thread.
fn wait_for_lock(file: File, longest: Duration, path: &Path) -> Result<File, Fault> {
    let (answer, locked) = mpsc::sync_channel(1);
    // After the timeout, the result is dropped, which releases the lock.
    thread::Builder::new().spawn(move || drop(answer.send(file.lock().map(|()| file))))?;
    let mut locking = locked.recv_timeout(NOTICE.min(longest));
    if matches!(locking, Err(RecvTimeoutError::Timeout)) && longest > NOTICE {
        tracing::info!("another process writes to {}; waiting for it", path.display());
        locking = locked.recv_timeout(longest - NOTICE);
    }
    match locking {
        Ok(locked) => Ok(locked?),
        Err(_) => Err(Fault::Other(
            StoreErrorKind::TimedOut,
            format!(
                "another process has written for more than {} s; end that process if it hangs, or wait longer with the option \
                 `lock_timeout`,",
                longest.as_secs_f64()
            ),
        )),
    }
}

/// The address space of an environment, which may become too small at any time, since other processes can write as well.
#[derive(Debug)]
struct Map {
    env: Env<WithoutTls>,
    /// A lock that is held exclusively while the map is replaced, since no transaction may be open during that time.
    in_use: RwLock<()>,
}

impl Map {
    /// Retries `work` with a larger map as long as the map is too small.
    fn work<T>(&self, work: impl Fn(&Env<WithoutTls>) -> Result<T, Fault>) -> Result<T, Fault> {
        loop {
            let using = self.in_use.read().unwrap_or_else(PoisonError::into_inner);
            let seen = self.env.info().map_size;
            let result = work(&self.env);
            drop(using);
            match result {
                Err(Fault::Lmdb(heed::Error::Mdb(MdbError::MapFull | MdbError::MapResized))) => {
                    self.grow(seen)?;
                }
                done => return done,
            }
        }
    }

    fn grow(&self, seen: usize) -> Result<(), Fault> {
        let _replacing = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        if self.env.info().map_size > seen {
            return Ok(());
        }
        let size = seen.checked_mul(2).ok_or(MdbError::MapFull).map_err(heed::Error::Mdb)?;
        // SAFETY: all transactions are opened and closed inside `work`, which holds a read lock of `in_use`, so no transaction is
        // open while the write lock is held.
        unsafe { self.env.resize(size.next_multiple_of(GRAIN)) }?;
        Ok(())
    }
}

/// Opens the unnamed database, which every environment has unless it is damaged.
fn main_database(env: &Env<WithoutTls>) -> Result<Option<Table>, heed::Error> {
    let transaction = env.read_txn()?;
    let database = env.open_databases_and_commit(transaction, |opener, transaction| {
        opener.open_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
    })?;
    Ok(database.commit().flatten())
}

fn open_environment(path: &Path, flags: EnvFlags, size: usize) -> Result<Env<WithoutTls>, heed::Error> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(size).max_readers(1024);
    // SAFETY: the flags leave LMDB's locks enabled and its map read-only. No program can ensure that only LMDB changes the file;
    // the documentation of the store states that files must be trusted.
    unsafe { options.flags(flags).open(path) }
}

impl LmdbStore {
    /// Returns the path of the directory or file, which is absolute and contains no links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.environment.path().to_owned()
    }

    fn fail(&self, operation: &'static str, key: &str) -> impl Fn(Fault) -> StoreError {
        move |fault| fault.into_error(operation).with_location(self.location()).with_key(key)
    }

    fn write<T>(&self, write: impl Fn(&Table, &mut RwTxn<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        if !self.0.writable {
            return Err(Fault::Other(StoreErrorKind::ReadOnly, "the store was opened read-only".into()));
        }
        let environment = &self.0.environment;
        environment.write(self.0.lock_timeout, |transaction| write(&environment.database, transaction))
    }

    fn read<T>(&self, read: impl Fn(&Table, &RoTxn<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let environment = &self.0.environment;
        environment.read(|transaction| read(&environment.database, transaction))
    }

    /// Passes a value to `look` without copying it. Keys that are too long for LMDB have no value.
    fn with_value<T>(
        &self,
        key: &Key,
        look: impl Fn(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Fault> {
        if !fits(key) {
            return Ok(None);
        }
        self.read(|table, transaction| {
            let value = table.get(transaction, key.as_str().as_bytes())?;
            Ok(value.map(&look).transpose()?)
        })
    }
}

type Table = Database<'static, Bytes, Bytes>;

/// Returns true if LMDB supports a key of this length.
fn fits(key: &Key) -> bool {
    key.as_str().len() <= LONGEST_KEY
}

/// Returns an error if the value does not satisfy the condition. This is called in the transaction that changes the value.
fn check(
    table: &Table,
    transaction: &RwTxn<'_>,
    key: &Key,
    condition: Condition<'_>,
    operation: &'static str,
) -> Result<(), Fault> {
    let there = || {
        let value = if fits(key) { table.get(transaction, key.as_str().as_bytes())? } else { None };
        Ok::<_, Fault>(value.map(version_of))
    };
    if is_unchanged(condition, there)? { Ok(()) } else { Err(conflict(operation).into()) }
}

impl Store for LmdbStore {
    provided!(directory get_many contains rename_prefix flush hold exchange);

    fn location(&self) -> String {
        self.0.environment.path().to_string_lossy().into_owned()
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

    /// The value is copied, since a transaction that stays open would prevent the database from reusing old pages.
    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(Digested(bytes)) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Buffer>, StoreError> {
        self.with_value(key, copied).map_err(self.fail("reading", key.as_str()))
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Buffer>>, StoreError> {
        let parts = self.with_value(key, |bytes| ranges_of(self, key, &Mapped(bytes), ranges));
        parts.map_err(self.fail("reading", key.as_str()))
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.with_value(key, |bytes| Ok(bytes.len() as u64)).map_err(self.fail("reading", key.as_str()))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let flags = match condition {
            Condition::Absent => PutFlags::NO_OVERWRITE,
            _ => PutFlags::empty(),
        };
        let put = |table: &Table, transaction: &mut RwTxn<'_>| {
            if !fits(key) {
                let message = format!(
                    "LMDB supports keys of up to {LONGEST_KEY} bytes, but this one has {}",
                    key.as_str().len()
                );
                return Err(Fault::Other(StoreErrorKind::InvalidKey, message));
            }
            check(table, transaction, key, condition, "writing")?;
            Ok(table.put_with_flags(transaction, flags, key.as_str().as_bytes(), value)?)
        };
        self.write(put).map_err(self.fail("writing", key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        let erase = |table: &Table, transaction: &mut RwTxn<'_>| {
            check(table, transaction, key, condition, "erasing")?;
            Ok(fits(key) && table.delete(transaction, key.as_str().as_bytes())?)
        };
        self.write(erase).map_err(self.fail("erasing", key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let range = KeyRange::below(prefix);
        let erase = |table: &Table, transaction: &mut RwTxn<'_>| {
            // LMDB does not support longer bounds, and there are no longer keys.
            if range.from.len() <= LONGEST_KEY {
                table.delete_range(transaction, &bounds(&range))?;
            }
            Ok(())
        };
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
        Ok(LockGuard::in_process(&format!("lmdb://{}", self.location()), key))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        stamp_of(self, key)
    }
}

impl Ordered for LmdbStore {
    fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError> {
        let page = |table: &Table, transaction: &RoTxn<'_>| {
            let mut page = Page::new();
            for entry in table.range(transaction, &bounds(range))?.take(limit) {
                let (key, value) = entry?;
                page.push((key.to_vec(), value.len() as u64));
            }
            Ok(page)
        };
        self.read(page).map_err(|fault| fault.into_error("listing"))
    }
}

fn bounds(range: &KeyRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let from = if range.from.is_empty() { Bound::Unbounded } else { Bound::Included(&range.from[..]) };
    (from, range.before.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
}

fn copied(bytes: &[u8]) -> Result<Buffer, StoreError> {
    let mut buffer = reserved(bytes.len())?;
    buffer.extend_from_slice(bytes);
    Ok(buffer.into())
}

/// A value in the map, inside a transaction.
struct Mapped<'a>(&'a [u8]);

impl Value for Mapped<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let length = checked_length(self.size(), offset, buffer.len() as u64)?;
        let start = checked_length(self.size(), 0, offset)?;
        buffer.copy_from_slice(&self.0[start..start + length]);
        Ok(())
    }
}

/// An error to which the operation and the key have not been added yet.
enum Fault {
    Lmdb(heed::Error),
    Store(StoreError),
    Other(StoreErrorKind, String),
}

impl Fault {
    fn into_error(self, operation: &'static str) -> StoreError {
        use StoreErrorKind as Kind;
        let error = match self {
            Self::Store(error) => return error,
            Self::Other(kind, message) => return StoreError::new(kind, operation, message),
            Self::Lmdb(heed::Error::Io(error)) => return StoreError::from_io(operation, error),
            Self::Lmdb(error) => error,
        };
        let heed::Error::Mdb(code) = error else {
            return StoreError::new(Kind::Other, operation, error.to_string()).with_source(error);
        };
        let (kind, message) = match code {
            MdbError::KeyExist => (Kind::AlreadyExists, "the value already exists"),
            MdbError::PageNotFound | MdbError::Corrupted | MdbError::CursorFull | MdbError::PageFull => {
                (Kind::Corrupt, "the LMDB database is damaged")
            }
            MdbError::Invalid => (Kind::Corrupt, "the file is not an LMDB database"),
            MdbError::VersionMismatch => {
                (Kind::Corrupt, "the LMDB database has another version of the format")
            }
            MdbError::MapFull => (Kind::StorageFull, "no address space is left for a larger database"),
            MdbError::ReadersFull => (Kind::Unreachable, "too many transactions read the database at once"),
            MdbError::BadValSize | MdbError::TxnFull => {
                (Kind::TooLarge, "the value is larger than LMDB supports")
            }
            MdbError::Incompatible => (Kind::Obstructed, "the key is the name of a database inside this one"),
            _ => return StoreError::new(Kind::Other, operation, code.to_string()).with_source(error),
        };
        StoreError::new(kind, operation, message).with_source(error)
    }
}

impl From<heed::Error> for Fault {
    fn from(error: heed::Error) -> Self {
        Self::Lmdb(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Lmdb(heed::Error::Io(error))
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
