//! Huffman-coded bytes in LERC.

use std::collections::HashMap;

use zarrox::Result;

use super::bits::{Reader, Words, unstuffed};
use super::block::{Block, Kind};
use crate::input::corrupt;

/// The number of symbols.
const SYMBOLS: usize = 256;

/// The maximum length of a code in bits.
const LONGEST: u32 = 32;

/// The symbols, by the length and bits of their code.
#[derive(Debug)]
struct Codes(HashMap<(u32, u32), u8>);

impl Codes {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (version, size) = (reader.int()?, reader.length()?);
        let (first, last) = (reader.length()?, reader.length()?);
        if version < 2 || size != SYMBOLS || first >= last || last - first > SYMBOLS || first >= SYMBOLS {
            return Err(corrupt("the LERC code table is damaged"));
        }
        let lengths = unstuffed(reader, last - first)?;
        if lengths.len() != last - first || lengths.iter().any(|&length| length > LONGEST) {
            return Err(corrupt("the LERC code table is damaged"));
        }
        let mut words = Words::new(reader.rest());
        let mut codes = HashMap::new();
        for (nth, length) in lengths.into_iter().enumerate().filter(|(_, length)| *length > 0) {
            let symbol = u8::try_from((first + nth) % SYMBOLS).unwrap_or(0);
            codes.insert((length, words.number(length)?), symbol);
        }
        reader.skip(words.size())?;
        Ok(Self(codes))
    }

    fn symbol(&self, words: &mut Words<'_>) -> Result<u8> {
        let mut code = 0;
        for length in 1..=LONGEST {
            code = code << 1 | words.bit()?;
            if let Some(&symbol) = self.0.get(&(length, code)) {
                return Ok(symbol);
            }
        }
        Err(corrupt("invalid Huffman code in LERC"))
    }
}

/// Reads all elements of a block, which may be stored as differences between neighbours.
pub(super) fn read(block: &mut Block, reader: &mut Reader<'_>, is_difference: bool) -> Result<()> {
    let codes = Codes::read(reader)?;
    let mut words = Words::new(reader.rest());
    let shift = if block.header.kind == Kind::I8 { 128 } else { 0 };
    let (pixels, depth) = (block.header.pixels(), block.header.depth);
    if !is_difference {
        for pixel in 0..pixels {
            for dim in 0..if block.is_valid(pixel) { depth } else { 0 } {
                set(block, pixel, dim, codes.symbol(&mut words)?.wrapping_sub(shift));
            }
        }
        return Ok(());
    }
    for dim in 0..depth {
        let mut before = 0_u8;
        for pixel in 0..pixels {
            if !block.is_valid(pixel) {
                continue;
            }
            let (row, column) = (pixel / block.header.columns, pixel % block.header.columns);
            let is_above = row > 0 && block.is_valid(pixel - block.header.columns);
            let is_beside = column > 0 && block.is_valid(pixel - 1);
            let neighbour = match (is_beside, is_above) {
                (false, true) => get(block, pixel - block.header.columns, dim),
                _ => before,
            };
            before = codes.symbol(&mut words)?.wrapping_sub(shift).wrapping_add(neighbour);
            set(block, pixel, dim, before);
        }
    }
    Ok(())
}

fn get(block: &Block, pixel: usize, dim: usize) -> u8 {
    block.out.get(pixel * block.header.depth + dim).copied().unwrap_or(0)
}

fn set(block: &mut Block, pixel: usize, dim: usize, byte: u8) {
    if let Some(out) = block.out.get_mut(pixel * block.header.depth + dim) {
        *out = byte;
    }
}
