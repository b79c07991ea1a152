//! The stored form of a whole chunk.

use crate::scratch::with_vec;
use crate::selection::partition::split;
use crate::strided::{Dims, Span, View};

/// The result of [`CodecChain::encoded`](super::CodecChain::encoded).
#[derive(Debug)]
pub enum Encoded<'v> {
    /// The chunk holds only the fill value, and the options omit such chunks.
    Nothing,
    /// The stored bytes, which may be the chunk's own memory.
    Bytes(&'v [u8]),
    /// The elements in their in-memory layout, without gaps between them.
    Blocks(Blocks<'v>),
}

/// The elements of a chunk in row-major order, block by block. Each block is copied into a buffer that stays in a core's cache
/// until the block is stored, so that no second copy of the whole chunk is needed.
#[derive(Debug)]
pub struct Blocks<'v> {
    chunk: View<'v>,
    shape: Dims<usize>,
}

impl<'v> Blocks<'v> {
    /// Divides the chunk into blocks of this shape, which spans the chunk along all dimensions after the divided dimension, and
    /// is 1 along all dimensions before it.
    pub(super) fn new(chunk: View<'v>, shape: Dims<usize>) -> Self {
        Self { chunk, shape }
    }

    /// Returns the total number of bytes of all blocks.
    pub fn length(&self) -> usize {
        self.chunk.shape().iter().product::<usize>() * self.chunk.item()
    }

    /// Calls `take` with each block in order, until `take` returns an error.
    pub fn each<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let all: Dims<Span> = self.chunk.shape().iter().map(|&length| Span::all(length)).collect();
        with_vec(|buffer| {
            split(&all, &self.shape, self.chunk.clone(), |_, block| {
                buffer.clear();
                block.append_to(buffer, 1);
                take(buffer)
            })
        })
    }
}
