//! The directories of nodes that this process has open to hold them.

use std::fs::File;
use std::sync::Arc;

use foldhash::HashMap;

use crate::sync::{LazyLock, Mutex, MutexGuard, unpoisoned};

/// The directories that this process holds or waits for, by a number of its own. A process that is forked off closes its copies.
pub(crate) type Nodes = HashMap<u64, Arc<File>>;

static NODES: LazyLock<Mutex<Nodes>> = LazyLock::new(Mutex::default);

/// The table, for as long as the guard lives.
pub(crate) fn held_nodes() -> MutexGuard<'static, Nodes> {
    unpoisoned(LazyLock::force(&NODES))
}
