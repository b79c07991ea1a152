//! Which elements of a leaf are meant, and where each is in the result: as segments of the leaf's bytes.

use std::ops::Range;
use std::sync::Arc;

use crate::failure::Failure;

/// Between segments that are no further apart than this many bytes, reading on costs less than another call.
const GAP: usize = 8 << 10;

/// Elements of a leaf.
pub(super) enum Part {
    /// All combinations of positions along the axes.
    Product(Product),
    /// Single elements: where each is in the leaf and in the result, in bytes.
    Points(Points),
    /// Those where a mask is true.
    Masked(Masked),
}

/// Positions along an axis inside of a leaf, and their places in the result.
#[derive(Clone)]
pub(super) enum Positions {
    Even { start: usize, step: usize, count: usize, place: usize },
    Listed(Arc<[(usize, usize)]>),
}

/// Elements of a leaf that follow each other, or nearly so.
pub(super) struct Segment {
    /// Where it begins in the leaf, in bytes.
    pub(super) source: usize,
    /// Its length in bytes.
    pub(super) length: usize,
    /// Where it begins in the result, in bytes.
    target: usize,
    /// Up to where the following segments are near enough to be read with it.
    pub(super) ahead: usize,
    /// Which points, or elements of the mask.
    points: Range<usize>,
}

/// An axis of a leaf, the distances in bytes.
enum Axis {
    Even { count: usize, source: usize, target: usize },
    Listed { list: Arc<[(usize, usize)]>, source: usize, target: usize },
}

pub(super) struct Product {
    /// Where the first element is.
    source: usize,
    target: usize,
    outer: Vec<Axis>,
    inner: Axis,
    /// An axis along which the result's elements follow each other, where those of the inner one do not: both are gone through
    /// together, in tiles.
    across: Option<(usize, usize)>,
    /// The number of bytes that follow each other in the leaf and in the result, where that is more than an element.
    run: usize,
    /// The first of the outer axes from which on everything is near to each other, and the bytes that it extends over.
    dense: usize,
    extent: usize,
    width: usize,
}

pub(super) struct Points {
    pub(super) list: Arc<Vec<(usize, usize)>>,
    pub(super) range: Range<usize>,
    pub(super) width: usize,
}

/// A mask, and how many of its elements are true before each row of each leaf.
pub(super) struct Mask {
    pub(super) flags: Arc<Vec<bool>>,
    pub(super) before: Vec<usize>,
    pub(super) shape: Vec<usize>,
    pub(super) leaf: Vec<usize>,
    pub(super) count: usize,
}

pub(super) struct Masked {
    pub(super) mask: Arc<Mask>,
    /// The leaf's place in the array.
    pub(super) region: Vec<Range<usize>>,
    pub(super) width: usize,
}

/// A segment's bytes on one side, and the result or the values on the other.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// From the segment to the result.
    Out(*const u8, *mut u8),
    /// From the values to the segment.
    In(*mut u8, *const u8),
}

impl Axis {
    fn new(positions: &Positions, source: usize, target: usize) -> Self {
        match positions {
            Positions::Even { step, count, .. } => {
                Self::Even { count: *count, source: source * step, target }
            }
            Positions::Listed(list) => Self::Listed { list: list.clone(), source, target },
        }
    }

    /// Where the first position is, and how far it is to the last; and the longest step between.
    fn extent(&self) -> (usize, usize, usize) {
        match self {
            Self::Even { count, source, .. } => (0, (count - 1) * source, *source),
            Self::Listed { list, source, .. } => {
                let first = list[0].0;
                let longest = list.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or(0);
                (first * source, (list[list.len() - 1].0 - first) * source, longest * source)
            }
        }
    }
}

