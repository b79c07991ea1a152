//! Locks of files that this process holds: [`HeldLock`].
//!
//! A lock belongs to an open file (`flock`), so that the kernel releases it when its process dies, and no file has to be made for
//! it. One process may want the same lock twice: a thread that holds the lock of a document deletes the document. Such a second
//! request shares the lock, which is released with its last holder.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::HashMap;

use crate::sync::{LazyLock, Mutex, MutexGuard, sleep, unpoisoned};

/// The identity of a file as long as it is open or has a name: its device and its number there.
pub(crate) type Identity = (u64, u64);

/// The locks that this process holds, by file. The open file of each keeps its number from being used for another file.
static HELD: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The locks that this process holds.
pub(crate) type Table = HashMap<Identity, Entry>;

/// A locked file.
pub(crate) struct Entry {
    _file: Arc<File>,
    users: usize,
}

/// The time after which it is said that a lock is waited for.
pub(crate) const NOTICE: Duration = Duration::from_secs(1);
/// The longest time that a lock is waited for, if nothing else is said.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// The first and the longest pause between two attempts to get a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

/// The table, for as long as the guard lives.
pub(crate) fn held_locks() -> MutexGuard<'static, Table> {
    unpoisoned(LazyLock::force(&HELD))
}

/// A lock of a file, held by this process until the last value like it is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock(Identity);

/// The outcome of an attempt to lock a file.
pub(super) enum Attempt {
    Locked(HeldLock),
    /// Another process holds the lock, or another thread is about to release it.
    Taken,
    /// The file system has no locks.
    Unsupported(io::Error),
}

impl HeldLock {
    pub(super) fn identity(&self) -> Identity {
        self.0
    }

    /// Takes over a file that the caller has locked.
    pub(crate) fn adopt(file: File, identity: Identity) -> Self {
        held_locks().insert(identity, Entry { _file: Arc::new(file), users: 1 });
        Self(identity)
    }

    /// Locks an open file, and waits so long for another process to release it. `notice` is called once when this takes a while.
    pub(super) fn wait(
        file: &Arc<File>,
        identity: Identity,
        longest: Duration,
        notice: impl FnOnce(),
    ) -> io::Result<Attempt> {
        match Self::attempt(file, identity)? {
            Some(attempt) => Ok(attempt),
            None => Self::wait_again(file, identity, longest, notice),
        }
    }

    #[cold]
    fn wait_again(
        file: &Arc<File>,
        identity: Identity,
        longest: Duration,
        notice: impl FnOnce(),
    ) -> io::Result<Attempt> {
        let begin = Instant::now();
        let mut pause = PAUSES.0;
        let mut notice = Some(notice);
        loop {
            sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
            if let Some(attempt) = Self::attempt(file, identity)? {
                return Ok(attempt);
            }
            let waited = begin.elapsed();
            if waited >= longest {
                return Ok(Attempt::Taken);
            }
            if let Some(notice) = notice.take_if(|_| waited >= NOTICE) {
                notice();
            }
        }
    }

    /// Locks an open file. Where this process holds the lock already, it is shared. `None` if another process has the lock.
    fn attempt(file: &Arc<File>, identity: Identity) -> io::Result<Option<Attempt>> {
        let mut held = held_locks();
        if let Some(entry) = held.get_mut(&identity) {
            entry.users += 1;
            return Ok(Some(Attempt::Locked(Self(identity))));
        }
        match file.try_lock() {
            Ok(()) => {
                held.insert(identity, Entry { _file: Arc::clone(file), users: 1 });
                Ok(Some(Attempt::Locked(Self(identity))))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                Ok(Some(Attempt::Unsupported(error)))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let mut held = held_locks();
        let Some(entry) = held.get_mut(&self.0) else { return };
        entry.users -= 1;
        if entry.users == 0 {
            held.remove(&self.0);
        }
    }
}

/// Returns true for the errors of file systems that cannot lock.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL))
}

/// The identity of an open file.
pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    Ok(identity_of(&rustix::fs::fstat(file)?))
}

/// The identity of the file that has these properties.
pub(super) fn identity_of(stat: &rustix::fs::Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(20);

    fn file(directory: &tempfile::TempDir) -> (File, Identity) {
        let file = File::options().create(true).append(true).open(directory.path().join("f")).unwrap();
        let identity = identity(&file).unwrap();
        (file, identity)
    }

    fn lock(directory: &tempfile::TempDir) -> Attempt {
        let (file, identity) = file(directory);
        HeldLock::wait(&Arc::new(file), identity, LONGEST, || {}).unwrap()
    }

    #[test]
    fn a_lock_is_shared_in_a_process_and_released_by_the_last() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (lock(&directory), lock(&directory));
        let (other, identity) = file(&directory);
        let is_free = || other.try_lock().map(|()| other.unlock().unwrap()).is_ok();
        assert!(matches!((&first, &second), (Attempt::Locked(_), Attempt::Locked(_))));
        assert!(!is_free());
        drop(first);
        assert!(!is_free());
        drop(second);
        assert!(is_free());
        assert!(!held_locks().contains_key(&identity));
    }

    #[test]
    fn a_lock_of_others_is_waited_for_no_longer_than_wanted() {
        let directory = tempfile::tempdir().unwrap();
        let (other, _) = file(&directory);
        other.lock().unwrap();
        assert!(matches!(lock(&directory), Attempt::Taken));
        other.unlock().unwrap();
        assert!(matches!(lock(&directory), Attempt::Locked(_)));
    }
}

#[cfg(all(test, model))]
mod model {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use shuttle::thread;

    use super::*;
    use crate::sync::check;

    #[test]
    fn threads_of_a_process_share_a_lock_that_no_other_process_has_meanwhile() {
        check(|| {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("f");
            let open = || File::options().create(true).append(true).open(&path).unwrap();
            let ours = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let file = open();
                        let identity = identity(&file).unwrap();
                        let locked = HeldLock::wait(&Arc::new(file), identity, Duration::MAX, || {}).unwrap();
                        assert!(matches!(locked, Attempt::Locked(_)));
                        ours.fetch_add(1, Relaxed);
                        thread::yield_now();
                        ours.fetch_sub(1, Relaxed);
                    });
                }
                // Files that are opened apart lock one another out, as those of two processes do.
                scope.spawn(|| {
                    let file = open();
                    while file.try_lock().is_err() {
                        thread::yield_now();
                    }
                    for _ in 0..2 {
                        assert_eq!(ours.load(Relaxed), 0);
                        thread::yield_now();
                    }
                });
            });
            assert!(held_locks().is_empty(), "entries leave with their last user");
            open().try_lock().unwrap();
        });
    }
}
