//! A zip archive, which all handles in this process share, and how it is written.
//!
//! # Crash safety
//!
//! Readers find an archive's directory at the end of the file, and new entries overwrite the directory. So before the first entry
//! is written, a copy of the directory is written some distance further on, and becomes the end of the file. New entries are
//! written into the gap. When the gap is full, a directory of all entries so far is written at a larger offset. In the end, the
//! final directory is written after the last entry, and the file is truncated there. Each directory is left untouched until the
//! next one is complete. If this process dies while it writes a directory, readers ignore the [torn](super::torn) directory, and
//! the next writer truncates it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::SystemTime;

use super::directory::{Directory, Entry};
use super::format::Content;
use super::source::Source;
use crate::local::durable::sync_directory;
use crate::local::file_lock::{MOMENT, retry_for};
use crate::local::files::{Identity, WriterLock, identity, try_lock_writer, write_all_at};
use crate::sync::{Mutex, unpoisoned};
use crate::{Key, StoreError, StoreErrorKind};

/// The minimum and maximum number of bytes that are reserved for new entries at a time.
const LEAST_ROOM: u64 = 1 << 20;
const MOST_ROOM: u64 = 1 << 30;
/// The fraction of an archive's size that is reserved for new entries, as a divisor. It is large enough that directories are
/// rarely written.
const ROOM_PART: u64 = 4;
/// The maximum number of attempts to read the directory while another program is writing it.
const ATTEMPTS: usize = 10;
/// Values up to this size are written with their headers in one call.
const SMALL: usize = 256 << 10;

/// The archives that are open in this process.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Archive>>>> = LazyLock::new(Mutex::default);

/// An archive, including everything that was written to it.
pub(super) struct Archive {
    /// A number that identifies the archive in this process.
    pub(super) id: u64,
    /// The store's name in errors.
    pub(super) location: Arc<str>,
    /// `None` when the archive is a value of another store.
    path: Option<PathBuf>,
    state: RwLock<State>,
    writer: Mutex<Option<Session>>,
    sync: AtomicBool,
    /// How the first write creates the archive.
    creation: Mutex<Option<Creation>>,
    /// True if this process created or replaced the file, so that its name may not be durable yet.
    named_anew: AtomicBool,
}

/// How an empty archive is created. An existing file is unchanged until the first write, so that an earlier failure loses
/// nothing.
#[derive(Clone, Copy)]
pub(super) enum Creation {
    /// The archive replaces an existing file.
    Replace,
    /// The file must not exist yet.
    New,
}

/// The state for readers.
#[derive(Default)]
pub(super) struct State {
    /// `None` while the file does not exist.
    pub(super) source: Option<Arc<Source>>,
    pub(super) directory: Directory,
    /// A counter that increases when the directory is reloaded or the last entries are discarded, since another entry may then
    /// have the same offset.
    pub(super) generation: u64,
    stamp: Option<Stamp>,
}

/// The state of a writer, from the first entry to the final directory.
struct Session {
    file: File,
    /// The lock against writers in other processes.
    _lock: WriterLock,
    /// The offset of the first new entry. All bytes before it stay unchanged.
    begin: u64,
    /// The offset of the next entry.
    end: u64,
    /// The offset of the directory at the end of the file. Beyond it, only another directory is written.
    tail: u64,
    length: u64,
    changed: bool,
}

/// The properties of a file that reveal whether it was changed or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    length: u64,
    modified: SystemTime,
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { identity: identity(file)?, length: metadata.len(), modified: metadata.modified()? })
    }
}

impl Archive {
    /// Opens the archive at a path, which need not exist yet.
    pub(super) fn at(path: PathBuf) -> Result<Arc<Self>, StoreError> {
        // The archives are declared before the guard, so that they are dropped after it: dropping an archive acquires the
        // same lock.
        let new = Arc::new(Self::new(Some(path.clone()), path.to_string_lossy().into()));
        let known;
        let mut open = unpoisoned(&OPEN);
        known = open.get(&path).and_then(Weak::upgrade);
        if let Some(archive) = &known
            && archive.refresh(&path)?
        {
            return Ok(Arc::clone(archive));
        }
        new.load_if_there()?;
        open.insert(path, Arc::downgrade(&new));
        drop(open);
        Ok(new)
    }

