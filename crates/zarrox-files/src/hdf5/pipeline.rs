//! Filters of HDF5: as codecs of Zarr that have the same bytes, or undone.

use std::collections::HashMap;

use hdf5_reader::filters;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zarrox::codec::{ChunkSpec, CodecChain, CodecContext, ReadRegion};
use zarrox::codecs::{self, Blosc, BloscCompressor, ByteShuffle, Bz2, Fletcher32, Lz4, Shuffle, Zlib, Zstd};
use zarrox::json::json;
use zarrox::strided::{Span, ViewMut};
use zarrox::{CodecSpec, DataType, FillValue, Result, Strictness};

use crate::input::{corrupt, unsupported, zeroed};

/// The registered numbers of filters.
mod id {
    pub(super) const DEFLATE: u16 = 1;
    pub(super) const SHUFFLE: u16 = 2;
    pub(super) const FLETCHER32: u16 = 3;
    pub(super) const SZIP: u16 = 4;
    pub(super) const NBIT: u16 = 5;
    pub(super) const SCALE_OFFSET: u16 = 6;
    pub(super) const BZIP2: u16 = 307;
    pub(super) const LZF: u16 = 32000;
    pub(super) const BLOSC: u16 = 32001;
    pub(super) const LZ4: u16 = 32004;
    pub(super) const BITSHUFFLE: u16 = 32008;
    pub(super) const ZSTD: u16 = 32015;
}

/// The filters of a dataset, in the order in which they were applied.
#[derive(Debug, Clone)]
pub(super) struct Pipeline(Vec<FilterDescription>);

impl Pipeline {
    /// The filters.
    ///
    /// # Errors
    /// When one of them is not known.
    pub(super) fn new(filters: Vec<FilterDescription>) -> Result<Self> {
        for filter in &filters {
            let is_known = matches!(
                filter.id,
                id::DEFLATE
                    | id::SHUFFLE
                    | id::FLETCHER32
                    | id::SZIP
                    | id::NBIT
                    | id::SCALE_OFFSET
                    | id::BZIP2
                    | id::LZF
                    | id::BLOSC
                    | id::LZ4
                    | id::BITSHUFFLE
                    | id::ZSTD
            );
            if !is_known {
                let name = filter.name.as_deref().unwrap_or("without a name");
                let advice = "h5repack -f NONE writes a file without it";
                return Err(unsupported(format!("the filter {} ({name}) is not known; {advice}", filter.id)));
            }
        }
        Ok(Self(filters))
    }

    /// The codecs of bytes that decode the same bytes, where each filter has one and the elements are compressed.
    pub(super) fn codecs(&self, item: usize) -> Option<Vec<CodecSpec>> {
        let is_compressed = self.0.iter().any(|f| !matches!(f.id, id::SHUFFLE | id::FLETCHER32));
        let is_first = |index: usize| self.0[..index].iter().all(|f| f.id == id::SHUFFLE);
        let fits = self.0.iter().enumerate().all(|(index, f)| f.id != id::SHUFFLE || is_first(index));
        if !is_compressed || !fits {
            return None;
        }
        self.0.iter().map(|filter| codec(filter, item)).collect()
    }

    /// The decoded bytes of a chunk. `mask` has a bit for each filter that was left out, and `size` is the number of decoded bytes.
    pub(super) fn decode(&self, bytes: Vec<u8>, mask: u32, size: usize, item: usize) -> Result<Vec<u8>> {
        let is_used =
            |index: usize| mask.checked_shr(u32::try_from(index).unwrap_or(u32::MAX)).unwrap_or(0) & 1 == 0;
        let used: Vec<&FilterDescription> = self
            .0
            .iter()
            .enumerate()
            .filter(|(index, _)| is_used(*index))
            .map(|(_, filter)| filter)
            .collect();
        let mut bytes = bytes;
        for (index, filter) in used.iter().enumerate().rev() {
            let before = size_before(&used[..index], size);
            bytes = undo(filter, &bytes, before, size, item)?;
        }
        if bytes.len() != size {
            return Err(corrupt(format!("a chunk has {} bytes instead of {size}", bytes.len())));
        }
        Ok(bytes)
    }
}

