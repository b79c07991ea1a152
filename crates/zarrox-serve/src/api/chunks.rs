//! `chunks`: the chunks or shards of a region of the grid: stored, size, missing, damaged.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::{AccessOptions, Array, DimSelection, DynArray, ErrorKind, Interrupt};

use super::selection::count;
use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::place::Place;
use crate::query::{Flag, Query, Select};

/// The maximum number of chunks in a region.
const MOST: u64 = 1 << 16;
/// The maximum number of chunks that are decoded, and whose inner chunks are listed.
const MOST_DECODED: u64 = 1024;
/// The maximum number of decoded bytes.
const MOST_BYTES: u128 = 1 << 30;
/// For a local store, the chunks of a region of at most this size are requested one by one.
const FEW: u128 = 4096;

/// A region of the grid: the range of indices along each dimension.
type Region = Vec<std::ops::Range<u64>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChunksQuery {
    region: Select,
    inner: Flag,
    verify: Flag,
}

/// The chunks of a region of the grid, or the shards of an array with shards.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Chunks {
    grid_shape: Vec<u64>,
    /// The shape of a chunk; for an irregular grid, the maximum length along each dimension.
    chunk_shape: Vec<u64>,
    /// The shape of the chunks inside shards.
    inner_chunk_shape: Option<Vec<u64>>,
    /// The start and the end along each dimension.
    region: Vec<[u64; 2]>,
    /// The number of stored chunks, which are listed.
    stored: usize,
    missing: u64,
    chunks: Vec<Chunk>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Chunk {
    index: Vec<u64>,
    key: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    inner: Option<Vec<InnerChunk>>,
    /// The reason why the chunk cannot be decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    damaged: Option<String>,
}

/// A chunk inside a shard.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct InnerChunk {
    index: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    offset: Option<u64>,
    /// `null` if it is not stored.
    bytes: Option<u64>,
}

pub(super) async fn answer(
    place: Place,
    Query(query): Query<ChunksQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    let workers = place.root.workers.clone();
    let work = move |array: &Array, interrupt: &Interrupt| {
        content::json(&wanted, &chunks(array, &query, interrupt)?)
    };
    place.of_array(workers, work).await
}

fn chunks(array: &Array, query: &ChunksQuery, interrupt: &Interrupt) -> Answer<Chunks> {
    let array = array.with_options(&AccessOptions::new().interrupt(interrupt));
    let grid = array.grid_shape();
    let (Flag(inner), Flag(verify)) = (query.inner, query.verify);
    let region = region(&grid, &query.region)?;
    let lengths: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let all = count(&lengths);
    let most = if inner || verify { MOST_DECODED } else { MOST };
    if all > most.into() {
        let message = format!("the region has {all} chunks; the limit is {most}");
        return Err(Failure::too_much(message, "request a smaller region, such as region=0:100,0:100"));
    }
    if verify && array.unreadable().is_none() {
        let size =
            count(array.chunk_grid().largest_chunk()).saturating_mul(array.data_type().size().max(1) as u128);
        if size.saturating_mul(all) > MOST_BYTES {
            let message = format!("the decoded chunks of the region exceed {MOST_BYTES} bytes");
            return Err(Failure::too_much(message, "request a smaller region"));
        }
    }
    let stored = stored(&array, &region, all, interrupt)?;
    let mut chunks = Vec::new();
    for (chunk, size) in &stored {
        if interrupt.is_raised() {
            return Err(Failure::late("the store"));
        }
        let key = array.raw().key(chunk)?;
        let mut entry = Chunk { index: chunk.clone(), key, bytes: *size, inner: None, damaged: None };
        if inner && array.shard_shape().is_some() {
            match inner_chunks(&array, chunk) {
                Ok(inner) => entry.inner = Some(inner),
                Err(failure) => entry.damaged = Some(failure.message().to_owned()),
            }
        }
        let damaged = if verify { damage(&array, chunk)? } else { None };
        entry.damaged = damaged.or(entry.damaged);
        chunks.push(entry);
    }
    let missing = u64::try_from(all).unwrap_or(u64::MAX).saturating_sub(stored.len() as u64);
    Ok(Chunks {
        grid_shape: grid,
        chunk_shape: array.chunk_grid().largest_chunk().to_vec(),
        inner_chunk_shape: array.shard_shape().map(|_| array.unit_shape()),
        region: region.iter().map(|range| [range.start, range.end]).collect(),
        stored: stored.len(),
        missing,
        chunks,
    })
}

