//! Synchronization primitives of the standard library.
//!
//! With `--cfg model`, they are replaced by those of a model checker, which tries many thread schedules: see `cargo xtask model`.

use std::sync::PoisonError;

#[cfg(model)]
pub use self::model::*;
#[cfg(not(model))]
pub use std::{
    sync::{Condvar, LazyLock, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread::{ThreadId, current, sleep},
    thread_local,
};

/// Locks a mutex even if it is poisoned: for mutexes whose data stays consistent after a panic.
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

    /// The maximum number of preemptions in the second half of all schedules. Most races need at most two.
    const PREEMPTIONS: usize = 3;

    /// The stack size of a thread, in bytes.
    const STACK: usize = 256 << 10;

    /// A value that is created anew in each schedule.
    pub struct LazyLock<T: Sync + 'static>(Lazy<T>);

    impl<T: Sync> LazyLock<T> {
        pub const fn new(make: fn() -> T) -> Self {
            Self(Lazy::new(make))
        }

        pub fn force(this: &'static Self) -> &'static T {
            this.0.get()
        }
    }

    /// Lets other threads run instead of sleeping.
    pub fn sleep(_: Duration) {
        thread::yield_now();
    }

    /// A guard that grants exclusive access until it is dropped. Acquiring or releasing the guard yields to other threads.
    pub struct Alone(Arc<AtomicBool>);

    impl Alone {
        pub fn with(taken: &Arc<AtomicBool>) -> Self {
            assert!(!taken.swap(true, Relaxed), "another thread has exclusive access");
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

    /// Runs a model with `ZARROX_MODEL_SCHEDULES` schedules, or with the single schedule in `ZARROX_MODEL_REPLAY`. Prints a
    /// schedule in which a thread panics, or in which all threads wait.
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
        // `LazyLock` values are dropped after each schedule, but no value in this crate depends on that.
        config.silence_warnings = true;
        // Stores need a larger stack than the checker's default.
        config.stack_size = STACK;
        Runner::new(scheduler, config).run(model);
    }
}