    /// Opens an empty archive, which the first write creates.
    pub(super) fn create(path: PathBuf, creation: Creation) -> Result<Arc<Self>, StoreError> {
        let new = Arc::new(Self::new(Some(path.clone()), path.to_string_lossy().into()));
        let mut open = unpoisoned(&OPEN);
        match creation {
            // The lock shows that no other program is writing to the file.
            Creation::Replace => drop(new.lock_existing(&path)?),
            Creation::New if path.exists() => {
                return Err(new.fail("creating", io::ErrorKind::AlreadyExists.into()));
            }
            Creation::New => {}
        }
        *unpoisoned(&new.creation) = Some(creation);
        open.insert(path, Arc::downgrade(&new));
        drop(open);
        Ok(new)
    }

    /// Opens an archive that is a value of another store.
    pub(super) fn inside(source: Source, location: String) -> Result<Self, StoreError> {
        let archive = Self::new(None, location.into());
        let directory = Directory::read(&source).map_err(|error| archive.named(error))?;
        *archive.state_mut() = State { source: Some(Arc::new(source)), directory, ..State::default() };
        Ok(archive)
    }

    fn new(path: Option<PathBuf>, location: Arc<str>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (sync, named_anew) = (AtomicBool::new(false), AtomicBool::new(false));
        let (state, writer, creation) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { id, location, path, state, writer, sync, creation, named_anew }
    }

    /// Sets whether entries are flushed to disk before their directory is written.
    pub(super) fn set_sync(&self, sync: bool) {
        self.sync.store(sync, Ordering::Relaxed);
    }