/// Returns the region of a selection.
fn region(grid: &[u64], Select(selection): &Select) -> Answer<Region> {
    let is_plain = |item: &DimSelection| {
        matches!(item, DimSelection::Slice { step: 1, .. } | DimSelection::Index(_) | DimSelection::Ellipsis)
    };
    if !selection.items().iter().all(is_plain) {
        return Err(Failure::bad("region accepts indices and slices without steps"));
    }
    let resolved = selection.resolve(grid)?;
    let mut region: Region = grid.iter().map(|&length| 0..length).collect();
    for axis in &resolved.axes {
        let zarrox::internals::selection::ResolvedAxis::Span(span) = axis else { continue };
        if let Some(range) = region.get_mut(span.dim) {
            *range = span.start..span.start + span.count;
        }
    }
    Ok(region)
}

/// Returns the stored chunks of a region, with their sizes in bytes.
fn stored(
    array: &Array,
    region: &Region,
    all: u128,
    interrupt: &Interrupt,
) -> Answer<BTreeMap<Vec<u64>, u64>> {
    let mut stored = BTreeMap::new();
    let capabilities = array.capabilities();
    let is_whole = region.iter().zip(array.grid_shape()).all(|(range, length)| *range == (0..length));
    let listed = capabilities.listable && (is_whole || all > FEW || capabilities.in_flight.is_some());
    if listed {
        let inside = |chunk: &[u64]| chunk.iter().zip(region).all(|(index, range)| range.contains(index));
        array.raw().visit(&mut |chunk, size| {
            if let Some(chunk) = chunk.filter(|chunk| inside(chunk)) {
                stored.insert(chunk, size);
            }
        })?;
        return Ok(stored);
    }
    if region.iter().any(|range| range.is_empty()) {
        return Ok(stored);
    }
    let mut chunk: Vec<u64> = region.iter().map(|range| range.start).collect();
    loop {
        if interrupt.is_raised() {
            return Err(Failure::late("the store"));
        }
        if let Some(size) = array.stored_size(&chunk)? {
            stored.insert(chunk.clone(), size);
        }
        let Some(dim) = (0..chunk.len()).rev().find(|&dim| chunk[dim] + 1 < region[dim].end) else {
            return Ok(stored);
        };
        chunk[dim] += 1;
        for later in dim + 1..chunk.len() {
            chunk[later] = region[later].start;
        }
    }
}

fn inner_chunks(array: &Array, shard: &[u64]) -> Answer<Vec<InnerChunk>> {
    let inner = array.raw().inner_chunks(shard)?.unwrap_or_default();
    let entries = inner.into_iter().map(|chunk| InnerChunk {
        index: chunk.index,
        offset: chunk.place.map(|(offset, _)| offset),
        bytes: chunk.place.map(|(_, length)| length),
    });
    Ok(entries.collect())
}

/// Returns the reason why a chunk cannot be decoded, if there is one.
fn damage(array: &Array, chunk: &[u64]) -> Answer<Option<String>> {
    if let Some(why) = array.unreadable() {
        return Ok(Some(why.to_owned()));
    }
    let elements = chunk.iter().zip(array.shape()).enumerate().map(|(dim, (&index, &length))| {
        let (start, size) = array.chunk_grid().chunk_place(dim, index).unwrap_or((0, 0));
        DimSelection::from(start..start.saturating_add(size).min(length))
    });
    let elements: Vec<DimSelection> = elements.collect();
    match array.read::<DynArray>(elements) {
        Ok(_) => Ok(None),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Corrupt | ErrorKind::InvalidMetadata | ErrorKind::Unsupported
            ) =>
        {
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
