//! Options for reading and writing elements: everything that can differ from one access to the next.

use crate::chunk_cache::ChunkCache;
use crate::heard::Heard;
use crate::interrupt::Interrupt;
use crate::location::Context;
use crate::policy::MissingChunks;

/// Options for reading and writing the elements of an array, where these differ from the ones that it was opened with.
///
/// ```
/// # use zarrox::prelude::*;
/// # use zarrox::codecs::{Bytes, Crc32c};
/// use zarrox::AccessOptions;
/// # let directory = tempfile::tempdir()?;
/// # let array = zarrox::create_array(directory.path().join("a.zarr"))
/// #     .shape([1000]).data_type(DataType::Float32).codecs([Bytes::little().into(), Crc32c::default().into()]).create()?;
///
/// // Ten elements and no more are read of a chunk that has a checksum.
/// let quick = array.with_options(&AccessOptions::new().verify_checksums(false));
/// let some = quick.read::<f32>(s![500..510])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AccessOptions {
    verify_checksums: Option<bool>,
    threads: Option<usize>,
    missing_chunks: Option<MissingChunks>,
    store_empty_chunks: Option<bool>,
    memory: Option<usize>,
    chunk_cache: Option<Option<ChunkCache>>,
    interrupt: Option<Interrupt>,
    heard: Option<Heard>,
}

impl AccessOptions {
    /// Options that change nothing: the array is accessed with those that it was opened with.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether reading compares checksums; by default it does. Without, a part of a chunk can be read without the
    /// rest; what compressors check themselves stays checked, and so are the indexes of shards.
    #[must_use]
    pub fn verify_checksums(self, verify: bool) -> Self {
        Self { verify_checksums: Some(verify), ..self }
    }

    /// Sets the number of threads that work; 0 means one for each core.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets how chunks that were never stored are read.
    #[must_use]
    pub fn missing_chunks(self, policy: MissingChunks) -> Self {
        Self { missing_chunks: Some(policy), ..self }
    }

    /// Sets whether chunks that hold nothing but the fill value are stored all the same.
    #[must_use]
    pub fn store_empty_chunks(self, store: bool) -> Self {
        Self { store_empty_chunks: Some(store), ..self }
    }

    /// Sets how much memory, in bytes, may be in use at once beside the result and the values; 4 GiB by default. One chunk for each
    /// thread is decoded at a time, or as many as fit, and always at least one.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Sets how many bytes of decoded chunks are kept in memory for later reads of the same chunks; 0 by default. All arrays
    /// that are given these options, or clones of them, share the bytes, which come on top of [`memory`](Self::memory).
    ///
    /// A chunk is used again as long as its stored bytes are of the same version; so reading still asks the store for that, and
    /// nothing is kept where a store cannot tell: memory, directories and object stores know versions.
    #[must_use]
    pub fn chunk_cache(self, bytes: usize) -> Self {
        Self { chunk_cache: Some((bytes > 0).then(|| ChunkCache::new(bytes))), ..self }
    }

    /// Sets the interrupt that calls the work off.
    #[must_use]
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        Self { interrupt: Some(interrupt.clone()), ..self }
    }

    /// Hears of each chunk that is done how many elements of it were read or written, while the work goes on: for those who show
    /// progress. It is called from any thread.
    #[must_use]
    pub fn on_chunk(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { heard: Some(Heard::new(listener)), ..self }
    }

    /// Puts what was said into the place of what was said at opening.
    pub(crate) fn apply(&self, context: &mut Context) {
        if let Some(verify) = self.verify_checksums {
            context.decode.verify_checksums = verify;
        }
        if let Some(threads) = self.threads.filter(|&threads| threads != context.pool.threads()) {
            context.pool = context.pool.with_threads(threads);
        }
        if let Some(policy) = self.missing_chunks {
            context.missing = policy;
        }
        if let Some(bytes) = self.memory {
            context.memory = bytes;
        }
        if let Some(cache) = &self.chunk_cache {
            context.chunk_cache.clone_from(cache);
        }
        if let Some(interrupt) = &self.interrupt {
            context.interrupt = interrupt.clone();
        }
        if let Some(heard) = &self.heard {
            context.heard = heard.clone();
        }
        if let Some(store) = self.store_empty_chunks {
            context.encode.store_empty_chunks = store;
        }
    }
}
