//! [`SqliteStore`].

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use std::{fmt, fs, io};

use bytes::Bytes;
use rusqlite::config::DbConfig;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use crate::database::digest::{Digested, conflict, is_unchanged, version_of};
use crate::database::options::{DatabaseOptions, DatabaseStore, io, opened_by_default};
use crate::database::ordered::{KeyRange, Ordered, Page};
use crate::database::scheme::scheme;
use crate::database::shared::{OpenDatabases, Shared};
use zarrox_stores::internals::fork::delay_fork;
use zarrox_stores::internals::per_process::PerProcess;
use zarrox_stores::internals::support::{
    LOCK_TIMEOUT, check_rename, checked_length, ranges_of, reserved, stamp_of,
};
use zarrox_stores::internals::sync::{Mutex, unpoisoned};
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Scheme, Stamp,
    StorageOption, Store, StoreError, StoreErrorKind, Value, Version, provided,
};

/// The table that zarr-python uses.
const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)";

/// The size, in bytes, from which values are read with incremental I/O, which can read parts of a value.
const LARGE: u64 = 64 << 10;

/// The query for a row, without the bytes of a large value.
const FIND: &str = "SELECT rowid, typeof(v), octet_length(v), CASE WHEN octet_length(v) <= ?2 THEN v END \
                    FROM zarr WHERE k = ?1";

/// The maximum number of idle connections that are kept.
const IDLE: usize = 16;

/// The approximate maximum timeout of SQLite, which stores it as a 31-bit number of milliseconds.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 24 * 3600);

pub(crate) static SCHEME: Scheme =
    scheme::<SqliteStore>(&["sqlite"], &[StorageOption::SYNC, StorageOption::LOCK_TIMEOUT]);

/// The locks of all open files. In a database without a write-ahead log, readers and writers exclude each other; with these
/// locks, the threads of one process wait for each other without polling.
static GATES: OpenDatabases<RwLock<()>> = OpenDatabases::new();

/// A store whose values are rows of an SQLite database, as in zarr-python's `SQLiteStore`.
///
/// All values are in one table, `zarr(k TEXT PRIMARY KEY, v BLOB)`, with the key as text and the value as bytes. Other tables are
/// ignored. Every write is a transaction, so readers, including other processes, see either the old or the new value, and a crash
/// leaves one of the two.
///
/// | option | default |
/// |---|---|
/// | [`read_only`](DatabaseOptions::read_only) | reads and writes, if the file is writable |
/// | [`write_ahead_log`](DatabaseOptions::write_ahead_log) | the journal mode of the file |
/// | [`sync`](DatabaseOptions::sync) | every write is flushed to the disk |
/// | [`lock_timeout`](DatabaseOptions::lock_timeout) | one minute |
///
/// On a local file system, any number of processes may use the file. A writer that waits too long for another process fails with
/// [`StoreErrorKind::Unreachable`]. The version of a value is a digest of its bytes, which is compared within the transaction
/// that writes, so no writer undoes the changes of another process, including those made by zarr-python.
///
/// Parts of values can be read without the rest. With [`open_with`](Store::open_with), this is the case only in a database with a
/// write-ahead log: in other databases, an open value would block all writers, so values are read as a whole when they are
/// opened.
///
/// Files are not trusted: triggers, views and functions in the schema are never executed.
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

/// [`DatabaseOptions`] of an [`SqliteStore`], with [`write_ahead_log`](DatabaseOptions::write_ahead_log).
pub type SqliteOptions = DatabaseOptions<SqliteStore>;

/// The settings that are specific to SQLite.
#[derive(Clone, Debug, Default)]
pub struct SqliteSettings {
    write_ahead_log: bool,
}

impl DatabaseOptions<SqliteStore> {
    /// Enables the write-ahead log, with which readers and writers do not wait for each other, and writing is faster.
    ///
    /// The setting is stored in the file. While the database is open, there are two more files beside it. zarr-python can read
    /// and write a database with a write-ahead log as well, but no program can read it in a directory without write permission.
    #[must_use]
    pub fn write_ahead_log(mut self, on: bool) -> Self {
        self.settings.write_ahead_log = on;
        self
    }
}

opened_by_default!(SqliteStore);

impl DatabaseStore for SqliteStore {
    type Settings = SqliteSettings;

