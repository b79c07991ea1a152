//! An allocator that keeps a reserve for error messages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The size of the reserve. Chunks and results are allocated by functions that return errors; all other allocations are smaller
/// than this.
const SIZE: usize = 1 << 20;

/// An allocator that keeps a reserve of 1 MiB. If a smaller allocation fails, the reserve is freed.
///
/// Rust aborts the process if the allocation of a few bytes fails. Without the reserve, this would happen once a chunk has taken
/// the last memory, often while the error message for the next chunk is being written. The reserve costs only an address range:
/// its pages are never touched.
#[derive(Debug)]
pub struct WithReserve<A = System> {
    allocator: A,
    reserve: AtomicPtr<u8>,
}

impl WithReserve {
    /// Creates the system allocator with a reserve. The reserve is allocated by [`WithReserve::fill`], or together with the next
    /// large block.
    pub const fn new() -> Self {
        Self::of(System)
    }
}

impl Default for WithReserve {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> WithReserve<A> {
    const LAYOUT: Layout = match Layout::from_size_align(SIZE, 16) {
        Ok(layout) => layout,
        Err(_) => panic!("the alignment is a power of two"),
    };

    const fn of(allocator: A) -> Self {
        Self { allocator, reserve: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl<A: GlobalAlloc> WithReserve<A> {
    /// Calls `allocate`. If a small allocation fails, frees the reserve and calls `allocate` again.
    fn reserving(&self, size: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
        if size >= SIZE {
            self.fill();
            return allocate();
        }
        let block = allocate();
        if block.is_null() && self.free() { allocate() } else { block }
    }

    /// Allocates the reserve, if it is empty.
    pub fn fill(&self) {
        if !self.reserve.load(Ordering::Relaxed).is_null() {
            return;
        }
        // SAFETY: the size is not zero.
        let block = unsafe { self.allocator.alloc(Self::LAYOUT) };
        let (null, success, failure) = (ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed);
        if self.reserve.compare_exchange(null, block, success, failure).is_err() && !block.is_null() {
            // SAFETY: the block was allocated above, and another thread has filled the reserve.
            unsafe { self.allocator.dealloc(block, Self::LAYOUT) };
        }
    }

    /// Frees the reserve. Returns false if it is empty.
    fn free(&self) -> bool {
        let block = self.reserve.swap(ptr::null_mut(), Ordering::AcqRel);
        if !block.is_null() {
            // SAFETY: `fill` allocated the block, and only this thread has it now.
            unsafe { self.allocator.dealloc(block, Self::LAYOUT) };
        }
        !block.is_null()
    }
}

// SAFETY: the inner allocator does all the work.
unsafe impl<A: GlobalAlloc> GlobalAlloc for WithReserve<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        self.reserving(layout.size(), || unsafe { self.allocator.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        self.reserving(layout.size(), || unsafe { self.allocator.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { self.allocator.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees it. If the call fails, the old block is unchanged.
        self.reserving(size, || unsafe { self.allocator.realloc(pointer, layout, size) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// The system allocator with a limit.
    struct Limited(AtomicUsize);

    // SAFETY: the system allocator does all the work.
    unsafe impl GlobalAlloc for Limited {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let take = |left: usize| left.checked_sub(layout.size());
            match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                // SAFETY: the caller guarantees it.
                Ok(_) => unsafe { System.alloc(layout) },
                Err(_) => ptr::null_mut(),
            }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            self.0.fetch_add(layout.size(), Ordering::Relaxed);
            // SAFETY: the caller guarantees it.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    #[test]
    fn small_allocations_succeed_after_a_large_one_took_the_last_memory() {
        let allocator = WithReserve::of(Limited(AtomicUsize::new(5 * SIZE)));
        let (small, large) = (Layout::new::<[u8; 100]>(), Layout::new::<[u8; 2 * SIZE]>());
        // SAFETY: the sizes are not zero, and each block is freed once, with its layout.
        unsafe {
            for _ in 0..2 {
                let chunks = [allocator.alloc(large), allocator.alloc(large)];
                assert!(chunks.iter().all(|chunk| !chunk.is_null()));
                assert!(allocator.alloc(large).is_null());
                let message = allocator.alloc(small);
                assert!(!message.is_null());
                let longer = allocator.realloc(message, small, 200);
                assert!(!longer.is_null());
                allocator.dealloc(longer, Layout::new::<[u8; 200]>());
                chunks.iter().for_each(|chunk| allocator.dealloc(*chunk, large));
            }
        }
    }
}
