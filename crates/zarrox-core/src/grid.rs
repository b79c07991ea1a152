//! Chunk grids and chunk keys.

mod rectilinear;
mod run;
mod shape;

use std::fmt;

use crate::json::json;

use crate::error::{Error, Result};
use crate::json::Json;

pub use rectilinear::{ChunkLengths, ListedLength, Rectilinear};
pub use run::{Run, Runs};
pub use shape::{ChunkShape, about_a_mebibyte};

/// A chunk grid, which divides an array into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkGrid {
    /// A regular grid: all chunks have the same shape. The last chunks along each dimension may extend beyond the array.
    Regular {
        /// The shape of every chunk, in elements; no length is zero.
        chunk_shape: Vec<u64>,
    },
    /// A rectilinear grid, with a list of chunk lengths for each dimension (v3).
    Rectilinear(Box<Rectilinear>),
}

impl ChunkGrid {
    /// Creates a regular grid for arrays of `shape`, or returns an error with the reason.
    pub fn regular(chunk_shape: impl Into<Vec<u64>>, shape: &[u64]) -> Result<Self> {
        let grid = Self::Regular { chunk_shape: chunk_shape.into() };
        grid.check(shape)?;
        Ok(grid)
    }

    /// Creates a rectilinear grid for arrays of `shape`, or returns an error with the reason.
    pub fn rectilinear(
        lengths: impl IntoIterator<Item = impl Into<ChunkLengths>>,
        shape: &[u64],
    ) -> Result<Self> {
        let grid = Self::Rectilinear(Box::new(Rectilinear::new(lengths)?));
        grid.check(shape)?;
        Ok(grid)
    }

