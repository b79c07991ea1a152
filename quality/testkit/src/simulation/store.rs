//! A store of a simulated machine: [`SimStore`].

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, MutexGuard};

use zarrox_stores::{
    ByteRange, Bytes, Capabilities, Condition, DirListing, Hold, HoldGuard, Key, LockGuard, Operation,
    Payload, Prefix, Stamp, Store, StoreError, StoreErrorKind, Value, Version, provided,
};

use zarrox_stores::internals::store::provided::{check_rename, copy_then_erase, no_exchange};

use super::disk::{Change, Kind, Object, below};
use super::stage::{Fate, Lock, Shared, Sharing, Stage, State};

/// The number of keys that one step of a listing returns.
const BATCH: usize = 3;
/// The age from which a file's timestamp distinguishes its last change from a later one, in milliseconds.
const SETTLED: i64 = 2000;
/// The time within which two changes of a file may have the same timestamps, in milliseconds.
const TICK: i64 = 20;

/// A disk of a [`Stage`], as one process sees it. Each call is a step of the simulation.
#[derive(Clone)]
pub struct SimStore {
    shared: Arc<Shared>,
    disk: usize,
    process: usize,
    kind: Kind,
}

impl fmt::Debug for SimStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimStore({})", self.location())
    }
}

impl SimStore {
    /// Creates the store of a disk, for a process.
    #[must_use]
    pub fn new(stage: &Stage, disk: usize, process: usize) -> Self {
        let shared = Arc::clone(&stage.0);
        let kind = shared.lock().disks[disk].kind;
        Self { shared, disk, process, kind }
    }

