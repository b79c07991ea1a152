//! A mask divided among chunks: its true positions, chunk by chunk, without a list of all positions.

use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::grid::Run;
use crate::scratch::Positions;
use crate::strided::Dims;

use super::partition::advance;

/// A mask over some dimensions of an array, and the chunks with true positions.
///
/// In addition to the mask, only a small fraction of its size is stored, and the positions of one chunk while they are needed.
#[derive(Debug)]
pub struct MaskedChunks {
    mask: Arc<Vec<bool>>,
    shape: Dims<usize>,
    /// The starts of the chunks along each dimension, and the end of the mask.
    borders: Dims<Vec<usize>>,
    /// The index, along each dimension, of each chunk with a true position, in row-major order.
    chunks: Vec<Dims<usize>>,
    /// The number of true positions before each [`STRIDE`]-th position.
    before: Vec<usize>,
}

/// The distance between two positions with a stored count. Finding the number of true positions before any position requires
/// counting over at most this many positions.
const STRIDE: usize = 256;

/// The number of positions of a mask that are tested at once, so that false positions can be skipped at once.
const EXAMINED: usize = 64;

impl MaskedChunks {
    /// Divides a mask of this shape among these runs of chunks, which must cover the mask. Panics if the mask has a different
    /// shape.
    pub fn new<R: Deref<Target = [Run]>>(mask: Arc<Vec<bool>>, shape: &[usize], runs: &[R]) -> Self {
        assert_eq!(mask.len(), shape.iter().product::<usize>(), "the mask has the shape's length");
        let borders: Dims<Vec<usize>> =
            runs.iter().zip(shape).map(|(runs, &length)| borders(runs, length)).collect();
        let mut total = 0;
        let before = mask.chunks(STRIDE).map(|part| {
            let before = total;
            total += count(part);
            before
        });
        let before = before.collect();
        let mut masked = Self { mask, shape: shape.into(), borders, chunks: Vec::new(), before };
        masked.chunks = masked.touched();
        masked
    }

    /// Returns the number of chunks with a true position.
    pub fn count(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the index, along each of the mask's dimensions, of the `n`-th chunk with a true position.
    pub fn chunk(&self, n: usize) -> &[usize] {
        &self.chunks[n]
    }

    /// Returns the index of each chunk in which the mask has a true position, in row-major order.
    fn touched(&self) -> Vec<Dims<usize>> {
        let grid: Dims<usize> = self.borders.iter().map(|borders| borders.len() - 1).collect();
        let mut chunks = Vec::new();
        if self.mask.is_empty() {
            return chunks;
        }
        let mut chunk: Dims<usize> = Dims::from_elem(0, grid.len());
        loop {
            let mut any = false;
            self.for_each_row(&chunk, |_, row| {
                any = any_set(&self.mask[row]);
                !any
            });
            if any {
                chunks.push(chunk.clone());
            }
            if !advance(&mut chunk, &grid, |_| 0) {
                return chunks;
            }
        }
    }

    /// Calls `visit` for each row of a chunk inside the mask, with its first position and its range in the mask, until `visit`
    /// returns false.
    fn for_each_row(&self, chunk: &[usize], mut visit: impl FnMut(&[usize], Range<usize>) -> bool) {
        let starts: Dims<usize> = self.borders.iter().zip(chunk).map(|(list, &at)| list[at]).collect();
        let ends: Dims<usize> = self.borders.iter().zip(chunk).map(|(list, &at)| list[at + 1]).collect();
        let (rows, length) = match (starts.split_last(), ends.split_last()) {
            (Some((start, _)), Some((end, rows))) => (rows, end - start),
            _ => (&[][..], 1),
        };
        let mut position = starts.clone();
        loop {
            let start = position.iter().zip(&self.shape).fold(0, |at, (&index, &length)| at * length + index);
            let outer = rows.len();
            if !visit(&position, start..start + length)
                || !advance(&mut position[..outer], rows, |dim| starts[dim])
            {
                return;
            }
        }
    }

    /// Returns the number of true positions of the mask before a position.
    fn rank(&self, position: usize) -> usize {
        let known = position / STRIDE;
        let before = self.before.get(known).copied().unwrap_or_default();
        before + count(&self.mask[known * STRIDE..position])
    }
}

/// The true positions of a mask in one chunk.
#[derive(Debug)]
pub(crate) struct MaskedChunk {
    masked: Arc<MaskedChunks>,
    /// The index among the mask's chunks.
    n: usize,
    count: usize,
    /// The minimum and the maximum position along each dimension.
    extents: Dims<(usize, usize)>,
}

/// A row of a chunk with a true position.
pub(crate) struct MaskedRow<'a> {
    /// The position of its first element.
    pub(crate) position: &'a [usize],
    pub(crate) flags: &'a [bool],
    /// The number of true positions of the mask in the row.
    pub(crate) count: usize,
    /// The index of the first true position of the row.
    pub(crate) place: usize,
}

