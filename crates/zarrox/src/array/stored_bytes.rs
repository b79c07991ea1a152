//! Arrays whose elements are the bytes that are stored.

use std::sync::Arc;

use zarrox_core::codec::{ChunkSpec, CodecChain, CodecContext, EncodeOptions};
use zarrox_core::strided::View;
use zarrox_core::{ArrayMetadata, CodecSpec, DataType, FillValue, Result};

use super::{Array, ChunkCache, Shared};

impl Array {
    /// The same array, whose elements are raw bytes (`r8`, `r16`, …): those that are stored, in the byte order that they are
    /// stored in. Who wants elements in that order gets them by this without exchanging bytes twice.
    ///
    /// `None` where the codecs store more or other than the bytes of elements: where they are not `transpose`, then `bytes`,
    /// then codecs from bytes to bytes.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([3]).data_type(DataType::Int16).endian(zarrox::data_type::Endian::Big).create()?;
    /// array.write(.., &ndarray::arr1(&[1_i16, 2, 3]))?;
    /// let stored = array.as_stored_bytes().expect("they are stored one by one");
    /// assert_eq!(stored.read_dyn(..)?.as_bytes(), [0, 1, 0, 2, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_stored_bytes(&self) -> Option<Self> {
        let mut codecs = self.chain.specs();
        let at = codecs.iter().position(|codec| codec.name == "bytes")?;
        if !codecs[..at].iter().all(|codec| codec.name == "transpose") {
            return None;
        }
        let fill = self.stored_fill(&codecs[at]).ok()?;
        codecs[at].configuration.clear();
        let data_type = DataType::RawBits(fill.as_bytes().len());
        let fill_value = Some(fill);
        let mut metadata = ArrayMetadata { data_type, fill_value, codecs, ..self.metadata.clone() };
        let mut location = self.location.clone();
        let mut context = (*location.context).clone();
        // What is kept of this array is decoded to other bytes.
        context.chunk_cache = context.chunk_cache.map(|cache| ChunkCache::new(cache.limit()));
        let chain = metadata.chain(&context.registry, context.strictness, context.chunk_limit).ok()?;
        location.context = Arc::new(context);
        if self.metadata.fill_value.is_none() {
            metadata.fill_value = None;
        }
        Some(Self {
            location,
            chain: Arc::new(chain),
            shared: Arc::new(Shared { unit: self.shared.unit, ..Shared::default() }),
            unconfirmed: self.unconfirmed.as_ref().map(|unconfirmed| unconfirmed.said_by(&self.metadata)),
            chunks: self.chunks.clone(),
            metadata,
        })
    }

    /// The fill value as it is stored in a chunk.
    fn stored_fill(&self, bytes: &CodecSpec) -> Result<FillValue> {
        let (context, fill) = (&self.location.context, self.fill_value());
        let chunk = ChunkSpec::new(&[1], self.data_type().storage(), fill.clone())?.of_type(self.data_type());
        let codec = CodecContext {
            chunk: &chunk,
            registry: &context.registry,
            mode: context.strictness,
            limit: context.chunk_limit,
        };
        let chain = CodecChain::new(std::slice::from_ref(bytes), &codec)?;
        let mut stored = Vec::new();
        let one = View::contiguous(fill.as_bytes(), &[1], chunk.item());
        chain.encode(&one, EncodeOptions { store_empty_chunks: true }, &mut stored)?;
        Ok(FillValue::new(stored))
    }
}