    const EXTENSIONS: &'static [&'static str] = &["db", "sqlite", "sqlite3", "sqldb"];
    const LOCK_TIMEOUT: Duration = LOCK_TIMEOUT;

    fn open_at(path: PathBuf, options: SqliteOptions, create: bool) -> Result<Self, StoreError> {
        check_file(&path, create).map_err(io)?;
        let gate = GATES.open(&path, || Ok::<_, StoreError>(RwLock::default()))?;
        let mut inner = Inner { gate, options, log: false, writable: false, idle: PerProcess::default() };
        inner.prepare(create).map_err(|fault| fault.into_error("opening"))?;
        Ok(Self(Arc::new(inner)))
    }
}

/// Checks the file, since SQLite's own error message is just "unable to open database file". The file is not opened, since
/// closing it would release the locks that other handles of this process have on it.
fn check_file(path: &Path, create: bool) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => may_read(path),
        Err(error) if create && error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn may_read(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::READ_OK)?)
}

#[cfg(not(unix))]
fn may_read(path: &Path) -> io::Result<()> {
    fs::File::open(path).map(drop)
}

struct Inner {
    gate: Shared<RwLock<()>>,
    options: SqliteOptions,
    /// True if the database has a write-ahead log.
    log: bool,
    writable: bool,
    /// Idle connections. A forked process must not share connections with its parent.
    idle: PerProcess<Arc<Mutex<Vec<Connection>>>>,
}

impl Inner {
    /// Opens the first connection, and checks the file.
    fn prepare(&mut self, create: bool) -> Result<(), Fault> {
        let _delay = delay_fork();
        let connection = self.connect(create)?;
        self.writable = !self.options.read_only && !connection.is_readonly("main")?;
        if create && self.writable {
            let _writing = self.gate.write().unwrap_or_else(PoisonError::into_inner);
            connection.execute_batch(CREATE_TABLE)?;
        }
        let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
        if encoding != "UTF-8" {
            let message =
                "the text encoding of the database is UTF-16; copy its table into a database with UTF-8";
            return Err(Fault::Other(StoreErrorKind::Unsupported, message.into()));
        }
        check_table(&connection)?;
        if self.options.settings.write_ahead_log && self.writable {
            let _writing = self.gate.write().unwrap_or_else(PoisonError::into_inner);
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        }
        let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        self.log = journal == "wal";
        unpoisoned(&self.idle()).push(connection);
        Ok(())
    }

    fn connect(&self, create: bool) -> Result<Connection, Fault> {
        let access = match (self.options.read_only, create) {
            (true, _) => OpenFlags::SQLITE_OPEN_READ_ONLY,
            (false, false) => OpenFlags::SQLITE_OPEN_READ_WRITE,
            (false, true) => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.gate.path(), flags)?;
        connection.busy_timeout(self.options.lock_timeout.min(LONGEST_WAIT))?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.execute_batch("PRAGMA cell_size_check = ON")?;
        // With SQLite's default, a committed transaction may be rolled back after a power failure, since the deletion of its
        // journal is not flushed.
        let synchronous = if self.options.sync { "EXTRA" } else { "OFF" };
        connection.execute_batch(&format!("PRAGMA synchronous = {synchronous}"))?;
        Ok(connection)
    }

    fn location(&self) -> String {
        self.gate.path().to_string_lossy().into_owned()
    }

    fn error(&self, fault: Fault, operation: &'static str, key: &str) -> StoreError {
        fault.into_error(operation).with_location(self.location()).with_key(key)
    }

    fn idle(&self) -> Arc<Mutex<Vec<Connection>>> {
        self.idle.get(Arc::default)
    }

    fn take(&self) -> Result<Connection, Fault> {
        let idle = unpoisoned(&self.idle()).pop();
        idle.map_or_else(|| self.connect(false), Ok)
    }

    fn give_back(&self, connection: Connection) {
        if !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err() {
            return;
        }
        let idle = self.idle();
        let mut idle = unpoisoned(&idle);
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }

    /// Excludes the writers of this process, if the journal mode requires it.
    fn reading(&self) -> Option<RwLockReadGuard<'_, ()>> {
        (!self.log).then(|| self.gate.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads in a single transaction, so that all results belong to the same version.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let _delay = delay_fork();
        let _reading = self.reading();
        let connection = self.take()?;
        let result = begin(&connection, "BEGIN").and_then(|()| read(&connection));
        self.give_back(connection);
        result
    }

