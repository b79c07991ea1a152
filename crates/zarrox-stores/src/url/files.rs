//! URLs of databases in files: where the file ends in the path, and the node begins.

use std::path::{Path, PathBuf};

#[cfg(any(feature = "sqlite", feature = "lmdb"))]
use super::options::{LOCK_TIMEOUT, LOCK_TIMEOUT_OPTION};
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
use super::options::{SYNC, SYNC_OPTION, StorageOptions};
use super::scheme::{Located, Scheme};
use super::text::StoreUrl;
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
use crate::{StoreError, StoreErrorKind};

/// The files of a kind of database, and what they are known by.
struct Files {
    schemes: &'static [&'static str],
    extensions: &'static [&'static str],
    /// Tells if there is one at a path.
    is_one: fn(&Path) -> bool,
}

/// Every kind that is written.
static WRITTEN: &[&Files] = &[
    #[cfg(feature = "sqlite")]
    &SQLITE_FILES,
    #[cfg(feature = "lmdb")]
    &LMDB_FILES,
    #[cfg(feature = "redb")]
    &REDB_FILES,
    #[cfg(feature = "gdbm")]
    &GDBM_FILES,
];

/// The database that a URL leads to or through, whether it is there yet or not.
pub(super) fn file_of(url: &StoreUrl<'_>) -> Option<PathBuf> {
    let files = WRITTEN.iter().find(|files| files.schemes.contains(&url.scheme()))?;
    Some(split(url, files).0)
}

/// The file that a path leads to or through, and the rest of the path: the outermost that is one of these; else the
/// outermost with one of the extensions, which will be made; else all of the path.
fn split(url: &StoreUrl<'_>, Files { extensions, is_one, .. }: &Files) -> (PathBuf, String) {
    // Of its components: a separator at the end would make a directory of a file.
    let path: PathBuf = Path::new(&url.rest()).components().collect();
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    let named = |path: &&&Path| {
        path.extension().is_some_and(|own| extensions.iter().any(|extension| own == *extension))
    };
    let file = above.iter().find(|path| is_one(path)).or_else(|| above.iter().find(named));
    let file = file.map_or_else(|| path.clone(), |path| path.to_path_buf());
    let rest = path.strip_prefix(&file).ok().and_then(Path::to_str).unwrap_or_default().to_owned();
    (file, rest)
}

/// The ways to open a database: one that is there, the same if it cannot be written, and one that is made if it is not there.
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
#[derive(Clone, Copy)]
enum Opening {
    Open,
    Read,
    Create,
}

/// A function that opens a database with these options.
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
macro_rules! opener {
    ($options:ty $(, $lock_timeout:ident)?) => {
        |file: &Path, opening: Opening, storage: &StorageOptions| {
            let options = storage.flag(SYNC)?.into_iter().fold(<$options>::new(), <$options>::sync);
            $(let options = storage.seconds(LOCK_TIMEOUT)?.into_iter().fold(options, <$options>::$lock_timeout);)?
            match opening {
                Opening::Open => options.open(file),
                Opening::Read => options.read_only(true).open(file),
                Opening::Create => options.create(file),
            }
        }
    };
}

/// Opens the database of a URL, and makes it where that is wanted.
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
fn open_database<S: crate::Store + 'static>(
    (file, rest): (PathBuf, String),
    options: &StorageOptions,
    open: fn(&Path, Opening, &StorageOptions) -> Result<S, StoreError>,
) -> Result<Located, StoreError> {
    if options.creates() {
        return Ok(Located::whole(open(&file, Opening::Create, options)?, rest));
    }
    let store = match open(&file, Opening::Open, options) {
        Err(error) if matches!(error.kind(), StoreErrorKind::Forbidden | StoreErrorKind::ReadOnly) => {
            open(&file, Opening::Read, options)?
        }
        opened => opened?,
    };
    Ok(Located::whole(store, rest))
}

#[cfg(feature = "sqlite")]
static SQLITE_FILES: Files =
    Files { schemes: &["sqlite"], extensions: &["db", "sqlite", "sqlite3", "sqldb"], is_one: Path::is_file };

#[cfg(feature = "sqlite")]
pub(super) static SQLITE: Scheme = Scheme {
    names: SQLITE_FILES.schemes,
    options: &[SYNC_OPTION, LOCK_TIMEOUT_OPTION],
    open: |url, options| {
        let open = opener!(crate::SqliteOptions, busy_timeout);
        open_database(split(url, &SQLITE_FILES), options, open)
    },
};

#[cfg(feature = "lmdb")]
static LMDB_FILES: Files = Files {
    schemes: &["lmdb"],
    extensions: &["lmdb", "mdb"],
    is_one: |path| path.is_file() || path.join("data.mdb").is_file(),
};

#[cfg(feature = "lmdb")]
pub(super) static LMDB: Scheme = Scheme {
    names: LMDB_FILES.schemes,
    options: &[SYNC_OPTION, LOCK_TIMEOUT_OPTION],
    open: |url, options| {
        let open = opener!(crate::LmdbOptions, lock_timeout);
        open_database(split(url, &LMDB_FILES), options, open)
    },
};

#[cfg(feature = "redb")]
static REDB_FILES: Files = Files { schemes: &["redb"], extensions: &["redb"], is_one: Path::is_file };

#[cfg(feature = "redb")]
pub(super) static REDB: Scheme = Scheme {
    names: REDB_FILES.schemes,
    options: &[SYNC_OPTION],
    open: |url, options| open_database(split(url, &REDB_FILES), options, opener!(crate::RedbOptions)),
};

#[cfg(feature = "gdbm")]
static GDBM_FILES: Files =
    Files { schemes: &["gdbm"], extensions: &["gdbm", "dbm", "db"], is_one: Path::is_file };

#[cfg(feature = "gdbm")]
pub(super) static GDBM: Scheme = Scheme {
    names: GDBM_FILES.schemes,
    options: &[SYNC_OPTION],
    open: |url, options| open_database(split(url, &GDBM_FILES), options, opener!(crate::GdbmOptions)),
};

#[cfg(all(unix, feature = "berkeley-db"))]
static BERKELEY_DB_FILES: Files =
    Files { schemes: &["bdb"], extensions: &["bdb", "db"], is_one: Path::is_file };

/// It is only read, so that nothing is made here.
#[cfg(all(unix, feature = "berkeley-db"))]
pub(super) static BERKELEY_DB: Scheme = Scheme {
    names: BERKELEY_DB_FILES.schemes,
    options: &[],
    open: |url, _| {
        let (file, rest) = split(url, &BERKELEY_DB_FILES);
        Ok(Located::whole(crate::BerkeleyDbStore::open(file)?, rest))
    },
};