    /// Returns all keys.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.shared.lock().disks[self.disk].objects.keys().cloned().collect()
    }

    fn error(&self, kind: StoreErrorKind, operation: Operation, message: &str, key: &str) -> StoreError {
        StoreError::new(kind, operation.word(), message).with_location(self.location()).with_key(key)
    }

    /// Makes a call, unless the simulation prevents it.
    fn call<'a, T>(
        &'a self,
        operation: Operation,
        key: &str,
        run: impl FnOnce(MutexGuard<'a, State>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.shared.step(operation, key, self.kind == Kind::Bucket) {
            Fate::Run(state) => run(state),
            Fate::Lose(state, kind) => {
                run(state)?;
                Err(self.error(kind, operation, "the response was lost", key))
            }
            Fate::Fail(kind) => Err(self.error(kind, operation, "a failure was simulated", key)),
            Fate::Dead => Err(self.dead(operation, key)),
        }
    }

    fn dead(&self, operation: Operation, key: &str) -> StoreError {
        self.error(StoreErrorKind::Other, operation, "the process was killed", key)
    }

    fn changed<T>(&self, operation: Operation, key: &str) -> Result<T, StoreError> {
        Err(self.error(
            StoreErrorKind::Conflict,
            operation,
            "another writer changed the value in the meantime",
            key,
        ))
    }

    fn value(&self, key: &Key, object: &Object) -> SimValue {
        SimValue { store: self.clone(), key: key.clone(), object: object.clone() }
    }

    /// Changes a value, according to the kind of store and the condition. `None` erases it.
    fn change<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        operation: Operation,
        key: &str,
        bytes: Option<Bytes>,
        condition: Condition<'_>,
    ) -> Result<bool, StoreError> {
        match condition {
            Condition::Locked(_) if self.kind == Kind::Directory => {
                self.change_locked(state, operation, key, bytes)
            }
            Condition::Always if self.kind == Kind::Directory => {
                self.change_file(state, operation, key, bytes)
            }
            condition => self.change_compared(state, operation, key, bytes, condition),
        }
    }

    fn change_compared(
        &self,
        mut state: MutexGuard<'_, State>,
        operation: Operation,
        key: &str,
        bytes: Option<Bytes>,
        condition: Condition<'_>,
    ) -> Result<bool, StoreError> {
        let there = state.disks[self.disk].objects.get(key);
        match condition {
            Condition::Absent if there.is_some() => {
                return Err(self.error(
                    StoreErrorKind::AlreadyExists,
                    operation,
                    "the value already exists",
                    key,
                ));
            }
            Condition::Matches(version)
                if there.and_then(|there| self.version(there)).as_ref() != Some(version) =>
            {
                return self.changed(operation, key);
            }
            _ => {}
        }
        self.store(&mut state, operation, key, bytes).map(|(was_there, _)| was_there)
    }

    /// Replaces the file that the process has locked, and keeps the lock of the new file.
    fn change_locked<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        operation: Operation,
        key: &str,
        bytes: Option<Bytes>,
    ) -> Result<bool, StoreError> {
        let name = (self.disk, self.process, key.to_owned());
        let there = state.disks[self.disk].objects.get(key).map(|object| object.inode);
        let Some(known) = state.known.get(&name).copied() else {
            return self.change_file(state, operation, key, bytes);
        };
        if known != there {
            return self.changed(operation, key);
        }
        let (was_there, new) = self.store(&mut state, operation, key, bytes)?;
        if let Some(file) = new {
            state.take(&Lock::File(file), self.process, Sharing::Process);
        }
        if let Some(file) = known {
            state.release(&Lock::File(file), self.process);
        }
        state.known.insert(name, new);
        Ok(was_there)
    }

    /// Replaces the current file, under its lock.
    fn change_file<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        operation: Operation,
        key: &str,
        bytes: Option<Bytes>,
    ) -> Result<bool, StoreError> {
        loop {
            let Some(file) = state.disks[self.disk].objects.get(key).map(|object| object.inode) else {
                return self.store(&mut state, operation, key, bytes).map(|(was_there, _)| was_there);
            };
            let lock = Lock::File(file);
            let acquired = self.shared.acquire(state, &lock, self.process, Sharing::Process);
            state = acquired.ok_or_else(|| self.dead(operation, key))?;
            let is_same = state.disks[self.disk].objects.get(key).is_some_and(|object| object.inode == file);
            let done = is_same.then(|| self.store(&mut state, operation, key, bytes.clone()));
            state.release(&lock, self.process);
            if let Some(done) = done {
                return done.map(|(was_there, _)| was_there);
            }
        }
    }

    /// Stores or erases a value. Returns whether it existed, and the new file.
    fn store(
        &self,
        state: &mut State,
        operation: Operation,
        key: &str,
        bytes: Option<Bytes>,
    ) -> Result<(bool, Option<u64>), StoreError> {
        let clock = state.clock;
        state.files += 1;
        let inode = state.files;
        let disk = &mut state.disks[self.disk];
        let was_there = disk.objects.contains_key(key);
        let Some(bytes) = bytes else {
            if was_there {
                disk.change(Change::Erase(key.to_owned()));
            }
            return Ok((was_there, None));
        };
        if self.kind == Kind::Directory && is_obstructed(disk.objects.keys(), key) {
            let message = "a directory has the name of the value, or a value that of a directory";
            return Err(self.error(StoreErrorKind::Obstructed, operation, message, key));
        }
        disk.change(Change::Put(key.to_owned(), Object { bytes, inode, modified: clock }));
        Ok((was_there, Some(inode)))
    }

    fn version(&self, object: &Object) -> Option<Version> {
        match self.kind {
            Kind::Directory => {
                let age = self.shared.lock().clock - object.modified;
                (age >= SETTLED)
                    .then(|| [object.inode.to_ne_bytes(), object.modified.to_ne_bytes()].concat().into())
            }
            // All bytes serve as the digest.
            Kind::Database => Some(object.bytes.to_vec().into()),
            Kind::Bucket => Some(object.inode.to_ne_bytes().to_vec().into()),
        }
    }

    /// Returns the next keys below a prefix, and the sizes of their values.
    fn batch(&self, prefix: &Prefix, after: Option<&str>) -> Result<Vec<(String, u64)>, StoreError> {
        self.call(Operation::ListPrefix, prefix.as_str(), |state| {
            let objects = &state.disks[self.disk].objects;
            let start = after.map_or(Bound::Included(prefix.as_str()), Bound::Excluded);
            let found = objects.range::<str, _>((start, Bound::Unbounded));
            let found = found.take_while(|(key, _)| key.starts_with(prefix.as_str())).take(BATCH);
            Ok(found.map(|(key, object)| (key.clone(), object.bytes.len() as u64)).collect())
        })
    }
}

/// Returns true if a key is a directory with files, or below the key of a file.
fn is_obstructed<'a>(mut keys: impl Iterator<Item = &'a String>, key: &str) -> bool {
    let is_below = |key: &str, above: &str| key.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    keys.any(|other| is_below(other, key) || is_below(key, other))
}

impl Store for SimStore {
    provided!(directory get get_ranges get_many size contains);

