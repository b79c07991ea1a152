//! Selections: the steps from an index expression to the bytes of each chunk.
//!
//! 1. `indexing`: a [`Selection`] is resolved against a shape, or against an earlier selection, to a [`ResolvedSelection`]: the
//!    dimensions are divided among independent axes, each a span, listed points or a mask.
//! 2. `axes`: the memory of the result is viewed with one axis for each of these axes.
//! 3. [`Projections`] divides each axis among the chunks and returns the n-th touched chunk: [`partition`] does so for spans by
//!    arithmetic, [`PlacedPoints::group`] for points in one pass, `masked` for masks chunk by chunk.
//! 4. [`ChunkElements`] are the elements of one chunk: a box, or an [`ElementSet`], which contains the position of each element
//!    in the result. [`PlacedElements`] also contains the region of the result that corresponds to a box.
//! 5. [`ElementSet::split`] divides a set among the inner chunks of a shard.
//! 6. `gather` copies the elements of a set from a chunk to their positions in memory, or back.

mod axes;
mod boxes;
mod chunk_elements;
mod element_set;
mod gather;
mod indexing;
mod masked;
pub mod partition;
mod parts;
mod projection;

pub use axes::{Axes, merged, ordered};
pub use boxes::Boxes;
pub use chunk_elements::{ChunkElements, PlacedElements, covers};
pub use element_set::{ElementAxis, ElementSet, Grouped, PlacedBox, PlacedPoints, PointRange};
pub use indexing::{
    ArrayItem, DimSelection, IndexArray, IntoSelection, Mask, MaskedPoints, NewAxis, Points, ResolvedAxis,
    ResolvedSelection, ResolvedSpan, ResultAxis, Selection, check_lengths,
};
pub use masked::MaskedChunks;
pub use parts::Parts;
pub use projection::{Projection, Projections};
