//! Loops over two strided layouts, and copies between them. Most of the time is spent here.

use std::mem::MaybeUninit;

use super::layout::Layout;
use super::span::Dims;

/// One dimension of a loop over two layouts: the count, and the strides in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) count: usize,
    pub(crate) source: isize,
    pub(crate) target: isize,
}

/// The loops over two layouts of the same shape: axes are sorted by the target's strides, axes of length 1 are dropped, and axes
/// that are contiguous in both layouts are merged.
pub(super) struct Loops {
    outer: Dims<Loop>,
    inner: Loop,
    item: usize,
    empty: bool,
}

/// The side length, in elements, of the square tile that a transposing copy processes at once: the cache lines of the source and
/// of the target stay in the L1 cache.
const TILE: usize = 32;

impl Loops {
    pub(super) fn new(source: &Layout, target: &Layout) -> Self {
        let item = target.item.cast_signed();
        if target.is_empty() {
            let inner = Loop { count: 0, source: item, target: item };
            return Self { outer: Dims::new(), inner, item: target.item, empty: true };
        }
        let mut loops: Dims<Loop> = Dims::new();
        for (dim, &count) in target.shape.iter().enumerate().filter(|(_, count)| **count != 1) {
            loops.push(Loop { count, source: source.strides[dim], target: target.strides[dim] });
        }
        loops.sort_by_key(|l| std::cmp::Reverse(l.target.unsigned_abs()));
        loops.dedup_by(|next, last| {
            let count = next.count.cast_signed();
            let continues = last.source == next.source.wrapping_mul(count)
                && last.target == next.target.wrapping_mul(count);
            if continues {
                *last = Loop { count: last.count * next.count, ..*next };
            }
            continues
        });
        let inner = loops.pop().unwrap_or(Loop { count: 1, source: item, target: item });
        Self { outer: loops, inner, item: target.item, empty: false }
    }

    /// Calls `visit(source offset, target offset, inner loop)` for each run, until `visit` returns false. Returns true if all
    /// runs were visited.
    pub(super) fn runs(&self, mut visit: impl FnMut(isize, isize, Loop) -> bool) -> bool {
        self.empty || nest(&self.outer, 0, 0, &mut |source, target| visit(source, target, self.inner))
    }

    pub(super) fn is_dense(&self) -> bool {
        let item = self.item.cast_signed();
        self.inner.source == item && self.inner.target == item
    }

    /// # Safety
    /// The pointers must be valid for the layouts, and the two must not overlap.
    pub(super) unsafe fn copy_items(&self, source: *const u8, target: *mut u8, item: usize) {
        let dense = self.is_dense();
        self.runs(|from, to, run| {
            // SAFETY: the caller's guarantee; the offsets belong to elements of the layouts.
            unsafe {
                let (from, to) = (source.offset(from), target.offset(to));
                if dense {
                    std::ptr::copy_nonoverlapping(from, to, run.count * item);
                } else {
                    for i in 0..run.count.cast_signed() {
                        let (from, to) = (from.offset(i * run.source), to.offset(i * run.target));
                        std::ptr::copy_nonoverlapping(from, to, item);
                    }
                }
            }
            true
        });
    }

    /// Returns true if each element has the same bytes in both layouts.
    ///
    /// # Safety
    /// The pointers must be valid for the layouts.
    pub(super) unsafe fn equal_items(&self, one: *const u8, other: *const u8, item: usize) -> bool {
        if item == 0 {
            return true;
        }
        // SAFETY: the caller's guarantee; the offsets belong to elements of the layouts.
        let same = |one, other, length| unsafe {
            std::slice::from_raw_parts::<u8>(one, length) == std::slice::from_raw_parts::<u8>(other, length)
        };
        let dense = self.is_dense();
        self.runs(|at, other_at, run| {
            // SAFETY: as above.
            let (one, other) = unsafe { (one.offset(at), other.offset(other_at)) };
            if dense {
                return same(one, other, run.count * item);
            }
            // SAFETY: as above.
            (0..run.count.cast_signed())
                .all(|i| unsafe { same(one.offset(i * run.source), other.offset(i * run.target), item) })
        })
    }

    /// # Safety
    /// As for [`Loops::equal_items`], with elements of the size of `T`.
    pub(super) unsafe fn equal<T: Copy + PartialEq>(&self, one: *const u8, other: *const u8) -> bool {
        if self.is_dense() {
            // SAFETY: the caller's guarantee.
            return unsafe { self.equal_items(one, other, size_of::<T>()) };
        }
        self.runs(|at, other_at, run| {
            // SAFETY: the caller's guarantee; the offsets belong to elements of the layouts, and all accesses are unaligned.
            (0..run.count.cast_signed()).all(|i| unsafe {
                let value = one.offset(at + i * run.source).cast::<T>().read_unaligned();
                value == other.offset(other_at + i * run.target).cast::<T>().read_unaligned()
            })
        })
    }