impl MaskedChunk {
    /// Creates the `n`-th chunk with a true position.
    pub(super) fn new(masked: Arc<MaskedChunks>, n: usize) -> Self {
        let mut extents: Dims<(usize, usize)> = masked.shape.iter().map(|_| (usize::MAX, 0)).collect();
        let mut total = 0;
        masked.for_each_row(masked.chunk(n), |position, range| {
            let flags = &masked.mask[range];
            let found = count(flags);
            total += found;
            if let (true, Some((columns, outer))) = (found > 0, extents.split_last_mut()) {
                for ((least, greatest), &at) in outer.iter_mut().zip(position) {
                    (*least, *greatest) = (at.min(*least), at.max(*greatest));
                }
                extend(columns, position[outer.len()], flags);
            }
            true
        });
        Self { masked, n, count: total, extents }
    }

    /// Returns the number of true positions of the mask.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the minimum and the maximum true position along each dimension.
    pub(crate) fn extents(&self) -> &[(usize, usize)] {
        &self.extents
    }

    /// Calls `visit` for each row with a true position, in row-major order, until `visit` returns false. Rows are clipped to
    /// the bounding box of all true positions.
    pub(crate) fn for_each_row(&self, mut visit: impl FnMut(MaskedRow<'_>) -> bool) {
        let masked = &*self.masked;
        masked.for_each_row(masked.chunk(self.n), |position, mut range| {
            let mut position = Dims::from_slice(position);
            if let (Some(first), Some((least, greatest))) = (position.last_mut(), self.extents.last()) {
                range = range.start + (least - *first)..range.start + (greatest - *first) + 1;
                *first = *least;
            }
            let (start, flags) = (range.start, &masked.mask[range]);
            let count = count(flags);
            count == 0 || visit(MaskedRow { position: &position, flags, count, place: masked.rank(start) })
        });
    }

    /// Returns true if there are more than `limit` runs of adjacent positions, each in one row.
    pub(crate) fn has_more_runs(&self, limit: usize) -> bool {
        let mut runs = 0;
        self.for_each_row(|MaskedRow { flags, .. }| {
            let begins = |pair: &[bool]| usize::from(pair[1] & !pair[0]);
            runs += usize::from(flags[0]) + flags.windows(2).map(begins).sum::<usize>();
            runs <= limit
        });
        runs > limit
    }

    /// Returns the position of each point for each dimension, and the index of each point among all points of the mask in
    /// row-major order.
    pub(super) fn lists(&self) -> (Dims<Arc<Positions>>, Positions) {
        let list = || Vec::with_capacity(self.count);
        let mut coordinates: Dims<Vec<usize>> = self.extents.iter().map(|_| list()).collect();
        let mut places = list();
        self.for_each_row(|row| {
            if let (Some((columns, outer)), Some((&first, at))) =
                (coordinates.split_last_mut(), row.position.split_last())
            {
                push_set(row.flags, first, columns);
                let lists = outer.iter_mut().zip(at);
                lists.for_each(|(list, &at)| list.extend(std::iter::repeat_n(at, row.count)));
            }
            places.extend(row.place..row.place + row.count);
            true
        });
        (coordinates.into_iter().map(|list| Arc::new(list.into())).collect(), places.into())
    }
}

/// Returns the number of true positions of a mask.
pub(crate) fn count(mask: &[bool]) -> usize {
    // The length of a part is limited so that a byte can hold its count. The processor then adds several bytes in parallel.
    mask.chunks(255).map(|part| usize::from(part.iter().map(|&set| u8::from(set)).sum::<u8>())).sum()
}

/// Extends the minimum and the maximum position to include the true positions of a row whose first position is `first`. Only
/// positions outside the known range are examined.
fn extend((least, greatest): &mut (usize, usize), first: usize, row: &[bool]) {
    let left = least.saturating_sub(first).min(row.len());
    if let Some(at) = row[..left].iter().position(|&set| set) {
        *least = first + at;
    }
    let right = (*greatest + 1).saturating_sub(first).min(row.len());
    if let Some(at) = row[right..].iter().rposition(|&set| set) {
        *greatest = first + right + at;
    }
}

fn any_set(mask: &[bool]) -> bool {
    mask.chunks(EXAMINED).any(|part| part.iter().fold(false, |any, &set| any | set))
}

/// Appends the true positions of a row whose first position is `first`.
fn push_set(row: &[bool], first: usize, list: &mut Vec<usize>) {
    let before = list.len();
    // Every position is written, but kept only if the mask is true there: an unpredictable branch would cost more.
    list.resize(before + row.len(), 0);
    let (out, mut found) = (&mut list[before..], 0);
    for (start, part) in (first..).step_by(EXAMINED).zip(row.chunks(EXAMINED)) {
        if any_set(part) {
            for (position, &set) in (start..).zip(part) {
                out[found] = position;
                found += usize::from(set);
            }
        }
    }
    list.truncate(before + found);
}

/// Returns the starts of the chunks along a dimension, and the end of the dimension.
fn borders(runs: &[Run], length: usize) -> Vec<usize> {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let mut borders = Vec::new();
    for run in runs {
        let (start, step) = (number(run.start), number(run.length).max(1));
        borders.extend((start..number(run.end()).min(length)).step_by(step));
    }
    borders.push(length);
    borders
}

#[cfg(test)]
mod tests {
    use super::super::PlacedPoints;
    use super::*;
    use crate::grid::ChunkGrid;

