//! Chunks inside a chunk, as a table: for those who check what is stored, and mend it.

use std::fmt;

use super::{ByteRange, Window};
use crate::error::CodecError;

/// The place of an inner chunk as an index says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The inner chunk is not stored: all its elements are the fill value.
    Empty,
    /// It is stored in these bytes of the encoded chunk, which may be no place inside of it.
    Stored {
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        length: u64,
    },
}

/// An encoded chunk as a table of inner chunks, in row-major order of their places.
pub trait ChunkTable: fmt::Debug + Sync {
    /// The number of inner chunks along each dimension.
    fn grid(&self) -> &[usize];

    /// The bytes of the index in an encoded chunk that is stored at `window`.
    ///
    /// # Errors
    /// When the chunk is shorter than its index.
    fn index_range(&self, window: Window) -> Result<ByteRange, CodecError>;

    /// The entries of an encoded index.
    ///
    /// # Errors
    /// When it cannot be decoded.
    fn entries(&self, index: &[u8]) -> Result<Vec<Entry>, CodecError>;

    /// Refuses an entry that is no place of an inner chunk in an encoded chunk of so many bytes. One that is a place is given back.
    ///
    /// # Errors
    /// The reason.
    fn place(&self, entry: Entry, size: u64) -> Result<Option<Window>, CodecError>;

    /// Encodes the index of an encoded chunk whose inner chunks have these lengths and lie one after the other, in row-major order of
    /// their places; one without a length is not stored. Returns the index, and true if it lies before the inner chunks.
    ///
    /// # Errors
    /// When the number of inner chunks is another one.
    fn encode_index(&self, lengths: &[Option<u64>]) -> Result<(Vec<u8>, bool), CodecError>;

    /// Decodes one encoded inner chunk, and keeps nothing of it.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    fn verify(&self, encoded: &[u8]) -> Result<(), CodecError>;

    /// Makes a new encoded chunk of all that is whole in a damaged one, and appends it to `encoded`. Inner chunks that are lost hold
    /// the fill value: with `fill` they are stored, otherwise they are not. Nothing is appended where all is lost and nothing is
    /// stored for it.
    ///
    /// An inner chunk is found again behind a damaged index only where there is one place for it.
    ///
    /// # Errors
    /// When it cannot be told what is whole.
    fn mend(&self, damaged: &[u8], fill: bool, encoded: &mut Vec<u8>) -> Result<Mended, CodecError>;
}

/// The outcome of mending an encoded chunk that has chunks inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mended {
    /// The number of inner chunks whose stored bytes are as they were.
    pub kept: usize,
    /// The number of those among the kept that the damaged index had lost.
    pub found: usize,
    /// The number of inner chunks that are lost.
    pub lost: usize,
}

/// The outcome of taking a damaged chunk apart whose elements can be read by parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// The number of elements that are as they were.
    pub kept: usize,
    /// The number of elements that are lost.
    pub lost: usize,
}
