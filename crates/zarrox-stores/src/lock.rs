//! One lock for each stored object, shared by all handles in this process.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, PoisonError};

use foldhash::HashMap;

use crate::sync::{Condvar, LazyLock, Mutex, MutexGuard, unpoisoned};
use crate::{Key, Value};

/// The locks that threads hold or wait for. An entry is removed when its last user leaves.
pub(crate) type LockTable = HashMap<Arc<str>, Entry>;

static TABLE: LazyLock<Mutex<LockTable>> = LazyLock::new(Mutex::default);

/// Locks the table and returns it.
pub(crate) fn lock_table() -> MutexGuard<'static, LockTable> {
    unpoisoned(LazyLock::force(&TABLE))
}

/// Removes all entries, since most of the threads that held them do not exist in a forked process.
pub(crate) fn forget_locks(table: &mut LockTable) {
    table.clear();
}

pub(crate) struct Entry {
    lock: Arc<Lock>,
    /// The number of threads that hold the lock or wait for it.
    users: usize,
}

#[derive(Default)]
struct Lock {
    held: Mutex<bool>,
    released: Condvar,
}

/// A guard that holds the lock of one stored object until it is dropped. See [`Store::lock`](crate::Store::lock).
#[must_use = "the lock is released when the guard is dropped"]
pub struct LockGuard {
    name: Arc<str>,
    lock: Arc<Lock>,
    /// The guard of another lock that is held together with this one.
    outer: Option<Box<dyn Any + Send + Sync>>,
    /// The storage's own lock for the object.
    of_storage: Option<Box<dyn Any + Send + Sync>>,
    /// The locked value, if the store had to open the value to lock it.
    value: Option<Box<dyn Value>>,
}

impl LockGuard {
    /// Adds another guard to this guard. The other guard is dropped before this lock is released.
    pub fn with(self, outer: impl Any + Send + Sync) -> Self {
        let mut guard = self;
        guard.outer = Some(Box::new(outer));
        guard
    }

    /// Adds a lock of the storage itself to this guard, which the store finds there again when it receives the guard
    /// ([`Condition::Locked`](crate::Condition::Locked)). The storage's lock is dropped before this lock is released.
    pub(crate) fn of_storage(self, lock: impl Any + Send + Sync) -> Self {
        let mut guard = self;
        guard.of_storage = Some(Box::new(lock));
        guard
    }

    /// Returns the lock of the storage, if it has this type.
    pub(crate) fn storage<T: 'static>(&self) -> Option<&T> {
        self.of_storage.as_ref()?.downcast_ref()
    }

    /// Adds the locked value to this guard.
    pub(crate) fn with_value(self, value: Option<Box<dyn Value>>) -> Self {
        let mut guard = self;
        guard.value = value;
        guard
    }

    /// Takes the locked value out of the guard, if the store had to open the value to lock it, so that a read need not open it
    /// again. `None` does not mean that the value is missing. A wrapper forwards the guards of the inner store with their values,
    /// even if the wrapper changes the values that its own reads return.
    #[doc(hidden)]
    pub fn take_value(&mut self) -> Option<Box<dyn Value>> {
        self.value.take()
    }

    /// Acquires the lock of `key`, which is shared by all threads of this process that use the same name for the storage.
    ///
    /// For implementations of stores. `storage` must be the same string for every handle to the same storage.
    pub fn in_process(storage: &str, key: &Key) -> Self {
        let name: Arc<str> = [storage, "/", key.as_str()].concat().into();
        let lock = join(&name);
        let mut held = unpoisoned(&lock.held);
        while *held {
            held = lock.released.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        *held = true;
        drop(held);
        Self { name, lock, outer: None, of_storage: None, value: None }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        self.value = None;
        self.of_storage = None;
        self.outer = None;
        *unpoisoned(&self.lock.held) = false;
        // Waking threads takes a system call even if no thread is waiting. A thread that joins from here on finds the lock
        // released.
        if leave(&self.name) > 0 {
            self.lock.released.notify_one();
        }
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LockGuard").field(&self.name).finish()
    }
}

fn join(name: &Arc<str>) -> Arc<Lock> {
    let mut table = lock_table();
    let entry = table.entry(Arc::clone(name)).or_insert_with(|| Entry { lock: Arc::default(), users: 0 });
    entry.users += 1;
    Arc::clone(&entry.lock)
}

/// Removes one user of the lock, and returns the number of threads that still hold the lock or wait for it.
fn leave(name: &Arc<str>) -> usize {
    let mut table = lock_table();
    let Some(entry) = table.get_mut(name) else { return 0 };
    entry.users -= 1;
    let left = entry.users;
    if left == 0 {
        table.remove(name);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(name: &str) -> usize {
        lock_table().get(name).map_or(0, |entry| entry.users)
    }

    #[test]
    fn a_panicking_holder_releases_and_nothing_is_left() {
        let key = Key::new("k").unwrap();
        let holder = std::thread::spawn({
            let key = key.clone();
            move || {
                let _guard = LockGuard::in_process("panics", &key);
                panic!("while holding the lock");
            }
        });
        assert!(holder.join().is_err());
        let guard = LockGuard::in_process("panics", &key);
        assert_eq!(users("panics/k"), 1);
        drop(guard);
        assert_eq!(users("panics/k"), 0);
    }

    #[test]
    fn a_waiter_gets_the_same_lock() {
        let key = Key::new("k").unwrap();
        let guard = LockGuard::in_process("waits", &key);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| LockGuard::in_process("waits", &key));
            while users("waits/k") < 2 {
                std::thread::yield_now();
            }
            assert!(!waiter.is_finished());
            drop(guard);
            drop(waiter.join().unwrap());
        });
        assert_eq!(users("waits/k"), 0);
    }
}

#[cfg(all(test, model))]
mod model {
    use std::sync::atomic::AtomicBool;

    use shuttle::thread;

    use super::*;
    use crate::sync::{Alone, check};

    #[test]
    fn one_thread_at_a_time_holds_a_lock_and_its_outer_guards_and_none_waits_forever() {
        check(|| {
            let taken = [(); 2].map(|()| Arc::<AtomicBool>::default());
            let locks = ["a", "a", "a", "b"].map(|name| {
                let [of_storage, outer] = taken.clone();
                thread::spawn(move || {
                    let guard = LockGuard::in_process("model", &Key::new(name).unwrap());
                    if name == "a" {
                        drop(guard.of_storage(Alone::with(&of_storage)).with(Alone::with(&outer)));
                    }
                })
            });
            locks.into_iter().for_each(|lock| lock.join().unwrap());
            assert!(lock_table().is_empty(), "entries leave with their last user");
        });
    }
}
