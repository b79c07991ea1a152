//! [`Boxes`]: the multidimensional blocks of a frame, which are described by the `b2nd` metalayer.

use zarrox::Result;

use super::super::given::Given;
use super::bytes::{big_size, byte};
use crate::input::{corrupt, unsupported, zeroed};

/// An array with multidimensional chunks and blocks. Chunks at the edge of the array are padded to the full chunk shape,
/// and blocks at the edge of a chunk to the full block shape.
#[derive(Debug)]
pub(super) struct Boxes {
    shape: Vec<usize>,
    chunk: Vec<usize>,
    block: Vec<usize>,
}

impl Boxes {
    pub(super) fn read(layer: &[u8]) -> Result<Self> {
        let ndim = usize::from(byte(layer, 2)?);
        if byte(layer, 0)? & 0xf0 != 0x90 || ndim == 0 || ndim > 15 {
            return Err(corrupt("the metalayer b2nd of a Blosc2 frame is damaged"));
        }
        let mut at = 3;
        let mut list = |class: u8, width: usize| -> Result<Vec<usize>> {
            let start = at + 1;
            at = start + ndim * width;
            (0..ndim).map(|index| big_size(layer, start + index * width, class)).collect()
        };
        let boxes = Self { shape: list(0xd3, 9)?, chunk: list(0xd2, 5)?, block: list(0xd2, 5)? };
        let is_possible = |dims: &[usize]| !dims.contains(&0);
        if !is_possible(&boxes.chunk) || !is_possible(&boxes.block) {
            return Err(corrupt("a Blosc2 frame has chunks or blocks without elements"));
        }
        if boxes.block.iter().zip(&boxes.chunk).any(|(block, chunk)| block > chunk) {
            return Err(corrupt("a Blosc2 frame has blocks that are larger than a chunk"));
        }
        if boxes.shape != boxes.chunk {
            return Err(unsupported(
                "a Blosc2 frame with several chunks of several dimensions, or a part of one",
            ));
        }
        Ok(boxes)
    }

    /// Returns the number of elements in an array of the given shape.
    fn count(dims: impl IntoIterator<Item = usize>) -> Result<usize> {
        let count = dims.into_iter().try_fold(1_usize, usize::checked_mul);
        count.ok_or_else(|| corrupt("a Blosc2 frame has too many elements"))
    }

    /// Returns the shape of the chunk, padded to whole blocks.
    fn padded(&self) -> impl Iterator<Item = usize> {
        self.chunk.iter().zip(&self.block).map(|(chunk, block)| chunk.div_ceil(*block).saturating_mul(*block))
    }

    /// Returns the size of the chunk in bytes, padded to whole blocks. The element size is derived from the size of the
    /// filter's input.
    pub(super) fn padded_size(&self, given: Given) -> Result<usize> {
        let (count, size) = (Self::count(self.shape.iter().copied())?, given.size.unwrap_or(given.limit));
        if count > size {
            return Err(corrupt(format!("a Blosc2 frame has {count} elements in {size} bytes")));
        }
        Self::count(self.padded().chain([size / count]))
    }

    /// Returns the elements in row-major order, without padding.
    pub(super) fn joined(&self, padded: &[u8], given: Given) -> Result<Vec<u8>> {
        let stored = Self::count(self.padded())?;
        let item = padded.len() / stored.max(1);
        if item == 0 || item * stored != padded.len() {
            return Err(corrupt(format!("{} bytes cannot hold {stored} elements of Blosc2", padded.len())));
        }
        let size = Self::count(self.shape.iter().copied().chain([item]))?;
        let mut joined = zeroed(given.announced(size)?)?;
        let grid: Vec<usize> =
            self.chunk.iter().zip(&self.block).map(|(chunk, block)| chunk.div_ceil(*block)).collect();
        let block_size = Self::count(self.block.iter().copied().chain([item]))?;
        for (index, block) in padded.chunks_exact(block_size).enumerate() {
            let start: Vec<usize> =
                indices(index, &grid).iter().zip(&self.block).map(|(at, block)| at * block).collect();
            self.place(block, &start, item, &mut joined);
        }
        Ok(joined)
    }

    /// Copies the rows of a block to their positions in the array `joined`.
    fn place(&self, block: &[u8], start: &[usize], item: usize, joined: &mut [u8]) {
        let last = self.shape.len() - 1;
        let width = self.shape[last].saturating_sub(start[last]).min(self.block[last]) * item;
        for (row, elements) in block.chunks_exact(self.block[last] * item).enumerate() {
            let inner = indices(row, &self.block[..last]);
            let mut at = 0;
            let is_inside = inner.iter().zip(start).zip(&self.shape).all(|((inner, start), &length)| {
                at = at * length + inner + start;
                inner + start < length
            });
            if is_inside && width > 0 {
                let at = (at * self.shape[last] + start[last]) * item;
                joined[at..at + width].copy_from_slice(&elements[..width]);
            }
        }
    }
}

/// Converts the row-major index of an element to its index along each dimension.
fn indices(index: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = index;
    let mut position: Vec<usize> =
        shape.iter().rev().map(|&length| (rest % length, rest /= length).0).collect();
    position.reverse();
    position
}