    /// Checks that the chunks of the grid cover every element of an array of `shape`.
    #[doc(hidden)]
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        let chunk_shape = self.largest_chunk();
        if chunk_shape.len() != shape.len() {
            return Err(Error::metadata(format!(
                "the chunk shape {chunk_shape:?} has {} dimensions, but the array's shape {shape:?} has {}",
                chunk_shape.len(),
                shape.len()
            )));
        }
        if let Some(dim) = chunk_shape.iter().position(|&length| length == 0) {
            return Err(Error::metadata(format!(
                "the chunk shape {chunk_shape:?} is 0 in dimension {dim}; it must be at least 1"
            )));
        }
        let end = |dim| self.runs(dim).last().map_or(0, Run::end);
        match (0..shape.len()).find(|&dim| end(dim) < shape[dim]) {
            None => Ok(()),
            Some(dim) => Err(Error::metadata(format!(
                "the chunks of the grid end at {} in dimension {dim}, the array's shape is {shape:?}; \
                 such an array cannot be longer than its chunks together",
                end(dim)
            ))),
        }
    }

    /// Returns the grid for arrays of `shape`. If the listed chunks do not cover the shape, one more chunk is added to cover the
    /// rest, as in zarr-python. Returns `None` if the grid already covers the shape.
    #[doc(hidden)]
    pub fn grown(&self, shape: &[u64]) -> Result<Option<Self>> {
        let Self::Rectilinear(grid) = self else { return Ok(None) };
        let grown = grid.grown(shape)?.map(|grid| Self::Rectilinear(Box::new(grid)));
        grown.as_ref().unwrap_or(self).check(shape)?;
        Ok(grown)
    }

    /// Returns the common shape of all chunks.
    ///
    /// # Errors
    /// When the chunks have different shapes.
    pub fn chunk_shape(&self) -> Result<&[u64]> {
        match self {
            Self::Regular { chunk_shape } => Ok(chunk_shape),
            Self::Rectilinear(_) => Err(Error::unsupported(
                "all chunks must have the same shape here, but those of a rectilinear grid differ; only Zarr v3 has such grids",
            )),
        }
    }

    /// Returns the maximum chunk length along each dimension; for a regular grid, this is the shape of every chunk.
    #[doc(hidden)]
    pub fn largest_chunk(&self) -> &[u64] {
        match self {
            Self::Regular { chunk_shape } => chunk_shape,
            Self::Rectilinear(grid) => grid.largest(),
        }
    }

    /// Returns the chunks along a dimension: at least as many as an array with this grid needs.
    #[doc(hidden)]
    pub fn runs(&self, dim: usize) -> Runs<'_> {
        match self {
            Self::Regular { chunk_shape } => {
                Runs::One(Run::endless(chunk_shape.get(dim).map_or(1, |&n| n.max(1))))
            }
            Self::Rectilinear(grid) => Runs::Many(grid.runs(dim)),
        }
    }

    /// Returns the start and length of the `index`-th chunk along a dimension; `None` if the grid has fewer chunks.
    #[doc(hidden)]
    pub fn chunk_place(&self, dim: usize, index: u64) -> Option<(u64, u64)> {
        let runs = self.runs(dim);
        let run = runs[..runs.partition_point(|run| run.first <= index)].last()?;
        let nth = index - run.first;
        let start = nth.checked_mul(run.length).and_then(|offset| run.start.checked_add(offset))?;
        (nth < run.count).then_some((start, run.length))
    }

    /// Returns the start and length, along a dimension, of the chunk that contains this position; `None` if the position is
    /// beyond the grid.
    #[doc(hidden)]
    pub fn chunk_at(&self, dim: usize, position: u64) -> Option<(u64, u64)> {
        let runs = self.runs(dim);
        let run = runs[..runs.partition_point(|run| run.start <= position)].last()?;
        let nth = (position - run.start) / run.length;
        (nth < run.count).then_some((run.start + nth * run.length, run.length))
    }

    /// Returns the full shape of a chunk; `None` if the grid has no such chunk.
    #[doc(hidden)]
    pub fn shape_of(&self, chunk: &[u64]) -> Option<Vec<u64>> {
        let place = |(dim, &index)| self.chunk_place(dim, index).map(|(_, length)| length);
        chunk.iter().enumerate().map(place).collect()
    }

    /// Returns the grid as the `chunk_grid` member of v3 metadata.
    #[doc(hidden)]
    pub fn to_json(&self) -> Json {
        let (name, configuration) = match self {
            Self::Regular { chunk_shape } => ("regular", json!({"chunk_shape": chunk_shape})),
            Self::Rectilinear(grid) => {
                ("rectilinear", json!({"kind": "inline", "chunk_shapes": grid.lengths_to_json()}))
            }
        };
        json!({"name": name, "configuration": configuration})
    }

    /// Returns a readable description of the chunk lengths along each dimension: `(10, 20)`, `([3, 4, 5 × 2], 20)`.
    #[must_use]
    #[doc(hidden)]
    pub fn describe(&self) -> String {
        let dims: Vec<String> = match self {
            Self::Regular { chunk_shape } => chunk_shape.iter().map(u64::to_string).collect(),
            Self::Rectilinear(grid) => grid.lengths().iter().map(ChunkLengths::describe).collect(),
        };
        let comma = if dims.len() == 1 { "," } else { "" };
        format!("({}{comma})", dims.join(", "))
    }

    /// Returns the number of chunks along each dimension of an array of this shape.
    pub fn grid_shape(&self, shape: &[u64]) -> Vec<u64> {
        let count = |(dim, &length): (usize, &u64)| {
            let Some(last) = length.checked_sub(1) else { return 0 };
            let runs = self.runs(dim);
            let run = runs[..runs.partition_point(|run| run.start <= last)].last();
            run.map_or(0, |run| run.first + (last - run.start) / run.length + 1)
        };
        shape.iter().enumerate().map(count).collect()
    }

    /// Returns the total number of chunks; `None` if it exceeds `u64`.
    pub fn chunk_count(&self, shape: &[u64]) -> Option<u64> {
        let grid = self.grid_shape(shape);
        if grid.contains(&0) {
            return Some(0);
        }
        grid.iter().try_fold(1, |count: u64, &n| count.checked_mul(n))
    }
}

