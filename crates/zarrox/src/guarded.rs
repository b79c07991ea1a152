//! Values that others may be changing at the same time: a [`LockedValue`] is what was read, and is replaced only if it still is that.
//!
//! Where the locks of a store exclude everybody, the lock is held from before the value is read until the new one is in its place.
//! Elsewhere the store compares versions, if it can, and the change is made again when somebody else was faster.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::internals::system::system;
use zarrox_stores::{ByteRange, Bytes, Condition, Key, LockGuard, StoreErrorKind, StoreExt, Value, Version};

use crate::location::Location;

/// The number of attempts at a change that others were faster with.
const ATTEMPTS: u32 = 100;

/// A value that is going to be changed: its lock, and what was read under it.
pub struct LockedValue {
    bytes: Option<Bytes>,
    /// Only where the store compares versions: to find it out takes a system call.
    version: Option<Version>,
    guard: LockGuard,
    key: Key,
}

impl LockedValue {
    /// The bytes that were read; `None` if there was no value.
    pub fn bytes(&self) -> Option<&Bytes> {
        self.bytes.as_ref()
    }

    /// Returns true if the value is of this version.
    pub(crate) fn is_version(&self, version: &Version) -> bool {
        self.version.as_ref() == Some(version)
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    fn condition(&self, place: &Location) -> Condition<'_> {
        match (place.is_guarded(), &self.bytes, &self.version) {
            (true, Some(_), Some(version)) => Condition::Matches(version),
            (true, None, _) => Condition::Absent,
            _ => Condition::Locked(&self.guard),
        }
    }

    /// Stores another value. That somebody else has changed it meanwhile is a conflict, where the store can tell; then nothing
    /// is written.
    pub fn replace(&self, place: &Location, value: &[u8]) -> Result<()> {
        match place.store.set(&self.key, value, self.condition(place)) {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => {
                Err(Error::new(ErrorKind::Conflict, "somebody else created it meanwhile").with_source(error))
            }
            result => result.map_err(Error::from),
        }
    }

    /// Erases the value, under the conditions of [`replace`](Self::replace).
    pub fn erase(&self, place: &Location) -> Result<()> {
        match self.condition(place) {
            Condition::Absent => Ok(()),
            Condition::Matches(_) if !place.store.capabilities().erase_if_unchanged => {
                place.store.erase(&self.key).map_err(Error::from).map(drop)
            }
            condition => place.store.erase_if(&self.key, condition).map_err(Error::from).map(drop),
        }
    }
}

impl Location {
    /// Returns true if others may be changing what is stored here in spite of our locks, and the store can tell.
    pub(crate) fn is_guarded(&self) -> bool {
        let capabilities = self.store.capabilities();
        capabilities.set_if_unchanged && !capabilities.locks_everyone
    }

    /// Returns true if a stored object may be replaced but not erased under a condition.
    pub(crate) fn cannot_erase_unchanged(&self) -> bool {
        self.is_guarded() && !self.store.capabilities().erase_if_unchanged
    }

    /// Locks a value and reads it, of at most so many bytes, to change it.
    pub fn locked_value(&self, key: &Key, limit: u64) -> Result<LockedValue> {
        let mut guard = self.store.lock(key)?;
        // A store that is not a directory itself may keep something else in the file than the value, as a cipher.
        let value = match guard.take_value().filter(|_| self.store.directory().is_some()) {
            None => self.open_value(key, limit)?,
            opened => opened,
        };
        let read = value.map(|value| read_at_most(value, key, limit)).transpose()?;
        let version = read.as_ref().filter(|_| self.is_guarded()).and_then(|(value, _)| value.version());
        Ok(LockedValue { bytes: read.map(|(_, bytes)| bytes), version, guard, key: key.clone() })
    }

    /// Reads a value of at most so many bytes.
    pub fn bytes(&self, key: &Key, limit: u64) -> Result<Option<Bytes>> {
        let Some(value) = self.open_value(key, limit)? else { return Ok(None) };
        Ok(Some(read_at_most(value, key, limit)?.1))
    }

    /// Opens a value of which at most so many bytes are going to be read.
    fn open_value(&self, key: &Key, limit: u64) -> Result<Option<Box<dyn Value>>> {
        let first = ByteRange::From { offset: 0, length: Some(limit) };
        // Directories have the names of documents of other formats: `meta` is a document of Zarr 1 and a directory of drafts of 3.
        Ok(self.store.open_unless_directory(key, Some(first))?)
    }

    /// Stores or erases a value that does not depend on the one that is there.
    ///
    /// Where locks exclude everybody, a store notices by itself when a value is replaced that somebody else has locked. Elsewhere the
    /// lock keeps threads of this process from merging meanwhile.
    pub(crate) fn overwrite<R>(&self, key: &Key, write: impl FnOnce() -> Result<R>) -> Result<R> {
        let _guard = match self.store.capabilities().locks_everyone {
            true => None,
            false => Some(self.store.lock(key)?),
        };
        write()
    }
}

/// Reads a value of at most so many bytes.
fn read_at_most(value: Box<dyn Value>, key: &Key, limit: u64) -> Result<(Box<dyn Value>, Bytes)> {
    let size = value.size();
    if size > limit {
        let message = format!("'{key}' has {size} bytes, which would be read at once; the limit is {limit}");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    let bytes = value.read(0, size)?;
    Ok((value, bytes))
}

/// Makes a change, and makes it again where somebody else was faster. A change that is a conflict must have changed nothing.
pub fn until_unchanged<R>(mut change: impl FnMut() -> Result<R>) -> Result<R> {
    for attempt in 0..ATTEMPTS {
        match change() {
            Err(error) if error.kind() == ErrorKind::Conflict => wait_for_others(attempt),
            result => return result,
        }
    }
    Err(Error::new(ErrorKind::Conflict, "others keep changing it; nothing was written to it"))
}

/// Waits a little, each time another while and up to longer, so that those who compete do not meet again.
pub(crate) fn wait_for_others(attempt: u32) {
    system().sleep(backoff(attempt));
}

/// Returns the random delay before the next attempt, of up to 320 ms.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let longest = Duration::from_millis(5).saturating_mul(1 << attempt.min(6));
    let random = RandomState::new().hash_one(attempt);
    longest.mul_f64(f64::from(u8::try_from(random & 0xff).unwrap_or(0)) / 255.0)
}
