//! Division of a selection that does not fit into memory.

use std::ops::Range;

use zarrox_core::internals::selection::{ResolvedAxis, ResolvedSelection, ResolvedSpan, ResultAxis};
use zarrox_core::{ChunkGrid, Order, Result};

use super::boxes::Boxes;
use super::view::ArrayView;

/// The smallest size that a part should have, in bytes, so that all threads have chunks of it.
const ENOUGH: u64 = 64 << 20;

/// An iterator over boxes that cover a selection; made by [`ArrayView::parts`] and [`ArrayView::parts_in_order`]. Each box is a
/// range of positions along every axis of the view.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The axes of the view; in column-major order, the last one comes first.
    axes: Vec<Axis>,
    order: Order,
    /// The start of the next part; `None` at the end.
    next: Option<Vec<u64>>,
}

/// An axis of a view, and its division.
#[derive(Debug, Clone)]
struct Axis {
    length: u64,
    /// The most positions that lie in one chunk.
    chunk: u64,
    /// The most positions of a part.
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

/// The size of a part, in elements: the limit, and the size up to which a part has more than one chunk.
#[derive(Debug, Clone, Copy)]
struct Room {
    most: u64,
    enough: u64,
}

impl ArrayView<'_> {
    /// Returns boxes of whole chunks that cover the selection, each of at most `most` elements, but at least one chunk. A larger
    /// shard is divided at its inner chunks. When a selection is read or written in such parts, each chunk is decoded or encoded
    /// once.
    ///
    /// The boxes are long along the last axes, or along the first axes in column-major order.
    ///
    /// ```
    /// # use zarrox::{Order, prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
    /// let parts: Vec<_> = array.slice(s![.., 5..]).parts(500, Order::RowMajor)?.collect();
    /// assert_eq!(parts[..2], [[0..10, 0..45], [0..10, 45..95]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    #[doc(hidden)]
    pub fn parts(&self, most: u64, order: Order) -> Result<Parts> {
        let item = self.data_type().size().max(1) as u64;
        self.divided(most, order, |axes, room| {
            let lengths: Vec<u64> = axes.iter().map(|axis| axis.length).collect();
            let chunks: Vec<u64> = axes.iter().map(|axis| axis.chunk).collect();
            let bytes = room.most.min(room.enough).saturating_mul(item);
            Boxes::new(&lengths, &vec![1; lengths.len()], &chunks, item, bytes).lengths().to_vec()
        })
    }

    /// Returns boxes that cover the selection and whose elements are consecutive in this order, within a
    /// box and from box to box; otherwise like [`ArrayView::parts`]. If whole rows of chunks have more than `most` elements,
    /// chunks are read [several times](Parts::times).
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    #[doc(hidden)]
    pub fn parts_in_order(&self, most: u64, order: Order) -> Result<Parts> {
        self.divided(most, order, rows)
    }

    /// Divides the selection into boxes with at most these lengths: boxes of stored objects, or of inner chunks if objects are
    /// too large.
    fn divided(&self, most: u64, order: Order, lengths: impl Fn(&[Axis], Room) -> Vec<u64>) -> Result<Parts> {
        let (resolved, array) = (self.unconfirmed()?, self.array);
        let enough = ENOUGH / self.data_type().size().max(1) as u64;
        let inside = array.shard_shape().map(|_| ChunkGrid::Regular { chunk_shape: array.unit_shape() });
        let divide = |grid: &ChunkGrid| {
            let mut axes = axes(resolved, grid);
            if order == Order::ColumnMajor {
                axes.reverse();
            }
            let next = axes.iter().all(|axis| axis.length > 0).then(|| vec![0; axes.len()]);
            if next.is_some() {
                let lengths = lengths(&axes, Room { most, enough });
                axes.iter_mut().zip(lengths).for_each(|(axis, length)| axis.part = length);
            }
            Parts { axes, order, next }
        };
        let whole = divide(array.chunk_grid());
        Ok(match inside {
            Some(inside) if whole.times() > 1 || whole.chunk() > most => divide(&inside),
            _ => whole,
        })
    }
}

/// The axes of the selection, undivided.
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

/// The lengths of parts with consecutive elements: single positions along the first axes, some positions along the next, all
/// along the others.
/// others in full.
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

