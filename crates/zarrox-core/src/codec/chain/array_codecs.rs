//! The array→array codecs of a codec pipeline.

use super::named::Named;
use crate::codec::read_part::permuted;
use crate::codec::{ArrayToArray, ChunkSpec, DecodeOptions, ReadRegion};
use crate::error::CodecError;
use crate::scratch::Scratch;
use crate::selection::partition::{Piece, split_mut};
use crate::strided::{Dims, Span, View};
use crate::vlen::VlenBuffer;

/// The array→array codecs of a codec pipeline.
#[derive(Debug)]
pub(super) struct ArrayCodecs {
    /// The chunk before the first codec.
    pub(super) chunk: ChunkSpec,
    pub(super) codecs: Vec<Named<Box<dyn ArrayToArray>>>,
    /// The order of the axes after all codecs, if the codecs only permute axes.
    pub(super) order: Option<Dims<usize>>,
    /// The order of the axes after all codecs, if decoding only permutes axes.
    pub(super) decoding_order: Option<Dims<usize>>,
    limit: usize,
}

/// The regions that correspond to a region of a chunk, one after each array→array codec.
pub(super) type Regions = Vec<Dims<Span>>;

/// The maximum size of a block of elements that passes through all codecs at once, in bytes: the block stays in a core's cache.
pub(super) const BLOCK: usize = 256 << 10;

impl ArrayCodecs {
    pub(super) fn new(chunk: ChunkSpec, codecs: Vec<Named<Box<dyn ArrayToArray>>>, limit: usize) -> Self {
        let order = total_order(&codecs, &chunk, false);
        let decoding_order = total_order(&codecs, &chunk, true);
        Self { chunk, codecs, order, decoding_order, limit }
    }

    /// Returns the chunk after the last codec.
    pub(super) fn encoded_chunk(&self) -> &ChunkSpec {
        self.codecs.last().map_or(&self.chunk, |last| last.codec.encoded_chunk())
    }

    /// Returns the regions of a whole chunk after each codec.
    pub(super) fn whole_regions(&self) -> Regions {
        self.codecs.iter().map(|named| whole(named.codec.encoded_chunk())).collect()
    }

    /// Returns the regions that correspond to a region after each codec; `None` if one of the codecs only supports whole
    /// chunks.
    pub(super) fn regions(&self, region: &[Span]) -> Option<Regions> {
        let mut regions = Regions::with_capacity(self.codecs.len());
        for Named { codec, .. } in &self.codecs {
            let next = behind(&**codec, regions.last().map_or(region, |last| last))?;
            regions.push(next);
        }
        Some(regions)
    }

    /// Returns the shape of the largest blocks of a region that have at most [`BLOCK`] bytes and span the region along the last
    /// dimensions.
    pub(super) fn blocks(&self, region: &[Span]) -> Dims<usize> {
        let mut blocks = counts(region);
        let mut size = self.chunk.item().max(self.encoded_chunk().item());
        for count in blocks.iter_mut().rev() {
            *count = (*count).min(BLOCK.div_ceil(size.max(1))).max(1);
            size = size.saturating_mul(*count);
        }
        blocks
    }

    /// Calls `work` for each block of a region, with the regions of the block after each codec.
    pub(super) fn in_blocks<'a>(
        &self,
        ReadRegion { region: outer, out, options }: ReadRegion<'a>,
        blocks: &[usize],
        mut work: impl FnMut(ReadRegion<'a>, Regions) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let positions: Dims<Span> = outer.iter().map(|span| Span::all(span.count)).collect();
        split_mut(&positions, blocks, out, |pieces, out| {
            let inner = |(span, piece): (&Span, &Piece)| Span {
                start: span.start + piece.out * span.step,
                count: piece.span.count,
                step: span.step,
            };
            let region: Dims<Span> = outer.iter().zip(pieces).map(inner).collect();
            let regions = self.regions(&region).unwrap_or_default();
            work(ReadRegion { region, out, options }, regions)
        })
    }

    /// Encodes elements with all codecs. `regions` are their regions after each codec.
    pub(super) fn encode(
        &self,
        source: &View<'_>,
        regions: &[Dims<Span>],
    ) -> Result<ElementBuffer, CodecError> {
        let gathered = self.gathered(source)?;
        let all = whole(&self.chunk);
        let source = gathered.as_ref().map_or_else(|| source.clone(), |chunk| chunk.view(&self.chunk, &all));
        let mut before: Option<(ElementBuffer, &ChunkSpec, &Dims<Span>)> = None;
        for (named, region) in self.codecs.iter().zip(regions) {
            let chunk = named.codec.encoded_chunk();
            let mut next = ElementBuffer::new(chunk, region, self.limit)?;
            let mut target = chunk.view_part_mut(&mut next.memory, &counts(region), &next.vlen);
            let encoded = match &before {
                Some((elements, chunk, region)) => {
                    named.codec.encode(&elements.view(chunk, region), &mut target)
                }
                None => named.codec.encode(&source, &mut target),
            };
            encoded.map_err(named.explain())?;
            before = Some((next, chunk, region));
        }
        match before {
            Some((elements, ..)) => Ok(elements),
            None => Err(CodecError::unsupported("the pipeline has no array→array codecs")),
        }
    }

