//! Chunks outside an array's shape, which would become visible if the array grew.
//!
//! An append stores its data before the new shape, and a shrink stores the new shape before it erases data. If either is
//! interrupted, chunks outside the shape remain. A writer that knows an older, larger shape also leaves chunks outside the
//! current shape. These leftovers are not read unless the array grows.

use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use zarrox_core::internals::codec::WritePart;
use zarrox_core::internals::scratch::with_vec;
use zarrox_core::strided::{Dims, Span};
use zarrox_core::{ChunkGrid, DynArray, Error, ErrorKind, Result};
use zarrox_stores::{Key, StoreExt, Version};

use super::super::Array;
use super::super::read::chunk_place;
use super::regions_outside;
use crate::guarded::until_unchanged;

/// The maximum number of chunks that are requested individually. For more chunks, the store is listed instead.
const ONE_BY_ONE: u64 = 256;

/// A stored chunk that is not entirely inside the shape.
struct Leftover {
    chunk: Vec<u64>,
    key: Key,
    /// The version of the chunk, if the store supports conditional writes.
    version: Option<Version>,
}

impl Array {
    /// Clears the stored elements outside the shape that would become visible in `grown`. The caller holds the lock of the
    /// array's documents.
    ///
    /// If the store has no lock that excludes all writers, a reservation excludes other appends in the meantime. Programs that do
    /// not reserve rows store the new shape before they write. Hence, if the shape is the same before and after the listing, the
    /// chunks outside it are leftovers. They are cleared only if they have not changed since the listing.
    pub(super) fn clear_leftovers(&self, grown: &Self) -> Result<()> {
        if grown.shape().iter().zip(self.shape()).all(|(new, old)| new <= old) {
            return Ok(());
        }
        let found = self.find_leftovers(grown)?;
        if found.is_empty() {
            return Ok(());
        }
        if self.location.is_guarded() && !self.has_stored_shape()? {
            return Err(Error::new(ErrorKind::Conflict, "another writer has changed the shape meanwhile"));
        }
        found.iter().try_for_each(|leftover| self.clear_leftover(grown, leftover, None))
    }

    /// Clears the stored elements between the shape of this array and the shape of `grown`.
    pub(super) fn clear_between(&self, grown: &Self) -> Result<()> {
        let found = self.find_leftovers(grown)?;
        found.into_iter().try_for_each(|leftover| {
            // Other writers may write other elements of the same chunks, so the version is not compared.
            let leftover = Leftover { version: None, ..leftover };
            self.clear_leftover(grown, &leftover, Some(grown.shape()))
        })
    }

    /// Returns true if the stored shape equals the shape of this handle.
    fn has_stored_shape(&self) -> Result<bool> {
        let node = self.location.as_stored().with_probe(None).find_node()?;
        Ok(matches!(node, Some(zarrox_core::NodeMetadata::Array(now)) if now.shape == self.shape()))
    }

    /// Returns the stored chunks that overlap the new shape and are not entirely inside the old one.
    fn find_leftovers(&self, grown: &Self) -> Result<Vec<Leftover>> {
        let boxes = exposed(&grown.metadata.chunk_grid, self.shape(), grown.shape());
        let count = boxes.iter().map(|ranges| count(ranges)).fold(0_u64, u64::saturating_add);
        if count <= ONE_BY_ONE {
            let mut found = Vec::new();
            for ranges in boxes {
                each(&ranges, &mut |chunk| self.find_leftover(grown, chunk, &mut found))?;
            }
            return Ok(found);
        }
        let mut listed = Vec::new();
        let keys = grown.chunk_key_encoding()?;
        self.location.store.list_prefix(&self.chunks, &mut |key: Key, _| {
            let name = &key.as_str()[self.chunks.as_str().len()..];
            if let Some(chunk) = keys.decode(name, self.ndim())
                && boxes
                    .iter()
                    .any(|ranges| ranges.iter().zip(&chunk).all(|(range, index)| range.contains(index)))
            {
                listed.push(chunk);
            }
            ControlFlow::Continue(())
        })?;
        let mut found = Vec::new();
        listed.iter().try_for_each(|chunk| self.find_leftover(grown, chunk, &mut found))?;
        Ok(found)
    }

    fn find_leftover(&self, grown: &Self, chunk: &[u64], found: &mut Vec<Leftover>) -> Result<()> {
        let key = grown.key(chunk)?;
        if !self.location.is_guarded() {
            if self.location.store.contains(&key)? {
                found.push(Leftover { chunk: chunk.to_vec(), key, version: None });
            }
        } else if let Some(value) = self.location.store.open(&key)? {
            found.push(Leftover { chunk: chunk.to_vec(), key, version: value.version() });
        }
        Ok(())
    }