impl Product {
    /// Positions along each axis with the axis's distances in the leaf and in the result, in bytes; the slowest of the leaf
    /// first.
    pub(super) fn new(axes: &[(&Positions, usize, usize)], width: usize) -> Self {
        let (mut source, mut target) = (0, 0);
        for (positions, from, to) in axes {
            if let Positions::Even { start, place, .. } = positions {
                source += start * from;
                target += place * to;
            }
        }
        let single = |positions: &Positions| matches!(positions, Positions::Even { count: 1, .. });
        let axes = axes.iter().filter(|(positions, ..)| !single(positions));
        let mut outer: Vec<Axis> =
            axes.map(|(positions, from, to)| Axis::new(positions, *from, *to)).collect();
        let mut run = width;
        while let Some(Axis::Even { count, source, target }) = outer.last()
            && (*source, *target) == (run, run)
        {
            run *= count;
            outer.pop();
        }
        let one = Axis::Even { count: 1, source: 0, target: 0 };
        let inner = if run > width { one } else { outer.pop().unwrap_or(one) };
        let across =
            outer.iter().position(|axis| matches!(axis, Axis::Even { target, .. } if *target == width));
        let across = across.filter(|_| matches!(inner, Axis::Even { count, .. } if count > 1));
        let across = across.and_then(|axis| match outer.remove(axis) {
            Axis::Even { count, source, .. } => Some((count, source)),
            Axis::Listed { .. } => None,
        });
        let dense = outer.len();
        let mut product = Self { source, target, dense, outer, inner, across, run, extent: 0, width };
        product.find_dense();
        product
    }

    /// Returns true if the bytes of each segment follow each other in the result, too.
    fn is_run(&self) -> bool {
        matches!(self.inner, Axis::Even { count: 1, .. })
    }

    /// The length that the axes extend over that are gone through together.
    fn inner_length(&self) -> usize {
        self.inner.extent().1 + self.across.map_or(0, |(count, source)| (count - 1) * source)
    }

    fn find_dense(&mut self) {
        self.extent = self.inner_length() + self.run;
        while let Some(axis) = self.dense.checked_sub(1).map(|last| &self.outer[last]) {
            let (_, length, longest) = axis.extent();
            if longest > self.extent + GAP {
                break;
            }
            self.extent += length;
            self.dense -= 1;
        }
    }

    fn visit<F: FnMut(&Segment) -> Result<(), Failure>>(
        &self,
        level: usize,
        (source, target): (usize, usize),
        mut ahead: usize,
        visitor: &mut F,
    ) -> Result<(), Failure> {
        if level == self.dense {
            let rest = self.outer[level..].iter().chain([&self.inner]);
            ahead = source + rest.map(|axis| axis.extent().0).sum::<usize>() + self.extent;
        }
        let inner = (self.inner.extent().0, self.inner_length() + self.run);
        let segment = |source, target, visitor: &mut F| {
            visitor(&Segment { source: source + inner.0, length: inner.1, target, ahead, points: 0..0 })
        };
        match self.outer.get(level) {
            None => segment(source, target, visitor),
            // A call for each segment would cost more than a short segment.
            Some(Axis::Even { count, source: from, target: to }) if level + 1 == self.outer.len() => {
                let dense = level < self.dense;
                (0..*count).try_for_each(|index| {
                    let (source, target) = (source + index * from, target + index * to);
                    if dense {
                        self.visit(level + 1, (source, target), 0, visitor)
                    } else {
                        segment(source, target, visitor)
                    }
                })
            }
            Some(Axis::Even { count, source: from, target: to }) => (0..*count).try_for_each(|index| {
                self.visit(level + 1, (source + index * from, target + index * to), ahead, visitor)
            }),
            Some(Axis::Listed { list, source: from, target: to }) => {
                list.iter().try_for_each(|(at, place)| {
                    self.visit(level + 1, (source + at * from, target + place * to), ahead, visitor)
                })
            }
        }
    }
}

impl Points {
    /// Points that are near to each other, together.
    fn visit(&self, visitor: &mut impl FnMut(&Segment) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut start = self.range.start;
        while start < self.range.end {
            let first = self.list[start].0;
            let (mut end, mut last) = (start + 1, first);
            while end < self.range.end && (last..=last + GAP).contains(&self.list[end].0) {
                last = self.list[end].0;
                end += 1;
            }
            let length = last + self.width - first;
            visitor(&Segment { source: first, length, target: 0, ahead: last, points: start..end })?;
            start = end;
        }
        Ok(())
    }
}

impl Mask {
    pub(super) fn new(flags: Arc<Vec<bool>>, shape: &[usize], leaf: &[usize]) -> Self {
        let (row, part) = (shape.last().copied().unwrap_or(1), leaf.last().copied().unwrap_or(1));
        let mut count = 0;
        let mut before = Vec::with_capacity(flags.len() / part.max(1) + 1);
        for row in flags.chunks(row.max(1)) {
            for part in row.chunks(part) {
                before.push(count);
                count += part.iter().map(|&flag| usize::from(flag)).sum::<usize>();
            }
        }
        Self { flags, before, shape: shape.to_vec(), leaf: leaf.to_vec(), count }
    }
}

