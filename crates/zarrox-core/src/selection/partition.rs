//! Partition of a region by a chunk grid. Each dimension is partitioned separately, and all touched chunks can be accessed at the
//! same cost.

use smallvec::SmallVec;

use crate::grid::Run;
use crate::strided::{Dims, Span, View, ViewMut};

/// The positions of a span that lie in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The index of the chunk along the dimension.
    pub chunk: usize,
    /// The positions, relative to the chunk's start.
    pub span: Span,
    /// The index of the first position in the whole span. The other positions follow consecutively.
    pub out: usize,
}

impl Piece {
    /// Returns the positions in the output that the piece fills.
    pub fn out_span(&self) -> Span {
        Span { start: self.out, step: 1, count: self.span.count }
    }
}

/// Returns the number of chunks of length `chunk` that a span touches.
pub fn piece_count(span: Span, chunk: usize) -> usize {
    if span.count == 0 || span.step > chunk {
        return span.count;
    }
    last(span) / chunk - span.start / chunk + 1
}

/// Returns the `n`-th piece, counted from 0; `n` must be less than [`piece_count`].
pub fn piece(span: Span, chunk: usize, n: usize) -> Piece {
    if span.step > chunk {
        let position = span.start + n * span.step;
        let span = Span { start: position % chunk, step: 1, count: 1 };
        return Piece { chunk: position / chunk, span, out: n };
    }
    within(span, chunk, span.start / chunk + n)
}

/// Returns the piece in the chunk with this index, if the span touches it.
pub fn piece_in(span: Span, chunk: usize, index: usize) -> Option<Piece> {
    Some(within(span, chunk, index)).filter(|piece| piece.span.count > 0)
}

/// Returns all pieces, in the order of the span.
pub fn pieces(span: Span, chunk: usize) -> impl ExactSizeIterator<Item = Piece> + Clone {
    (0..piece_count(span, chunk)).map(move |n| piece(span, chunk, n))
}

/// The pieces of a span along a dimension whose chunks may differ in length. Provides their number and access to each piece
/// without a list. The memory is proportional to the number of runs of equal chunks.
#[derive(Debug, Clone)]
pub struct Pieces {
    stretches: SmallVec<[Stretch; 1]>,
    count: usize,
}

/// The part of a span that lies in one run of equal chunks.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// The number of pieces before this part.
    before: usize,
    /// The number of positions of the span before this part.
    out: usize,
    /// The index of the run's first chunk.
    first: usize,
    length: usize,
    /// The positions, relative to the run's start.
    span: Span,
}

impl Pieces {
    /// Creates the pieces of a span over these runs, which must cover the span.
    pub fn new(span: Span, runs: &[Run]) -> Self {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut pieces = Self { stretches: SmallVec::new(), count: 0 };
        let mut out = 0;
        let begin = runs.partition_point(|run| number(run.end()) <= span.start);
        for run in &runs[begin..] {
            if out == span.count {
                break;
            }
            let end = before(span, number(run.end()));
            if end == out {
                continue;
            }
            let start = span.start + out * span.step - number(run.start);
            let inside = Span { start, step: span.step, count: end - out };
            let (first, length) = (number(run.first), number(run.length));
            pieces.stretches.push(Stretch { before: pieces.count, out, first, length, span: inside });
            pieces.count += piece_count(inside, length);
            out = end;
        }
        pieces
    }

    /// Returns the number of pieces.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the `n`-th piece, counted from 0; `n` must be less than the number of pieces.
    pub fn get(&self, n: usize) -> Piece {
        let stretch = self.stretches[self.stretches.partition_point(|stretch| stretch.before <= n) - 1];
        let piece = piece(stretch.span, stretch.length, n - stretch.before);
        Piece { chunk: stretch.first + piece.chunk, out: stretch.out + piece.out, ..piece }
    }
}

/// Calls `visit` for each chunk of shape `chunk` that the region touches, in row-major order. `visit` receives one piece for
/// each dimension, and the part of `out` that the chunk fills. `out` has the shape of the region.
pub fn split_mut<'a, E>(
    region: &[Span],
    chunk: &[usize],
    out: ViewMut<'a>,
    mut visit: impl FnMut(&[Piece], ViewMut<'a>) -> Result<(), E>,
) -> Result<(), E> {
    walk(region, chunk, &mut Dims::new(), out, &ViewMut::split, &mut visit)
}

