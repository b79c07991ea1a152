//! Access to arrays for copying and checking: their stored chunks as they are, their codecs, and their elements in parts.

use std::sync::Arc;

use zarrox_core::Error;
use zarrox_core::codec::CodecChain;
use zarrox_core::data_type::Storage;
use zarrox_core::{Result, Selection};
use zarrox_stores::{Prefix, Store};

use super::{Array, DynArray};
use crate::location::{Context, Location};
use crate::options::OpenOptions;
use crate::pool::Pool;

impl Array {
    /// The key of the object of a chunk, whether it exists or not.
    pub fn object_key(&self, chunk: &[u64]) -> Result<String> {
        self.key(chunk).map(|key| key.to_string())
    }

    /// The place of the array.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The prefix of all chunks.
    pub fn chunks_prefix(&self) -> &Prefix {
        &self.chunks
    }

    /// Returns true if a chunk is one of the grid's.
    pub fn has_chunk(&self, chunk: &[u64]) -> bool {
        chunk.len() == self.ndim() && chunk.iter().zip(self.grid_shape()).all(|(index, count)| *index < count)
    }

    /// Works with the codec chain of a chunk.
    pub fn with_chain<R>(&self, chunk: &[u64], work: impl FnOnce(&CodecChain) -> R) -> Result<R> {
        Ok(work(&*self.chain_of(chunk)?))
    }

    /// Returns a handle of the array that works only on the calling thread.
    pub fn on_one_thread(&self) -> Self {
        let context = Context { pool: Pool::new(1), ..(*self.location.context).clone() };
        let mut location = self.location.clone();
        location.context = Arc::new(context);
        Self { location, ..self.clone() }
    }

    /// The array with its chunks in another store, at the same paths.
    pub fn in_store(&self, store: Arc<dyn Store>) -> Self {
        let path = self.location.path.clone();
        Self { location: self.location.clone().moved_to(store, path), ..self.clone() }
    }

    /// The number of stored bytes of a chunk, or of a shard if there are any; `None` if it is not stored.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        self.location.store.size(&self.key(chunk)?).map_err(Error::from)
    }

    /// Returns true if all chunks of a region are stored, which begins where a chunk does. Each of them is complete, since a chunk is
    /// replaced atomically.
    pub fn stores_all_of(&self, region: &[(u64, u64)]) -> Result<bool> {
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

    /// The size of the elements of a stored chunk in memory, in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.chain.chunk().size()
    }

    /// The number of bytes that are decoded at once: those of a chunk, or of an inner chunk of a shard.
    pub fn decoded_bytes(&self) -> usize {
        self.shared.unit
    }

    /// The threads that work on the array's chunks.
    pub fn pool(&self) -> &Pool {
        self.location.pool()
    }

    /// The threads that compute.
    pub fn cores(&self) -> &Pool {
        &self.location.context.pool
    }

    /// Returns true if the store is remote.
    pub fn is_remote(&self) -> bool {
        self.location.is_remote()
    }

    /// The options to open another array with the same settings as this one.
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions::within(&self.location.context)
    }

    /// Copies a part to the same place of another array, through a buffer that is used again if it fits.
    pub fn copy_to(&self, target: &Self, part: Selection, memory: &mut Option<DynArray>) -> Result<()> {
        let values = self.read_again(&part, memory)?;
        target.write(part, values)
    }

    /// Reads a part into memory that is used again if it fits.
    pub fn read_again<'m>(&self, part: &Selection, memory: &'m mut Option<DynArray>) -> Result<&'m DynArray> {
        let view = self.slice(part);
        let resolved = view.resolved()?;
        let shape = Self::lengths(&resolved.shape())?;
        let fits = |values: &DynArray| {
            values.shape() == shape.as_slice() && values.data_type().storage() != Storage::Variable
        };
        let mut values = match memory.take().filter(fits) {
            Some(values) => values,
            None => self.empty_for(resolved, self.data_type())?,
        };
        self.read_resolved(resolved, values.view_mut())?;
        Ok(memory.insert(values))
    }
}