impl Masked {
    fn visit(&self, visitor: &mut impl FnMut(&Segment) -> Result<(), Failure>) -> Result<(), Failure> {
        let Mask { shape, leaf, before, .. } = &*self.mask;
        let last = shape.len() - 1;
        let columns = shape[last].div_ceil(leaf[last]);
        let rows: usize = self.region[..last].iter().map(ExactSizeIterator::len).product();
        let size = leaf.iter().product::<usize>() * self.width;
        for mut row in 0..rows {
            let (mut source, mut flat, mut steps) = (0, 0, (leaf[last], 1));
            for axis in (0..last).rev() {
                let range = &self.region[axis];
                let at = row % range.len();
                row /= range.len();
                source += at * steps.0;
                flat += (range.start + at) * steps.1;
                steps = (steps.0 * leaf[axis], steps.1 * shape[axis]);
            }
            let columns_of = &self.region[last];
            let target = before[flat * columns + columns_of.start / leaf[last]] * self.width;
            let start = flat * shape[last] + columns_of.start;
            let points = start..start + columns_of.len();
            let (source, length) = (source * self.width, columns_of.len() * self.width);
            visitor(&Segment { source, length, target, ahead: size, points })?;
        }
        Ok(())
    }
}

impl Part {
    pub(super) fn for_each(
        &self,
        mut visitor: impl FnMut(&Segment) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::Product(product) => product.visit(0, (product.source, product.target), 0, &mut visitor),
            Self::Points(points) => points.visit(&mut visitor),
            Self::Masked(masked) => masked.visit(&mut visitor),
        }
    }

    /// Where the whole of a leaf of this size is in the result, if it is there as it is in the leaf.
    pub(super) fn as_whole(&self, size: usize) -> Option<usize> {
        self.run().filter(|_| self.reaches() == (0..size))
    }

    /// Where a segment begins in the result, if all of its bytes follow each other there as in the leaf.
    pub(super) fn place_of(&self, segment: &Segment) -> Option<usize> {
        match self {
            Self::Product(product) if product.is_run() => Some(segment.target),
            _ => None,
        }
    }

    fn run(&self) -> Option<usize> {
        match self {
            Self::Product(product) if product.outer.is_empty() && product.is_run() => Some(product.target),
            _ => None,
        }
    }

    /// From the first byte that is needed of the leaf to the last.
    fn reaches(&self) -> Range<usize> {
        match self {
            Self::Product(product) => {
                let axes = product.outer.iter().chain([&product.inner]).map(Axis::extent);
                let length = product.inner_length() - product.inner.extent().1;
                let (first, length) =
                    axes.fold((0, length), |sum, (first, length, _)| (sum.0 + first, sum.1 + length));
                product.source + first..product.source + first + length + product.run
            }
            Self::Points(_) | Self::Masked(_) => 0..usize::MAX,
        }
    }

    /// The number of bytes between the first and the last that are needed, without those between distant segments.
    pub(super) fn spread(&self) -> usize {
        match self {
            Self::Product(product) => {
                let count = |axis: &Axis| match axis {
                    Axis::Even { count, .. } => *count,
                    Axis::Listed { list, .. } => list.len(),
                };
                product.outer[..product.dense].iter().map(count).product::<usize>() * product.extent
            }
            Self::Points(points) => points.range.len() * GAP,
            Self::Masked(_) => usize::MAX,
        }
    }

    /// Copies the elements of a segment.
    ///
    /// # Safety
    /// The segment's own pointer is good for its length; the other one for all places of the result that it has, which no
    /// other thread uses.
    #[inline(always)]
    pub(super) unsafe fn copy(&self, segment: &Segment, swapped: bool, way: Way) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.place_of(segment).filter(|_| !swapped) {
                Some(target) => way.placed(target).run(segment.length),
                None => self.copy_elements(segment, swapped, way),
            }
        }
    }

    /// # Safety
    /// Those of [`Part::copy`].
    #[inline(never)]
    unsafe fn copy_elements(&self, segment: &Segment, swapped: bool, way: Way) {
        // SAFETY: the caller's promise, for each element.
        unsafe {
            match self {
                Self::Product(product) => {
                    let way = way.placed(segment.target);
                    match &product.inner {
                        Axis::Even { count: 1, .. } => {
                            let width = product.width;
                            let all = (0..segment.length / width).map(|index| (index * width, index * width));
                            way.elements(width, swapped, all);
                        }
                        Axis::Even { count, source, target } if product.across.is_some() => {
                            let (rows, row) = product.across.unwrap_or_default();
                            let all = tiles(*count, rows, 64 / product.width).map(|(at, other)| {
                                (at * source + other * row, at * target + other * product.width)
                            });
                            way.elements(product.width, swapped, all);
                        }
                        Axis::Even { count, source, target } => {
                            let all = (0..*count).map(|index| (index * source, index * target));
                            way.elements(product.width, swapped, all);
                        }
                        Axis::Listed { list, source, target } => {
                            let first = list[0].0;
                            let all = list.iter().map(|(at, place)| ((at - first) * source, place * target));
                            way.elements(product.width, swapped, all);
                        }
                    }
                }
                Self::Points(points) => {
                    let list = &points.list[segment.points.clone()];
                    let all = list.iter().map(|(at, place)| (at - segment.source, *place));
                    way.elements(points.width, swapped, all);
                }
                Self::Masked(masked) => {
                    let flags = &masked.mask.flags[segment.points.clone()];
                    let width = masked.width;
                    let true_ones = flags.iter().enumerate().filter(|(_, flag)| **flag);
                    let all = true_ones.zip(0..).map(|((at, _), place)| (at * width, place * width));
                    way.placed(segment.target).elements(width, swapped, all);
                }
            }
        }
    }
}

