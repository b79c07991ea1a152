//! Dividing a selection that does not fit into memory.

use std::ops::Range;

use super::boxes::Boxes;
use super::indexing::{ResolvedAxis, ResolvedSelection, ResolvedSpan, ResultAxis};
use crate::grid::ChunkGrid;
use crate::order::Order;

/// The size of a part, in bytes, that provides enough chunks for all threads.
const ENOUGH: u64 = 64 << 20;

/// An iterator over boxes that cover a selection, created by `ArrayView::parts` and `ArrayView::parts_in_order` in the crate
/// `zarrox`. Each box is a range of positions along every axis of the view.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The axes of the view; in column-major order, the last axis comes first.
    axes: Vec<Axis>,
    order: Order,
    /// The start of the next part; `None` at the end.
    next: Option<Vec<u64>>,
}

/// An axis of a view, and its division.
#[derive(Debug, Clone)]
struct Axis {
    length: u64,
    /// The maximum number of positions in one chunk.
    chunk: u64,
    /// The maximum number of positions in a part.
    part: u64,
    /// The starts of chunks; `None` if positions are listed.
    borders: Option<Borders>,
}

/// The starts of chunks along an evenly spaced axis.
#[derive(Debug, Clone)]
struct Borders {
    grid: ChunkGrid,
    span: ResolvedSpan,
}

/// The two limits on the size of a part, in elements: the maximum, and the size up to which a part may have several chunks.
#[derive(Debug, Clone, Copy)]
struct Room {
    most: u64,
    enough: u64,
}

impl Room {
    fn new(most: u64, item: u64) -> Self {
        Self { most, enough: ENOUGH / item.max(1) }
    }
}

/// Returns the axes of the selection, undivided.
fn axes(resolved: &ResolvedSelection, grid: &ChunkGrid) -> Vec<Axis> {
    let axis = |(axis, length): (&ResultAxis, u64)| {
        let span = match *axis {
            ResultAxis::New => None,
            ResultAxis::Of { axis, .. } => match &resolved.axes[axis] {
                ResolvedAxis::Span(span) => Some(*span),
                ResolvedAxis::Points(_) | ResolvedAxis::Mask(_) => None,
            },
        };
        let chunk = span.as_ref().map_or(1, |span| grid.largest_chunk()[span.dim].div_ceil(span.step));
        let borders = span.map(|span| Borders { grid: grid.clone(), span });
        Axis { length, chunk: chunk.max(1), part: length, borders }
    };
    resolved.result.iter().zip(resolved.shape()).map(axis).collect()
}

/// Returns the lengths of parts with consecutive elements: single positions along the first axes, some positions along the next
/// axis, and all positions along the other axes.
fn rows(axes: &[Axis], room: Room) -> Vec<u64> {
    let row = |axis: usize| {
        axes[axis + 1..].iter().fold(1, |count: u64, axis| count.saturating_mul(axis.length)).max(1)
    };
    let Some(last) = axes.len().checked_sub(1) else { return Vec::new() };
    let most = room.most.max(chunk(axes));
    let axis = (0..last).find(|&axis| row(axis) <= most).unwrap_or(last);
    let wanted = (room.enough / row(axis)).max(axes[axis].chunk).min(most / row(axis)).max(1);
    let length = |(index, Axis { length, .. }): (usize, &Axis)| match index.cmp(&axis) {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => wanted.min(*length),
        std::cmp::Ordering::Greater => *length,
    };
    axes.iter().enumerate().map(length).collect()
}

/// Returns the maximum number of selected elements in one chunk.
fn chunk(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |count: u64, axis| count.saturating_mul(axis.chunk.min(axis.length)))
}

impl Parts {
    /// Creates boxes of whole chunks of a grid, each with at most `most` elements of `item` bytes, but with at least one chunk.
    #[doc(hidden)]
    #[must_use]
    pub fn of_chunks(
        selection: &ResolvedSelection,
        grid: &ChunkGrid,
        most: u64,
        item: u64,
        order: Order,
    ) -> Self {
        Self::divided(selection, grid, order, |axes| {
            let lengths: Vec<u64> = axes.iter().map(|axis| axis.length).collect();
            let chunks: Vec<u64> = axes.iter().map(|axis| axis.chunk).collect();
            let Room { most, enough } = Room::new(most, item);
            let bytes = most.min(enough).saturating_mul(item);
            Boxes::new(&lengths, &vec![1; lengths.len()], &chunks, item, bytes).lengths().to_vec()
        })
    }

