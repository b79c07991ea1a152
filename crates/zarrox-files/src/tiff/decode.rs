//! Strips and tiles: their compression and their predictors.

use std::io::Read;

use image::ImageDecoder as _;
use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use crate::input::{corrupt, unsupported, zeroed};

/// The compression of strips and tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Lzw,
    /// True for red, green and blue, which JPEG has not otherwise.
    Jpeg(bool),
    Deflate,
    PackBits,
    Zstandard,
}

impl Compression {
    pub(super) fn of(number: u64) -> Result<Self> {
        Ok(match number {
            1 => Self::None,
            5 => Self::Lzw,
            7 => Self::Jpeg(false),
            8 | 32946 => Self::Deflate,
            32773 => Self::PackBits,
            50000 => Self::Zstandard,
            _ => return Err(unsupported(format!("the compression {number} of TIFF is not supported"))),
        })
    }
}

/// The way in which elements were replaced by differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predictor {
    None,
    /// Differences of neighbours in a row.
    Horizontal,
    /// Differences of bytes, which lie by their significance.
    Float,
}

impl Predictor {
    pub(super) fn of(number: u64, data_type: &DataType) -> Result<Self> {
        let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
        let is_complex = matches!(data_type, DataType::Complex64 | DataType::Complex128);
        match number {
            1 => Ok(Self::None),
            2 if !is_complex => Ok(Self::Horizontal),
            3 if is_float => Ok(Self::Float),
            _ => Err(unsupported(format!("there is no predictor {number} for {data_type}"))),
        }
    }

    /// Makes elements of differences, in rows of so many bytes. A pixel has so many samples.
    pub(super) fn undo(self, bytes: &mut [u8], row: usize, samples: usize, size: usize, endian: Endian) {
        for row in bytes.chunks_exact_mut(row.max(1)) {
            match self {
                Self::None => {}
                Self::Horizontal => add_neighbours(row, samples, size, endian),
                Self::Float => join_floats(row, samples, size, endian),
            }
        }
    }
}

fn add_neighbours(row: &mut [u8], samples: usize, size: usize, endian: Endian) {
    let before = samples * size;
    let number = |bytes: &[u8]| {
        let join = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        match endian {
            Endian::Big => bytes.iter().fold(0, join),
            Endian::Little => bytes.iter().rev().fold(0, join),
        }
    };
    for at in (before..row.len()).step_by(size) {
        let sum = number(&row[at - before..at - before + size]).wrapping_add(number(&row[at..at + size]));
        match endian {
            Endian::Little => row[at..at + size].copy_from_slice(&sum.to_le_bytes()[..size]),
            Endian::Big => row[at..at + size].copy_from_slice(&sum.to_be_bytes()[8 - size..]),
        }
    }
}

fn join_floats(row: &mut [u8], samples: usize, size: usize, endian: Endian) {
    for at in samples..row.len() {
        row[at] = row[at].wrapping_add(row[at - samples]);
    }
    let apart = row.to_vec();
    let count = row.len() / size;
    for (nth, element) in row.chunks_exact_mut(size).enumerate() {
        for (significance, byte) in element.iter_mut().enumerate() {
            *byte = apart[significance * count + nth];
        }
        if endian == Endian::Little {
            element.reverse();
        }
    }
}

/// The bytes of a strip or a tile, of which there are so many.
pub(super) fn decompressed(
    compression: Compression,
    bytes: Vec<u8>,
    tables: &[u8],
    size: usize,
) -> Result<Vec<u8>> {
    let mut out = match compression {
        Compression::None => bytes,
        Compression::Deflate => limited(flate2::read::ZlibDecoder::new(bytes.as_slice()), size)?,
        Compression::Zstandard => {
            limited(zstd::Decoder::with_buffer(bytes.as_slice()).map_err(|error| damaged(&error))?, size)?
        }
        Compression::Lzw => lzw(&bytes, size)?,
        Compression::PackBits => unpacked(&bytes, size),
        Compression::Jpeg(is_rgb) => jpeg(&bytes, tables, is_rgb, size)?,
    };
    if out.len() < size {
        return Err(corrupt(format!("a strip or a tile has {} bytes instead of {size}", out.len())));
    }
    out.truncate(size);
    Ok(out)
}