/// The number of bytes behind these filters, if it follows from the number before them.
fn size_before(filters: &[&FilterDescription], size: usize) -> Option<usize> {
    filters.iter().try_fold(size, |size, filter| match filter.id {
        id::SHUFFLE => Some(size),
        id::FLETCHER32 => size.checked_add(4),
        _ => None,
    })
}

/// The codec that decodes what a filter encoded.
fn codec(filter: &FilterDescription, item: usize) -> Option<CodecSpec> {
    let parameter = |index: usize| filter.client_data.get(index).copied();
    let level = |default: u32| i32::try_from(parameter(0).unwrap_or(default)).ok();
    let item = u32::try_from(item).ok()?;
    Some(match filter.id {
        id::DEFLATE => Zlib::level(level(4)?.min(9)).into(),
        id::SHUFFLE => {
            ByteShuffle::element_size(parameter(0).filter(|&size| size > 0).unwrap_or(item)).into()
        }
        id::FLETCHER32 => Fletcher32.into(),
        id::BZIP2 => Bz2::level(level(9)?.clamp(1, 9)).into(),
        id::ZSTD => Zstd::level(level(3)?.min(22)).into(),
        id::BLOSC => {
            let compressor = match parameter(6).unwrap_or(0) {
                0 => BloscCompressor::BloscLz,
                1 => BloscCompressor::Lz4,
                2 => BloscCompressor::Lz4Hc,
                3 => BloscCompressor::Snappy,
                4 => BloscCompressor::Zlib,
                5 => BloscCompressor::Zstd,
                _ => return None,
            };
            let shuffle = match parameter(5).unwrap_or(1) {
                0 => Shuffle::None,
                2 => Shuffle::Bit,
                _ => Shuffle::Byte,
            };
            let size = parameter(2).filter(|&size| (1..=255).contains(&size)).unwrap_or(item.clamp(1, 255));
            let level = i32::try_from(parameter(4).unwrap_or(5).min(9)).ok()?;
            Blosc::new(compressor).level(level).shuffle(shuffle).type_size(i32::try_from(size).ok()?).into()
        }
        _ => return None,
    })
}

/// Undoes one filter. `before` is the number of bytes that it was given, and `size` that of the elements.
fn undo(
    filter: &FilterDescription,
    bytes: &[u8],
    before: Option<usize>,
    size: usize,
    item: usize,
) -> Result<Vec<u8>> {
    let known = || before.ok_or_else(|| unsupported("a chunk is compressed twice"));
    match filter.id {
        id::LZF => lzf(bytes, known()?),
        id::LZ4 => lz4_blocks(bytes, known()?),
        id::BITSHUFFLE => bitshuffle(filter, bytes, known()?, item),
        id::BZIP2 | id::ZSTD | id::BLOSC => {
            let spec = codec(filter, item).ok_or_else(|| corrupt("a filter has unknown parameters"))?;
            Decoder::new(spec).decode(bytes, known()?)
        }
        _ => {
            // A filter that is checked for more bytes than there should be tells that there are.
            let limit = before.unwrap_or_else(|| size.saturating_mul(2)).saturating_add(1);
            filters::apply_pipeline_with_limit(
                bytes,
                std::slice::from_ref(filter),
                0,
                item,
                None,
                Some(limit),
            )
            .map_err(|error| corrupt(format!("decoding a chunk failed: {error}")))
        }
    }
}

/// Decodes buffers with one codec.
struct Decoder {
    spec: CodecSpec,
    /// The chains by the number of decoded bytes.
    chains: HashMap<usize, CodecChain>,
}

impl Decoder {
    fn new(spec: impl Into<CodecSpec>) -> Self {
        Self { spec: spec.into(), chains: HashMap::new() }
    }

    fn decode(&mut self, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        if !self.chains.contains_key(&size) {
            self.chains.insert(size, chain(&self.spec, size)?);
        }
        let mut decoded = zeroed(size)?;
        if let Some(chain) = self.chains.get(&size) {
            let out = ViewMut::contiguous(&mut decoded, &[size], 1);
            chain.decode(bytes, ReadRegion::new([Span::all(size)].into_iter().collect(), out))?;
        }
        Ok(decoded)
    }
}

