//! Decoding where nobody knows how many bytes it will give. Memory grows with what was decoded: what encoded bytes say of their
//! own size is believed only up to a point, since one flipped bit makes gigabytes of it.

use super::{BytesAccess, BytesToBytes, DecodeStream};
use crate::error::{CodecError, ErrorKind};
use crate::scratch::Scratch;

/// Memory that is taken on the word of encoded bytes alone, in bytes.
const BELIEVED: usize = 8 << 20;

/// The least room that is tried.
const LEAST: usize = 64 << 10;

/// Memory that may be taken before anything was decoded, in bytes.
fn believed(encoded: &[u8]) -> usize {
    encoded.len().saturating_mul(2).max(BELIEVED)
}

/// True where encoded bytes may be given a buffer of the size that is said to be theirs before anything was decoded.
pub fn is_believed(size: usize, encoded: &[u8]) -> bool {
    size <= believed(encoded)
}

/// Decodes all of the bytes, however many it gives, within the limit.
///
/// # Errors
/// When the codec fails, when there are more bytes than the limit allows, and when there is no memory for them.
pub fn decode_growing(codec: &dyn BytesToBytes, encoded: &[u8], limit: usize) -> Result<Scratch, CodecError> {
    let (said, believed) = (codec.decoded_size(encoded), believed(encoded).min(limit));
    if said.is_none_or(|size| size > believed)
        && let BytesAccess::Stream(stream) = codec.access()
    {
        match decode_streaming(stream, encoded, limit) {
            // A stream may want a window, for which there is no need where the whole is in memory.
            Err(error) if error.kind() == ErrorKind::LimitExceeded && said.is_some() => {}
            result => return result,
        }
    }
    let guess = said.unwrap_or_else(|| encoded.len().saturating_mul(4)).max(LEAST);
    let mut room = guess.min(believed);
    loop {
        let mut decoded = Scratch::with_len(room)?;
        match codec.decode(encoded, &mut decoded) {
            // The room was filled: that much there is.
            Err(error) if error.is_overflow() => room = more(room, said, limit)?,
            Err(error) => return Err(error),
            Ok(length) => {
                decoded.truncate(length);
                return Ok(decoded);
            }
        }
    }
}

/// More room than was too little: twice as much, but first no more than is said to suffice.
fn more(room: usize, said: Option<usize>, limit: usize) -> Result<usize, CodecError> {
    if room >= limit {
        return Err(beyond(limit));
    }
    let next = room.saturating_mul(2).min(limit);
    Ok(said.filter(|&said| said > room).map_or(next, |said| said.min(next)))
}

/// Decodes with a codec that can go on where it stopped: nothing is decoded twice.
fn decode_streaming(codec: &dyn DecodeStream, encoded: &[u8], limit: usize) -> Result<Scratch, CodecError> {
    let mut source = encoded;
    let mut stream = codec.decode_stream(&mut source)?;
    let mut decoded = Scratch::with_len(0)?;
    let mut length = 0;
    loop {
        let room = (length + length.clamp(LEAST, BELIEVED)).min(limit);
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