    /// Clears the elements of a chunk that are outside the shape. If a limit is given, which is a larger shape, only elements
    /// inside the limit are cleared.
    fn clear_leftover(&self, grown: &Self, leftover: &Leftover, limit: Option<&[u64]>) -> Result<()> {
        let Leftover { chunk, key, version } = leftover;
        let chain = grown.chain_of(chunk)?;
        let grid = &grown.metadata.chunk_grid;
        let within = |dim: usize| {
            let length = chain.chunk().shape()[dim];
            let place = limit.and_then(|limit| Some((grid.chunk_place(dim, chunk[dim])?.0, limit[dim])));
            place.map_or(length, |(start, end)| {
                length.min(usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX))
            })
        };
        let limits: Dims<usize> = (0..chunk.len()).map(within).collect();
        let whole = || vec![limits.iter().map(|&length| Span::all(length)).collect::<Dims<Span>>()];
        let mut outside = regions_outside(grid, chunk, self.shape(), limit);
        // The elements outside the limit belong to other writers.
        for region in outside.iter_mut().flatten() {
            for (span, &end) in region.iter_mut().zip(&limits) {
                span.count = span.count.min(end.saturating_sub(span.start));
            }
        }
        // All elements of the chunk are to be cleared.
        let is_outside = outside.is_none() && limits[..] == *chain.chunk().shape();
        let fill = DynArray::from_elements(
            self.data_type().clone(),
            vec![],
            [grown.chain.chunk().fill().as_bytes()],
        )?;
        let clear = || {
            for region in outside.clone().unwrap_or_else(whole) {
                let old = grown.location.locked_value(key, chain.limit() as u64)?;
                if version.as_ref().is_some_and(|version| !old.is_version(version)) {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        "another writer has changed the chunk meanwhile",
                    ));
                }
                let shape: Dims<usize> = region.iter().map(|span| span.count).collect();
                let part = WritePart::of_region(region, fill.view().broadcast_to(&shape));
                if is_outside && !self.location.is_guarded() {
                    return old.erase(&self.location);
                }
                with_vec(|encoded| grown.merge_chunk(&chain, &old, &part, is_outside, encoded))?;
            }
            Ok(())
        };
        let cleared = if version.is_some() { clear() } else { until_unchanged(clear) };
        // The elements of a chunk that cannot be decoded cannot become visible.
        let cleared =
            cleared.or_else(|error| if error.kind() == ErrorKind::Corrupt { Ok(()) } else { Err(error) });
        cleared.map_err(|error| error.at(chunk_place(chunk, key)).at(self.place()))
    }
}

/// Returns the chunks that overlap the new shape and are not entirely inside the old one, as disjoint boxes of chunk indices.
fn exposed(grid: &ChunkGrid, old: &[u64], new: &[u64]) -> Vec<Vec<Range<u64>>> {
    let (before, after) = (grid.grid_shape(old), grid.grid_shape(new));
    // No chunks become visible along a dimension that does not grow.
    let whole = |dim: usize| match old[dim] == new[dim] {
        true => after[dim],
        false => wholly_inside(grid, dim, old[dim], before[dim]).min(after[dim]),
    };
    let whole: Vec<u64> = (0..new.len()).map(whole).collect();
    // A chunk belongs to the box of the first dimension along which it is not entirely inside.
    let ranges_of = |dim: usize| {
        let range = |other: usize| match other.cmp(&dim) {
            Ordering::Less => 0..whole[other],
            Ordering::Equal => whole[other]..after[other],
            Ordering::Greater => 0..after[other],
        };
        (0..new.len()).map(range).collect::<Vec<_>>()
    };
    let boxes = (0..new.len()).map(ranges_of);
    boxes.filter(|ranges| ranges.iter().all(|range| !range.is_empty())).collect()
}

/// Of the `chunks` chunks along a dimension that start within a length, returns the number that also end within it.
fn wholly_inside(grid: &ChunkGrid, dim: usize, length: u64, chunks: u64) -> u64 {
    let Some(last) = chunks.checked_sub(1) else { return 0 };
    let ends_inside = |index| {
        grid.chunk_place(dim, index).is_some_and(|(start, extent)| start.saturating_add(extent) <= length)
    };
    if ends_inside(last) { chunks } else { last }
}

fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).fold(1, u64::saturating_mul)
}

/// Calls a function with each chunk index in a box.
fn each(ranges: &[Range<u64>], visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
    let mut index: Vec<u64> = ranges.iter().map(|range| range.start).collect();
    loop {
        visit(&index)?;
        let Some(dim) = (0..index.len()).rev().find(|&dim| index[dim] + 1 < ranges[dim].end) else {
            return Ok(());
        };
        index[dim] += 1;
        for later in dim + 1..index.len() {
            index[later] = ranges[later].start;
        }
    }
}
