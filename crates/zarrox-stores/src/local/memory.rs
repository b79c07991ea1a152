//! [`MemoryStore`].

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use bytes::Bytes;

use crate::store::{check_rename, checked_length};
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, unpoisoned};
use crate::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Prefix, Stamp, Store, StoreError,
    StoreErrorKind, Value, Version,
};
use crate::{Payload, key_map, provided};

type Map = key_map::Map<Stored>;

/// A value, and a number that is unique in this process.
#[derive(Clone)]
struct Stored {
    bytes: Bytes,
    version: u64,
}

impl Stored {
    fn new(value: &[u8]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { bytes: Bytes::copy_from_slice(value), version: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    fn version(&self) -> Version {
        Version::from(self.version.to_ne_bytes())
    }
}

impl Value for Stored {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.bytes.read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        Some(&self.bytes)
    }

    fn version(&self) -> Option<Version> {
        Some(self.version())
    }
}

/// A store in the memory of this process.
///
/// Clones share the values of the original. [`get`](Store::get) does not copy.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Shared>);

struct Shared {
    /// A name that is unique among the stores of this process. It identifies the storage in lock names.
    location: String,
    map: RwLock<Map>,
}

impl Default for Shared {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { location: format!("memory://{id}"), map: RwLock::default() }
    }
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // A panic while the lock is held leaves the map consistent, since each change is either complete or not yet begun.
    fn read(&self) -> RwLockReadGuard<'_, Map> {
        self.0.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Map> {
        self.0.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, kind: StoreErrorKind, operation: &'static str, message: &str, key: &str) -> StoreError {
        StoreError::new(kind, operation, message).with_location(self.location()).with_key(key)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryStore").field("keys", &self.read().len()).finish()
    }
}

impl Store for MemoryStore {
    provided!(directory get_ranges get_many size contains flush hold);

    fn location(&self) -> String {
        self.0.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            listable: true,
            set_if_absent: true,
            rename: true,
            values_above_values: true,
            set_if_unchanged: true,
            erase_if_unchanged: true,
            locks_everyone: true,
            ..Capabilities::default()
        }
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.read().get(key).map(|stored| Box::new(stored.clone()) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        Ok(self.read().get(key).map(|stored| stored.bytes.clone()))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let value = Stored::new(value);
        let fail = |kind, message: &str| Err(self.error(kind, "writing", message, key.as_str()));
        let mut map = self.write();
        let there = map.get(key);
        match condition {
            Condition::Absent if there.is_some() => {
                return fail(StoreErrorKind::AlreadyExists, "the value already exists");
            }
            Condition::Matches(version) if there.map(Stored::version).as_ref() != Some(version) => {
                return fail(StoreErrorKind::Conflict, "another writer changed the value in the meantime");
            }
            Condition::Locked(guard) if !is_as_locked(guard, there) => {
                return fail(StoreErrorKind::Conflict, "another writer changed the value in the meantime");
            }
            _ => {}
        }
        relock(condition, Some(value.version));
        map.insert(key.clone(), value);
        Ok(())
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        let mut map = self.write();
        match condition {
            Condition::Matches(version) if map.get(key).map(Stored::version).as_ref() != Some(version) => {
                let message = "another writer changed the value in the meantime";
                return Err(self.error(StoreErrorKind::Conflict, "erasing", message, key.as_str()));
            }
            Condition::Locked(guard) if !is_as_locked(guard, map.get(key)) => {
                let message = "another writer changed the value in the meantime";
                return Err(self.error(StoreErrorKind::Conflict, "erasing", message, key.as_str()));
            }
            Condition::Matches(_) => {}
            other => other.unconditional()?,
        }
        relock(condition, None);
        Ok(map.remove(key).is_some())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        key_map::take_prefix(&mut self.write(), prefix);
        Ok(())
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let next = |start: Bound<&str>| Ok(key_map::batch(&self.read(), start, prefix, Stored::size));
        key_map::visit_batches(prefix, next, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        key_map::list_dir(&self.read(), prefix)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        if !check_rename(from, to)? {
            return Ok(());
        }
        let mut map = self.write();
        if key_map::any_below(&map, to) {
            let message = "the destination already exists";
            return Err(self.error(StoreErrorKind::AlreadyExists, "renaming", message, to.as_str()));
        }
        if !key_map::any_below(&map, from) {
            return Err(self.error(StoreErrorKind::NotFound, "renaming", "nothing found", from.as_str()));
        }
        for (key, value) in key_map::take_prefix(&mut map, from) {
            map.insert(to.key(&key.as_str()[from.as_str().len()..])?, value);
        }
        Ok(())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let guard = LockGuard::in_process(&self.location(), key);
        let version = self.read().get(key).map(|stored| stored.version);
        Ok(guard.of_storage(LockedVersion(Mutex::new(version))))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        Ok(self.read().get(key).map_or(Stamp::Missing, |stored| Stamp::Settled(stored.version())))
    }

    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
        if !check_rename(one, other)? {
            return Ok(());
        }
        let mut map = self.write();
        if let Some(empty) = [one, other].into_iter().find(|prefix| !key_map::any_below(&map, prefix)) {
            return Err(self.error(StoreErrorKind::NotFound, "exchanging", "nothing found", empty.as_str()));
        }
        let (of_one, of_other) = (key_map::take_prefix(&mut map, one), key_map::take_prefix(&mut map, other));
        for (values, from, to) in [(of_one, one, other), (of_other, other, one)] {
            for (key, value) in values {
                map.insert(to.key(&key.as_str()[from.as_str().len()..])?, value);
            }
        }
        Ok(())
    }
}

