//! The progress callback of an array.

use std::fmt;
use std::sync::Arc;

/// A function that is called with the number of elements of a chunk that were read or written. It may be called from any thread.
#[derive(Clone, Default)]
pub(crate) struct ChunkListener(Option<Arc<dyn Fn(u64) + Send + Sync>>);

impl ChunkListener {
    pub(crate) fn new(listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(crate) fn call(&self, elements: usize) {
        if let Some(listener) = &self.0 {
            listener(elements as u64);
        }
    }
}

impl fmt::Debug for ChunkListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "ChunkListener" } else { "no ChunkListener" })
    }
}
