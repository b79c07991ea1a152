//! Copying between memory and those elements of a chunk that do not form a box.
//!
//! An [`ElementSet`] is a product of axes. Each axis becomes a loop with two byte offsets, one in the source and one in the
//! target. Evenly spaced positions advance by strides. Listed points use a table of offsets, which is built for one block of
//! points at a time, so that it stays in the cache. Elements that are contiguous in the source and in the target become one
//! larger unit.
//!
//! If a position of the chunk is selected several times, the last element in the order of memory must be kept. The repeated
//! elements also form a product, of the repetitions along each axis. However the axes and their blocks are nested, the last
//! element of this product is visited last, because all loops traverse each axis in ascending order.

#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;

use super::element_set::{ElementAxis, ElementSet, PointRange};
use super::masked::{self, MaskedChunk, MaskedRow};
use crate::strided::layout::Layout;
use crate::strided::loops::Loop;
use crate::strided::{Dims, Span, View, ViewMut, slice_or_empty};
use crate::vlen::{VlenBuffer, VlenRef};

/// The number of points whose offsets are in one table, which takes half of an L1 cache.
const BLOCK: usize = 1024;

/// The number of points that are examined to decide whether they form long stretches.
const EXAMINED: usize = 64;

/// The minimum average number of points in a stretch for which stretches are copied as units.
const LONG: usize = 8;

/// The offsets of an element, in bytes from the first element of each view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Offsets {
    source: isize,
    target: isize,
}

impl Offsets {
    fn plus(self, other: Self) -> Self {
        Self { source: self.source + other.source, target: self.target + other.target }
    }
}

/// The view that is read: the chunk or the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Chunk,
    Memory,
}

impl Source {
    fn offsets(self, chunk: isize, memory: isize) -> Offsets {
        match self {
            Self::Chunk => Offsets { source: chunk, target: memory },
            Self::Memory => Offsets { source: memory, target: chunk },
        }
    }
}

/// The loops over the elements of a set.
struct Walk<'a> {
    source: Source,
    /// The offsets of the first position of all evenly spaced axes.
    base: Offsets,
    /// The number of bytes at each offset that are consecutive in the source and in the target: one element, or more.
    unit: usize,
    /// The axes, the outermost first.
    axes: Dims<Axis<'a>>,
}

enum Axis<'a> {
    Even(Loop),
    Listed(Listed<'a>),
}

/// Points, and the lengths and strides of their dimensions in the chunk and of their axis in memory.
struct Listed<'a> {
    points: &'a PointRange,
    /// The length and the stride of the chunk along each dimension.
    chunk: Dims<(usize, isize)>,
    memory: (usize, isize),
}

