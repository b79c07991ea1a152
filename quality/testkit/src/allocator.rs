//! Allocators that count memory, and that fail.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicIsize, Ordering};

/// The system's allocator, which reports the number of allocated bytes to a function, negative for freed bytes. The function must
/// not allocate memory itself.
///
/// ```
/// use std::sync::atomic::{AtomicIsize, Ordering};
/// use zarrox_testkit::allocator::Counting;
///
/// static HELD: AtomicIsize = AtomicIsize::new(0);
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting(|more| drop(HELD.fetch_add(more, Ordering::Relaxed)));
///
/// let before = HELD.load(Ordering::Relaxed);
/// let kept = vec![0_u8; 1000];
/// assert!(HELD.load(Ordering::Relaxed) >= before + 1000);
/// # drop(kept);
/// ```
#[derive(Debug)]
pub struct Counting(pub fn(isize));

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        (self.0)(layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        (self.0)(layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        (self.0)(-layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        (self.0)(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The allocated bytes of a program with the allocator [`MEASURING`], and their maximum.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// The allocator of programs that call [`taken`].
pub const MEASURING: Counting = Counting(|more| {
    let held = HELD.fetch_add(more, Ordering::Relaxed) + more;
    MOST.fetch_max(held, Ordering::Relaxed);
});

/// Returns the peak of the memory during the work, and the memory after it, in bytes and relative to the memory before the
/// work. The global allocator must be [`MEASURING`], and nothing else may allocate memory at the same time.
pub fn taken(work: impl FnOnce()) -> (isize, isize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work();
    (MOST.load(Ordering::Relaxed) - before, HELD.load(Ordering::Relaxed) - before)
}

/// The system's allocator, with one large allocation that fails when it is [requested](Self::refuse).
///
/// This simulates a machine without free memory: code that does not handle the failure aborts the process.
#[derive(Debug)]
pub struct Refusing {
    /// The size in bytes from which an allocation is large.
    least: usize,
    /// The number of large allocations until the one that fails; 0 or less for none.
    left: AtomicI64,
}

impl Refusing {
    /// Creates an allocator without failures. Allocations of at least `least` bytes are large.
    #[must_use]
    pub const fn new(least: usize) -> Self {
        Self { least, left: AtomicI64::new(0) }
    }

    /// Makes the n-th large allocation from here on fail, counted from 1. If `n` is 0, no allocation fails.
    pub fn refuse(&self, n: u32) {
        self.left.store(i64::from(n), Ordering::SeqCst);
    }

    /// Returns true if the allocation that should fail has not happened yet.
    pub fn is_waiting(&self) -> bool {
        self.left.load(Ordering::SeqCst) > 0
    }

    fn refuses(&self, size: usize) -> bool {
        size >= self.least && self.is_waiting() && self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

// SAFETY: the system's allocator does all the work, or nothing is allocated.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.refuses(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if self.refuses(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.refuses(size) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