/// Splits read-only memory like [`split_mut`].
pub fn split<'a, E>(
    region: &[Span],
    chunk: &[usize],
    source: View<'a>,
    mut visit: impl FnMut(&[Piece], View<'a>) -> Result<(), E>,
) -> Result<(), E> {
    walk(region, chunk, &mut Dims::new(), source, &View::split, &mut visit)
}

fn walk<V, E>(
    region: &[Span],
    chunk: &[usize],
    path: &mut Dims<Piece>,
    mut rest: V,
    split: &impl Fn(V, usize, usize) -> (V, V),
    visit: &mut impl FnMut(&[Piece], V) -> Result<(), E>,
) -> Result<(), E> {
    let dim = path.len();
    let (Some(&span), Some(&chunk_length)) = (region.get(dim), chunk.get(dim)) else {
        return visit(path, rest);
    };
    let count = piece_count(span, chunk_length);
    for n in 0..count {
        path.push(piece(span, chunk_length, n));
        if n + 1 == count {
            let result = walk(region, chunk, path, rest, split, visit);
            path.pop();
            return result;
        }
        let (part, others) = split(rest, dim, path[dim].span.count);
        walk(region, chunk, path, part, split, visit)?;
        path.pop();
        rest = others;
    }
    Ok(())
}

fn last(span: Span) -> usize {
    span.start + (span.count - 1) * span.step
}

/// Returns the number of positions of the span that are less than `limit`.
fn before(span: Span, limit: usize) -> usize {
    limit.saturating_sub(span.start).div_ceil(span.step).min(span.count)
}

/// Returns the positions in the chunk with this index; empty, with an arbitrary start, if the span does not touch it.
fn within(span: Span, chunk: usize, index: usize) -> Piece {
    let begin = index.saturating_mul(chunk);
    let end = begin.saturating_add(chunk);
    let (out, stop) = (before(span, begin), before(span, end));
    let start = (span.start + out * span.step).saturating_sub(begin);
    Piece { chunk: index, span: Span { start, step: span.step, count: stop - out }, out }
}

/// Advances to the next index in row-major order of a box that begins at `start`. After the last index it returns false, and
/// resets the index to the first.
pub fn advance(index: &mut [usize], ends: &[usize], start: impl Fn(usize) -> usize) -> bool {
    for (dim, &end) in ends.iter().enumerate().rev() {
        index[dim] += 1;
        if index[dim] < end {
            return true;
        }
        index[dim] = start(dim);
    }
    false
}

