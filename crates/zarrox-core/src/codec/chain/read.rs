//! Reading and decoding: computing the byte ranges that a part of a chunk needs, and converting the bytes to elements.

use super::array_codecs::{ElementBuffer, Regions, counts, scratch, whole};
use super::build::CodecChain;
use super::byte_codecs::{BytesCodec, PARTS};
use super::named::Named;
use crate::codec::coalesce::BYTES_PER_BOX;
use crate::codec::read_part::ReadSet;
use crate::codec::{
    BytesAccess, DecodeOptions, DeferredDecode, Fetch, ReadPart, ReadRegion, Window, decode_growing, resolve,
};
use crate::error::CodecError;
use crate::scratch::Scratch;
use crate::strided::{Dims, Span};

impl CodecChain {
    /// Returns the fetches from a stored chunk that fill a part.
    #[doc(hidden)]
    pub fn read<'a>(
        &'a self,
        window: Window,
        part: impl Into<ReadPart<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let region = match part.into().into_region() {
            Ok(region) => region,
            Err(set) => return self.read_set(window, set),
        };
        if let Some(order) = &self.arrays.decoding_order {
            return self.bytes.read(window, region.permuted(order));
        }
        let (inside, codecs) = self.bytes.unframed(window, region.options);
        let parts = match codecs {
            [] => true,
            [only] => self.bytes.chunk.size() > PARTS && decodes_ranges(only),
            _ => false,
        };
        if !parts || self.arrays.regions(&region.region).is_none() {
            return Ok(Fetch::whole(inside, |bytes| self.decode_through_arrays(bytes, codecs, region)));
        }
        let mut fetches = Vec::new();
        let blocks = if codecs.is_empty() { self.blocks(&region.region) } else { counts(&region.region) };
        self.arrays.in_blocks(region, &blocks, |region, regions| {
            fetches.push(Fetch::deferred(
                inside,
                Through { chain: self, window, regions, region, elements: None },
            ));
            Ok(())
        })?;
        Ok(fetches)
    }

    /// Decodes a part of a chunk whose stored bytes are in memory.
    pub fn decode<'a>(&self, encoded: &[u8], part: impl Into<ReadPart<'a>>) -> Result<(), CodecError> {
        let window = Window::of_size(encoded.len() as u64);
        let region = match part.into().into_region() {
            Ok(region) => region,
            Err(set) => return resolve(self.read_set(window, set)?, encoded),
        };
        let (encoded, codecs) = match self.bytes.bytes_to_bytes.as_slice() {
            [] => (encoded, &[][..]),
            _ => {
                let (window, codecs) = self.bytes.unframed(window, region.options);
                (window.of(encoded)?, codecs)
            }
        };
        match &self.arrays.decoding_order {
            Some(order) => self.bytes.decode(encoded, codecs, region.permuted(order)),
            None => self.decode_through_arrays(encoded, codecs, region),
        }
    }

    /// Decodes elements that are stored in their in-memory layout, regardless of their number. Returns `None` for a pipeline that
    /// does more than encode this layout with bytes→bytes codecs.
    #[doc(hidden)]
    pub fn decode_any_number(&self, encoded: &[u8]) -> Option<Result<Scratch, CodecError>> {
        let plain = self.arrays.codecs.is_empty() && self.bytes.stores_memory;
        plain.then(|| {
            let mut decoded = scratch(encoded.len(), self.limit())?;
            decoded.copy_from_slice(encoded);
            for named @ Named { codec, .. } in self.bytes.bytes_to_bytes.iter().rev() {
                decoded = decode_growing(&**codec, &decoded, self.limit()).map_err(named.explain())?;
            }
            Ok(decoded)
        })
    }

    fn read_set<'a>(&'a self, window: Window, set: ReadSet<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        if let (true, Some(order)) = (self.bytes.has_chunks, &self.arrays.decoding_order) {
            return self.bytes.read_chunks(window, set.permuted(order));
        }
        let chunk = self.chunk();
        if chunk.size() <= PARTS || !self.reads_parts(window, set.options) {
            return Ok(Fetch::whole(window, |bytes| self.decode_all(bytes, set)));
        }
        let region = set.bounding_box(chunk.shape().len());
        let size = counts(&region).iter().product::<usize>() * chunk.item();
        // Inner chunks would be decoded once for each region.
        let limit = if self.bytes.has_chunks { 0 } else { size / BYTES_PER_BOX };
        match set.into_regions(limit) {
            Ok(regions) => self.read_regions(window, regions),
            Err(set) => {
                // Reading the whole chunk costs little more than reading a bounding box that covers most of it.
                let region = if size > chunk.size() / 4 * 3 { whole(chunk) } else { region };
                Ok(vec![Fetch::deferred(window, Gather { chain: self, window, region, set, elements: None })])
            }
        }
    }

    /// Returns the fetches that fill several regions, for a chunk that can be read in parts.
    fn read_regions<'a>(
        &'a self,
        window: Window,
        regions: Vec<ReadRegion<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let options = regions.first().map_or_else(DecodeOptions::default, |region| region.options);
        if let (Some(order), (window, [only])) =
            (&self.arrays.decoding_order, self.bytes.unframed(window, options))
            && let BytesAccess::Ranges(codec) = only.codec.access()
        {
            let permuted = regions.into_iter().map(|region| region.permuted(order));
            return self.bytes.read_ranges((only, codec), window, permuted);
        }
        let mut fetches = Vec::new();
        for region in regions {
            fetches.extend(self.read(window, region)?);
        }
        Ok(fetches)
    }

    /// Returns true if reading a part of a chunk costs less than reading the whole chunk.
    pub(super) fn reads_parts(&self, window: Window, options: DecodeOptions) -> bool {
        let parts = match self.bytes.unframed(window, options).1 {
            [] => self.bytes.in_place || self.bytes.has_chunks,
            [only] => self.bytes.in_place && decodes_ranges(only),
            _ => false,
        };
        parts && (self.arrays.decoding_order.is_some() || self.arrays.regions(&whole(self.chunk())).is_some())
    }

    /// Decodes a whole chunk and copies the requested elements from it.
    fn decode_all(&self, encoded: &[u8], mut set: ReadSet<'_>) -> Result<(), CodecError> {
        let (chunk, all) = (self.chunk(), whole(self.chunk()));
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        self.decode(encoded, elements.region(chunk, set.options, &all))?;
        set.gather(&elements.view(chunk, &all), &Dims::from_elem(0, all.len()));
        Ok(())
    }

    /// Decodes a region with array→array codecs that change values. `codecs` are the bytes→bytes codecs that encoded the bytes.
    /// The region is decoded block by block if the array→array codecs support regions.
    fn decode_through_arrays(
        &self,
        encoded: &[u8],
        codecs: &[BytesCodec],
        mut region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        let chunk = self.chunk();
        if let Some(regions) = self.arrays.regions(&region.region) {
            let blocks = self.blocks(&region.region);
            if codecs.first().is_some_and(decodes_ranges) || blocks == counts(&region.region) {
                return self.decode_block(encoded, codecs, &regions, region);
            }
            return self.bytes.undo(0, encoded, codecs, |plain| {
                self.arrays.in_blocks(region, &blocks, |region, regions| {
                    self.decode_block(plain, &[], &regions, region)
                })
            });
        }
        let regions = self.arrays.whole_regions();
        if region.covers(chunk.shape()) && region.out.is_contiguous() {
            return self.decode_block(encoded, codecs, &regions, region);
        }
        let all = whole(chunk);
        let mut elements = ElementBuffer::new(chunk, &all, self.limit())?;
        let every = elements.region(chunk, region.options, &all);
        self.decode_block(encoded, codecs, &regions, every)?;
        region.copy_from(&elements.view(chunk, &all));
        Ok(())
    }

    fn decode_block(
        &self,
        encoded: &[u8],
        codecs: &[BytesCodec],
        regions: &[Dims<Span>],
        region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        let Some(inner) = regions.last() else { return Ok(()) };
        let chunk = &self.bytes.chunk;
        let mut elements = ElementBuffer::new(chunk, inner, self.limit())?;
        self.bytes.decode(encoded, codecs, elements.region(chunk, region.options, inner))?;
        self.arrays.decode(elements, regions, region)
    }

    /// Returns the shape of the blocks of a region that are decoded together. The block is the whole region if the array→bytes
    /// codec would otherwise repeat work for each block.
    pub(super) fn blocks(&self, region: &[Span]) -> Dims<usize> {
        if self.bytes.in_place { self.arrays.blocks(region) } else { counts(region) }
    }
}

