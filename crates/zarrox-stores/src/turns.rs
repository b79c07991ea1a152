//! Turns that threads take: [`Turns`].

use std::num::NonZeroUsize;
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, unpoisoned};

/// Lets so many operations be under way at a time; further ones wait.
#[derive(Debug)]
pub struct Turns {
    /// The number of operations that may still begin.
    free: Mutex<usize>,
    given_back: Condvar,
}

impl Turns {
    /// Creates as many turns as operations may be under way at a time.
    #[must_use]
    pub fn new(limit: NonZeroUsize) -> Self {
        Self { free: Mutex::new(limit.get()), given_back: Condvar::new() }
    }

    /// Waits until there is one, and takes as many as there are of those that are wanted, which are not none.
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

/// Turns that are given back when this is dropped.
#[derive(Debug)]
#[must_use = "turns are given back when this is dropped"]
pub struct Taken<'t> {
    turns: &'t Turns,
    count: usize,
}

impl Taken<'_> {
    /// The number of these turns.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Separates one turn, or none if there is none left.
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
