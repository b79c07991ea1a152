//! Options for reading and writing elements, which can change from one access to the next.

use std::sync::Arc;

use crate::chunk_cache::ChunkCache;
use crate::interrupt::Interrupt;
use crate::location::{ChunkListener, Context, Timer, Timings};
use crate::policy::MissingChunks;

/// Options for reading and writing the elements of an array. They override the options that the array was opened with.
///
/// ```
/// # use zarrox::{prelude::*, s};
/// # use zarrox::codecs::{Bytes, Crc32c};
/// use zarrox::AccessOptions;
/// # let directory = tempfile::tempdir()?;
/// # let array = zarrox::create_array(directory.path().join("a.zarr"))
/// #     .shape([1000]).data_type(DataType::Float32).codecs([Bytes::little().into(), Crc32c::default().into()]).create()?;
///
/// // Only ten elements are read from a chunk that has a checksum.
/// let quick = array.with_options(&AccessOptions::new().verify_checksums(false));
/// let some = quick.read::<ArrayD<f32>>(s![500..510])?;
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
    chunk_listener: Option<ChunkListener>,
    timer: Option<Timer>,
}

impl AccessOptions {
    /// Creates options that override nothing: the array is accessed with the options that it was opened with.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether reading verifies checksums; on by default. Without verification, a part of a chunk can be read without the
    /// rest. The checksums of compressors and of shard indexes are still verified.
    #[must_use]
    pub fn verify_checksums(self, verify: bool) -> Self {
        Self { verify_checksums: Some(verify), ..self }
    }

    /// Sets the number of threads; 0 means one for each core.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets how missing chunks are read.
    #[must_use]
    pub fn missing_chunks(self, policy: MissingChunks) -> Self {
        Self { missing_chunks: Some(policy), ..self }
    }

    /// Sets whether chunks that contain only the fill value are stored.
    #[must_use]
    pub fn store_empty_chunks(self, store: bool) -> Self {
        Self { store_empty_chunks: Some(store), ..self }
    }

    /// Sets the memory limit in bytes; the default is 4 GiB. The result of a read and the values of a write are not counted. The
    /// limit determines how many chunks are decoded at the same time: at least one, and at most one per thread.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Sets the number of bytes of decoded chunks that are cached in memory for later reads; the default is 0. All arrays with
    /// these options, or with clones of them, share the cache. Its size does not count towards [`memory`](Self::memory).
    ///
    /// A cached chunk is used as long as the version of its stored bytes is unchanged, so a read still requests the version from
    /// the store. Nothing is cached if the store has no versions; in-memory stores, directories and object stores have them.
    #[must_use]
    pub fn chunk_cache(self, bytes: usize) -> Self {
        Self { chunk_cache: Some((bytes > 0).then(|| ChunkCache::new(bytes))), ..self }
    }

    /// Sets the interrupt that cancels reading and writing.
    #[must_use]
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        Self { interrupt: Some(interrupt.clone()), ..self }
    }

    /// Sets a function that is called for each finished chunk with the number of elements that were read from it or written to
    /// it, for example to show progress. It may be called from any thread.
    #[must_use]
    pub fn on_chunk(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { chunk_listener: Some(ChunkListener::new(listener)), ..self }
    }

    /// Measures the times of reads.
    #[doc(hidden)]
    #[must_use]
    pub fn timings(self, timings: &Arc<Timings>) -> Self {
        Self { timer: Some(Timer::new(timings)), ..self }
    }

    /// Overrides the options of a context with those that were set.
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
        if let Some(chunk_listener) = &self.chunk_listener {
            context.chunk_listener = chunk_listener.clone();
        }
        if let Some(timer) = &self.timer {
            context.timer = timer.clone();
        }
        if let Some(store) = self.store_empty_chunks {
            context.encode.store_empty_chunks = store;
        }
    }
}