fn decodes_ranges(named: &BytesCodec) -> bool {
    matches!(named.codec.access(), BytesAccess::Ranges(_))
}

/// A region whose encoded elements are read into a buffer, and then decoded with the array→array codecs.
struct Through<'a> {
    chain: &'a CodecChain,
    window: Window,
    regions: Regions,
    region: ReadRegion<'a>,
    elements: Option<ElementBuffer>,
}

impl DeferredDecode for Through<'_> {
    fn size(&self) -> usize {
        let count: usize = self.region.region.iter().map(|span| span.count).product();
        count.saturating_mul(self.chain.bytes.chunk.item())
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let chunk = &self.chain.bytes.chunk;
        let Some(region) = self.regions.last() else { return Ok(Vec::new()) };
        let elements = self.elements.insert(ElementBuffer::new(chunk, region, self.chain.limit())?);
        self.chain.bytes.read(self.window, elements.region(chunk, self.region.options, region))
    }

    fn finish(self: Box<Self>) -> Result<(), CodecError> {
        match self.elements {
            Some(elements) => self.chain.arrays.decode(elements, &self.regions, self.region),
            None => Ok(()),
        }
    }
}

/// A region that is read into a buffer, from which the elements are then copied.
struct Gather<'a> {
    chain: &'a CodecChain,
    window: Window,
    region: Dims<Span>,
    set: ReadSet<'a>,
    elements: Option<ElementBuffer>,
}

impl DeferredDecode for Gather<'_> {
    fn size(&self) -> usize {
        counts(&self.region).iter().product::<usize>().saturating_mul(self.chain.chunk().item())
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let chunk = self.chain.chunk();
        let elements = self.elements.insert(ElementBuffer::new(chunk, &self.region, self.chain.limit())?);
        self.chain.read(self.window, elements.region(chunk, self.set.options, &self.region))
    }

    fn finish(mut self: Box<Self>) -> Result<(), CodecError> {
        let Some(elements) = self.elements.take() else { return Ok(()) };
        let corner: Dims<usize> = self.region.iter().map(|span| span.start).collect();
        self.set.gather(&elements.view(self.chain.chunk(), &self.region), &corner);
        Ok(())
    }
}
