//! Methods of arrays for the other crates of this workspace, beyond the public interface.

use std::sync::Arc;

use zarrox_core::{ArrayMetadata, DynArray, Error, FromElements, Result, Selection};
use zarrox_stores::{Condition, Store, StoreExt};

use super::Array;
use super::read::chunk_place;
use super::stored::copy_value;
use crate::location::{Context, Location};
use crate::options::OpenOptions;
use crate::pool::Pool;

/// Access to encoded chunks, to codecs, and to selections in parts.
impl Array {
    /// Opens the array at a location from its metadata.
    ///
    /// # Errors
    /// When elements cannot be read or written with this metadata.
    #[doc(hidden)]
    pub fn by_metadata(location: Location, metadata: ArrayMetadata) -> Result<Self> {
        Self::new(location, metadata)
    }

    /// Returns the key of a chunk, whether the chunk is stored or not.
    #[doc(hidden)]
    pub fn object_key(&self, chunk: &[u64]) -> Result<String> {
        self.key(chunk).map(|key| key.to_string())
    }

    /// Returns a handle to the array that does all its work on the calling thread.
    #[doc(hidden)]
    pub fn on_one_thread(&self) -> Self {
        let context = Context { pool: Pool::new(1), ..(*self.location.context).clone() };
        let mut location = self.location.clone();
        location.context = Arc::new(context);
        Self { location, ..self.clone() }
    }

    /// Returns the array with its chunks in another store, under the same keys.
    #[doc(hidden)]
    pub fn in_store(&self, store: Arc<dyn Store>) -> Self {
        let path = self.location.path.clone();
        Self { location: self.location.clone().moved_to(store, path), ..self.clone() }
    }

    /// Returns true if all chunks of a region are stored. The region must begin at a chunk boundary. Each stored chunk is
    /// complete, since chunks are replaced atomically.
    #[doc(hidden)]
    pub fn stores_all_of(&self, region: &[(u64, u64)]) -> Result<bool> {
        // In a rectilinear grid, a chunk can overlap several regions, so a stored chunk need not be complete.
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

    /// Returns the size of a decoded chunk, in bytes.
    #[doc(hidden)]
    pub fn chunk_bytes(&self) -> usize {
        self.chain.chunk().size()
    }

    /// Returns the size, in bytes, of the unit that is decoded as a whole: a chunk, or an inner chunk of a shard.
    #[doc(hidden)]
    pub fn decoded_bytes(&self) -> usize {
        self.shared.unit
    }

    /// Returns the thread pool that works on the array's chunks.
    #[doc(hidden)]
    pub fn pool(&self) -> &Pool {
        self.location.pool()
    }

    /// Returns the thread pool for computation.
    #[doc(hidden)]
    pub fn cores(&self) -> &Pool {
        &self.location.context.pool
    }

    /// Returns true if the store is remote.
    #[doc(hidden)]
    pub fn is_remote(&self) -> bool {
        self.location.is_remote()
    }

    /// Returns options for opening another array with the same settings.
    #[doc(hidden)]
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions::within(&self.location.context)
    }

    /// Copies a selection to the same selection of another array, through a buffer that is reused if it has the right size.
    #[doc(hidden)]
    pub fn copy_to(&self, target: &Self, part: Selection, memory: &mut Option<DynArray>) -> Result<()> {
        let values = self.read_again(&part, memory)?;
        target.write(part, values)
    }

    /// Reads a selection into a buffer that is reused if it has the right size.
    #[doc(hidden)]
    pub fn read_again<'m>(&self, part: &Selection, memory: &'m mut Option<DynArray>) -> Result<&'m DynArray> {
        let values = self.slice(part).with_source(|source| match memory.take() {
            Some(values) => values.read_again(source),
            None => DynArray::read_from(source),
        });
        Ok(memory.insert(values?))
    }

    /// Stores the encoded bytes of a chunk, which are given in pieces.
    #[doc(hidden)]
    pub fn write_encoded_pieces(&self, chunk: &[u64], pieces: &[&[u8]]) -> Result<()> {
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

    /// Copies the stored bytes of a chunk to the chunk with the same index in another array, in pieces if the chunk is large.
    /// Returns false if the chunk is missing.
    #[doc(hidden)]
    pub fn copy_encoded_chunk(&self, chunk: &[u64], target: &Self) -> Result<bool> {
        let (from, to) = (self.key(chunk)?, target.key(chunk)?);
        let place = |error: Error| error.at(chunk_place(chunk, &from)).at(self.place());
        self.checked(|| copy_value(&self.location, &from, &target.location, &to)).map_err(place)
    }
}