/// The innermost loop.
#[derive(Clone, Copy)]
enum Inner<'a> {
    Even(Loop),
    Listed(&'a [Offsets]),
    /// Offsets, and the number of consecutive bytes at each offset.
    Stretches(&'a [(Offsets, usize)]),
    Masked(Flags<'a>),
}

/// The flags of a mask along a row of the chunk, and the distance between adjacent elements. Only elements where the mask is true
/// have positions in memory.
#[derive(Clone, Copy)]
struct Flags<'a> {
    flags: &'a [bool],
    source: Source,
    chunk: isize,
    memory: isize,
}

/// The properties of a block of points.
#[derive(Default)]
struct Table {
    offsets: Vec<Offsets>,
    /// The points as stretches, if the stretches are long.
    stretches: Vec<(Offsets, usize)>,
}

impl<'a> Walk<'a> {
    /// Creates the loops over a non-empty set. Panics if the set does not contain each dimension of the chunk exactly once, if
    /// its axes are not the axes of memory, or if an evenly spaced position is out of bounds. Listed positions are checked when
    /// they are visited.
    fn new(source: Source, chunk: &Layout, memory: &Layout, set: &'a ElementSet) -> Self {
        assert_eq!(chunk.item, memory.item, "both views must have elements of the same size");
        assert_eq!(set.axes.len(), memory.shape.len(), "one axis for each of memory's");
        let mut met: Dims<bool> = SmallVec::from_elem(false, chunk.shape.len());
        for &dim in set.axes.iter().flat_map(ElementAxis::dims) {
            assert!(!std::mem::replace(&mut met[dim], true), "each dimension has one axis");
        }
        assert!(met.iter().all(|&met| met), "each dimension has an axis");
        let mut walk = Self { source, base: Offsets::default(), unit: chunk.item, axes: Dims::new() };
        for (n, axis) in set.axes.iter().enumerate() {
            let memory = (memory.shape[n], memory.strides[n]);
            match axis {
                ElementAxis::Span { dim, span, place } => {
                    walk.push_span((chunk.shape[*dim], chunk.strides[*dim]), memory, span, *place);
                }
                ElementAxis::Points(points) => {
                    assert_eq!(points.dims.len(), points.origin.len(), "one origin for each dimension");
                    let chunk = points.dims.iter().map(|&dim| (chunk.shape[dim], chunk.strides[dim]));
                    walk.axes.push(Axis::Listed(Listed { points, chunk: chunk.collect(), memory }));
                }
            }
        }
        while let Some(dense) = walk.axes.iter().position(|axis| axis.is_dense(walk.unit)) {
            if let Axis::Even(inner) = walk.axes.remove(dense) {
                walk.unit *= inner.count;
            }
        }
        walk.axes.sort_by_key(|axis| std::cmp::Reverse(axis.distance()));
        walk
    }

    fn push_span(
        &mut self,
        (length, stride): (usize, isize),
        memory: (usize, isize),
        span: &Span,
        place: usize,
    ) {
        let last = (span.count - 1).checked_mul(span.step).and_then(|steps| steps.checked_add(span.start));
        assert!(last.is_some_and(|last| last < length), "the span {span:?} leaves the chunk");
        assert!(place < memory.0 && span.count <= memory.0 - place, "the span {span:?} leaves memory");
        let start = self.source.offsets(span.start.cast_signed() * stride, place.cast_signed() * memory.1);
        self.base = self.base.plus(start);
        if span.count > 1 {
            let Offsets { source, target } = self.source.offsets(span.step.cast_signed() * stride, memory.1);
            self.axes.push(Axis::Even(Loop { count: span.count, source, target }));
        }
    }

    /// Calls `visit` with the offsets of each innermost loop, until `visit` returns false.
    fn run(&self, mut visit: impl FnMut(Offsets, Inner<'_>) -> bool) {
        if let [Axis::Listed(listed)] = self.axes.as_slice()
            && let Some(mask) = listed.points.mask()
        {
            return listed.masked_rows(mask, self.source, |at, row| visit(self.base.plus(at), row));
        }
        let mut tables: Dims<Table> = self.axes.iter().map(|_| Table::default()).collect();
        self.blocks(0, &mut tables, &mut visit);
    }

    /// Builds the tables for every combination of blocks of the axes from `depth` on.
    fn blocks(
        &self,
        depth: usize,
        tables: &mut [Table],
        visit: &mut impl FnMut(Offsets, Inner<'_>) -> bool,
    ) -> bool {
        match self.axes.get(depth) {
            None => self.nest(0, tables, self.base, visit),
            Some(Axis::Even(_)) => self.blocks(depth + 1, tables, visit),
            Some(Axis::Listed(listed)) => {
                let Range { start, end } = listed.points.range;
                (start..end).step_by(BLOCK).all(|start| {
                    let block = start..end.min(start + BLOCK);
                    listed.offsets(self.source, block, &mut tables[depth].offsets);
                    if depth + 1 == self.axes.len() {
                        tables[depth].find_stretches(self.unit);
                    }
                    self.blocks(depth + 1, tables, visit)
                })
            }
        }
    }

    fn nest(
        &self,
        depth: usize,
        tables: &[Table],
        at: Offsets,
        visit: &mut impl FnMut(Offsets, Inner<'_>) -> bool,
    ) -> bool {
        let innermost = depth + 1 >= self.axes.len();
        match self.axes.get(depth) {
            None => visit(at, Inner::Listed(&[Offsets { source: 0, target: 0 }])),
            Some(&Axis::Even(inner)) if innermost => visit(at, Inner::Even(inner)),
            Some(Axis::Listed(_)) if innermost => visit(at, tables[depth].inner()),
            Some(&Axis::Even(outer)) => {
                let mut at = at;
                (0..outer.count).all(|_| {
                    let more = self.nest(depth + 1, tables, at, visit);
                    // The offset after the last position is not used, and strides may be large if there is only one position.
                    at.source = at.source.wrapping_add(outer.source);
                    at.target = at.target.wrapping_add(outer.target);
                    more
                })
            }
            Some(Axis::Listed(_)) => tables[depth]
                .offsets
                .iter()
                .all(|&offsets| self.nest(depth + 1, tables, at.plus(offsets), visit)),
        }
    }
}

impl Axis<'_> {
    fn is_dense(&self, unit: usize) -> bool {
        let unit = unit.cast_signed();
        matches!(self, Self::Even(inner) if inner.source == unit && inner.target == unit)
    }

    /// Returns the minimum distance between adjacent elements; the axis with the smallest distance becomes the innermost.
    fn distance(&self) -> usize {
        match self {
            Self::Even(inner) => inner.source.unsigned_abs().saturating_add(inner.target.unsigned_abs()),
            Self::Listed(listed) => {
                let strides = listed.chunk.iter().map(|(_, stride)| stride.unsigned_abs());
                strides.min().unwrap_or(0).saturating_add(listed.memory.1.unsigned_abs())
            }
        }
    }
}

impl Listed<'_> {
    /// Calls `visit` for each row of a mask until `visit` returns false. `visit` receives the offset of the row's first element
    /// in the chunk, and the offset of the row's first true element in memory. Panics if a row is outside the chunk or memory.
    fn masked_rows(
        &self,
        mask: &MaskedChunk,
        source: Source,
        mut visit: impl FnMut(Offsets, Inner<'_>) -> bool,
    ) {
        let (length, stride) = self.memory;
        assert_eq!(mask.extents().len(), self.chunk.len(), "the mask has each dimension");
        let along = self.chunk.last().map_or(0, |(_, stride)| *stride);
        mask.for_each_row(|MaskedRow { position, flags, count, place }| {
            assert!(place < length && count <= length - place, "a point leaves memory");
            let mut at = 0;
            let last = self.chunk.len().saturating_sub(1);
            let dims = position.iter().zip(&self.points.origin).zip(&self.chunk);
            for (k, ((&position, &origin), &(length, stride))) in dims.enumerate() {
                let position = position.wrapping_sub(origin);
                let reach = if k == last { flags.len() } else { 1 };
                assert!(position < length && reach <= length - position, "a point leaves the chunk");
                at += position.cast_signed() * stride;
            }
            let at = source.offsets(at, place.cast_signed() * stride);
            visit(at, Inner::Masked(Flags { flags, source, chunk: along, memory: stride }))
        });
    }

    /// Builds the table of a block of the points. Panics if a point is outside the chunk or memory.
    fn offsets(&self, source: Source, block: Range<usize>, table: &mut Vec<Offsets>) {
        let PointRange { points, origin, .. } = self.points;
        let (length, stride) = self.memory;
        assert_eq!(points.coordinates().len(), self.chunk.len(), "one list for each dimension");
        table.clear();
        match points.places() {
            Some(places) => {
                let mut inside = true;
                table.extend(places[block.clone()].iter().map(|&place| {
                    inside &= place < length;
                    source.offsets(0, place.cast_signed().wrapping_mul(stride))
                }));
                assert!(inside, "a point leaves memory");
            }
            None => {
                assert!(block.end <= length, "a point leaves memory");
                table.extend(block.clone().map(|place| source.offsets(0, place.cast_signed() * stride)));
            }
        }
        for ((list, &origin), &dim) in points.coordinates().iter().zip(origin).zip(&self.chunk) {
            let list = &list[block.clone()];
            let inside = match source {
                Source::Chunk => add(table, list, origin, dim, |offsets| &mut offsets.source),
                Source::Memory => add(table, list, origin, dim, |offsets| &mut offsets.target),
            };
            assert!(inside, "a point leaves the chunk");
        }
    }
}

/// Adds the distance of each position from the origin, along one dimension, to the source or target offsets. Returns true if all
/// positions are inside the view.
#[inline(always)]
fn add(
    table: &mut [Offsets],
    list: &[usize],
    origin: usize,
    (length, stride): (usize, isize),
    side: impl Fn(&mut Offsets) -> &mut isize,
) -> bool {
    let mut inside = true;
    for (offsets, &position) in table.iter_mut().zip(list) {
        let position = position.wrapping_sub(origin);
        inside &= position < length;
        let side = side(offsets);
        *side = side.wrapping_add(position.cast_signed().wrapping_mul(stride));
    }
    inside
}

impl Table {
    /// Combines points that are consecutive in the source and in the target, `unit` bytes apart, if most points can be
    /// combined.
    fn find_stretches(&mut self, unit: usize) {
        self.stretches.clear();
        let step = unit.cast_signed();
        // Without a branch, because the branch predictor cannot predict which points are consecutive.
        let is_break = |(before, after): (&Offsets, &Offsets)| {
            let source = after.source.wrapping_sub(before.source) != step;
            usize::from(source | (after.target.wrapping_sub(before.target) != step))
        };
        // Points that form many stretches usually do so from the beginning.
        let (most, mut stretches) = (self.offsets.len() / LONG, 1);
        let after = self.offsets.get(1..).unwrap_or_default().chunks(EXAMINED);
        for (before, after) in self.offsets.chunks(EXAMINED).zip(after) {
            stretches += before.iter().zip(after).map(is_break).sum::<usize>();
            if stretches > most {
                return;
            }
        }
        if stretches > most {
            return;
        }
        let step = Offsets { source: step, target: step };
        let mut next = None;
        for &offsets in &self.offsets {
            match self.stretches.last_mut() {
                Some((_, bytes)) if next == Some(offsets) => *bytes += unit,
                _ => self.stretches.push((offsets, unit)),
            }
            next = Some(offsets.plus(step));
        }
    }

    fn inner(&self) -> Inner<'_> {
        if self.stretches.is_empty() {
            Inner::Listed(&self.offsets)
        } else {
            Inner::Stretches(&self.stretches)
        }
    }
}

impl Inner<'_> {
    /// Calls `visit` with the offsets and the number of bytes of each unit, or of several consecutive units, until `visit`
    /// returns false.
    #[inline(always)]
    fn for_each(self, unit: usize, mut visit: impl FnMut(Offsets, usize) -> bool) -> bool {
        match self {
            Inner::Listed(table) => table.iter().all(|&offsets| visit(offsets, unit)),
            Inner::Stretches(stretches) => stretches.iter().all(|&(offsets, bytes)| visit(offsets, bytes)),
            Inner::Masked(flags) => flags.offsets().all(|offsets| visit(offsets, unit)),
            Inner::Even(inner) => (0..inner.count.cast_signed())
                .all(|i| visit(Offsets { source: i * inner.source, target: i * inner.target }, unit)),
        }
    }
}

impl Flags<'_> {
    /// Returns the offsets of each element where the mask is true.
    fn offsets(&self) -> impl Iterator<Item = Offsets> {
        let set = (0_isize..).zip(self.flags).filter(|(_, set)| **set);
        set.zip(0..).map(|((i, _), n)| self.source.offsets(i * self.chunk, n * self.memory))
    }
}

