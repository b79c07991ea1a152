//! Holds on nodes. Threads and processes that write to a node share a hold on it. A thread that moves, replaces or deletes the
//! node has an exclusive hold.
//!
//! Holds are acquired before the locks of individual objects ([`Store::lock`](crate::Store::lock)): a thread that holds the lock
//! of an object must not acquire a hold on the object's node.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, PoisonError};

use foldhash::HashMap;

use crate::Prefix;
use crate::sync::{Condvar, LazyLock, Mutex, MutexGuard, unpoisoned};

/// The mode of a hold. See [`Store::hold`](crate::Store::hold).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A hold for writing to the node, which is shared with other holders in this mode.
    Shared,
    /// An exclusive hold for moving, replacing or deleting the node.
    Exclusive,
}

/// A guard that holds a node until it is dropped. See [`Store::hold`](crate::Store::hold).
#[must_use = "the node is released when the guard is dropped"]
pub struct HoldGuard {
    /// The hold among the threads of this process; `None` if the storage manages holds itself.
    _in_process: Option<InProcess>,
    /// The storage's own lock for the hold.
    _of_storage: Option<Box<dyn Any + Send + Sync>>,
}

/// The holders of nodes in this process, by storage and prefix. An entry is removed when its last holder leaves, unless another
/// thread is waiting.
pub(crate) type HoldTable = HashMap<Arc<str>, Holders>;

#[derive(Default)]
pub(crate) struct Holders {
    shared: usize,
    is_exclusive: bool,
    /// The number of threads that are waiting for the release.
    waiting: usize,
}

impl Holders {
    /// Adds a holder unless it has to wait.
    fn admits(&mut self, how: Hold) -> bool {
        match how {
            Hold::Shared if !self.is_exclusive => self.shared += 1,
            Hold::Exclusive if !self.is_exclusive && self.shared == 0 => self.is_exclusive = true,
            _ => return false,
        }
        true
    }
}

#[derive(Default)]
struct Holds {
    table: Mutex<HoldTable>,
    released: Condvar,
}

static HOLDS: LazyLock<Holds> = LazyLock::new(Holds::default);

fn holds() -> &'static Holds {
    LazyLock::force(&HOLDS)
}

/// Locks the table and returns it.
pub(crate) fn hold_table() -> MutexGuard<'static, HoldTable> {
    unpoisoned(&holds().table)
}

impl HoldGuard {
    /// Acquires a hold on a prefix, after waiting for holders in a conflicting mode. The hold is effective among all threads of
    /// this process that use the same name for the storage.
    ///
    /// For implementations of stores. `storage` must be the same string for every handle to the same storage.
    pub fn in_process(storage: &str, prefix: &Prefix, how: Hold) -> Self {
        let name: Arc<str> = [storage, "/", prefix.as_str()].concat().into();
        let mut table = hold_table();
        while !table.entry(Arc::clone(&name)).or_default().admits(how) {
            table.entry(Arc::clone(&name)).or_default().waiting += 1;
            table = holds().released.wait(table).unwrap_or_else(PoisonError::into_inner);
            table.entry(Arc::clone(&name)).or_default().waiting -= 1;
        }
        drop(table);
        Self { _in_process: Some(InProcess { name, how }), _of_storage: None }
    }

    /// Creates a hold that the storage manages itself. The hold ends when `lock` is dropped.
    ///
    /// For implementations of stores.
    pub fn of_storage(lock: impl Any + Send + Sync) -> Self {
        Self { _in_process: None, _of_storage: Some(Box::new(lock)) }
    }
}

impl fmt::Debug for HoldGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HoldGuard")
    }
}

struct InProcess {
    name: Arc<str>,
    how: Hold,
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let mut table = hold_table();
        let Some(holders) = table.get_mut(&self.name) else { return };
        match self.how {
            Hold::Shared => holders.shared -= 1,
            Hold::Exclusive => holders.is_exclusive = false,
        }
        match (holders.shared, holders.waiting) {
            (0, 0) => drop(table.remove(&self.name)),
            // Waking threads takes a system call even if no thread is waiting.
            (0, _) => holds().released.notify_all(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_share_a_hold_of_a_node_and_a_replacement_waits_for_all_of_them() {
        let prefix = Prefix::new("a/").unwrap();
        let hold = |how| HoldGuard::in_process("holds", &prefix, how);
        let (first, second) = (hold(Hold::Shared), hold(Hold::Shared));
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| drop(hold(Hold::Exclusive)));
            drop(first);
            assert!(!alone.is_finished());
            drop(second);
            alone.join().unwrap();
        });
        assert!(!hold_table().contains_key("holds/a/"));
    }
}
