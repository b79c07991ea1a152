//! The memory use of work. Memory of libraries in C is not counted.

use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

use zarrox_testkit::allocator::Counting;

/// True while memory is measured: counting costs time, which would falsify other measurements.
static COUNTED: AtomicBool = AtomicBool::new(false);
/// The allocated bytes of all threads since the start of the measurement, and their maximum.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

fn count(more: isize) {
    if COUNTED.load(Relaxed) {
        let now = HELD.fetch_add(more, Relaxed) + more;
        MOST.fetch_max(now, Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

/// Returns the peak memory of `work`, including its result, beyond the memory that was allocated before.
pub(crate) fn peak<A>(work: impl FnOnce() -> A) -> usize {
    HELD.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTED.store(true, Relaxed);
    let result = work();
    COUNTED.store(false, Relaxed);
    drop(result);
    MOST.load(Relaxed).unsigned_abs()
}
