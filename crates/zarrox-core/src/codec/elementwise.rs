//! Array→array codecs that encode each element separately: arithmetic, rounding, casts.

use std::fmt;

use super::{ArrayToArray, ChunkSpec};
use crate::error::CodecError;
use crate::json::Map;
use crate::scratch::Scratch;
use crate::strided::{Dims, Span, View, ViewMut};

/// A codec that encodes each element separately. An implementation only needs to process slices of elements; partial access to
/// chunks follows from that.
pub trait Elementwise: fmt::Debug + Send + Sync {
    /// Returns the complete configuration, as in v3 metadata.
    fn configuration(&self) -> Map;

    /// Returns the chunk after encoding, which has the same shape as the decoded chunk.
    fn encoded_chunk(&self) -> &ChunkSpec;

    /// Encodes elements. Both slices have the same number of elements, in native byte order.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError>;

    /// Decodes elements. Both slices have the same number of elements, in native byte order.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError>;

    /// Returns true if [`Elementwise::decode`] only copies.
    #[doc(hidden)]
    fn decodes_unchanged(&self) -> bool {
        false
    }
}

impl<T: Elementwise> ArrayToArray for T {
    fn configuration(&self) -> Map {
        Elementwise::configuration(self)
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        Elementwise::encoded_chunk(self)
    }

    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        Some(region.into())
    }

    fn decodes_unchanged(&self) -> bool {
        Elementwise::decodes_unchanged(self)
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        let size = decoded.shape().iter().product::<usize>() * decoded.item();
        let Some(target) = encoded.as_slice_mut() else { return Err(scattered()) };
        if let Some(source) = decoded.as_slice() {
            return Elementwise::encode(self, source, target);
        }
        let mut gathered = Scratch::with_len(size)?;
        ViewMut::contiguous(&mut gathered, decoded.shape(), decoded.item()).copy_from(decoded, 1);
        Elementwise::encode(self, &gathered, target)
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        let size = decoded.shape().iter().product::<usize>() * decoded.item();
        let Some(source) = encoded.as_slice() else { return Err(scattered()) };
        if let Some(target) = decoded.as_slice_mut() {
            return Elementwise::decode(self, source, target);
        }
        let mut gathered = Scratch::with_len(size)?;
        Elementwise::decode(self, source, &mut gathered)?;
        decoded.copy_from(&View::contiguous(&gathered, decoded.shape(), decoded.item()), 1);
        Ok(())
    }
}

fn scattered() -> CodecError {
    CodecError::unsupported("the encoded elements must be contiguous in memory")
}
