//! Candidates: the sample, encoded with other chunks and codecs, in memory and in a store.

use std::sync::Arc;
use std::time::Duration;

use zarrox_core::{Result, Selection};
use zarrox_stores::{MemoryStore, Store};

use super::report::Candidate;
use super::timing::{median, places, timed};
use crate::copy::Copier;
use zarrox::internals::Location;
use zarrox::{Array, DynArray};
use zarrox::{Group, OpenMode, OpenOptions, Place};

/// A temporary group in which candidates are stored for reading.
pub(super) struct CandidatePlace {
    options: OpenOptions,
    group: Group,
    place: Place,
    /// True until the group is deleted.
    is_cleared: bool,
}

impl CandidatePlace {
    pub(super) fn new(array: &Array, place: &Place) -> Result<Self> {
        let options = array.open_options();
        let group = options.clone().mode(OpenMode::CreateNew).create_group(place)?;
        Ok(Self { options, group, place: place.clone(), is_cleared: false })
    }

    fn location(&self) -> &Location {
        self.group.location()
    }

    /// Copies a candidate, and opens the copy.
    fn add(&self, store: Arc<MemoryStore>, name: &str) -> Result<Array> {
        let path = self.location().path.join(name)?;
        let (place, path) = (self.location().store.clone(), path.as_str().to_owned());
        let copier = Copier::new().open_options(self.options.clone());
        copier.plan((store, ""), (place.clone(), &path))?.run()?;
        self.options.open((place, &path))?.into_array()
    }

    /// Deletes the group.
    pub(super) fn clear(mut self) -> Result<()> {
        self.is_cleared = true;
        self.options.delete(&self.place)
    }
}

/// The group is also deleted after an error.
impl Drop for CandidatePlace {
    fn drop(&mut self) {
        if self.is_cleared {
            return;
        }
        if let Err(error) = self.options.delete(&self.place) {
            tracing::warn!(%error, "the group of the candidates could not be deleted");
        }
    }
}

/// A candidate that is measured.
pub(super) struct Trial {
    name: String,
    array: Array,
    /// The array that is read.
    placed: Array,
    is_cut: bool,
}

/// The times of all runs.
#[derive(Default)]
pub(super) struct Times {
    encode: Vec<Duration>,
    decode: Vec<Duration>,
    read: Vec<Duration>,
    chunk: Vec<Duration>,
    element: Vec<Duration>,
}

impl Trial {
    pub(super) fn new(
        name: &str,
        store: &Arc<MemoryStore>,
        array: Array,
        is_cut: bool,
        place: Option<&CandidatePlace>,
    ) -> Result<Self> {
        let placed = match place {
            // The name is derived from the location of the candidate's memory store, which is unique.
            Some(place) => place.add(store.clone(), &store.location().replace("memory://", "candidate-"))?,
            None => array.clone(),
        };
        Ok(Self { name: name.to_owned(), array, placed, is_cut })
    }

    /// Encodes and decodes the sample once, and reads some chunks and elements.
    pub(super) fn turn(&self, values: &DynArray, turn: usize, times: &mut Times) -> Result<()> {
        let Self { array, placed, .. } = self;
        let cast;
        let values = match values.data_type() == array.data_type() {
            true => values,
            // The copier may cast elements.
            false => {
                cast = array.read::<DynArray>(Selection::all())?;
                &cast
            }
        };
        times.encode.push(timed(|| array.write(Selection::all(), values))?.0);
        times.decode.push(timed(|| array.read::<DynArray>(Selection::all()))?.0);
        times.read.push(timed(|| placed.read::<DynArray>(Selection::all()))?.0);
        let region: Vec<(u64, u64)> = array.shape().iter().map(|&length| (0, length)).collect();
        for (chunk, element) in places(&region, &array.unit_shape(), turn) {
            times.chunk.push(timed(|| placed.read::<DynArray>(chunk))?.0);
            times.element.push(timed(|| placed.read::<DynArray>(element))?.0);
        }
        Ok(())
    }

    pub(super) fn report(self, mut times: Times) -> Result<Candidate> {
        let Self { name, array, is_cut, .. } = self;
        let mut bytes_stored = 0;
        array.raw().visit(&mut |_, size| bytes_stored += size)?;
        let chunk_shape = array.unit_shape();
        let count = |(length, chunk): (&u64, &u64)| length.div_ceil((*chunk).max(1));
        Ok(Candidate {
            name,
            chunks: array.shape().iter().zip(&chunk_shape).map(count).product(),
            chunk_shape,
            shard_shape: array.shard_shape().map(<[u64]>::to_vec),
            codecs: array.codecs(),
            is_cut,
            bytes_stored,
            encode: median(&mut times.encode),
            decode: median(&mut times.decode),
            read: median(&mut times.read),
            read_chunk: median(&mut times.chunk),
            read_element: median(&mut times.element),
        })
    }
}