/// Returns the row-major indices of a region's positions in a chunk of this shape.
pub fn positions(region: &[Span], shape: &[usize]) -> Vec<usize> {
    region.iter().zip(shape).fold(vec![0], |outer, (span, &length)| {
        let inner =
            |before: usize| (0..span.count).map(move |i| before * length + span.start + i * span.step);
        outer.into_iter().flat_map(inner).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::grid::ChunkGrid;

    /// The reference implementation, which handles one position at a time.
    fn naive(span: Span, chunk: usize) -> Vec<(usize, Vec<usize>, usize)> {
        let mut pieces: Vec<(usize, Vec<usize>, usize)> = Vec::new();
        for out in 0..span.count {
            let position = span.start + out * span.step;
            match pieces.last_mut() {
                Some(last) if last.0 == position / chunk => last.1.push(position % chunk),
                _ => pieces.push((position / chunk, vec![position % chunk], out)),
            }
        }
        pieces
    }

    fn positions(span: Span) -> Vec<usize> {
        (0..span.count).map(|i| span.start + i * span.step).collect()
    }

    #[test]
    fn pieces_equal_the_naive_loop() {
        for (chunk, step) in (1..7).flat_map(|chunk| (1..16).map(move |step| (chunk, step))) {
            for (start, count) in (0..12).flat_map(|start| (0..9).map(move |count| (start, count))) {
                let span = Span { start, step, count };
                let found: Vec<_> =
                    pieces(span, chunk).map(|p| (p.chunk, positions(p.span), p.out)).collect();
                assert_eq!(found, naive(span, chunk), "{span:?} {chunk}");
                for index in 0..40 {
                    let expected = pieces(span, chunk).find(|p| p.chunk == index);
                    let found = piece_in(span, chunk, index);
                    assert_eq!(
                        found.map(|p| (p.span.start, p.span.count, p.out)),
                        expected.map(|p| (p.span.start, p.span.count, p.out)),
                        "{span:?} {chunk} {index}"
                    );
                }
            }
        }
    }

    #[test]
    fn pieces_on_chunks_of_several_lengths_equal_the_naive_loop() {
        for lengths in
            [&[4, 4, 4, 4, 4, 4][..], &[1, 5, 2, 2, 2, 9, 30], &[7, 1, 1, 1, 3, 8], &[2, 40], &[50]]
        {
            let grid = ChunkGrid::rectilinear([lengths], &[0]).unwrap();
            let total = usize::try_from(lengths.iter().sum::<u64>()).unwrap();
            let chunk_of = |position: usize| {
                let starts = |index: usize| usize::try_from(lengths[..index].iter().sum::<u64>()).unwrap();
                let index = (0..lengths.len()).rfind(|&index| starts(index) <= position).unwrap();
                (index, position - starts(index))
            };
            for (start, step) in (0..total).flat_map(|start| (1..12).map(move |step| (start, step))) {
                for count in 0..=(total - start).div_ceil(step) {
                    let span = Span { start, step, count };
                    let mut expected: Vec<(usize, Vec<usize>, usize)> = Vec::new();
                    for out in 0..count {
                        let (chunk, position) = chunk_of(start + out * step);
                        match expected.last_mut() {
                            Some(last) if last.0 == chunk => last.1.push(position),
                            _ => expected.push((chunk, vec![position], out)),
                        }
                    }
                    let pieces = Pieces::new(span, &grid.runs(0));
                    let found = (0..pieces.count()).map(|n| pieces.get(n));
                    let found: Vec<_> = found.map(|p| (p.chunk, positions(p.span), p.out)).collect();
                    assert_eq!(found, expected, "{span:?} {lengths:?}");
                }
            }
        }
    }

    #[test]
    fn a_grid_of_one_length_gives_the_same_pieces() {
        let grid = ChunkGrid::regular([1000], &[u64::MAX]).unwrap();
        let span = Span { start: 5, step: 1 << 40, count: 1 << 20 };
        let pieces = Pieces::new(span, &grid.runs(0));
        assert_eq!(pieces.count(), piece_count(span, 1000));
        for n in [0, 77, (1 << 20) - 1] {
            assert_eq!(pieces.get(n), piece(span, 1000, n));
        }
        assert_eq!(Pieces::new(Span { start: 9, step: 1, count: 0 }, &grid.runs(0)).count(), 0);
    }

    #[test]
    fn distant_pieces_cost_nothing() {
        let span = Span { start: 5, step: 1 << 40, count: 1 << 20 };
        assert_eq!(piece_count(span, 1000), 1 << 20);
        let piece = piece(span, 1000, (1 << 20) - 1);
        assert_eq!((piece.chunk * 1000 + piece.span.start, piece.out), (last(span), (1 << 20) - 1));
        assert_eq!(piece_count(Span { start: 0, step: 1, count: 0 }, 0), 0);
    }

    #[test]
    fn parts_fill_the_output_once() {
        let region = [Span { start: 3, step: 2, count: 7 }, Span { start: 1, step: 9, count: 4 }];
        let mut out = vec![0_u8; 28];
        let view = ViewMut::contiguous(&mut out, &[7, 4], 1);
        let mut count = 0;
        split_mut(&region, &[4, 5], view, |pieces, mut part| {
            let shape: Vec<_> = pieces.iter().map(|p| p.span.count).collect();
            assert_eq!(part.shape(), shape);
            count += 1;
            part.fill(&[count]);
            Ok::<_, Infallible>(())
        })
        .unwrap();
        assert_eq!(count, 16);
        assert!(!out.contains(&0));
        assert_eq!(&out[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        split(&region, &[4, 5], View::contiguous(&out, &[7, 4], 1), |_, part| {
            assert!(part.all_equal(part.region(&[Span::all(1); 2]).as_slice().unwrap()));
            Ok::<_, Infallible>(())
        })
        .unwrap();
    }

    #[test]
    fn no_dimensions_are_one_chunk() {
        let mut out = [0_u8; 1];
        let mut visits = 0;
        split_mut(&[], &[], ViewMut::contiguous(&mut out, &[], 1), |_, _| {
            visits += 1;
            Ok::<_, Infallible>(())
        })
        .unwrap();
        assert_eq!(visits, 1);
    }

    #[test]
    fn positions_are_numbered_row_major() {
        let region = [Span { start: 1, step: 2, count: 2 }, Span { start: 0, step: 1, count: 3 }];
        assert_eq!(super::positions(&region, &[4, 5]), [5, 6, 7, 15, 16, 17]);
        assert_eq!(super::positions(&[], &[]), [0]);
        assert!(super::positions(&[Span::all(0), Span::all(3)], &[2, 3]).is_empty());
    }
}
