//! Changing stored objects that other writers may be changing at the same time. A [`LockedValue`] contains the bytes of an object
//! as they were read; the object is replaced only if the same bytes are still stored.
//!
//! If the locks of a store exclude all other writers, the lock is held from before the value is read until the new value is
//! stored. Otherwise, the change is a conditional write, if the store supports it, and is retried if another writer has changed
//! the object first.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::internals::system::system;
use zarrox_stores::{ByteRange, Bytes, Condition, Key, LockGuard, StoreErrorKind, StoreExt, Value, Version};

use crate::location::Location;

/// The number of attempts to make a change while other writers keep changing the object.
const ATTEMPTS: u32 = 100;

/// A value that is about to be changed: its lock, and the bytes that were read under the lock.
pub struct LockedValue {
    bytes: Option<Bytes>,
    /// The version of the value; `None` if writes are not conditional, since reading the version would take a system call.
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

    /// Replaces the value. If the store detects that another writer has changed the value in the meantime, writes nothing and
    /// returns a conflict.
    pub fn replace(&self, place: &Location, value: &[u8]) -> Result<()> {
        match place.store.set(&self.key, value, self.condition(place)) {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => {
                Err(Error::new(ErrorKind::Conflict, "another writer has created the object meanwhile")
                    .with_source(error))
            }
            result => result.map_err(Error::from),
        }
    }

    /// Erases the value, under the same conditions as [`replace`](Self::replace).
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
    /// Returns true if our locks do not exclude all other writers, but the store supports conditional writes.
    pub(crate) fn is_guarded(&self) -> bool {
        let capabilities = self.store.capabilities();
        capabilities.set_if_unchanged && !capabilities.locks_everyone
    }

    /// Returns true if conditional writes are needed, but the store does not support conditional deletes.
    pub(crate) fn cannot_erase_unchanged(&self) -> bool {
        self.is_guarded() && !self.store.capabilities().erase_if_unchanged
    }

    /// Locks and reads a value of at most `limit` bytes, in order to change it.
    pub fn locked_value(&self, key: &Key, limit: u64) -> Result<LockedValue> {
        let mut guard = self.store.lock(key)?;
        // Stores other than plain directories may transform the contents of the file, by encryption for example.
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
        // A directory can have the name of another format's document: `meta` is a document in v1, and a directory in drafts of
        // v3.
        Ok(self.store.open_unless_directory(key, Some(first))?)
    }

    /// Stores or erases a value regardless of the stored value.
    ///
    /// If locks exclude all other writers, the store itself detects that another writer has locked the value. Otherwise, the lock
    /// prevents threads of this process from merging into the value in the meantime.
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

/// Makes a change, and retries if another writer has changed the object first. A change that returns a conflict must have changed
/// nothing.
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

/// Waits for a random time, whose maximum grows with each attempt, so that competing writers are unlikely to collide again.
pub(crate) fn wait_for_others(attempt: u32) {
    system().sleep(backoff(attempt));
}

/// Returns the random delay before the next attempt, of up to 320 ms.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let longest = Duration::from_millis(5).saturating_mul(1 << attempt.min(6));
    let random = RandomState::new().hash_one(attempt);
    longest.mul_f64(f64::from(u8::try_from(random & 0xff).unwrap_or(0)) / 255.0)
}
