//! Iterators over the rows and chunks of an array.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use zarrox_core::internals::scratch::Positions;
use zarrox_core::internals::selection::{ResolvedAxis, ResolvedSelection, ResolvedSpan, ResultAxis};
use zarrox_core::{DimSelection, ErrorKind, FromElements, IntoSelection, Result};

use super::Array;
use super::fields::Fields;
use super::view::ArrayView;
use crate::access::AccessOptions;
use crate::error::argument;
use crate::pool::too_many;

/// Rows of small chunks are read together up to this number of bytes, so that all threads have work.
const TOGETHER: u64 = 1 << 20;

/// An iterator over the rows of an array or a view: its sub-arrays along the first axis; created by [`ArrayView::rows`].
///
/// Rows that are skipped, for example by `skip`, `nth` or `step_by`, are not read unless they share chunks with a row that is
/// read.
pub struct Rows<A: FromElements> {
    /// The array, with half of the memory limit; the other half is for rows in memory.
    array: Array,
    resolved: ResolvedSelection,
    first_axis: FirstAxis,
    /// The maximum number of rows that are read at once.
    most: u64,
    /// The size of a row in bytes, at least 1.
    row_size: u64,
    remaining: Range<u64>,
    /// Rows that were read ahead, at the front and at the back.
    front: Option<Batch<A::Rows>>,
    back: Option<Batch<A::Rows>>,
    fields: Option<Arc<Fields>>,
}

/// An iterator over all chunks or all stored chunks of an array, with their regions; created by [`Array::chunks`] and
/// [`Array::stored_chunks`].
pub struct Chunks<A> {
    array: Array,
    grid: Vec<u64>,
    numbers: Numbers,
    result: PhantomData<fn() -> A>,
}

/// The result of a read: one row, or several rows.
enum Read<A: FromElements> {
    One(A),
    Several(A::Rows),
}

/// Rows that were read together.
struct Batch<R> {
    rows: Range<u64>,
    values: R,
}

/// The positions of the rows along the dimension of the array that the first axis selects from.
enum FirstAxis {
    /// Evenly spaced positions.
    Span(ResolvedSpan),
    /// Positions along this dimension, in ascending order.
    Ascending(usize, Arc<Positions>),
    /// Arbitrary positions: any row can have elements in any chunk.
    Anywhere,
}

/// The row-major linear indices of chunks.
enum Numbers {
    All(Range<u64>),
    Listed(std::vec::IntoIter<u64>),
}

impl ArrayView<'_> {
    /// Iterates over the first axis: each item is a sub-array with one dimension less.
    ///
    /// Rows that share chunks are read together, so that each chunk is decoded only once. As many rows are read together as a
    /// chunk has, or an inner chunk of a shard; fewer if they do not fit into a quarter of the [memory
    /// limit](AccessOptions::memory). The iterator ends after an error.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([6, 2]).data_type(DataType::Int32).chunks([4, 2]).create()?;
    /// array.write(.., arr2(&[[0], [1], [2], [3], [4], [5]]))?;
    /// for row in array.slice(s![2..4]).rows::<ndarray::Array1<i32>>()? {
    ///     println!("{}", row?);
    /// }
    /// let last = array.rows::<Vec<i32>>()?.next_back().unwrap()?;
    /// assert_eq!(last, [5, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When `A` cannot hold the elements, the selection is invalid, or it has no dimensions.
    pub fn rows<A: FromElements>(&self) -> Result<Rows<A>> {
        A::check(self.data_type()).map_err(|error| error.at(self.array.place()))?;
        Rows::new(self)
    }
}

impl Array {
    /// Iterates over the first axis. See [`ArrayView::rows`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::rows`].
    pub fn rows<A: FromElements>(&self) -> Result<Rows<A>> {
        self.slice(..).rows()
    }

