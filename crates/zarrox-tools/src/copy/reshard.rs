//! Copying of encoded chunks into and out of shards without decoding them.

use std::collections::BTreeMap;

use zarrox::internals::argument;
use zarrox_core::{ArrayMetadata, ChunkGrid, CodecSpec, Error, ErrorKind, Registry, Result};
use zarrox_stores::{Bytes, Key, StoreExt, Value};

use super::codecs::without_outer_shards;
use zarrox::{Array, InnerChunk};

/// Returns true if two arrays have the same encoded chunks, and differ only in how these are grouped into stored objects.
pub(super) fn fits(source: &Array, target: &Array) -> bool {
    let context = &source.location().context;
    let flat = |array: &Array| chunks_of(array, &context.registry, context.chunk_limit);
    let (Some(from), Some(to)) = (flat(source), flat(target)) else { return false };
    from == to
        && (source.shard_shape().is_some() || target.shard_shape().is_some())
        && source.shape() == target.shape()
        && source.data_type() == target.data_type()
        && source.fill_bytes() == target.fill_bytes()
}

/// Returns the shape and the codecs of the chunks that are encoded separately; `None` if they cannot be copied without being
/// decoded.
fn chunks_of(array: &Array, registry: &Registry, limit: usize) -> Option<(Vec<u64>, Vec<CodecSpec>)> {
    let shape = array.chunk_grid().chunk_shape().ok()?.to_vec();
    if array.shard_shape().is_none() {
        return Some((shape, array.codecs()));
    }
    let metadata = ArrayMetadata { codecs: array.codecs(), ..array.metadata().clone() };
    let (grid, codecs) = without_outer_shards(&metadata, registry, limit)?;
    // Other codecs around shards would have to be decoded.
    let is_plain = array.codecs().len() == 1;
    let inner = match grid {
        ChunkGrid::Regular { chunk_shape } => chunk_shape,
        _ => return None,
    };
    is_plain.then_some((inner, codecs))
}

/// The encoded chunks of an array, some of which may be inside shards.
pub(super) struct Encoded<'a> {
    array: &'a Array,
    /// The number of chunks in a stored object along each dimension.
    per_object: Vec<u64>,
    /// The number of chunks of the array along each dimension.
    grid: Vec<u64>,
    /// The open shards.
    open: BTreeMap<Vec<u64>, Option<Shard>>,
}

/// An open shard, and its index.
struct Shard {
    value: Box<dyn Value>,
    chunks: Vec<InnerChunk>,
}

impl<'a> Encoded<'a> {
    pub(super) fn new(array: &'a Array) -> Self {
        let (chunk, object) = (array.unit_shape(), array.chunk_grid().largest_chunk());
        let per_object = object.iter().zip(&chunk).map(|(object, chunk)| object / chunk).collect();
        let grid = array.shape().iter().zip(&chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        Self { array, per_object, grid, open: BTreeMap::new() }
    }

    /// Returns the encoded bytes of a chunk; `None` if it is missing.
    pub(super) fn get(&mut self, chunk: &[u64]) -> Result<Option<Bytes>> {
        if chunk.iter().zip(&self.grid).any(|(index, count)| index >= count) {
            return Ok(None);
        }
        if self.array.shard_shape().is_none() {
            return self.array.raw().read(chunk);
        }
        let object: Vec<u64> = chunk.iter().zip(&self.per_object).map(|(index, per)| index / per).collect();
        if !self.open.contains_key(&object) {
            self.open.insert(object.clone(), open(self.array, &object)?);
        }
        let Some(Some(shard)) = self.open.get(&object) else { return Ok(None) };
        let cell = chunk.iter().zip(&self.per_object).map(|(index, per)| index % per);
        let number = cell.zip(&self.per_object).fold(0, |number, (cell, per)| number * per + cell);
        let found = usize::try_from(number).ok().and_then(|number| shard.chunks.get(number));
        let Some((offset, length)) = found.and_then(|chunk| chunk.place) else { return Ok(None) };
        Ok(Some(shard.value.read(offset, length)?))
    }

    /// Returns the chunks of a stored object, in row-major order.
    pub(super) fn chunks_of_object(&self, object: &[u64]) -> Vec<Vec<u64>> {
        let mut chunks = vec![Vec::new()];
        for (index, per) in object.iter().zip(&self.per_object) {
            let along = |chunk: &Vec<u64>| {
                let chunk = chunk.clone();
                (0..*per).map(move |cell| [chunk.as_slice(), &[index * per + cell]].concat())
            };
            chunks = chunks.iter().flat_map(along).collect();
        }
        chunks
    }
}

fn open(array: &Array, shard: &[u64]) -> Result<Option<Shard>> {
    let Some(chunks) = array.raw().inner_chunks(shard)? else { return Ok(None) };
    let key = Key::new(array.object_key(shard)?)?;
    let Some(value) = array.location().store.open(&key)? else { return Ok(None) };
    let size = value.size();
    let outside = |chunk: &InnerChunk| {
        chunk.place.is_some_and(|(offset, length)| offset.checked_add(length).is_none_or(|end| end > size))
    };
    if let Some(bad) = chunks.iter().find(|chunk| outside(chunk)) {
        let message = format!("the index of shard '{key}' places chunk {:?} outside of it", bad.index);
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    Ok(Some(Shard { value, chunks }))
}

/// Stores a shard of `target` with the encoded chunks of `source`. A shard without chunks is not stored.
pub(super) fn write_shard(source: &mut Encoded<'_>, target: &Array, shard: &[u64]) -> Result<()> {
    let chunks = Encoded::new(target).chunks_of_object(shard);
    let bytes: Vec<Option<Bytes>> = chunks.iter().map(|chunk| source.get(chunk)).collect::<Result<_>>()?;
    if bytes.iter().all(Option::is_none) {
        return Ok(());
    }
    let lengths: Vec<Option<u64>> =
        bytes.iter().map(|bytes| bytes.as_ref().map(|b| b.len() as u64)).collect();
    let index = target.with_chain(shard, |chain| match chain.table() {
        Some(table) => table.encode_index(&lengths).map(Some),
        None => Ok(None),
    })??;
    let (index, is_first) = index.ok_or_else(|| argument("the target has no shards"))?;
    let chunks = bytes.iter().flatten().map(|bytes| &**bytes);
    let pieces: Vec<&[u8]> = match is_first {
        true => [index.as_slice()].into_iter().chain(chunks).collect(),
        false => chunks.chain([index.as_slice()]).collect(),
    };
    target.write_encoded_pieces(shard, &pieces)
}