    fn location(&self) -> String {
        format!("sim://{}-{}", self.shared.number, self.disk)
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = true;
        capabilities.rename = self.kind != Kind::Bucket;
        capabilities.locks_everyone = self.kind == Kind::Directory;
        capabilities.set_if_unchanged = self.kind != Kind::Directory;
        capabilities.erase_if_unchanged = self.kind == Kind::Database;
        capabilities.digest_versions = self.kind == Kind::Database;
        capabilities.values_above_values = self.kind != Kind::Directory;
        capabilities
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.call(Operation::Open, key.as_str(), |state| {
            let object = state.disks[self.disk].objects.get(key.as_str());
            Ok(object.map(|object| Box::new(self.value(key, object)) as Box<dyn Value>))
        })
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let bytes = Bytes::copy_from_slice(&payload.bytes(key)?);
        if self.kind == Kind::Directory {
            condition.absent()?;
        }
        self.call(Operation::Set, key.as_str(), |state| {
            self.change(state, Operation::Set, key.as_str(), Some(bytes), condition).map(drop)
        })
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        match self.kind {
            Kind::Database => condition.erasing()?,
            Kind::Directory | Kind::Bucket => condition.unconditional()?,
        }
        self.call(Operation::Erase, key.as_str(), |state| {
            self.change(state, Operation::Erase, key.as_str(), None, condition)
        })
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        if self.kind == Kind::Database {
            return self.call(Operation::ErasePrefix, prefix.as_str(), |mut state| {
                let disk = &mut state.disks[self.disk];
                let keys: Vec<String> =
                    below(&disk.objects, prefix.as_str()).map(|(key, _)| key.clone()).collect();
                keys.into_iter().for_each(|key| disk.change(Change::Erase(key)));
                Ok(())
            });
        }
        loop {
            let batch = self.batch(prefix, None)?;
            if batch.is_empty() {
                return Ok(());
            }
            for (key, _) in batch {
                self.call(Operation::ErasePrefix, &key, |state| {
                    self.change(state, Operation::ErasePrefix, &key, None, Condition::Always)
                })?;
            }
        }
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut after: Option<String> = None;
        loop {
            let batch = self.batch(prefix, after.as_deref())?;
            let is_last = batch.len() < BATCH;
            for (key, size) in batch {
                if visit(Key::new(key.clone())?, size).is_break() {
                    return Ok(());
                }
                after = Some(key);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.call(Operation::ListDir, prefix.as_str(), |state| {
            let mut listing = DirListing::default();
            for (key, _) in below(&state.disks[self.disk].objects, prefix.as_str()) {
                match key[prefix.as_str().len()..].split_once('/') {
                    None => listing.keys.push(Key::new(key.clone())?),
                    Some((name, _)) => listing.prefixes.push(prefix.child(name)?),
                }
            }
            listing.prefixes.dedup();
            Ok(listing)
        })
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        if self.kind == Kind::Bucket {
            return copy_then_erase(self, from, to);
        }
        if !check_rename(from, to)? {
            return Ok(());
        }
        let (from, to, operation) = (from.as_str(), to.as_str(), Operation::RenamePrefix);
        self.call(operation, from, |mut state| {
            let disk = &mut state.disks[self.disk];
            if below(&disk.objects, to).next().is_some() {
                return Err(self.error(
                    StoreErrorKind::AlreadyExists,
                    operation,
                    "the destination already exists",
                    to,
                ));
            }
            if below(&disk.objects, from).next().is_none() {
                return Err(self.error(StoreErrorKind::NotFound, operation, "nothing found", from));
            }
            disk.change(Change::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        })
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let (operation, text) = (Operation::Lock, key.as_str());
        let own = Lock::Key(self.disk, self.process, text.to_owned());
        let name = (self.disk, self.process, text.to_owned());
        self.call(operation, text, |state| {
            let acquired = self.shared.acquire(state, &own, self.process, Sharing::None);
            let mut state = acquired.ok_or_else(|| self.dead(operation, text))?;
            if self.kind == Kind::Directory {
                state = self.lock_file(state, &name).ok_or_else(|| self.dead(operation, text))?;
            }
            drop(state);
            Ok(())
        })?;
        let guard = SimGuard { store: self.clone(), key: text.to_owned() };
        // The call does not wait: the lock of the same key was acquired before.
        let name = format!("{}-{}", self.location(), self.process);
        Ok(LockGuard::in_process(&name, key).with(guard))
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        if self.kind == Kind::Bucket {
            return Ok(Stamp::Unknown);
        }
        self.call(Operation::Size, key.as_str(), |state| {
            let Some(object) = state.disks[self.disk].objects.get(key.as_str()) else {
                return Ok(Stamp::Missing);
            };
            if self.kind == Kind::Database {
                return Ok(Stamp::Settled(object.bytes.to_vec().into()));
            }
            let file: Version = [object.inode.to_ne_bytes(), object.modified.to_ne_bytes()].concat().into();
            let is_recent = state.clock - object.modified < TICK;
            Ok(if is_recent { Stamp::Recent(file) } else { Stamp::Settled(file) })
        })
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        let among = (self.kind != Kind::Directory).then_some(self.process);
        let lock = Lock::Hold(self.disk, among, prefix.as_str().to_owned());
        let sharing = match how {
            Hold::Shared => Sharing::All,
            Hold::Exclusive => Sharing::None,
        };
        self.call(Operation::Lock, prefix.as_str(), |state| {
            let held = self.shared.acquire(state, &lock, self.process, sharing);
            held.map(drop).ok_or_else(|| self.dead(Operation::Lock, prefix.as_str()))
        })?;
        Ok(HoldGuard::of_storage(SimHold { store: self.clone(), lock }))
    }

    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
        if self.kind != Kind::Directory {
            return no_exchange(self, one, other);
        }
        if !check_rename(one, other)? {
            return Ok(());
        }
        let (one, other, operation) = (one.as_str(), other.as_str(), Operation::RenamePrefix);
        self.call(operation, one, |mut state| {
            let disk = &mut state.disks[self.disk];
            for prefix in [one, other] {
                if below(&disk.objects, prefix).next().is_none() {
                    return Err(self.error(StoreErrorKind::NotFound, operation, "nothing found", prefix));
                }
            }
            disk.change(Change::Exchange(one.to_owned(), other.to_owned()));
            Ok(())
        })
    }
}

/// A hold, released when this value is dropped.
struct SimHold {
    store: SimStore,
    lock: Lock,
}

impl Drop for SimHold {
    fn drop(&mut self) {
        let mut state = self.store.shared.lock();
        if !state.is_dead_process(self.store.process) {
            state.release(&self.lock, self.store.process);
        }
    }
}

impl SimStore {
    /// Locks the file of a key, if it exists, and records which file it is.
    fn lock_file<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        name: &(usize, usize, String),
    ) -> Option<MutexGuard<'a, State>> {
        loop {
            let file = state.disks[self.disk].objects.get(&name.2).map(|object| object.inode);
            let Some(file) = file else {
                state.known.insert(name.clone(), None);
                return Some(state);
            };
            let lock = Lock::File(file);
            state = self.shared.acquire(state, &lock, self.process, Sharing::Process)?;
            if state.disks[self.disk].objects.get(&name.2).is_some_and(|object| object.inode == file) {
                state.known.insert(name.clone(), Some(file));
                return Some(state);
            }
            state.release(&lock, self.process);
        }
    }
}

