//! Work that digests and manifests have in common: its memory, and who hears of its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarrox_core::Result;

use crate::convert::Progress;
use crate::convert::tally::Tally;

/// Who hears of progress; an error ends the work.
pub(crate) type Listener = Arc<dyn Fn(Progress) -> Result<()> + Send + Sync>;

/// Work under way.
pub(crate) struct Work {
    /// The number of bytes that may be in memory at once.
    pub(crate) memory: usize,
    listener: Option<Listener>,
    done: Tally,
    /// The number of bytes in all, as far as it is known yet.
    total: AtomicU64,
}

impl Work {
    pub(crate) fn new(memory: usize, listener: Option<Listener>) -> Self {
        Self { memory, listener, done: Tally::default(), total: AtomicU64::new(0) }
    }

    /// So many bytes more are to be done.
    pub(crate) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes more are done.
    pub(crate) fn tell(&self, bytes: u64) -> Result<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let report = |done| listener(Progress { done, total: self.total.load(Ordering::Relaxed).max(done) });
        self.done.add(bytes, report).map(drop)
    }
}
