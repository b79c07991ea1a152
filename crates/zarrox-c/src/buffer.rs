//! Memory, owned by this library, for the elements of a result.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use zarrox::Result;

use crate::block::out_of_memory;

/// The alignment in bytes that DLPack requires; Arrow recommends 64.
const ALIGNMENT: usize = 256;

/// Zeroed memory, aligned for the instructions of any processor.
pub(crate) struct Buffer {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the memory is owned and not tied to a thread, like `Box<[u8]>`.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Allocates memory.
    pub(crate) fn new(size: usize) -> Result<Self> {
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() { Err(out_of_memory()) } else { Ok(Self { start, layout }) }
    }

    /// Allocates memory that contains a copy of the bytes.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self> {
        let mut buffer = Self::new(bytes.len())?;
        buffer.bytes()[..bytes.len()].copy_from_slice(bytes);
        Ok(buffer)
    }

    /// Returns the memory; one byte for a size of 0.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory has this size, is initialised, and is borrowed as long as the slice exists.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
