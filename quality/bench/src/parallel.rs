//! Threads that share pieces of work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failure::Failure;

/// Does `count` pieces of work on `threads` threads. Each thread takes the next piece. A single thread is the calling thread.
pub(crate) fn each(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    if threads.min(count) <= 1 {
        return (0..count).try_for_each(work);
    }
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(error) = work(index) {
                next.store(count, Ordering::Relaxed);
                *failure.lock().unwrap() = Some(error);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(take);
        }
    });
    failure.into_inner().unwrap().map_or(Ok(()), Err)
}