    /// Writes in a single transaction, which is rolled back on error.
    fn write<T>(&self, write: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        if !self.writable {
            return Err(Fault::Other(StoreErrorKind::ReadOnly, "the store was opened read-only".into()));
        }
        let _delay = delay_fork();
        let _writing = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let connection = self.take()?;
        let work = || {
            begin(&connection, "BEGIN IMMEDIATE")?;
            let done = write(&connection)?;
            begin(&connection, "COMMIT")?;
            Ok(done)
        };
        let result = work();
        self.give_back(connection);
        result
    }
}

fn begin(connection: &Connection, sql: &str) -> Result<(), Fault> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

fn check_table(connection: &Connection) -> Result<(), Fault> {
    let sql =
        "SELECT type FROM sqlite_schema WHERE name = 'zarr' COLLATE NOCASE AND type IN ('table', 'view')";
    let found: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    let corrupt = |message: &str| Err(Fault::Other(StoreErrorKind::Corrupt, message.into()));
    match found.as_deref() {
        None => corrupt("the SQLite database has no table 'zarr' with Zarr data"),
        Some("table") if connection.prepare("SELECT rowid, k, v FROM zarr").is_ok() => Ok(()),
        Some(_) => corrupt("'zarr' is not a table zarr(k TEXT PRIMARY KEY, v BLOB) with Zarr data"),
    }
}

/// The result of looking up a key.
enum Found {
    Small(Bytes),
    Large { row: i64, size: u64 },
}

impl Found {
    fn size(&self) -> u64 {
        match self {
            Self::Small(bytes) => bytes.len() as u64,
            Self::Large { size, .. } => *size,
        }
    }

    /// Reads the whole value.
    fn read(self, connection: &Connection) -> Result<Bytes, Fault> {
        match self {
            Self::Small(bytes) => Ok(bytes),
            Self::Large { row, size } => {
                let length = checked_length(size, 0, size)?;
                let mut buffer = reserved(length)?;
                buffer.resize(length, 0);
                read_blob(connection, row, 0, &mut buffer)?;
                Ok(buffer.into())
            }
        }
    }
}

/// Returns true if the range is the whole value.
fn is_whole(range: Option<ByteRange>, size: u64) -> bool {
    matches!(range, Some(ByteRange::From { offset: 0, length }) if length.is_none_or(|length| length >= size))
}

/// Returns an error if the value does not satisfy the condition. This is called in the transaction that changes the value.
fn check(
    connection: &Connection,
    key: &Key,
    condition: Condition<'_>,
    operation: &'static str,
) -> Result<(), Fault> {
    let there = || {
        let Some(found) = find(connection, key)? else { return Ok::<_, Fault>(None) };
        Ok(Some(version_of(&found.read(connection)?)))
    };
    if is_unchanged(condition, there)? { Ok(()) } else { Err(conflict(operation).into()) }
}

