//! What the crates of tools need of arrays beyond the public interface.

use std::sync::Arc;

use zarrox_core::json::{Json, Map};
use zarrox_core::{ArrayMetadata, CodecChain, Error, FillValue, FromElements, Result, Selection};
use zarrox_stores::{Capabilities, Condition, Prefix, Store, StoreExt};

use super::read::chunk_place;
use super::resize::{SoleAppender, Unwritten};
use super::stored::copy_value;
use super::{Array, ArrayInfo, DynArray};
use crate::group::Group;
use crate::location::{Context, Location};
use crate::options::OpenOptions;
use crate::pool::Pool;

/// Access to stored chunks as they are, to codecs, and to elements in parts.
pub trait ArrayInternals: Sized {
    /// Opens the array at a place by its metadata.
    ///
    /// # Errors
    /// When elements cannot be read or written by it.
    fn by_metadata(location: Location, metadata: ArrayMetadata) -> Result<Self>;

    /// The key of the object of a chunk, whether it exists or not.
    fn object_key(&self, chunk: &[u64]) -> Result<String>;

    /// The place of the array.
    fn location(&self) -> &Location;

    /// The prefix of all chunks.
    fn chunks_prefix(&self) -> &Prefix;

    /// Returns true if a chunk is one of the grid's.
    fn has_chunk(&self, chunk: &[u64]) -> bool;

    /// Works with the codec chain of a chunk.
    fn with_chain<R>(&self, chunk: &[u64], work: impl FnOnce(&CodecChain) -> R) -> Result<R>;

    /// Returns a handle of the array that works only on the calling thread.
    fn on_one_thread(&self) -> Self;

    /// The array with its chunks in another store, at the same paths.
    fn in_store(&self, store: Arc<dyn Store>) -> Self;

    /// The number of stored bytes of a chunk, or of a shard if there are any; `None` if it is not stored.
    ///
    /// # Errors
    /// When the store cannot be asked.
    fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>>;

    /// Returns true if all chunks of a region are stored, which begins where a chunk does. Each of them is complete, since a chunk is
    /// replaced atomically.
    fn stores_all_of(&self, region: &[(u64, u64)]) -> Result<bool>;

    /// The size of the elements of a stored chunk in memory, in bytes.
    fn chunk_bytes(&self) -> usize;

    /// The number of bytes that are decoded at once: those of a chunk, or of an inner chunk of a shard.
    fn decoded_bytes(&self) -> usize;

    /// The threads that work on the array's chunks.
    fn pool(&self) -> &Pool;

    /// The threads that compute.
    fn cores(&self) -> &Pool;

    /// Returns true if the store is remote.
    fn is_remote(&self) -> bool;

    /// The options to open another array with the same settings as this one.
    fn open_options(&self) -> OpenOptions;

    /// Copies a part to the same place of another array, through a buffer that is used again if it fits.
    fn copy_to(&self, target: &Self, part: Selection, memory: &mut Option<DynArray>) -> Result<()>;

