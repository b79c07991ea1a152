//! The `packbits` filter of numcodecs, which packs eight booleans into each byte. (The v3 codec `packbits` is a different codec.)
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/packbits.html>
//!
//! It has no configuration. The encoded chunk is flat. Its first byte is the number of padding bits in the last byte. The
//! elements follow: eight in each byte, with the first one in the highest bit.
//!
//! Names: `numcodecs.packbits` in v3; `packbits` in v2. One-byte integers are also packed as booleans: every number other than 0
//! is true, and decodes to 1.

use multiversion::multiversion;
use wide::u8x16;
use zarrox_core::codec::{ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::Storage;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, FillValue};

use crate::config;
use crate::numeric::filter::{EachElement, Filter, WholeChunk};

const NAME: &str = "numcodecs.packbits";

/// The definition of the `packbits` of numcodecs.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .v2_id("packbits")
    .with_from_v2(|_, _| Ok(Map::default()));

/// Packs eight booleans into each byte, like numcodecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackBitsFilter;

impl From<PackBitsFilter> for CodecSpec {
    fn from(_: PackBitsFilter) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    let chunk = context.chunk;
    if !matches!(chunk.storage(), Storage::Bool | Storage::Int(1) | Storage::Uint(1)) {
        return Err(CodecError::unsupported(
            "this codec packs booleans, but the array has another data type",
        ));
    }
    let packed = [1 + chunk.size().div_ceil(8) as u64];
    let encoded = ChunkSpec::new(&packed, Storage::Uint(1), FillValue::zero(1))?;
    let codec = EachElement { configuration: Map::default(), encoded, filter: PackBits };
    Ok(Codec::ArrayToArray(Box::new(WholeChunk(codec))))
}

/// The filter.
#[derive(Debug)]
struct PackBits;

impl Filter for PackBits {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        let Some((padding, packed)) = encoded.split_first_mut() else { return Ok(()) };
        *padding = padding_of(decoded.len());
        let (sixteens, rest) = decoded.as_chunks();
        let (pairs, last) = packed.split_at_mut(2 * sixteens.len());
        pack_all(sixteens, pairs.as_chunks_mut().0);
        let end = pack(std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0)));
        last.copy_from_slice(&end[..last.len()]);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        let Some((&padding, packed)) = encoded.split_first() else { return Ok(()) };
        let expected = padding_of(decoded.len());
        if padding != expected {
            let message = format!("the header gives {padding} bits of padding, but the chunk has {expected}");
            return Err(CodecError::corrupt(message));
        }
        let (eights, rest) = decoded.as_chunks_mut();
        unpack_all(packed, eights);
        if let Some(last) = packed.last() {
            rest.copy_from_slice(&unpack(*last)[..rest.len()]);
        }
        Ok(())
    }
}

/// Returns the number of elements that were packed into these bytes, or `None` if the bytes are not a packed chunk.
pub(crate) fn count(encoded: &[u8]) -> Option<usize> {
    let (&padding, packed) = encoded.split_first()?;
    let count = packed.len().checked_mul(8)?.checked_sub(usize::from(padding))?;
    (padding == padding_of(count)).then_some(count)
}

/// Returns the number of padding bits in the last byte.
fn padding_of(count: usize) -> u8 {
    [0, 7, 6, 5, 4, 3, 2, 1][count % 8]
}

/// The lowest bit of each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The factor that moves each bit of a byte to the highest bit of a separate byte, in reverse order: 1, 2⁹, 2¹⁸, …
const SPREAD: u64 = 0x8040_2010_0804_0201;

#[multiversion(targets("x86_64+avx2"))]
fn pack_all(booleans: &[[u8; 16]], packed: &mut [[u8; 2]]) {
    for (booleans, pair) in booleans.iter().zip(packed) {
        *pair = pack(*booleans);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn unpack_all(packed: &[u8], booleans: &mut [[u8; 8]]) {
    for (byte, booleans) in packed.iter().zip(booleans) {
        *booleans = unpack(*byte);
    }
}

/// Packs sixteen booleans. The first of each eight is in the highest bit.
#[inline(always)]
fn pack(booleans: [u8; 16]) -> [u8; 2] {
    let reversed = std::array::from_fn(|i| booleans[i ^ 7]);
    let [low, high, ..] = u8x16::new(reversed).simd_eq(u8x16::ZERO).to_bitmask().to_le_bytes();
    [!low, !high]
}

/// Unpacks eight booleans.
#[inline(always)]
fn unpack(packed: u8) -> [u8; 8] {
    (u64::from(packed).wrapping_mul(SPREAD) >> 7 & ONES).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::{EncodeOptions, ReadRegion};
    use zarrox_core::json::json;
    use zarrox_core::strided::{Dims, Span, View, ViewMut};
    use zarrox_core::{ErrorKind, Strictness};
    use zarrox_testkit::codec::{Random, slice};

    use super::*;
    use crate::registry;
    use crate::testing::filters as testing;
    use crate::testing::{chain, chunk, decode_chunk, spec};

    #[test]
    fn parts_are_read_and_written() {
        let mut random = Random::new(4);
        for shape in [&[][..], &[1], &[8], &[5, 7], &[3, 4, 4]] {
            let chunk = chunk(shape, Storage::Bool);
            let chain = chain(
                &[PackBitsFilter.into(), spec("bytes", json!({}))],
                &chunk,
                &registry(),
                Strictness::Strict,
            )
            .unwrap();
            let values: Vec<u8> = random.bytes(chunk.size()).into_iter().map(|byte| byte & 1).collect();
            let view = View::contiguous(&values, chunk.shape(), 1);
            let mut encoded = Vec::new();
            chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap();
            assert_eq!(decode_chunk(&chain, &encoded).unwrap(), values);
            let region: Dims<Span> = chunk
                .shape()
                .iter()
                .map(|&n| Span { start: n / 3, step: 2, count: (n - n / 3).div_ceil(2) })
                .collect();
            let counts: Vec<usize> = region.iter().map(|span| span.count).collect();
            let mut part = vec![9; counts.iter().product()];
            let out = ViewMut::contiguous(&mut part, &counts, 1);
            chain.decode(&encoded, ReadRegion::new(region.clone(), out)).unwrap();
            assert_eq!(part, slice(&values, chunk.shape(), 1, &region));
        }
    }

    #[test]
    fn bytes_other_than_booleans_are_true() {
        let encoded =
            testing::encode(&[PackBitsFilter.into()], &Storage::Uint(1), &[9], &[0, 2, 255, 128, 1]);
        assert_eq!(encoded.unwrap(), [3, 0b0111_1000]);
    }

    #[test]
    fn malformed() {
        let decode = |encoded: &[u8]| testing::decode(&[PackBitsFilter.into()], &Storage::Bool, 10, encoded);
        assert_eq!(decode(&[6, 0xff, 0x80]).unwrap(), [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
        for padding in [0, 5, 7, 255] {
            let error = decode(&[padding, 0xff, 0x80]).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.packbits'") && error.contains("padding"), "{error}");
        }
        for damaged in [&[6, 0xff][..], &[6, 0xff, 0x80, 0], &[]] {
            assert_eq!(decode(damaged).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn configurations() {
        testing::configurations(NAME, &Storage::Bool, &json!({}), &[], &[(json!({"bits": 1}), "bits")]);
        for other in [Storage::Int(2), Storage::Float(4), Storage::Variable, Storage::Raw(1)] {
            assert!(testing::decode(&[PackBitsFilter.into()], &other, 10, &[]).is_err(), "{other:?}");
        }
    }
}