    /// Iterates over all chunks of the [grid](Array::chunk_grid) in row-major order, whether stored or not, with their regions
    /// and elements. A chunk at the edge of the array is cropped to the elements inside the array. If the array has shards, the
    /// iterator visits the shards. A region is a selection that can be used to write the chunk.
    ///
    /// Each chunk is read once, when the iterator reaches it, so the grid can be arbitrarily large. After the error of a damaged
    /// chunk ([`ErrorKind::Corrupt`]), the iterator continues with the next chunk. It ends after any other error.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([5, 2]).data_type(DataType::Int32).chunks([3, 2]).create()?;
    /// array.write(s![4], 7)?;
    /// for chunk in array.chunks::<ArrayD<i32>>()? {
    ///     let (region, values) = chunk?;
    ///     array.write(region, values + 1)?;
    /// }
    /// let chunks: Vec<_> = array.stored_chunks::<Vec<i32>>()?.collect::<Result<_, _>>()?;
    /// assert_eq!(chunks, [(vec![0..3, 0..2], vec![1; 6]), (vec![3..5, 0..2], vec![1, 1, 8, 8])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When `A` cannot hold the elements.
    pub fn chunks<A: FromElements>(&self) -> Result<Chunks<A>> {
        A::check(self.data_type()).map_err(|error| error.at(self.place()))?;
        Ok(Chunks::new(self, Numbers::All(self.chunk_numbers())))
    }

    /// Iterates over the stored chunks; otherwise like [`Array::chunks`]. The store is listed once, by this call. The memory
    /// holds one chunk, and one integer for each stored chunk.
    ///
    /// # Errors
    /// When `A` cannot hold the elements, or the store cannot be listed.
    pub fn stored_chunks<A: FromElements>(&self) -> Result<Chunks<A>> {
        A::check(self.data_type()).map_err(|error| error.at(self.place()))?;
        Ok(Chunks::new(self, Numbers::Listed(self.stored_numbers()?)))
    }

    /// Returns the row-major linear indices of the stored chunks, in ascending order.
    pub(super) fn stored_numbers(&self) -> Result<std::vec::IntoIter<u64>> {
        self.confirm()?;
        let grid = self.grid_shape();
        let (mut numbers, mut countable) = (Vec::new(), true);
        self.visit_stored(&mut |chunk, _| match chunk.map(|chunk| number(&chunk, &grid)) {
            Some(Some(number)) => numbers.push(number),
            Some(None) => countable = false,
            None => {}
        })?;
        if !countable {
            return Err(too_many("the chunks").at(self.place()));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter())
    }

    /// Returns the positions along a dimension that are decoded together with the given one: those in its chunk, or in its inner
    /// chunk if inner chunks can be read individually.
    fn decoded_with(&self, dim: usize, position: u64) -> Range<u64> {
        let runs = self.chunk_grid().runs(dim);
        let run = &runs[runs.partition_point(|run| run.start <= position).saturating_sub(1)];
        let inner = self.chain.reads_inner_chunks_alone().then(|| self.chain.inner_chunk_shape()).flatten();
        let length = inner.map_or(run.length, |inner| inner[dim] as u64).max(1);
        let start = position - (position - run.start) % length;
        start..start.saturating_add(length)
    }
}

impl<A: FromElements> Rows<A> {
    fn new(view: &ArrayView<'_>) -> Result<Self> {
        let array = view.array();
        let resolved = view.resolved()?;
        let shape = resolved.shape();
        let Some((&count, row)) = shape.split_first() else {
            return Err(argument("there is no first axis to iterate over: the view has no dimensions")
                .at(array.place()));
        };
        usize::try_from(count).map_err(|_| too_many("the rows").at(array.place()))?;
        let (resolved, first_axis) = first_axis(resolved.clone())?;
        let memory = array.location.context.memory;
        let item = (view.data_type().size() * view.inner().iter().product::<usize>()) as u64;
        let row_size = row.iter().fold(item, |size, &n| size.saturating_mul(n)).max(1);
        Ok(Self {
            array: array.with_options(&AccessOptions::new().memory(memory / 2)),
            resolved,
            first_axis,
            most: (memory as u64 / 4 / row_size).max(1),
            row_size,
            remaining: 0..count,
            front: None,
            back: None,
            fields: view.fields.clone(),
        })
    }