/// A chain that decodes so many bytes.
fn chain(spec: &CodecSpec, size: usize) -> Result<CodecChain> {
    let registry = codecs::registry();
    let chunk = ChunkSpec::new(&[size as u64], DataType::UInt8.storage(), FillValue::zero(1))?;
    let context = CodecContext {
        chunk: &chunk,
        registry: &registry,
        strictness: Strictness::Lenient,
        limit: zarrox::codec::CHUNK_LIMIT,
    };
    Ok(CodecChain::new(&[CodecSpec::new("bytes", json!({})), spec.clone()], &context)?)
}

/// A big-endian number at a position.
fn big(bytes: &[u8], at: usize, length: usize) -> Result<usize> {
    let number = at.checked_add(length).and_then(|end| bytes.get(at..end));
    let number = number.ok_or_else(|| corrupt("a compressed chunk is cut off"))?;
    let number = number.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    usize::try_from(number).map_err(|_| corrupt("a compressed chunk has an impossible length"))
}

/// The bytes of a block, with the position behind it.
fn block(bytes: &[u8], at: usize) -> Result<(&[u8], usize)> {
    let length = big(bytes, at, 4)?;
    let end = (at + 4).checked_add(length).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| corrupt("a compressed chunk is cut off"))?;
    Ok((&bytes[at + 4..end], end))
}

/// Decodes a block of LZ4 in the form that numcodecs has: the length first.
fn lz4_block(decoder: &mut Decoder, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    let length = u32::try_from(size).map_err(|_| corrupt("a compressed block is too large"))?;
    let framed = [&length.to_le_bytes(), bytes].concat();
    decoder.decode(&framed, size)
}

/// The filter LZ4: the length of all bytes, that of a block, and blocks, each with its length. A block that LZ4 does not shorten is
/// stored as it is.
fn lz4_blocks(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    let (total, length) = (big(bytes, 0, 8)?, big(bytes, 8, 4)?.max(1));
    if total != size {
        return Err(corrupt(format!("a chunk has {total} bytes instead of {size}")));
    }
    let mut decoder = Decoder::new(Lz4::acceleration(1));
    let (mut decoded, mut at) = (zeroed(size)?, 12);
    for out in decoded.chunks_mut(length) {
        let (compressed, end) = block(bytes, at)?;
        at = end;
        if compressed.len() == out.len() {
            out.copy_from_slice(compressed);
        } else {
            out.copy_from_slice(&lz4_block(&mut decoder, compressed, out.len())?);
        }
    }
    Ok(decoded)
}

/// The filter bitshuffle, alone or with LZ4 or Zstandard for each block.
fn bitshuffle(filter: &FilterDescription, bytes: &[u8], size: usize, item: usize) -> Result<Vec<u8>> {
    let parameter = |index: usize| filter.client_data.get(index).map_or(0, |&value| value as usize);
    let item = Some(parameter(2)).filter(|&item| item > 0).unwrap_or(item).max(1);
    let mut decoder = match parameter(4) {
        0 => None,
        2 => Some(Decoder::new(Lz4::acceleration(1))),
        3 => Some(Decoder::new(Zstd::level(3))),
        other => return Err(unsupported(format!("bitshuffle with the compressor {other} is not known"))),
    };
    // The block length that the library chooses: about 8 KiB, in eights of elements.
    let chosen = (8192 / item / 8 * 8).max(128);
    let (elements, mut at) = match &decoder {
        None => (Some(parameter(3)).filter(|&given| given > 0).unwrap_or(chosen), 0),
        Some(_) if big(bytes, 0, 8)? != size => {
            return Err(corrupt(format!("a chunk has {} bytes instead of {size}", big(bytes, 0, 8)?)));
        }
        Some(_) => (big(bytes, 8, 4)? / item, 12),
    };
    if elements == 0 || !elements.is_multiple_of(8) {
        return Err(corrupt("a block of bitshuffle is not a multiple of eight elements"));
    }
    let mut decoded = zeroed(size)?;
    let whole = size / item / 8 * 8 * item;
    let length = elements.checked_mul(item).ok_or_else(|| corrupt("a block of bitshuffle is too large"))?;
    for out in decoded[..whole].chunks_mut(length) {
        let shuffled = match &mut decoder {
            None => {
                let stored = bytes.get(at..at + out.len()).ok_or_else(|| corrupt("a chunk is cut off"))?;
                at += out.len();
                stored.to_vec()
            }
            Some(decoder) => {
                let (compressed, end) = block(bytes, at)?;
                at = end;
                if parameter(4) == 2 {
                    lz4_block(decoder, compressed, out.len())?
                } else {
                    decoder.decode(compressed, out.len())?
                }
            }
        };
        untranspose(&shuffled, out, item);
    }
    // Elements that do not make an eight are stored as they are.
    let rest = bytes.get(at..).filter(|rest| rest.len() >= size - whole);
    let rest = rest.ok_or_else(|| corrupt("a chunk is cut off"))?;
    decoded[whole..].copy_from_slice(&rest[..size - whole]);
    Ok(decoded)
}

