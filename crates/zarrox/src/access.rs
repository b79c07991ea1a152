//! How elements are read and written: what can differ from one access to the next.

use crate::array::ChunkCache;
use crate::heard::Heard;
use crate::interrupt::Interrupt;
use crate::options::{Context, MissingChunks};

/// How the elements of an array are read and written, where that is not as it was opened.
///
/// ```
/// # use zarrox::prelude::*;
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
    /// As the array was opened.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether reading compares checksums. It does, if not said. Where it does not, a part of a chunk can be read without the
    /// rest; what compressors check themselves stays checked, and so are the indexes of shards.
    #[must_use]
    pub fn verify_checksums(self, verify: bool) -> Self {
        Self { verify_checksums: Some(verify), ..self }
    }

    /// How many threads work; one for each core when it is 0.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// What reading does with chunks that were never stored.
    #[must_use]
    pub fn missing_chunks(self, policy: MissingChunks) -> Self {
        Self { missing_chunks: Some(policy), ..self }
    }

    /// Whether chunks that hold nothing but the fill value are stored all the same.
    #[must_use]
    pub fn store_empty_chunks(self, store: bool) -> Self {
        Self { store_empty_chunks: Some(store), ..self }
    }

    /// How much memory, in bytes, may be in use at once beside the result and the values; 4 GiB, if not said. One chunk for each
    /// thread is decoded at a time, or as many as fit, and always at least one.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// How many bytes of decoded chunks are kept in memory for the next who reads elements of them; none, if not said. All arrays
    /// that are given these options, or clones of them, share the bytes, which come on top of [`memory`](Self::memory).
    ///
    /// A chunk is used again as long as its stored bytes are of the same version; so reading still asks the store for that, and
    /// nothing is kept where a store cannot tell: versions are known of memory, directories and object stores.
    #[must_use]
    pub fn chunk_cache(self, bytes: usize) -> Self {
        Self { chunk_cache: Some((bytes > 0).then(|| ChunkCache::new(bytes))), ..self }
    }

    /// What calls the work off.
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
