//! A table of the inner chunks of a chunk, for verification and repair.

use std::fmt;

use super::{ByteRange, Window};
use crate::error::CodecError;

/// The entry of an inner chunk in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The inner chunk is not stored: all its elements are the fill value.
    Empty,
    /// The inner chunk is stored in this range of the encoded chunk. The range may be out of bounds.
    Stored {
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes.
        length: u64,
    },
}

/// An encoded chunk as a table of inner chunks, in row-major order.
pub trait ChunkTable: fmt::Debug + Sync {
    /// Returns the number of inner chunks along each dimension.
    fn grid(&self) -> &[usize];

    /// Returns the byte range of the index of the encoded chunk at `window`.
    ///
    /// # Errors
    /// When the chunk is shorter than its index.
    fn index_range(&self, window: Window) -> Result<ByteRange, CodecError>;

    /// Decodes the entries of an encoded index.
    ///
    /// # Errors
    /// When the index cannot be decoded.
    fn entries(&self, index: &[u8]) -> Result<Vec<Entry>, CodecError>;

    /// Returns the range of an inner chunk in an encoded chunk of `size` bytes; `None` if the inner chunk is not stored.
    ///
    /// # Errors
    /// When the entry is not a valid range of an inner chunk.
    fn place(&self, entry: Entry, size: u64) -> Result<Option<Window>, CodecError>;

    /// Encodes the index of an encoded chunk whose inner chunks have these lengths and are contiguous, in row-major order; an
    /// inner chunk without a length is not stored. Returns the index, and true if it lies before the inner chunks.
    ///
    /// # Errors
    /// When the number of inner chunks is wrong.
    fn encode_index(&self, lengths: &[Option<u64>]) -> Result<(Vec<u8>, bool), CodecError>;

    /// Decodes one encoded inner chunk, and discards the result.
    ///
    /// # Errors
    /// When the inner chunk cannot be decoded.
    fn verify(&self, encoded: &[u8]) -> Result<(), CodecError>;

    /// Builds a new encoded chunk from all valid inner chunks of a damaged chunk, and appends it to `encoded`. Lost inner chunks
    /// are filled with the fill value, and stored only if `fill` is true. Appends nothing if all inner chunks are lost and not
    /// stored.
    ///
    /// If the index is damaged, an inner chunk is recovered only if its position is unambiguous.
    ///
    /// # Errors
    /// When the valid inner chunks cannot be determined.
    fn repair(&self, damaged: &[u8], fill: bool, encoded: &mut Vec<u8>) -> Result<RepairOutcome, CodecError>;
}

/// The result of repairing a chunk with inner chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepairOutcome {
    /// The number of inner chunks whose stored bytes are unchanged.
    pub kept: usize,
    /// The number of unchanged inner chunks that had to be located because the index was damaged.
    pub found: usize,
    /// The number of inner chunks that are lost.
    pub lost: usize,
}

/// The result of recovering elements from a damaged chunk that can be read in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// The number of elements that were recovered.
    pub kept: usize,
    /// The number of elements that are lost.
    pub lost: usize,
}