/// The most selected elements of one chunk.
fn chunk(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |count: u64, axis| count.saturating_mul(axis.chunk.min(axis.length)))
}

impl Parts {
    /// The largest number of parts that one chunk lies in. The chunk is decoded or encoded so often.
    #[must_use]
    pub fn times(&self) -> u64 {
        let times = |axis: &Axis| axis.chunk.min(axis.length).div_ceil(axis.part.max(1)).max(1);
        self.axes.iter().fold(1, |count: u64, axis| count.saturating_mul(times(axis)))
    }

    /// The number of elements with which parts in order would contain each chunk once.
    #[must_use]
    pub fn whole_rows(&self) -> u64 {
        let first = self.axes.iter().position(|axis| axis.chunk.min(axis.length) > 1).unwrap_or_default();
        let length = |(index, axis): (usize, &Axis)| {
            if index == first { axis.chunk.min(axis.length) } else { axis.length }
        };
        let axes = self.axes.iter().enumerate().skip(first);
        axes.map(length).fold(1, u64::saturating_mul)
    }

    fn chunk(&self) -> u64 {
        chunk(&self.axes)
    }

    /// The start of the next part.
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
    /// The end of the part that begins here: the end of a chunk, if one is in reach.
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
    /// The last position up to this one that is the first of a chunk, or the last of one if positions descend.
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

    /// The number of positions of the span before this position of the array.
    fn first_from(&self, position: u64) -> u64 {
        position.saturating_sub(self.span.start).div_ceil(self.span.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, DataType, OpenOptions, Selection, s};
    use std::sync::Arc;
    use zarrox_stores::MemoryStore;

    fn array(shape: &[u64], chunks: &[u64]) -> Array {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        builder.shape(shape).data_type(DataType::UInt8).chunks(chunks).create().unwrap()
    }

    fn sizes(parts: Parts) -> Vec<u64> {
        parts.map(|part| part.iter().map(|range| range.end - range.start).product()).collect()
    }

    /// In how many of the parts each chunk lies, counted.
    fn counted(array: &Array, selection: &Selection, parts: Parts) -> Vec<usize> {
        let chunks = array.chunk_grid().chunk_count(array.shape()).unwrap();
        let mut times = vec![0; usize::try_from(chunks).unwrap()];
        let numbers = numbered(array);
        for part in parts {
            let ranges: Vec<crate::DimSelection> = part.into_iter().map(Into::into).collect();
            let mut met: Vec<u8> = numbers
                .slice(selection)
                .slice(ranges)
                .read::<ndarray::ArrayD<u8>>()
                .unwrap()
                .into_iter()
                .collect();
            met.sort_unstable();
            met.dedup();
            met.into_iter().for_each(|chunk| times[usize::from(chunk)] += 1);
        }
        times
    }

    /// An array of which every element is the number of the chunk that it has in the other one.
    fn numbered(other: &Array) -> Array {
        let numbers = array(other.shape(), other.shape());
        let grid = other.chunk_grid();
        for (n, chunk) in indices(&grid.grid_shape(other.shape())).into_iter().enumerate() {
            let range = |(dim, &index): (usize, &u64)| {
                let (start, length) = grid.chunk_place(dim, index).unwrap();
                crate::DimSelection::from(start..(start + length).min(other.shape()[dim]))
            };
            let place: Vec<_> = chunk.iter().enumerate().map(range).collect();
            numbers.write(place, u8::try_from(n).unwrap()).unwrap();
        }
        numbers
    }

    fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
        let with = |all: Vec<Vec<u64>>, &length: &u64| {
            all.iter().flat_map(|index| (0..length).map(move |n| [index.as_slice(), &[n]].concat())).collect()
        };
        shape.iter().fold(vec![Vec::new()], with)
    }