/// Calls `$call` with `$T` as plain data of `$size` bytes, or `$other` if no such type exists.
macro_rules! by_size {
    ($size:expr, $T:ident => $call:expr, $other:expr, $($n:literal: $type:ty),*) => {
        match $size {
            $($n => { type $T = $type; $call })*
            _ => $other,
        }
    };
    ($size:expr, $T:ident => $call:expr, $other:expr) => {
        by_size!($size, $T => $call, $other, 1: u8, 2: u16, 3: [u8; 3], 4: u32, 6: [u8; 6], 8: u64,
            12: [u32; 3], 16: u128, 24: [u64; 3], 32: [u64; 4])
    };
}

/// Copies the elements of a walk.
///
/// # Safety
/// The pointers must be valid for the two views that the walk was created for, and the views must not overlap.
unsafe fn copy(walk: &Walk<'_>, source: *const u8, target: *mut u8) {
    let unit = walk.unit;
    walk.run(|at, inner| {
        // SAFETY: the caller's guarantee; a walk only visits positions that it has validated for both views.
        unsafe {
            let (source, target) = (source.offset(at.source), target.offset(at.target));
            by_size!(unit, T => copy_units::<T>(inner, source, target), copy_bytes(inner, unit, source, target));
        }
        true
    });
}

/// # Safety
/// As for [`copy`], for the offsets of the inner loop.
unsafe fn copy_bytes(inner: Inner<'_>, unit: usize, source: *const u8, target: *mut u8) {
    inner.for_each(unit, |at, bytes| {
        // SAFETY: the caller's guarantee.
        unsafe {
            std::ptr::copy_nonoverlapping(source.offset(at.source), target.offset(at.target), bytes);
        }
        true
    });
}

