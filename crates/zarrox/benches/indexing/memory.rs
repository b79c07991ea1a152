//! How much memory some work holds. The libraries in C take theirs from elsewhere, and it is not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// Whether anybody wants to know: counting costs time, which would be measured elsewhere.
static COUNTED: AtomicBool = AtomicBool::new(false);
/// What all threads hold, in bytes, counted from when it began; and the most of it.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, with what is taken of it counted.
struct Counting;

fn count(more: isize) {
    if COUNTED.load(Relaxed) {
        let now = HELD.fetch_add(more, Relaxed) + more;
        MOST.fetch_max(now, Relaxed);
    }
}

// SAFETY: all is done by the system's allocator; counting takes no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