    #[test]
    fn every_chunk_lies_in_one_part_that_holds_one_chunk() {
        let regular = array(&[23, 17], &[4, 5]);
        let rectilinear = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let rectilinear = rectilinear.shape([23, 17]).data_type(DataType::UInt8);
        let rectilinear = rectilinear.rectilinear_chunks([[3, 9, 1, 10], [8, 2, 4, 4]]).create().unwrap();
        let selections: [Selection; 5] =
            [s![.., ..], s![3..21, 1..], s![..;-1, 2..;3], s![1..;2, ..;-2], s![..;7, ..;-6]];
        for array in [regular, rectilinear] {
            for selection in &selections {
                let view = array.slice(selection);
                for order in [Order::RowMajor, Order::ColumnMajor] {
                    for most in [0, 20, 90, 200, 1000] {
                        let parts = view.parts(most, order).unwrap();
                        assert_eq!(parts.times(), 1);
                        let covered: u64 = sizes(parts.clone()).iter().sum();
                        assert_eq!(covered, view.shape().unwrap().iter().product::<u64>());
                        let times = counted(&array, selection, parts);
                        assert!(times.iter().all(|&times| times <= 1), "{selection:?} {most}: {times:?}");
                        let parts = view.parts_in_order(most, order).unwrap();
                        let once = parts.times() == 1;
                        let times = counted(&array, selection, parts);
                        assert!(
                            !once || times.iter().all(|&times| times <= 1),
                            "{selection:?} {most}: {times:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn parts_in_order_are_whole_rows_of_chunks_where_these_fit() {
        let array = array(&[10, 1 << 23], &[4, 1 << 20]);
        let whole: Vec<_> =
            array.slice(..).parts_in_order(1 << 30, Order::RowMajor).unwrap().map(|p| p[0].clone()).collect();
        assert_eq!(whole, [0..8, 8..10]);
        let later: Vec<_> = array
            .slice(s![3.., ..])
            .parts_in_order(6 << 23, Order::RowMajor)
            .unwrap()
            .map(|p| p[0].clone())
            .collect();
        assert_eq!(later, [0..5, 5..7]);
    }

    #[test]
    fn parts_in_order_keep_to_memory_by_cutting_rows_and_then_dimensions() {
        let one = array(&[4, 100], &[4, 5]);
        let parts = one.slice(..).parts_in_order(200, Order::RowMajor).unwrap();
        assert_eq!((parts.times(), parts.whole_rows()), (2, 400));
        assert_eq!(sizes(parts), [200, 200]);
        let two = array(&[2, 5], &[1, 1]);
        let blocks: Vec<_> = two.slice(..).parts_in_order(2, Order::RowMajor).unwrap().collect();
        assert_eq!((blocks.len(), &blocks[2]), (6, &vec![0..1, 4..5]));
        let turned: Vec<_> = two.slice(..).parts_in_order(2, Order::ColumnMajor).unwrap().collect();
        assert_eq!((turned.len(), &turned[1]), (5, &vec![0..2, 1..2]));
    }

    #[test]
    fn shards_that_do_not_fit_are_divided_between_their_chunks() {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let builder = builder.shape([8, 8]).data_type(DataType::UInt8).chunks([2, 2]).shards([4, 8]);
        let array = builder.create().unwrap();
        let first = |most| array.slice(..).parts(most, Order::RowMajor).unwrap().next().unwrap();
        assert_eq!((first(32), first(31), first(1)), (vec![0..4, 0..8], vec![0..2, 0..8], vec![0..2, 0..2]));
    }

    #[test]
    fn there_are_views_without_dimensions_and_without_elements() {
        assert_eq!(
            array(&[], &[]).slice(..).parts(1, Order::RowMajor).unwrap().collect::<Vec<_>>(),
            [Vec::new()]
        );
        assert_eq!(array(&[], &[]).slice(..).parts_in_order(1, Order::ColumnMajor).unwrap().count(), 1);
        assert_eq!(array(&[3, 0], &[1, 1]).slice(..).parts(1, Order::RowMajor).unwrap().count(), 0);
        let huge = array(&[1 << 62, 1 << 62], &[1, 1 << 20]);
        assert_eq!(
            huge.slice(..).parts(1 << 21, Order::RowMajor).unwrap().nth(1).unwrap(),
            [0..1, 1 << 21..1 << 22]
        );
        assert_eq!(
            huge.slice(..).parts_in_order(1 << 21, Order::RowMajor).unwrap().nth(1).unwrap(),
            [0..1, 1 << 21..1 << 22]
        );
    }
}
