//! The chunks of the grid, and their codec pipelines.

use zarrox_core::{ChunkGrid, CodecChain, Error, ErrorKind, Result};

use super::Array;
use super::chains::Chain;
use crate::error::argument;
use crate::location::Context;

/// In these methods, a chunk is a stored object: a shard, if the array has shards.
impl Array {
    /// Calls `work` with the codec pipeline of a chunk.
    #[doc(hidden)]
    pub fn with_chain<R>(&self, chunk: &[u64], work: impl FnOnce(&CodecChain) -> R) -> Result<R> {
        Ok(work(&*self.chain_of(chunk)?))
    }

    /// Returns the stored size of a chunk in bytes; `None` if the chunk is not stored.
    #[doc(hidden)]
    pub fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        self.location.store.size(&self.key(chunk)?).map_err(Error::from)
    }

    /// Returns true if the grid contains this chunk.
    #[doc(hidden)]
    pub fn has_chunk(&self, chunk: &[u64]) -> bool {
        chunk.len() == self.ndim() && chunk.iter().zip(self.grid_shape()).all(|(index, count)| *index < count)
    }

    pub(super) fn check_chunk(&self, chunk: &[u64]) -> Result<()> {
        if self.has_chunk(chunk) {
            return Ok(());
        }
        let grid = self.grid_shape();
        Err(argument(format!("there is no chunk {chunk:?}: the grid has the shape {grid:?}"))
            .at(self.place()))
    }
}

impl Array {
    /// Returns the codec pipeline of a chunk.
    pub(super) fn chain_of(&self, chunk: &[u64]) -> Result<Chain<'_>> {
        if let ChunkGrid::Regular { .. } = self.metadata.chunk_grid {
            return Ok(Chain::Only(&self.chain));
        }
        let shape = self.metadata.chunk_grid.shape_of(chunk);
        let shape = shape.ok_or_else(|| argument(format!("there is no chunk {chunk:?}")))?;
        self.chain_of_shape(&shape)
    }

    /// Returns the codec pipeline for chunks of this shape.
    pub(super) fn chain_of_shape(&self, shape: &[u64]) -> Result<Chain<'_>> {
        let own = self.chain.chunk().shape();
        if own.len() == shape.len() && own.iter().zip(shape).all(|(&own, &length)| own as u64 == length) {
            return Ok(Chain::Only(&self.chain));
        }
        let Context { registry, strictness, chunk_limit, .. } = &*self.location.context;
        let make = |shape: &[u64]| self.metadata.chain_of(shape, registry, *strictness, *chunk_limit);
        self.shared.chains.of_shape(shape.into(), make).map(Chain::OfShape)
    }

    /// Returns an error if the length of any shard is not a multiple of the length of the inner chunks. When the array's pipeline
    /// was built, only the largest shard was checked.
    pub(super) fn check_inner_chunks(&self) -> Result<()> {
        let Some(inner) = self.chain.inner_chunk_shape() else { return Ok(()) };
        for (dim, inner) in inner.into_iter().enumerate() {
            let runs = self.metadata.chunk_grid.runs(dim);
            if let Some(run) = runs.iter().find(|run| run.length % inner as u64 != 0) {
                let message = format!(
                    "the grid has shards of length {} in dimension {dim}, which the inner chunks' length {inner} does not divide",
                    run.length
                );
                return Err(Error::new(ErrorKind::InvalidMetadata, message));
            }
        }
        Ok(())
    }
}