/// The lock of a key, released when this value is dropped.
struct SimGuard {
    store: SimStore,
    key: String,
}

impl Drop for SimGuard {
    fn drop(&mut self) {
        let SimStore { shared, disk, process, .. } = &self.store;
        let mut state = shared.lock();
        if state.is_dead_process(*process) {
            return;
        }
        if let Some(Some(file)) = state.known.remove(&(*disk, *process, self.key.clone())) {
            state.release(&Lock::File(file), *process);
        }
        state.release(&Lock::Key(*disk, *process, self.key.clone()), *process);
    }
}

/// An open value. Its content does not change when another value replaces it.
struct SimValue {
    store: SimStore,
    key: Key,
    object: Object,
}

impl Value for SimValue {
    fn size(&self) -> u64 {
        self.object.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.store.call(Operation::Read, self.key.as_str(), |_| self.object.bytes.read_at(offset, buffer))
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        self.store.call(Operation::Read, self.key.as_str(), |_| self.object.bytes.read(offset, length))
    }

    fn version(&self) -> Option<Version> {
        self.store.version(&self.object)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_stores::StoreExt;

    use super::*;
    use crate::simulation::stage::Contents;
    use crate::simulation::{Odds, Schedule, Work};

    fn stores(kind: Kind, schedule: Schedule, processes: usize) -> (Stage, Vec<SimStore>) {
        let stage = Stage::new(schedule, true);
        let disk = stage.add_disk(kind, true, &Contents::default());
        let stores = (0..processes).map(|process| SimStore::new(&stage, disk, process)).collect();
        (stage, stores)
    }

    #[test]
    fn it_is_a_store() {
        for kind in Kind::ALL {
            crate::store::store_suite(|| {
                let stage = Stage::new(Schedule::given([].into()), false);
                let disk = stage.add_disk(kind, true, &Contents::default());
                Box::new(SimStore::new(&stage, disk, 0))
            });
        }
    }

    /// Two processes count under the lock of a key, in many orders.
    #[test]
    fn locks_exclude_and_the_same_seed_gives_the_same_steps() {
        let run = |seed| {
            let odds = Odds { switch: 300, ..Odds::default() };
            let (stage, stores) = stores(Kind::Directory, Schedule::random(seed, odds), 3);
            let key = Key::new("a/b").unwrap();
            let count = |store: SimStore, key: Key| {
                move || {
                    for _ in 0..3 {
                        loop {
                            let guard = store.lock(&key).unwrap();
                            let old = store.get(&key).unwrap().map_or(0, |bytes| bytes[0]);
                            match store.set(&key, &[old + 1], Condition::Locked(&guard)) {
                                Ok(()) => break,
                                Err(error) => assert_eq!(error.kind(), StoreErrorKind::Conflict),
                            }
                        }
                    }
                }
            };
            let works = stores.iter().enumerate();
            let works =
                works.map(|(process, store)| (process, Box::new(count(store.clone(), key.clone())) as Work));
            let ended = stage.run(works.collect()).unwrap();
            assert_eq!(ended.failure, None);
            assert_eq!(stores[0].get(&key).unwrap().unwrap()[0], 9, "seed {seed}");
            ended
        };
        for seed in 0..50 {
            let (ended, again) = (run(seed), run(seed));
            assert_eq!(ended.schedule.decisions(), again.schedule.decisions());
            assert_eq!(ended.steps, again.steps);
        }
    }

    #[test]
    fn a_killed_process_releases_its_locks_and_writes_no_more() {
        let (stage, stores) =
            stores(Kind::Directory, Schedule::given([(4, crate::simulation::Decision::Kill)].into()), 2);
        let key = Key::new("a").unwrap();
        stores[0].set(&key, b"old", Condition::Always).unwrap();
        let work = |store: SimStore, key: Key, value: &'static [u8]| {
            move || {
                let Ok(guard) = store.lock(&key) else { return };
                let _ = store.get(&key);
                let _ = store.set(&key, value, Condition::Locked(&guard));
            }
        };
        let works: Vec<(usize, Work)> = vec![
            (0, Box::new(work(stores[0].clone(), key.clone(), b"killed"))),
            (1, Box::new(work(stores[1].clone(), key.clone(), b"alive"))),
        ];
        let ended = stage.run(works).unwrap();
        assert_eq!((ended.failure, stores[0].get(&key).unwrap().unwrap()), (None, Bytes::from("alive")));
    }