    /// # Safety
    /// As for [`Loops::copy_items`], with elements of the size of `T`.
    pub(super) unsafe fn copy<T: Copy>(
        &self,
        source: *const u8,
        target: *mut u8,
        same: impl Fn(T) -> T + Copy,
    ) {
        // SAFETY: the caller's guarantee.
        unsafe {
            if self.is_dense() {
                self.copy_items(source, target, size_of::<T>());
            } else {
                self.map(source, target, same);
            }
        }
    }

    /// # Safety
    /// As for [`Loops::copy_items`], with elements of the size of `T`.
    pub(super) unsafe fn map<T: Copy>(&self, source: *const u8, target: *mut u8, f: impl Fn(T) -> T + Copy) {
        let item = self.item.cast_signed();
        // In a transposition, an outer axis is dense in the source, but the inner axis is not.
        let cross = self.outer.iter().position(|l| l.source == item && l.count > 1);
        match cross {
            // SAFETY: the caller's guarantee.
            Some(dim) if self.inner.source != item => unsafe { self.map_tiles(dim, source, target, f) },
            _ => {
                self.runs(|from, to, run| {
                    // SAFETY: the caller's guarantee; the offsets belong to elements of the layouts.
                    unsafe { map_run(source.offset(from), target.offset(to), run, f) };
                    true
                });
            }
        }
    }

    /// # Safety
    /// As for [`Loops::copy_items`], with elements of the size of `T`.
    unsafe fn map_tiles<T: Copy>(
        &self,
        dim: usize,
        source: *const u8,
        target: *mut u8,
        f: impl Fn(T) -> T + Copy,
    ) {
        let mut outer = self.outer.clone();
        let cross = outer.remove(dim);
        if self.empty {
            return;
        }
        let mut tile = [const { MaybeUninit::<T>::uninit() }; TILE * TILE];
        nest(&outer, 0, 0, &mut |from, to| {
            for row in (0..cross.count).step_by(TILE) {
                for column in (0..self.inner.count).step_by(TILE) {
                    let size = (TILE.min(cross.count - row), TILE.min(self.inner.count - column));
                    let (row, column) = (row.cast_signed(), column.cast_signed());
                    let from = from + row * cross.source + column * self.inner.source;
                    let to = to + row * cross.target + column * self.inner.target;
                    // SAFETY: the caller's guarantee; the offsets belong to elements of the layouts.
                    unsafe {
                        self.map_tile(cross, size, &mut tile, source.offset(from), target.offset(to), f);
                    };
                }
            }
            true
        });
    }

    /// Transposes one tile through a buffer. If the source's stride is a power of two, all rows of a tile map to a few cache
    /// sets, and would evict each other.
    ///
    /// # Safety
    /// The tile with these numbers of rows (along `cross`) and columns (along the inner loop) must lie inside both layouts.
    unsafe fn map_tile<T: Copy>(
        &self,
        cross: Loop,
        (rows, columns): (usize, usize),
        tile: &mut [MaybeUninit<T>; TILE * TILE],
        source: *const u8,
        target: *mut u8,
        f: impl Fn(T) -> T,
    ) {
        for column in 0..columns {
            // SAFETY: the caller's guarantee; along `cross` the source is dense.
            unsafe {
                let from = source.offset(column.cast_signed() * self.inner.source);
                let to = tile.as_mut_ptr().add(column * TILE).cast::<u8>();
                std::ptr::copy_nonoverlapping(from, to, rows * size_of::<T>());
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                // SAFETY: the caller's guarantee; this element of the tile was filled above.
                unsafe {
                    let value = tile[column * TILE + row].assume_init();
                    let offset = row.cast_signed() * cross.target + column.cast_signed() * self.inner.target;
                    target.offset(offset).cast::<T>().write_unaligned(f(value));
                }
            }
        }
    }
}

/// # Safety
/// `run` must reach only valid elements of type `T` from both pointers.
unsafe fn map_run<T: Copy>(source: *const u8, target: *mut u8, run: Loop, f: impl Fn(T) -> T) {
    let item = size_of::<T>().cast_signed();
    let step = |from: isize, to: isize| {
        for i in 0..run.count.cast_signed() {
            // SAFETY: the caller's guarantee; all accesses are unaligned.
            unsafe {
                let value = source.offset(i * from).cast::<T>().read_unaligned();
                target.offset(i * to).cast::<T>().write_unaligned(f(value));
            }
        }
    };
    // Constant strides let the compiler vectorise.
    match (run.source == item, run.target == item) {
        (true, true) => step(item, item),
        (false, true) => step(run.source, item),
        (true, false) => step(item, run.target),
        (false, false) => step(run.source, run.target),
    }
}

/// Visits the offsets of nested loops, advancing them incrementally, until `visit` returns false. The innermost loop does not
/// recurse, because rows may be short.
fn nest(loops: &[Loop], source: isize, target: isize, visit: &mut impl FnMut(isize, isize) -> bool) -> bool {
    let (mut source, mut target) = (source, target);
    match loops {
        [] => visit(source, target),
        [only] => (0..only.count).all(|_| {
            let more = visit(source, target);
            source += only.source;
            target += only.target;
            more
        }),
        [first, rest @ ..] => (0..first.count).all(|_| {
            let more = nest(rest, source, target, visit);
            source += first.source;
            target += first.target;
            more
        }),
    }
}
