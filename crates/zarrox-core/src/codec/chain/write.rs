//! Encoding chunks, and updating parts of stored chunks.

use super::array_codecs::{scratch, whole};
use super::build::CodecChain;
use super::byte_codecs::STREAM;
use crate::codec::{Blocks, EncodeOptions, Encoded, InnerChunks, ReadRegion, Update, WritePart};
use crate::error::CodecError;
use crate::scratch::with_vec;
use crate::strided::{Dims, View};
use crate::vlen::VlenBuffer;

impl CodecChain {
    /// Encodes a whole chunk and appends it to `encoded`. Returns false, and appends nothing, if the chunk holds only the fill
    /// value and the options omit such chunks.
    pub fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        // The limit applies even if a single value in memory is broadcast to the whole chunk. It does not apply to a shard, which
        // is encoded one inner chunk at a time.
        if !self.bytes.has_chunks {
            self.bytes.check_limit(self.chunk().size())?;
        }
        if !options.store_empty_chunks && chunk.all_equal(self.chunk().fill().as_bytes()) {
            return Ok(false);
        }
        if let Some(order) = &self.arrays.order {
            return self.bytes.encode(&chunk.clone().permuted(order), options, encoded);
        }
        let elements = self.arrays.encode(chunk, &self.arrays.whole_regions())?;
        let array = &self.bytes.chunk;
        let array = elements.view(array, &whole(array));
        // If only the encoded form of a chunk equals the fill value, the chunk decodes to other values and must be stored.
        Ok(self.bytes.encode(&array, options, encoded)?
            || self.bytes.encode(&array, EncodeOptions { store_empty_chunks: true }, encoded)?)
    }

    /// Encodes a whole chunk with as few copies as the pipeline allows. `buffer`, which is empty, receives only bytes that must
    /// be encoded.
    #[doc(hidden)]
    pub fn encoded<'v>(
        &self,
        chunk: &View<'v>,
        options: EncodeOptions,
        buffer: &'v mut Vec<u8>,
    ) -> Result<Encoded<'v>, CodecError> {
        let size = self.chunk().size();
        let memory = chunk.as_slice();
        if size > self.limit() || !self.stores_memory() || (memory.is_none() && size <= STREAM) {
            let is_stored = self.encode(chunk, options, buffer)?;
            return Ok(if is_stored { Encoded::Bytes(buffer) } else { Encoded::Nothing });
        }
        if !options.store_empty_chunks && chunk.all_equal(self.chunk().fill().as_bytes()) {
            return Ok(Encoded::Nothing);
        }
        let in_blocks = || Encoded::Blocks(Blocks::new(chunk.clone(), self.blocks(&whole(self.chunk()))));
        Ok(memory.map_or_else(in_blocks, Encoded::Bytes))
    }

    /// Returns true if a stored chunk consists of its elements in their in-memory layout.
    fn stores_memory(&self) -> bool {
        let in_order = |order: &Dims<usize>| order.iter().enumerate().all(|(index, &axis)| index == axis);
        self.bytes.bytes_to_bytes.is_empty()
            && self.bytes.stores_memory
            && self.arrays.order.as_ref().is_some_and(in_order)
    }

    /// Encodes a chunk in which a part has new values, and appends it to `encoded`. `existing` is the stored chunk, or `None` if
    /// no chunk is stored.
    #[doc(hidden)]
    pub fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        let spec = self.chunk();
        if part.covers(spec.shape()) {
            return self.encode(part.source(), options, encoded).map(Update::of_encoded);
        }
        if let Some(chunks) = self.bytes.inner_chunks()
            && let Some(update) = self.update_inside(chunks, existing, part, options, encoded)?
        {
            return Ok(update);
        }
        if let Some(existing) = existing.filter(|bytes| bytes.len() == spec.size())
            && self.stores_memory()
        {
            return Ok(self.update_memory(existing, part, options, encoded));
        }
        let vlen = VlenBuffer::new();
        let mut chunk = scratch(spec.size(), self.limit())?;
        let mut view = spec.view_mut(&mut chunk, &vlen);
        match existing {
            Some(bytes) => self.decode(bytes, ReadRegion::new(whole(spec), view.reborrow()))?,
            None => view.fill(spec.fill().as_bytes()),
        }
        if existing.is_some() && !part.changes(&spec.view(&chunk, &vlen)) {
            return Ok(Update::Unchanged);
        }
        part.write_to(spec.view_mut(&mut chunk, &vlen));
        self.encode(&spec.view(&chunk, &vlen), options, encoded).map(Update::of_encoded)
    }

    /// Updates a stored chunk that consists of its elements in their in-memory layout.
    fn update_memory(
        &self,
        existing: &[u8],
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Update {
        let (vlen, spec) = (VlenBuffer::new(), self.chunk());
        if !part.changes(&spec.view(existing, &vlen)) {
            return Update::Unchanged;
        }
        let start = encoded.len();
        encoded.extend_from_slice(existing);
        part.write_to(spec.view_mut(&mut encoded[start..], &vlen));
        let chunk = spec.view(&encoded[start..], &vlen);
        if options.store_empty_chunks || !chunk.all_equal(spec.fill().as_bytes()) {
            return Update::Encoded;
        }
        encoded.truncate(start);
        Update::Empty
    }

    /// Updates only the affected inner chunks, if the array→array codecs allow it.
    fn update_inside(
        &self,
        chunks: &dyn InnerChunks,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<Update>, CodecError> {
        if let Some(order) = &self.arrays.order {
            return self.update_chunks(chunks, existing, &part.permuted(order), options, encoded).map(Some);
        }
        let Some(mut regions) = part.region().and_then(|region| self.arrays.regions(region)) else {
            return Ok(None);
        };
        let elements = self.arrays.encode(part.source(), &regions)?;
        let region = regions.pop().unwrap_or_default();
        let inside = WritePart::of_region(region.clone(), elements.view(&self.bytes.chunk, &region));
        let update = self.update_chunks(chunks, existing, &inside, options, encoded)?;
        // As in encoding, a chunk is omitted only if all its decoded values equal the fill value. It is not enough that all its
        // encoded values do.
        let nothing = match update {
            Update::Empty => true,
            Update::Unchanged => existing.is_none(),
            Update::Encoded => false,
        };
        if !nothing || (existing.is_none() && part.source().all_equal(self.chunk().fill().as_bytes())) {
            return Ok(Some(update));
        }
        let options = EncodeOptions { store_empty_chunks: true };
        self.update_chunks(chunks, existing, &inside, options, encoded).map(Some)
    }

    fn update_chunks(
        &self,
        chunks: &dyn InnerChunks,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        let codecs = &self.bytes.bytes_to_bytes;
        if codecs.is_empty() {
            return chunks.update(existing, part, options, encoded);
        }
        let mut update = |existing: Option<&[u8]>| {
            with_vec(|plain| match chunks.update(existing, part, options, plain)? {
                Update::Encoded => self.bytes.encode_bytes(plain, encoded).map(|()| Update::Encoded),
                other => Ok(other),
            })
        };
        match existing {
            Some(bytes) => self.bytes.undo(0, bytes, codecs, |plain| update(Some(plain))),
            None => update(None),
        }
    }
}