/// The character between the numbers of a chunk key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `/`: a directory for each dimension.
    Slash,
    /// `.`: all chunks in one directory.
    Dot,
}

impl Separator {
    /// Returns the character.
    #[doc(hidden)]
    pub fn as_char(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Dot => '.',
        }
    }

    /// Parses a separator.
    #[doc(hidden)]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "/" => Some(Self::Slash),
            "." => Some(Self::Dot),
            _ => None,
        }
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_char())
    }
}

/// The encoding of chunk indices as chunk keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKeyEncoding {
    /// `c/1/0`; `c` for a zero-dimensional array.
    Default(Separator),
    /// `1.0`; `0` for a zero-dimensional array.
    V2(Separator),
    /// `c1/0`, as in the drafts of v3.
    Draft {
        /// The separator between the numbers.
        separator: Separator,
        /// The key of the only chunk of a zero-dimensional array: `c` or `c0`.
        scalar: &'static str,
    },
    /// `0/1`, with the indices in reverse order of the array's axes; `0` for a zero-dimensional array.
    N5,
}

impl ChunkKeyEncoding {
    /// Returns the separator.
    #[doc(hidden)]
    pub fn separator(self) -> Separator {
        match self {
            Self::Default(separator) | Self::V2(separator) | Self::Draft { separator, .. } => separator,
            Self::N5 => Separator::Slash,
        }
    }

    /// Returns the encoding with another separator.
    #[must_use]
    #[doc(hidden)]
    pub fn with_separator(self, separator: Separator) -> Self {
        match self {
            Self::Default(_) => Self::Default(separator),
            Self::V2(_) => Self::V2(separator),
            Self::Draft { scalar, .. } => Self::Draft { separator, scalar },
            // The encoding has a fixed separator.
            Self::N5 if separator == Separator::Slash => Self::N5,
            Self::N5 => Self::V2(separator),
        }
    }

    /// Returns the encoding with the other key that writers of the drafts use for zero-dimensional arrays.
    #[doc(hidden)]
    pub fn other_scalar(self) -> Option<Self> {
        match self {
            Self::Draft { separator, scalar } => {
                Some(Self::Draft { separator, scalar: if scalar == "c" { "c0" } else { "c" } })
            }
            _ => None,
        }
    }

    /// Returns the key of a chunk, relative to its array.
    pub fn encode(self, indices: &[u64]) -> String {
        if indices.is_empty() {
            return match self {
                Self::V2(_) | Self::N5 => "0".to_owned(),
                Self::Default(_) => "c".to_owned(),
                Self::Draft { scalar, .. } => scalar.to_owned(),
            };
        }
        let separator = self.separator().as_char();
        // Every access to a chunk creates a key, so it is built in one allocation.
        let mut key = String::with_capacity(2 + indices.len() * 8);
        match self {
            Self::V2(_) | Self::N5 => {}
            Self::Default(_) => key.extend(['c', separator]),
            Self::Draft { .. } => key.push('c'),
        }
        let mut push = |(n, &index): (usize, &u64)| {
            if n > 0 {
                key.push(separator);
            }
            push_number(&mut key, index);
        };
        match self {
            Self::N5 => indices.iter().rev().enumerate().for_each(&mut push),
            _ => indices.iter().enumerate().for_each(&mut push),
        }
        key
    }

    /// Returns the chunk indices that a key encodes, if it is the key of a chunk with `ndim` dimensions.
    pub fn decode(self, key: &str, ndim: usize) -> Option<Vec<u64>> {
        let separator = self.separator().as_char();
        let numbers = match (self, ndim) {
            (Self::V2(_) | Self::N5, 0) => return (key == "0").then(Vec::new),
            (Self::Default(_), 0) => return (key == "c").then(Vec::new),
            (Self::Draft { scalar, .. }, 0) => return (key == scalar).then(Vec::new),
            (Self::V2(_) | Self::N5, _) => key,
            (Self::Draft { .. }, _) => key.strip_prefix('c')?,
            (Self::Default(_), _) => key.strip_prefix('c')?.strip_prefix(separator)?,
        };
        let mut indices: Vec<u64> = numbers.split(separator).map(parse_index).collect::<Option<_>>()?;
        if self == Self::N5 {
            indices.reverse();
        }
        (indices.len() == ndim).then_some(indices)
    }
}