    /// Creates boxes whose elements are consecutive in this order, both within a box and from one box to the next. Otherwise, the
    /// boxes are like those of [`Parts::of_chunks`].
    #[doc(hidden)]
    #[must_use]
    pub fn in_order(
        selection: &ResolvedSelection,
        grid: &ChunkGrid,
        most: u64,
        item: u64,
        order: Order,
    ) -> Self {
        Self::divided(selection, grid, order, |axes| rows(axes, Room::new(most, item)))
    }

    /// Creates boxes with at most these lengths.
    fn divided(
        selection: &ResolvedSelection,
        grid: &ChunkGrid,
        order: Order,
        lengths: impl Fn(&[Axis]) -> Vec<u64>,
    ) -> Self {
        let mut axes = axes(selection, grid);
        if order == Order::ColumnMajor {
            axes.reverse();
        }
        let next = axes.iter().all(|axis| axis.length > 0).then(|| vec![0; axes.len()]);
        if next.is_some() {
            let lengths = lengths(&axes);
            axes.iter_mut().zip(lengths).for_each(|(axis, length)| axis.part = length);
        }
        Self { axes, order, next }
    }

    /// Returns the maximum number of selected elements in one chunk.
    #[doc(hidden)]
    #[must_use]
    pub fn chunk(&self) -> u64 {
        chunk(&self.axes)
    }

    /// Returns the maximum number of parts that contain elements of one chunk: the number of times that the chunk is decoded or
    /// encoded.
    #[must_use]
    pub fn times(&self) -> u64 {
        let times = |axis: &Axis| axis.chunk.min(axis.length).div_ceil(axis.part.max(1)).max(1);
        self.axes.iter().fold(1, |count: u64, axis| count.saturating_mul(times(axis)))
    }

    /// Returns the number of elements that a part must be able to hold so that, if parts are in order, each chunk lies in only
    /// one part.
    #[must_use]
    pub fn whole_rows(&self) -> u64 {
        let first = self.axes.iter().position(|axis| axis.chunk.min(axis.length) > 1).unwrap_or_default();
        let length = |(index, axis): (usize, &Axis)| {
            if index == first { axis.chunk.min(axis.length) } else { axis.length }
        };
        let axes = self.axes.iter().enumerate().skip(first);
        axes.map(length).fold(1, u64::saturating_mul)
    }

    /// Returns the start of the next part.
    fn following(&self, part: &[Range<u64>]) -> Option<Vec<u64>> {
        let mut begin: Vec<u64> = part.iter().map(|range| range.start).collect();
        for (dim, range) in part.iter().enumerate().rev() {
            if range.end < self.axes[dim].length {
                begin[dim] = range.end;
                return Some(begin);
            }
            begin[dim] = 0;
        }
        None
    }
}

impl Iterator for Parts {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.next.take()?;
        let range = |(axis, begin): (&Axis, u64)| begin..axis.end(begin);
        let mut part: Vec<Range<u64>> = self.axes.iter().zip(begin).map(range).collect();
        self.next = self.following(&part);
        if self.order == Order::ColumnMajor {
            part.reverse();
        }
        Some(part)
    }
}

impl Axis {
    /// Returns the end of the part that begins here: the end of a chunk, if a chunk ends within the limit.
    fn end(&self, begin: u64) -> u64 {
        let end = begin.saturating_add(self.part).min(self.length);
        if end == self.length {
            return end;
        }
        let border = self.borders.as_ref().map(|borders| borders.last_until(end));
        border.filter(|&border| border > begin).unwrap_or(end)
    }
}

impl Borders {
    /// Returns the last position, up to this one, that is the first position of a chunk or, if positions descend, the last
    /// position of a chunk.
    fn last_until(&self, position: u64) -> u64 {
        let Self { grid, span } = self;
        let index = if span.reversed { span.count - position } else { position };
        let Some((start, length)) = grid.chunk_at(span.dim, span.start + index * span.step) else {
            return position;
        };
        let first = self.first_from(start);
        if !span.reversed {
            return first;
        }
        if first == index {
            position
        } else {
            span.count.saturating_sub(self.first_from(start.saturating_add(length)))
        }
    }

    /// Returns the number of positions of the span that precede this position of the array.
    fn first_from(&self, position: u64) -> u64 {
        position.saturating_sub(self.span.start).div_ceil(self.span.step)
    }
}
