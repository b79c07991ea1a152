//! LZ4: single blocks.

use std::ffi::{c_char, c_int};

use lz4_sys::{LZ4_compress_fast, LZ4_compressBound, LZ4_decompress_safe, LZ4_versionNumber};
use zarrox_core::codec::CodecError;

use super::append;
use crate::error::too_large;

unsafe extern "C" {
    /// Decompresses the beginning of a block. The crate `lz4-sys` does not declare this function.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        target: *mut c_char,
        length: c_int,
        wanted: c_int,
        room: c_int,
    ) -> c_int;
}

/// Returns the version of the library.
pub(crate) fn version() -> String {
    // SAFETY: the function has no parameters and returns a constant.
    let number = unsafe { LZ4_versionNumber() };
    format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
}

/// Compresses to one block, appending to `encoded`. Returns `None` if the input is too large for LZ4.
pub(crate) fn compress(
    acceleration: c_int,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<Option<()>, CodecError> {
    let Ok(length) = c_int::try_from(decoded.len()) else { return Ok(None) };
    // SAFETY: the call has no preconditions. It returns 0 if the size is too large.
    let bound = unsafe { LZ4_compressBound(length) };
    let Some(room) = usize::try_from(bound).ok().filter(|&room| room > 0) else { return Ok(None) };
    // SAFETY: the library reads `decoded` and writes at most `bound` bytes. It returns the number of bytes written, or 0 on
    // failure.
    unsafe {
        append(encoded, room, |target| {
            let written =
                LZ4_compress_fast(decoded.as_ptr().cast(), target.cast(), length, bound, acceleration);
            usize::try_from(written).ok().filter(|&written| written > 0)
        })
    }
}

/// Decompresses one block to the beginning of `decoded`. Returns the number of decoded bytes, or `None` if the block is damaged
/// or does not fit.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let length = c_int::try_from(encoded.len()).ok()?;
    let room = c_int::try_from(decoded.len()).ok()?;
    // SAFETY: the library only reads and writes within the two slices, whatever the bytes are.
    let written =
        unsafe { LZ4_decompress_safe(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), length, room) };
    usize::try_from(written).ok()
}

/// Decompresses a block whose declared size is `size` bytes to the beginning of `decoded`. Since the declared size may be wrong,
/// the error is an overflow only if the block really has more bytes than fit.
pub(crate) fn decompress_exactly(encoded: &[u8], size: usize, decoded: &mut [u8]) -> Result<(), CodecError> {
    let room = decoded.len();
    let (written, whole) = if size <= room {
        (decompress(encoded, &mut decoded[..size]), size)
    } else {
        (decompress_front(encoded, decoded), room)
    };
    match written {
        Some(written) if written == whole && size <= room => Ok(()),
        Some(written) if written == whole => Err(too_large(room)),
        _ => Err(CodecError::corrupt("the LZ4 block is damaged or truncated")),
    }
}

/// Decompresses as much of a block as fits. Returns the number of decoded bytes, or `None` if that part is damaged.
fn decompress_front(encoded: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let length = c_int::try_from(encoded.len()).ok()?;
    let room = c_int::try_from(decoded.len()).ok()?;
    let (source, target) = (encoded.as_ptr().cast(), decoded.as_mut_ptr().cast());
    // SAFETY: the library only reads and writes within the two slices, whatever the bytes are.
    let written = unsafe { LZ4_decompress_safe_partial(source, target, length, room, room) };
    usize::try_from(written).ok()
}
