//! Zstandard for whole buffers.

use std::io::Read;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zarrox_core::codec::CodecError;

use crate::error::{too_large, truncated};

/// The number of bytes that are decoded in one step.
const STEP: usize = 1 << 20;

/// Compresses to one frame with a checksum, appending to `encoded`. The level is fixed, and compresses about as much as the
/// library's level 1.
pub(crate) fn compress(
    _level: i32,
    _checksum: bool,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let frame = compress_to_vec(decoded, CompressionLevel::Fastest);
    encoded.try_reserve(frame.len())?;
    encoded.extend(frame);
    Ok(())
}

/// Decompresses all frames, and returns the number of decoded bytes.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
    if encoded.is_empty() {
        return Err(truncated(0));
    }
    let (mut rest, mut written) = (encoded, 0);
    let mut decoder = FrameDecoder::new();
    while !rest.is_empty() {
        match decoder.init(&mut rest) {
            Ok(()) => written += decompress_frame(&mut decoder, &mut rest, decoded, written)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                rest = rest.get(length..).ok_or_else(|| truncated(encoded.len()))?;
            }
            Err(error) => return Err(damaged(error)),
        }
    }
    Ok(written)
}

fn decompress_frame(
    decoder: &mut FrameDecoder,
    rest: &mut &[u8],
    decoded: &mut [u8],
    start: usize,
) -> Result<usize, CodecError> {
    let room = decoded.len();
    let mut written = start;
    while {
        decoder.decode_blocks(&mut *rest, BlockDecodingStrategy::UptoBytes(STEP)).map_err(damaged)?;
        let read = decoder.read(&mut decoded[written..]);
        written +=
            read.map_err(|error| CodecError::corrupt(format!("damaged: {error}")).with_source(error))?;
        if decoder.can_collect() != 0 {
            return Err(too_large(room));
        }
        !decoder.is_finished()
    } {}
    match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
        (Some(stored), Some(found)) if stored != found => {
            Err(CodecError::corrupt("the checksum differs: the data are damaged"))
        }
        _ => Ok(written - start),
    }
}

fn damaged(error: FrameDecoderError) -> CodecError {
    CodecError::corrupt(format!("damaged or truncated: {error}")).with_source(error)
}
