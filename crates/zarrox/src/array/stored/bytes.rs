//! Arrays whose elements are read as raw bytes, in the stored byte order.

use std::sync::Arc;

use zarrox_core::codec::EncodeOptions;
use zarrox_core::strided::View;
use zarrox_core::{DataType, FillValue, Result};

use crate::array::{Array, Shared};

impl Array {
    /// See [`RawChunks::as_bytes`](crate::RawChunks::as_bytes).
    pub(in crate::array) fn as_stored_bytes(&self) -> Option<Self> {
        let mut codecs = self.chain.specs();
        let at = codecs.iter().position(|codec| codec.name == "bytes")?;
        if !codecs[..at].iter().all(|codec| codec.name == "transpose") {
            return None;
        }
        let mut array = self.clone();
        array.metadata.codecs = vec![codecs[at].clone()];
        let fill = array.stored_fill().ok()?;
        codecs[at].configuration.clear();
        array.metadata.codecs = codecs;
        array.metadata.data_type = DataType::RawBits(fill.as_bytes().len());
        array.metadata.fill_value = Some(fill);
        let context = &self.location.context;
        let chain = array.metadata.chain(&context.registry, context.strictness, context.chunk_limit).ok()?;
        array.chain = Arc::new(chain);
        // An undefined fill value stays undefined.
        array.metadata.fill_value.take_if(|_| self.metadata.fill_value.is_none());
        array.shared = Arc::new(Shared { unit: self.shared.unit, as_stored: true, ..Shared::default() });
        if let Some(generation) = &self.generation {
            generation.keep(&self.metadata);
        }
        Some(array)
    }

    /// Returns the fill value in the stored byte order.
    fn stored_fill(&self) -> Result<FillValue> {
        let context = &self.location.context;
        let chain =
            self.metadata.chain_of(&[1], &context.registry, context.strictness, context.chunk_limit)?;
        let chunk = chain.chunk();
        let mut stored = Vec::new();
        let one = View::contiguous(chunk.fill().as_bytes(), &[1], chunk.item());
        chain.encode(&one, EncodeOptions { store_empty_chunks: true }, &mut stored)?;
        Ok(FillValue::new(stored))
    }
}
