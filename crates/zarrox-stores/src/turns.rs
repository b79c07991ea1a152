//! A counting semaphore for threads: [`Semaphore`].

use std::num::NonZeroUsize;
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, unpoisoned};

/// A counting semaphore: limits the number of operations that run concurrently; further operations wait.
#[derive(Debug)]
pub struct Turns {
    /// The number of available permits.
    free: Mutex<usize>,
    given_back: Condvar,
}

impl Turns {
    /// Creates a semaphore with `limit` permits.
    #[must_use]
    pub fn new(limit: NonZeroUsize) -> Self {
        Self { free: Mutex::new(limit.get()), given_back: Condvar::new() }
    }

    /// Waits until a permit is available, and acquires up to `wanted` permits, which must not be 0.
    pub fn take(&self, wanted: usize) -> Taken<'_> {
        let mut free = unpoisoned(&self.free);
        while *free == 0 {
            free = self.given_back.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        let count = wanted.min(*free);
        *free -= count;
        Taken { turns: self, count }
    }
}

/// Permits that are released when this is dropped.
#[derive(Debug)]
#[must_use = "permits are released when this is dropped"]
pub struct Taken<'t> {
    turns: &'t Turns,
    count: usize,
}

impl Taken<'_> {
    /// Returns the number of these permits.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Splits off one permit, or none if none is left.
    pub fn split_one(&mut self) -> Self {
        let count = self.count.min(1);
        self.count -= count;
        Self { turns: self.turns, count }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *unpoisoned(&self.turns.free) += self.count;
        (0..self.count).for_each(|_| self.turns.given_back.notify_one());
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
    fn no_more_than_the_limit_are_under_way_and_nobody_waits_for_ever() {
        check(|| {
            let (turns, under_way) = (Turns::new(NonZeroUsize::new(2).unwrap()), AtomicUsize::new(0));
            thread::scope(|scope| {
                for wanted in [1, 1, 2, 3] {
                    let (turns, under_way) = (&turns, &under_way);
                    scope.spawn(move || {
                        let mut taken = turns.take(wanted);
                        let count = taken.count();
                        assert!((1..=wanted).contains(&count));
                        assert!(under_way.fetch_add(count, Relaxed) + count <= 2);
                        thread::yield_now();
                        under_way.fetch_sub(1, Relaxed);
                        drop(taken.split_one());
                        thread::yield_now();
                        under_way.fetch_sub(taken.count(), Relaxed);
                    });
                }
            });
            assert_eq!(turns.take(3).count(), 2);
        });
    }

    #[test]
    fn as_many_go_on_as_turns_are_given_back() {
        check(|| {
            let (turns, meeting) = (Turns::new(NonZeroUsize::new(2).unwrap()), Barrier::new(2));
            let both = turns.take(2);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let _turn = turns.take(1);
                        meeting.wait();
                    });
                }
                drop(both);
            });
        });
    }
}