    #[test]
    fn a_deadlock_is_reported() {
        let (stage, stores) =
            stores(Kind::Directory, Schedule::given([(3, crate::simulation::Decision::Switch(1))].into()), 2);
        let keys = ["a", "b"].map(|name| Key::new(name).unwrap());
        keys.iter().for_each(|key| stores[0].set(key, b"1", Condition::Always).unwrap());
        let work = |store: SimStore, first: Key, second: Key| {
            move || {
                let first = store.lock(&first);
                drop((store.lock(&second), first));
            }
        };
        let works: Vec<(usize, Work)> = vec![
            (0, Box::new(work(stores[0].clone(), keys[0].clone(), keys[1].clone()))),
            (1, Box::new(work(stores[1].clone(), keys[1].clone(), keys[0].clone()))),
        ];
        assert_eq!(stage.run(works).unwrap().failure.as_deref(), Some("all tasks wait for one another"));
    }

    #[test]
    fn a_crash_forgets_what_was_not_flushed() {
        let mut kept = [0; 2];
        for seed in 0..40 {
            let crash = crate::simulation::Decision::Crash(seed);
            let stage = Stage::new(Schedule::given([(4, crash)].into()), false);
            let disk = stage.add_disk(Kind::Directory, false, &Contents::default());
            let store = SimStore::new(&stage, disk, 0);
            let writer = store.clone();
            let work: Work = Box::new(move || {
                for name in ["a", "b", "c"] {
                    let _ = writer.set(&Key::new(name).unwrap(), b"1", Condition::Always);
                }
            });
            assert!(stage.run(vec![(0, work)]).unwrap().crashed);
            let keys = store.keys();
            kept[usize::from(keys.contains(&"b".to_owned()) && !keys.contains(&"a".to_owned()))] += 1;
        }
        assert!(
            kept.iter().all(|&count| count > 0),
            "the later write is kept without the earlier one at times"
        );
    }
}
