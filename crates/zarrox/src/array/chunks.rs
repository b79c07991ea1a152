//! Chunk-level access: whole stored objects, encoded or decoded.

use zarrox_core::codec::{ChunkElements, CodecChain, ReadPart, WritePart};
use zarrox_core::grid::ChunkGrid;
use zarrox_core::{Error, ErrorKind, FromElements, IntoElements, Result};
use zarrox_stores::{Condition, StoreExt};

use super::Array;
use super::chains::Chain;
use super::read::chunk_place;
use super::stored::copy_value;
use crate::error::argument;
use crate::location::Context;

/// A chunk here is what is stored as one object: a shard, where the array has shards.
impl Array {
    /// Stores the bytes of a chunk, which come in pieces.
    pub(super) fn write_encoded_pieces(&self, chunk: &[u64], pieces: &[&[u8]]) -> Result<()> {
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

    /// Stores the bytes of a chunk under the same indices of another array, in pieces if there are many. Returns false if it was never
    /// stored.
    pub(super) fn copy_encoded_chunk(&self, chunk: &[u64], target: &Self) -> Result<bool> {
        let (from, to) = (self.key(chunk)?, target.key(chunk)?);
        let place = |error: Error| error.at(chunk_place(chunk, &from)).at(self.place());
        self.checked(|| copy_value(&self.location, &from, &target.location, &to)).map_err(place)
    }

    /// Erases a chunk, which reads as the fill value then. Tells whether it was stored.
    ///
    /// # Errors
    /// When there is no such chunk, or the store cannot be written.
    pub(super) fn erase_chunk(&self, chunk: &[u64]) -> Result<bool> {
        self.check_writable()?;
        self.check_chunk(chunk)?;
        let key = self.key(chunk)?;
        self.writing(|| self.location.overwrite(&key, || Ok(self.location.store.erase(&key)?)))
    }

    /// Reads a whole chunk, in its full shape also at the array's edge. One that was never stored is all fill values.
    ///
    /// # Errors
    /// When there is no such chunk, and as for [`Array::read`].
    pub(super) fn read_chunk<A: FromElements>(&self, chunk: &[u64]) -> Result<A> {
        self.check_chunk(chunk)?;
        let chain = self.chain_of(chunk)?;
        let spec = chain.chunk();
        if spec.size() > self.chain.limit() {
            let limit = self.chain.limit();
            let message = format!("a chunk takes {} bytes of memory, the limit is {limit}", spec.size());
            return Err(Error::new(ErrorKind::LimitExceeded, message).at(self.place()));
        }
        let key = self.key(chunk)?;
        self.with_source(spec.shape().into(), self.data_type(), A::read_from, &|mut out| {
            let options = self.location.context.decode;
            let part = ReadPart::new(ChunkElements::whole(spec.shape()), out.reborrow(), options);
            let result = self.checked(|| self.read_object(&chain, &key, part, 1));
            self.data_type().normalise(&mut out);
            result.map(drop).map_err(|error| error.at(chunk_place(chunk, &key)).at(self.place()))
        })
    }

    /// Writes a whole chunk, in its full shape also at the array's edge.
    ///
    /// # Errors
    /// When there is no such chunk, the shape is not the chunk's, and as for [`Array::write`].
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub(super) fn write_chunk(&self, chunk: &[u64], values: impl IntoElements) -> Result<()> {
        self.check_writable()?;
        self.check_chunk(chunk)?;
        let elements = self.slice(..).elements(&values)?;
        let chain = self.chain_of(chunk)?;
        let shape = chain.chunk().shape();
        let values = elements.broadcast(shape).filter(|_| elements.len() == shape.iter().product::<usize>());
        let values = values.ok_or_else(|| {
            let given = elements.view().shape().to_vec();
            argument(format!("the values have the shape {given:?}, a chunk has {shape:?}")).at(self.place())
        })?;
        self.data_type().check_range(&values).map_err(|error| error.at(self.place()))?;
        let part = WritePart::new(ChunkElements::whole(shape), values);
        self.writing(|| self.write_chunk_part(chunk, &part, true))
    }

    /// Works with the codec chain of a chunk.
    pub(super) fn with_chain<R>(&self, chunk: &[u64], work: impl FnOnce(&CodecChain) -> R) -> Result<R> {
        Ok(work(&*self.chain_of(chunk)?))
    }

    /// The number of stored bytes of a chunk; `None` if it is not stored.
    pub(super) fn stored_size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        self.location.store.size(&self.key(chunk)?).map_err(Error::from)
    }

    pub(super) fn check_chunk(&self, chunk: &[u64]) -> Result<()> {
        let grid = self.grid_shape();
        if chunk.len() == grid.len() && chunk.iter().zip(&grid).all(|(index, count)| index < count) {
            return Ok(());
        }
        Err(argument(format!("there is no chunk {chunk:?}, the grid has the shape {grid:?}"))
            .at(self.place()))
    }
}

impl Array {
    /// The codec chain of a chunk's shape.
    pub(super) fn chain_of(&self, chunk: &[u64]) -> Result<Chain<'_>> {
        if let ChunkGrid::Regular { .. } = self.metadata.chunk_grid {
            return Ok(Chain::Only(&self.chain));
        }
        let shape = self.metadata.chunk_grid.shape_of(chunk);
        let shape = shape.ok_or_else(|| argument(format!("there is no chunk {chunk:?}")))?;
        self.chain_of_shape(&shape)
    }

    /// The codec chain of chunks of this shape.
    pub(super) fn chain_of_shape(&self, shape: &[u64]) -> Result<Chain<'_>> {
        let own = self.chain.chunk().shape();
        if own.len() == shape.len() && own.iter().zip(shape).all(|(&own, &length)| own as u64 == length) {
            return Ok(Chain::Only(&self.chain));
        }
        let Context { registry, strictness, chunk_limit, .. } = &*self.location.context;
        let make = |shape: &[u64]| self.metadata.chain_of(shape, registry, *strictness, *chunk_limit);
        self.shared.chains.of_shape(shape.into(), make).map(Chain::OfShape)
    }

    /// Refuses shards whose inner chunks do not divide every length of the grid: the one chain that was made has seen only
    /// the largest.
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
