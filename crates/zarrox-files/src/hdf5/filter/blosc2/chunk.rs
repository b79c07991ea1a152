//! Blosc2 chunks: a header, followed by filtered and compressed blocks.

use zarrox::{Result, codecs};

use super::super::bitshuffle::untranspose;
use super::super::coded::Coded;
use super::super::lz4;
use super::super::shuffle::Unshuffle;
use super::blosclz;
use super::bytes::{byte, little, little_size, slice};
use crate::input::{corrupt, unsupported, zeroed};

/// The flag bits of a header.
mod flag {
    pub(super) const SHUFFLE: u8 = 1;
    pub(super) const COPY: u8 = 2;
    pub(super) const BITSHUFFLE: u8 = 4;
    pub(super) const DELTA: u8 = 8;
    pub(super) const ONE_STREAM: u8 = 16;
}

/// The number of filters in a header.
const FILTERS: usize = 6;

/// A header.
#[derive(Debug)]
struct Header {
    version: u8,
    flags: u8,
    type_size: usize,
    size: usize,
    block: usize,
    encoded: usize,
    /// The length of the header.
    length: usize,
    /// The code and parameter of each filter, in the order in which the filters were applied.
    filters: [(u8, u8); FILTERS],
    /// The code of the special value that all elements have; 0 if the chunk has no special value.
    repeated: u8,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self> {
        let flags = byte(bytes, 2)?;
        let mut header = Self {
            version: byte(bytes, 0)?,
            flags,
            type_size: usize::from(byte(bytes, 3)?).max(1),
            size: little_size(bytes, 4)?,
            block: little_size(bytes, 8)?,
            encoded: little_size(bytes, 12)?,
            length: 16,
            filters: [(0, 0); FILTERS],
            repeated: 0,
        };
        if flags & flag::SHUFFLE != 0 && flags & flag::BITSHUFFLE != 0 {
            header.length = 32;
            for (index, filter) in header.filters.iter_mut().enumerate() {
                *filter = (byte(bytes, 16 + index)?, byte(bytes, 24 + index)?);
            }
            let (second, first) = (byte(bytes, 30)?, byte(bytes, 31)?);
            header.repeated = first >> 4 & 7;
            if second != 0 || first & 0x89 != 0 {
                let message =
                    "a Blosc2 chunk has a dictionary, blocks of variable length, or an in-memory layout";
                return Err(unsupported(format!("{message} (flags {first:#04x} and {second:#04x})")));
            }
        } else {
            let of_flags = [(flag::DELTA, 3), (flag::SHUFFLE, 1), (flag::BITSHUFFLE, 2)];
            for (filter, (flag, code)) in header.filters.iter_mut().zip(of_flags) {
                filter.0 = if flags & flag == 0 { 0 } else { code };
            }
        }
        if header.size > 0 && header.block == 0 {
            return Err(corrupt("a Blosc2 chunk has blocks without bytes"));
        }
        header.block = header.block.min(header.size);
        Ok(header)
    }
}

/// Decodes the chunk at the start of `bytes`.
pub(super) fn decode(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    let header = Header::read(bytes)?;
    if header.size != size {
        return Err(corrupt(format!("a Blosc2 chunk has {} bytes instead of {size}", header.size)));
    }
    let bytes = slice(bytes, 0, header.encoded)?;
    let content = bytes.get(header.length..).ok_or_else(|| corrupt("a Blosc2 chunk is truncated"))?;
    match header.repeated {
        0 => {}
        3 => return filled(content, size),
        kind => return repeated(kind, header.type_size, size),
    }
    if header.flags & flag::COPY != 0 {
        return slice(content, 0, size).map(<[u8]>::to_vec);
    }
    let mut decoded = zeroed(size)?;
    let blocks = Blocks::new(&header)?;
    let mut buffers = [zeroed(header.block)?, zeroed(header.block)?];
    let mut framed = Vec::new();
    for (index, start) in (0..size).step_by(header.block.max(1)).enumerate() {
        let end = size.min(start + header.block);
        let offset = little_size(bytes, header.length + index * 4)?;
        let encoded = bytes.get(offset..).ok_or_else(|| corrupt("a Blosc2 chunk is truncated"))?;
        let [first, second] = &mut buffers;
        let (first, second) = (&mut first[..end - start], &mut second[..end - start]);
        blocks.uncompress(encoded, first, &mut framed)?;
        blocks.undo_filters(first, second)?;
        let (before, block) = decoded[..end].split_at_mut(start);
        block.copy_from_slice(first);
        blocks.undo_delta(before, block);
    }
    Ok(decoded)
}

/// Returns elements that are all zero (1), NaN (2) or uninitialized (4). Uninitialized elements are returned as zeros.
pub(super) fn repeated(kind: u8, type_size: usize, size: usize) -> Result<Vec<u8>> {
    match (kind, type_size) {
        (1 | 4, _) => zeroed(size),
        (2, 4) => filled(&f32::NAN.to_le_bytes(), size),
        (2, 8) => filled(&f64::NAN.to_le_bytes(), size),
        _ => Err(corrupt(format!("a Blosc2 chunk has the value {kind} for elements of {type_size} bytes"))),
    }
}

/// Returns `size` bytes that consist of copies of an element.
fn filled(element: &[u8], size: usize) -> Result<Vec<u8>> {
    if element.is_empty() || !size.is_multiple_of(element.len()) {
        return Err(corrupt(format!(
            "{} bytes are repeated {size} bytes long in a Blosc2 chunk",
            element.len()
        )));
    }
    let mut decoded = zeroed(size)?;
    decoded.chunks_exact_mut(element.len()).for_each(|out| out.copy_from_slice(element));
    Ok(decoded)
}

