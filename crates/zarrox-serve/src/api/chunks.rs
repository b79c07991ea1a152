//! `chunks`: the chunks of a region of the grid, or the shards if there are any: stored, size, missing, damaged.

use std::collections::BTreeMap;

use zarrox::json::{Json, json};
use zarrox::{AccessOptions, Array, DimSelection, ErrorKind, Interrupt, Selection};

use super::selection::count;
use crate::address::Query;
use crate::failure::{Answer, Failure};

/// The most chunks of a region.
const MOST: u64 = 1 << 16;
/// The most of them that are decoded, and whose inner chunks are listed.
const MOST_DECODED: u64 = 1024;
/// The most bytes that are decoded.
const MOST_BYTES: u128 = 1 << 30;
/// A region of at most so many chunks is asked for chunk by chunk, where the store answers at once.
const FEW: u128 = 4096;

/// A region of the grid: the range of indices along each dimension.
type Region = Vec<std::ops::Range<u64>>;

pub(super) fn answer(array: &Array, query: &Query, interrupt: &Interrupt) -> Answer<Json> {
    query.only(&["region", "inner", "verify"])?;
    let array = array.with_options(&AccessOptions::new().interrupt(interrupt));
    let grid = array.grid_shape();
    let (inner, verify) = (query.flag("inner")?, query.flag("verify")?);
    let region = region(&grid, query)?;
    let lengths: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let all = count(&lengths);
    let most = if inner || verify { MOST_DECODED } else { MOST };
    if all > most.into() {
        let message = format!("the region has {all} chunks; an answer has at most {most}");
        return Err(Failure::too_much(message, "ask for a smaller region, such as region=0:100,0:100"));
    }
    if verify && array.unreadable().is_none() {
        let size =
            count(array.chunk_grid().largest_chunk()).saturating_mul(array.data_type().size().max(1) as u128);
        if size.saturating_mul(all) > MOST_BYTES {
            let message = format!("the chunks of the region take more than {MOST_BYTES} bytes decoded");
            return Err(Failure::too_much(message, "ask for a smaller region"));
        }
    }
    let stored = stored(&array, &region, all, interrupt)?;
    let mut chunks = Vec::new();
    for (chunk, size) in &stored {
        if interrupt.is_raised() {
            return Err(Failure::late("the store"));
        }
        let mut entry = json!({"index": chunk.as_slice(), "key": array.chunk_key(chunk)?, "bytes": *size});
        if inner && array.shard_shape().is_some() {
            match inner_chunks(&array, chunk) {
                Ok(inner) => entry["inner"] = inner,
                Err(failure) => entry["damaged"] = failure.message().into(),
            }
        }
        let damaged = if verify { damage(&array, chunk)? } else { None };
        if let Some(why) = damaged {
            entry["damaged"] = why.into();
        }
        chunks.push(entry);
    }
    let missing = u64::try_from(all).unwrap_or(u64::MAX).saturating_sub(stored.len() as u64);
    let region: Json = region.iter().map(|range| json!([range.start, range.end])).collect();
    Ok(json!({
        "grid_shape": grid.as_slice(),
        "chunk_shape": array.chunk_grid().largest_chunk(),
        "inner_chunk_shape": array.shard_shape().map(|_| array.chunk_shape()),
        "region": region,
        "stored": stored.len(),
        "missing": missing,
        "chunks": chunks.as_slice(),
    }))
}

/// The region that the parameters name.
fn region(grid: &[u64], query: &Query) -> Answer<Region> {
    let selection: Selection = query.parsed("region")?.unwrap_or_default();
    let is_plain = |item: &DimSelection| {
        matches!(item, DimSelection::Slice { step: 1, .. } | DimSelection::Index(_) | DimSelection::Ellipsis)
    };
    if !selection.items().iter().all(is_plain) {
        return Err(Failure::bad("a region has slices without steps, and indices"));
    }
    let resolved = selection.resolve(grid)?;
    let mut region: Region = grid.iter().map(|&length| 0..length).collect();
    for axis in &resolved.axes {
        let zarrox::selection::ResolvedAxis::Span(span) = axis else { continue };
        if let Some(range) = region.get_mut(span.dim) {
            *range = span.start..span.start + span.count;
        }
    }
    Ok(region)
}

/// The stored chunks of a region, with their sizes in bytes.
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
        array.visit_objects(&mut |chunk, size| {
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

fn inner_chunks(array: &Array, shard: &[u64]) -> Answer<Json> {
    let inner = array.inner_chunks(shard)?.unwrap_or_default();
    let entries = inner.iter().map(|chunk| match chunk.place {
        Some((offset, length)) => json!({"index": chunk.index, "offset": offset, "bytes": length}),
        None => json!({"index": chunk.index, "bytes": null}),
    });
    Ok(Json::Array(entries.collect()))
}

/// The reason why a chunk cannot be decoded, if there is one.
fn damage(array: &Array, chunk: &[u64]) -> Answer<Option<String>> {
    if let Some(why) = array.unreadable() {
        return Ok(Some(why.to_owned()));
    }
    let elements = chunk.iter().zip(array.shape()).enumerate().map(|(dim, (&index, &length))| {
        let (start, size) = array.chunk_grid().chunk_place(dim, index).unwrap_or((0, 0));
        DimSelection::from(start..start.saturating_add(size).min(length))
    });
    let elements: Vec<DimSelection> = elements.collect();
    match array.read_dyn(elements) {
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
