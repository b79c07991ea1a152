//! The memory that some work holds. The libraries in C take theirs from elsewhere, and it is not counted.

use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

use zarrox_testkit::allocator::Counting;

/// True if anybody wants to know: counting costs time, which would be measured elsewhere.
static COUNTED: AtomicBool = AtomicBool::new(false);
/// The bytes that all threads hold, counted from when it began; and the most of it.
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

/// The most memory that `work` holds at a time, its result included, beyond what was held before.
pub(crate) fn peak<A>(work: impl FnOnce() -> A) -> usize {
    HELD.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTED.store(true, Relaxed);
    let result = work();
    COUNTED.store(false, Relaxed);
    drop(result);
    MOST.load(Relaxed).unsigned_abs()
}