/// Brings the bits of elements back to their places. For each bit of an element, `bits` has that bit of all elements.
fn untranspose(bits: &[u8], elements: &mut [u8], item: usize) {
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

/// The transposed matrix of 8 times 8 bits.
fn transposed(matrix: u64) -> u64 {
    let swap = |matrix: u64, shift: u32, mask: u64| {
        let changed = (matrix ^ (matrix >> shift)) & mask;
        matrix ^ changed ^ (changed << shift)
    };
    let matrix = swap(matrix, 7, 0x00aa_00aa_00aa_00aa);
    let matrix = swap(matrix, 14, 0x0000_cccc_0000_cccc);
    swap(matrix, 28, 0x0000_0000_f0f0_f0f0)
}

/// Decodes LZF, h5py's own filter. It is here since no library that is kept up has it.
fn lzf(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    let cut = || corrupt("a chunk compressed with LZF is damaged");
    let mut decoded = Vec::new();
    decoded.try_reserve_exact(size).map_err(|_| corrupt("a chunk is too large"))?;
    let mut at = 0;
    while let Some(&control) = bytes.get(at) {
        let control = usize::from(control);
        at += 1;
        if control < 32 {
            let literal = bytes.get(at..at + control + 1).ok_or_else(cut)?;
            decoded.extend_from_slice(literal);
            at += literal.len();
        } else {
            let mut length = control >> 5;
            if length == 7 {
                length += usize::from(*bytes.get(at).ok_or_else(cut)?);
                at += 1;
            }
            let low = usize::from(*bytes.get(at).ok_or_else(cut)?);
            at += 1;
            let distance = ((control & 31) << 8 | low) + 1;
            let start = decoded.len().checked_sub(distance).ok_or_else(cut)?;
            for index in 0..length + 2 {
                let byte = decoded[start + index];
                decoded.push(byte);
            }
        }
        if decoded.len() > size {
            return Err(cut());
        }
    }
    if decoded.len() == size { Ok(decoded) } else { Err(cut()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_transposed() {
        // One row of ones becomes one column of ones.
        assert_eq!(transposed(0xff), 0x0101_0101_0101_0101);
        let matrix = 0x0123_4567_89ab_cdef;
        assert_eq!(transposed(transposed(matrix)), matrix);
        let bit = |matrix: u64, row: u32, column: u32| matrix >> (8 * row + column) & 1;
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            assert_eq!(bit(transposed(matrix), column, row), bit(matrix, row, column));
        }
    }

    #[test]
    fn damaged_lzf_is_an_error() {
        assert_eq!(lzf(&[1, b'a', b'b', 0x20, 1], 5).unwrap(), b"ababa");
        for damaged in [&[5, 1][..], &[0x20, 0], &[0xe0], &[0, 1, 0xe0, 255, 0]] {
            assert!(lzf(damaged, 4).is_err(), "{damaged:?}");
        }
    }
}
