//! Elements on their way through the array→array codecs of a chain.

use super::fetch::permuted;
use super::{ArrayToArray, ChunkSpec, CodecChain, DecodeOptions, Fetch, ReadPart, Staged, Window};
use crate::error::CodecError;
use crate::scratch::Scratch;
use crate::strided::{Dims, Span, View};
use crate::vlen::VlenBuffer;

/// The regions that a region of a chunk is behind each array→array codec.
pub(super) type Regions = Vec<Dims<Span>>;

/// The region behind one codec, if it can work on parts of a chunk.
pub(super) fn behind(codec: &dyn ArrayToArray, region: &[Span]) -> Option<Dims<Span>> {
    match codec.permutation() {
        Some(order) => Some(permuted(region, order)),
        None => codec.encoded_region(region),
    }
}

/// All of a chunk.
pub(super) fn whole(chunk: &ChunkSpec) -> Dims<Span> {
    chunk.shape().iter().map(|&length| Span::all(length)).collect()
}

/// How many positions a region has in each dimension.
pub(super) fn counts(region: &[Span]) -> Dims<usize> {
    region.iter().map(|span| span.count).collect()
}

/// Elements behind the array→array codecs, or on the way there.
pub(super) struct Elements {
    memory: Scratch,
    vlen: VlenBuffer,
}

impl Elements {
    /// Room for a region of a chunk.
    pub(super) fn new(chain: &CodecChain, chunk: &ChunkSpec, region: &[Span]) -> Result<Self, CodecError> {
        let count: usize = region.iter().map(|span| span.count).product();
        Ok(Self { memory: chain.scratch(count * chunk.item())?, vlen: VlenBuffer::new() })
    }

    /// The elements, which are those of a region of such a chunk.
    pub(super) fn view<'a>(&'a self, chunk: &ChunkSpec, region: &[Span]) -> View<'a> {
        chunk.view_part(&self.memory, &counts(region), &self.vlen)
    }

    /// The same as a part to read into.
    pub(super) fn part<'a>(
        &'a mut self,
        chunk: &ChunkSpec,
        options: DecodeOptions,
        region: &[Span],
    ) -> ReadPart<'a> {
        let out = chunk.view_part_mut(&mut self.memory, &counts(region), &self.vlen);
        ReadPart { region: Dims::from_slice(region), out, options }
    }
}

impl CodecChain {
    /// Encodes elements through all array→array codecs; the regions are where they are behind each.
    pub(super) fn encode_elements(
        &self,
        source: &View<'_>,
        regions: &[Dims<Span>],
    ) -> Result<Elements, CodecError> {
        let gathered = self.gathered(source)?;
        let all = whole(self.chunk());
        let source = gathered.as_ref().map_or_else(|| source.clone(), |chunk| chunk.view(self.chunk(), &all));
        let mut before: Option<(Elements, &ChunkSpec, &Dims<Span>)> = None;
        for (named, region) in self.array_to_array.iter().zip(regions) {
            let chunk = named.codec.encoded_chunk();
            let mut next = Elements::new(self, chunk, region)?;
            let mut target = chunk.view_part_mut(&mut next.memory, &counts(region), &next.vlen);
            let encoded = match &before {
                Some((elements, chunk, region)) => {
                    named.codec.encode(&elements.view(chunk, region), &mut target)
                }
                None => named.codec.encode(&source, &mut target),
            };
            encoded.map_err(|e| e.in_codec(named.name))?;
            before = Some((next, chunk, region));
        }
        match before {
            Some((elements, ..)) => Ok(elements),
            None => Err(CodecError::unsupported("there are no array→array codecs")),
        }
    }

    /// A whole chunk that lies in memory with gaps, without them, where the first codec takes only whole chunks.
    fn gathered(&self, source: &View<'_>) -> Result<Option<Elements>, CodecError> {
        let first = self.array_to_array.first();
        let parts = first.is_none_or(|named| behind(&*named.codec, &whole(self.chunk())).is_some());
        if parts || source.as_slice().is_some() {
            return Ok(None);
        }
        let all = whole(self.chunk());
        let mut chunk = Elements::new(self, self.chunk(), &all)?;
        self.chunk().view_mut(&mut chunk.memory, &chunk.vlen).copy_from(source, 1);
        Ok(Some(chunk))
    }

    /// Decodes elements through all array→array codecs into a part, which lies in memory without gaps where the first of them
    /// takes only whole chunks; the regions are where they are behind each.
    pub(super) fn decode_elements(
        &self,
        mut elements: Elements,
        regions: &[Dims<Span>],
        mut part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        for (index, named) in self.array_to_array.iter().enumerate().rev() {
            let source = elements.view(named.codec.encoded_chunk(), &regions[index]);
            let explain = |e: CodecError| e.in_codec(named.name);
            let Some(before) = index.checked_sub(1) else {
                return named.codec.decode(&source, &mut part.out).map_err(explain);
            };
            let (chunk, region) = (self.array_to_array[before].codec.encoded_chunk(), &regions[before]);
            let mut next = Elements::new(self, chunk, region)?;
            let mut target = chunk.view_part_mut(&mut next.memory, &counts(region), &next.vlen);
            named.codec.decode(&source, &mut target).map_err(explain)?;
            elements = next;
        }
        Ok(())
    }
}

/// A part of a chunk that is read behind the array→array codecs, then decoded through them.
pub(super) struct Stage<'a> {
    chain: &'a CodecChain,
    window: Window,
    regions: Regions,
    part: ReadPart<'a>,
    elements: Option<Elements>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(chain: &'a CodecChain, window: Window, regions: Regions, part: ReadPart<'a>) -> Self {
        Self { chain, window, regions, part, elements: None }
    }
}

impl Staged for Stage<'_> {
    fn size(&self) -> usize {
        let count: usize = self.part.region.iter().map(|span| span.count).product();
        count.saturating_mul(self.chain.innermost().item())
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let chunk = self.chain.innermost();
        let Some(region) = self.regions.last() else { return Ok(Vec::new()) };
        let elements = self.elements.insert(Elements::new(self.chain, chunk, region)?);
        self.chain.read_array(self.window, elements.part(chunk, self.part.options, region))
    }

    fn finish(self: Box<Self>) -> Result<(), CodecError> {
        match self.elements {
            Some(elements) => self.chain.decode_elements(elements, &self.regions, self.part),
            None => Ok(()),
        }
    }
}
