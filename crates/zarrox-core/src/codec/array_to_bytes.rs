//! Array→bytes codecs.

use std::fmt;

use super::{ChunkTable, EncodeOptions, Fetch, ReadPart, ReadRegion, Size, Update, Window, WritePart};
use crate::error::CodecError;
use crate::json::Map;
use crate::strided::View;

/// A codec that converts an array to bytes. A codec pipeline has exactly one array→bytes codec.
pub trait ArrayToBytes: fmt::Debug + Send + Sync {
    /// Returns the complete configuration, as in v3 metadata.
    fn configuration(&self) -> Map;

    /// Returns the number of encoded bytes of a chunk.
    fn encoded_size(&self) -> Size;

    /// Encodes a chunk and appends it to `encoded`. Returns false, and appends nothing, if the chunk holds only the fill value
    /// and the options omit such chunks.
    fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError>;

    /// Decodes a region of an encoded chunk that is in memory.
    fn decode(&self, encoded: &[u8], region: ReadRegion<'_>) -> Result<(), CodecError>;

    /// Returns the codec's partial access to an encoded chunk. Without it, whole chunks are read and decoded.
    fn access(&self) -> ArrayAccess<'_> {
        ArrayAccess::Whole
    }
}

/// The partial access of an array→bytes codec to an encoded chunk.
#[derive(Debug, Clone, Copy)]
pub enum ArrayAccess<'a> {
    /// No partial access: all encoded bytes are needed.
    Whole,
    /// The codec can compute the byte ranges of a region.
    Ranges(&'a dyn RegionRanges),
    /// Each element is encoded separately, in row-major order, and has the same size as in memory.
    #[doc(hidden)]
    InPlace(&'a dyn InPlace),
    /// The chunk consists of inner chunks.
    #[doc(hidden)]
    Chunks(&'a dyn InnerChunks),
}

/// Computes the byte ranges of an encoded chunk that a region needs.
pub trait RegionRanges: fmt::Debug + Sync {
    /// Returns the fetches that fill a region from the encoded chunk at `window`.
    fn read<'a>(&'a self, window: Window, region: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError>;
}

/// Encodes each element separately, in row-major order, with the same size as in memory.
pub trait InPlace: RegionRanges {
    /// Decodes a chunk in place.
    fn decode_in_place(&self, chunk: &mut [u8]);

    /// Returns true if the encoded elements have the same bytes as the elements in memory. The codec pipeline then stores and
    /// updates the elements without calling this codec.
    fn stores_memory(&self) -> bool;
}

/// Encodes a chunk as inner chunks, which can be read and written individually.
pub trait InnerChunks: fmt::Debug + Sync {
    /// Returns the shape of the inner chunks.
    fn shape(&self) -> &[usize];

    /// Returns the fetches that fill a part from the encoded chunk at `window`.
    fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError>;

    /// Updates a chunk with the new values in `part`, encodes it, and appends it to `encoded`. `existing` is the stored chunk, or
    /// `None` for a chunk that holds only the fill value.
    fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError>;

    /// Returns the encoded chunk as a table of inner chunks, for verification and repair; `None` if the codec has no such table.
    fn table(&self) -> Option<&dyn ChunkTable>;
}
