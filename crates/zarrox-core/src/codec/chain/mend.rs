//! Finding out whether stored bytes can be decoded, and making new ones of what is whole in damaged ones.

use super::array_codecs::{ElementBuffer, whole};
use super::build::CodecChain;
use crate::codec::{ChunkTable, DecodeOptions, EncodeOptions, Mended, Size};
use crate::error::CodecError;
use crate::scratch::with_vec;

impl CodecChain {
    /// Decodes a whole chunk whose stored bytes are in memory, and keeps nothing of it.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn verify(&self, encoded: &[u8]) -> Result<(), CodecError> {
        if self.is_memory() && self.encoded_size() == Size::Exact(encoded.len()) {
            return Ok(());
        }
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        self.decode(encoded, elements.region(chunk, DecodeOptions::default(), &all))
    }

    /// Returns true if the stored bytes are the elements as they lie in memory: any bytes of the right number can be decoded.
    fn is_memory(&self) -> bool {
        self.arrays.codecs.is_empty() && self.bytes.stores_memory && self.bytes.bytes_to_bytes.is_empty()
    }

    /// The table of the chunks inside, if the stored bytes have them: no codec is around all of them.
    pub fn table(&self) -> Option<&dyn ChunkTable> {
        self.bytes.inner_chunks().filter(|_| self.bytes.bytes_to_bytes.is_empty())?.table()
    }

    /// Returns true if there are chunks inside of a chunk, be it that codecs are around all of them.
    pub fn has_inner_chunks(&self) -> bool {
        self.bytes.has_chunks
    }

    /// Makes new stored bytes of the chunks inside of damaged ones that are whole, and appends them to `encoded`, as
    /// [`ChunkTable::mend`] does. `None` where a chunk has none inside.
    ///
    /// # Errors
    /// When the codecs around the chunks cannot be undone, or it cannot be told what is whole.
    pub fn mend(
        &self,
        damaged: &[u8],
        fill: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<Mended>, CodecError> {
        let codecs = self.bytes.bytes_to_bytes.as_slice();
        let Some(table) = self.bytes.inner_chunks().and_then(|chunks| chunks.table()) else {
            return Ok(None);
        };
        if codecs.is_empty() {
            return table.mend(damaged, fill, encoded).map(Some);
        }
        self.bytes.undo(0, damaged, codecs, |damaged| {
            with_vec(|plain| {
                let mended = table.mend(damaged, fill, plain)?;
                if !plain.is_empty() {
                    self.bytes.encode_bytes(plain, encoded)?;
                }
                Ok(Some(mended))
            })
        })
    }

    /// Encodes a chunk of nothing but fill values and appends it to `encoded`.
    ///
    /// # Errors
    /// When the codecs cannot encode the fill value.
    pub fn encode_fill(&self, encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        elements.region(chunk, DecodeOptions::default(), &all).out.fill(chunk.fill().as_bytes());
        let options = EncodeOptions { store_empty_chunks: true };
        self.encode(&elements.view(chunk, &all), options, encoded).map(drop)
    }
}
