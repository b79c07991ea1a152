//! Directories with durable names: a value written with [`sync`](super::DirectoryStore::sync) is lost in a power failure if any
//! directory on its path is lost, whichever program created that directory.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::root::{Root, split};
use crate::local::durable::flush_above;
use crate::local::fault::Fault;
use crate::local::files::{DirectoryRef, Identity};
use crate::sync::{Mutex, unpoisoned};

/// The maximum number of directories that are recorded as durable.
const DIRECTORIES: usize = 1 << 16;

/// The directories whose names, and those of their parent directories, this process has flushed.
static FLUSHED: LazyLock<Mutex<HashSet<Identity>>> = LazyLock::new(Mutex::default);

impl Root {
    /// Makes changes to a directory's entries durable, if the store was opened with `sync`.
    pub(super) fn flush(&self, directory: DirectoryRef<'_>) -> Result<(), Fault> {
        if self.sync {
            directory.sync()?;
        }
        Ok(())
    }

    /// Makes the names of a directory and of its parent directories durable, if the store was opened with `sync` and the names
    /// are not known to be durable.
    pub(super) fn flush_way(&self, path: &str, directory: DirectoryRef<'_>) -> Result<(), Fault> {
        if !self.sync {
            return Ok(());
        }
        let identity = directory.identity()?;
        if is_flushed(identity) {
            return Ok(());
        }
        if path.is_empty() {
            flush_above(&self.path);
        } else {
            let (parent, _) = split(path);
            let above = self.tree().open_directory(parent)?;
            self.flush(above.get())?;
            self.flush_way(parent, above.get())?;
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
