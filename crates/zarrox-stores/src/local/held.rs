//! File locks that this process holds: [`HeldLock`].
//!
//! A lock belongs to an open file (`flock`): the kernel releases it when its process dies, and no lock file is needed. A process
//! may acquire the same lock twice, for example when a thread that holds the lock of a document deletes the document. So there
//! are two [`Claim`]s: writers of whole values share the lock with all threads of their process, whereas merging threads exclude
//! each other. The lock is released when its last holder releases it.
//!
//! The file itself is locked, regardless of the path by which it was opened. So threads that open it by different paths (links,
//! other mounts, other spellings) exclude each other, as processes do.

use std::fs::TryLockError;
use std::io;
use std::time::{Duration, Instant};

use foldhash::HashMap;

use super::files::{FileLock, Identity, Lockable, is_unsupported};
use crate::sync::{LazyLock, Mutex, MutexGuard, ThreadId, current, sleep, unpoisoned};

/// The locks that this process holds, by file. The files are open or have names, so that their numbers are not reused.
static HELD: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The locks that this process holds.
pub(crate) type Table = HashMap<Identity, Entry>;

/// A locked file.
pub(crate) struct Entry {
    _lock: FileLock,
    users: usize,
    /// The merging thread, and the number of times that it holds the lock for merging.
    merges: Option<(ThreadId, usize)>,
}

/// The purpose of holding a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// To replace or erase the file regardless of its content.
    Replace,
    /// To replace the file with a value derived from its content. Only one thread merges at a time. It may hold the lock several
    /// times, since files with equal content can be hard links to one file, as created by deduplication tools, and then share one
    /// lock.
    Merge,
}

/// The time after which a wait for a lock is logged.
pub const NOTICE: Duration = Duration::from_secs(1);
/// The default timeout of a lock.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// The first and the longest pause between two attempts to get a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

/// Locks the table and returns it.
pub(crate) fn held_locks() -> MutexGuard<'static, Table> {
    unpoisoned(LazyLock::force(&HELD))
}

/// A file lock, which this process holds until the last `HeldLock` for the file is dropped.
#[derive(Debug)]
pub struct HeldLock(Identity, Claim);

/// The outcome of an attempt to lock a file.
pub(super) enum Attempt {
    Locked(HeldLock),
    /// Another process or another merging thread holds the lock.
    Taken,
    /// The file system does not support locks.
    Unsupported(io::Error),
}

impl HeldLock {
    pub(super) fn identity(&self) -> Identity {
        self.0
    }

    /// Adopts a file that the caller has locked, with the claim to merge.
    pub fn adopt(lock: impl Into<FileLock>, identity: Identity) -> Self {
        held_locks()
            .insert(identity, Entry { _lock: lock.into(), users: 1, merges: Some((current().id(), 1)) });
        Self(identity, Claim::Merge)
    }

    /// Locks a file. Waits for at most `longest`, and calls `notice` once if the wait is long.
    pub(super) fn wait(
        file: &Lockable,
        (identity, claim): (Identity, Claim),
        longest: Duration,
        notice: impl FnOnce(),
    ) -> io::Result<Attempt> {
        match Self::attempt(file, identity, claim)? {
            Some(attempt) => Ok(attempt),
            None => Self::wait_again(file, (identity, claim), longest, notice),
        }
    }

