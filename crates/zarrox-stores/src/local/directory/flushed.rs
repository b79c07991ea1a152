//! Directories whose names are on the disk: a value written with [`sync`](super::DirectoryStore::sync) is lost after a power
//! failure if a directory of its path is lost, whichever program created that directory.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::LazyLock;

use foldhash::HashSet;
use rustix::fs::{self as sys, Mode};

use super::super::held::{Identity, identity_of};
use super::fault::Fault;
use super::unix::{DIRECTORY, LISTING, Root, split};
use crate::local::durable::flush_above;
use crate::sync::{Mutex, unpoisoned};

/// The largest number of directories that are known to be on the disk.
const DIRECTORIES: usize = 1 << 16;

/// The directories whose names this process has flushed, together with the names of the directories above them.
static FLUSHED: LazyLock<Mutex<HashSet<Identity>>> = LazyLock::new(Mutex::default);

impl Root {
    /// Makes a change of names in a directory durable, if the store is opened with `sync`.
    pub(super) fn flush(&self, directory: BorrowedFd<'_>) -> Result<(), Fault> {
        if self.sync {
            sys::fsync(sys::openat(directory, c".", LISTING, Mode::empty())?)?;
        }
        Ok(())
    }

    /// Makes the names of a directory and of the directories above it durable, if the store is opened with `sync` and they
    /// are not known to be durable.
    pub(super) fn flush_way(&self, path: &str, directory: BorrowedFd<'_>) -> Result<(), Fault> {
        if !self.sync {
            return Ok(());
        }
        let identity = identity_of(&sys::fstat(directory)?);
        if is_flushed(identity) {
            return Ok(());
        }
        if path.is_empty() {
            flush_above(&self.path);
        } else {
            let (parent, _) = split(path);
            let above = self.open(parent, DIRECTORY)?;
            self.flush(above.as_fd())?;
            self.flush_way(parent, above.as_fd())?;
        }
        let mut flushed = unpoisoned(&FLUSHED);
        if flushed.len() >= DIRECTORIES {
            flushed.clear();
        }
        flushed.insert(identity);
        Ok(())
    }
}

fn is_flushed(identity: Identity) -> bool {
    unpoisoned(&FLUSHED).contains(&identity)
}
