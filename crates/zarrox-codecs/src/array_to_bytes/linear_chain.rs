//! Codec pipelines for one-dimensional arrays whose number of elements varies from chunk to chunk. They are used by codecs that
//! encode parts of a chunk separately, such as the bytes of variable-length elements.

use std::sync::Arc;

use zarrox_core::codec::{ChunkSpec, CodecContext, CodecError, EncodeOptions, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::strided::{Span, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, DataType, FillValue, Registry, Strictness};

/// The codec pipelines for any number of elements of one type.
#[derive(Debug)]
pub(crate) struct LinearChain {
    codecs: Vec<CodecSpec>,
    data_type: DataType,
    registry: Registry,
    strictness: Strictness,
    limit: usize,
    usual: Arc<CodecChain>,
}

impl LinearChain {
    /// Validates the codecs by building the pipeline for the usual number of elements.
    pub(crate) fn new(
        codecs: Vec<CodecSpec>,
        data_type: &DataType,
        usual: usize,
        context: &CodecContext<'_>,
    ) -> Result<Self, CodecError> {
        let usual = Arc::new(make(&codecs, data_type, usual, context)?);
        let (registry, data_type) = (context.registry.clone(), data_type.clone());
        Ok(Self { codecs, data_type, registry, strictness: context.strictness, limit: context.limit, usual })
    }

    /// Returns the pipeline for the usual number of elements.
    pub(crate) fn usual(&self) -> &CodecChain {
        &self.usual
    }

    /// Returns the pipeline for this number of elements.
    fn of(&self, count: usize) -> Result<Arc<CodecChain>, CodecError> {
        if *self.usual.chunk().shape() == [count] {
            return Ok(self.usual.clone());
        }
        let chunk = chunk(&self.data_type, count)?;
        let context = CodecContext {
            chunk: &chunk,
            registry: &self.registry,
            strictness: self.strictness,
            limit: self.limit,
        };
        CodecChain::new(&self.codecs, &context).map(Arc::new)
    }

    /// Decodes contiguous elements. If there are no elements, there are no encoded bytes.
    pub(crate) fn decode(
        &self,
        encoded: &[u8],
        elements: &mut [u8],
        vlen: &VlenBuffer,
    ) -> Result<(), CodecError> {
        if elements.is_empty() {
            if encoded.is_empty() {
                return Ok(());
            }
            return Err(CodecError::corrupt(format!(
                "{} bytes are stored, but the chunk has no elements",
                encoded.len()
            )));
        }
        let count = elements.len() / self.data_type.size();
        let chain = self.of(count)?;
        let out = chain.chunk().view_mut(elements, vlen);
        chain.decode(encoded, ReadRegion::new([Span::all(count)].into_iter().collect(), out))
    }

    /// Encodes contiguous elements, appending to `encoded`.
    pub(crate) fn encode(
        &self,
        elements: &[u8],
        vlen: &VlenBuffer,
        encoded: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if elements.is_empty() {
            return Ok(());
        }
        let chain = self.of(elements.len() / self.data_type.size())?;
        let options = EncodeOptions { store_empty_chunks: true };
        chain.encode(&chain.chunk().view(elements, vlen), options, encoded).map(|_| ())
    }
}

fn make(
    codecs: &[CodecSpec],
    data_type: &DataType,
    count: usize,
    context: &CodecContext<'_>,
) -> Result<CodecChain, CodecError> {
    let chunk = chunk(data_type, count)?;
    CodecChain::new(codecs, &CodecContext { chunk: &chunk, ..*context })
}

fn chunk(data_type: &DataType, count: usize) -> Result<ChunkSpec, CodecError> {
    let fill = match data_type.storage() {
        Storage::Variable => FillValue::new([]),
        fixed => FillValue::zero(fixed.size()),
    };
    Ok(ChunkSpec::new(&[count as u64], data_type.storage(), fill)?.of_type(data_type))
}