fn find(connection: &Connection, key: &Key) -> Result<Option<Found>, Fault> {
    let mut statement = connection.prepare_cached(FIND)?;
    let mut rows = statement.query(params![key.as_str(), LARGE.cast_signed()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let kind = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
    if !matches!(kind, "blob" | "text") {
        let message = format!("the column v has a value of the type {kind} instead of a blob,");
        return Err(Fault::Other(StoreErrorKind::Obstructed, message));
    }
    let size = u64::try_from(row.get::<_, i64>(2)?).unwrap_or_default();
    if size > LARGE {
        return Ok(Some(Found::Large { row: row.get(0)?, size }));
    }
    let bytes = row.get_ref(3)?.as_bytes().map_err(rusqlite::Error::from)?;
    Ok(Some(Found::Small(Bytes::copy_from_slice(bytes))))
}

fn read_blob(connection: &Connection, row: i64, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
    let offset = checked_length(offset, 0, offset)?;
    let blob = connection.blob_open("main", "zarr", "v", row, true)?;
    Ok(blob.read_at_exact(buffer, offset)?)
}

impl SqliteStore {
    /// Returns the path of the file, which is absolute and contains no links.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.gate.path()
    }

    fn fail(&self, operation: &'static str, key: &str) -> impl Fn(Fault) -> StoreError {
        move |fault| self.0.error(fault, operation, key)
    }

    /// Opens a value. A large value keeps a connection of its own, in the transaction that found it, unless the whole value is
    /// read at once.
    fn open_in_transaction(
        &self,
        key: &Key,
        first: Option<ByteRange>,
    ) -> Result<Option<Box<dyn Value>>, Fault> {
        let _delay = delay_fork();
        let connection = self.0.take()?;
        let found = begin(&connection, "BEGIN").and_then(|()| find(&connection, key));
        if let Ok(Some(Found::Large { row, size })) = found
            && !is_whole(first, size)
        {
            let connection = Mutex::new(Some(connection));
            return Ok(Some(Box::new(LargeValue {
                store: self.clone(),
                connection,
                row,
                size,
                key: key.clone(),
            })));
        }
        let bytes = found.and_then(|found| found.map(|found| found.read(&connection)).transpose());
        self.0.give_back(connection);
        Ok(bytes?.map(|bytes| Box::new(Digested(bytes)) as Box<dyn Value>))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("SqliteStore");
        debug.field("path", &self.path()).field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    provided!(directory get_many contains flush hold exchange);

    fn location(&self) -> String {
        self.0.location()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = self.0.writable;
        capabilities.listable = true;
        capabilities.set_if_absent = self.0.writable;
        capabilities.set_if_unchanged = self.0.writable;
        capabilities.erase_if_unchanged = self.0.writable;
        capabilities.digest_versions = true;
        capabilities.rename = self.0.writable;
        capabilities.values_above_values = true;
        capabilities
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        if self.0.log {
            return self.open_in_transaction(key, first).map_err(self.fail("reading", key.as_str()));
        }
        Ok(self.get(key)?.map(|bytes| Box::new(Digested(bytes)) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let whole = |connection: &Connection| {
            let Some(found) = find(connection, key)? else { return Ok(None) };
            found.read(connection).map(Some)
        };
        self.0.read(whole).map_err(self.fail("reading", key.as_str()))
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        let _reading = self.0.reading();
        let opened = self.open_in_transaction(key, None).map_err(self.fail("reading", key.as_str()))?;
        opened.map(|value| ranges_of(self, key, &*value, ranges)).transpose()
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        let found = self.0.read(|connection| find(connection, key));
        Ok(found.map_err(self.fail("reading", key.as_str()))?.map(|found| found.size()))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let sql = match condition {
            Condition::Absent => "INSERT INTO zarr(k, v) VALUES (?1, ?2)",
            _ => "REPLACE INTO zarr(k, v) VALUES (?1, ?2)",
        };
        let put = |connection: &Connection| {
            check(connection, key, condition, "writing")?;
            Ok(connection.prepare_cached(sql)?.execute(params![key.as_str(), value])?)
        };
        self.0.write(put).map(drop).map_err(self.fail("writing", key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        let sql = "DELETE FROM zarr WHERE k = ?1";
        let erase = |connection: &Connection| {
            check(connection, key, condition, "erasing")?;
            Ok(connection.prepare_cached(sql)?.execute([key.as_str()])?)
        };
        Ok(self.0.write(erase).map_err(self.fail("erasing", key.as_str()))? > 0)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let (from, before) = bounds(&KeyRange::below(prefix));
        let sql = "DELETE FROM zarr WHERE k >= ?1 AND k < ?2";
        let erase =
            |connection: &Connection| Ok(connection.prepare_cached(sql)?.execute(params![from, before])?);
        self.0.write(erase).map(drop).map_err(self.fail("erasing", prefix.as_str()))
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

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        if !check_rename(from, to)? {
            return Ok(());
        }
        self.0.write(|connection| rename(connection, from, to)).map_err(|fault| {
            let taken = matches!(fault, Fault::Other(StoreErrorKind::AlreadyExists, _));
            self.0.error(fault, "renaming", if taken { to.as_str() } else { from.as_str() })
        })
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("sqlite://{}", self.location()), key))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        stamp_of(self, key)
    }
}

impl Ordered for SqliteStore {
    fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError> {
        let sql = "SELECT k, octet_length(v) FROM zarr WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT ?3";
        let (from, before) = bounds(range);
        let page = |connection: &Connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows =
                statement.query(params![from, before, i64::try_from(limit).unwrap_or(i64::MAX)])?;
            let mut page = Page::new();
            while let Some(row) = rows.next()? {
                let key = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?.to_vec();
                let size = row.get::<_, Option<i64>>(1)?.unwrap_or_default();
                page.push((key, u64::try_from(size).unwrap_or_default()));
            }
            Ok(page)
        };
        self.0.read(page).map_err(|fault| fault.into_error("listing"))
    }
}

/// Returns the bounds of a range as values for comparisons in SQLite, where all text sorts before the empty blob.
fn bounds(range: &KeyRange) -> (SqlValue, SqlValue) {
    let text = |bytes: &[u8]| SqlValue::Text(String::from_utf8_lossy(bytes).into_owned());
    let before = range.before.as_deref().map_or(SqlValue::Blob(Vec::new()), text);
    (text(&range.from), before)
}

fn rename(connection: &Connection, from: &Prefix, to: &Prefix) -> Result<(), Fault> {
    let (target, target_end) = bounds(&KeyRange::below(to));
    let sql = "SELECT EXISTS (SELECT 1 FROM zarr WHERE k >= ?1 AND k < ?2)";
    if connection.query_row(sql, params![target, target_end], |row| row.get::<_, bool>(0))? {
        return Err(Fault::Other(StoreErrorKind::AlreadyExists, "the destination already exists".into()));
    }
    let (source, source_end) = bounds(&KeyRange::below(from));
    let sql = "UPDATE zarr SET k = ?3 || substr(k, length(?1) + 1) WHERE k >= ?1 AND k < ?2";
    match connection.execute(sql, params![source, source_end, to.as_str()])? {
        0 => Err(Fault::Other(StoreErrorKind::NotFound, "nothing found".into())),
        _ => Ok(()),
    }
}

/// A large value, whose connection stays in the transaction that found it.
struct LargeValue {
    store: SqliteStore,
    /// `None` only while this value is being dropped.
    connection: Mutex<Option<Connection>>,
    row: i64,
    size: u64,
    key: Key,
}

impl Value for LargeValue {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let place =
            |error: StoreError| error.with_location(self.store.location()).with_key(self.key.as_str());
        checked_length(self.size, offset, buffer.len() as u64).map_err(place)?;
        let _delay = delay_fork();
        let connection = unpoisoned(&self.connection);
        let Some(connection) = connection.as_ref() else { return Ok(()) };
        let done = read_blob(connection, self.row, offset, buffer);
        done.map_err(|fault| self.store.0.error(fault, "reading", self.key.as_str()))
    }

    fn version(&self) -> Option<Version> {
        self.read(0, self.size).ok().map(|bytes| version_of(&bytes))
    }
}

impl Drop for LargeValue {
    fn drop(&mut self) {
        let _delay = delay_fork();
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        connection.into_iter().for_each(|connection| self.store.0.give_back(connection));
    }
}

/// An error to which the operation and the key have not been added yet.
enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
    Other(StoreErrorKind, String),
}

impl Fault {
    fn into_error(self, operation: &'static str) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Other(kind, message) => StoreError::new(kind, operation, message),
            Self::Sql(error) => {
                let (kind, message) = describe(&error);
                let message = message.map_or_else(|| error.to_string(), str::to_owned);
                StoreError::new(kind, operation, message).with_source(error)
            }
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Returns the kind of an SQLite error, and a message if SQLite's own message is not clear enough.
fn describe(error: &rusqlite::Error) -> (StoreErrorKind, Option<&'static str>) {
    use StoreErrorKind as Kind;
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => (Kind::AlreadyExists, Some("the value already exists")),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            (Kind::Unreachable, Some("another program has locked the database for too long"))
        }
        Some(ErrorCode::NotADatabase) => (Kind::Corrupt, Some("the file is not an SQLite database")),
        Some(ErrorCode::DatabaseCorrupt) => (
            Kind::Corrupt,
            Some("the SQLite database is damaged (the program sqlite3 can '.recover' the rest)"),
        ),
        Some(ErrorCode::DiskFull) => (Kind::StorageFull, Some("no space left on device")),
        Some(ErrorCode::ReadOnly) => (
            Kind::ReadOnly,
            Some("the file or its directory, where SQLite keeps its journal, cannot be written"),
        ),
        Some(ErrorCode::TooBig) => {
            (Kind::TooLarge, Some("larger than SQLite's limit of 1,000,000,000 bytes"))
        }
        Some(ErrorCode::OutOfMemory) => (Kind::OutOfMemory, Some("not enough memory")),
        Some(ErrorCode::PermissionDenied) => (Kind::Forbidden, Some("permission denied")),
        Some(ErrorCode::CannotOpen) => {
            (Kind::Forbidden, Some("SQLite cannot open the file or create its journal"))
        }
        _ => (Kind::Other, None),
    }
}
