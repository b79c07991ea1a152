//! The codec pipelines of an array: one for each shape of chunk in its grid.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::strided::Dims;
use zarrox_core::{ArrayMetadata, CodecChain, ErrorKind, Result};

use crate::location::Context;

/// The number of cached chains. A grid can have any number of chunk shapes, and building a chain costs little.
const CACHED: usize = 64;

/// The cached chains of chunks whose shape is not the grid's largest.
#[derive(Debug, Default)]
pub(super) struct Chains(Mutex<HashMap<Dims<u64>, Arc<CodecChain>>>);

impl Chains {
    /// Returns the chain of chunks of this shape, which is built if it is not cached.
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

/// Returns the chain of an array's largest chunk.
pub(super) fn chain_for(metadata: &ArrayMetadata, context: &Context) -> Result<Arc<CodecChain>> {
    let Context { registry, strictness, chunk_limit, last_chain, .. } = context;
    let fill = metadata.fill_element(registry)?;
    last_chain.chain(metadata, &fill, || metadata.chain(registry, *strictness, *chunk_limit))
}

/// Returns the chain. If only metadata is needed, and a codec or the data type is unknown, returns a chain that fails for every
/// chunk, and the reason.
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
    /// The array's only chain.
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
