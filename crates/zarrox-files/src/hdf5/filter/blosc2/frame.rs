//! [`Frame`]: a header, followed by Blosc2 chunks.

use zarrox::Result;

use super::bytes::{big_size, byte, slice};
use super::chunk;
use crate::input::{corrupt, unsupported};

/// The offsets of fields in a header.
mod at {
    pub(super) const MAGIC: usize = 2;
    pub(super) const HEADER_LENGTH: usize = 10;
    pub(super) const FLAGS: usize = 25;
    pub(super) const KIND: usize = 26;
    pub(super) const SIZE: usize = 29;
    pub(super) const ENCODED_SIZE: usize = 38;
    pub(super) const TYPE_SIZE: usize = 47;
    pub(super) const CHUNK_SIZE: usize = 57;
    pub(super) const LAYERS: usize = 88;
}

/// The latest supported version of the frame format.
const VERSION: u8 = 3;

/// A frame: a header, followed by chunks.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    /// The length of the header, which precedes the chunks.
    header: usize,
    /// The total size of the decoded chunks in bytes.
    size: usize,
    /// The total size of the encoded chunks in bytes.
    encoded: usize,
    /// The size of an element.
    type_size: usize,
    /// The decoded size of each chunk except the last.
    chunk_size: usize,
}

impl<'a> Frame<'a> {
    /// Reads the header.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        if slice(bytes, at::MAGIC, 8)? != b"b2frame\0" {
            return Err(corrupt("a chunk of the filter Blosc2 is not a Blosc2 frame"));
        }
        let flags = byte(bytes, at::FLAGS)?;
        let (version, kind) = (flags & 0xf, byte(bytes, at::KIND)?);
        if version > VERSION || flags >> 4 & 3 != 1 || flags >> 6 != 0 || kind & 0xf != 0 {
            return Err(unsupported(format!(
                "a Blosc2 frame of the version {version} with the flags {flags:#04x} and the kind {kind}"
            )));
        }
        Ok(Self {
            bytes,
            header: big_size(bytes, at::HEADER_LENGTH, 0xd2)?,
            size: big_size(bytes, at::SIZE, 0xd3)?,
            encoded: big_size(bytes, at::ENCODED_SIZE, 0xd3)?,
            type_size: big_size(bytes, at::TYPE_SIZE, 0xd2)?,
            chunk_size: big_size(bytes, at::CHUNK_SIZE, 0xd2)?,
        })
    }

    /// Returns the content of a metalayer.
    pub(super) fn layer(&self, name: &str) -> Result<Option<&'a [u8]>> {
        let header = slice(self.bytes, 0, self.header)?;
        let count = big_size(header, at::LAYERS + 3, 0xde)?;
        let mut at = at::LAYERS + 6;
        for _ in 0..count {
            let length = usize::from(byte(header, at)? & 0x1f);
            let found = slice(header, at + 1, length)?;
            at += 1 + length;
            if found == name.as_bytes() {
                let content = big_size(header, at, 0xd2)?;
                let length = big_size(header, content, 0xc6)?;
                return slice(header, content + 5, length).map(Some);
            }
            at += 5;
        }
        Ok(None)
    }

    /// Decodes all chunks. Returns an error if the decoded size exceeds `most` bytes.
    pub(super) fn decode(&self, most: usize) -> Result<Vec<u8>> {
        if self.size > most {
            return Err(corrupt(format!("a Blosc2 frame has {} bytes, more than {most}", self.size)));
        }
        if self.size == 0 {
            return Ok(Vec::new());
        }
        let count = self.size.div_ceil(self.chunk_size.max(1));
        let end =
            self.header.checked_add(self.encoded).ok_or_else(|| corrupt("a Blosc2 frame is too long"))?;
        if self.chunk_size == 0 || count > self.bytes.len() {
            return Err(corrupt(format!("a Blosc2 frame has {count} chunks of {} bytes", self.chunk_size)));
        }
        let rest = self.bytes.get(end..).ok_or_else(|| corrupt("a Blosc2 frame is truncated"))?;
        let index = chunk::decode(rest, count.saturating_mul(8))?;
        let mut decoded = Vec::new();
        for entry in index.as_chunks::<8>().0 {
            let size = self.chunk_size.min(self.size - decoded.len());
            let part = self.chunk(i64::from_le_bytes(*entry), size)?;
            if decoded.is_empty() {
                decoded = part;
            } else {
                decoded.try_reserve(part.len()).map_err(|_| corrupt("a Blosc2 frame is too large"))?;
                decoded.extend_from_slice(&part);
            }
        }
        Ok(decoded)
    }

    /// Decodes the chunk for an index entry. The entry is either the offset of the chunk from the end of the header, or
    /// has the code of a special value in its most significant byte.
    fn chunk(&self, entry: i64, size: usize) -> Result<Vec<u8>> {
        match usize::try_from(entry) {
            Ok(offset) => {
                let chunks = slice(self.bytes, self.header, self.encoded)?;
                let chunk = chunks.get(offset..).ok_or_else(|| corrupt("a Blosc2 frame is truncated"))?;
                chunk::decode(chunk, size)
            }
            Err(_) => {
                chunk::repeated(u8::try_from(entry >> 56 & 0x7f).unwrap_or_default(), self.type_size, size)
            }
        }
    }
}