    /// Returns a row from the rows that were read ahead; otherwise reads it together with the other rows that share its chunks.
    fn get(&mut self, row: u64, from_front: bool) -> Result<A> {
        let batches = [&self.front, &self.back];
        let found = batches.into_iter().flatten().find(|batch| batch.rows.contains(&row));
        if let Some(batch) = found {
            return A::row(&batch.values, batch.place(row)?);
        }
        let (near, far) = if from_front { self.following(row) } else { self.preceding(row) };
        let slot = if from_front { &mut self.front } else { &mut self.back };
        let before = slot.take().map(|batch| batch.values);
        let read = self.read(&far, before);
        // Damage in later rows must not prevent earlier rows from being read.
        let (rows, read) = match read {
            Err(_) if far != near => (near.clone(), self.read(&near, None)?),
            read => (far, read?),
        };
        let values = match read {
            Read::One(row) => return Ok(row),
            Read::Several(values) => values,
        };
        let batch = Batch { rows, values };
        let found = A::row(&batch.values, batch.place(row)?)?;
        *(if from_front { &mut self.front } else { &mut self.back }) = Some(batch);
        Ok(found)
    }

    /// Reads rows, reusing the memory of previously read rows if the shape is the same.
    fn read(&self, rows: &Range<u64>, before: Option<A::Rows>) -> Result<Read<A>> {
        let Range { start, end } = *rows;
        let is_one = end - start == 1;
        let chosen: DimSelection = if is_one { start.into() } else { (start..end).into() };
        let resolved = Ok(self.resolved.select(&chosen.into_selection())?);
        let view = ArrayView { array: &self.array, resolved, fields: self.fields.clone() };
        match before {
            _ if is_one => view.read().map(Read::One),
            Some(before) => view.with_source(|source| before.read_again(source)).map(Read::Several),
            None => view.read().map(Read::Several),
        }
    }

    /// Returns two ranges that start at this row: the rows that are decoded together with it, and the rows that are read at once.
    fn following(&self, row: u64) -> (Range<u64>, Range<u64>) {
        let limit = self.remaining.end.min(row.saturating_add(self.most));
        let near = self.decoded_with(row).end.min(limit);
        let mut end = near;
        while end < limit && (end - row).saturating_mul(self.row_size) < TOGETHER {
            let next = self.decoded_with(end).end.min(self.remaining.end);
            if next > limit {
                break;
            }
            end = next;
        }
        (row..near, row..end)
    }

    /// Returns two ranges whose last row is this one: the rows that are decoded together with it, and the rows that are read at
    /// once.
    fn preceding(&self, row: u64) -> (Range<u64>, Range<u64>) {
        let end = row + 1;
        let limit = self.remaining.start.max(end.saturating_sub(self.most));
        let near = self.decoded_with(row).start.max(limit);
        let mut start = near;
        while start > limit && (end - start).saturating_mul(self.row_size) < TOGETHER {
            let next = self.decoded_with(start - 1).start.max(self.remaining.start);
            if next < limit {
                break;
            }
            start = next;
        }
        (near..end, start..end)
    }

    /// Returns the rows that share chunks with this one.
    fn decoded_with(&self, row: u64) -> Range<u64> {
        match &self.first_axis {
            FirstAxis::Span(span) => {
                let chunk = self.array.decoded_with(span.dim, span.position(row));
                let before =
                    |position: u64| position.saturating_sub(span.start).div_ceil(span.step).min(span.count);
                let (start, end) = (before(chunk.start), before(chunk.end));
                if span.reversed { span.count - end..span.count - start } else { start..end }
            }
            FirstAxis::Ascending(dim, positions) => {
                let at = usize::try_from(row).unwrap_or(usize::MAX);
                let chunk = self.array.decoded_with(*dim, positions[at] as u64);
                let before =
                    |limit: u64| positions.partition_point(|&position| (position as u64) < limit) as u64;
                before(chunk.start)..before(chunk.end)
            }
            FirstAxis::Anywhere => 0..u64::MAX,
        }
    }

    fn ended(&mut self, result: Result<A>) -> Option<Result<A>> {
        if result.is_err() {
            self.remaining.start = self.remaining.end;
        }
        if self.remaining.is_empty() {
            (self.front, self.back) = (None, None);
        }
        Some(result)
    }
}

impl<R> Batch<R> {
    fn place(&self, row: u64) -> Result<usize> {
        usize::try_from(row - self.rows.start).map_err(|_| too_many("the rows"))
    }
}

