//! Counting the memory that a program takes, and refusing it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

/// The system's allocator, which tells a function what is taken of it, in bytes, and with a minus what is given back. The function
/// must not take memory itself.
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

// SAFETY: all is done by the system's allocator.
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

/// The system's allocator, which refuses one large piece of memory when it is [told to](Self::refuse).
///
/// As a machine without memory does: whoever does not expect it aborts the process.
#[derive(Debug)]
pub struct Refusing {
    /// The size from which on a piece of memory is large, in bytes.
    least: usize,
    /// The number of large pieces until the one that is refused; 0 or less if none is.
    left: AtomicI64,
}

impl Refusing {
    /// Creates an allocator that refuses nothing yet. From `least` bytes on, a piece of memory is large.
    #[must_use]
    pub const fn new(least: usize) -> Self {
        Self { least, left: AtomicI64::new(0) }
    }

    /// Refuses the n-th large piece of memory from here on, counted from 1; with 0, none.
    pub fn refuse(&self, n: u32) {
        self.left.store(i64::from(n), Ordering::SeqCst);
    }

    /// Returns true if there is a piece of memory that is still to be refused.
    pub fn is_waiting(&self) -> bool {
        self.left.load(Ordering::SeqCst) > 0
    }

    fn refuses(&self, size: usize) -> bool {
        size >= self.least && self.is_waiting() && self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

// SAFETY: all is done by the system's allocator, or nothing is.
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
