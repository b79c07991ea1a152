//! The directory of a disk cache.

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tempfile::{NamedTempFile, TempPath};

use super::entry::{Entry, Name, is_copy, write_header};
use crate::local::files::canonicalize;
use crate::{Prefix, StoreError, Value};

/// The number of bytes that are in memory at a time while a value is copied.
pub(super) const BLOCK: u64 = 8 << 20;

/// The prefix of the names of copies that are being written.
const TEMPORARY: &str = ".zarrox-copying-";

/// The maximum number of files that one scan of the directory evicts. Their names are in memory.
const AT_ONCE: usize = 1 << 14;

/// The minimum disk space that a file takes, in bytes.
const SECTOR: u64 = 4096;

/// The files of a cache. Other processes may use the same directory.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    id: String,
    limit: u64,
    usage: Mutex<Usage>,
}

/// The disk space that the files take, in bytes.
#[derive(Debug)]
struct Usage {
    /// The space found by the last scan of the directory.
    seen: u64,
    /// The space that this process has added since the last scan, in bytes.
    added: u64,
}

/// A copy that does not have its final name yet. It is removed when it is dropped, but readers that have opened it can still read
/// it.
#[derive(Debug)]
pub(super) struct Unnamed(TempPath);

/// The reason why there is no copy.
enum Fault {
    /// The value cannot be read.
    Value(StoreError),
    /// The copy cannot be written in this directory.
    Here(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Here(error)
    }
}

/// A cache file. The time of its last use is the first field, so that the heap orders files by it.
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
        let mut builder = DirBuilder::new();
        // Copies may contain data that other users may not read.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path).map_err(fail)?;
        let path = canonicalize(path).map_err(fail)?;
        let id = format!("cache:{}", path.display());
        let files = Self { path, id, limit, usage: Mutex::new(Usage { seen: 0, added: 0 }) };
        files.look_through(&mut files.usage(), 0).map_err(fail)?;
        Ok(files)
    }

    /// Returns the identity of this directory, which is the same for all caches in it.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Opens the copy with this name, and marks it as used now.
    pub(super) fn open_entry(&self, name: &Name) -> Option<Entry> {
        let file = File::open(self.path.join(name.file_name())).ok()?;
        let entry = Entry::read(file).ok()??;
        if !entry.is_of(name) {
            return None;
        }
        // Setting the time of another user's file fails, but then the copy is merely evicted earlier.
        let _ = entry.file().set_modified(SystemTime::now());
        Some(entry)
    }

    /// Writes a durable copy of a value. Returns `None` if this directory cannot store the copy.
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
                tracing::debug!(directory = %self.path.display(), %error, "a value could not be cached");
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

    /// Renames a copy to its final name, replacing any existing copy of the same value.
    pub(super) fn keep(&self, name: &Name, copy: Unnamed) {
        if let Err(error) = copy.0.persist(self.path.join(name.file_name())) {
            tracing::debug!(directory = %self.path.display(), error = %error.error, "a value could not be cached");
        }
    }

    /// Removes the copies of all values below some prefixes of a store.
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
    /// When the copies cannot be listed.
    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let fail = |error| StoreError::from_io("clearing", error).with_location(self.path.to_string_lossy());
        let remove = |used: Used| {
            self.remove_file(used.name.as_ref());
        };
        self.visit(remove).map_err(fail)
    }

    /// Removes the copy with this name, if there is one.
    pub(super) fn remove(&self, name: &Name) {
        self.remove_file(name.file_name().as_ref());
    }

    /// Removes a file. Returns true if the file no longer exists.
    fn remove_file(&self, name: &Path) -> bool {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(directory = %self.path.display(), %error, "a copy could not be removed");
                false
            }
            _ => true,
        }
    }

    /// Reserves space for a value that is about to be written. If there is too little, evicts the least recently used values.
    fn make_room(&self, room: u64) -> io::Result<()> {
        let mut usage = self.usage();
        usage.added += room;
        // The directory is also scanned from time to time, since other processes may write to it as well.
        if usage.seen + usage.added > self.limit || usage.added > self.limit / 8 {
            self.look_through(&mut usage, room)?;
        }
        Ok(())
    }

    /// Measures the space in use. If too little is free, evicts enough files to leave some spare space.
    fn look_through(&self, usage: &mut Usage, room: u64) -> io::Result<()> {
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
                *usage = Usage { seen: total, added: room };
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

    /// Visits the cache files in any order. Other files in the directory are ignored.
    fn visit(&self, mut visit: impl FnMut(Used)) -> io::Result<()> {
        for file in fs::read_dir(&self.path)? {
            let file = file?;
            let name = file.file_name();
            if !name.to_str().is_some_and(|name| is_copy(name) || name.starts_with(TEMPORARY)) {
                continue;
            }
            // Another process may have removed the file in the meantime.
            let Ok(metadata) = file.metadata() else { continue };
            let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            visit(Used { time, room: room_of(metadata.len()), name });
        }
        Ok(())
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the disk space that a copy of a value of this size takes, including the header, in bytes.
fn room_of(size: u64) -> u64 {
    size.saturating_add(SECTOR).saturating_add(SECTOR - 1) / SECTOR * SECTOR
}