/// # Safety
/// As for [`copy_bytes`], with units of the size of `T`.
unsafe fn copy_units<T: Copy>(inner: Inner<'_>, source: *const u8, target: *mut u8) {
    let unit = size_of::<T>();
    match inner {
        // SAFETY: the caller's guarantee.
        Inner::Stretches(_) => unsafe { copy_bytes(inner, unit, source, target) },
        // SAFETY: the caller's guarantee.
        Inner::Masked(flags) => unsafe { copy_masked::<T>(flags, source, target) },
        _ => {
            inner.for_each(unit, |at, _| {
                // SAFETY: the caller's guarantee; all accesses are unaligned.
                unsafe {
                    let value = source.offset(at.source).cast::<T>().read_unaligned();
                    target.offset(at.target).cast::<T>().write_unaligned(value);
                }
                true
            });
        }
    }
}

/// Copies without a branch for each element, because the branch predictor cannot predict where a mask is true.
///
/// # Safety
/// As for [`copy_units`]. All elements of the row in the chunk must be readable, and also writable if the chunk is the target.
unsafe fn copy_masked<T: Copy>(row: Flags<'_>, mut source: *const u8, mut target: *mut u8) {
    let Flags { chunk, memory, .. } = row;
    for flags in row.flags.chunks(EXAMINED) {
        let count = masked::count(flags);
        let (length, step) = (flags.len().cast_signed() * chunk, count.cast_signed() * memory);
        let Offsets { source: from, target: to } = row.source.offsets(length, step);
        if count > 0 {
            // SAFETY: the caller's guarantee, for a part of the row in which the mask is true `count` times.
            unsafe {
                match row.source {
                    Source::Chunk => compress::<T>(flags, (source, chunk), (target, memory)),
                    Source::Memory => expand::<T>(flags, count, (source, memory), (target, chunk)),
                }
            }
        }
        (source, target) = (source.wrapping_offset(from), target.wrapping_offset(to));
    }
}