/// All pairs of numbers below two others, tile by tile.
fn tiles(first: usize, second: usize, tile: usize) -> impl Iterator<Item = (usize, usize)> {
    let corners = (0..first).step_by(tile).flat_map(move |a| (0..second).step_by(tile).map(move |b| (a, b)));
    corners.flat_map(move |(a, b)| {
        let columns = b..second.min(b + tile);
        (a..first.min(a + tile)).flat_map(move |a| columns.clone().map(move |b| (a, b)))
    })
}

impl Way {
    #[inline(always)]
    unsafe fn placed(self, target: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Out(from, to) => Self::Out(from, to.add(target)),
                Self::In(to, from) => Self::In(to, from.add(target)),
            }
        }
    }

    #[inline(always)]
    unsafe fn run(self, length: usize) {
        let (Self::Out(from, to) | Self::In(to, from)) = self;
        // SAFETY: the caller's promise.
        unsafe {
            match length {
                // Rows of these lengths are frequent, and are copied without a call.
                64 => to.cast::<[u8; 64]>().write_unaligned(from.cast::<[u8; 64]>().read_unaligned()),
                128 => to.cast::<[u8; 128]>().write_unaligned(from.cast::<[u8; 128]>().read_unaligned()),
                _ => std::ptr::copy_nonoverlapping(from, to, length),
            }
        }
    }

    /// Copies elements; of each, its distance in the segment and its distance in the result.
    unsafe fn elements(self, width: usize, swapped: bool, all: impl Iterator<Item = (usize, usize)>) {
        // SAFETY: the caller's promise.
        unsafe {
            match (width, swapped) {
                (1, _) => self.each::<u8>(all, |element| element),
                (2, false) => self.each::<u16>(all, |element| element),
                (4, false) => self.each::<u32>(all, |element| element),
                (8, false) => self.each::<u64>(all, |element| element),
                (2, true) => self.each(all, u16::swap_bytes),
                (4, true) => self.each(all, u32::swap_bytes),
                _ => self.each(all, u64::swap_bytes),
            }
        }
    }

    unsafe fn each<T: Copy>(self, all: impl Iterator<Item = (usize, usize)>, turn: impl Fn(T) -> T) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Out(from, to) => all.for_each(|(at, place)| {
                    to.add(place)
                        .cast::<T>()
                        .write_unaligned(turn(from.add(at).cast::<T>().read_unaligned()));
                }),
                Self::In(to, from) => all.for_each(|(at, place)| {
                    to.add(at)
                        .cast::<T>()
                        .write_unaligned(turn(from.add(place).cast::<T>().read_unaligned()));
                }),
            }
        }
    }
}
