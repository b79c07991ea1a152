//! The options of embedded databases: [`DatabaseOptions`].

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zarrox_stores::internals::support::{create_directories, directory_of, sync_directory};
use zarrox_stores::{Store, StoreError, StoreErrorKind};

use crate::database::shared::canonical;

/// A store in an embedded database, which is a file or a directory with a few files. It is opened with [`DatabaseOptions`].
pub trait DatabaseStore: Store + Clone + Sized + 'static {
    /// The settings that are specific to this kind of database.
    #[doc(hidden)]
    type Settings: Clone + Debug + Default;

    /// The file extensions that separate the file from the node in a URL.
    #[doc(hidden)]
    const EXTENSIONS: &'static [&'static str];

    /// The default of [`lock_timeout`](DatabaseOptions::lock_timeout).
    #[doc(hidden)]
    const LOCK_TIMEOUT: Duration;

    /// Returns true if a path may be a database of this kind, because its files exist.
    #[doc(hidden)]
    fn exists(path: &Path) -> bool {
        path.is_file()
    }

    /// Returns the directory that must exist for a database at this path.
    #[doc(hidden)]
    fn parent<'a>(path: &'a Path, _: &DatabaseOptions<Self>) -> &'a Path {
        directory_of(path)
    }

    /// Opens the database at a path whose symbolic links have been resolved. With `create`, it is created if it does not exist.
    /// Errors need not include the location.
    #[doc(hidden)]
    fn open_at(path: PathBuf, options: DatabaseOptions<Self>, create: bool) -> Result<Self, StoreError>;
}

/// Options for opening an embedded database.
///
/// | option | default |
/// |---|---|
/// | [`read_only`](Self::read_only) | reads and writes |
/// | [`sync`](Self::sync) | every write is flushed to the disk |
/// | [`lock_timeout`](Self::lock_timeout) | see the documentation of each store |
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("data.sqlite");
/// use zarrox_databases::SqliteOptions;
///
/// let store = SqliteOptions::new().sync(false).create(path)?;
/// # }
/// # Ok::<(), zarrox_stores::StoreError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DatabaseOptions<S: DatabaseStore> {
    pub(super) read_only: bool,
    pub(super) sync: bool,
    pub(super) lock_timeout: Duration,
    pub(super) settings: S::Settings,
}

impl<S: DatabaseStore> Default for DatabaseOptions<S> {
    fn default() -> Self {
        Self { read_only: false, sync: true, lock_timeout: S::LOCK_TIMEOUT, settings: S::Settings::default() }
    }
}

impl<S: DatabaseStore> DatabaseOptions<S> {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the database is opened read-only. LMDB writes its lock file even so.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets whether writes are flushed to the disk. Without flushing, writing is much faster, but a power failure may damage the
    /// whole database, not only the most recent values. In either case, killing a process does no harm, except to a GDBM file.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Sets how long to wait for locks that other processes hold. This applies to opening a redb or GDBM file, to each SQLite
    /// operation, and to each LMDB write. After the timeout, nothing is written.
    #[must_use]
    pub fn lock_timeout(mut self, longest: Duration) -> Self {
        self.lock_timeout = longest;
        self
    }

    /// Opens an existing database.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when the database does not exist, [`StoreErrorKind::Corrupt`] when it is damaged, has another
    /// format or contains no Zarr data, and [`StoreErrorKind::Unreachable`] when another process has locked it.
    pub fn open(self, path: impl AsRef<Path>) -> Result<S, StoreError> {
        self.open_or_create(path.as_ref(), false)
    }

    /// Opens a database. If it does not exist, creates it, together with any missing parent directories.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open), and an error when the database cannot be created.
    pub fn create(self, path: impl AsRef<Path>) -> Result<S, StoreError> {
        let create = !self.read_only;
        self.open_or_create(path.as_ref(), create)
    }

    fn open_or_create(self, path: &Path, create: bool) -> Result<S, StoreError> {
        let opened = || {
            if create {
                create_directories(S::parent(path, &self), self.sync).map_err(io)?;
            }
            S::open_at(canonical(path).map_err(io)?, self, create)
        };
        opened().map_err(|error| error.with_location(path.to_string_lossy()))
    }

    /// Flushes the directory entry of a file that has just been created.
    pub(super) fn flush_name(&self, file: &Path) -> Result<(), StoreError> {
        if self.sync { sync_directory(directory_of(file)).map_err(io) } else { Ok(()) }
    }

    /// Returns an error if this process has the database open read-only, but the options request write access.
    pub(super) fn check_access(&self, is_open_read_only: bool) -> Result<(), StoreError> {
        if self.read_only || !is_open_read_only {
            return Ok(());
        }
        let message = "this process has the database open read-only; close that handle first";
        Err(StoreError::new(StoreErrorKind::Other, "opening", message))
    }
}

/// Returns the error for a file that cannot be opened.
pub(super) fn io(error: std::io::Error) -> StoreError {
    StoreError::from_io("opening", error)
}

/// Constructors of a store with the default options.
macro_rules! opened_by_default {
    ($store:ident) => {
        impl $store {
            /// Opens an existing database, with the default options.
            ///
            /// # Errors
            ///
            /// See [`DatabaseOptions::open`](crate::DatabaseOptions::open).
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, zarrox_stores::StoreError> {
                crate::DatabaseOptions::new().open(path)
            }

            /// Opens a database, or creates it if it does not exist, with the default options.
            ///
            /// # Errors
            ///
            /// See [`DatabaseOptions::create`](crate::DatabaseOptions::create).
            pub fn create(path: impl AsRef<std::path::Path>) -> Result<Self, zarrox_stores::StoreError> {
                crate::DatabaseOptions::new().create(path)
            }
        }
    };
}

pub(super) use opened_by_default;