    #[cold]
    fn wait_again(
        file: &Lockable,
        (identity, claim): (Identity, Claim),
        longest: Duration,
        notice: impl FnOnce(),
    ) -> io::Result<Attempt> {
        let begin = Instant::now();
        let mut pause = PAUSES.0;
        let mut notice = Some(notice);
        loop {
            sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
            if let Some(attempt) = Self::attempt(file, identity, claim)? {
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

    /// Tries to lock a file. A lock that this process already holds is shared, unless both claims are merges. Returns
    /// `None` if the lock is taken.
    fn attempt(file: &Lockable, identity: Identity, claim: Claim) -> io::Result<Option<Attempt>> {
        let own = (claim == Claim::Merge).then(|| current().id());
        let locked = || Ok(Some(Attempt::Locked(Self(identity, claim))));
        let mut held = held_locks();
        if let Some(entry) = held.get_mut(&identity) {
            match (&mut entry.merges, own) {
                (Some((thread, _)), Some(own)) if *thread != own => return Ok(None),
                (Some((_, times)), Some(_)) => *times += 1,
                (merges, Some(own)) => *merges = Some((own, 1)),
                (_, None) => {}
            }
            entry.users += 1;
            return locked();
        }
        match file.try_lock() {
            Ok(lock) => {
                let merges = own.map(|own| (own, 1));
                held.insert(identity, Entry { _lock: lock, users: 1, merges });
                locked()
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
        if self.1 == Claim::Merge {
            entry.merges =
                entry.merges.map(|(thread, times)| (thread, times - 1)).filter(|(_, times)| *times > 0);
        }
        if entry.users == 0 {
            held.remove(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::{Tree, canonicalize, identity};
    use super::*;

    const LONGEST: Duration = Duration::from_millis(20);

    /// Opens the file `name`, and creates it if it is missing.
    pub(super) fn file(directory: &tempfile::TempDir, name: &str) -> (Lockable, Identity) {
        let path = canonicalize(directory.path()).unwrap();
        let file =
            std::fs::File::options().read(true).create(true).append(true).open(path.join(name)).unwrap();
        let identity = identity(&file).unwrap();
        let tree = Tree { path: &path, follow_links: false };
        (tree.lockable(name, file, identity).0, identity)
    }

    fn claim(directory: &tempfile::TempDir, claim: Claim) -> Attempt {
        let (file, identity) = file(directory, "f");
        HeldLock::wait(&file, (identity, claim), LONGEST, || {}).unwrap()
    }

    fn lock(directory: &tempfile::TempDir) -> Attempt {
        claim(directory, Claim::Replace)
    }

    #[test]
    fn merging_threads_exclude_each_other_and_no_other_thread_of_the_process() {
        let directory = tempfile::tempdir().unwrap();
        let (merges, replaces) = (claim(&directory, Claim::Merge), lock(&directory));
        assert!(matches!((&merges, &replaces), (Attempt::Locked(_), Attempt::Locked(_))));
        let elsewhere =
            || std::thread::scope(|scope| scope.spawn(|| claim(&directory, Claim::Merge)).join().unwrap());
        assert!(matches!(elsewhere(), Attempt::Taken));
        let again = claim(&directory, Claim::Merge);
        drop(merges);
        assert!(matches!(elsewhere(), Attempt::Taken), "the thread holds it twice");
        drop(again);
        assert!(matches!(elsewhere(), Attempt::Locked(_)));
        drop(replaces);
        let (_, identity) = file(&directory, "f");
        assert!(!held_locks().contains_key(&identity));
    }

    #[test]
    fn a_lock_is_shared_in_a_process_and_released_by_the_last() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (lock(&directory), lock(&directory));
        let (_, identity) = file(&directory, "f");
        let is_free = || file(&directory, "f").0.try_lock().is_ok();
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
        let (other, _) = file(&directory, "f");
        let locked = other.try_lock().ok().unwrap();
        assert!(matches!(lock(&directory), Attempt::Taken));
        drop((other, locked));
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
    fn threads_of_a_process_share_a_lock_that_excludes_other_processes() {
        check(|| {
            let directory = tempfile::tempdir().unwrap();
            let open = || super::tests::file(&directory, "f");
            let holders = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let (file, identity) = open();
                        let claim = (identity, Claim::Replace);
                        let locked = HeldLock::wait(&file, claim, Duration::MAX, || {}).unwrap();
                        assert!(matches!(locked, Attempt::Locked(_)));
                        holders.fetch_add(1, Relaxed);
                        thread::yield_now();
                        holders.fetch_sub(1, Relaxed);
                    });
                }
                // The locks of separately opened files exclude each other, as those of two processes do.
                scope.spawn(|| {
                    let (file, _) = open();
                    let _locked = loop {
                        match file.try_lock() {
                            Ok(lock) => break lock,
                            Err(_) => thread::yield_now(),
                        }
                    };
                    for _ in 0..2 {
                        assert_eq!(holders.load(Relaxed), 0);
                        thread::yield_now();
                    }
                });
            });
            assert!(held_locks().is_empty(), "entries leave with their last user");
            assert!(open().0.try_lock().is_ok());
        });
    }

    #[test]
    fn threads_that_merge_by_different_names_take_turns() {
        check(|| {
            let directory = tempfile::tempdir().unwrap();
            let names = ["f", "g"].map(|name| directory.path().join(name));
            std::fs::File::create(&names[0]).unwrap();
            std::fs::hard_link(&names[0], &names[1]).unwrap();
            let merging = AtomicUsize::new(0);
            thread::scope(|scope| {
                for name in ["f", "g"] {
                    let (merging, directory) = (&merging, &directory);
                    scope.spawn(move || {
                        let (file, identity) = super::tests::file(directory, name);
                        let locked =
                            HeldLock::wait(&file, (identity, Claim::Merge), Duration::MAX, || {}).unwrap();
                        assert!(matches!(locked, Attempt::Locked(_)));
                        assert_eq!(merging.fetch_add(1, Relaxed), 0);
                        thread::yield_now();
                        merging.fetch_sub(1, Relaxed);
                    });
                }
            });
        });
    }
}
