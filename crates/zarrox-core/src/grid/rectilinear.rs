//! Rectilinear grids: a list of chunk lengths for each dimension.
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids/rectilinear>

use crate::json::json;

use super::run::Run;
use crate::error::{Error, Result};
use crate::json::{self, Json, integer};
use crate::strictness::Strictness;

/// The lengths of the chunks along one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkLengths {
    /// A single length, repeated as often as the array needs.
    Repeated(u64),
    /// The lengths in order. There may be more chunks than the array needs.
    Listed(Vec<ListedLength>),
}

/// An entry in a list of chunk lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListedLength {
    /// One chunk.
    One(u64),
    /// Several chunks of the same length.
    Run {
        /// The length of each chunk, in elements.
        length: u64,
        /// The number of chunks.
        count: u64,
    },
}

impl ListedLength {
    fn length(self) -> u64 {
        match self {
            Self::One(length) | Self::Run { length, .. } => length,
        }
    }

    fn count(self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Run { count, .. } => count,
        }
    }
}

/// The maximum number of entries of a list that are shown in messages.
const SHOWN: usize = 12;

impl ChunkLengths {
    /// Returns the lengths with one more chunk at the end, unless its length would be 0.
    fn with_one_more(&self, length: u64) -> Self {
        let Self::Listed(listed) = self else { return self.clone() };
        let mut listed = listed.clone();
        match listed.last_mut().filter(|last| last.length() == length) {
            Some(last) => *last = ListedLength::Run { length, count: last.count().saturating_add(1) },
            None if length > 0 => listed.push(ListedLength::One(length)),
            None => {}
        }
        Self::Listed(listed)
    }

    /// Returns a readable description of the lengths; for a long list, a description of its beginning.
    pub(super) fn describe(&self) -> String {
        let listed = match self {
            Self::Repeated(length) => return length.to_string(),
            Self::Listed(listed) => listed,
        };
        let entry = |entry: &ListedLength| match entry {
            ListedLength::One(length) => length.to_string(),
            ListedLength::Run { length, count } => format!("{length} × {count}"),
        };
        let rest = listed.len().checked_sub(SHOWN).filter(|&rest| rest > 0);
        let rest = rest.map(|rest| format!("… {rest} more"));
        let shown: Vec<String> = listed.iter().take(SHOWN).map(entry).chain(rest).collect();
        format!("[{}]", shown.join(", "))
    }
}

impl From<u64> for ChunkLengths {
    fn from(length: u64) -> Self {
        Self::Repeated(length)
    }
}

/// Consecutive equal lengths become a run, as zarr-python writes them.
impl From<&[u64]> for ChunkLengths {
    fn from(lengths: &[u64]) -> Self {
        let entry = |run: &[u64]| match run {
            [length] => ListedLength::One(*length),
            _ => ListedLength::Run { length: run[0], count: run.len() as u64 },
        };
        Self::Listed(lengths.chunk_by(u64::eq).map(entry).collect())
    }
}

impl From<Vec<u64>> for ChunkLengths {
    fn from(lengths: Vec<u64>) -> Self {
        lengths.as_slice().into()
    }
}

impl<const N: usize> From<[u64; N]> for ChunkLengths {
    fn from(lengths: [u64; N]) -> Self {
        lengths.as_slice().into()
    }
}

/// A grid with chunk lengths for each dimension. Runs are not expanded, however long they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rectilinear {
    lengths: Vec<ChunkLengths>,
    runs: Vec<Vec<Run>>,
    largest: Vec<u64>,
}

impl Rectilinear {
    /// Creates a grid with these lengths along each dimension. Chunks must not be empty.
    #[doc(hidden)]
    pub fn new(lengths: impl IntoIterator<Item = impl Into<ChunkLengths>>) -> Result<Self> {
        let lengths: Vec<ChunkLengths> = lengths.into_iter().map(Into::into).collect();
        let runs = lengths.iter().enumerate().map(|(dim, lengths)| runs(lengths, dim));
        let runs: Vec<Vec<Run>> = runs.collect::<Result<_>>()?;
        let longest = |runs: &Vec<Run>| runs.iter().map(|run| run.length).max().unwrap_or(1);
        let largest = runs.iter().map(longest).collect();
        Ok(Self { lengths, runs, largest })
    }

