//! `n5_lz4`: LZ4 blocks with the framing that N5 uses, which is that of lz4-java's `LZ4BlockOutputStream`.
//!
//! Specification: <https://github.com/saalfeldlab/n5#file-system-specification>, which leaves the framing to
//! <https://github.com/lz4/lz4-java>.
//!
//! | member | value |
//! |---|---|
//! | `blockSize` | 64 to 2^25: the number of bytes that are compressed to one block |
//!
//! The framing is implemented here: the crate `lz4-java-wrc` would add a second implementation of LZ4 and of its checksum to
//! every build.
//!
//! Names: the codec is only used for N5's `lz4`, inside `n5_default`. In the lenient mode, `blockSize` defaults to 65536, and
//! values below 64 count as 64.
//!
//! Encoded bytes: blocks, each preceded by a 21-byte header. The header consists of the text `LZ4Block`; a byte that contains the
//! method (0x10 for stored, 0x20 for LZ4) and the binary logarithm of the block size minus 10; and the compressed length, the
//! decoded length and the xxHash32 of the decoded bytes, with its upper four bits cleared, all as little-endian `u32`. An empty
//! block ends the stream. In the lenient mode, bytes that do not begin with this text are read as a single LZ4 block without
//! framing, as z5 writes them.

use twox_hash::XxHash32;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::{CodecSpec, Strictness};

#[cfg(feature = "lz4")]
use crate::bytes_to_bytes::ffi::lz4 as block;
#[cfg(not(feature = "lz4"))]
use crate::bytes_to_bytes::pure::lz4 as block;
use crate::config;
use crate::error::too_large;
use crate::error::truncated;

/// The definition of `n5_lz4`.
pub(crate) static DEF: CodecDef = CodecDef::new("n5_lz4", CodecKind::BytesToBytes, create);

/// LZ4 with N5's framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct N5Lz4 {
    block_size: i32,
    /// True if blocks without framing are accepted as well.
    lenient: bool,
}

impl N5Lz4 {
    /// Sets the number of bytes that are compressed to one block, 64 to 2^25.
    pub fn block_size(bytes: i32) -> Self {
        Self { block_size: bytes, lenient: true }
    }
}

impl Default for N5Lz4 {
    fn default() -> Self {
        Self::block_size(DEFAULT)
    }
}

impl From<N5Lz4> for CodecSpec {
    fn from(lz4: N5Lz4) -> Self {
        Self { name: DEF.name.to_owned(), configuration: lz4.configuration() }
    }
}

const DEFAULT: i32 = 1 << 16;
const SMALLEST: i32 = 64;
const LARGEST: i32 = 1 << 25;

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["blockSize"])?;
    let lenient = context.strictness == Strictness::Lenient;
    // z5 writes the number of elements of a chunk, or some other number that it does not use.
    let smallest = if lenient { 0 } else { SMALLEST };
    let block_size = config.integer("blockSize", smallest..=LARGEST, DEFAULT)?.max(SMALLEST);
    Ok(Codec::BytesToBytes(Box::new(N5Lz4 { block_size, lenient })))
}

const MAGIC: &[u8; 8] = b"LZ4Block";
const STORED: u8 = 0x10;
const LZ4: u8 = 0x20;

