//! Measures how fast an array is read, and its speed and size with other chunks and codecs.
//!
//! ```
//! use zarrox_tools::bench::Bench;
//! use zarrox::codecs::Zstd;
//! use zarrox_tools::copy::Copier;
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! let array = zarrox::create_array(directory.path().join("a.zarr")).shape([64, 64]).data_type(DataType::Int32).create()?;
//! array.write(.., 7)?;
//!
//! let bench = Bench::new().turns(1).candidate("small", Copier::new().chunks([8, 8]).compressor(Zstd::level(9)));
//! let report = bench.run(&array)?;
//! assert_eq!(report.sample, [(0, 64), (0, 64)]);
//! assert_eq!(report.candidates[1].as_ref().map(|small| small.chunks).ok(), Some(64));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidate;
mod fetching;
mod report;
mod sample;
mod timing;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zarrox_core::{Result, Selection};
use zarrox_stores::MemoryStore;

use crate::copy::Copier;
use crate::rechunk::selection;
use candidate::{CandidatePlace, Trial};
use fetching::Fetching;
pub use report::{BenchReport, Candidate};
use sample::Sample;
use timing::{median, timed};
use zarrox::Place;
use zarrox::internals::{Listener, Task, argument};
use zarrox::{Array, DynArray, Progress};

/// A benchmark of reads from an array, with options.
///
/// A sample from the middle of the array is read, and encoded and decoded in memory. Each turn measures all candidates, and the
/// report contains the medians of all turns.
#[derive(Clone)]
pub struct Bench {
    sample: u64,
    turns: usize,
    place: Option<Place>,
    candidates: Vec<(String, Copier)>,
    listener: Option<Listener>,
}

impl Default for Bench {
    fn default() -> Self {
        Self { sample: 64 << 20, turns: 5, place: None, candidates: Vec::new(), listener: None }
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.candidates.iter().map(|(name, _)| name).collect();
        f.debug_struct("Bench")
            .field("sample", &self.sample)
            .field("candidates", &names)
            .finish_non_exhaustive()
    }
}

impl Bench {
    /// Creates a benchmark without candidates, with a sample of 64 MiB and five turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum size of the sample in memory, in bytes. At least one chunk is read.
    #[must_use]
    pub fn sample(self, bytes: u64) -> Self {
        Self { sample: bytes, ..self }
    }

    /// Sets the number of turns, at least one.
    #[must_use]
    pub fn turns(self, turns: usize) -> Self {
        Self { turns: turns.max(1), ..self }
    }

