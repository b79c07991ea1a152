//! Construction of codec pipelines.

use super::array_codecs::ArrayCodecs;
use super::byte_codecs::ByteCodecs;
use super::named::Named;
use crate::codec::{
    ArrayToArray, ArrayToBytes, BytesToBytes, ChunkSpec, Codec, CodecContext, CodecSpec, Size,
};
use crate::error::CodecError;

/// A codec pipeline for the chunks of one specification, ready to read and write.
#[derive(Debug)]
pub struct CodecChain {
    pub(super) arrays: ArrayCodecs,
    pub(super) bytes: ByteCodecs,
}

impl CodecChain {
    /// Creates the codec pipeline.
    ///
    /// # Errors
    /// When a codec cannot be created, or does not accept the output of the preceding codec.
    pub fn new(specs: &[CodecSpec], context: &CodecContext<'_>) -> Result<Self, CodecError> {
        let mut array_to_array: Vec<Named<Box<dyn ArrayToArray>>> = Vec::new();
        let mut array_to_bytes = None;
        let mut bytes_to_bytes = Vec::new();
        let mut chunk = context.chunk.clone();
        for spec in specs {
            let (name, codec) = spec.create(&CodecContext { chunk: &chunk, ..*context })?;
            match (codec, &array_to_bytes) {
                (Codec::ArrayToArray(codec), None) => {
                    chunk = codec.encoded_chunk().clone();
                    array_to_array.push(Named { name, codec });
                }
                (Codec::ArrayToBytes(codec), None) => array_to_bytes = Some(Named { name, codec }),
                (Codec::BytesToBytes(codec), Some(_)) => bytes_to_bytes.push(Named { name, codec }),
                (Codec::BytesToBytes(_), None) => {
                    return Err(CodecError::invalid(format!(
                        "codec '{name}' needs bytes, but no codec before it turns the array into bytes"
                    )));
                }
                (_, Some(before)) => {
                    return Err(CodecError::invalid(format!(
                        "codec '{name}' needs an array, but the codec '{}' before it turns the array into bytes",
                        before.name
                    )));
                }
            }
        }
        let array_to_bytes = array_to_bytes.ok_or_else(|| {
            CodecError::invalid("no codec turns the array into bytes; add 'bytes', which suits most arrays")
        })?;
        Ok(Self::of(array_to_array, array_to_bytes, bytes_to_bytes, context))
    }

    /// Assembles a pipeline from codecs that accept each other's output.
    pub(super) fn of(
        array_to_array: Vec<Named<Box<dyn ArrayToArray>>>,
        array_to_bytes: Named<Box<dyn ArrayToBytes>>,
        bytes_to_bytes: Vec<Named<Box<dyn BytesToBytes>>>,
        context: &CodecContext<'_>,
    ) -> Self {
        let arrays = ArrayCodecs::new(context.chunk.clone(), array_to_array, context.limit);
        let bytes =
            ByteCodecs::new(arrays.encoded_chunk().clone(), array_to_bytes, bytes_to_bytes, context.limit);
        Self { arrays, bytes }
    }

    /// Returns the specification of the chunks of this pipeline.
    pub fn chunk(&self) -> &ChunkSpec {
        &self.arrays.chunk
    }

    /// Returns the number of stored bytes of a chunk.
    pub fn encoded_size(&self) -> Size {
        self.bytes.encoded_size
    }

    /// Returns the size of the largest buffer that may be allocated, in bytes.
    #[doc(hidden)]
    pub fn limit(&self) -> usize {
        self.bytes.limit
    }

    /// Returns the codecs with their complete configurations, for metadata.
    pub fn specs(&self) -> Vec<CodecSpec> {
        let spec = |name: &str, configuration| CodecSpec { name: name.to_owned(), configuration };
        let arrays = self.arrays.codecs.iter().map(|c| spec(c.name, c.codec.configuration()));
        let array = &self.bytes.array_to_bytes;
        let bytes = spec(array.name, array.codec.configuration());
        let rest = self.bytes.bytes_to_bytes.iter().map(|c| spec(c.name, c.codec.configuration()));
        arrays.chain([bytes]).chain(rest).collect()
    }

    /// Returns the order of the chunk's axes after all array→array codecs, if these only permute axes.
    #[doc(hidden)]
    pub fn order(&self) -> Option<&[usize]> {
        self.arrays.order.as_deref()
    }

    /// Returns the shape of the inner chunks, if this pipeline shards, in the order of the array's axes.
    pub fn inner_chunk_shape(&self) -> Option<Vec<usize>> {
        let inner = self.bytes.inner_chunks()?.shape();
        let order = self.arrays.order.as_ref()?;
        let mut shape = vec![0; inner.len()];
        for (&axis, &length) in order.iter().zip(inner) {
            shape[axis] = length;
        }
        Some(shape)
    }

    /// Returns true if inner chunks can be read individually, that is, if no codec encodes all of them together.
    #[doc(hidden)]
    pub fn reads_inner_chunks_alone(&self) -> bool {
        self.bytes.bytes_to_bytes.is_empty() && self.inner_chunk_shape().is_some()
    }
}