    /// Returns the current content of the archive.
    pub(super) fn state(&self) -> Result<RwLockReadGuard<'_, State>, StoreError> {
        let state = self.known_state();
        if state.source.is_some() {
            return Ok(state);
        }
        drop(state);
        if !self.will_be_created() {
            self.load_if_there()?;
        }
        Ok(self.known_state())
    }

    /// Returns true if the archive will be created by the first write. It has no entries until then.
    pub(super) fn will_be_created(&self) -> bool {
        unpoisoned(&self.creation).is_some()
    }

    fn known_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reloads the archive if another program changed it. Returns false if there is now a different file at the path.
    fn refresh(&self, path: &Path) -> Result<bool, StoreError> {
        let Some(known) = self.known_state().stamp else { return Ok(true) };
        let there = File::open(path).and_then(|file| Stamp::of(&file)).ok();
        if there.is_none_or(|there| there.identity != known.identity) {
            return Ok(false);
        }
        // While this process writes, no other process does.
        let writer = unpoisoned(&self.writer);
        if writer.is_none() && there != self.known_state().stamp {
            self.reload()?;
        }
        Ok(true)
    }

    fn load_if_there(&self) -> Result<(), StoreError> {
        let Some(path) = &self.path else { return Ok(()) };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(|error| self.fail("opening", error))?,
        };
        let metadata = file.metadata().map_err(|error| self.fail("opening", error))?;
        if !metadata.is_file() {
            let message = "this is not a file, so it cannot be a zip archive";
            return Err(self.named(StoreError::new(StoreErrorKind::Obstructed, "opening", message)));
        }
        let mut state = self.state_mut();
        if state.source.is_none() {
            let source = Arc::new(Source::File(file));
            let (directory, stamp) = self.load(&source)?;
            *state = State { source: Some(source), directory, stamp: Some(stamp), generation: 0 };
        }
        Ok(())
    }

    /// Reloads the directory, to see changes made by other programs.
    fn reload(&self) -> Result<(), StoreError> {
        let mut state = self.state_mut();
        let Some(source) = &state.source else { return Ok(()) };
        let (directory, stamp) = self.load(source)?;
        state.directory = directory;
        state.stamp = Some(stamp);
        state.generation += 1;
        Ok(())
    }

    /// Reads the directory. Retries while another program is writing.
    fn load(&self, source: &Source) -> Result<(Directory, Stamp), StoreError> {
        let stamp = || match source {
            Source::File(file) => Stamp::of(file),
            Source::Value(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let before = stamp().map_err(|error| self.fail("opening", error))?;
            // An empty file was created but not yet written to.
            let read = if before.length == 0 { Ok(Directory::default()) } else { Directory::read(source) };
            match read {
                Ok(directory) => return Ok((directory, before)),
                Err(error) if attempt == ATTEMPTS || stamp().is_ok_and(|after| after == before) => {
                    return Err(self.named(error));
                }
                Err(_) => {}
            }
        }
    }

    /// Appends an entry if `check` allows it. No other writer is active during the check.
    pub(super) fn set(
        &self,
        key: &Key,
        content: Content,
        header: &[u8],
        bytes: &[u8],
        check: impl FnOnce(&State) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut writer = unpoisoned(&self.writer);
        let session = self.begin(&mut writer)?;
        check(&self.known_state())?;
        let length = (header.len() + bytes.len()) as u64;
        let named = |error: StoreError| error.with_key(key.as_str());
        self.make_room(session, length).map_err(named)?;
        write_entry(&session.file, header, bytes, session.end)
            .map_err(|error| named(self.fail("writing", error)))?;
        let place = session.end;
        session.end += length;
        session.changed = true;
        let entry = Entry::new(content, place, session.end);
        self.state_mut().directory.entries.insert(key.clone(), entry);
        Ok(())
    }

    /// Erases the entries that `choose` removes from the map, if `check` allows it. No other writer is active during the check.
    /// The next directory omits the erased entries.
    pub(super) fn erase<T>(
        &self,
        check: impl FnOnce(&State) -> Result<(), StoreError>,
        choose: impl FnOnce(&mut crate::key_map::Map<Entry>) -> T,
    ) -> Result<T, StoreError> {
        let mut writer = unpoisoned(&self.writer);
        let session = self.begin(&mut writer)?;
        check(&self.known_state())?;
        session.changed = true;
        Ok(choose(&mut self.state_mut().directory.entries))
    }

    /// Writes the directory after the last entry, and then lets other programs write.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.finish(&mut unpoisoned(&self.writer))
    }

    fn finish(&self, writer: &mut Option<Session>) -> Result<(), StoreError> {
        let Some(session) = writer.as_mut() else { return Ok(()) };
        if session.changed {
            // Trailing entries that were written and then removed take no space.
            let end = self.known_state().directory.end_from(session.begin);
            if end < session.end {
                // Another entry will have the same offset, and needs another version.
                self.state_mut().generation += 1;
            }
            session.end = end;
            let directory = self.known_state().directory.to_bytes(session.end);
            self.make_room(session, directory.len() as u64)?;
            let length = session.end + directory.len() as u64;
            let fail = |error| self.fail("finishing", error);
            self.synced(session, |file| write_all_at(file, &directory, session.end)).map_err(fail)?;
            self.synced(session, |file| file.set_len(length)).map_err(fail)?;
            self.sync_name().map_err(fail)?;
            let stamp = Stamp::of(&session.file).map_err(fail)?;
            let mut state = self.state_mut();
            state.directory.start = session.end;
            state.stamp = Some(stamp);
        }
        *writer = None;
        Ok(())
    }

    /// Makes sure that the next `length` bytes are free. The file ends in a directory even while these bytes are being filled.
    fn make_room(&self, session: &mut Session, length: u64) -> Result<(), StoreError> {
        if session.end + length <= session.tail {
            return Ok(());
        }
        let measure = self.known_state().directory.to_bytes(session.end).len() as u64;
        // A hole of a minimum size stays between the two directories, by which a torn directory is recognized.
        let room = (session.end / ROOM_PART).clamp(LEAST_ROOM, MOST_ROOM) + measure;
        // The new directory is written after the directory at the end of the file, which must stay unchanged until the new
        // directory is complete.
        let tail = (session.end + length + room).max(session.length);
        let directory = self.known_state().directory.to_bytes(tail);
        let written = self.synced(session, |file| write_all_at(file, &directory, tail));
        if let Err(error) = written {
            // The previous directory becomes the end of the file again. If that fails too, readers search for it.
            let _ = session.file.set_len(session.length);
            return Err(self.fail("writing", error));
        }
        session.tail = tail;
        session.changed = true;
        session.length = tail + directory.len() as u64;
        Ok(())
    }

    /// Changes the file. If `sync` is set, flushes all earlier writes to disk before the change, and then flushes the change.
    fn synced(&self, session: &Session, change: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let sync = self.sync.load(Ordering::Relaxed);
        if sync {
            session.file.sync_data()?;
        }
        change(&session.file)?;
        if sync { session.file.sync_data() } else { Ok(()) }
    }

    /// Makes the name of a new archive durable, together with the names of its parent directories, which may be new as well.
    fn sync_name(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if !self.sync.load(Ordering::Relaxed) || !self.named_anew.load(Ordering::Relaxed) {
            return Ok(());
        }
        for directory in path.ancestors().skip(1) {
            match sync_directory(directory) {
                // A directory that cannot be read was not created by this process.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => break,
                synced => synced?,
            }
        }
        self.named_anew.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the session, or begins one if there is none: locks the file, and checks that it is still the file that was read.
    fn begin<'a>(&self, writer: &'a mut Option<Session>) -> Result<&'a mut Session, StoreError> {
        let session = match writer.take() {
            Some(session) => session,
            None => self.new_session()?,
        };
        Ok(writer.insert(session))
    }

    fn new_session(&self) -> Result<Session, StoreError> {
        let Some(path) = &self.path else {
            let message = "an archive inside another store is read-only";
            return Err(self.named(StoreError::new(StoreErrorKind::ReadOnly, "writing", message)));
        };
        let fail = |error| self.fail("writing", error);
        self.create_now()?;
        let file = match open_existing(path).map_err(fail)? {
            Some(file) => file,
            None if self.known_state().source.is_none() => {
                self.create_file(path, Creation::New)?;
                open_existing(path)
                    .and_then(|file| file.ok_or(io::ErrorKind::NotFound.into()))
                    .map_err(fail)?
            }
            None => return Err(fail(io::ErrorKind::NotFound.into())),
        };
        let lock = self.take_lock(&file, path)?;
        self.load_if_there()?;
        let stamp = Stamp::of(&file).map_err(fail)?;
        let known = self.known_state().stamp;
        if known.is_none_or(|known| known.identity != stamp.identity) {
            let message = "another program has replaced the archive's file; open it again";
            return Err(self.named(StoreError::new(StoreErrorKind::Conflict, "writing", message)));
        }
        if known != Some(stamp) {
            self.reload()?;
        }
        let (end, torn) = {
            let state = self.known_state();
            (state.directory.start, state.directory.torn)
        };
        if let Some(length) = torn {
            file.set_len(length).map_err(fail)?;
            // The next writer in this process must not truncate this writer's entries.
            self.state_mut().directory.torn = None;
        }
        let length = torn.unwrap_or(stamp.length);
        Ok(Session { file, _lock: lock, begin: end, end, tail: end, length, changed: false })
    }

    fn take_lock(&self, file: &File, path: &Path) -> Result<WriterLock, StoreError> {
        let is_taken = |error: &TryLockError| matches!(error, TryLockError::WouldBlock);
        match retry_for(MOMENT, || try_lock_writer(file, path), is_taken) {
            Ok(lock) => Ok(lock),
            Err(TryLockError::WouldBlock) => {
                let message =
                    "another program or handle is writing to this archive; try again when it has finished";
                Err(self.named(StoreError::new(StoreErrorKind::Unreachable, "locking", message)))
            }
            Err(TryLockError::Error(error)) => Err(self.fail("locking", error)),
        }
    }

    /// Creates the archive now, if the first write would have created it.
    pub(super) fn create_now(&self) -> Result<(), StoreError> {
        let mut creation = unpoisoned(&self.creation);
        if let (Some(what), Some(path)) = (*creation, &self.path) {
            self.create_file(path, what)?;
            *creation = None;
        }
        Ok(())
    }

    fn create_file(&self, path: &Path, creation: Creation) -> Result<(), StoreError> {
        let fail = |error| self.fail("creating", error);
        make_parent(path).map_err(fail)?;
        match creation {
            Creation::New => new_archive(path).map_err(fail)?,
            Creation::Replace => self.replace(path)?,
        }
        self.named_anew.store(true, Ordering::Relaxed);
        self.load_if_there()
    }

    /// Opens and locks the file, if it exists. Windows replaces only closed files, so the file is not kept open there.
    fn lock_existing(&self, path: &Path) -> Result<Option<(Option<File>, WriterLock)>, StoreError> {
        let file = open_existing(path).map_err(|error| self.fail("creating", error))?;
        let Some(file) = file else { return Ok(None) };
        let lock = self.take_lock(&file, path)?;
        Ok(Some((Some(file).filter(|_| cfg!(unix)), lock)))
    }

    /// Replaces the file with a new archive. Readers of the old file can continue to read it.
    fn replace(&self, path: &Path) -> Result<(), StoreError> {
        // The old file stays locked until the new archive exists.
        let _old = self.lock_existing(path)?;
        let name = format!(".zarrox-{:x}-{:x}.zip.tmp", std::process::id(), self.id);
        let temporary = path.with_file_name(name);
        new_archive(&temporary).and_then(|()| fs::rename(&temporary, path)).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            self.fail("creating", error)
        })
    }

    pub(super) fn named(&self, error: StoreError) -> StoreError {
        error.with_location(&*self.location)
    }

    fn fail(&self, operation: &'static str, error: io::Error) -> StoreError {
        self.named(StoreError::from_io(operation, error))
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        if self.path.is_none() {
            return;
        }
        // Handles that are being opened wait until the new archive is complete.
        let mut open = unpoisoned(&OPEN);
        if let Err(error) = self.flush() {
            tracing::error!("the writes since the last flush are lost: {error}");
        }
        open.retain(|_, archive| archive.strong_count() > 0);
    }
}

