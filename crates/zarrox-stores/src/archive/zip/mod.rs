//! [`ZipStore`].

mod archive;
mod directory;
mod format;
mod source;
mod torn;
mod value;

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use flate2::{Compress, Compression, FlushCompress, Status};

use self::archive::{Archive, Creation, State};
use self::directory::Entry;
use self::format::{Content, DEFLATED, STORED};
use self::source::Source;
use self::value::ZipValue;
use crate::store::stamp_of;
use crate::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Stamp, Store,
    StoreError, StoreErrorKind, StoreExt, Value, Version, key_map, provided,
};

/// The default maximum size of a deflated entry.
const INFLATE_LIMIT: u64 = 1 << 30;
/// The maximum length of an entry's name.
const LONGEST_NAME: usize = u16::MAX as usize;

/// A store that keeps each value in an entry of a zip archive: the value of `a/b` is in the entry `a/b`, as in zarr-python's
/// `ZipStore`.
///
/// | option | default |
/// |---|---|
/// | [`ZipMode`] | set when the archive is opened |
/// | [`deflate`](Self::deflate) | entries are stored uncompressed, since most chunks are already compressed |
/// | [`inflate_limit`](Self::inflate_limit) | deflated entries of up to 1 GiB are read |
/// | [`sync`](Self::sync) | nothing is flushed to disk |
///
/// # Reading
///
/// The directory of the archive is read once. Afterwards, reading an entry costs one read, or two if its header is unusually
/// long. Only the requested part of an uncompressed entry is read. Entries may be stored or deflated. Reading an entry with
/// another compression method, or an encrypted entry, is an error of the kind [`StoreErrorKind::Unsupported`]. The CRC-32 is
/// checked whenever a whole entry is read. If several entries have the same name, the last one wins. The entry `./a` contains the
/// value of `a`, and the entry `a\b` the value of `a/b`. Entries whose names are not valid keys, such as names that lead out of
/// the archive (`../x`, `/x`), are ignored with a warning.
///
/// # Writing
///
/// An archive must be finished. [`close`](Self::close) finishes it and returns errors; otherwise it is finished when the last
/// handle is dropped, and errors are only logged. All handles to an archive in a process see each write immediately. Other
/// programs see the archive as it was last finished, or in a later state. If the process is killed, the archive is left as it was
/// last finished, or in a later state. A process that is killed while it writes a directory of several pages leaves part of that
/// directory after the archive. Only this store ignores that part; its next writer truncates it. Only one process at a time can
/// write to an archive, from its first write until it closes the archive. A second process gets an error of the kind
/// [`StoreErrorKind::Unreachable`]. A writer reloads the directory after another writer has written, and the version of a value
/// is the offset of its entry, so no writer undoes another writer's changes.
///
/// A zip archive cannot reclaim space: erased and overwritten values are removed from the directory but stay in the file. To
/// reclaim the space, copy the values to a new archive. Unlike in zarr-python, names are never duplicated.
///
/// Entries have the date 1 January 1980, so that equal values written in the same order result in equal archives.
#[derive(Clone)]
pub struct ZipStore {
    archive: Arc<Archive>,
    writable: bool,
    deflate: Option<u32>,
    inflate_limit: u64,
}

/// The modes of a zip archive, as in zarr-python's `ZipStore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZipMode {
    /// `r`: opens an existing archive for reading.
    Read,
    /// `r+`: opens an existing archive for reading and writing.
    ReadWrite,
    /// `a`: opens an archive for reading and writing; the first write creates it if it does not exist.
    Append,
    /// `w`: creates an archive on the first write or on [`close`](ZipStore::close), replacing an existing one.
    Create,
    /// `w-` or `x`: creates an archive on the first write or on [`close`](ZipStore::close); fails if the file exists.
    CreateNew,
}

