//! Chunk grids, and the keys that chunks are stored under.

use std::fmt;

use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::{codec::ChunkSpec, data_type::Storage};

/// How an array is divided into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkGrid {
    /// Chunks of one shape; those at the upper edges may reach beyond the array.
    Regular {
        /// The shape of every chunk, in elements; no dimension is zero.
        chunk_shape: Vec<u64>,
    },
}

impl ChunkGrid {
    /// A regular grid for arrays of `shape`, or why there cannot be one.
    pub fn regular(chunk_shape: impl Into<Vec<u64>>, shape: &[u64]) -> Result<Self> {
        let chunk_shape = chunk_shape.into();
        if chunk_shape.len() != shape.len() {
            return Err(Error::metadata(format!(
                "the chunk shape {chunk_shape:?} has {} dimensions, the array's shape {shape:?} has {}",
                chunk_shape.len(),
                shape.len()
            )));
        }
        if let Some(dim) = chunk_shape.iter().position(|&length| length == 0) {
            return Err(Error::metadata(format!(
                "the chunk shape {chunk_shape:?} is 0 in dimension {dim}; chunks must hold something"
            )));
        }
        Ok(Self::Regular { chunk_shape })
    }

    /// The shape that chunks have in full.
    pub fn chunk_shape(&self) -> &[u64] {
        match self {
            Self::Regular { chunk_shape } => chunk_shape,
        }
    }

    /// How many chunks there are along each dimension of an array of this shape.
    pub fn grid_shape(&self, shape: &[u64]) -> Vec<u64> {
        shape.iter().zip(self.chunk_shape()).map(|(&n, &c)| n.div_ceil(c)).collect()
    }

    /// How many chunks there are in all; `None` beyond 2^64.
    pub fn chunk_count(&self, shape: &[u64]) -> Option<u64> {
        let grid = self.grid_shape(shape);
        if grid.contains(&0) {
            return Some(0);
        }
        grid.iter().try_fold(1, |count: u64, &n| count.checked_mul(n))
    }

    /// What the codecs must know of a chunk.
    pub fn chunk_spec(&self, storage: Storage, fill: &FillValue) -> Result<ChunkSpec> {
        Ok(ChunkSpec::new(self.chunk_shape(), storage, fill.clone())?)
    }
}

/// The character between the numbers of a chunk key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `/`: a directory for each dimension.
    Slash,
    /// `.`: all chunks side by side.
    Dot,
}

impl Separator {
    /// The character.
    pub fn as_char(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Dot => '.',
        }
    }

    /// The separator of this text, if it is one.
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

/// How the indices of a chunk become its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKeyEncoding {
    /// `c/1/0`; `c` for an array without dimensions.
    Default(Separator),
    /// `1.0`; `0` for an array without dimensions.
    V2(Separator),
    /// `c1/0`, as the drafts of v3 have it.
    Draft {
        /// The separator between the numbers.
        separator: Separator,
        /// The key of the one chunk of an array without dimensions: `c` or `c0`.
        scalar: &'static str,
    },
    /// `0/1`, with the indices in the reverse of the array's order of axes; `0` for an array without dimensions.
    N5,
}

impl ChunkKeyEncoding {
    /// The separator.
    pub fn separator(self) -> Separator {
        match self {
            Self::Default(separator) | Self::V2(separator) | Self::Draft { separator, .. } => separator,
            Self::N5 => Separator::Slash,
        }
    }

    /// The same with another separator.
    #[must_use]
    pub fn with_separator(self, separator: Separator) -> Self {
        match self {
            Self::Default(_) => Self::Default(separator),
            Self::V2(_) => Self::V2(separator),
            Self::Draft { scalar, .. } => Self::Draft { separator, scalar },
            // There is only one.
            Self::N5 if separator == Separator::Slash => Self::N5,
            Self::N5 => Self::V2(separator),
        }
    }

    /// The key of a chunk, relative to its array.
    pub fn encode(self, indices: &[u64]) -> String {
        let mut numbers: Vec<String> = indices.iter().map(u64::to_string).collect();
        if self == Self::N5 {
            numbers.reverse();
        }
        let numbers = numbers.join(&self.separator().to_string());
        match self {
            Self::V2(_) | Self::N5 if indices.is_empty() => "0".to_owned(),
            Self::V2(_) | Self::N5 => numbers,
            Self::Default(_) if indices.is_empty() => "c".to_owned(),
            Self::Default(separator) => format!("c{separator}{numbers}"),
            Self::Draft { scalar, .. } if indices.is_empty() => scalar.to_owned(),
            Self::Draft { .. } => format!("c{numbers}"),
        }
    }

    /// The indices that a key stands for, if it is the key of a chunk with this many dimensions.
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

/// A number just as `encode` writes it: no sign, no leading zero.
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
        assert!(ChunkGrid::regular([2, 2], &[4]).is_err());
    }
}
