//! Where a selection meets the chunks.

use zarrox_core::Result;
use zarrox_core::indexing::Resolved;
use zarrox_core::partition::{Piece, Pieces};
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
    dims: Dims<Pieces>,
    pub(super) count: usize,
}

impl Projections {
    pub(super) fn new(array: &Array, resolved: &Resolved) -> Result<Self> {
        let length = |n: u64| usize::try_from(n).map_err(|_| too_many("the elements"));
        let dims = resolved.dims.iter().enumerate().map(|(axis, dim)| {
            let span = Span { start: length(dim.start)?, step: length(dim.step)?, count: length(dim.count)? };
            Ok(Pieces::new(span, &array.metadata.chunk_grid.runs(axis)))
        });
        let dims: Dims<Pieces> = dims.collect::<Result<_>>()?;
        let count = dims.iter().try_fold(1_usize, |count, pieces| count.checked_mul(pieces.count()));
        let count = count.ok_or_else(|| too_many("the chunks"))?;
        Ok(Self { dims, count })
    }

    /// The `index`-th, in row-major order of the chunks.
    pub(super) fn get(&self, mut index: usize) -> Projection {
        let mut pieces: Dims<Piece> = Dims::with_capacity(self.dims.len());
        for dim in self.dims.iter().rev() {
            pieces.push(dim.get(index % dim.count()));
            index /= dim.count();
        }
        pieces.reverse();
        Projection {
            chunk: pieces.iter().map(|piece| piece.chunk as u64).collect(),
            region: pieces.iter().map(|piece| piece.span).collect(),
            out: pieces.iter().map(Piece::out_span).collect(),
        }
    }
}