/// Compacts the elements for which the flags are true.
///
/// # Safety
/// The source must be readable for one element per flag, spaced by its distance. The target must be writable for one element per
/// true flag.
unsafe fn compress<T: Copy>(flags: &[bool], source: (*const u8, isize), target: (*mut u8, isize)) {
    let mut found = [const { MaybeUninit::<T>::uninit() }; EXAMINED];
    let mut count = 0;
    for (i, &set) in (0_isize..).zip(&flags[..flags.len().min(EXAMINED)]) {
        // SAFETY: the caller's guarantee; the number of elements found is at most the number examined.
        unsafe {
            let value = source.0.offset(i * source.1).cast::<T>().read_unaligned();
            found.get_unchecked_mut(count).write(value);
        }
        count += usize::from(set);
    }
    if target.1 == size_of::<T>().cast_signed() {
        // SAFETY: the caller's guarantee; the first `count` elements were written above.
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr().cast(), target.0, count * size_of::<T>()) };
        return;
    }
    for (n, value) in (0_isize..).zip(&found[..count]) {
        // SAFETY: as above.
        unsafe { target.0.offset(n * target.1).cast::<T>().write_unaligned(value.assume_init()) };
    }
}

/// Writes elements where the flags are true, and leaves the others unchanged.
///
/// # Safety
/// `count` must be the number of true flags, and at least one. The source must be readable for `count` elements, spaced by its
/// distance. The target must be readable and writable for one element per flag.
unsafe fn expand<T: Copy>(
    flags: &[bool],
    count: usize,
    source: (*const u8, isize),
    target: (*mut u8, isize),
) {
    let (mut next, last) = (0, count.cast_signed() - 1);
    for (i, &set) in (0_isize..).zip(flags) {
        // SAFETY: the caller's guarantee.
        unsafe {
            let value = source.0.offset(last.min(next) * source.1).cast::<T>().read_unaligned();
            let place = target.0.offset(i * target.1).cast::<T>();
            place.write_unaligned(if set { value } else { place.read_unaligned() });
        }
        next += isize::from(set);
    }
}

