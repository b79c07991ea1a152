//! Holds on nodes in a directory: locks on the nodes' directories (`flock`), which need no lock files.
//!
//! A lock belongs to an open directory, so the kernel releases it when its process dies. Each holder opens the directory
//! separately, so that holders in the same process exclude each other as holders in different processes do.

use std::fs::TryLockError;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::files::{HoldFile, Identity, is_unsupported};
use super::held::NOTICE;
use super::open_nodes::held_nodes;
use crate::Hold;
use crate::fork::delay_fork;
use crate::sync::sleep;

/// The first and the longest pause between two attempts to get a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

/// An open directory that is locked, or about to be locked.
pub(super) struct NodeLock {
    number: u64,
    directory: Arc<HoldFile>,
}

/// The outcome of waiting for a lock.
pub(super) enum LockOutcome {
    Locked,
    /// Another holder held the lock until the timeout.
    Taken,
    /// The file system does not support locks.
    Unsupported,
}

impl NodeLock {
    /// Opens a directory to lock it.
    pub(super) fn open<E>(open: impl FnOnce() -> Result<HoldFile, E>) -> Result<Self, E> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // A process that is forked in between would keep the directory open and thus locked.
        let _delay = delay_fork();
        let directory = Arc::new(open()?);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        held_nodes().insert(number, Arc::clone(&directory));
        Ok(Self { number, directory })
    }

    pub(super) fn identity(&self) -> io::Result<Identity> {
        self.directory.identity()
    }

    /// Locks the directory. Waits for at most `longest`, and calls `notice` once if the wait is long.
    pub(super) fn wait(
        &self,
        how: Hold,
        longest: Duration,
        notice: impl FnOnce(),
    ) -> io::Result<LockOutcome> {
        let begin = Instant::now();
        let mut pause = PAUSES.0;
        let mut notice = Some(notice);
        loop {
            match self.directory.try_lock(how) {
                Ok(()) => return Ok(LockOutcome::Locked),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                    return Ok(LockOutcome::Unsupported);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let waited = begin.elapsed();
            if waited >= longest {
                return Ok(LockOutcome::Taken);
            }
            if let Some(notice) = notice.take_if(|_| waited >= NOTICE) {
                notice();
            }
            sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

impl Drop for NodeLock {
    fn drop(&mut self) {
        // In a forked process, the lock belongs to the parent.
        if held_nodes().remove(&self.number).is_some() {
            self.directory.unlock();
        }
    }
}
