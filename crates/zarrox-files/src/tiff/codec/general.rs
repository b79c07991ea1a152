//! General-purpose decompression with a size limit.

use std::io::Read;

use zarrox::Result;
use zarrox::codec::BytesToBytes as _;
use zarrox::codecs::Zlib;

use crate::input::{corrupt, zeroed};

/// The maximum expansion ratio of DEFLATE.
const DEFLATE_RATIO: usize = 1032;

pub(super) fn damaged(error: &dyn std::fmt::Display) -> zarrox::Error {
    corrupt(format!("a strip or tile is damaged: {error}"))
}

/// Inflates at most `size` bytes of a zlib stream.
pub(super) fn inflated(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    match inflated_at_once(bytes, size)? {
        Some(out) => Ok(out),
        // The limit is one byte larger, so that the decoder reaches and verifies the checksum of a stream of `size` bytes.
        None => limited(flate2::read::ZlibDecoder::new(bytes), size.saturating_add(1)),
    }
}

/// Inflates a stream that decodes to at most `size` bytes and has no trailing bytes. This takes half the time. Returns
/// `None` for other streams.
fn inflated_at_once(bytes: &[u8], size: usize) -> Result<Option<Vec<u8>>> {
    if size / DEFLATE_RATIO > bytes.len() {
        return Ok(None);
    }
    let mut out = zeroed(size)?;
    let Ok(length) = Zlib::default().decode(bytes, &mut out) else { return Ok(None) };
    out.truncate(length);
    Ok(Some(out))
}

pub(super) fn unzstd(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    limited(zstd::Decoder::with_buffer(bytes).map_err(|error| damaged(&error))?, size)
}

/// Reads at most `size` bytes.
pub(super) fn limited(decoder: impl Read, size: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder.take(size as u64).read_to_end(&mut out).map_err(|error| damaged(&error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn streams_are_inflated_up_to_the_wanted_size() {
        let bytes: Vec<u8> = (0..5000_u32).map(|at| ((at * at) >> 7).to_le_bytes()[0]).collect();
        let stream = deflated(&bytes);
        assert_eq!(inflated(&stream, 5000).unwrap(), bytes);
        // The caller rejects too few bytes and ignores additional bytes.
        assert_eq!(inflated(&stream, 6000).unwrap(), bytes);
        assert!(inflated(&stream, 3000).unwrap().starts_with(&bytes[..3000]));
        assert!(inflated(&stream, 3000).unwrap().len() <= 3001);
        // For a short stream, no more memory is reserved than it can fill.
        assert_eq!(inflated(&stream, usize::MAX).unwrap(), bytes);
        for behind in [&[0, 0][..], &[1, 2, 3]] {
            assert_eq!(inflated(&[&stream, behind].concat(), 5000).unwrap(), bytes);
        }
    }

    #[test]
    fn damaged_streams_are_an_error() {
        let bytes = vec![7; 5000];
        let stream = deflated(&bytes);
        let mut wrong_sum = stream.clone();
        *wrong_sum.last_mut().unwrap() ^= 1;
        let mut wrong_header = stream.clone();
        wrong_header[0] = 0xff;
        for damaged in [&wrong_sum[..], &wrong_header, &stream[..stream.len() - 1], &stream[..5], &[]] {
            let error = inflated(damaged, 5000).unwrap_err();
            assert!(error.to_string().contains("a strip or tile is damaged"), "{error}");
        }
    }
}
