//! Codecs from arrays to arrays.

use std::fmt;

use super::ChunkSpec;
use crate::error::CodecError;
use crate::json::Map;
use crate::strided::{Dims, Span, View, ViewMut};

/// A codec that turns an array into another array.
pub trait ArrayToArray: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// The chunk behind this codec.
    fn encoded_chunk(&self) -> &ChunkSpec;

    /// The new order of axes, when that is all that the codec does: it then costs nothing.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// The region of the encoded chunk that holds the elements of this region of the decoded one and no others, in the same
    /// row-major order; `None` when only whole chunks can be encoded and decoded.
    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        let _ = region;
        None
    }

    /// Returns true if decoding only copies elements, as when encoding rounds them.
    fn decodes_unchanged(&self) -> bool {
        false
    }

    /// Encodes a whole chunk, or, where there is an [encoded region](ArrayToArray::encoded_region), that of any part. The
    /// shapes are those of the two chunks or regions. `encoded` is contiguous, and so is `decoded` where only whole chunks
    /// can be encoded.
    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError>;

    /// Decodes a whole chunk, or, where there is an [encoded region](ArrayToArray::encoded_region), that of any part. The
    /// shapes are those of the two chunks or regions. `encoded` is contiguous, and so is `decoded` where only whole chunks
    /// can be decoded.
    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError>;
}
