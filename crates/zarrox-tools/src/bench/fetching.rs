//! Fetching the stored bytes of a sample without decoding them: whole objects, and byte ranges of the shards that extend beyond
//! the sample.

use std::sync::atomic::{AtomicU64, Ordering};

use zarrox_core::Result;
use zarrox_stores::{Key, StoreExt};

use super::sample::Sample;
use zarrox::Array;

/// A range of stored bytes.
enum Piece {
    /// The whole object of a chunk or shard.
    Whole(Vec<u64>),
    /// Contiguous inner chunks of a shard: the key of the shard, and the offset and length of the chunks in it.
    Range(Key, u64, u64),
}

/// The stored bytes of a sample.
pub(super) struct Fetching {
    pieces: Vec<Piece>,
    objects: usize,
}

impl Fetching {
    pub(super) fn new(array: &Array, sample: &Sample) -> Result<Self> {
        let objects = sample.objects(array);
        let mut pieces = Vec::new();
        for object in &objects {
            match array.shard_shape().is_some() && !is_inside(array, object, sample.region()) {
                true => pieces.extend(ranges(array, object, sample.region())?),
                false => pieces.push(Piece::Whole(object.clone())),
            }
        }
        Ok(Self { pieces, objects: objects.len() })
    }

    /// Returns the number of objects.
    pub(super) fn objects(&self) -> usize {
        self.objects
    }

    /// Fetches all ranges, and returns the number of bytes.
    pub(super) fn run(&self, array: &Array) -> Result<u64> {
        let bytes = AtomicU64::new(0);
        array.pool().run(self.pieces.len(), 1 << 20, usize::MAX, |nth| {
            let length = match &self.pieces[nth] {
                Piece::Whole(chunk) => array.raw().read(chunk)?.map_or(0, |bytes| bytes.len()),
                Piece::Range(key, offset, length) => match array.location().store.open(key)? {
                    Some(value) => value.read(*offset, *length)?.len(),
                    None => 0,
                },
            };
            bytes.fetch_add(length as u64, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(bytes.into_inner())
    }
}

/// Returns true if all elements of an object are in the sample.
fn is_inside(array: &Array, object: &[u64], region: &[(u64, u64)]) -> bool {
    object.iter().zip(region).enumerate().all(|(dim, (&index, &(begin, end)))| {
        array.chunk_grid().chunk_place(dim, index).is_some_and(|(start, length)| {
            start >= begin && start.saturating_add(length).min(array.shape()[dim]) <= end
        })
    })
}

/// Returns the byte ranges of the stored inner chunks that are in the sample, for one shard. Adjacent ranges are merged.
fn ranges(array: &Array, shard: &[u64], region: &[(u64, u64)]) -> Result<Vec<Piece>> {
    let chunks = array.unit_shape();
    let is_touched = |index: &[u64]| {
        index.iter().zip(&chunks).zip(region).all(|((&index, &length), &(begin, end))| {
            let start = index.saturating_mul(length);
            start < end && start.saturating_add(length) > begin
        })
    };
    let inner = array.raw().inner_chunks(shard)?.unwrap_or_default().into_iter();
    let mut places: Vec<(u64, u64)> =
        inner.filter(|chunk| is_touched(&chunk.index)).filter_map(|chunk| chunk.place).collect();
    places.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (offset, length) in places {
        match joined.last_mut() {
            Some((start, before)) if *start + *before == offset => *before += length,
            _ => joined.push((offset, length)),
        }
    }
    let key = Key::new(array.raw().key(shard)?)?;
    Ok(joined.into_iter().map(|(offset, length)| Piece::Range(key.clone(), offset, length)).collect())
}
