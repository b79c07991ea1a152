//! The progress of work that runs on several threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::Result;

/// The progress of an operation, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of bytes that have been processed. It never decreases.
    pub done: u64,
    /// The expected total number of bytes. It grows as nodes are found.
    pub total: u64,
}

impl Progress {
    /// Creates a report that `done` out of `total` bytes have been processed.
    #[doc(hidden)]
    pub fn new(done: u64, total: u64) -> Self {
        Self { done, total: total.max(done) }
    }
}

/// A function that is called with the progress, from any thread. An error ends the operation.
pub type Listener = Arc<dyn Fn(Progress) -> Result<()> + Send + Sync>;

/// A running operation: its memory limit, and its progress.
pub struct Task {
    /// The number of bytes that may be in memory at the same time.
    pub memory: usize,
    listener: Option<Listener>,
    done: Tally,
    total: AtomicU64,
}

impl Task {
    /// Creates a task that has made no progress yet, and whose total is unknown.
    pub fn new(memory: usize, listener: Option<Listener>) -> Self {
        Self { memory, listener, done: Tally::default(), total: AtomicU64::new(0) }
    }

    /// Adds `bytes` to the expected total.
    pub fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds `bytes` to the processed bytes, and reports the progress.
    ///
    /// # Errors
    /// The errors of the listener, which end the work.
    pub fn advance(&self, bytes: u64) -> Result<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let report = |done| listener(Progress::new(done, self.total.load(Ordering::Relaxed)));
        self.done.add(bytes, report).map(drop)
    }
}

/// The total amount of work that several threads have done, for a single listener. Reported amounts never decrease.
#[derive(Debug, Default)]
pub struct Tally(Mutex<u64>);

impl Tally {
    /// Adds to the amount, reports the new amount, and returns it.
    ///
    /// The listener is called under the lock: otherwise a thread could report an amount after another thread has reported a
    /// larger one.
    ///
    /// # Errors
    /// The errors of the listener, which end the work.
    pub fn add(&self, amount: u64, report: impl FnOnce(u64) -> Result<()>) -> Result<u64> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *done += amount;
        report(*done)?;
        Ok(*done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_reported_in_order() {
        let (tally, last) = (Tally::default(), Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for amount in 0..1000 {
                        tally
                            .add(amount, |done| {
                                let mut last = last.lock().unwrap();
                                assert!(done >= *last, "{done} after {last}");
                                *last = done;
                                Ok(())
                            })
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(*last.lock().unwrap(), 8 * 499_500);
    }
}
