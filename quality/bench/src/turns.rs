//! Threads that take turns at pieces of work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failure::Failure;

/// Does `count` pieces of work on `threads` threads, of which each takes the next; on this one if there is but one.
pub(crate) fn each(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    if threads.min(count) <= 1 {
        return (0..count).try_for_each(work);
    }
    let turns = Turns::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| turns.take(count, &work));
        }
    });
    turns.finish()
}

/// Pieces of work that are taken by several threads.
#[derive(Default)]
pub(crate) struct Turns {
    next: AtomicUsize,
    failure: Mutex<Option<Failure>>,
}

impl Turns {
    /// Takes the next piece until there is none.
    pub(crate) fn take(&self, count: usize, work: &impl Fn(usize) -> Result<(), Failure>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(failure) = work(index) {
                self.next.store(count, Ordering::Relaxed);
                *self.failure.lock().unwrap() = Some(failure);
                return;
            }
        }
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.failure.into_inner().unwrap().map_or(Ok(()), Err)
    }
}
