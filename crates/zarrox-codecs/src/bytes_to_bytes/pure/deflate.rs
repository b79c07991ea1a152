//! DEFLATE for whole buffers.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zarrox_core::codec::CodecError;

use crate::bytes_to_bytes::container::Container;
use crate::error::too_large;

/// The binary logarithm of the window size, which is the same for all writers.
const WINDOW_BITS: u8 = 15;

/// Compresses, appending to `encoded`. The level is 0 to 9.
pub(crate) fn compress(
    container: Container,
    level: i32,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let level = Compression::new(u32::try_from(level).unwrap_or_default());
    let mut stream = match container {
        Container::Gzip => Compress::new_gzip(level, WINDOW_BITS),
        Container::Zlib => Compress::new(level, true),
    };
    loop {
        // Incompressible bytes are stored, with five more bytes for each block, so one call suffices.
        encoded.try_reserve(decoded.len() + decoded.len() / 100 + 64)?;
        let rest = decoded.get(to_usize(stream.total_in())..).unwrap_or_default();
        let status = stream.compress_vec(rest, encoded, FlushCompress::Finish);
        let status = status.map_err(|error| {
            CodecError::invalid(format!("compression failed: {error}")).with_source(error)
        })?;
        if status == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// Decompresses one member to the beginning of `decoded`. Returns the number of bytes that were read and the number that were
/// written.
pub(crate) fn decompress(
    container: Container,
    encoded: &[u8],
    decoded: &mut [u8],
) -> Result<(usize, usize), CodecError> {
    let damaged = || CodecError::corrupt("the compressed bytes are damaged or truncated");
    let mut stream = match container {
        Container::Gzip => Decompress::new_gzip(WINDOW_BITS),
        Container::Zlib => Decompress::new(true),
    };
    let status = stream.decompress(encoded, decoded, FlushDecompress::Finish);
    match status.map_err(|error| damaged().with_source(error))? {
        Status::StreamEnd => Ok((to_usize(stream.total_in()), to_usize(stream.total_out()))),
        _ if to_usize(stream.total_in()) < encoded.len() && to_usize(stream.total_out()) == decoded.len() => {
            Err(too_large(decoded.len()))
        }
        _ => Err(damaged()),
    }
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
