//! Locks of threads: those of the standard library.
//!
//! With `--cfg model`, models get those of a model checker, which runs threads in many orders: see `cargo xtask model`.

use std::sync::PoisonError;

#[cfg(model)]
pub use self::model::*;
#[cfg(not(model))]
pub use std::{
    sync::{Condvar, LazyLock, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread::{ThreadId, current, sleep},
    thread_local,
};

/// For mutexes under which a panic leaves things whole.
pub fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(model)]
mod model {
    use std::env;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::Duration;

    use shuttle::lazy_static::Lazy;
    use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub use shuttle::thread::{ThreadId, current};
    pub use shuttle::thread_local;
    use shuttle::{Config, Runner, thread};

    /// The number of preemptions that the second half of all schedules have at most: most faults need no more than two.
    const PREEMPTIONS: usize = 3;

    /// The size of the stack of a thread, in bytes.
    const STACK: usize = 256 << 10;

    /// A value that is made anew in each schedule.
    pub struct LazyLock<T: Sync + 'static>(Lazy<T>);

    impl<T: Sync> LazyLock<T> {
        pub const fn new(make: fn() -> T) -> Self {
            Self(Lazy::new(make))
        }

        pub fn force(this: &'static Self) -> &'static T {
            this.0.get()
        }
    }

    /// Time passes when others run.
    pub fn sleep(_: Duration) {
        thread::yield_now();
    }

    /// Somebody who has something for himself, until this is dropped. Both take time.
    pub struct Alone(Arc<AtomicBool>);

    impl Alone {
        pub fn with(taken: &Arc<AtomicBool>) -> Self {
            assert!(!taken.swap(true, Relaxed), "somebody else has it");
            thread::yield_now();
            Self(Arc::clone(taken))
        }
    }

    impl Drop for Alone {
        fn drop(&mut self) {
            thread::yield_now();
            self.0.store(false, Relaxed);
        }
    }

    /// Runs a model in as many schedules as `ZARROX_MODEL_SCHEDULES` says, or in the one of `ZARROX_MODEL_REPLAY`. A schedule in which
    /// a thread panics, or in which all threads wait, is printed.
    pub fn check(model: impl Fn() + Send + Sync + Copy + 'static) {
        if let Ok(schedule) = env::var("ZARROX_MODEL_REPLAY") {
            return run(ReplayScheduler::new_from_encoded(&schedule), model);
        }
        let schedules = env::var("ZARROX_MODEL_SCHEDULES").ok().and_then(|number| number.parse().ok());
        let half = schedules.unwrap_or(1000_usize).div_ceil(2);
        run(RandomScheduler::new(half), model);
        run(PctScheduler::new(PREEMPTIONS, half), model);
    }

    fn run(scheduler: impl Scheduler + 'static, model: impl Fn() + Send + Sync + 'static) {
        let mut config = Config::new();
        // Values of `LazyLock` are dropped after each schedule, which none of ours notices.
        config.silence_warnings = true;
        // Stores need more than the checker expects.
        config.stack_size = STACK;
        Runner::new(scheduler, config).run(model);
    }
}
