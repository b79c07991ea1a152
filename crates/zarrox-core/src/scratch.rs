//! Buffers that each thread reuses, so that decoding a chunk allocates no fresh memory.

use std::cell::RefCell;
use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// The maximum amount of memory that a thread keeps for its next call, in bytes.
const KEEP: usize = 256 << 20;

/// The maximum amount of memory that a thread keeps for lists of positions, in bytes.
const KEEP_POSITIONS: usize = 32 << 20;

/// The minimum capacity of a reused list, in positions. Shorter lists come from the allocator, because they need no fresh
/// pages.
const SHORT: usize = 4096;

type Buffers<T = u8> = LocalKey<RefCell<Vec<Vec<T>>>>;

thread_local! {
    /// Buffers that are initialised up to their length.
    static FILLED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    /// Empty buffers for appending.
    static EMPTY: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    /// Empty lists of positions.
    static POSITIONS: RefCell<Vec<Vec<usize>>> = const { RefCell::new(Vec::new()) };
}

/// A list of positions or counts in reusable memory. A selection of many points needs several such lists, and the first access to
/// fresh pages costs more than processing the lists.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Positions(Vec<usize>);

impl Positions {
    /// Returns an empty list with capacity for `count` positions.
    ///
    /// # Errors
    /// When the memory cannot be allocated.
    pub fn with_room(count: usize) -> Result<Self, TryReserveError> {
        let mut list = if count < SHORT { Vec::new() } else { take(&POSITIONS, count) };
        list.try_reserve_exact(count)?;
        Ok(Self(list))
    }
}

impl From<Vec<usize>> for Positions {
    fn from(list: Vec<usize>) -> Self {
        Self(list)
    }
}

impl FromIterator<usize> for Positions {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let positions = positions.into_iter();
        let count = positions.size_hint().0;
        let mut list = if count < SHORT { Vec::new() } else { take(&POSITIONS, count) };
        list.extend(positions);
        Self(list)
    }
}

impl Clone for Positions {
    fn clone(&self) -> Self {
        self.iter().copied().collect()
    }
}

impl Deref for Positions {
    type Target = Vec<usize>;

    fn deref(&self) -> &Vec<usize> {
        &self.0
    }
}

impl DerefMut for Positions {
    fn deref_mut(&mut self) -> &mut Vec<usize> {
        &mut self.0
    }
}

impl Drop for Positions {
    fn drop(&mut self) {
        if self.capacity() >= SHORT {
            let mut list = std::mem::take(&mut self.0);
            list.clear();
            give_back(&POSITIONS, list, KEEP_POSITIONS);
        }
    }
}

/// A buffer borrowed from the thread, and returned to it when dropped.
#[derive(Debug)]
pub struct Scratch {
    buffer: Vec<u8>,
    length: usize,
}

impl Scratch {
    /// Returns a buffer of `length` bytes with arbitrary content.
    ///
    /// # Errors
    /// When the memory cannot be allocated.
    pub fn with_len(length: usize) -> Result<Self, TryReserveError> {
        let mut scratch = Self { buffer: take(&FILLED, length), length: 0 };
        scratch.grow(length)?;
        Ok(scratch)
    }

    /// Extends the buffer to `length` bytes and keeps its content. `length` must not be smaller than the current length.
    ///
    /// # Errors
    /// When the memory cannot be allocated.
    pub fn grow(&mut self, length: usize) -> Result<(), TryReserveError> {
        // Only bytes that have never been initialised are zeroed.
        if self.buffer.len() < length {
            self.buffer.try_reserve_exact(length - self.buffer.len())?;
            self.buffer.resize(length, 0);
        }
        self.length = length;
        Ok(())
    }

    /// Keeps only the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Deref for Scratch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.length]
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        give_back(&FILLED, std::mem::take(&mut self.buffer), KEEP);
    }
}

/// Calls `work` with an empty vector, whose capacity is reused by the next call.
pub fn with_vec<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = take(&EMPTY, 0);
    let result = work(&mut buffer);
    buffer.clear();
    give_back(&EMPTY, buffer, KEEP);
    result
}

/// Returns the smallest free buffer that is large enough, or else the largest, so that no second large buffer is allocated.
fn take<T>(buffers: &'static Buffers<T>, length: usize) -> Vec<T> {
    buffers.with_borrow_mut(|free| {
        let fits =
            (0..free.len()).filter(|&i| free[i].capacity() >= length).min_by_key(|&i| free[i].capacity());
        let best = fits.or_else(|| (0..free.len()).max_by_key(|&i| free[i].capacity()));
        best.map(|i| free.swap_remove(i)).unwrap_or_default()
    })
}

fn give_back<T>(buffers: &'static Buffers<T>, buffer: Vec<T>, keep: usize) {
    // A thread that is ending no longer has a list, so the buffer is freed.
    let _ = buffers.try_with(|free| {
        let mut free = free.borrow_mut();
        let kept: usize = free.iter().map(Vec::capacity).sum();
        let fits = (kept + buffer.capacity()).saturating_mul(size_of::<T>()) <= keep;
        // If the list cannot grow for lack of memory, the buffer is freed as well.
        if fits && free.try_reserve(1).is_ok() {
            free.push(buffer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let address = {
            let mut scratch = Scratch::with_len(1000).unwrap();
            scratch[999] = 1;
            scratch.as_ptr() as usize
        };
        assert_eq!(Scratch::with_len(10).unwrap().as_ptr() as usize, address);
    }

    #[test]
    fn nested_use_gives_distinct_buffers() {
        let (a, b) = (Scratch::with_len(8).unwrap(), Scratch::with_len(8).unwrap());
        assert_ne!(a.as_ptr(), b.as_ptr());
    }

    #[test]
    fn what_no_machine_has_is_an_error_and_what_grows_keeps_its_bytes() {
        assert!(Scratch::with_len(usize::MAX / 4).is_err());
        let mut scratch = Scratch::with_len(2).unwrap();
        scratch.copy_from_slice(b"ab");
        scratch.grow(9000).unwrap();
        assert_eq!((&scratch[..2], scratch.len()), (&b"ab"[..], 9000));
    }
}