    /// Returns a contiguous copy of a whole chunk, if the chunk has gaps in memory and the first codec only supports whole
    /// chunks.
    fn gathered(&self, source: &View<'_>) -> Result<Option<ElementBuffer>, CodecError> {
        let first = self.codecs.first();
        let parts = first.is_none_or(|named| behind(&*named.codec, &whole(&self.chunk)).is_some());
        if parts || source.as_slice().is_some() {
            return Ok(None);
        }
        let all = whole(&self.chunk);
        let mut chunk = ElementBuffer::new(&self.chunk, &all, self.limit)?;
        self.chunk.view_mut(&mut chunk.memory, &chunk.vlen).copy_from(source, 1);
        Ok(Some(chunk))
    }

    /// Decodes elements with all codecs into a region, which must be contiguous if the first codec only supports whole chunks.
    /// `regions` are the regions of the elements after each codec.
    pub(super) fn decode(
        &self,
        mut elements: ElementBuffer,
        regions: &[Dims<Span>],
        mut region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        for (index, named) in self.codecs.iter().enumerate().rev() {
            let source = elements.view(named.codec.encoded_chunk(), &regions[index]);
            let Some(before) = index.checked_sub(1) else {
                return named.codec.decode(&source, &mut region.out).map_err(named.explain());
            };
            let (chunk, inner) = (self.codecs[before].codec.encoded_chunk(), &regions[before]);
            let mut next = ElementBuffer::new(chunk, inner, self.limit)?;
            let mut target = chunk.view_part_mut(&mut next.memory, &counts(inner), &next.vlen);
            named.codec.decode(&source, &mut target).map_err(named.explain())?;
            elements = next;
        }
        Ok(())
    }
}

/// Returns the region after one codec, if the codec supports parts of chunks.
fn behind(codec: &dyn ArrayToArray, region: &[Span]) -> Option<Dims<Span>> {
    match codec.permutation() {
        Some(order) => Some(permuted(region, order)),
        None => codec.encoded_region(region),
    }
}

/// Returns the composition of all permutations; `None` if a codec does more than permute. If `decoding` is true, only the
/// decoding of each codec must be a permutation.
fn total_order(
    codecs: &[Named<Box<dyn ArrayToArray>>],
    chunk: &ChunkSpec,
    decoding: bool,
) -> Option<Dims<usize>> {
    let mut order: Dims<usize> = (0..chunk.shape().len()).collect();
    let mut before = chunk;
    for Named { codec, .. } in codecs {
        let encoded = codec.encoded_chunk();
        let same = encoded.storage() == before.storage() && encoded.shape() == before.shape();
        if !(decoding && same && codec.decodes_unchanged()) {
            order = codec.permutation()?.iter().map(|&axis| order[axis]).collect();
        }
        before = encoded;
    }
    Some(order)
}

/// Returns the spans of a whole chunk.
pub(super) fn whole(chunk: &ChunkSpec) -> Dims<Span> {
    chunk.shape().iter().map(|&length| Span::all(length)).collect()
}

/// Returns the shape of a region.
pub(super) fn counts(region: &[Span]) -> Dims<usize> {
    region.iter().map(|span| span.count).collect()
}

/// Returns a buffer for decoded bytes, within the limit.
pub(super) fn scratch(size: usize, limit: usize) -> Result<Scratch, CodecError> {
    check_limit(size, limit)?;
    Ok(Scratch::with_len(size)?)
}

/// Rejects a buffer that is larger than the limit.
pub(super) fn check_limit(size: usize, limit: usize) -> Result<(), CodecError> {
    if size <= limit {
        return Ok(());
    }
    Err(CodecError::limit(format!("one chunk would take {size} bytes of memory, and the limit is {limit}")))
}

/// Elements of a chunk in a buffer.
pub(super) struct ElementBuffer {
    memory: Scratch,
    vlen: VlenBuffer,
}

impl ElementBuffer {
    /// Creates a buffer for a region of a chunk.
    pub(super) fn new(chunk: &ChunkSpec, region: &[Span], limit: usize) -> Result<Self, CodecError> {
        let count: usize = region.iter().map(|span| span.count).product();
        Ok(Self { memory: scratch(count * chunk.item(), limit)?, vlen: VlenBuffer::new() })
    }

    /// Returns the elements as a view of the region.
    pub(super) fn view<'a>(&'a self, chunk: &ChunkSpec, region: &[Span]) -> View<'a> {
        chunk.view_part(&self.memory, &counts(region), &self.vlen)
    }

    /// Returns the buffer as the destination of the region.
    pub(super) fn region<'a>(
        &'a mut self,
        chunk: &ChunkSpec,
        options: DecodeOptions,
        region: &[Span],
    ) -> ReadRegion<'a> {
        let out = chunk.view_part_mut(&mut self.memory, &counts(region), &self.vlen);
        ReadRegion { region: Dims::from_slice(region), out, options }
    }
}
