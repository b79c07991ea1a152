//! Reading through the cache of decoded chunks.

use std::sync::Arc;

use zarrox_core::codec::ReadRegion;
use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::ReadPart;
use zarrox_core::internals::elements::InPlace;
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{CodecChain, Result};
use zarrox_stores::{Key, Value, Version};

use super::Array;
use crate::chunk_cache::{ChunkCache, DecodedChunk};

impl Array {
    /// Returns the cache and the shape of a unit that is decoded as a whole; `None` if there is no cache, or the units of this
    /// codec pipeline cannot be cached.
    pub(super) fn chunk_cache(&self, chain: &CodecChain) -> Option<(&ChunkCache, Dims<usize>)> {
        let cache = self.location.context.chunk_cache.as_ref()?;
        // Other handles must not see chunks that were decoded by metadata that is out of date.
        if self.is_confirmed_by_a_request() {
            return None;
        }
        // Variable-length elements are in a separate buffer, so their size in memory is unknown.
        if self.data_type().storage() == Storage::Variable || chain.chunk().item() == 0 {
            return None;
        }
        let shape: Dims<usize> = match chain.inner_chunk_shape() {
            Some(inner) => inner.into(),
            None => chain.chunk().shape().into(),
        };
        let size = shape.iter().try_fold(chain.chunk().item(), |size, &length| size.checked_mul(length))?;
        (size <= cache.limit).then_some((cache, shape))
    }

    /// Returns true if the cache contains, from any version of the object, the first unit that is needed to read a part of the
    /// object.
    pub(super) fn may_be_cached(&self, chain: &CodecChain, key: &Key, part: &ReadPart<'_>) -> bool {
        let Some((cache, shape)) = self.chunk_cache(chain) else { return false };
        let region = part.elements().bounding_box(shape.len());
        let cell = region.iter().zip(&shape).map(|(span, &length)| span.start / length.max(1)).collect();
        cache.contains(&self.place_in_cache(key, cell))
    }

    fn place_in_cache(&self, key: &Key, cell: Dims<usize>) -> DecodedChunk {
        DecodedChunk { key: key.clone(), cell, as_stored: self.shared.as_stored }
    }

    /// Reads a part of this version of an object from the cache, and decodes the units that are not cached.
    pub(super) fn read_cached(
        &self,
        (cache, shape): (&ChunkCache, Dims<usize>),
        chain: &CodecChain,
        (key, value, version): (&Key, &dyn Value, &Version),
        part: ReadPart<'_>,
        objects: usize,
    ) -> Result<()> {
        let item = chain.chunk().item();
        let decoded = |cell: Dims<usize>| -> Result<Arc<[u8]>> {
            let place = self.place_in_cache(key, cell);
            if let Some(decoded) = cache.get(&place, version) {
                return Ok(decoded);
            }
            let region = region_of(&place.cell, &shape, chain.chunk().shape());
            let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
            let mut bytes = InPlace::<u8>::new().zeroed(shape.iter().product::<usize>() * item)?;
            let whole: Dims<Span> = counts.iter().map(|&count| Span::all(count)).collect();
            let out = ViewMut::contiguous(&mut bytes, &shape, item).into_region(&whole);
            let options = self.location.context.decode;
            self.read_value(chain, key, value, ReadRegion { region, out, options }.into(), objects)?;
            let decoded: Arc<[u8]> = bytes.into();
            cache.insert(place, version.clone(), Arc::clone(&decoded));
            Ok(decoded)
        };
        part.divide(&shape, |cell, mut part| {
            let decoded = decoded(cell.into())?;
            part.copy_from(&View::contiguous(&decoded, &shape, item));
            Ok(())
        })
    }
}

/// Returns the region of a chunk that is covered by a cell of the inner grid. The chunk shape need not be a multiple of the cell
/// shape.
fn region_of(cell: &[usize], shape: &[usize], chunk: &[usize]) -> Dims<Span> {
    let span = |((&index, &length), &whole): ((&usize, &usize), &usize)| {
        let start = index * length;
        Span { start, step: 1, count: length.min(whole - start) }
    };
    cell.iter().zip(shape).zip(chunk).map(span).collect()
}