/// Returns true if all elements of a walk are equal.
///
/// # Safety
/// The pointers must be valid for reading the two views that the walk was created for.
unsafe fn equal(walk: &Walk<'_>, source: *const u8, target: *const u8) -> bool {
    let (unit, mut equal) = (walk.unit, true);
    walk.run(|at, inner| {
        // SAFETY: the caller's guarantee; a walk only visits positions that it has validated for both views.
        unsafe {
            let (source, target) = (source.offset(at.source), target.offset(at.target));
            equal = match inner {
                Inner::Stretches(_) => equal_bytes(inner, unit, source, target),
                _ => by_size!(unit, T => equal_units::<T>(inner, source, target), equal_bytes(inner, unit, source, target)),
            };
        }
        equal
    });
    equal
}

/// # Safety
/// As for [`equal`], for the offsets of the inner loop.
unsafe fn equal_bytes(inner: Inner<'_>, unit: usize, source: *const u8, target: *const u8) -> bool {
    inner.for_each(unit, |at, bytes| {
        // SAFETY: the caller's guarantee.
        unsafe {
            slice_or_empty(source.offset(at.source), bytes) == slice_or_empty(target.offset(at.target), bytes)
        }
    })
}

/// # Safety
/// As for [`equal_bytes`], with units of the size of `T`.
unsafe fn equal_units<T: Copy + PartialEq>(inner: Inner<'_>, source: *const u8, target: *const u8) -> bool {
    inner.for_each(size_of::<T>(), |at, _| {
        // SAFETY: the caller's guarantee; all accesses are unaligned.
        unsafe {
            source.offset(at.source).cast::<T>().read_unaligned()
                == target.offset(at.target).cast::<T>().read_unaligned()
        }
    })
}

/// Returns the bytes of the element that a reference refers to; without a buffer, returns the reference itself.
fn element_of<'a>(reference: &'a [u8], vlen: Option<&'a VlenBuffer>) -> &'a [u8] {
    vlen.map_or(reference, |vlen| vlen.element(reference))
}