    /// Returns the positions and destinations of a mask, chunk by chunk, by examining every element.
    fn check(mask: &[bool], shape: &[u64], grid: &ChunkGrid) {
        let lengths: Vec<usize> = shape.iter().map(|&n| usize::try_from(n).unwrap()).collect();
        let runs: Vec<_> = (0..shape.len()).map(|dim| grid.runs(dim)).collect();
        let masked = Arc::new(MaskedChunks::new(Arc::new(mask.to_vec()), &lengths, &runs));
        let mut found = Vec::new();
        for n in 0..masked.count() {
            let points = PlacedPoints::of_mask(&masked, n);
            check_summary(&MaskedChunk::new(masked.clone(), n), &points);
            assert!(!points.places().unwrap().is_empty());
            for (i, &place) in points.places().unwrap().iter().enumerate() {
                let position: Vec<usize> = points.coordinates().iter().map(|list| list[i]).collect();
                for (dim, &at) in position.iter().enumerate() {
                    let (start, length) = grid.chunk_place(dim, masked.chunk(n)[dim] as u64).unwrap();
                    assert!((start..start + length).contains(&(at as u64)));
                }
                found.push((place, position));
            }
        }
        found.sort();
        let all = (0..mask.len()).filter(|&at| mask[at]).map(|mut at| {
            let mut position: Vec<usize> = lengths
                .iter()
                .rev()
                .map(|&length| {
                    let index = at % length;
                    at /= length;
                    index
                })
                .collect();
            position.reverse();
            position
        });
        assert_eq!(found, all.enumerate().collect::<Vec<_>>());
    }

    /// Compares the summary of a chunk, which is computed without lists, with the lists.
    fn check_summary(chunk: &MaskedChunk, points: &PlacedPoints) {
        assert_eq!(chunk.count(), points.places().unwrap().len());
        let lists = points.coordinates();
        let extents: Vec<_> =
            lists.iter().map(|list| (*list.iter().min().unwrap(), *list.iter().max().unwrap())).collect();
        assert_eq!(chunk.extents(), extents);
        let continues = |i: usize| {
            let last = lists.len().checked_sub(1);
            let along =
                |(k, list): (usize, &Arc<Positions>)| list[i] == list[i - 1] + usize::from(Some(k) == last);
            lists.iter().enumerate().all(along)
        };
        let runs = (0..chunk.count()).filter(|&i| i == 0 || !continues(i)).count();
        for limit in 0..runs + 2 {
            assert_eq!(chunk.has_more_runs(limit), runs > limit);
        }
    }

    #[test]
    fn every_true_position_is_found_once() {
        let shapes: [(&[u64], &[u64]); 7] = [
            (&[], &[]),
            (&[1000], &[70]),
            (&[30, 40], &[7, 9]),
            (&[5, 6, 700], &[2, 6, 300]),
            (&[4, 1], &[9, 9]),
            (&[0, 3], &[1, 1]),
            (&[3, 3], &[1, 1]),
        ];
        for (shape, chunks) in shapes {
            let grid = ChunkGrid::regular(chunks.to_vec(), shape).unwrap();
            let length = usize::try_from(shape.iter().product::<u64>()).unwrap();
            for modulus in [1, 2, 3, 11, 997] {
                let mask: Vec<bool> = (0..length).map(|at| at * at % modulus == 0).collect();
                check(&mask, shape, &grid);
            }
            check(&vec![false; length], shape, &grid);
        }
        let grid = ChunkGrid::rectilinear([&[3, 1, 8][..], &[5, 5, 2]], &[12, 12]).unwrap();
        let mask: Vec<bool> = (0..144).map(|at| at % 5 < 2).collect();
        check(&mask, &[12, 12], &grid);
    }
}