impl ZipStore {
    /// Opens or creates an archive.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when the mode requires an existing file, [`StoreErrorKind::AlreadyExists`] when the mode
    /// requires that no file exists; [`StoreErrorKind::Corrupt`] when the file is not an archive or is damaged; and an error when
    /// it cannot be read.
    pub fn open(path: impl AsRef<Path>, mode: ZipMode) -> Result<Self, StoreError> {
        let given = path.as_ref();
        let fail = |error| StoreError::from_io("opening", error).with_location(given.to_string_lossy());
        let path = crate::local::directory::resolve(given).map_err(fail)?;
        let archive = match mode {
            ZipMode::Create => Archive::create(path, Creation::Replace)?,
            ZipMode::CreateNew => Archive::create(path, Creation::New)?,
            ZipMode::Read | ZipMode::ReadWrite | ZipMode::Append => Archive::at(path)?,
        };
        let must_exist = matches!(mode, ZipMode::Read | ZipMode::ReadWrite);
        if must_exist && archive.state()?.source.is_none() && !archive.will_be_created() {
            return Err(fail(std::io::ErrorKind::NotFound.into()));
        }
        Ok(Self::new(archive, mode != ZipMode::Read))
    }

    /// Opens an archive that is a value of another store, for reading. Only the parts that are needed are read.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when the value does not exist, and the errors of [`open`](Self::open).
    #[expect(clippy::needless_pass_by_value, reason = "a store is passed as it is kept everywhere else")]
    pub fn open_in(store: Arc<dyn Store>, key: &Key) -> Result<Self, StoreError> {
        let Some(value) = store.open(key)? else {
            let error = StoreError::new(StoreErrorKind::NotFound, "opening", "nothing found");
            return Err(error.with_location(store.location()).with_key(key.as_str()));
        };
        let location = format!("{}/{key}", store.location().trim_end_matches('/'));
        Ok(Self::new(Arc::new(Archive::inside(Source::Value(value), location)?), false))
    }

    fn new(archive: Arc<Archive>, writable: bool) -> Self {
        Self { archive, writable, deflate: None, inflate_limit: INFLATE_LIMIT }
    }

    /// Sets the level, from 1 to 9, at which entries are deflated. With `None`, the default, entries are stored uncompressed.
    ///
    /// Entries that deflating would enlarge are stored uncompressed.
    #[must_use]
    pub fn deflate(self, level: Option<u32>) -> Self {
        Self { deflate: level.map(|level| level.min(9)), ..self }
    }

    /// Sets the maximum size of a deflated entry to read, in bytes; 1 GiB by default.
    ///
    /// A few megabytes in an archive may expand to gigabytes in memory.
    #[must_use]
    pub fn inflate_limit(self, bytes: u64) -> Self {
        Self { inflate_limit: bytes, ..self }
    }

    /// Sets, for all handles, whether the archive is flushed to disk when it is finished; `false` by default.
    ///
    /// A finished archive and its name then survive a power failure.
    #[must_use]
    pub fn sync(self, sync: bool) -> Self {
        self.archive.set_sync(sync);
        self
    }

    /// Finishes the archive, so that it contains all writes, and other programs may write to it.
    ///
    /// Later writes through this or another handle require the archive to be finished again.
    ///
    /// # Errors
    ///
    /// When the directory cannot be written. The values that were written can still be read, and closing can be retried.
    pub fn close(&self) -> Result<(), StoreError> {
        self.archive.create_now()?;
        self.archive.flush()
    }

    fn value(&self, state: &State, key: &Key, entry: Entry) -> Option<ZipValue> {
        Some(ZipValue {
            source: Arc::clone(state.source.as_ref()?),
            entry,
            key: key.clone(),
            location: Arc::clone(&self.archive.location),
            inflate_limit: self.inflate_limit,
            version: Some(self.version(state, &entry)),
            data: OnceLock::new(),
            inflated: OnceLock::new(),
        })
    }

    /// Returns the version of an entry, for handles in this process. Within one generation, no two entries have the same offset.
    fn version(&self, state: &State, entry: &Entry) -> Version {
        Version::from([self.archive.id, state.generation, entry.header].map(u64::to_ne_bytes).concat())
    }

