//! LZ4: single blocks.

use std::ffi::c_int;

use lz4_sys::{LZ4_compress_fast, LZ4_compressBound, LZ4_decompress_safe};

use super::append;

/// Compresses into one block, appending to `encoded`; `None` when the input is too large for LZ4.
pub(crate) fn compress(acceleration: c_int, decoded: &[u8], encoded: &mut Vec<u8>) -> Option<()> {
    let length = c_int::try_from(decoded.len()).ok()?;
    // SAFETY: the call has no preconditions; it gives 0 for what is too large.
    let bound = unsafe { LZ4_compressBound(length) };
    let room = usize::try_from(bound).ok().filter(|&room| room > 0)?;
    // SAFETY: the library reads `decoded` and writes at most `bound` bytes, as many as it returns; 0 is failure.
    unsafe {
        append(encoded, room, |target| {
            let written =
                LZ4_compress_fast(decoded.as_ptr().cast(), target.cast(), length, bound, acceleration);
            usize::try_from(written).ok().filter(|&written| written > 0)
        })
    }
}

/// Decompresses one block into the front of `decoded` and says how many bytes that were; `None` when the block
/// is damaged or does not fit.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let length = c_int::try_from(encoded.len()).ok()?;
    let room = c_int::try_from(decoded.len()).ok()?;
    // SAFETY: the library reads and writes only inside the two slices, whatever the bytes are.
    let written =
        unsafe { LZ4_decompress_safe(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), length, room) };
    usize::try_from(written).ok()
}
