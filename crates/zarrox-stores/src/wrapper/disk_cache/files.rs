//! The directory of a cache.

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tempfile::{NamedTempFile, TempPath};

use super::entry::{Entry, Name, is_copy, write_header};
use crate::{Prefix, StoreError, Value};

/// The part of a value that is in memory while it is copied, in bytes.
pub(super) const BLOCK: u64 = 8 << 20;

/// The beginning of the names of copies that are being written.
const TEMPORARY: &str = ".zarrox-copying-";

/// The number of files that are removed after one look through the directory, at most: so many names are in
/// memory.
const AT_ONCE: usize = 1 << 14;

/// The least that a file takes on the disk, in bytes.
const SECTOR: u64 = 4096;

/// The files of a cache. Other processes may have the same directory.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    id: String,
    limit: u64,
    taken: Mutex<Taken>,
}

/// The room that the files take, in bytes.
#[derive(Debug)]
struct Taken {
    /// When the directory was last looked through.
    seen: u64,
    /// The bytes that this process added since then.
    added: u64,
}

/// A copy that has no name yet. It goes away when it is dropped; who has opened it still can read it.
#[derive(Debug)]
pub(super) struct Unnamed(TempPath);

/// Why there is no copy.
enum Fault {
    /// The value cannot be read.
    Value(StoreError),
    /// It cannot be written here.
    Here(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Here(error)
    }
}

/// One file of the cache: when it was used, first, so that the heap sorts by it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    time: SystemTime,
    room: u64,
    name: OsString,
}

