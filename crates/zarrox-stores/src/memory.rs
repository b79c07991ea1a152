//! [`MemoryStore`].

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::store::{check_rename, checked_length};
use crate::{
    Capabilities, Condition, DirListing, Key, LockGuard, Prefix, Store, StoreError, StoreErrorKind, Value,
};

/// How many keys a listing takes under the lock at a time.
const BATCH: usize = 1024;

type Map = BTreeMap<Key, Bytes>;

/// Keeps values in the memory of this process.
///
/// A clone shares the values of the original. [`get`](Store::get) copies nothing.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Shared>);

struct Shared {
    id: u64,
    map: RwLock<Map>,
}

impl Default for Shared {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), map: RwLock::default() }
    }
}

impl MemoryStore {
    /// A new store without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // Whoever panics under the lock has changed nothing or everything: the map is whole.
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
    fn location(&self) -> String {
        format!("memory://{}", self.0.id)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            listable: true,
            conditional_set: true,
            rename: true,
            values_above_values: true,
        }
    }

    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        Ok(self.read().get(key).cloned())
    }

    fn set(&self, key: &Key, value: &[u8], condition: Condition) -> Result<(), StoreError> {
        let value = Bytes::copy_from_slice(value);
        let mut map = self.write();
        if condition == Condition::Absent && map.contains_key(key) {
            let message = "there is a value already";
            return Err(self.error(StoreErrorKind::AlreadyExists, "writing", message, key.as_str()));
        }
        map.insert(key.clone(), value);
        Ok(())
    }

    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(self.write().remove(key).is_some())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        take_prefix(&mut self.write(), prefix);
        Ok(())
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut batch = sizes(range_from(&self.read(), Bound::Included(prefix.as_str())), prefix);
        while let Some((last, _)) = batch.last() {
            let last = last.clone();
            for (key, size) in batch {
                if visit(key, size).is_break() {
                    return Ok(());
                }
            }
            batch = sizes(range_from(&self.read(), Bound::Excluded(last.as_str())), prefix);
        }
        Ok(())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let map = self.read();
        let mut listing = DirListing::default();
        let mut keys = range_from(&map, Bound::Included(prefix.as_str()));
        while let Some((key, _)) = keys.next() {
            let Some(name) = key.as_str().strip_prefix(prefix.as_str()) else { break };
            let Some((child, _)) = name.split_once('/') else {
                listing.keys.push(key.clone());
                continue;
            };
            let child = prefix.child(child)?;
            keys = range_from(&map, Bound::Included(&after(&child)));
            listing.prefixes.push(child);
        }
        Ok(listing.sorted())
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        if !check_rename(from, to)? {
            return Ok(());
        }
        let mut map = self.write();
        if below(&map, to) {
            let message = "there is something already";
            return Err(self.error(StoreErrorKind::AlreadyExists, "renaming", message, to.as_str()));
        }
        if !below(&map, from) {
            return Err(self.error(StoreErrorKind::NotFound, "renaming", "nothing found", from.as_str()));
        }
        for (key, value) in take_prefix(&mut map, from) {
            map.insert(to.key(&key.as_str()[from.as_str().len()..])?, value);
        }
        Ok(())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&self.location(), key))
    }
}

/// Bytes in memory are a value as they are.
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

fn range_from<'a>(map: &'a Map, start: Bound<&str>) -> std::collections::btree_map::Range<'a, Key, Bytes> {
    map.range::<str, _>((start, Bound::Unbounded))
}

/// The next keys below the prefix with their sizes, at most [`BATCH`].
fn sizes<'a>(keys: impl Iterator<Item = (&'a Key, &'a Bytes)>, prefix: &Prefix) -> Vec<(Key, u64)> {
    let below = keys.take_while(|(key, _)| prefix.contains(key));
    below.take(BATCH).map(|(key, value)| (key.clone(), value.size())).collect()
}

fn below(map: &Map, prefix: &Prefix) -> bool {
    range_from(map, Bound::Included(prefix.as_str())).next().is_some_and(|(key, _)| prefix.contains(key))
}

/// The least text that sorts after everything below the prefix, which must not be the root: `0` follows `/`.
fn after(prefix: &Prefix) -> String {
    format!("{}0", prefix.segments())
}

/// Takes everything below the prefix out of the map.
fn take_prefix(map: &mut Map, prefix: &Prefix) -> Vec<(Key, Bytes)> {
    let below = range_from(map, Bound::Included(prefix.as_str())).take_while(|(key, _)| prefix.contains(key));
    let keys: Vec<Key> = below.map(|(key, _)| key.clone()).collect();
    keys.iter().filter_map(|key| map.remove_entry(key)).collect()
}