/// The decoder for the blocks of a chunk.
#[derive(Debug)]
struct Blocks {
    type_size: usize,
    block: usize,
    is_one_stream: bool,
    compressor: Compressor,
    /// The filters, in the order in which they are undone.
    filters: Vec<Sorted>,
    /// The element size of the delta filter, if the chunk uses it.
    delta: Option<usize>,
}

/// The compressor of the streams of a block.
#[derive(Debug)]
enum Compressor {
    BloscLz,
    Lz4(Coded),
    Other(Coded),
}

/// A filter that reorders the bits or bytes of a block.
#[derive(Debug)]
enum Sorted {
    Bytes(Unshuffle),
    /// Bitshuffle. Version 2 chunks leave blocks unshuffled whose length is not a multiple of eight elements.
    Bits {
        size: usize,
        is_whole: bool,
    },
}

impl Blocks {
    fn new(header: &Header) -> Result<Self> {
        let compressor = match header.flags >> 5 {
            0 => Compressor::BloscLz,
            1 => Compressor::Lz4(lz4::decoder()?),
            3 => Compressor::Other(Coded::new(codecs::Zlib::default())?),
            4 => Compressor::Other(Coded::new(codecs::Zstd::level(3))?),
            other => {
                return Err(unsupported(format!("unknown compressor {other} in a Blosc2 chunk")));
            }
        };
        let (mut filters, mut delta) = (Vec::new(), None);
        for &(code, parameter) in header.filters.iter().rev() {
            if !matches!(code, 0 | 4) && delta.is_some() {
                return Err(unsupported("a Blosc2 chunk with a filter before delta"));
            }
            match code {
                // Truncated bits cannot be restored.
                0 | 4 => {}
                1 if parameter > 0 => filters.push(Sorted::Bytes(Unshuffle::new(usize::from(parameter))?)),
                1 => filters.push(Sorted::Bytes(Unshuffle::new(header.type_size)?)),
                2 => filters.push(Sorted::Bits { size: header.type_size, is_whole: header.version == 2 }),
                3 => {
                    delta = Some(match header.type_size {
                        size @ (1 | 2 | 4 | 8) => size,
                        size if size.is_multiple_of(8) => 8,
                        _ => 1,
                    });
                }
                other => return Err(unsupported(format!("unknown filter {other} of Blosc2"))),
            }
        }
        let is_one_stream = header.flags & flag::ONE_STREAM != 0;
        Ok(Self {
            type_size: header.type_size,
            block: header.block,
            is_one_stream,
            compressor,
            filters,
            delta,
        })
    }

    /// Decodes the streams of a block.
    fn uncompress(&self, encoded: &[u8], block: &mut [u8], framed: &mut Vec<u8>) -> Result<()> {
        let streams = if self.is_one_stream || block.len() < self.block { 1 } else { self.type_size };
        if !block.len().is_multiple_of(streams) {
            return Err(corrupt(format!(
                "{} bytes cannot be split into {streams} equal Blosc2 streams",
                block.len()
            )));
        }
        let mut at = 0;
        for out in block.chunks_mut((block.len() / streams).max(1)) {
            let length = little(encoded, at)?;
            at += 4;
            match usize::try_from(length) {
                Ok(0) => out.fill(0),
                Ok(length) => {
                    let stream = slice(encoded, at, length)?;
                    at += length;
                    self.stream(stream, out, framed)?;
                }
                Err(_) => {
                    let is_run = byte(encoded, at)? & 1 == 1;
                    at += 1;
                    let value = u8::try_from(length.unsigned_abs()).ok().filter(|_| is_run);
                    out.fill(value.ok_or_else(|| corrupt("a stream of Blosc2 has an unknown token"))?);
                }
            }
        }
        Ok(())
    }

    fn stream(&self, stream: &[u8], out: &mut [u8], framed: &mut Vec<u8>) -> Result<()> {
        if stream.len() == out.len() {
            out.copy_from_slice(stream);
            return Ok(());
        }
        match &self.compressor {
            Compressor::BloscLz => blosclz::decode_into(stream, out),
            Compressor::Lz4(decoder) => lz4::decode_block(decoder, stream, out, framed),
            Compressor::Other(decoder) => decoder.decode_into(stream, out),
        }
    }

    /// Undoes all filters except delta.
    fn undo_filters(&self, block: &mut [u8], buffer: &mut [u8]) -> Result<()> {
        for filter in &self.filters {
            match filter {
                Sorted::Bytes(unshuffle) => unshuffle.decode_into(block, buffer)?,
                Sorted::Bits { size, is_whole } => {
                    let count = block.len() / size;
                    let count = if *is_whole && !count.is_multiple_of(8) { 0 } else { count / 8 * 8 };
                    let (sorted, rest) = block.split_at(count * size);
                    let (elements, end) = buffer.split_at_mut(count * size);
                    untranspose(sorted, elements, *size);
                    end.copy_from_slice(rest);
                }
            }
            block.copy_from_slice(buffer);
        }
        Ok(())
    }

    /// Undoes the delta filter: each element of the first block is XORed with the element before it, and each element of
    /// any other block with the corresponding element of the first block.
    fn undo_delta(&self, before: &[u8], block: &mut [u8]) {
        let Some(size) = self.delta else { return };
        let whole = block.len() / size * size;
        if let Some(first) = before.get(..whole).filter(|_| !before.is_empty()) {
            block.iter_mut().zip(first).for_each(|(byte, first)| *byte ^= first);
            return;
        }
        for at in size..whole {
            block[at] ^= block[at - size];
        }
    }
}
