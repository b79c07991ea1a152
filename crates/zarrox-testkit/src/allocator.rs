//! Counting the memory that a program takes.

use std::alloc::{GlobalAlloc, Layout, System};

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