/// Copies the bytes of variable-length elements from one buffer to another, and returns the new references, in the order of the
/// walk. An element that is repeated consecutively, such as a broadcast value, is copied once.
///
/// # Safety
/// The pointer must be valid for reading the view that is the walk's source.
unsafe fn new_references(walk: &Walk<'_>, source: *const u8, from: &VlenBuffer, to: &VlenBuffer) -> Vec<u8> {
    let (mut bytes, mut lengths, mut repeats) = (Vec::new(), Vec::new(), Vec::<usize>::new());
    let mut last: &[u8] = &[];
    walk.run(|at, inner| {
        inner.for_each(walk.unit, |offsets, length| {
            // SAFETY: the caller's guarantee; a walk only visits positions that it has validated for the view.
            let references = unsafe { slice_or_empty(source.offset(at.source + offsets.source), length) };
            for reference in references.chunks_exact(VlenRef::SIZE) {
                if let (true, Some(count)) = (reference == last, repeats.last_mut()) {
                    *count += 1;
                    continue;
                }
                let element = from.element(reference);
                bytes.extend_from_slice(element);
                lengths.push(element.len());
                repeats.push(1);
                last = reference;
            }
            true
        })
    });
    let mut once = Vec::with_capacity(lengths.len() * VlenRef::SIZE);
    to.push(bytes, lengths, &mut once);
    let references = once.chunks_exact(VlenRef::SIZE).zip(repeats);
    let mut all = Vec::new();
    references.for_each(|(reference, count)| (0..count).for_each(|_| all.extend_from_slice(reference)));
    all
}

/// A set whose axes are all spans: the spans in the chunk and in memory, and the dimension of the chunk for each axis.
struct Spans {
    chunk: Dims<Span>,
    memory: Dims<Span>,
    order: Dims<usize>,
}

impl Spans {
    fn of(set: &ElementSet) -> Option<Self> {
        if !set.axes.iter().all(|axis| matches!(axis, ElementAxis::Span { .. })) {
            return None;
        }
        let ndim = set.axes.len();
        let mut spans =
            Self { chunk: SmallVec::from_elem(Span::all(0), ndim), memory: Dims::new(), order: Dims::new() };
        for axis in &set.axes {
            let ElementAxis::Span { dim, span, place } = *axis else { return None };
            assert!(!spans.order.contains(&dim), "each dimension has one axis");
            spans.chunk[dim] = span;
            spans.memory.push(Span { start: place, step: 1, count: span.count });
            spans.order.push(dim);
        }
        Some(spans)
    }
}

/// Returns the positions of an axis in memory, if they are evidently consecutive.
fn consecutive_places(axis: &ElementAxis) -> Option<Span> {
    match axis {
        ElementAxis::Span { span, place, .. } => Some(Span { start: *place, step: 1, count: span.count }),
        ElementAxis::Points(points) if points.points.places().is_none() => {
            Some(Span { start: points.range.start, step: 1, count: points.len() })
        }
        ElementAxis::Points(_) => None,
    }
}

impl View<'_> {
    /// Returns true if the elements of the set in this chunk equal their values in `values`. An element whose position is listed
    /// more than once must equal all of its values.
    ///
    /// Panics if the set is outside one of the two views.
    #[doc(hidden)]
    pub fn set_equals(&self, set: &ElementSet, values: &View<'_>) -> bool {
        if set.is_empty() {
            return true;
        }
        let walk = Walk::new(Source::Chunk, &self.layout, &values.layout, set);
        if self.vlen.is_none() && values.vlen.is_none() {
            // SAFETY: both views may be read, and the walk was created for them.
            return unsafe { equal(&walk, self.pointer, values.pointer) };
        }
        let mut equal = true;
        walk.run(|at, inner| {
            equal = inner.for_each(walk.unit, |offsets, bytes| {
                let at = at.plus(offsets);
                // SAFETY: both views may be read, and the walk only visits positions inside them.
                let (own, other) = unsafe {
                    let own = slice_or_empty(self.pointer.offset(at.source), bytes);
                    (own, slice_or_empty(values.pointer.offset(at.target), bytes))
                };
                let mut pairs = own.chunks_exact(VlenRef::SIZE).zip(other.chunks_exact(VlenRef::SIZE));
                pairs.all(|(own, other)| element_of(own, self.vlen) == element_of(other, values.vlen))
            });
            equal
        });
        equal
    }
}

