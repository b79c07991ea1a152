//! URLs of databases in files: where the file ends in the path, and the node begins.

use std::path::{Path, PathBuf};

#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
use super::StorageOptions;
use super::{Located, Scheme, StoreUrl};
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
use crate::{StoreError, StoreErrorKind};

/// The file that a path leads to or through, and the rest of the path: the outermost that `is_one` of these; else the
/// outermost with one of the extensions, which will be made; else all of the path.
fn split(url: &StoreUrl<'_>, extensions: &[&str], is_one: impl Fn(&Path) -> bool) -> (PathBuf, String) {
    let path = PathBuf::from(url.rest());
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

/// A kind of database that is written, too: how one is opened that is there, made if it is not, and opened if it cannot be written.
#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
struct Database<S> {
    open: fn(&Path) -> Result<S, StoreError>,
    create: fn(&Path) -> Result<S, StoreError>,
    read: fn(&Path) -> Result<S, StoreError>,
}

#[cfg(any(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
impl<S: crate::Store + 'static> Database<S> {
    fn at(&self, (file, rest): (PathBuf, String), options: &StorageOptions) -> Result<Located, StoreError> {
        if options.creates() {
            return Ok(Located::whole((self.create)(&file)?, rest));
        }
        let store = match (self.open)(&file) {
            Err(error) if matches!(error.kind(), StoreErrorKind::Forbidden | StoreErrorKind::ReadOnly) => {
                (self.read)(&file)?
            }
            opened => opened?,
        };
        Ok(Located::whole(store, rest))
    }
}

#[cfg(feature = "sqlite")]
pub(super) static SQLITE: Scheme = Scheme {
    names: &["sqlite"],
    open: |url, options| {
        let place = split(url, &["db", "sqlite", "sqlite3", "sqldb"], Path::is_file);
        let read = |path: &Path| crate::SqliteOptions::new().read_only(true).open(path);
        let (open, create) =
            (|path: &Path| crate::SqliteStore::open(path), |path: &Path| crate::SqliteStore::create(path));
        Database { open, create, read }.at(place, options)
    },
};

#[cfg(feature = "lmdb")]
pub(super) static LMDB: Scheme = Scheme {
    names: &["lmdb"],
    open: |url, options| {
        let place = split(url, &["lmdb", "mdb"], |path| path.is_file() || path.join("data.mdb").is_file());
        let read = |path: &Path| crate::LmdbOptions::new().read_only(true).open(path);
        let (open, create) =
            (|path: &Path| crate::LmdbStore::open(path), |path: &Path| crate::LmdbStore::create(path));
        Database { open, create, read }.at(place, options)
    },
};

#[cfg(feature = "redb")]
pub(super) static REDB: Scheme = Scheme {
    names: &["redb"],
    open: |url, options| {
        let place = split(url, &["redb"], Path::is_file);
        let read = |path: &Path| crate::RedbOptions::new().read_only(true).open(path);
        let (open, create) =
            (|path: &Path| crate::RedbStore::open(path), |path: &Path| crate::RedbStore::create(path));
        Database { open, create, read }.at(place, options)
    },
};

#[cfg(feature = "gdbm")]
pub(super) static GDBM: Scheme = Scheme {
    names: &["gdbm"],
    open: |url, options| {
        let place = split(url, &["gdbm", "dbm", "db"], Path::is_file);
        let read = |path: &Path| crate::GdbmOptions::new().read_only(true).open(path);
        let (open, create) =
            (|path: &Path| crate::GdbmStore::open(path), |path: &Path| crate::GdbmStore::create(path));
        Database { open, create, read }.at(place, options)
    },
};

/// It is only read, so that nothing is made here.
#[cfg(all(unix, feature = "berkeley-db"))]
pub(super) static BERKELEY_DB: Scheme = Scheme {
    names: &["bdb"],
    open: |url, _| {
        let (file, rest) = split(url, &["bdb", "db"], Path::is_file);
        Ok(Located::whole(crate::BerkeleyDbStore::open(file)?, rest))
    },
};
