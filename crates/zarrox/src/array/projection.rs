//! Where a selection meets the chunks.

use zarrox_core::Result;
use zarrox_core::indexing::Resolved;
use zarrox_core::partition::{Piece, piece, piece_count};
use zarrox_core::strided::{Dims, Span};

use super::Array;
use crate::pool::too_many;

/// Where a selection meets one chunk.
pub(super) struct Projection {
    /// The chunk's indices.
    pub(super) chunk: Dims<u64>,
    /// The positions inside the chunk.
    pub(super) region: Dims<Span>,
    /// The positions in the result.
    pub(super) out: Dims<Span>,
}

/// All chunks that a selection meets: their number and any one of them, without a list.
pub(super) struct Projections {
    spans: Dims<Span>,
    chunk_shape: Dims<usize>,
    counts: Dims<usize>,
    pub(super) count: usize,
}

impl Projections {
    pub(super) fn new(array: &Array, resolved: &Resolved) -> Result<Self> {
        let chunk_shape: Dims<usize> = array.chain.chunk().shape().into();
        let length = |n: u64| usize::try_from(n).map_err(|_| too_many("the elements"));
        let spans = resolved.dims.iter().map(|dim| {
            Ok(Span { start: length(dim.start)?, step: length(dim.step)?, count: length(dim.count)? })
        });
        let spans: Dims<Span> = spans.collect::<Result<_>>()?;
        let counts: Dims<usize> = spans.iter().zip(&chunk_shape).map(|(&s, &c)| piece_count(s, c)).collect();
        let count = counts.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
        let count = count.ok_or_else(|| too_many("the chunks"))?;
        Ok(Self { spans, chunk_shape, counts, count })
    }

    /// The `index`-th, in row-major order of the chunks.
    pub(super) fn get(&self, mut index: usize) -> Projection {
        let ndim = self.spans.len();
        let mut pieces: Dims<Piece> = Dims::with_capacity(ndim);
        for dim in (0..ndim).rev() {
            let nth = index % self.counts[dim];
            index /= self.counts[dim];
            pieces.push(piece(self.spans[dim], self.chunk_shape[dim], nth));
        }
        pieces.reverse();
        Projection {
            chunk: pieces.iter().map(|piece| piece.chunk as u64).collect(),
            region: pieces.iter().map(|piece| piece.span).collect(),
            out: pieces.iter().map(Piece::out_span).collect(),
        }
    }
}
