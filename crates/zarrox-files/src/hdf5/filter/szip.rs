//! Szip: the lossless compression of CCSDS 121.0-B, in the format of the szip library.
//!
//! The parameters are the option mask, the number of elements in a block, the number of bits in an element, and the
//! number of elements in a scanline. A chunk begins with its decoded size in little-endian byte order. Each scanline has
//! one reference sample and consists of whole blocks; the last block may be padded. 32-bit and 64-bit elements are
//! byte-shuffled, and each byte is a sample.
//!
//! Specification: <https://public.ccsds.org/Pubs/121x0b3.pdf>

use zarrox::Result;

use super::bits::Bits;
use super::given::Given;
use super::shuffle::Unshuffle;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, unsupported, zeroed};

/// The option bit for big-endian elements.
const MSB: usize = 16;
/// The option bit for encoding differences between neighbouring samples.
const NEAREST_NEIGHBOUR: usize = 32;

/// The maximum supported number of elements in a block, and in a scanline.
const BLOCK: usize = 256;
const SCANLINE: usize = 1 << 16;

/// The maximum number of blocks in a run of zero blocks.
const SEGMENT: usize = 64;

/// The number of 0 bits that encodes a run of zero blocks up to the end of the segment.
const REST_OF_SEGMENT: u32 = 4;

/// The maximum number of 0 bits in the code of a sample pair (the second-extension option).
const PAIRS: u32 = 90;

#[derive(Debug, Clone, Copy)]
struct Szip {
    is_big: bool,
    is_difference: bool,
    /// The number of samples in a block.
    block: usize,
    /// The number of samples in a scanline.
    scanline: usize,
    /// The number of bits in a sample.
    bits: u32,
    /// The size of an element in bytes, if the bytes are shuffled.
    sorted: Option<usize>,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let options = super::undo::required(filter, 0)?;
    let [block, bits, scanline] = [
        super::undo::required(filter, 1)?,
        super::undo::required(filter, 2)?,
        super::undo::required(filter, 3)?,
    ];
    if !(1..=BLOCK).contains(&block) || !(1..=SCANLINE).contains(&scanline) {
        return Err(corrupt(format!(
            "szip with {block} elements in a block and {scanline} in a line is not possible"
        )));
    }
    let (bits, sorted) = match bits {
        1..=24 => (u32::try_from(bits).unwrap_or_default(), None),
        32 | 64 => (8, Some(bits / 8)),
        other => return Err(unsupported(format!("szip with {other} bits per pixel is not supported"))),
    };
    let (is_big, is_difference) = (options & MSB != 0, options & NEAREST_NEIGHBOUR != 0);
    Ok(Box::new(Szip { is_big, is_difference, block, scanline, bits, sorted }))
}

impl Undo for Szip {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let cut = || corrupt("a chunk compressed with szip is truncated");
        let (size, encoded) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let size = usize::try_from(u32::from_le_bytes(*size)).map_err(|_| cut())?;
        let mut decoded = zeroed(given.announced(size)?)?;
        self.lines(encoded, &mut decoded)
            .ok_or_else(|| corrupt("a chunk compressed with szip is damaged or truncated"))?;
        let Some(item) = self.sorted else { return Ok(decoded) };
        if !decoded.len().is_multiple_of(item) {
            return Err(unsupported(format!("szip of {} bytes in elements of {item} bytes", decoded.len())));
        }
        let mut elements = zeroed(decoded.len())?;
        Unshuffle::new(item)?.decode_into(&decoded, &mut elements)?;
        Ok(elements)
    }
}

