//! The codec chains of an array: one for each shape of chunk that its grid has.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::codec::CodecChain;
use zarrox_core::grid::ChunkGrid;
use zarrox_core::metadata::LastCodecs;
use zarrox_core::strided::Dims;
use zarrox_core::{ArrayMetadata, CodecSpec, Error, ErrorKind, Result};

use super::Array;
use crate::error::argument;
use crate::options::Context;

/// The number of chains that are kept. A grid can have any number of shapes; making a chain anew costs little.
const KEPT: usize = 64;

/// The chains that were made so far, for chunks of other shapes than the grid's largest.
#[derive(Debug, Default)]
pub(super) struct Chains(Mutex<HashMap<Dims<u64>, Arc<CodecChain>>>);

/// The chain that was made last for an array of a hierarchy. The next array often has the same codecs, and chunks like it.
#[derive(Debug, Default)]
pub(crate) struct LastChain {
    made: Mutex<Option<(Vec<CodecSpec>, Arc<CodecChain>)>>,
    /// The codecs that were read last out of a document.
    pub(crate) read: LastCodecs,
}

impl LastChain {
    /// The chain of an array's largest chunk. All arrays that ask have the same registry, strictness and limits.
    pub(super) fn of(&self, metadata: &ArrayMetadata, context: &Context) -> Result<Arc<CodecChain>> {
        let Context { registry, strictness, chunk_limit, .. } = context;
        let fill = metadata.fill_element(registry)?;
        if let Some((codecs, chain)) = &*self.made.lock().unwrap_or_else(PoisonError::into_inner) {
            let (chunk, shape) = (chain.chunk(), metadata.chunk_grid.largest_chunk());
            let is_same = chunk.data_type().is_ok_and(|data_type| *data_type == metadata.data_type)
                && chunk.shape().iter().map(|&length| length as u64).eq(shape.iter().copied())
                && *chunk.fill() == fill
                && codecs.len() == metadata.codecs.len()
                && codecs.iter().zip(&metadata.codecs).all(|(a, b)| a.is_identical(b));
            if is_same {
                return Ok(chain.clone());
            }
        }
        let chain = Arc::new(metadata.chain(registry, *strictness, *chunk_limit)?);
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((metadata.codecs.clone(), chain.clone()));
        Ok(chain)
    }
}

/// The chain; and where only metadata is asked for and a codec or the data type is not known, one that says so for every
/// chunk, and why.
pub(super) fn or_unusable(
    chain: Result<Arc<CodecChain>>,
    metadata: &ArrayMetadata,
    context: &Context,
) -> Result<(Arc<CodecChain>, Option<String>)> {
    let Context { registry, strictness, chunk_limit, .. } = context;
    match chain {
        Err(error) if registry.takes_unknown() && error.kind() == ErrorKind::Unsupported => {
            let unknown = registry.unknown_among(&metadata.data_type, &metadata.codecs);
            let why = unknown.unwrap_or_else(|| error.to_string());
            let chain = metadata.unusable_chain(registry, *strictness, *chunk_limit, &why)?;
            Ok((Arc::new(chain), Some(why)))
        }
        chain => Ok((chain?, None)),
    }
}

/// The chain of a chunk.
pub(super) enum Chain<'a> {
    /// The array's one chain.
    Only(&'a CodecChain),
    /// The chain of chunks of one shape among several.
    OfShape(Arc<CodecChain>),
}

impl Deref for Chain<'_> {
    type Target = CodecChain;

    fn deref(&self) -> &CodecChain {
        match self {
            Self::Only(chain) => chain,
            Self::OfShape(chain) => chain,
        }
    }
}

impl Array {
    /// The codec chain of a chunk's shape.
    pub(super) fn chain_of(&self, chunk: &[u64]) -> Result<Chain<'_>> {
        if let ChunkGrid::Regular { .. } = self.metadata.chunk_grid {
            return Ok(Chain::Only(&self.chain));
        }
        let shape = self.metadata.chunk_grid.shape_of(chunk);
        let shape: Dims<u64> = shape.ok_or_else(|| argument(format!("there is no chunk {chunk:?}")))?.into();
        if let Some(chain) = self.shared.chains.0.lock().unwrap_or_else(PoisonError::into_inner).get(&shape) {
            return Ok(Chain::OfShape(chain.clone()));
        }
        let context = &self.location.context;
        let chain =
            self.metadata.chain_of(&shape, &context.registry, context.strictness, context.chunk_limit)?;
        let chain = Arc::new(chain);
        let mut kept = self.shared.chains.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(shape, chain.clone());
        Ok(Chain::OfShape(chain))
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