/// Appends a number in decimal.
fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.extend(u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10)));
}

/// Parses a number in exactly the form that `encode` writes: without a sign or leading zeros.
fn parse_index(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_specifications() {
        let default = ChunkKeyEncoding::Default(Separator::Slash);
        assert_eq!(default.encode(&[0, 10, u64::MAX]), "c/0/10/18446744073709551615");
        assert_eq!(default.encode(&[1, 0]), "c/1/0");
        assert_eq!(default.encode(&[]), "c");
        assert_eq!(ChunkKeyEncoding::Default(Separator::Dot).encode(&[1, 0]), "c.1.0");
        assert_eq!(ChunkKeyEncoding::V2(Separator::Dot).encode(&[1, 0]), "1.0");
        assert_eq!(ChunkKeyEncoding::V2(Separator::Slash).encode(&[]), "0");
        let draft = ChunkKeyEncoding::Draft { separator: Separator::Slash, scalar: "c0" };
        assert_eq!(draft.encode(&[1, 23, 45]), "c1/23/45");
        assert_eq!(draft.encode(&[]), "c0");
        assert_eq!(draft.with_separator(Separator::Dot).encode(&[1, 0]), "c1.0");
        assert_eq!(ChunkKeyEncoding::N5.encode(&[1, 23, 45]), "45/23/1");
        assert_eq!(ChunkKeyEncoding::N5.encode(&[]), "0");
        for encoding in [default, ChunkKeyEncoding::V2(Separator::Dot), draft, ChunkKeyEncoding::N5] {
            assert_eq!(encoding.decode(&encoding.encode(&[12, 0, 3]), 3), Some(vec![12, 0, 3]));
            assert_eq!(encoding.decode(&encoding.encode(&[]), 0), Some(vec![]));
            for not_a_chunk in ["zarr.json", "c/1", "c/01/2/3", "1.+2.3", "1.2.x", "c", "c1/2", ""] {
                assert_eq!(encoding.decode(not_a_chunk, 3), None, "{not_a_chunk}");
            }
        }
    }

    #[test]
    fn grids_count_their_chunks() {
        let grid = ChunkGrid::regular([10, 3], &[25, 3]).unwrap();
        assert_eq!(grid.grid_shape(&[25, 3]), [3, 1]);
        assert_eq!(grid.chunk_count(&[25, 0]), Some(0));
        assert_eq!(ChunkGrid::regular([1, 1], &[0, 0]).unwrap().chunk_count(&[u64::MAX, 2]), None);
        assert!(ChunkGrid::regular([0], &[4]).unwrap_err().to_string().contains("dimension 0"));
        assert_eq!(ChunkGrid::regular([2, 2], &[4]).unwrap_err().kind(), crate::ErrorKind::InvalidMetadata);
    }

    #[test]
    fn chunks_of_any_lengths_are_found() {
        let lengths: [ChunkLengths; 3] = [vec![3, 3, 1, 4].into(), 5.into(), [2, 100].into()];
        let shape = [8, 12, 2];
        let grid = ChunkGrid::rectilinear(lengths, &shape).unwrap();
        assert_eq!(grid.largest_chunk(), [4, 5, 100]);
        assert!(grid.chunk_shape().unwrap_err().to_string().contains("must have the same shape"));
        assert_eq!(grid.grid_shape(&shape), [4, 3, 1]);
        assert_eq!(grid.grid_shape(&[7, 0, 3]), [3, 0, 2]);
        assert_eq!(grid.chunk_count(&shape), Some(12));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|index| grid.chunk_place(0, index)),
            [Some((0, 3)), Some((3, 3)), Some((6, 1)), Some((7, 4)), None]
        );
        assert_eq!(
            [0, 2, 3, 6, 7, 10, 11].map(|position| grid.chunk_at(0, position)),
            [Some((0, 3)), Some((0, 3)), Some((3, 3)), Some((6, 1)), Some((7, 4)), Some((7, 4)), None]
        );
        assert_eq!(grid.shape_of(&[2, 7, 1]), Some(vec![1, 5, 100]));
        assert_eq!(grid.shape_of(&[2, 7, 2]), None);
        assert_eq!(grid.chunk_place(1, u64::MAX), None);
        assert_eq!(grid.describe(), "([3 × 2, 1, 4], 5, [2, 100])");
        assert!(grid.check(&[11, u64::MAX, 102]).is_ok());
        let message = grid.check(&[12, 1, 1]).unwrap_err().to_string();
        assert!(message.contains("end at 11 in dimension 0"), "{message}");
    }

    #[test]
    fn lists_grow_by_one_chunk() {
        let grown = |lengths: ChunkLengths, length: u64| {
            ChunkGrid::rectilinear([lengths], &[0])
                .unwrap()
                .grown(&[length])
                .unwrap()
                .map(|grid| grid.describe())
        };
        let none = ChunkLengths::Listed(Vec::new());
        for (lengths, length, expected) in [
            ([1, 3].into(), 4, None),
            ([1, 3].into(), 6, Some("([1, 3, 2],)")),
            ([1, 3].into(), 7, Some("([1, 3 × 2],)")),
            ([1, 3, 3].into(), 10, Some("([1, 3 × 3],)")),
            (none.clone(), 0, None),
            (none, 5, Some("([5],)")),
            (2.into(), 1 << 40, None),
        ] {
            let shown = format!("{lengths:?} to {length}");
            assert_eq!(grown(lengths, length).as_deref(), expected, "{shown}");
        }
        let lengths: [ChunkLengths; 2] = [[1, 3].into(), 2.into()];
        let grid = ChunkGrid::rectilinear(lengths, &[4, 4]).unwrap();
        let grown = grid.grown(&[5, 9]).unwrap().unwrap();
        assert_eq!((grown.describe(), grown.largest_chunk()), ("([1, 3, 1], 2)".to_owned(), &[3, 2][..]));
        assert_eq!(ChunkGrid::regular([2], &[4]).unwrap().grown(&[9]).unwrap(), None);
        assert_eq!(grid.grown(&[5]).unwrap_err().kind(), crate::ErrorKind::InvalidMetadata);
    }

    #[test]
    fn long_runs_stay_runs_and_broken_lists_are_refused() {
        let run = |length, count| ChunkLengths::Listed(vec![ListedLength::Run { length, count }]);
        let grid = ChunkGrid::rectilinear([run(1, 1 << 60)], &[1 << 60]).unwrap();
        assert_eq!(grid.grid_shape(&[1 << 60]), [1 << 60]);
        assert_eq!(grid.chunk_place(0, (1 << 60) - 1), Some(((1 << 60) - 1, 1)));
        let none = ChunkLengths::Listed(Vec::new());
        assert!(ChunkGrid::rectilinear([none.clone()], &[0]).is_ok());
        for (lengths, shape, named) in [
            (none, 1, "end at 0"),
            (0.into(), 1, "length 0"),
            ([1, 0].into(), 1, "length 0"),
            (run(3, 0), 1, "a run of 0 chunks"),
            (run(1 << 60, 17), 1, "beyond 2^64"),
            ([3, 4].into(), 8, "end at 7"),
        ] {
            let message = ChunkGrid::rectilinear([lengths], &[shape]).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
        assert_eq!(
            ChunkGrid::rectilinear([2], &[1, 1]).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }
}
