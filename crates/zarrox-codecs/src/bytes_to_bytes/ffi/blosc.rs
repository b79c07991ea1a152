//! C-Blosc 1: the functions without global state.

use std::ffi::{CStr, c_int};

use blosc_src::{BLOSC_VERSION_STRING, blosc_compress_ctx, blosc_decompress_ctx};
use zarrox_core::codec::CodecError;

use super::append;

/// The compression parameters of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters {
    /// The compressor.
    pub(crate) compressor: &'static CStr,
    /// The compression level, 0 to 9.
    pub(crate) level: c_int,
    /// The shuffle: 0 for none, 1 for bytes, 2 for bits.
    pub(crate) shuffle: c_int,
    /// The size of an element, in bytes.
    pub(crate) type_size: usize,
    /// The size of a block, in bytes; 0 lets the library choose.
    pub(crate) block_size: usize,
}

/// Returns the version of the library.
pub(crate) fn version() -> String {
    String::from_utf8_lossy(BLOSC_VERSION_STRING).trim_end_matches('\0').to_owned()
}

/// The length of the header.
pub(crate) const HEADER: usize = 16;

/// The sizes that the header of a buffer declares, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    /// The size of the decoded bytes.
    pub(crate) decoded: usize,
    /// The decoded size of a block. The last block may be smaller.
    pub(crate) block: usize,
    /// The size of the buffer, including the header.
    pub(crate) encoded: usize,
}

impl Header {
    /// Reads the header of a buffer of this length. Returns `None` if it is invalid.
    pub(crate) fn read(encoded: &[u8], length: usize) -> Option<Self> {
        Self::parse(encoded).filter(|header| header.is_sane(length))
    }

    fn parse(encoded: &[u8]) -> Option<Self> {
        let header = encoded.first_chunk::<HEADER>()?;
        // The library interprets these numbers as signed.
        let size = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            usize::try_from(i32::from_le_bytes(bytes)).ok()
        };
        Some(Self { decoded: size(4)?, block: size(8)?, encoded: size(12)? })
    }

    /// Returns true if the buffer is safe for the library, which trusts the sizes in the header.
    fn is_sane(self, length: usize) -> bool {
        let blocks = self.decoded == 0 || (1..=self.decoded).contains(&self.block);
        // The header is followed by the offsets of the blocks or, if the buffer is not compressed, by the bytes.
        let least = self.decoded.min(4 * self.decoded.div_ceil(self.block.max(1)));
        blocks && (HEADER.saturating_add(least)..=length).contains(&self.encoded)
    }
}

/// Returns the decoded size of a buffer if its header is valid.
pub(crate) fn decoded_size(encoded: &[u8]) -> Option<usize> {
    Header::read(encoded, encoded.len()).map(|header| header.decoded)
}

/// Compresses, appending to `encoded`. Returns `None` if the input is too large for Blosc.
pub(crate) fn compress(
    parameters: Parameters,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<Option<()>, CodecError> {
    let Parameters { compressor, level, shuffle, type_size, block_size } = parameters;
    // Snappy fails unless its worst case fits, which takes 32 + n + n / 6 bytes after the preceding bytes. The other compressors
    // only need space for the header in addition, because incompressible blocks are stored.
    let worst = if compressor == c"snappy" { 1024 + decoded.len() / 6 } else { 0 };
    let room = decoded.len().checked_add(HEADER + worst).filter(|&room| c_int::try_from(room).is_ok());
    let Some(room) = room else { return Ok(None) };
    // SAFETY: the library reads `decoded` and the name, which ends with a NUL. It writes at most `room` bytes, and if the result
    // is positive, it is the number of bytes written. Threads share no state.
    unsafe {
        append(encoded, room, |target| {
            let written = blosc_compress_ctx(
                level,
                shuffle,
                type_size,
                decoded.len(),
                decoded.as_ptr().cast(),
                target.cast(),
                room,
                compressor.as_ptr(),
                block_size,
                1,
            );
            usize::try_from(written).ok().filter(|&written| written > 0)
        })
    }
}

/// Decompresses into `decoded`, whose length must be the buffer's [`decoded_size`]. Returns false if the buffer is damaged.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> bool {
    if decoded_size(encoded) != Some(decoded.len()) {
        return false;
    }
    // SAFETY: the sizes in the header were checked against the lengths of the two slices. Given these sizes, the library checks
    // every further offset against the slices before it reads or writes there.
    let written = unsafe {
        blosc_decompress_ctx(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), decoded.len(), 1)
    };
    usize::try_from(written) == Ok(decoded.len())
}
