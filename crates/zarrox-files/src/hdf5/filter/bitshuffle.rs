//! Bitshuffle: stores the first bits of all elements of a block, then all second bits, and so on. The result is stored
//! uncompressed, or compressed with LZ4 or Zstandard.
//!
//! The parameters are the version (two parameters), the element size, the number of elements in a block (0 for about 8
//! KiB), the compressor, and its level.

use zarrox::{Result, codecs};

use super::coded::Coded;
use super::given::Given;
use super::lz4::{self, Blocks};
use super::undo::{Effect, Undo};
use crate::hdf5::format::Filter;
use crate::input::{corrupt, unsupported, zeroed};

#[derive(Debug)]
struct Bitshuffle {
    /// The size of an element, if the parameters specify it.
    item: Option<usize>,
    /// The number of elements in a block, if the parameters specify it.
    block: Option<usize>,
    compressor: Compressor,
}

#[derive(Debug)]
enum Compressor {
    None,
    Lz4(Coded),
    Zstd(Coded),
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let compressor = match super::undo::parameter(filter, 4) {
        0 => Compressor::None,
        2 => Compressor::Lz4(lz4::decoder()?),
        3 => Compressor::Zstd(Coded::new(codecs::Zstd::level(3))?),
        other => return Err(unsupported(format!("unknown compressor {other} of bitshuffle"))),
    };
    let given = |index: usize| Some(super::undo::parameter(filter, index)).filter(|&value| value > 0);
    Ok(Box::new(Bitshuffle { item: given(2), block: given(3), compressor }))
}

impl Undo for Bitshuffle {
    fn encoded_size(&self, size: usize) -> Option<usize> {
        matches!(self.compressor, Compressor::None).then_some(size)
    }

    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let item = self.item.unwrap_or(given.item).max(1);
        let mut blocks = Blocks::new(&bytes);
        let (size, elements) = match self.compressor {
            // The default block of the library has about 8 KiB, rounded to a multiple of eight elements.
            Compressor::None => (bytes.len(), self.block.unwrap_or_else(|| (8192 / item / 8 * 8).max(128))),
            _ => (blocks.number(8)?, blocks.number(4)? / item),
        };
        let size = given.announced(size)?;
        if elements == 0 || !elements.is_multiple_of(8) {
            return Err(corrupt("a bitshuffle block is not a multiple of eight elements"));
        }
        let mut decoded = zeroed(size)?;
        let whole = size / item / 8 * 8 * item;
        let length = elements.checked_mul(item).ok_or_else(|| corrupt("a bitshuffle block is too large"))?;
        let mut shuffled = zeroed(length.min(whole))?;
        let mut buffer = Vec::new();
        for out in decoded[..whole].chunks_mut(length) {
            let shuffled = &mut shuffled[..out.len()];
            match &self.compressor {
                Compressor::None => shuffled.copy_from_slice(blocks.bytes(out.len())?),
                Compressor::Lz4(decoder) => {
                    lz4::decode_block(decoder, blocks.next()?, shuffled, &mut buffer)?;
                }
                Compressor::Zstd(decoder) => decoder.decode_into(blocks.next()?, shuffled)?,
            }
            untranspose(shuffled, out, item);
        }
        decoded[whole..].copy_from_slice(blocks.bytes(size - whole)?);
        Ok(decoded)
    }

    fn effect(&self) -> Effect {
        match self.compressor {
            Compressor::None => Effect::Sorts,
            _ => Effect::Compresses,
        }
    }
}

/// Undoes the bit transposition. `bits` contains, for each bit position, this bit of every element. The number of
/// elements is a multiple of eight.
pub(super) fn untranspose(bits: &[u8], elements: &mut [u8], item: usize) {
    let eights = elements.len() / item / 8;
    for byte in 0..item {
        for eight in 0..eights {
            let row = |bit: usize| u64::from(bits[(byte * 8 + bit) * eights + eight]) << (8 * bit);
            let columns = transposed((0..8).map(row).fold(0, |matrix, row| matrix | row));
            for (index, column) in columns.to_le_bytes().into_iter().enumerate() {
                elements[(eight * 8 + index) * item + byte] = column;
            }
        }
    }
}

/// Transposes an 8 × 8 bit matrix.
fn transposed(matrix: u64) -> u64 {
    let swap = |matrix: u64, shift: u32, mask: u64| {
        let changed = (matrix ^ (matrix >> shift)) & mask;
        matrix ^ changed ^ (changed << shift)
    };
    let matrix = swap(matrix, 7, 0x00aa_00aa_00aa_00aa);
    let matrix = swap(matrix, 14, 0x0000_cccc_0000_cccc);
    swap(matrix, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_transposed() {
        // A row of ones becomes a column of ones.
        assert_eq!(transposed(0xff), 0x0101_0101_0101_0101);
        let matrix = 0x0123_4567_89ab_cdef;
        assert_eq!(transposed(transposed(matrix)), matrix);
        let bit = |matrix: u64, row: u32, column: u32| matrix >> (8 * row + column) & 1;
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            assert_eq!(bit(transposed(matrix), column, row), bit(matrix, row, column));
        }
    }
}
