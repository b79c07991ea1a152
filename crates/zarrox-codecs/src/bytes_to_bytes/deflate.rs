//! The code shared by `gzip` and `zlib`.

use zarrox_core::codec::CodecError;

use crate::bytes_to_bytes::container::Container;
#[cfg(feature = "libdeflate")]
use crate::bytes_to_bytes::ffi::deflate::decompress;
#[cfg(not(feature = "libdeflate"))]
use crate::bytes_to_bytes::pure::deflate::decompress;

/// Decodes all members. The last member may be followed by zeros, because some writers pad files.
pub(crate) fn decode(container: Container, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
    let (mut rest, mut length) = (encoded, 0);
    loop {
        let (read, written) = decompress(container, rest, &mut decoded[length..])?;
        rest = &rest[read..];
        length += written;
        if rest.iter().all(|&byte| byte == 0) {
            return Ok(length);
        }
        // Only gzip files can consist of several members.
        if container == Container::Zlib {
            return Err(CodecError::corrupt(format!("{} bytes follow the end of the stream", rest.len())));
        }
    }
}
