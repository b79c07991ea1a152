//! The directories that this process has opened to hold nodes.

use std::sync::Arc;

use foldhash::HashMap;

use super::files::HoldFile;
use crate::sync::{LazyLock, Mutex, MutexGuard, unpoisoned};

/// The directories that this process holds or waits for, by a unique number. A forked process closes its copies.
pub(crate) type Nodes = HashMap<u64, Arc<HoldFile>>;

static NODES: LazyLock<Mutex<Nodes>> = LazyLock::new(Mutex::default);

/// Locks the table and returns it.
pub(crate) fn held_nodes() -> MutexGuard<'static, Nodes> {
    unpoisoned(LazyLock::force(&NODES))
}
