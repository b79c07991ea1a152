//! The stored form of a whole chunk.

use crate::scratch::with_vec;
use crate::selection::partition::split;
use crate::strided::{Dims, Span, View};

/// The result of [`CodecChain::encoded`](super::CodecChain::encoded).
#[derive(Debug)]
pub enum Encoded<'v> {
    /// It holds only the fill value, and the options say that such chunks are not stored.
    Nothing,
    /// These bytes, which may be the chunk's own memory.
    Bytes(&'v [u8]),
    /// The elements as they lie in memory, but for the gaps between them.
    Blocks(Blocks<'v>),
}

/// The elements of a chunk in row-major order, block by block: each is gathered into memory that stays in a core's cache until
/// it is stored, so that the chunk takes no memory for a second time.
#[derive(Debug)]
pub struct Blocks<'v> {
    chunk: View<'v>,
    shape: Dims<usize>,
}

impl<'v> Blocks<'v> {
    /// Blocks of this shape: whole along the last dimensions, and 1 along those before the one that is divided.
    pub(super) fn new(chunk: View<'v>, shape: Dims<usize>) -> Self {
        Self { chunk, shape }
    }

    /// The number of bytes of all of them together.
    pub fn length(&self) -> usize {
        self.chunk.shape().iter().product::<usize>() * self.chunk.item()
    }

    /// Hands over one block after the other, until an error.
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