/// The version that the holder of a lock last read or wrote; `None` if the value does not exist.
struct LockedVersion(Mutex<Option<u64>>);

/// Returns true if a value is the one that existed when the guard was created, or the one that the guard's holder wrote.
fn is_as_locked(guard: &LockGuard, there: Option<&Stored>) -> bool {
    let version = there.map(|stored| stored.version);
    guard.storage::<LockedVersion>().is_none_or(|locked| *unpoisoned(&locked.0) == version)
}

/// Records, in a guard, the version that the guard's holder wrote.
fn relock(condition: Condition<'_>, version: Option<u64>) {
    if let Condition::Locked(guard) = condition
        && let Some(locked) = guard.storage::<LockedVersion>()
    {
        *unpoisoned(&locked.0) = version;
    }
}

/// Bytes in memory, as a value.
impl Value for Bytes {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        checked_length(self.size(), offset, buffer.len() as u64)?;
        let start = checked_length(self.size(), 0, offset)?;
        buffer.copy_from_slice(&self[start..start + buffer.len()]);
        Ok(())
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        Some(self)
    }
}

#[cfg(all(test, model))]
mod model {
    use shuttle::thread;

    use super::*;
    use crate::StoreExt;
    use crate::sync::check;

    #[test]
    fn no_change_is_lost_that_compares_versions_or_is_made_under_the_lock() {
        check(|| {
            let (store, key) = (MemoryStore::new(), Key::new("k").unwrap());
            store.set(&key, &[0], Condition::Always).unwrap();
            let if_unchanged = || {
                let value = store.open_with(&key, None).unwrap().unwrap();
                let next = value.read(0, 1).unwrap()[0] + 1;
                store.set(&key, &[next], Condition::Matches(&value.version().unwrap()))
            };
            let locked = || {
                let guard = store.lock(&key).unwrap();
                let next = store.get(&key).unwrap().unwrap()[0] + 1;
                store.set(&key, &[next], Condition::Locked(&guard))
            };
            let repeat = |change: &dyn Fn() -> Result<(), StoreError>| {
                while let Err(error) = change() {
                    assert_eq!(error.kind(), StoreErrorKind::Conflict);
                }
            };
            thread::scope(|scope| {
                scope.spawn(|| repeat(&if_unchanged));
                scope.spawn(|| repeat(&if_unchanged));
                scope.spawn(|| repeat(&locked));
                scope.spawn(|| repeat(&locked));
            });
            assert_eq!(store.get(&key).unwrap().as_deref(), Some(&[4][..]));
        });
    }
}
