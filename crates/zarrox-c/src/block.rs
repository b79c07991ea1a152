//! Memory that the caller frees: strings, and tables of strings, each in a single block.

use std::ffi::{c_char, c_void};

use zarrox::{Error, ErrorKind, Result};

/// Text or bytes of any length. In a string that this library returns, a NUL follows the bytes, which `length` does not count.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zarrox_string {
    /// The bytes; text is UTF-8. It may be null if the length is 0.
    pub data: *const c_char,
    /// The number of bytes.
    pub length: usize,
}

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
}

/// Frees memory that a function of this library has returned. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_free(pointer: *mut c_void) {
    // SAFETY: the pointer is null, or was allocated by `Block`, as the caller guarantees.
    unsafe { free(pointer) };
}

/// A block that is being filled: a table of `T`, followed by strings.
pub(crate) struct Block<T> {
    start: *mut u8,
    entries: usize,
    /// The number of entries that are set.
    set: usize,
    /// The offset of the next string.
    next: usize,
    size: usize,
    marker: std::marker::PhantomData<T>,
}

impl<T> Block<T> {
    /// Allocates a block for a table of entries and for strings of these lengths.
    pub(crate) fn new(entries: usize, lengths: impl IntoIterator<Item = usize>) -> Result<Self> {
        let table = entries.checked_mul(size_of::<T>());
        let add = |size: usize, length: usize| size.checked_add(length)?.checked_add(1);
        let size = table.and_then(|table| lengths.into_iter().try_fold(table, add));
        let (Some(table), Some(size)) = (table, size) else { return Err(out_of_memory()) };
        // SAFETY: `malloc` accepts any size.
        let start: *mut u8 = unsafe { malloc(size.max(1)) }.cast();
        if start.is_null() {
            return Err(out_of_memory());
        }
        Ok(Self { start, entries, set: 0, next: table, size, marker: std::marker::PhantomData })
    }

    /// Adds a string, and returns its address.
    pub(crate) fn add_text(&mut self, text: &[u8]) -> *const c_char {
        assert!(text.len() < self.size - self.next, "the block must have space for its texts");
        // SAFETY: the string and its NUL lie within the block, as was just checked, and the block is not shared.
        let place = unsafe {
            let place = self.start.add(self.next);
            place.copy_from_nonoverlapping(text.as_ptr(), text.len());
            place.add(text.len()).write(0);
            place
        };
        self.next += text.len() + 1;
        place.cast_const().cast()
    }

    /// Sets the next entry of the table.
    pub(crate) fn add_entry(&mut self, entry: T) {
        assert!(self.set < self.entries, "the block must have space for its entries");
        // SAFETY: the entry lies within the table. `malloc` aligns memory for every C type, and entries consist of C types.
        unsafe { self.start.cast::<T>().add(self.set).write(entry) };
        self.set += 1;
    }

    /// Returns the block, which the caller frees.
    pub(crate) fn into_raw(self) -> *mut T {
        assert!(self.set == self.entries, "all entries must be set");
        let start = self.start.cast();
        std::mem::forget(self);
        start
    }
}

impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        // SAFETY: the block was allocated by `malloc`, and has no other owner.
        unsafe { free(self.start.cast()) };
    }
}

/// Returns a string that the caller frees.
pub(crate) fn returned_text(text: &str) -> Result<*mut c_char> {
    let mut block = Block::<c_char>::new(0, [text.len()])?;
    block.add_text(text.as_bytes());
    Ok(block.into_raw())
}

pub(crate) fn out_of_memory() -> Error {
    Error::new(ErrorKind::OutOfMemory, "memory for the result cannot be allocated")
}
