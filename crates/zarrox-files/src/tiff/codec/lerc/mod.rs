//! LERC: compression with a bounded error, in tiles that use the minimum number of bits.
//!
//! Specification: <https://github.com/Esri/lerc/blob/master/doc/lerc_format.md>

mod bits;
mod block;
mod huffman;

use zarrox::Result;
use zarrox::data_type::Endian;

use self::bits::Reader;
use self::block::{Block, Header, Kind};
use super::general::{inflated, unzstd};
use super::wanted::Wanted;
use crate::input::{corrupt, unsupported, zeroed};

/// The additional compression of a LERC block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tiff) enum Around {
    None,
    Deflate,
    Zstandard,
}

impl Around {
    /// Returns the additional compression from the LERC parameters, which are a version and a compression number.
    pub(super) fn of(parameters: &[u64]) -> Result<Self> {
        match parameters.get(1) {
            None | Some(0) => Ok(Self::None),
            Some(1) => Ok(Self::Deflate),
            Some(2) => Ok(Self::Zstandard),
            Some(other) => Err(unsupported(format!("LERC in the compression {other} is not supported"))),
        }
    }
}

impl Block {
    /// Reads all elements. The mask has already been read.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let Header { version, depth, kind, max_error, min, max, .. } = self.header;
        if self.header.valid == 0 {
            return Ok(());
        }
        #[expect(clippy::float_cmp, reason = "a constant block has equal limits")]
        if min == max {
            self.fill(&vec![min; depth]);
            return Ok(());
        }
        self.most = vec![max; depth];
        if version >= 4 {
            let mut numbers = || (0..depth).map(|_| kind.read(reader)).collect::<Result<Vec<_>>>();
            let (least, most) = (numbers()?, numbers()?);
            if least == most {
                self.fill(&least);
                return Ok(());
            }
            self.most = most;
        }
        if reader.byte()? != 0 {
            return self.read_plain(reader);
        }
        let is_byte = matches!(kind, Kind::I8 | Kind::U8);
        #[expect(clippy::float_cmp, reason = "these errors mean lossless elements")]
        let has_mode = if is_byte {
            max_error == 0.5
        } else {
            version >= 6 && matches!(kind, Kind::F32 | Kind::F64) && max_error == 0.0
        };
        if has_mode {
            match (reader.byte()?, is_byte) {
                (0, _) => {}
                (1, true) => return huffman::read(self, reader, true),
                (2, true) if version >= 4 => return huffman::read(self, reader, false),
                (3, false) => return Err(unsupported("LERC with floats in Huffman codes is not supported")),
                (mode, _) => return Err(corrupt(format!("unknown mode {mode} of LERC"))),
            }
        }
        self.read_tiles(reader)
    }

    fn read_plain(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for pixel in 0..self.header.pixels() {
            for dim in 0..self.header.depth {
                if self.is_valid(pixel) {
                    let number = self.header.kind.read(reader)?;
                    self.put(pixel, dim, number);
                }
            }
        }
        Ok(())
    }

    fn read_tiles(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let Header { rows, columns, block, depth, .. } = self.header;
        for top in (0..rows).step_by(block) {
            for left in (0..columns).step_by(block) {
                for dim in 0..depth {
                    let tile = (top..(top + block).min(rows), left..(left + block).min(columns));
                    self.read_tile(reader, tile, dim)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a tile that covers a range of rows and columns, at position `dim` along the depth.
    fn read_tile(
        &mut self,
        reader: &mut Reader<'_>,
        (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>),
        dim: usize,
    ) -> Result<()> {
        let Header { version, columns: width, kind, max_error, .. } = self.header;
        let flags = reader.byte()?;
        let is_difference = version >= 5 && flags & 4 != 0;
        let pattern = if version >= 5 { 14 } else { 15 };
        let is_damaged = usize::from(flags >> 2) & pattern != (columns.start >> 3) & pattern;
        if is_damaged || (is_difference && (dim == 0 || flags & 3 == 0)) {
            return Err(corrupt("a LERC tile is damaged"));
        }
        let all = rows.len() * columns.len();
        let pixels: Vec<usize> = rows
            .flat_map(|row| columns.clone().map(move |column| row * width + column))
            .filter(|&pixel| self.is_valid(pixel))
            .collect();
        let before = |block: &Self, pixel| if is_difference { block.get(pixel, dim - 1) } else { Ok(0.0) };
        match flags & 3 {
            0 => {
                for pixel in pixels {
                    let number = kind.read(reader)?;
                    self.put(pixel, dim, number);
                }
            }
            2 => {
                for pixel in pixels {
                    let number = before(self, pixel)?;
                    self.put(pixel, dim, number);
                }
            }
            mode => {
                let is_integer = !matches!(kind, Kind::F32 | Kind::F64);
                let own = if is_difference && is_integer { Kind::I32 } else { kind };
                let offset = own.of_offset(flags >> 6)?.read(reader)?;
                let numbers = if mode == 1 { bits::unstuffed(reader, all)? } else { Vec::new() };
                if mode == 1 && numbers.len() != pixels.len() {
                    return Err(corrupt("a LERC tile has another number of elements"));
                }
                let most = self.most.get(dim).copied().unwrap_or(f64::INFINITY);
                for (nth, pixel) in pixels.into_iter().enumerate() {
                    let number = f64::from(numbers.get(nth).copied().unwrap_or(0)) * 2.0 * max_error;
                    let number = offset + number + before(self, pixel)?;
                    let is_cut = mode == 1 || is_difference;
                    self.put(pixel, dim, if is_cut { number.min(most) } else { number });
                }
            }
        }
        Ok(())
    }
}

/// Reads the mask of valid pixels: one bit for each pixel, in run-length encoded bytes.
fn read_mask(reader: &mut Reader<'_>, header: &Header) -> Result<Option<Vec<bool>>> {
    let (size, pixels) = (reader.length()?, header.pixels());
    if header.valid == pixels {
        return Ok(None);
    }
    let mut bits = Vec::new();
    let mut runs = Reader::new(reader.take(size)?);
    while bits.len() < pixels.div_ceil(8) && header.valid > 0 {
        match i16::from_le_bytes(runs.array()?) {
            i16::MIN => break,
            count @ 0.. => bits.extend_from_slice(runs.take(usize::try_from(count).unwrap_or(0))?),
            count => {
                let byte = runs.byte()?;
                bits.resize(bits.len() + usize::from(count.unsigned_abs()), byte);
            }
        }
    }
    let bit = |pixel: usize| bits.get(pixel / 8).is_some_and(|byte| byte & (0x80 >> (pixel % 8)) != 0);
    Ok(Some((0..pixels).map(bit).collect()))
}

/// Decodes the samples of a strip or tile, in the byte order of the file.
pub(super) fn decoded(bytes: &[u8], around: Around, wanted: Wanted<'_>) -> Result<Vec<u8>> {
    // A lossless block is barely larger than its elements.
    let most = wanted.size.saturating_mul(2).saturating_add(1 << 16);
    let whole = match around {
        Around::None => None,
        Around::Deflate => Some(inflated(bytes, most)?),
        Around::Zstandard => Some(unzstd(bytes, most)?),
    };
    let bytes = whole.as_deref().unwrap_or(bytes);
    let mut reader = Reader::new(bytes);
    let header = Header::read(&mut reader, bytes, wanted)?;
    let mask = read_mask(&mut reader, &header)?;
    let size = header.pixels().saturating_mul(header.depth).saturating_mul(header.kind.size());
    let mut block = Block { header, mask, out: zeroed(size)?, most: Vec::new() };
    block.read(&mut reader)?;
    Ok(finished(block, wanted))
}

/// Marks missing elements, and converts the elements to the byte order of the file.
fn finished(mut block: Block, wanted: Wanted<'_>) -> Vec<u8> {
    let (kind, depth) = (block.header.kind, block.header.depth);
    if block.mask.is_some() && matches!(kind, Kind::F32 | Kind::F64) {
        for pixel in 0..block.header.pixels() {
            for dim in 0..depth {
                if !block.is_valid(pixel) {
                    block.put(pixel, dim, f64::NAN);
                }
            }
        }
    }
    if depth + 1 == wanted.samples {
        // The mask becomes the opacity channel.
        let pixels = block.out.chunks_exact(depth.max(1)).enumerate();
        return pixels
            .flat_map(|(pixel, bytes)| {
                bytes.iter().copied().chain([if block.is_valid(pixel) { 255 } else { 0 }])
            })
            .collect();
    }
    let mut out = block.out;
    if wanted.endian == Endian::Big {
        out.chunks_exact_mut(kind.size()).for_each(<[u8]>::reverse);
    }
    out
}
