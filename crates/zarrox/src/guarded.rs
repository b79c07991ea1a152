//! Values that others may be changing at the same time: what is read has a version, and is replaced only if it still is that.
//!
//! Within a process locks of the store do that; processes that share a disk, too. It is for stores far away, where other processes
//! know nothing of our locks.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{ByteRange, Bytes, Condition, Key, StoreErrorKind, StoreExt, Value, Version};

use crate::location::Location;

/// The number of attempts at a change that others were faster with.
const ATTEMPTS: u32 = 100;

/// A value as it was read.
pub(crate) struct Stored {
    pub(crate) bytes: Bytes,
    /// Only where it is needed for replacing: finding it out is a system call.
    version: Option<Version>,
}

impl Location {
    /// Returns true if others may be changing what is stored here, and the store can tell.
    pub(crate) fn is_guarded(&self) -> bool {
        self.is_remote() && self.store.capabilities().set_if_unchanged
    }

    /// Reads a value of at most so many bytes, to replace it.
    pub(crate) fn stored(&self, key: &Key, limit: u64) -> Result<Option<Stored>> {
        let version = |value: &dyn Value| if self.is_guarded() { value.version() } else { None };
        let read = self.read_value(key, limit)?;
        Ok(read.map(|(value, bytes)| Stored { bytes, version: version(&*value) }))
    }

    /// Reads a value of at most so many bytes.
    pub(crate) fn bytes(&self, key: &Key, limit: u64) -> Result<Option<Bytes>> {
        Ok(self.read_value(key, limit)?.map(|(_, bytes)| bytes))
    }

    fn read_value(&self, key: &Key, limit: u64) -> Result<Option<(Box<dyn Value>, Bytes)>> {
        let first = ByteRange::From { offset: 0, length: Some(limit) };
        let Some(value) = self.store.open_with(key, Some(first))? else {
            return Ok(None);
        };
        let size = value.size();
        if size > limit {
            let message =
                format!("'{key}' has {size} bytes, which would be read at once; the limit is {limit}");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let bytes = value.read(0, size)?;
        Ok(Some((value, bytes)))
    }

    /// Stores what becomes of a value, or of none. That somebody else has changed it meanwhile is a conflict, where that can be told;
    /// then nothing is written.
    pub(crate) fn replace(&self, key: &Key, before: Option<&Stored>, value: &[u8]) -> Result<()> {
        let condition = match before.map(|stored| stored.version.as_ref()) {
            Some(Some(version)) => Condition::Matches(version),
            None if self.is_guarded() => Condition::Absent,
            _ => Condition::Always,
        };
        match self.store.set(key, value, condition) {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => {
                Err(Error::new(ErrorKind::Conflict, "somebody else created it meanwhile").with_source(error))
            }
            result => result.map_err(Error::from),
        }
    }
}

/// Reads and replaces, and once more where somebody else was faster. What gives a conflict must have changed nothing.
pub(crate) fn until_unchanged<R>(mut change: impl FnMut() -> Result<R>) -> Result<R> {
    for attempt in 0..ATTEMPTS {
        match change() {
            Err(error) if error.kind() == ErrorKind::Conflict => wait_for_others(attempt),
            result => return result,
        }
    }
    Err(Error::new(ErrorKind::Conflict, "others keep changing it; nothing was written to it"))
}

/// Waits a little, each time another while and up to longer, so that those who compete do not meet again.
fn wait_for_others(attempt: u32) {
    let longest = Duration::from_millis(5).saturating_mul(1 << attempt.min(6));
    let random = RandomState::new().hash_one(attempt);
    std::thread::sleep(longest.mul_f64(f64::from(u8::try_from(random & 0xff).unwrap_or(0)) / 255.0));
}
