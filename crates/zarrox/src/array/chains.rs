//! The codec pipelines of an array: one for each distinct chunk shape in its grid.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::strided::Dims;
use zarrox_core::{ArrayMetadata, CodecChain, ErrorKind, Result};

use crate::location::Context;

/// The number of cached pipelines. A grid can have any number of chunk shapes, and building a pipeline is cheap.
const CACHED: usize = 64;

/// The cached pipelines for chunk shapes other than the largest one of the grid.
#[derive(Debug, Default)]
pub(super) struct Chains(Mutex<HashMap<Dims<u64>, Arc<CodecChain>>>);

impl Chains {
    /// Returns the pipeline for chunks of this shape, from the cache if possible.
    pub(super) fn of_shape(
        &self,
        shape: Dims<u64>,
        make: impl FnOnce(&[u64]) -> Result<CodecChain>,
    ) -> Result<Arc<CodecChain>> {
        if let Some(chain) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&shape) {
            return Ok(chain.clone());
        }
        let chain = Arc::new(make(&shape)?);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= CACHED {
            cached.clear();
        }
        cached.insert(shape, chain.clone());
        Ok(chain)
    }
}

/// Builds the pipeline for the largest chunk shape of an array.
pub(super) fn chain_for(metadata: &ArrayMetadata, context: &Context) -> Result<Arc<CodecChain>> {
    let Context { registry, strictness, chunk_limit, last_chain, .. } = context;
    let fill = metadata.fill_element(registry)?;
    last_chain.chain(metadata, &fill, || metadata.chain(registry, *strictness, *chunk_limit))
}

/// Returns the pipeline. If only metadata is needed, and a codec or the data type is unknown, returns a pipeline that fails for
/// every chunk, and the reason.
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

/// The pipeline of a chunk.
pub(super) enum Chain<'a> {
    /// The only pipeline of the array.
    Only(&'a CodecChain),
    /// The pipeline for one of several chunk shapes.
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
