//! A counting semaphore for threads: [`Semaphore`].

use std::num::NonZeroUsize;
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, unpoisoned};

/// A counting semaphore, which limits the number of concurrent operations. Further operations wait.
#[derive(Debug)]
pub struct Semaphore {
    /// The number of available permits.
    available: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    /// Creates a semaphore with `limit` permits.
    #[must_use]
    pub fn new(limit: NonZeroUsize) -> Self {
        Self { available: Mutex::new(limit.get()), released: Condvar::new() }
    }

    /// Waits until a permit is available, and acquires up to `wanted` permits, which must not be 0.
    pub fn acquire(&self, wanted: usize) -> Permits<'_> {
        let mut available = unpoisoned(&self.available);
        while *available == 0 {
            available = self.released.wait(available).unwrap_or_else(PoisonError::into_inner);
        }
        let count = wanted.min(*available);
        *available -= count;
        Permits { semaphore: self, count }
    }
}

/// Permits that are released when this value is dropped.
#[derive(Debug)]
#[must_use = "permits are released when this is dropped"]
pub struct Permits<'s> {
    semaphore: &'s Semaphore,
    count: usize,
}

impl Permits<'_> {
    /// Returns the number of permits.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Splits off one permit, or zero permits if none is left.
    pub fn split_one(&mut self) -> Self {
        let count = self.count.min(1);
        self.count -= count;
        Self { semaphore: self.semaphore, count }
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        *unpoisoned(&self.semaphore.available) += self.count;
        (0..self.count).for_each(|_| self.semaphore.released.notify_one());
    }
}

#[cfg(all(test, model))]
mod model {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use shuttle::sync::Barrier;
    use shuttle::thread;

    use super::*;
    use crate::sync::check;

    #[test]
    fn at_most_the_limit_are_in_progress_and_none_waits_forever() {
        check(|| {
            let (semaphore, in_progress) =
                (Semaphore::new(NonZeroUsize::new(2).unwrap()), AtomicUsize::new(0));
            thread::scope(|scope| {
                for wanted in [1, 1, 2, 3] {
                    let (semaphore, in_progress) = (&semaphore, &in_progress);
                    scope.spawn(move || {
                        let mut permits = semaphore.acquire(wanted);
                        let count = permits.count();
                        assert!((1..=wanted).contains(&count));
                        assert!(in_progress.fetch_add(count, Relaxed) + count <= 2);
                        thread::yield_now();
                        in_progress.fetch_sub(1, Relaxed);
                        drop(permits.split_one());
                        thread::yield_now();
                        in_progress.fetch_sub(permits.count(), Relaxed);
                    });
                }
            });
            assert_eq!(semaphore.acquire(3).count(), 2);
        });
    }

    #[test]
    fn as_many_continue_as_permits_are_released() {
        check(|| {
            let (semaphore, meeting) = (Semaphore::new(NonZeroUsize::new(2).unwrap()), Barrier::new(2));
            let both = semaphore.acquire(2);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let _permit = semaphore.acquire(1);
                        meeting.wait();
                    });
                }
                drop(both);
            });
        });
    }
}
