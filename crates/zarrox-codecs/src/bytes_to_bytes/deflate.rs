//! The parts that `gzip` and `zlib` share.

use zarrox_core::codec::CodecError;

use crate::bytes_to_bytes::container::Container;
#[cfg(feature = "libdeflate")]
use crate::bytes_to_bytes::ffi::deflate::decompress;
#[cfg(not(feature = "libdeflate"))]
use crate::bytes_to_bytes::pure::deflate::decompress;

/// Decodes all members. Zeros may follow the last member, because some writers pad files with zeros.
pub(crate) fn decode(container: Container, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
    let (mut rest, mut length) = (encoded, 0);
    loop {
        let (read, written) = decompress(container, rest, &mut decoded[length..])?;
        rest = &rest[read..];
        length += written;
        if rest.iter().all(|&byte| byte == 0) {
            return Ok(length);
        }
        // Only gzip files are concatenated.
        if container == Container::Zlib {
            return Err(CodecError::corrupt(format!("{} bytes follow the end of the stream", rest.len())));
        }
    }
}