    /// Reads a part into memory that is used again if it fits.
    fn read_again<'m>(&self, part: &Selection, memory: &'m mut Option<DynArray>) -> Result<&'m DynArray>;

    /// Stores the bytes of a chunk, which come in pieces.
    fn write_encoded_pieces(&self, chunk: &[u64], pieces: &[&[u8]]) -> Result<()>;

    /// Stores the bytes of a chunk under the same indices of another array, in pieces if there are many. Returns false if it was never
    /// stored.
    fn copy_encoded_chunk(&self, chunk: &[u64], target: &Self) -> Result<bool>;

    /// Visits all stored objects of the array except documents: its chunks, and objects that are not chunks of the grid (`None`).
    fn visit_stored(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()>;

    /// Changes members of the array's document, in the form of its format.
    fn change_members(&mut self, members: &Map) -> Result<()>;

    /// Writes by `write`, while nobody moves, replaces or deletes the array, which still is what the handle was opened for.
    fn writing<R>(&self, write: impl FnOnce() -> Result<R>) -> Result<R>;

    /// Makes sure that the array still is what the handle was opened for.
    fn check_generation(&self) -> Result<()>;

    /// Frees the rows of appends whose writers are gone, and clears them.
    fn clear_left(&mut self) -> Result<()>;

    /// Keeps others from appending, where no lock does. `None` where a lock does.
    fn alone(&self) -> Result<Option<SoleAppender<'_>>>;

    /// Returns true if somebody is appending where no lock keeps others out.
    fn is_appended_to(&self) -> Result<bool>;

    /// The rows of appends whose writers are gone.
    fn unwritten_rows(&self) -> Result<Vec<Unwritten>>;

    /// The properties without those that need a listing of the store.
    fn quick_info(&self) -> Result<ArrayInfo>;

    /// Gives arrays of one store larger shapes, whose new elements `write` stores first.
    fn grow_together(
        arrays: &mut [Self],
        shapes: &[Vec<u64>],
        write: impl FnOnce(&[Self]) -> Result<()>,
    ) -> Result<()>;

    /// The array with a shape that is not stored, as one that grows together with others has it.
    fn with_shape(&self, shape: &[u64]) -> Result<Self>;

    /// The capabilities of the array's store.
    fn capabilities(&self) -> Capabilities;

    /// The reason why elements can be neither read nor written.
    fn unreadable(&self) -> Option<&str>;

    /// The unknown data type of the metadata, if its fallback is read instead.
    fn fallback_from(&self) -> Option<&Json>;

    /// Reads the first metadata document of the array, in the form of its format.
    fn document(&self) -> Result<Map>;

    /// Replaces the fill value, given in the form of the format's metadata.
    fn set_fill_value_json(&mut self, fill: Json) -> Result<()>;

    /// The number of possible chunks, or shards if there are any, along each dimension.
    fn grid_shape(&self) -> Vec<u64>;

    /// The bytes of the fill value in memory.
    fn fill_bytes(&self) -> FillValue;

    /// The group that the array is in.
    fn parent(&self) -> Result<Option<Group>>;

    /// The shape of what is decoded as a whole: the inner chunks, if there are shards, or the chunks.
    fn unit_shape(&self) -> Vec<u64>;

    /// The shape of the shards, if there are any.
    fn shard_shape(&self) -> Option<&[u64]>;
}

impl ArrayInternals for Array {
    fn by_metadata(location: Location, metadata: ArrayMetadata) -> Result<Self> {
        Self::new(location, metadata)
    }

    fn object_key(&self, chunk: &[u64]) -> Result<String> {
        self.key(chunk).map(|key| key.to_string())
    }

    fn location(&self) -> &Location {
        Self::location(self)
    }

    fn chunks_prefix(&self) -> &Prefix {
        Self::chunks_prefix(self)
    }

    fn has_chunk(&self, chunk: &[u64]) -> bool {
        Self::has_chunk(self, chunk)
    }

    fn with_chain<R>(&self, chunk: &[u64], work: impl FnOnce(&CodecChain) -> R) -> Result<R> {
        Self::with_chain(self, chunk, work)
    }

    fn on_one_thread(&self) -> Self {
        let context = Context { pool: Pool::new(1), ..(*self.location.context).clone() };
        let mut location = self.location.clone();
        location.context = Arc::new(context);
        Self { location, ..self.clone() }
    }

    fn in_store(&self, store: Arc<dyn Store>) -> Self {
        let path = self.location.path.clone();
        Self { location: self.location.clone().moved_to(store, path), ..self.clone() }
    }

    fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        Self::stored_size(self, chunk)
    }

    fn stores_all_of(&self, region: &[(u64, u64)]) -> Result<bool> {
        // Chunks of several shapes can lie in several regions, so that a stored one need not be complete.
        let Ok(chunk_shape) = self.chunk_grid().chunk_shape() else { return Ok(false) };
        let mut chunk: Vec<u64> = region.iter().zip(chunk_shape).map(|((begin, _), n)| begin / n).collect();
        loop {
            if self.stored_size(&chunk)?.is_none() {
                return Ok(false);
            }
            let next = (0..chunk.len())
                .rev()
                .find(|&dim| (chunk[dim] + 1).saturating_mul(chunk_shape[dim]) < region[dim].1);
            let Some(next) = next else { return Ok(true) };
            chunk[next] += 1;
            for dim in next + 1..chunk.len() {
                chunk[dim] = region[dim].0 / chunk_shape[dim];
            }
        }
    }

    fn chunk_bytes(&self) -> usize {
        self.chain.chunk().size()
    }

    fn decoded_bytes(&self) -> usize {
        self.shared.unit
    }

    fn pool(&self) -> &Pool {
        self.location.pool()
    }

    fn cores(&self) -> &Pool {
        &self.location.context.pool
    }

    fn is_remote(&self) -> bool {
        self.location.is_remote()
    }

    fn open_options(&self) -> OpenOptions {
        OpenOptions::within(&self.location.context)
    }

    fn copy_to(&self, target: &Self, part: Selection, memory: &mut Option<DynArray>) -> Result<()> {
        let values = self.read_again(&part, memory)?;
        target.write(part, values)
    }

    fn read_again<'m>(&self, part: &Selection, memory: &'m mut Option<DynArray>) -> Result<&'m DynArray> {
        let values = self.slice(part).with_source(|source| match memory.take() {
            Some(values) => values.read_again(source),
            None => DynArray::read_from(source),
        });
        Ok(memory.insert(values?))
    }

    fn write_encoded_pieces(&self, chunk: &[u64], pieces: &[&[u8]]) -> Result<()> {
        self.check_writable()?;
        let key = self.key(chunk)?;
        let store = &self.location.store;
        let length = pieces.iter().map(|piece| piece.len()).sum();
        let parts = |write: &mut dyn FnMut(&[u8]) -> std::io::Result<()>| {
            pieces.iter().filter(|piece| !piece.is_empty()).try_for_each(|piece| write(piece))
        };
        let write = || Ok(store.set_parts(&key, length, &parts, Condition::Always)?);
        self.writing(|| self.location.overwrite(&key, write))
    }

    fn copy_encoded_chunk(&self, chunk: &[u64], target: &Self) -> Result<bool> {
        let (from, to) = (self.key(chunk)?, target.key(chunk)?);
        let place = |error: Error| error.at(chunk_place(chunk, &from)).at(self.place());
        self.checked(|| copy_value(&self.location, &from, &target.location, &to)).map_err(place)
    }

    fn visit_stored(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
        Self::visit_stored(self, visit)
    }

    fn change_members(&mut self, members: &Map) -> Result<()> {
        Self::change_members(self, members)
    }

    fn writing<R>(&self, write: impl FnOnce() -> Result<R>) -> Result<R> {
        Self::writing(self, write)
    }

    fn check_generation(&self) -> Result<()> {
        Self::check_generation(self)
    }

    fn clear_left(&mut self) -> Result<()> {
        Self::clear_left(self)
    }

    fn alone(&self) -> Result<Option<SoleAppender<'_>>> {
        Self::alone(self)
    }

    fn is_appended_to(&self) -> Result<bool> {
        Self::is_appended_to(self)
    }

    fn unwritten_rows(&self) -> Result<Vec<Unwritten>> {
        Self::unwritten_rows(self)
    }

    fn quick_info(&self) -> Result<ArrayInfo> {
        Self::quick_info(self)
    }

    fn grow_together(
        arrays: &mut [Self],
        shapes: &[Vec<u64>],
        write: impl FnOnce(&[Self]) -> Result<()>,
    ) -> Result<()> {
        Self::grow_together(arrays, shapes, write)
    }

    fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        Self::with_shape(self, shape)
    }

    fn capabilities(&self) -> Capabilities {
        Self::capabilities(self)
    }

    fn unreadable(&self) -> Option<&str> {
        Self::unreadable(self)
    }

    fn fallback_from(&self) -> Option<&Json> {
        Self::fallback_from(self)
    }

    fn document(&self) -> Result<Map> {
        Self::document(self)
    }

    fn set_fill_value_json(&mut self, fill: Json) -> Result<()> {
        Self::set_fill_value_json(self, fill)
    }

    fn grid_shape(&self) -> Vec<u64> {
        Self::grid_shape(self)
    }

    fn fill_bytes(&self) -> FillValue {
        Self::fill_bytes(self)
    }

    fn parent(&self) -> Result<Option<Group>> {
        Self::parent(self)
    }

    fn unit_shape(&self) -> Vec<u64> {
        Self::unit_shape(self)
    }

    fn shard_shape(&self) -> Option<&[u64]> {
        Self::shard_shape(self)
    }
}