impl Szip {
    /// Returns the size of a sample in bytes.
    fn width(self) -> usize {
        match self.bits {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// Decodes all scanlines.
    fn lines(self, encoded: &[u8], decoded: &mut [u8]) -> Option<()> {
        let mut bits = Bits::new(encoded);
        let mut samples = vec![0; self.scanline.next_multiple_of(self.block)];
        for out in decoded.chunks_mut(self.scanline * self.width()) {
            let wanted = out.len() / self.width();
            self.line(&mut bits, &mut samples, wanted)?;
            for (out, &sample) in out.chunks_exact_mut(self.width()).zip(&samples) {
                let (little, big) = (sample.to_le_bytes(), sample.to_be_bytes());
                out.copy_from_slice(if self.is_big { &big[4 - out.len()..] } else { &little[..out.len()] });
            }
        }
        Some(())
    }

    /// Decodes a scanline. The encoded bits may end once `wanted` samples are decoded.
    fn line(self, bits: &mut Bits<'_>, samples: &mut [u32], wanted: usize) -> Option<()> {
        let mut at = 0;
        while at < wanted {
            let run = self.blocks(bits, samples, at)?;
            at += run * self.block;
        }
        if self.is_difference {
            self.undo_differences(samples);
        }
        Some(())
    }

    /// Decodes a block or a run of zero blocks, and returns the number of decoded blocks.
    fn blocks(self, bits: &mut Bits<'_>, samples: &mut [u32], at: usize) -> Option<usize> {
        let length = match self.bits {
            0..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        let option = bits.take(length)?;
        let reference = usize::from(self.is_difference && at == 0);
        let block = samples.get_mut(at..at + self.block)?;
        if option == (1 << length) - 1 {
            for sample in block {
                *sample = self.sample(bits)?;
            }
            return Some(1);
        }
        let is_second_extension = option == 0 && bits.take(1)? == 1;
        if reference == 1 {
            block[0] = self.sample(bits)?;
        }
        if is_second_extension {
            pairs(bits, block, reference)?;
            return Some(1);
        }
        if option == 0 {
            return self.zeros(bits, samples, at, reference);
        }
        let low = u32::try_from(option - 1).ok()?;
        for sample in &mut block[reference..] {
            *sample = bits.unary()?.wrapping_shl(low);
        }
        for sample in &mut block[reference..] {
            *sample |= u32::try_from(bits.take(low)?).ok()?;
        }
        Some(1)
    }

    /// Reads an uncompressed sample.
    fn sample(self, bits: &mut Bits<'_>) -> Option<u32> {
        u32::try_from(bits.take(self.bits)?).ok()
    }

    /// Decodes a run of zero blocks.
    fn zeros(self, bits: &mut Bits<'_>, samples: &mut [u32], at: usize, reference: usize) -> Option<usize> {
        let left = (samples.len() - at) / self.block;
        let run = match bits.unary()? {
            REST_OF_SEGMENT => left.min(SEGMENT - at / self.block % SEGMENT),
            zeros if zeros > REST_OF_SEGMENT => usize::try_from(zeros).ok()?,
            zeros => usize::try_from(zeros).ok()? + 1,
        };
        if run > left {
            return None;
        }
        samples[at + reference..at + run * self.block].fill(0);
        Some(run)
    }

    /// Restores samples from folded differences. As long as both signs are possible, the codes 0, 1, 2, 3, 4, … stand for
    /// the differences 0, -1, 1, -2, 2, …. Larger codes stand for differences of the only possible sign.
    fn undo_differences(self, samples: &mut [u32]) {
        let most = u32::MAX >> (32 - self.bits);
        let Some((&mut first, rest)) = samples.split_first_mut() else { return };
        let mut last = first;
        for sample in rest {
            let folded = *sample;
            let is_low = last <= most / 2;
            let room = if is_low { last } else { most - last };
            let half = folded / 2;
            last = if half + folded % 2 > room {
                if is_low { folded & most } else { most - (folded & most) }
            } else if folded % 2 == 0 {
                last + half
            } else {
                last - half - 1
            };
            *sample = last;
        }
    }
}

/// Decodes pairs of small samples. Each pair is encoded as a single unary code.
fn pairs(bits: &mut Bits<'_>, block: &mut [u32], reference: usize) -> Option<()> {
    let mut at = reference;
    while at < block.len() {
        let zeros = bits.unary()?;
        if zeros > PAIRS {
            return None;
        }
        // The unary code is the index of the pair in the list of all pairs ordered by sum.
        let (mut sum, mut start) = (0, 0);
        while start + sum < zeros {
            start += sum + 1;
            sum += 1;
        }
        let second = zeros - start;
        if at.is_multiple_of(2) {
            block[at] = sum - second;
            at += 1;
        }
        *block.get_mut(at)? = second;
        at += 1;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_unfold_within_the_range() {
        let szip = Szip { is_big: false, is_difference: true, block: 8, scanline: 8, bits: 8, sorted: None };
        let mut samples = [3, 1, 2, 7, 255, 0, 1, 254];
        szip.undo_differences(&mut samples);
        assert_eq!(samples, [3, 2, 3, 7, 255, 255, 254, 1]);
    }
}
