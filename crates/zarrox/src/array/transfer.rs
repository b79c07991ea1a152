//! What conversion needs of arrays: their stored chunks, without reading or decoding them.

use std::sync::Arc;

use zarrox_core::Result;

use super::Array;
use crate::error::from_store;
use crate::hierarchy::Location;
use crate::options::Context;
use crate::pool::Pool;

impl Array {
    /// The key of the object that a chunk is stored as, whether there is such a chunk or not.
    pub(crate) fn object_key(&self, chunk: &[u64]) -> Result<String> {
        self.key(chunk).map(|key| key.to_string())
    }

    /// The same array, all of whose work is done by the calling thread.
    pub(crate) fn on_one_thread(&self) -> Self {
        let context = Context { pool: Pool::new(1), ..(*self.location.context).clone() };
        let location = Location { context: Arc::new(context), ..self.location.clone() };
        Self { location, ..self.clone() }
    }

    /// The number of bytes that are stored for a chunk; `None` when none are.
    pub(crate) fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        self.location.store.size(&self.key(chunk)?).map_err(from_store)
    }

    /// How many bytes the elements of a stored chunk take.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chain.chunk().size()
    }
}
