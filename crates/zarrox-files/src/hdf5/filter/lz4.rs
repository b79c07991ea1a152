//! LZ4: the total decoded size, the decoded size of a block, and the blocks, each preceded by its encoded size. A block
//! that LZ4 cannot shorten is stored uncompressed.

use zarrox::{Result, codecs};

use super::coded::Coded;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, zeroed};

#[derive(Debug)]
struct Lz4(Coded);

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    Ok(Box::new(Lz4(decoder()?)))
}

impl Undo for Lz4 {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let mut blocks = Blocks::new(&bytes);
        let size = given.announced(blocks.number(8)?)?;
        let length = blocks.number(4)?.max(1);
        let (mut decoded, mut buffer) = (zeroed(size)?, Vec::new());
        for out in decoded.chunks_mut(length) {
            let block = blocks.next()?;
            if block.len() == out.len() {
                out.copy_from_slice(block);
            } else {
                decode_block(&self.0, block, out, &mut buffer)?;
            }
        }
        Ok(decoded)
    }
}

/// Returns the decoder for [`decode_block`].
pub(super) fn decoder() -> Result<Coded> {
    Coded::new(codecs::Lz4::acceleration(1))
}

/// Decodes a block into `out`, which it must fill. The codec expects the decoded length before the block, so both are
/// copied into `buffer`.
pub(super) fn decode_block(
    decoder: &Coded,
    block: &[u8],
    out: &mut [u8],
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let length = u32::try_from(out.len()).map_err(|_| corrupt("a compressed block is too large"))?;
    buffer.clear();
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(block);
    decoder.decode_into(buffer, out)
}

/// A reader for big-endian integers and length-prefixed blocks.
#[derive(Debug)]
pub(super) struct Blocks<'a>(&'a [u8]);

impl<'a> Blocks<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next `length` bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        let parts = self.0.split_at_checked(length);
        let (bytes, rest) = parts.ok_or_else(|| corrupt("a compressed chunk is truncated"))?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Returns the next big-endian integer, which has `length` bytes.
    pub(super) fn number(&mut self, length: usize) -> Result<usize> {
        let number = self.bytes(length)?.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).map_err(|_| corrupt("a compressed chunk has an impossible length"))
    }

    /// Returns the next length-prefixed block.
    pub(super) fn next(&mut self) -> Result<&'a [u8]> {
        let length = self.number(4)?;
        self.bytes(length)
    }
}
