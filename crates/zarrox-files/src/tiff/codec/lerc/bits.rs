//! Byte and bit readers for LERC.

use zarrox::Result;

use crate::input::corrupt;

/// The unread bytes of a block.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| corrupt("a LERC block is truncated"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.take(count).map(drop)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| corrupt("a LERC block is truncated"))
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads a nonnegative integer.
    pub(super) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.int()?).map_err(|_| corrupt("a LERC length is negative"))
    }

    /// Returns the unread bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

/// Reads bit-stuffed integers, at most `most` of them.
pub(super) fn unstuffed(reader: &mut Reader<'_>, most: usize) -> Result<Vec<u32>> {
    let head = reader.byte()?;
    let count = match head >> 6 {
        0 => u32::from_le_bytes(reader.array()?),
        1 => u16::from_le_bytes(reader.array()?).into(),
        2 => reader.byte()?.into(),
        _ => return Err(corrupt("LERC numbers have no count")),
    };
    let (bits, count) = (u32::from(head & 31), usize::try_from(count).unwrap_or(usize::MAX));
    if count > most {
        return Err(corrupt("there are too many LERC numbers"));
    }
    if head & 32 == 0 {
        return numbers(reader, count, bits);
    }
    // The integers are indices into a lookup table, whose implied first entry is 0.
    let length = usize::from(reader.byte()?).saturating_sub(1);
    let mut table = vec![0];
    table.append(&mut numbers(reader, length, bits)?);
    let of_index = usize::BITS - length.leading_zeros();
    let index = |number: u32| usize::try_from(number).ok().and_then(|number| table.get(number)).copied();
    let indices = numbers(reader, count, of_index)?;
    indices
        .into_iter()
        .map(|number| index(number).ok_or_else(|| corrupt("a LERC number is not an index of its table")))
        .collect()
}

/// Reads `count` integers of `bits` bits each, least significant bits first.
fn numbers(reader: &mut Reader<'_>, count: usize, bits: u32) -> Result<Vec<u32>> {
    if bits == 0 {
        return Ok(vec![0; count]);
    }
    let size = count.saturating_mul(usize::try_from(bits).unwrap_or(32)).div_ceil(8);
    let mut bytes = reader.take(size)?.iter();
    let (mut held, mut of_held, mask) = (0_u64, 0, (1_u64 << bits) - 1);
    let number = |_| {
        while of_held < bits {
            held |= u64::from(bytes.next().copied().unwrap_or(0)) << of_held;
            of_held += 8;
        }
        let number = u32::try_from(held & mask).unwrap_or(0);
        held >>= bits;
        of_held -= bits;
        number
    };
    Ok((0..count).map(number).collect())
}

/// A reader for the bits of little-endian 32-bit words, most significant bit first.
#[derive(Debug)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    /// The number of bits read so far.
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads a bit.
    pub(super) fn bit(&mut self) -> Result<u32> {
        let (word, bit) = (self.at / 32, self.at % 32);
        let byte = self.bytes.get(word * 4 + 3 - bit / 8);
        let byte = byte.copied().ok_or_else(|| corrupt("the LERC codes are truncated"))?;
        self.at += 1;
        Ok(u32::from(byte >> (7 - bit % 8) & 1))
    }

    /// Reads an integer of `bits` bits.
    pub(super) fn number(&mut self, bits: u32) -> Result<u32> {
        (0..bits).try_fold(0_u32, |number, _| Ok(number << 1 | self.bit()?))
    }

    /// Returns the size in bytes of the words read so far.
    pub(super) fn size(&self) -> usize {
        self.at.div_ceil(32) * 4
    }
}
