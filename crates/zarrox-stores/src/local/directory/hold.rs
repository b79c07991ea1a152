//! Holds on nodes, and exchanges of directories.

use std::io;

use super::root::{Root, split};
use crate::Hold;
use crate::local::fault::Fault;
use crate::local::files::Entry;
use crate::local::node::{LockOutcome, NodeLock};

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
            let Ok(lock) = NodeLock::open(|| self.tree().open_hold(path)) else {
                return Ok(None);
            };
            match lock.wait(how, self.lock_timeout, say)? {
                LockOutcome::Locked => {}
                LockOutcome::Taken => return Err(Fault::Held(self.lock_timeout)),
                LockOutcome::Unsupported => return Ok(None),
            }
            // The previous holder may have replaced the directory with another one.
            match self.tree().identity(path)? {
                None => return Ok(None),
                Some(there) if there == lock.identity()? => return Ok(Some(lock)),
                Some(_) => {}
            }
        }
    }

    /// Exchanges two directories.
    pub(super) fn exchange(&self, one: &str, other: &str) -> Result<(), Fault> {
        let (one_parent, one_name) = split(one);
        let (other_parent, other_name) = split(other);
        let (one_parent, other_parent) =
            (self.tree().open_directory(one_parent)?, self.tree().open_directory(other_parent)?);
        for (parent, name) in [(&one_parent, one_name), (&other_parent, other_name)] {
            match parent.get().entry(name)? {
                Entry::Directory => {}
                // A link may have a different target after it is moved.
                Entry::Link => return Err(Fault::NoExchange),
                _ => return Err(io::Error::from(io::ErrorKind::NotFound).into()),
            }
        }
        one_parent.get().exchange(one_name, other_parent.get(), other_name)?;
        self.flush(one_parent.get())?;
        self.flush(other_parent.get())
    }
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
            // A directory without a name cannot be held, so that the attempt is repeated.
            let hold = || std::iter::repeat_with(|| root.hold("a", Hold::Shared).unwrap()).flatten().next();
            let waiting = scope.spawn(move || hold().unwrap());
            root.rename("a", "c").unwrap();
            root.rename("b", "a").unwrap();
            drop(alone);
            let held = waiting.join().unwrap().identity().unwrap();
            assert_eq!(root.tree().identity("a").unwrap(), Some(held));
        });
    }
}
