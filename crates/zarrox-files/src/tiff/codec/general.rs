//! General decoders of bytes, with a limit.

use std::io::Read;

use zarrox::Result;

use crate::input::corrupt;

pub(super) fn damaged(error: &dyn std::fmt::Display) -> zarrox::Error {
    corrupt(format!("a strip or a tile is damaged: {error}"))
}

pub(super) fn inflated(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    limited(flate2::read::ZlibDecoder::new(bytes), size)
}

pub(super) fn unzstd(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    limited(zstd::Decoder::with_buffer(bytes).map_err(|error| damaged(&error))?, size)
}

/// Reads at most so many bytes.
pub(super) fn limited(decoder: impl Read, size: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder.take(size as u64).read_to_end(&mut out).map_err(|error| damaged(&error))?;
    Ok(out)
}
