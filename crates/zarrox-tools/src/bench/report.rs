//! The report of a benchmark.

use std::time::Duration;

use zarrox_core::{CodecSpec, Result};

/// The report of a benchmark: the read speed of an array, and of its candidates.
#[derive(Debug)]
#[non_exhaustive]
pub struct BenchReport {
    /// The start and the end of the sample along each dimension.
    pub sample: Vec<(u64, u64)>,
    /// The size of the sample's elements in memory, in bytes.
    pub sample_bytes: u64,
    /// The size of all elements in memory, in bytes, saturating at `u64::MAX`.
    pub bytes: u64,
    /// The number of stored objects that overlap the sample: chunks, or shards if the array has shards.
    pub objects: usize,
    /// The number of bytes that are fetched from these objects for the sample.
    pub bytes_fetched: u64,
    /// True if the store is remote.
    pub is_remote: bool,
    /// The time of the first fetch of the stored bytes, without decoding. The bytes may already have been in the operating
    /// system's cache.
    pub first_fetch: Duration,
    /// The time of a later fetch, when local files are in the operating system's cache.
    pub fetch: Duration,
    /// The time of reading the sample's elements from the store.
    pub read: Duration,
    /// The time of reading one chunk from the store.
    pub read_chunk: Duration,
    /// The time of reading one element from the store.
    pub read_element: Duration,
    /// The results for the sample: first with the array's own chunks and codecs, then for each candidate. The result is an error
    /// if the candidate cannot be created.
    pub candidates: Vec<Result<Candidate>>,
    /// The number of threads.
    pub threads: usize,
    /// The number of turns.
    pub turns: usize,
}

/// A candidate: the sample with certain chunks and codecs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Candidate {
    /// The name; the first candidate is named `as it is`.
    pub name: String,
    /// The shape of a chunk.
    pub chunk_shape: Vec<u64>,
    /// The shape of a shard, if there are shards.
    pub shard_shape: Option<Vec<u64>>,
    /// The codecs.
    pub codecs: Vec<CodecSpec>,
    /// The number of chunks in the sample.
    pub chunks: u64,
    /// True if the requested chunk or shard would be larger than the sample, so that a smaller one was measured.
    pub is_cut: bool,
    /// The stored size of the sample, in bytes.
    pub bytes_stored: u64,
    /// The time of encoding the sample into memory, on all threads.
    pub encode: Duration,
    /// The time of decoding the sample from memory, on all threads.
    pub decode: Duration,
    /// The time of reading the sample from the [`place`](super::Bench::place), or from memory if no location was set.
    pub read: Duration,
    /// The time of reading one chunk from the same location.
    pub read_chunk: Duration,
    /// The time of reading one element from the same location.
    pub read_element: Duration,
}

impl BenchReport {
    /// Returns the estimated time for all elements in seconds, extrapolated from the sample.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn whole(&self, sample: Duration) -> f64 {
        match self.sample_bytes {
            0 => 0.0,
            bytes => sample.as_secs_f64() * (self.bytes as f64 / bytes as f64),
        }
    }
}
