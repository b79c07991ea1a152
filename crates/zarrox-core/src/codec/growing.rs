//! Decoding into a growing buffer. Encoded bytes may declare any decoded size, because one flipped bit can turn a small size into
//! gigabytes. Memory is therefore allocated in proportion to the bytes decoded so far, not to the declared size.

use super::{BytesAccess, BytesToBytes, DecodeStream};
use crate::error::{CodecError, ErrorKind};
use crate::scratch::Scratch;

/// The largest declared size for which memory is allocated at once, in bytes.
const TRUSTED: usize = 8 << 20;

/// The size of the smallest buffer, in bytes.
const LEAST: usize = 64 << 10;

/// Returns the size of the largest buffer that is allocated before any byte has been decoded, in bytes.
fn trusted(encoded: &[u8]) -> usize {
    encoded.len().saturating_mul(2).max(TRUSTED)
}

/// Returns true if a buffer of the declared size may be allocated before any byte has been decoded.
pub fn is_trusted(size: usize, encoded: &[u8]) -> bool {
    size <= trusted(encoded)
}

/// Decodes all bytes, if their decoded size is within the limit.
///
/// # Errors
/// When the codec fails, the decoded bytes exceed the limit, or memory cannot be allocated.
pub fn decode_growing(codec: &dyn BytesToBytes, encoded: &[u8], limit: usize) -> Result<Scratch, CodecError> {
    let (said, trusted) = (codec.decoded_size(encoded), trusted(encoded).min(limit));
    if said.is_none_or(|size| size > trusted)
        && let BytesAccess::Stream(stream) = codec.access()
    {
        match decode_streaming(stream, encoded, limit) {
            // A stream may allocate a window, which decoding to memory does not need.
            Err(error) if error.kind() == ErrorKind::LimitExceeded && said.is_some() => {}
            result => return result,
        }
    }
    let guess = said.unwrap_or_else(|| encoded.len().saturating_mul(4)).max(LEAST);
    let mut room = guess.min(trusted);
    loop {
        let mut decoded = Scratch::with_len(room)?;
        match codec.decode(encoded, &mut decoded) {
            // The buffer was filled, so there are at least this many bytes.
            Err(error) if error.is_overflow() => room = more(room, said, limit)?,
            Err(error) => return Err(error),
            Ok(length) => {
                decoded.truncate(length);
                return Ok(decoded);
            }
        }
    }
}

/// Returns the size of the next buffer if `room` bytes were not enough: twice the size, or the declared size if that is larger
/// than `room` but smaller than twice the size.
fn more(room: usize, said: Option<usize>, limit: usize) -> Result<usize, CodecError> {
    if room >= limit {
        return Err(beyond(limit));
    }
    let next = room.saturating_mul(2).min(limit);
    Ok(said.filter(|&said| said > room).map_or(next, |said| said.min(next)))
}

/// Decodes with a codec that can continue where it stopped, so that no byte is decoded twice.
fn decode_streaming(codec: &dyn DecodeStream, encoded: &[u8], limit: usize) -> Result<Scratch, CodecError> {
    let mut source = encoded;
    let mut stream = codec.decode_stream(&mut source)?;
    let mut decoded = Scratch::with_len(0)?;
    let mut length = 0;
    loop {
        let room = (length + length.clamp(LEAST, TRUSTED)).min(limit);
        decoded.grow(room)?;
        length += stream.fill(&mut decoded[length..])?;
        if length < room {
            decoded.truncate(length);
            return Ok(decoded);
        }
        if room == limit {
            return if stream.fill(&mut [0])? == 0 { Ok(decoded) } else { Err(beyond(limit)) };
        }
    }
}

fn beyond(limit: usize) -> CodecError {
    CodecError::limit(format!("the chunk decodes to more than the limit of {limit} bytes"))
}
