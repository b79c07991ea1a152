//! Stored objects that other writers may be changing at the same time: a [`LockedValue`] holds the bytes of an object that were
//! read; the object is replaced only if these bytes are still stored.
//!
//! If the locks of a store exclude all other writers, the lock is held from before the value is read until the new value is
//! stored. Elsewhere the store compares versions, if it can, and the change is repeated when another writer was faster.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::internals::system::system;
use zarrox_stores::{ByteRange, Bytes, Condition, Key, LockGuard, StoreErrorKind, StoreExt, Value, Version};

use crate::location::Location;

/// The number of attempts at a change, while other writers are faster.
const ATTEMPTS: u32 = 100;

/// A value that is about to be changed: its lock, and the bytes that were read under it.
pub struct LockedValue {
    bytes: Option<Bytes>,
    /// The version of the value; `None` where the store does not compare versions, since reading the version takes a system call.
    version: Option<Version>,
    guard: LockGuard,
    key: Key,
}

impl LockedValue {
    /// Returns the bytes that were read; `None` if there was no value.
    pub fn bytes(&self) -> Option<&Bytes> {
        self.bytes.as_ref()
    }

    /// Returns true if the value has this version.
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

    /// Stores another value. Returns a conflict, and writes nothing, if the store detects that another writer has changed the
    /// value meanwhile.
    pub fn replace(&self, place: &Location, value: &[u8]) -> Result<()> {
        match place.store.set(&self.key, value, self.condition(place)) {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => {
                Err(Error::new(ErrorKind::Conflict, "another writer has created the object meanwhile")
                    .with_source(error))
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
    /// Returns true if other writers may change stored objects in spite of our locks, and the store can detect such changes.
    pub(crate) fn is_guarded(&self) -> bool {
        let capabilities = self.store.capabilities();
        capabilities.set_if_unchanged && !capabilities.locks_everyone
    }

    /// Returns true if a stored object may be replaced but not erased under a condition.
    pub(crate) fn cannot_erase_unchanged(&self) -> bool {
        self.is_guarded() && !self.store.capabilities().erase_if_unchanged
    }

    /// Locks a value of at most `limit` bytes and reads it, in order to change it.
    pub fn locked_value(&self, key: &Key, limit: u64) -> Result<LockedValue> {
        let mut guard = self.store.lock(key)?;
        // A store other than a directory may store something else in the file than the value, such as encrypted bytes.
        let value = match guard.take_value().filter(|_| self.store.directory().is_some()) {
            None => self.open_value(key, limit)?,
            opened => opened,
        };
        let read = value.map(|value| read_at_most(value, key, limit)).transpose()?;
        let version = read.as_ref().filter(|_| self.is_guarded()).and_then(|(value, _)| value.version());
        Ok(LockedValue { bytes: read.map(|(_, bytes)| bytes), version, guard, key: key.clone() })
    }

    /// Reads a value of at most `limit` bytes.
    pub fn bytes(&self, key: &Key, limit: u64) -> Result<Option<Bytes>> {
        let Some(value) = self.open_value(key, limit)? else { return Ok(None) };
        Ok(Some(read_at_most(value, key, limit)?.1))
    }

    /// Opens a value in order to read at most `limit` bytes of it.
    fn open_value(&self, key: &Key, limit: u64) -> Result<Option<Box<dyn Value>>> {
        let first = ByteRange::From { offset: 0, length: Some(limit) };
        // A directory can have the name of another format's document: `meta` is a document of Zarr 1 and a directory of drafts of
        // 3.
        Ok(self.store.open_unless_directory(key, Some(first))?)
    }

    /// Stores or erases a value that does not depend on the stored one.
    ///
    /// If locks exclude all other writers, the store itself detects that it replaces a value that another writer has locked.
    /// Elsewhere the lock keeps threads of this process from merging meanwhile.
    pub(crate) fn overwrite<R>(&self, key: &Key, write: impl FnOnce() -> Result<R>) -> Result<R> {
        let _guard = match self.store.capabilities().locks_everyone {
            true => None,
            false => Some(self.store.lock(key)?),
        };
        write()
    }
}

/// Reads a value of at most `limit` bytes.
fn read_at_most(value: Box<dyn Value>, key: &Key, limit: u64) -> Result<(Box<dyn Value>, Bytes)> {
    let size = value.size();
    if size > limit {
        let message =
            format!("'{key}' has {size} bytes, which exceeds the limit of {limit} for reading it at once");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    let bytes = value.read(0, size)?;
    Ok((value, bytes))
}

/// Makes a change, and repeats it when another writer was faster. A change that returns a conflict must have changed nothing.
pub fn until_unchanged<R>(mut change: impl FnMut() -> Result<R>) -> Result<R> {
    for attempt in 0..ATTEMPTS {
        match change() {
            Err(error) if error.kind() == ErrorKind::Conflict => wait_for_others(attempt),
            result => return result,
        }
    }
    let message = format!(
        "gave up after {ATTEMPTS} attempts: other writers kept changing the object; nothing was written"
    );
    Err(Error::new(ErrorKind::Conflict, message))
}

/// Waits for a random time, whose maximum grows with each attempt, so that competing writers do not collide again.
pub(crate) fn wait_for_others(attempt: u32) {
    system().sleep(backoff(attempt));
}

/// Returns the random delay before the next attempt, of up to 320 ms.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let longest = Duration::from_millis(5).saturating_mul(1 << attempt.min(6));
    let random = RandomState::new().hash_one(attempt);
    longest.mul_f64(f64::from(u8::try_from(random & 0xff).unwrap_or(0)) / 255.0)
}
