//! The databases that this process has open, one for each file.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};
use std::{fmt, fs};

use zarrox_stores::internals::support::directory_of;
use zarrox_stores::internals::sync::{Condvar, Mutex, unpoisoned};

/// The databases that this process has open, by the paths of their files, since many kinds of databases must not be opened twice.
/// The same file under another path (through a hard link, another mount or a different case) is the same database.
pub(crate) struct OpenDatabases<T> {
    open: Mutex<BTreeMap<PathBuf, Entry<T>>>,
    closed: Condvar,
}

struct Entry<T> {
    users: usize,
    value: Weak<T>,
    /// The identity of the file or directory when the database was opened.
    identity: Option<Identity>,
}

/// The identity of a file, independent of its path.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}

impl<T> OpenDatabases<T> {
    pub(crate) const fn new() -> Self {
        Self { open: Mutex::new(BTreeMap::new()), closed: Condvar::new() }
    }

    /// Returns the database at the path if it is already open, or opens it with `open`. If the database is being closed, waits
    /// until it is closed.
    pub(crate) fn open<E>(
        &'static self,
        path: &Path,
        open: impl FnOnce() -> Result<T, E>,
    ) -> Result<Shared<T>, E> {
        let file = identity(path);
        let is_same = |entry: &Entry<T>| file.is_some() && entry.identity == file;
        let mut table = unpoisoned(&self.open);
        while let Some((path, entry)) =
            table.iter_mut().find(|(own, entry)| own.as_path() == path || is_same(entry))
        {
            if let Some(value) = entry.value.upgrade() {
                entry.users += 1;
                return Ok(Shared { value, ticket: Ticket { registry: self, path: path.clone() } });
            }
            table = self.closed.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
        let value = Arc::new(open()?);
        let entry = Entry { users: 1, value: Arc::downgrade(&value), identity: identity(path) };
        table.insert(path.to_owned(), entry);
        Ok(Shared { value, ticket: Ticket { registry: self, path: path.to_owned() } })
    }
}

/// A value that is shared by all handles of one file, and is closed with the last handle.
pub(crate) struct Shared<T: 'static> {
    // The order of the fields ensures that the entry is removed from the registry only after the database is closed.
    value: Arc<T>,
    ticket: Ticket<T>,
}

impl<T> Shared<T> {
    /// Returns the path, with links resolved, under which the value was first opened.
    pub(crate) fn path(&self) -> &Path {
        &self.ticket.path
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Shared").field(&self.path()).finish()
    }
}

struct Ticket<T: 'static> {
    registry: &'static OpenDatabases<T>,
    path: PathBuf,
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        let mut table = unpoisoned(&self.registry.open);
        let Some(entry) = table.get_mut(&self.path) else { return };
        entry.users -= 1;
        if entry.users == 0 {
            table.remove(&self.path);
            self.registry.closed.notify_all();
        }
    }
}

/// Returns the path of a file, with links resolved. The file need not exist, but its directory must.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        done => return done,
    }
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    Ok(fs::canonicalize(directory_of(path))?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_share_until_the_last_is_dropped() {
        static REGISTRY: OpenDatabases<u32> = OpenDatabases::new();
        let path = Path::new("/some/file");
        let open = |value| REGISTRY.open(path, || Ok::<_, ()>(value)).unwrap();
        let (one, two) = (open(1), open(2));
        assert_eq!((*one, *two), (1, 1));
        drop(one);
        assert_eq!(*open(3), 1);
        drop(two);
        assert_eq!(*open(4), 4);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_is_open_once_by_any_path() {
        static REGISTRY: OpenDatabases<u32> = OpenDatabases::new();
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("a"), directory.path().join("b"));
        let made = REGISTRY.open(&path, || fs::write(&path, "").map(|()| 1)).unwrap();
        fs::hard_link(&path, &link).unwrap();
        let same = REGISTRY.open(&link, || Err::<u32, ()>(())).unwrap();
        assert_eq!((*same, same.path()), (1, &*path));
        drop(made);
        drop(same);
        assert_eq!(*REGISTRY.open(&link, || Ok::<_, ()>(2)).unwrap(), 2);
    }
}

#[cfg(all(test, model))]
mod model {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use shuttle::thread;

    use super::*;
    use zarrox_stores::internals::sync::{Alone, LazyLock, check};

    static DATABASES: LazyLock<OpenDatabases<Alone>> = LazyLock::new(OpenDatabases::new);

    #[test]
    fn a_database_is_open_once_and_shared_and_none_waits_forever() {
        check(|| {
            let is_open = Arc::<AtomicBool>::default();
            let users = [(); 3].map(|()| {
                let is_open = Arc::clone(&is_open);
                thread::spawn(move || {
                    for _ in 0..2 {
                        let database = LazyLock::force(&DATABASES).open(Path::new("d"), || {
                            thread::yield_now();
                            Ok::<_, ()>(Alone::with(&is_open))
                        });
                        thread::yield_now();
                        assert!(is_open.load(Relaxed), "it is closed with its last user");
                        drop(database.unwrap());
                    }
                })
            });
            users.into_iter().for_each(|user| user.join().unwrap());
            assert!(!is_open.load(Relaxed));
            assert!(unpoisoned(&LazyLock::force(&DATABASES).open).is_empty());
        });
    }
}
