//! The results of measurements.

use std::time::Duration;

use zarrox_core::{CodecSpec, Result};

/// The speed of reading one array, and of its candidates.
#[derive(Debug)]
#[non_exhaustive]
pub struct BenchReport {
    /// The begin and the end of the sample along each dimension.
    pub sample: Vec<(u64, u64)>,
    /// The size of the sample's elements in memory, in bytes.
    pub sample_bytes: u64,
    /// The size of all elements in memory, in bytes; `u64::MAX` if it is larger.
    pub bytes: u64,
    /// The number of stored objects that the sample lies in: chunks, or shards if there are any.
    pub objects: usize,
    /// The number of bytes of them that are read for the sample.
    pub bytes_fetched: u64,
    /// True if the store is on another machine.
    pub is_remote: bool,
    /// The time of the first fetch of the stored bytes, without decoding. The system may have had them in its cache or not.
    pub first_fetch: Duration,
    /// The time of a later fetch: a local file is in the system's cache.
    pub fetch: Duration,
    /// The time of reading the sample's elements from the store.
    pub read: Duration,
    /// The time of reading one chunk from the store.
    pub read_chunk: Duration,
    /// The time of reading one element from the store.
    pub read_element: Duration,
    /// The sample in the array's own chunks and codecs, and then as each candidate, or the reason why it cannot be so.
    pub candidates: Vec<Result<Candidate>>,
    /// The number of threads.
    pub threads: usize,
    /// The number of turns.
    pub turns: usize,
}

/// The sample with certain chunks and codecs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Candidate {
    /// Its name; the first one is called `as it is`.
    pub name: String,
    /// The shape of a chunk.
    pub chunk_shape: Vec<u64>,
    /// The shape of a shard, if there are shards.
    pub shard_shape: Option<Vec<u64>>,
    /// The codecs.
    pub codecs: Vec<CodecSpec>,
    /// The number of chunks of the sample.
    pub chunks: u64,
    /// True if a chunk or shard of this shape would be larger than the sample, so that a smaller one was measured.
    pub is_cut: bool,
    /// The number of bytes that are stored of the sample.
    pub bytes_stored: u64,
    /// The time of encoding the sample into memory, on all threads.
    pub encode: Duration,
    /// The time of decoding the sample from memory, on all threads.
    pub decode: Duration,
    /// The time of reading the sample from the [`place`](super::Bench::place), or from memory if there is none.
    pub read: Duration,
    /// The time of reading one chunk from there.
    pub read_chunk: Duration,
    /// The time of reading one element from there.
    pub read_element: Duration,
}

impl BenchReport {
    /// The time that all elements would take if they were like the sample, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn whole(&self, sample: Duration) -> f64 {
        match self.sample_bytes {
            0 => 0.0,
            bytes => sample.as_secs_f64() * (self.bytes as f64 / bytes as f64),
        }
    }
}
