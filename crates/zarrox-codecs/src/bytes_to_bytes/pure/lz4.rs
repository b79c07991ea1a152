//! LZ4: single blocks.

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use zarrox_core::codec::CodecError;

use crate::error::too_large;

/// Compresses to one block, appending to `encoded`. Returns `None` if the input is too large for LZ4. The acceleration is fixed.
pub(crate) fn compress(
    _acceleration: i32,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<Option<()>, CodecError> {
    if i32::try_from(decoded.len()).is_err() {
        return Ok(None);
    }
    let (start, room) = (encoded.len(), get_maximum_output_size(decoded.len()));
    encoded.try_reserve(room)?;
    encoded.resize(start + room, 0);
    let written = compress_into(decoded, &mut encoded[start..])
        .map_err(|error| CodecError::invalid(format!("compression failed: {error}")).with_source(error))?;
    encoded.truncate(start + written);
    Ok(Some(()))
}

/// Decompresses one block to the beginning of `decoded`. Returns the number of decoded bytes, or `None` if the block is damaged
/// or does not fit.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Option<usize> {
    decompress_into(encoded, decoded).ok()
}

/// Decompresses a block whose declared size is `size` bytes to the beginning of `decoded`.
pub(crate) fn decompress_exactly(encoded: &[u8], size: usize, decoded: &mut [u8]) -> Result<(), CodecError> {
    let room = decoded.len();
    let part = decoded.get_mut(..size).ok_or_else(|| too_large(room))?;
    match decompress(encoded, part) {
        Some(written) if written == size => Ok(()),
        _ => Err(CodecError::corrupt("the LZ4 block is damaged or truncated")),
    }
}