impl Files {
    pub(super) fn open(path: &Path, limit: u64) -> Result<Self, StoreError> {
        let fail =
            |error| StoreError::from_io("opening the cache", error).with_location(path.to_string_lossy());
        // Copies of what others may not see.
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fail)?;
        let path = fs::canonicalize(path).map_err(fail)?;
        let id = format!("cache:{}", path.display());
        let files = Self { path, id, limit, taken: Mutex::new(Taken { seen: 0, added: 0 }) };
        files.look_through(&mut files.taken(), 0).map_err(fail)?;
        Ok(files)
    }

    /// The identity of this directory, equal for all caches in it.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The copy of this name. From now on it counts as used.
    pub(super) fn open_entry(&self, name: &Name) -> Option<Entry> {
        let file = File::open(self.path.join(name.file_name())).ok()?;
        let entry = Entry::read(file).ok()??;
        if !entry.is_of(name) {
            return None;
        }
        // A file of another user is as good; it is only forgotten sooner.
        let _ = entry.file().set_modified(SystemTime::now());
        Some(entry)
    }

    /// Writes a copy of a value, and makes it outlive a power failure. `None` when this cannot be done here.
    ///
    /// # Errors
    ///
    /// When the value cannot be read.
    pub(super) fn write(
        &self,
        name: &Name,
        value: &dyn Value,
    ) -> Result<Option<(Entry, Unnamed)>, StoreError> {
        match self.try_write(name, value) {
            Ok(written) => Ok(written),
            Err(Fault::Value(error)) => Err(error),
            Err(Fault::Here(error)) => {
                tracing::debug!(directory = %self.path.display(), %error, "a value could not be kept");
                Ok(None)
            }
        }
    }

    fn try_write(&self, name: &Name, value: &dyn Value) -> Result<Option<(Entry, Unnamed)>, Fault> {
        let room = room_of(value.size());
        if room > self.limit {
            return Ok(None);
        }
        self.make_room(room)?;
        let (mut file, path) = self.temporary()?.into_parts();
        write_header(&mut file, name, value)?;
        let mut offset = 0;
        while offset < value.size() {
            let bytes = value.read(offset, BLOCK.min(value.size() - offset)).map_err(Fault::Value)?;
            file.write_all(&bytes)?;
            offset += bytes.len() as u64;
        }
        file.sync_data()?;
        Ok(Entry::read(file)?.map(|entry| (entry, Unnamed(path))))
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.path)
    }

    /// Gives a copy its name. Another copy of the same value gives way.
    pub(super) fn keep(&self, name: &Name, copy: Unnamed) {
        if let Err(error) = copy.0.persist(self.path.join(name.file_name())) {
            tracing::debug!(directory = %self.path.display(), error = %error.error, "a value could not be kept");
        }
    }

    /// Removes the copies of the values below prefixes of a store.
    pub(super) fn remove_below(&self, location: &str, prefixes: &[&Prefix]) {
        let is_below = |name: &Path| {
            let entry = File::open(self.path.join(name)).and_then(Entry::read);
            entry.ok().flatten().is_some_and(|entry| entry.is_below(location, prefixes))
        };
        let removed = self.visit(|used| {
            if is_below(used.name.as_ref()) {
                self.remove_file(used.name.as_ref());
            }
        });
        if let Err(error) = removed {
            tracing::warn!(directory = %self.path.display(), %error, "copies could not be removed");
        }
    }

    /// Removes all copies.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let fail = |error| StoreError::from_io("clearing", error).with_location(self.path.to_string_lossy());
        let remove = |used: Used| {
            self.remove_file(used.name.as_ref());
        };
        self.visit(remove).map_err(fail)
    }

    /// Removes the copy of this name, if there is one.
    pub(super) fn remove(&self, name: &Name) {
        self.remove_file(name.file_name().as_ref());
    }

    /// Returns true if the file is gone afterwards.
    fn remove_file(&self, name: &Path) -> bool {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(directory = %self.path.display(), %error, "a copy could not be removed");
                false
            }
            _ => true,
        }
    }

    /// Reserves room for a value that is about to be written, and evicts the least recently used values if there is none.
    fn make_room(&self, room: u64) -> io::Result<()> {
        let mut taken = self.taken();
        taken.added += room;
        // Now and then also without need, since others may write here as well.
        if taken.seen + taken.added > self.limit || taken.added > self.limit / 8 {
            self.look_through(&mut taken, room)?;
        }
        Ok(())
    }

    /// Finds out how much room is taken. If there is too little left, removes so much that there is some to spare.
    fn look_through(&self, taken: &mut Taken, room: u64) -> io::Result<()> {
        let spare = room.max(self.limit / 8);
        loop {
            let (mut total, mut oldest) = (0_u64, BinaryHeap::new());
            self.visit(|used| {
                total = total.saturating_add(used.room);
                oldest.push(used);
                if oldest.len() > AT_ONCE {
                    oldest.pop();
                }
            })?;
            if total.saturating_add(room) <= self.limit {
                *taken = Taken { seen: total, added: room };
                return Ok(());
            }
            let mut removed = false;
            for used in oldest.into_sorted_vec() {
                if total.saturating_add(spare) <= self.limit {
                    break;
                }
                if self.remove_file(used.name.as_ref()) {
                    removed = true;
                    total = total.saturating_sub(used.room);
                }
            }
            if !removed {
                return Err(io::Error::other("the directory is full, and nothing in it can be removed"));
            }
        }
    }

    /// Visits the files of the cache, in no order; what else is in the directory is none of its business.
    fn visit(&self, mut visit: impl FnMut(Used)) -> io::Result<()> {
        for file in fs::read_dir(&self.path)? {
            let file = file?;
            let name = file.file_name();
            if !name.to_str().is_some_and(|name| is_copy(name) || name.starts_with(TEMPORARY)) {
                continue;
            }
            // Another process may just have removed it.
            let Ok(metadata) = file.metadata() else { continue };
            let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            visit(Used { time, room: room_of(metadata.len()), name });
        }
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The room that a file takes, in bytes, with its header.
fn room_of(size: u64) -> u64 {
    size.saturating_add(SECTOR).saturating_add(SECTOR - 1) / SECTOR * SECTOR
}
