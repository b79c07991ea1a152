//! LERC blocks: their headers, and the state while their elements are decoded.

use zarrox::Result;

use super::super::wanted::Wanted;
use super::bits::Reader;
use crate::input::{corrupt, unsupported};

/// The element types, numbered as in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    pub(super) const ALL: [Self; 8] =
        [Self::I8, Self::U8, Self::I16, Self::U16, Self::I32, Self::U32, Self::F32, Self::F64];

    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Returns the type with which an offset is stored. It can be smaller than the data type.
    pub(super) fn of_offset(self, code: u8) -> Result<Self> {
        let number = self as i32;
        let code = i32::from(code);
        let number = match self {
            Self::I16 | Self::I32 => number - code,
            Self::U16 | Self::U32 => number - 2 * code,
            Self::F32 => [6, 2, 1, 1][usize::try_from(code & 3).unwrap_or(0)],
            Self::F64 if code > 0 => number - 2 * code + 1,
            _ => number,
        };
        let kind = usize::try_from(number).ok().and_then(|number| Self::ALL.get(number));
        kind.copied().ok_or_else(|| corrupt("a LERC offset has an invalid type"))
    }

    /// Reads a little-endian number.
    pub(super) fn read(self, reader: &mut Reader<'_>) -> Result<f64> {
        Ok(match self {
            Self::I8 => i8::from_le_bytes(reader.array()?).into(),
            Self::U8 => u8::from_le_bytes(reader.array()?).into(),
            Self::I16 => i16::from_le_bytes(reader.array()?).into(),
            Self::U16 => u16::from_le_bytes(reader.array()?).into(),
            Self::I32 => i32::from_le_bytes(reader.array()?).into(),
            Self::U32 => u32::from_le_bytes(reader.array()?).into(),
            Self::F32 => f32::from_le_bytes(reader.array()?).into(),
            Self::F64 => f64::from_le_bytes(reader.array()?),
        })
    }

    /// Encodes a number into the little-endian bytes of an element.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the numbers are in the range of the type"
    )]
    pub(super) fn write(self, number: f64, out: &mut [u8]) {
        match self {
            Self::I8 => out.copy_from_slice(&(number as i8).to_le_bytes()),
            Self::U8 => out.copy_from_slice(&(number as u8).to_le_bytes()),
            Self::I16 => out.copy_from_slice(&(number as i16).to_le_bytes()),
            Self::U16 => out.copy_from_slice(&(number as u16).to_le_bytes()),
            Self::I32 => out.copy_from_slice(&(number as i32).to_le_bytes()),
            Self::U32 => out.copy_from_slice(&(number as u32).to_le_bytes()),
            Self::F32 => out.copy_from_slice(&(number as f32).to_le_bytes()),
            Self::F64 => out.copy_from_slice(&number.to_le_bytes()),
        }
    }
}

/// The header of a block.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) version: i32,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The number of elements in a pixel.
    pub(super) depth: usize,
    pub(super) valid: usize,
    pub(super) block: usize,
    pub(super) kind: Kind,
    pub(super) max_error: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Header {
    /// Reads the header of a block, whose size must be that of the strip or tile.
    pub(super) fn read(reader: &mut Reader<'_>, bytes: &[u8], wanted: Wanted<'_>) -> Result<Self> {
        if reader.array::<6>()? != *b"Lerc2 " {
            return Err(unsupported("the first version of LERC is not supported"));
        }
        let version = reader.int()?;
        if !(3..=6).contains(&version) {
            return Err(unsupported(format!("the version {version} of LERC is not supported")));
        }
        let checksum = u32::from_le_bytes(reader.array()?);
        let (rows, columns) = (reader.length()?, reader.length()?);
        let depth = if version >= 4 { reader.length()? } else { 1 };
        let (valid, block, size) = (reader.length()?, reader.length()?, reader.length()?);
        let kind = usize::try_from(reader.int()?).ok().and_then(|number| Kind::ALL.get(number).copied());
        let kind = kind.ok_or_else(|| corrupt("LERC elements have an invalid type"))?;
        if version >= 6 {
            reader.skip(8)?;
        }
        let numbers = [Kind::F64.read(reader)?, Kind::F64.read(reader)?, Kind::F64.read(reader)?];
        if version >= 6 {
            reader.skip(16)?;
        }
        let rest = bytes.get(14..size).ok_or_else(|| corrupt("a LERC block is truncated"))?;
        if checksum != fletcher(rest) {
            return Err(corrupt("the checksum of a LERC block differs"));
        }
        let is_mask = depth + 1 == wanted.samples && kind == Kind::U8;
        let fits = rows >= wanted.rows
            && rows <= wanted.rows.saturating_mul(2)
            && columns == wanted.columns
            && (depth == wanted.samples || is_mask)
            && kind.size() as u64 == wanted.sample.size()
            && valid <= rows * columns
            && (1..=1 << 16).contains(&block);
        if !fits {
            return Err(corrupt(format!(
                "a LERC block has {rows} x {columns} pixels with {depth} samples of {} bytes",
                kind.size()
            )));
        }
        let [max_error, min, max] = numbers;
        Ok(Self { version, rows, columns, depth, valid, block, kind, max_error, min, max })
    }

    pub(super) fn pixels(&self) -> usize {
        self.rows * self.columns
    }
}

/// Computes the Fletcher-32 checksum.
fn fletcher(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (0xffff_u32, 0xffff_u32);
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    for part in bytes.chunks(2 * 359) {
        for pair in part.chunks(2) {
            one += u32::from(pair[0]) << 8;
            one += u32::from(pair.get(1).copied().unwrap_or(0));
            two += one;
        }
        (one, two) = (fold(one), fold(two));
    }
    (one, two) = (fold(one), fold(two));
    two << 16 | one
}

/// A block that is being decoded.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) header: Header,
    /// The mask of valid pixels; `None` if all pixels are valid.
    pub(super) mask: Option<Vec<bool>>,
    /// The decoded elements, in little-endian byte order.
    pub(super) out: Vec<u8>,
    /// The maximum of the elements at each position along the depth.
    pub(super) most: Vec<f64>,
}

impl Block {
    pub(super) fn is_valid(&self, pixel: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.get(pixel).copied().unwrap_or(false))
    }

    pub(super) fn put(&mut self, pixel: usize, dim: usize, number: f64) {
        let size = self.header.kind.size();
        let start = (pixel * self.header.depth + dim) * size;
        if let Some(out) = self.out.get_mut(start..start + size) {
            self.header.kind.write(number, out);
        }
    }

    pub(super) fn get(&self, pixel: usize, dim: usize) -> Result<f64> {
        let size = self.header.kind.size();
        let start = (pixel * self.header.depth + dim) * size;
        self.header.kind.read(&mut Reader::new(self.out.get(start..start + size).unwrap_or_default()))
    }

    pub(super) fn fill(&mut self, numbers: &[f64]) {
        for pixel in 0..self.header.pixels() {
            for (dim, &number) in numbers.iter().enumerate() {
                if self.is_valid(pixel) {
                    self.put(pixel, dim, number);
                }
            }
        }
    }
}
