//! Holds on nodes, and exchanges of directories.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{self as sys, AtFlags, CWD};
use rustix::io::Errno;

use super::super::held::{identity, identity_of};
use super::super::node::{LockOutcome, NodeLock};
use super::fault::Fault;
use super::unix::{DIRECTORY, Entry, LISTING, Root, entry, split};
use crate::Hold;

impl Root {
    /// Acquires a hold on a directory by locking it. Returns `None` if it cannot be locked: it does not exist or cannot be
    /// opened, the file system does not support locks, or the store is exclusive.
    pub(super) fn hold(&self, path: &str, how: Hold) -> Result<Option<NodeLock>, Fault> {
        if !self.locks {
            return Ok(None);
        }
        let whole = self.path.join(path);
        let say = || tracing::info!("{} is locked by another process; waiting for it", whole.display());
        loop {
            let Ok(lock) = NodeLock::open(|| self.open(path, LISTING).map(File::from)) else {
                return Ok(None);
            };
            match lock.wait(how, self.lock_timeout, say)? {
                LockOutcome::Locked => {}
                LockOutcome::Taken => return Err(Fault::Held(self.lock_timeout)),
                LockOutcome::Unsupported => return Ok(None),
            }
            // The previous holder may have replaced the directory with another one.
            let there = match sys::statat(CWD, &whole, AtFlags::empty()) {
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                stat => identity_of(&stat?),
            };
            if there == identity(lock.directory())? {
                return Ok(Some(lock));
            }
        }
    }

    /// Exchanges two directories.
    pub(super) fn exchange(&self, one: &str, other: &str) -> Result<(), Fault> {
        let (one_parent, one_name) = split(one);
        let (other_parent, other_name) = split(other);
        let (one_parent, other_parent) =
            (self.open(one_parent, DIRECTORY)?, self.open(other_parent, DIRECTORY)?);
        for (parent, name) in [(&one_parent, one_name), (&other_parent, other_name)] {
            match entry(parent.as_fd(), name)? {
                Entry::Directory => {}
                // A link may have a different target after it is moved.
                Entry::Link => return Err(Fault::NoExchange),
                _ => return Err(Errno::NOENT.into()),
            }
        }
        match rename_exchange(one_parent.as_fd(), one_name, other_parent.as_fd(), other_name) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::XDEV) => return Err(Fault::NoExchange),
            done => done?,
        }
        self.flush(one_parent.as_fd())?;
        self.flush(other_parent.as_fd())
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exchange(
    one_parent: std::os::fd::BorrowedFd<'_>,
    one: &str,
    other_parent: std::os::fd::BorrowedFd<'_>,
    other: &str,
) -> Result<(), Errno> {
    sys::renameat_with(one_parent, one, other_parent, other, sys::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exchange(
    _: std::os::fd::BorrowedFd<'_>,
    _: &str,
    _: std::os::fd::BorrowedFd<'_>,
    _: &str,
) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn root(directory: &tempfile::TempDir) -> Root {
        std::fs::create_dir_all(directory.path().join("a")).unwrap();
        let mut root = Root::new(std::fs::canonicalize(directory.path()).unwrap());
        root.lock_timeout = Duration::from_millis(20);
        root
    }

    #[test]
    fn an_exclusive_hold_of_a_directory_excludes_others_and_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(&directory);
        let alone = root.hold("a", Hold::Exclusive).unwrap();
        assert!(alone.is_some());
        assert!(matches!(root.hold("a", Hold::Shared), Err(Fault::Held(_))));
        drop(alone);
        let (first, second) = (root.hold("a", Hold::Shared).unwrap(), root.hold("a", Hold::Shared).unwrap());
        assert!(first.is_some() && second.is_some());
        assert!(matches!(root.hold("a", Hold::Exclusive), Err(Fault::Held(_))));
        assert_eq!(std::fs::read_dir(directory.path().join("a")).unwrap().count(), 0);
    }

    #[test]
    fn a_hold_applies_to_the_directory_that_has_the_name_when_it_is_acquired() {
        let directory = tempfile::tempdir().unwrap();
        let mut root = root(&directory);
        root.lock_timeout = Duration::from_secs(60);
        std::fs::create_dir(directory.path().join("b")).unwrap();
        let alone = root.hold("a", Hold::Exclusive).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| root.hold("a", Hold::Shared).unwrap().unwrap());
            root.exchange("a", "b").unwrap();
            drop(alone);
            let held = identity(waiting.join().unwrap().directory()).unwrap();
            let there = identity_of(&sys::statat(CWD, directory.path().join("a"), AtFlags::empty()).unwrap());
            assert_eq!(held, there);
        });
    }
}
