//! Array→array codecs.

use std::fmt;

use super::ChunkSpec;
use crate::error::CodecError;
use crate::json::Map;
use crate::strided::{Dims, Span, View, ViewMut};

/// A codec that turns an array into another array.
pub trait ArrayToArray: fmt::Debug + Send + Sync {
    /// Returns the complete configuration, as in v3 metadata.
    fn configuration(&self) -> Map;

    /// Returns the chunk after encoding.
    fn encoded_chunk(&self) -> &ChunkSpec;

    /// Returns the new order of the axes, if the codec only permutes axes. The codec pipeline then permutes the strides and
    /// copies nothing.
    #[doc(hidden)]
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// Returns the region of the encoded chunk that holds exactly the elements of the given region of the decoded chunk, in the
    /// same row-major order. Returns `None` if the codec can only encode and decode whole chunks.
    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        let _ = region;
        None
    }

    /// Returns true if decoding only copies elements, as for a codec that rounds values when it encodes them.
    #[doc(hidden)]
    fn decodes_unchanged(&self) -> bool {
        false
    }

    /// Encodes a whole chunk, or any region of it if the codec has an [encoded region](ArrayToArray::encoded_region). Each
    /// array has the shape of its chunk or region. `encoded` is contiguous; `decoded` is contiguous if the codec only supports
    /// whole chunks.
    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError>;

    /// Decodes a whole chunk, or any region of it if the codec has an [encoded region](ArrayToArray::encoded_region). Each
    /// array has the shape of its chunk or region. `encoded` is contiguous; `decoded` is contiguous if the codec only supports
    /// whole chunks.
    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError>;
}