fn damaged(error: &dyn std::fmt::Display) -> zarrox::Error {
    corrupt(format!("a strip or a tile is damaged: {error}"))
}

fn limited(decoder: impl Read, size: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder.take(size as u64).read_to_end(&mut out).map_err(|error| damaged(&error))?;
    Ok(out)
}

fn lzw(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    let mut out = zeroed(size)?;
    let mut decoder = weezl::decode::Decoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8);
    let (mut read, mut written) = (0, 0);
    while written < size {
        let done = decoder.decode_bytes(&bytes[read..], &mut out[written..]);
        (read, written) = (read + done.consumed_in, written + done.consumed_out);
        match done.status.map_err(|error| damaged(&error))? {
            weezl::LzwStatus::Ok if done.consumed_in > 0 || done.consumed_out > 0 => {}
            _ => break,
        }
    }
    out.truncate(written);
    Ok(out)
}

/// Runs of bytes, and single ones.
fn unpacked(mut bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&head, rest)) = bytes.split_first()
        && out.len() < size
    {
        match head {
            0..=127 => {
                let (taken, left) = rest.split_at((usize::from(head) + 1).min(rest.len()));
                out.extend_from_slice(taken);
                bytes = left;
            }
            128 => bytes = rest,
            _ => {
                let Some((&byte, left)) = rest.split_first() else { break };
                out.resize(out.len() + 257 - usize::from(head), byte);
                bytes = left;
            }
        }
    }
    out
}

/// The segment of Adobe that says that colours are not transformed.
const RGB: &[u8] = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00";

/// A JPEG without its tables, which all of them share.
fn jpeg(bytes: &[u8], tables: &[u8], is_rgb: bool, size: usize) -> Result<Vec<u8>> {
    // The tables are a JPEG without an image: its end, and the begin of the image, are left out.
    let tables = tables.strip_prefix(b"\xff\xd8").and_then(|tables| tables.strip_suffix(b"\xff\xd9"));
    let image = bytes.strip_prefix(b"\xff\xd8").ok_or_else(|| corrupt("a strip or a tile is no JPEG"))?;
    let colours: &[u8] = if is_rgb { RGB } else { &[] };
    let whole = [b"\xff\xd8", colours, tables.unwrap_or_default(), image].concat();
    let decoder = image::codecs::jpeg::JpegDecoder::new(std::io::Cursor::new(whole));
    let decoder = decoder.map_err(|error| damaged(&error))?;
    if decoder.total_bytes() != size as u64 {
        return Err(corrupt("a JPEG has another size than its strip or tile"));
    }
    let mut out = zeroed(size)?;
    decoder.read_image(&mut out).map_err(|error| damaged(&error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_become_elements() {
        let mut bytes = [1_u16, 2, 10, 3, 65535, 0].map(u16::to_be_bytes).concat();
        Predictor::Horizontal.undo(&mut bytes, 12, 2, 2, Endian::Big);
        assert_eq!(bytes, [1_u16, 2, 11, 5, 10, 5].map(u16::to_be_bytes).concat());
        let mut floats = vec![0x3f, 0x01, 0x40, 0x40];
        // The high bytes 3f and 40, then the low ones 80 and c0: 1.0 and 3.0 in half of a single.
        Predictor::Float.undo(&mut floats, 4, 1, 2, Endian::Little);
        assert_eq!(floats, [0x80, 0x3f, 0xc0, 0x40]);
    }

    #[test]
    fn packed_bytes_are_runs_and_single_ones() {
        assert_eq!(unpacked(&[0xfe, 7, 0x80, 1, 1, 2], 100), [7, 7, 7, 1, 2]);
        assert_eq!(unpacked(&[0x7f, 1], 100), [1]);
        assert!(unpacked(&[0x81, 1].repeat(100), 200).len() < 400);
    }
}