/// Returns the positions of the rows. A mask is converted to a list of points once, rather than once for each batch of rows.
fn first_axis(mut resolved: ResolvedSelection) -> Result<(ResolvedSelection, FirstAxis)> {
    let ResultAxis::Of { axis, .. } = resolved.result[0] else { return Ok((resolved, FirstAxis::Anywhere)) };
    if let ResolvedAxis::Mask(masked) = &resolved.axes[axis] {
        resolved.axes[axis] = ResolvedAxis::Points(masked.to_points()?);
    }
    let first = match &resolved.axes[axis] {
        ResolvedAxis::Span(span) => FirstAxis::Span(*span),
        ResolvedAxis::Points(points) => match (points.dims.first(), points.coordinates.first()) {
            (Some(&dim), Some(positions)) if points.shape.len() == 1 && positions.is_sorted() => {
                FirstAxis::Ascending(dim, positions.clone())
            }
            _ => FirstAxis::Anywhere,
        },
        ResolvedAxis::Mask(_) => FirstAxis::Anywhere,
    };
    Ok((resolved, first))
}

impl<A: FromElements> Iterator for Rows<A> {
    type Item = Result<A>;

    fn next(&mut self) -> Option<Self::Item> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.remaining.start = self.remaining.end.min(self.remaining.start.saturating_add(n as u64));
        if self.remaining.is_empty() {
            return None;
        }
        let row = self.get(self.remaining.start, true);
        self.remaining.start += 1;
        self.ended(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // The range was checked when it was created.
        let count = usize::try_from(self.remaining.end - self.remaining.start).unwrap_or(usize::MAX);
        (count, Some(count))
    }
}

impl<A: FromElements> DoubleEndedIterator for Rows<A> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.nth_back(0)
    }

    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        self.remaining.end = self.remaining.start.max(self.remaining.end.saturating_sub(n as u64));
        if self.remaining.is_empty() {
            return None;
        }
        let row = self.get(self.remaining.end - 1, false);
        self.remaining.end -= 1;
        self.ended(row)
    }
}

impl<A: FromElements> ExactSizeIterator for Rows<A> {}

impl<A: FromElements> FusedIterator for Rows<A> {}

impl<A: FromElements> fmt::Debug for Rows<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("array", &self.array.path()).field("remaining", &self.remaining).finish()
    }
}

impl<A: FromElements> Chunks<A> {
    fn new(array: &Array, numbers: Numbers) -> Self {
        Self { array: array.clone(), grid: array.grid_shape(), numbers, result: PhantomData }
    }

    fn get(&mut self, number: Option<u64>) -> Option<Result<(Vec<Range<u64>>, A)>> {
        let region = self.array.chunk_region(&indices(number?, &self.grid))?;
        let values = self.array.read(&region);
        // The other chunks are probably intact. After other errors, such as those of a store, they would fail as well.
        if values.as_ref().is_err_and(|error| error.kind() != ErrorKind::Corrupt) {
            self.numbers = Numbers::All(0..0);
        }
        Some(values.map(|values| (region, values)))
    }
}

impl<A: FromElements> Iterator for Chunks<A> {
    type Item = Result<(Vec<Range<u64>>, A)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let number = match &mut self.numbers {
            Numbers::All(all) => all.nth(n),
            Numbers::Listed(listed) => listed.nth(n),
        };
        self.get(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.numbers {
            Numbers::All(all) => all.size_hint(),
            Numbers::Listed(listed) => listed.size_hint(),
        }
    }
}

impl<A: FromElements> DoubleEndedIterator for Chunks<A> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let number = match &mut self.numbers {
            Numbers::All(all) => all.next_back(),
            Numbers::Listed(listed) => listed.next_back(),
        };
        self.get(number)
    }
}

impl<A: FromElements> FusedIterator for Chunks<A> {}

impl<A: FromElements> fmt::Debug for Chunks<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks")
            .field("array", &self.array.path())
            .field("remaining", &self.size_hint())
            .finish()
    }
}

/// Returns the row-major linear index of a chunk; `None` if it exceeds `u64`.
fn number(chunk: &[u64], grid: &[u64]) -> Option<u64> {
    chunk
        .iter()
        .zip(grid)
        .try_fold(0_u64, |number, (&index, &count)| number.checked_mul(count)?.checked_add(index))
}

/// Returns the indices of the chunk with this linear index.
pub fn indices(mut number: u64, grid: &[u64]) -> Vec<u64> {
    let mut indices = vec![0; grid.len()];
    for (index, &count) in indices.iter_mut().zip(grid).rev() {
        *index = number % count.max(1);
        number /= count.max(1);
    }
    indices
}
