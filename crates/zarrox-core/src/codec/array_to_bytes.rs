//! Codecs from an array to bytes.

use std::fmt;

use super::{ChunkTable, EncodeOptions, Fetch, ReadPart, ReadRegion, Size, Update, Window, WritePart};
use crate::error::CodecError;
use crate::json::Map;
use crate::strided::View;

/// A codec that turns an array into bytes. A chain has exactly one.
pub trait ArrayToBytes: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// The number of bytes that a chunk becomes.
    fn encoded_size(&self) -> Size;

    /// Encodes a chunk and appends it to `encoded`. False when nothing was appended because the chunk holds only the fill value
    /// and the options say that such chunks are not stored.
    fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError>;

    /// Decodes a region of an encoded chunk that is in memory.
    fn decode(&self, encoded: &[u8], region: ReadRegion<'_>) -> Result<(), CodecError>;

    /// The codec's way to a part of an encoded chunk; without one, chunks are read and decoded whole.
    fn access(&self) -> ArrayAccess<'_> {
        ArrayAccess::Whole
    }
}

/// The ways to a part of what an array→bytes codec encoded.
#[derive(Debug, Clone, Copy)]
pub enum ArrayAccess<'a> {
    /// None: all encoded bytes are needed.
    Whole,
    /// The codec knows which bytes hold a region.
    Ranges(&'a dyn RegionRanges),
    /// Each element has its own bytes, in row-major order, as many as in memory.
    InPlace(&'a dyn InPlace),
    /// The chunk is made of smaller chunks.
    Chunks(&'a dyn InnerChunks),
}

/// Knows which bytes of an encoded chunk hold a region.
pub trait RegionRanges: fmt::Debug + Sync {
    /// Lists the bytes to fetch from the encoded chunk, which is stored at `window`, to fill a region.
    fn read<'a>(&'a self, window: Window, region: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError>;
}

/// Encodes each element into as many bytes as it has in memory, in row-major order.
pub trait InPlace: RegionRanges {
    /// Decodes a chunk in its own memory.
    fn decode_in_place(&self, chunk: &mut [u8]);

    /// Returns true if the encoded elements are those in memory, byte for byte: the chain may then store and change them without
    /// this codec.
    fn stores_memory(&self) -> bool;
}

/// Encodes a chunk as smaller chunks, which are read and written one by one.
pub trait InnerChunks: fmt::Debug + Sync {
    /// The shape of the inner chunks.
    fn shape(&self) -> &[usize];

    /// Lists the bytes to fetch from the encoded chunk, which is stored at `window`, to fill a part.
    fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError>;

    /// Encodes a chunk in which only `part` is new and appends it to `encoded`. `None` stands for an existing chunk that holds only
    /// the fill value.
    fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError>;

    /// The encoded chunk as a table of the smaller ones, for those who check and mend it; `None` where nothing of it is understood.
    fn table(&self) -> Option<&dyn ChunkTable>;
}