impl ViewMut<'_> {
    /// Copies the elements of the set from a chunk to their positions in this memory, which has one axis for each axis of the
    /// set. The bytes of variable-length elements are copied to this view's buffer.
    ///
    /// Panics if the set is outside one of the two views.
    #[doc(hidden)]
    pub fn gather(&mut self, chunk: &View<'_>, set: &ElementSet) {
        if set.is_empty() {
            return;
        }
        if let Some(spans) = Spans::of(set) {
            let chunk = chunk.region(&spans.chunk).permuted(&spans.order);
            return self.reborrow().into_region(&spans.memory).copy_from(&chunk, 1);
        }
        let walk = Walk::new(Source::Chunk, &chunk.layout, &self.layout, set);
        self.copy_walk(&walk, chunk);
    }

    /// Copies the elements of the set to this chunk from their positions in `values`, which has one axis for each axis of the
    /// set. If a position is listed more than once, the last value is kept.
    ///
    /// Panics if the set is outside one of the two views.
    #[doc(hidden)]
    pub fn scatter(&mut self, set: &ElementSet, values: &View<'_>) {
        if set.is_empty() {
            return;
        }
        if let Some(spans) = Spans::of(set) {
            let chunk = self.reborrow().into_region(&spans.chunk).permuted(&spans.order);
            return { chunk }.copy_from(&values.region(&spans.memory), 1);
        }
        let walk = Walk::new(Source::Memory, &self.layout, &values.layout, set);
        self.copy_walk(&walk, values);
    }

    /// Sets all positions of the set in this memory to these bytes; the chunk is not used.
    ///
    /// Panics if the set is outside the memory.
    #[doc(hidden)]
    pub fn fill_set(&mut self, set: &ElementSet, element: &[u8]) {
        if set.is_empty() {
            return;
        }
        if let Some(places) = set.axes.iter().map(consecutive_places).collect::<Option<Dims<Span>>>() {
            return self.reborrow().into_region(&places).fill(element);
        }
        let mut reference = Vec::new();
        let element = match self.vlen {
            Some(vlen) => {
                vlen.push(element.to_vec(), [element.len()], &mut reference);
                reference.as_slice()
            }
            None => element,
        };
        // A single element, broadcast to a chunk of any size.
        let ndim = set.axes.iter().map(|axis| axis.dims().len()).sum();
        let shape: Dims<usize> = SmallVec::from_elem(usize::MAX, ndim);
        let chunk = View::broadcast(element, &shape);
        let walk = Walk::new(Source::Chunk, &chunk.layout, &self.layout, set);
        self.copy_walk(&walk, &chunk);
    }

    /// Copies from `source`, the source of the walk, to this view, its target.
    fn copy_walk(&mut self, walk: &Walk<'_>, source: &View<'_>) {
        let buffers = self.vlen.zip(source.vlen).filter(|(own, other)| !std::ptr::eq(*own, *other));
        let Some((own, other)) = buffers else {
            // SAFETY: the walk was created for these views; this view is exclusive, so they do not overlap.
            return unsafe { copy(walk, source.pointer, self.pointer) };
        };
        // SAFETY: the walk was created for these views.
        let references = unsafe { new_references(walk, source.pointer, other, own) };
        let mut rest = references.as_slice();
        walk.run(|at, inner| {
            inner.for_each(walk.unit, |offsets, bytes| {
                let (next, others) = rest.split_at(bytes);
                rest = others;
                // SAFETY: the walk only visits positions inside this view.
                unsafe {
                    let target = self.pointer.offset(at.target + offsets.target);
                    std::ptr::copy_nonoverlapping(next.as_ptr(), target, bytes);
                }
                true
            })
        });
    }
}