    /// Returns an error if the entry does not satisfy the condition.
    fn check(
        &self,
        state: &State,
        key: &Key,
        condition: Condition<'_>,
        operation: &'static str,
    ) -> Result<(), StoreError> {
        let there = state.directory.entries.get(key);
        let fail = |kind, message: &str| Err(self.error(kind, operation, message, key.as_str()));
        match condition {
            Condition::Absent if there.is_some() => {
                fail(StoreErrorKind::AlreadyExists, "the value already exists")
            }
            Condition::Matches(version)
                if there.map(|entry| self.version(state, entry)).as_ref() != Some(version) =>
            {
                fail(StoreErrorKind::Conflict, "another writer changed the value in the meantime")
            }
            _ => Ok(()),
        }
    }

    fn check_writable(&self, operation: &'static str, key: &str) -> Result<(), StoreError> {
        if self.writable {
            return Ok(());
        }
        let message = "the archive was opened read-only";
        Err(self.error(StoreErrorKind::ReadOnly, operation, message, key))
    }

    fn error(&self, kind: StoreErrorKind, operation: &'static str, message: &str, key: &str) -> StoreError {
        self.archive.named(StoreError::new(kind, operation, message)).with_key(key)
    }
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("ZipStore");
        debug.field("location", &self.archive.location).field("writable", &self.writable).finish()
    }
}

impl Store for ZipStore {
    provided!(directory get get_ranges get_many contains hold exchange);

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        stamp_of(self, key)
    }

    fn location(&self) -> String {
        self.archive.location.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: self.writable,
            listable: true,
            set_if_absent: self.writable,
            set_if_unchanged: self.writable,
            erase_if_unchanged: self.writable,
            rename: false,
            values_above_values: true,
            ..Capabilities::default()
        }
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        let state = self.archive.state()?;
        let entry = state.directory.entries.get(key);
        let value = entry.and_then(|entry| self.value(&state, key, *entry));
        Ok(value.map(|value| Box::new(value) as Box<dyn Value>))
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        Ok(self.archive.state()?.directory.entries.get(key).map(|entry| entry.content.size))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        self.check_writable("writing", key.as_str())?;
        if key.as_str().len() > LONGEST_NAME {
            let message = "the key is longer than the limit of zip, 65,535 bytes";
            return Err(self.error(StoreErrorKind::InvalidKey, "writing", message, key.as_str()));
        }
        let deflated = self.deflate.and_then(|level| deflate(value, level));
        let bytes = deflated.as_deref().unwrap_or(value);
        let content = Content {
            flags: 0,
            method: if deflated.is_some() { DEFLATED } else { STORED },
            crc: crc32fast::hash(value),
            compressed: bytes.len() as u64,
            size: value.len() as u64,
        };
        self.archive.set(key, content, &format::local_header(key.as_str(), &content), bytes, |state| {
            self.check(state, key, condition, "writing")
        })
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        self.check_writable("erasing", key.as_str())?;
        let is_there = self.archive.state()?.directory.entries.contains_key(key);
        if !is_there && !matches!(condition, Condition::Matches(_)) {
            return Ok(false);
        }
        let check = |state: &State| self.check(state, key, condition, "erasing");
        self.archive.erase(check, |entries| entries.remove(key).is_some())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.check_writable("erasing", prefix.as_str())?;
        if !key_map::any_below(&self.archive.state()?.directory.entries, prefix) {
            return Ok(());
        }
        self.archive.erase(|_| Ok(()), |entries| drop(key_map::take_prefix(entries, prefix)))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let next = |start: Bound<&str>| {
            let state = self.archive.state()?;
            Ok(key_map::batch(&state.directory.entries, start, prefix, |entry| entry.content.size))
        };
        key_map::visit_batches(prefix, next, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        key_map::list_dir(&self.archive.state()?.directory.entries, prefix)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        self.check_writable("renaming", from.as_str())?;
        crate::store::copy_then_erase(self, from, to)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.close()
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("zip://{}", self.archive.location), key))
    }
}

/// Returns the deflated bytes, or `None` if deflating does not reduce the size.
fn deflate(value: &[u8], level: u32) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    out.try_reserve_exact(value.len()).ok()?;
    let mut stream = Compress::new(Compression::new(level), false);
    let status = stream.compress_vec(value, &mut out, FlushCompress::Finish).ok()?;
    (status == Status::StreamEnd && out.len() < value.len()).then_some(out)
}