    /// Sets an unused location where all candidates are stored before they are read; they are deleted at the end. Without this
    /// location, candidates are read from memory, so that only decoding is measured.
    #[must_use]
    pub fn place(self, place: impl Into<Place>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    /// Adds a candidate with the chunks and codecs of a copier, whose other settings are ignored.
    #[must_use]
    pub fn candidate(mut self, name: impl Into<String>, copier: Copier) -> Self {
        self.candidates.push((name.into(), copier));
        self
    }

    /// Sets a listener that is called with the progress, on the calling thread. An error of the listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Measures an array.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) if the array has no elements, and the errors of
    /// reading. If a candidate cannot be created, the report contains the error.
    pub fn run(&self, array: &Array) -> Result<BenchReport> {
        if array.shape().contains(&0) {
            return Err(argument("the array has no elements"));
        }
        let work = Task::new(0, self.listener.clone());
        let sample = Sample::of(array, self.sample)?;
        let sample_bytes = sample.elements().saturating_mul(array.data_type().size() as u64);
        let measurements = self.turns * (self.candidates.len() + 2);
        work.expect(sample_bytes.saturating_mul(measurements as u64));
        let fetching = Fetching::new(array, &sample)?;
        let (first_fetch, bytes_fetched) = timed(|| fetching.run(array))?;
        let region: Selection = selection(sample.region()).into_iter().collect();
        let values = array.read::<DynArray>(&region)?;
        let place = self.place.as_ref().map(|place| CandidatePlace::new(array, place)).transpose()?;
        let trials = self.trials(array, &region, place.as_ref())?;
        let mut own = Own::default();
        let mut all: Vec<_> = trials.iter().map(|_| candidate::Times::default()).collect();
        for turn in 0..self.turns {
            own.turn(array, &fetching, &region, &sample, turn)?;
            work.advance(sample_bytes)?;
            for (trial, times) in trials.iter().zip(&mut all) {
                if let Ok(trial) = trial {
                    trial.turn(&values, turn, times)?;
                }
                work.advance(sample_bytes)?;
            }
        }
        let report = BenchReport {
            bytes: array.nbytes().unwrap_or(u64::MAX),
            sample_bytes,
            objects: fetching.objects(),
            sample: sample.into_region(),
            bytes_fetched,
            is_remote: array.is_remote(),
            first_fetch,
            fetch: median(&mut own.fetch),
            read: median(&mut own.read),
            read_chunk: median(&mut own.chunk),
            read_element: median(&mut own.element),
            candidates: trials.into_iter().zip(all).map(|(trial, times)| trial?.report(times)).collect(),
            threads: array.cores().threads(),
            turns: self.turns,
        };
        place.map_or(Ok(()), CandidatePlace::clear)?;
        Ok(report)
    }

    /// Creates the trials: one for the array's own chunks and codecs, and one for each candidate.
    fn trials(
        &self,
        array: &Array,
        region: &Selection,
        place: Option<&CandidatePlace>,
    ) -> Result<Vec<Result<Trial>>> {
        let store = Arc::new(MemoryStore::new());
        let options = array.open_options();
        let copier = Copier::new().open_options(options.clone()).select(region.clone());
        copier.plan((array.location().store.clone(), array.path().as_str()), (store.clone(), ""))?.run()?;
        let sample = options.open((store.clone(), ""))?.into_array()?;
        let mut lengths = array.chunk_grid().largest_chunk().iter().zip(array.shape()).zip(sample.shape());
        let is_cut = lengths.any(|((&chunk, &whole), &part)| chunk.min(whole) > part);
        let (shape, chunks) = (sample.shape().to_vec(), sample.unit_shape());
        let first = Trial::new("as it is", &store, sample, is_cut, place)?;
        let further = self.candidates.iter().map(|(name, copier)| {
            let own = Arc::new(MemoryStore::new());
            let copier = copier.clone().open_options(options.clone());
            let (copier, is_cut) = copier.cut_to(array.shape(), &shape, &chunks);
            copier.plan((store.clone(), ""), (own.clone(), ""))?.run()?;
            let sample = options.open((own.clone(), ""))?.into_array()?;
            Trial::new(name, &own, sample, is_cut, place)
        });
        let further: Vec<_> = further.collect();
        Ok(std::iter::once(Ok(first)).chain(further).collect())
    }
}

/// The times of reading the array.
#[derive(Default)]
struct Own {
    fetch: Vec<Duration>,
    read: Vec<Duration>,
    chunk: Vec<Duration>,
    element: Vec<Duration>,
}

impl Own {
    fn turn(
        &mut self,
        array: &Array,
        fetching: &Fetching,
        region: &Selection,
        sample: &Sample,
        turn: usize,
    ) -> Result<()> {
        self.fetch.push(timed(|| fetching.run(array))?.0);
        self.read.push(timed(|| array.read::<DynArray>(region))?.0);
        let chunks = array.unit_shape();
        for (chunk, element) in timing::places(sample.region(), &chunks, turn) {
            let read = |part| -> Result<DynArray> { array.read::<DynArray>(part) };
            self.chunk.push(timed(|| read(chunk.clone()))?.0);
            self.element.push(timed(|| read(element.clone()))?.0);
        }
        Ok(())
    }
}
