//! Fresh memory for results: in huge pages where it is large.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// From this size on, memory is mapped; below, the allocator has some that was touched before.
const LARGE: usize = 4 << 20;

/// Memory of a result, which threads fill.
pub(super) struct Memory {
    pointer: *mut u8,
    size: usize,
}

// SAFETY: threads write to parts of their own.
unsafe impl Sync for Memory {}
// SAFETY: the memory belongs to no thread.
unsafe impl Send for Memory {}

impl Memory {
    pub(super) fn new(size: usize) -> Self {
        if size < LARGE {
            let memory: Box<[u8]> = vec![0; size].into();
            return Self { pointer: Box::into_raw(memory).cast(), size };
        }
        // SAFETY: a new anonymous mapping.
        let pointer = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let pointer = mmap_anonymous(std::ptr::null_mut(), size, access, MapFlags::PRIVATE).unwrap();
            let _ = madvise(pointer, size, Advice::LinuxHugepage);
            pointer.cast()
        };
        Self { pointer, size }
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.pointer
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the memory is ours, zeroed at first, and this long.
        unsafe { std::slice::from_raw_parts(self.pointer, self.size) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated or mapped in `new`, and nobody holds a slice of it any more.
        unsafe {
            if self.size < LARGE {
                drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.pointer, self.size)));
            } else {
                let _ = munmap(self.pointer.cast(), self.size);
            }
        }
    }
}
