//! Forks of a multithreaded process. Only the forking thread exists in the child. Locks that other threads held, including locks
//! inside libraries, are never released in the child, and both processes share the file positions of files that were opened
//! before the fork.
//!
//! So the forking thread waits until no thread is inside a database or writing a file: [`before_fork`] waits, and [`after_fork`]
//! lets the threads continue. The parent keeps its file locks, since the child closes its copies of the locked files.

use std::cell::{Cell, RefCell};
use std::sync::PoisonError;

use crate::hold::{HoldTable, hold_table};
use crate::lock::{LockTable, forget_locks, lock_table};
use crate::sync::{Condvar, LazyLock, Mutex, MutexGuard, thread_local, unpoisoned};

#[derive(Default)]
struct Activity {
    /// The number of operations that a fork waits for.
    running: usize,
    /// True while a thread waits to fork: no other operation begins.
    forking: bool,
}

#[derive(Default)]
struct State {
    activity: Mutex<Activity>,
    changed: Condvar,
}

static STATE: LazyLock<State> = LazyLock::new(State::default);

/// The guards of all locks that must be held by the forking thread during a fork.
struct ForkGuards {
    _activity: MutexGuard<'static, Activity>,
    locks: MutexGuard<'static, LockTable>,
    holds: MutexGuard<'static, HoldTable>,
    files: MutexGuard<'static, crate::local::held::Table>,
    nodes: MutexGuard<'static, crate::local::open_nodes::Nodes>,
}

thread_local! {
    /// The number of nested operations that this thread has begun.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static GUARDS: RefCell<Option<ForkGuards>> = const { RefCell::new(None) };
}

/// An operation that a fork waits for. The operation must not wait for the forking thread.
#[must_use = "the operation ends when this is dropped"]
pub struct ForkDelay(());

/// Begins an operation that delays forks. Calls may be nested.
pub fn delay_fork() -> ForkDelay {
    let mut activity = unpoisoned(&state().activity);
    // A waiting fork already waits for the outer operation of this thread.
    while activity.forking && DEPTH.with(Cell::get) == 0 {
        activity = wait(activity);
    }
    activity.running += 1;
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    ForkDelay(())
}

impl Drop for ForkDelay {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get().saturating_sub(1)));
        let mut activity = unpoisoned(&state().activity);
        activity.running -= 1;
        if activity.running == 0 && activity.forking {
            state().changed.notify_all();
        }
    }
}

fn state() -> &'static State {
    LazyLock::force(&STATE)
}

fn wait(activity: MutexGuard<'static, Activity>) -> MutexGuard<'static, Activity> {
    state().changed.wait(activity).unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no thread is inside a database or writing a file, and keeps threads from starting such operations. The forking
/// thread calls this right before the fork.
pub fn before_fork() {
    let mut activity = unpoisoned(&state().activity);
    while activity.forking {
        activity = wait(activity);
    }
    activity.forking = true;
    while activity.running > 0 {
        activity = wait(activity);
    }
    activity.forking = false;
    let guards = ForkGuards {
        _activity: activity,
        locks: lock_table(),
        holds: hold_table(),
        files: crate::local::held::held_locks(),
        nodes: crate::local::open_nodes::held_nodes(),
    };
    GUARDS.with(|stored| stored.replace(Some(guards)));
}

/// Lets all threads continue. The same thread calls this after the fork, in the parent and in the child.
pub fn after_fork(in_child: bool) {
    let Some(mut guards) = GUARDS.with(RefCell::take) else { return };
    if in_child {
        forget_locks(&mut guards.locks);
        guards.holds.clear();
        guards.files.clear();
        guards.nodes.clear();
    }
    drop(guards);
    state().changed.notify_all();
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_fork_waits_for_running_operations_and_new_ones_wait_for_the_fork() {
        let (began, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let work = scope.spawn(move || {
                let work = delay_fork();
                began.send(()).unwrap();
                ended.recv().unwrap();
                drop(work);
            });
            begun.recv().unwrap();
            let fork = scope.spawn(|| {
                before_fork();
                let other = scope.spawn(|| drop(delay_fork()));
                std::thread::sleep(Duration::from_millis(30));
                assert!(!other.is_finished(), "no operation begins while a process forks");
                after_fork(false);
                other.join().unwrap();
            });
            std::thread::sleep(Duration::from_millis(30));
            assert!(!fork.is_finished(), "the fork waits for the operation");
            end.send(()).unwrap();
            work.join().unwrap();
            fork.join().unwrap();
        });
        drop(delay_fork());
    }
}

#[cfg(all(test, model))]
mod model {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    use shuttle::thread;

    use super::*;
    use crate::sync::check;
    use crate::{Key, LockGuard};

    #[derive(Default)]
    struct Seen {
        working: AtomicUsize,
        forking: AtomicBool,
    }

    impl Seen {
        fn work(&self) {
            let _delay = delay_fork();
            self.working.fetch_add(1, Relaxed);
            assert!(!self.forking.load(Relaxed), "no operation runs while a process forks");
            thread::yield_now();
            // A waiting fork lets the inner operation begin, since it is already waiting for the outer operation.
            drop(delay_fork());
            self.working.fetch_sub(1, Relaxed);
        }

        fn fork(&self) {
            before_fork();
            assert_eq!(self.working.load(Relaxed), 0, "a fork waits for all operations");
            assert!(!self.forking.swap(true, Relaxed), "one thread forks at a time");
            thread::yield_now();
            self.forking.store(false, Relaxed);
            after_fork(false);
        }
    }

    #[test]
    fn forks_and_operations_exclude_each_other_and_none_waits_forever() {
        check(|| {
            let seen = Seen::default();
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| seen.work());
                    scope.spawn(|| seen.fork());
                }
            });
            seen.work();
        });
    }

    #[test]
    fn works_under_locks_and_forks_do_not_wait_for_one_another() {
        check(|| {
            let (seen, key) = (Seen::default(), Key::new("k").unwrap());
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let _guard = LockGuard::in_process("forks", &key);
                        seen.work();
                    });
                }
                scope.spawn(|| {
                    let _delay = delay_fork();
                    drop(LockGuard::in_process("forks", &Key::new("other").unwrap()));
                });
                scope.spawn(|| seen.fork());
            });
        });
    }
}
