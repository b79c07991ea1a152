//! Dividing a view that does not fit into memory into parts.

use zarrox_core::internals::selection::{Parts, ResolvedSelection};
use zarrox_core::{ChunkGrid, Order, Result};

use super::view::ArrayView;

impl ArrayView<'_> {
    /// Returns boxes of whole chunks that together cover the selection. A box has at most `most` elements, but at least one
    /// chunk; a shard with more elements is divided along its inner chunks. When a selection is read or written box by box, each
    /// chunk is decoded or encoded only once.
    ///
    /// The boxes extend along the last axes first, or along the first axes in column-major order.
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
    pub fn parts(&self, most: u64, order: Order) -> Result<Parts> {
        let item = self.item();
        self.divided(most, |selection, grid| Parts::of_chunks(selection, grid, most, item, order))
    }

    /// Returns boxes like [`ArrayView::parts`], but such that all elements of the selection are visited in this order, both
    /// within a box and from one box to the next. If a whole row of chunks has more than `most` elements, chunks are read
    /// [several times](Parts::times).
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    #[doc(hidden)]
    pub fn parts_in_order(&self, most: u64, order: Order) -> Result<Parts> {
        let item = self.item();
        self.divided(most, |selection, grid| Parts::in_order(selection, grid, most, item, order))
    }

    /// Returns the size of an element in bytes, at least 1.
    fn item(&self) -> u64 {
        self.data_type().size().max(1) as u64
    }

    /// Divides the selection along stored objects, or along inner chunks if the objects are too large.
    fn divided(&self, most: u64, divide: impl Fn(&ResolvedSelection, &ChunkGrid) -> Parts) -> Result<Parts> {
        let (resolved, array) = (self.unconfirmed()?, self.array);
        let whole = divide(resolved, array.chunk_grid());
        if array.shard_shape().is_none() || (whole.times() == 1 && whole.chunk() <= most) {
            return Ok(whole);
        }
        Ok(divide(resolved, &ChunkGrid::Regular { chunk_shape: array.unit_shape() }))
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

    /// Counts, for each chunk, the parts that contain elements of it.
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

    /// Returns an array in which each element is the linear index of the chunk of `other` that contains the same position.
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
