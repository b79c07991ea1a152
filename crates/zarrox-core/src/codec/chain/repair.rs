//! Verification of stored chunks, and repair of damaged chunks.

use super::array_codecs::{ElementBuffer, whole};
use super::build::CodecChain;
use super::byte_codecs::PARTS;
use crate::codec::{
    ChunkTable, DecodeOptions, EncodeOptions, ReadRegion, RepairOutcome, Salvaged, Size, Window, resolve,
};
use crate::error::CodecError;
use crate::scratch::with_vec;
use crate::strided::{Dims, Span, ViewMut};

/// The maximum number of parts of a damaged chunk that are decoded separately.
const TRIES: usize = 1 << 20;

impl CodecChain {
    /// Decodes a whole chunk whose stored bytes are in memory, and discards the result.
    ///
    /// # Errors
    /// When the chunk cannot be decoded.
    #[doc(hidden)]
    pub fn verify(&self, encoded: &[u8]) -> Result<(), CodecError> {
        if self.is_memory() && self.encoded_size() == Size::Exact(encoded.len()) {
            return Ok(());
        }
        if self.arrays.codecs.is_empty()
            && let Some(verified) = self.bytes.verify_blocks(encoded)
        {
            return verified;
        }
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        self.decode(encoded, elements.region(chunk, DecodeOptions::default(), &all))
    }

    /// Returns true if the stored bytes are the elements in their in-memory layout, so that any bytes of the right length can be
    /// decoded.
    fn is_memory(&self) -> bool {
        self.arrays.codecs.is_empty() && self.bytes.stores_memory && self.bytes.bytes_to_bytes.is_empty()
    }

    /// Returns the table of inner chunks, if the stored bytes have one, that is, if no codec encodes all inner chunks together.
    #[doc(hidden)]
    pub fn table(&self) -> Option<&dyn ChunkTable> {
        self.bytes.inner_chunks().filter(|_| self.bytes.bytes_to_bytes.is_empty())?.table()
    }

    /// Returns true if the chunk has inner chunks, even if other codecs encode all of them together.
    #[doc(hidden)]
    pub fn has_inner_chunks(&self) -> bool {
        self.bytes.has_chunks
    }

    /// Builds new stored bytes from the valid inner chunks of a damaged chunk, and appends them to `encoded`, as
    /// [`ChunkTable::repair`] does. Returns `None` if the chunk has no inner chunks.
    ///
    /// # Errors
    /// When the codecs around the inner chunks cannot decode the bytes, or the valid inner chunks cannot be determined.
    #[doc(hidden)]
    pub fn repair(
        &self,
        damaged: &[u8],
        fill: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<RepairOutcome>, CodecError> {
        let codecs = self.bytes.bytes_to_bytes.as_slice();
        let Some(table) = self.bytes.inner_chunks().and_then(|chunks| chunks.table()) else {
            return Ok(None);
        };
        if codecs.is_empty() {
            return table.repair(damaged, fill, encoded).map(Some);
        }
        self.bytes.undo(0, damaged, codecs, |damaged| {
            with_vec(|plain| {
                let repaired = table.repair(damaged, fill, plain)?;
                if !plain.is_empty() {
                    self.bytes.encode_bytes(plain, encoded)?;
                }
                Ok(Some(repaired))
            })
        })
    }

    /// Re-encodes a damaged chunk from the elements that can still be read, and appends it to `encoded`; the other elements
    /// become the fill value. Returns `None`, and appends nothing, if the codecs only read whole chunks, or no element can be
    /// read.
    ///
    /// # Errors
    /// When the elements cannot be encoded, or too many parts are damaged.
    #[doc(hidden)]
    pub fn salvage(&self, damaged: &[u8], encoded: &mut Vec<u8>) -> Result<Option<Salvaged>, CodecError> {
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let window = Window::of_size(damaged.len() as u64);
        let by_parts = chunk.size() > PARTS && self.reads_parts(window, DecodeOptions::default());
        if chunk.is_variable() || self.has_inner_chunks() || !by_parts {
            return Ok(None);
        }
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        let (mut salvaged, mut tries, mut regions) = (Salvaged::default(), 0, vec![all.clone()]);
        while let Some(region) = regions.pop() {
            tries += 1;
            if tries > TRIES {
                return Err(CodecError::limit(
                    "the chunk has too many damaged parts to decode them separately",
                ));
            }
            let count: usize = region.iter().map(|span| span.count).product();
            let part = |elements: &mut ElementBuffer, work: &mut dyn FnMut(ViewMut<'_>) -> bool| {
                work(elements.region(chunk, DecodeOptions::default(), &all).out.into_region(&region))
            };
            let is_read = part(&mut elements, &mut |out| {
                let fetches = self.read(window, ReadRegion::new(region.clone(), out));
                fetches.and_then(|fetches| resolve(fetches, damaged)).is_ok()
            });
            match halves(&region) {
                _ if is_read => salvaged.kept += count,
                Some(halves) => regions.extend(halves),
                None => {
                    part(&mut elements, &mut |mut out| {
                        out.fill(chunk.fill().as_bytes());
                        true
                    });
                    salvaged.lost += count;
                }
            }
        }
        if salvaged.kept == 0 {
            return Ok(None);
        }
        let options = EncodeOptions { store_empty_chunks: true };
        self.encode(&elements.view(chunk, &all), options, encoded)?;
        Ok(Some(salvaged))
    }

    /// Encodes a chunk that holds only the fill value and appends it to `encoded`.
    ///
    /// # Errors
    /// When the codecs cannot encode the fill value.
    #[doc(hidden)]
    pub fn encode_fill(&self, encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        elements.region(chunk, DecodeOptions::default(), &all).out.fill(chunk.fill().as_bytes());
        let options = EncodeOptions { store_empty_chunks: true };
        self.encode(&elements.view(chunk, &all), options, encoded).map(drop)
    }
}

/// Divides a region of more than one element along its first axis that can be divided, so that both halves are contiguous if the
/// region is.
fn halves(region: &[Span]) -> Option<[Dims<Span>; 2]> {
    let axis = region.iter().position(|span| span.count > 1)?;
    let Span { start, step, count } = region[axis];
    let (mut first, mut second) = (Dims::from_slice(region), Dims::from_slice(region));
    first[axis].count = count / 2;
    second[axis] = Span { start: start + count / 2, step, count: count - count / 2 };
    Some([first, second])
}