/// Opens a file for reading and writing. Returns `None` if it does not exist.
fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Writes an empty archive to a new file. The file must not exist yet.
fn new_archive(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    write_all_at(&file, &Directory::default().to_bytes(0), 0)
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn write_entry(file: &File, header: &[u8], bytes: &[u8], place: u64) -> io::Result<()> {
    if bytes.len() <= SMALL {
        return write_all_at(file, &[header, bytes].concat(), place);
    }
    write_all_at(file, header, place)?;
    write_all_at(file, bytes, place + header.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Condition, Store, StoreExt, ZipMode, ZipStore};

    /// Offsets beyond 4 GiB need 64 bits. The file is sparse, so that it takes no space.
    #[test]
    fn places_beyond_four_gigabytes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large.zip");
        let store = ZipStore::open(&path, ZipMode::Create).unwrap();
        let [before, after, later] = ["before", "after", "later"].map(|name| Key::new(name).unwrap());
        store.set(&before, b"1", Condition::Always).unwrap();
        let archive = Archive::at(crate::local::files::canonicalize(&path).unwrap()).unwrap();
        unpoisoned(&archive.writer).as_mut().unwrap().end = 5 << 30;
        store.set(&after, b"22", Condition::Always).unwrap();
        drop((store, archive));

        let store = ZipStore::open(&path, ZipMode::Append).unwrap();
        assert_eq!(store.get(&before).unwrap().unwrap(), "1");
        assert_eq!(store.get(&after).unwrap().unwrap(), "22");
        store.set(&later, b"333", Condition::Always).unwrap();
        drop(store);
        let store = ZipStore::open(&path, ZipMode::Read).unwrap();
        assert_eq!(store.get(&after).unwrap().unwrap(), "22");
        assert_eq!(store.get(&later).unwrap().unwrap(), "333");
        let length = fs::metadata(&path).unwrap().len();
        assert!(length > 5 << 30 && length < (5 << 30) + 1000, "{length}");
    }
}
