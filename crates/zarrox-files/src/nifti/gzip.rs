//! Gzip-compressed files, which are decompressed to a temporary file for random access.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::sync::Arc;

use flate2::bufread::GzDecoder;
use zarrox::Result;

use crate::input::temporary::{Temporary, writing};
use crate::input::{Input, Reader, corrupt, failed};

/// The magic number of gzip.
pub(super) const SIGNATURE: &[u8] = b"\x1f\x8b";

/// The maximum number of additional bytes, after the needed ones, that are decompressed in order to verify the checksum.
const MOST_REST: u64 = 64 << 20;

/// Decompresses a file. `needed` is called with at most the first `start` bytes, and returns the number of bytes to decompress.
///
/// # Errors
/// [`zarrox::ErrorKind::Corrupt`] if the compressed data is damaged or truncated, or if a checksum does not match. Any
/// other bytes after the compressed data are ignored.
pub(super) fn inflated(
    file: &Arc<Input>,
    start: usize,
    needed: impl FnOnce(&[u8]) -> Result<u64>,
) -> Result<Input> {
    let operation = format!("decompressing '{}'", file.path().display());
    let decoding = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            corrupt(format!("{operation} failed: {error}"))
        }
        _ => failed(&operation, error),
    };
    let mut members =
        Members { decoder: Some(GzDecoder::new(BufReader::new(Reader::new(Arc::clone(file))))) };
    let mut first = Vec::new();
    (&mut members).take(start as u64).read_to_end(&mut first).map_err(decoding)?;
    let rest = needed(&first)?.saturating_sub(first.len() as u64);
    let mut inflated = Temporary::new();
    inflated.write_all(&first).map_err(writing)?;
    io::copy(&mut (&mut members).take(rest), &mut inflated).map_err(decoding)?;
    io::copy(&mut members.take(MOST_REST), &mut io::sink()).map_err(decoding)?;
    inflated.finish(file.name().to_owned())
}

/// The consecutive members of a gzip file.
struct Members {
    /// The decoder of the current member; `None` after the last member.
    decoder: Option<GzDecoder<BufReader<Reader>>>,
}

impl Read for Members {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(bytes)?;
            if count > 0 || bytes.is_empty() {
                return Ok(count);
            }
            let inner = self.decoder.take().map(GzDecoder::into_inner);
            if let Some(mut inner) = inner
                && inner.fill_buf()?.first() == SIGNATURE.first()
            {
                self.decoder = Some(GzDecoder::new(inner));
            }
        }
        Ok(0)
    }
}