    /// Returns the grid with one more chunk along each dimension in which `shape` exceeds the grid; `None` if `shape` does not
    /// exceed the grid.
    pub(super) fn grown(&self, shape: &[u64]) -> Result<Option<Self>> {
        let missing = |dim: usize| {
            let end = self.runs(dim).last().map_or(0, Run::end);
            shape.get(dim).map_or(0, |length| length.saturating_sub(end))
        };
        if (0..self.lengths.len()).all(|dim| missing(dim) == 0) {
            return Ok(None);
        }
        let grown = self.lengths.iter().enumerate().map(|(dim, lengths)| lengths.with_one_more(missing(dim)));
        Self::new(grown).map(Some)
    }

    /// Parses the lengths for each dimension, in the form of `chunk_shapes` in v3 metadata.
    #[doc(hidden)]
    pub fn lengths_from_json(json: &Json, strictness: Strictness) -> Result<Vec<ChunkLengths>> {
        let dims = json.as_array().ok_or_else(|| not_lengths(json))?;
        dims.iter().map(|dim| lengths_from_json(dim, strictness).ok_or_else(|| not_lengths(dim))).collect()
    }

    /// Returns the `chunk_shapes` of v3 metadata, in the form in which they were given.
    #[doc(hidden)]
    pub fn lengths_to_json(&self) -> Json {
        let entry = |entry: &ListedLength| match entry {
            ListedLength::One(length) => json!(length),
            ListedLength::Run { length, count } => json!([length, count]),
        };
        let dim = |lengths: &ChunkLengths| match lengths {
            ChunkLengths::Repeated(length) => json!(length),
            ChunkLengths::Listed(listed) => listed.iter().map(entry).collect(),
        };
        self.lengths.iter().map(dim).collect()
    }

    /// Returns the lengths for each dimension, in the form in which they were given.
    pub fn lengths(&self) -> &[ChunkLengths] {
        &self.lengths
    }

    /// Returns the chunks along a dimension, starting with the first.
    pub(super) fn runs(&self, dim: usize) -> &[Run] {
        self.runs.get(dim).map_or(&[], Vec::as_slice)
    }

    /// Returns the length of the longest chunk along each dimension.
    pub(super) fn largest(&self) -> &[u64] {
        &self.largest
    }
}

fn lengths_from_json(json: &Json, strictness: Strictness) -> Option<ChunkLengths> {
    let entry = |json: &Json| match json.as_array().map(Vec::as_slice) {
        None => integer(json, strictness).map(ListedLength::One),
        Some([length, count]) => {
            let (length, count) = (integer(length, strictness)?, integer(count, strictness)?);
            Some(ListedLength::Run { length, count })
        }
        Some(_) => None,
    };
    match json.as_array() {
        None => integer(json, strictness).map(ChunkLengths::Repeated),
        Some(list) => list.iter().map(entry).collect::<Option<_>>().map(ChunkLengths::Listed),
    }
}

fn not_lengths(json: &Json) -> Error {
    let shown = json::shown(json, 80);
    Error::metadata(format!(
        "{shown} is not a list of chunk lengths; expected, for each dimension, an integer or a list of integers and [length, count]"
    ))
}

fn runs(lengths: &ChunkLengths, dim: usize) -> Result<Vec<Run>> {
    let empty = || Error::metadata(format!("the grid has a chunk of length 0 in dimension {dim}"));
    let listed = match lengths {
        ChunkLengths::Repeated(0) => return Err(empty()),
        ChunkLengths::Repeated(length) => return Ok(vec![Run::endless(*length)]),
        ChunkLengths::Listed(listed) => listed,
    };
    let mut runs: Vec<Run> = Vec::new();
    let (mut first, mut start) = (0_u64, 0_u64);
    for entry in listed {
        let (length, count) = (entry.length(), entry.count());
        if length == 0 {
            return Err(empty());
        }
        if count == 0 {
            return Err(Error::metadata(format!("the grid has a run of 0 chunks in dimension {dim}")));
        }
        match runs.last_mut().filter(|last| last.length == length) {
            Some(last) => last.count = last.count.saturating_add(count),
            None => runs.push(Run { first, start, length, count }),
        }
        let end = length.checked_mul(count).and_then(|elements| start.checked_add(elements));
        let too_long = || Error::metadata(format!("the chunks in dimension {dim} end beyond 2^64"));
        start = end.ok_or_else(too_long)?;
        // The length is at most the number of elements.
        first = first.saturating_add(count);
    }
    Ok(runs)
}