impl BytesToBytes for N5Lz4 {
    fn configuration(&self) -> Map {
        config::members(json!({"blockSize": self.block_size}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // Other writers may have used the smallest block size.
        let n = decoded.limit();
        let smallest = usize::try_from(SMALLEST).unwrap_or(1);
        Size::AtMost(n.saturating_add(HEADER * (n / smallest + 2)).saturating_add(64 << 10))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let size = usize::try_from(self.block_size).unwrap_or(1).max(1);
        let level = self.level();
        for block in decoded.chunks(size) {
            encode_block(level, block, encoded)?;
        }
        Header { method: STORED, level, compressed: 0, length: 0, checksum: 0 }.append(encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        if self.lenient && !encoded.starts_with(MAGIC) {
            // A block without framing cannot begin with this text, since its first match would refer to bytes before the
            // beginning.
            return block::decompress(encoded, decoded)
                .ok_or_else(|| CodecError::corrupt("neither an LZ4Block stream nor an LZ4 block"));
        }
        let (mut rest, mut length) = (encoded, 0);
        loop {
            let (header, body) = Header::split(rest)?;
            if header.length == 0 {
                return check_end(header, body).map(|()| length);
            }
            decode_block(header, body, &mut decoded[length..])?;
            rest = &body[header.compressed..];
            length += header.length;
        }
    }
}

impl N5Lz4 {
    /// Returns the binary logarithm of the block size, rounded up, minus 10.
    fn level(self) -> u8 {
        let bits = u32::BITS - (self.block_size.max(1) - 1).unsigned_abs().leading_zeros();
        u8::try_from(bits.saturating_sub(10)).unwrap_or(0x0f).min(0x0f)
    }
}

const HEADER: usize = 21;

/// The header of a block.
#[derive(Debug, Clone, Copy)]
struct Header {
    method: u8,
    level: u8,
    compressed: usize,
    length: usize,
    checksum: u32,
}

impl Header {
    fn append(self, encoded: &mut Vec<u8>) {
        encoded.extend(MAGIC);
        encoded.push(self.method | self.level);
        for number in [self.compressed, self.length] {
            encoded.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        encoded.extend(self.checksum.to_le_bytes());
    }

    /// Returns the header at the beginning of the bytes, and the remaining bytes.
    fn split(bytes: &[u8]) -> Result<(Self, &[u8]), CodecError> {
        let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or_else(|| truncated(bytes.len()))?;
        if !header.starts_with(MAGIC) {
            return Err(CodecError::corrupt("a block does not begin where it is expected"));
        }
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let size = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
        let (method, level) = (header[8] & 0xf0, header[8] & 0x0f);
        Ok((Self { method, level, compressed: size(9), length: size(13), checksum: number(17) }, body))
    }
}

fn check_end(header: Header, rest: &[u8]) -> Result<(), CodecError> {
    if header.compressed != 0 || header.checksum != 0 || header.method != STORED {
        return Err(CodecError::corrupt("the last block is damaged"));
    }
    match rest.len() {
        0 => Ok(()),
        more => Err(CodecError::corrupt(format!("{more} bytes follow the last block"))),
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_b28c;
    XxHash32::oneshot(SEED, bytes) & 0x0fff_ffff
}

fn encode_block(level: u8, block: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
    let start = encoded.len();
    let stored = Header {
        method: STORED,
        level,
        compressed: block.len(),
        length: block.len(),
        checksum: checksum(block),
    };
    stored.append(encoded);
    let body = encoded.len();
    let done = block::compress(1, block, encoded)?;
    done.ok_or_else(|| CodecError::unsupported("LZ4 compresses at most 2 GiB; choose smaller blocks"))?;
    let compressed = encoded.len() - body;
    if compressed < block.len() {
        let body = encoded.split_off(body);
        encoded.truncate(start);
        Header { method: LZ4, compressed, ..stored }.append(encoded);
        encoded.extend(body);
    } else {
        encoded.truncate(body);
        encoded.extend_from_slice(block);
    }
    Ok(())
}

/// Decodes a block to the beginning of the remaining output buffer.
fn decode_block(header: Header, body: &[u8], room: &mut [u8]) -> Result<(), CodecError> {
    let block = body.get(..header.compressed).ok_or_else(|| truncated(body.len()))?;
    let left = room.len();
    match header.method {
        STORED if block.len() == header.length => {
            room.get_mut(..block.len()).ok_or_else(|| too_large(left))?.copy_from_slice(block);
        }
        LZ4 => block::decompress_exactly(block, header.length, room)?,
        _ => return Err(CodecError::corrupt("an LZ4 block is damaged")),
    }
    let computed = checksum(&room[..header.length]);
    if computed == header.checksum {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("the checksum is {computed:08x}, but {:08x} is stored", header.checksum)))
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, make, spec};

    #[test]
    fn suite() {
        // The lenient mode also accepts a block without framing, which has no checksum.
        for size in [64, DEFAULT, LARGEST] {
            bytes_to_bytes_suite(&registry(), &N5Lz4::block_size(size).into(), Integrity::Checked);
        }
    }

    /// Returns a handmade block: the text, the method and the level, the lengths, the checksum, and the bytes.
    fn block(token: u8, lengths: [u32; 2], checksum: u32, body: &[u8]) -> Vec<u8> {
        let numbers = [lengths[0], lengths[1], checksum].map(u32::to_le_bytes);
        [b"LZ4Block", &[token][..], numbers.as_flattened(), body].concat()
    }

    #[test]
    fn blocks_by_hand() {
        let plain = b"aaaaaaaaaaaaaaaaaaaaaaaaabcdef";
        // One literal, a match of 24 bytes at an offset of one, and five literals.
        let compressed = hex("1f610100055062636465 66".replace(' ', "").as_str());
        let sum = checksum(plain);
        let end = block(0x16, [0, 0], 0, b"");
        let lz4 = block(0x26, [11, 30], sum, &compressed);
        let stored = block(0x16, [30, 30], sum, plain);
        for whole in [&lz4, &stored] {
            let stream = [whole.clone(), end.clone()].concat();
            assert_eq!(decode("n5_lz4", &stream, 30).unwrap(), plain);
        }
        let both = [lz4.clone(), stored, end.clone()].concat();
        assert_eq!(decode("n5_lz4", &both, 60).unwrap(), plain.repeat(2));
        assert_eq!(decode("n5_lz4", &compressed, 30).unwrap(), plain, "z5 has no framing");
        assert!(make(&spec("n5_lz4", json!({"blockSize": 64})), Strictness::Strict).is_ok_and(|codec| {
            codec.decode(&compressed, &mut [0; 30]).is_err_and(|e| e.to_string().contains("truncated"))
        }));
        let error = |bytes: &[u8]| decode("n5_lz4", bytes, 60).unwrap_err().to_string();
        assert!(error(&lz4).contains("truncated"), "no end");
        let wrong = [block(0x26, [11, 30], sum ^ 1, &compressed), end.clone()].concat();
        assert!(error(&wrong).contains("checksum"));
        assert!(error(&[end, vec![0]].concat()).contains("1 bytes follow"));
    }

    #[test]
    fn the_checksum_is_that_of_lz4_java() {
        // xxHash32 of the empty string and of "a" with lz4-java's seed, as computed by python-xxhash.
        assert_eq!([checksum(b""), checksum(b"a")], [0x0d3b_42d8, 0x02b7_e114]);
    }

    #[test]
    fn configurations() {
        assert_eq!(
            configured("n5_lz4", json!({}), Strictness::Lenient).unwrap(),
            json!({"blockSize": 65536})
        );
        let z5 = json!({"blockSize": 6});
        assert_eq!(configured("n5_lz4", z5.clone(), Strictness::Lenient).unwrap(), json!({"blockSize": 64}));
        assert!(configured("n5_lz4", z5, Strictness::Strict).unwrap_err().contains("'blockSize'"));
        assert_eq!(
            [64, 1024, 1025, DEFAULT, LARGEST].map(|n| N5Lz4::block_size(n).level()),
            [0, 0, 1, 6, 15]
        );
    }
}
