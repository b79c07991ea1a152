//! libdeflate: DEFLATE for whole buffers.

use std::cell::RefCell;
use std::ffi::c_int;
use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_compressor, libdeflate_alloc_decompressor, libdeflate_compressor,
    libdeflate_decompressor, libdeflate_free_compressor, libdeflate_free_decompressor,
    libdeflate_gzip_compress, libdeflate_gzip_compress_bound, libdeflate_gzip_decompress_ex,
    libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE, libdeflate_result_LIBDEFLATE_SUCCESS,
    libdeflate_zlib_compress, libdeflate_zlib_compress_bound, libdeflate_zlib_decompress_ex,
};
use zarrox_core::codec::CodecError;

use super::append;
use crate::bytes_to_bytes::container::Container;
use crate::error::too_large;

struct Compressor {
    handle: NonNull<libdeflate_compressor>,
    level: c_int,
}

impl Compressor {
    fn new(level: c_int) -> Result<Self, CodecError> {
        // SAFETY: the function accepts any level. It returns null for an unsupported level.
        let handle = NonNull::new(unsafe { libdeflate_alloc_compressor(level) });
        let handle = handle.ok_or_else(|| CodecError::out_of_memory("not enough memory for a compressor"))?;
        Ok(Self { handle, level })
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the handle is exclusively owned, and is not used again.
        unsafe { libdeflate_free_compressor(self.handle.as_ptr()) }
    }
}

struct Decompressor(NonNull<libdeflate_decompressor>);

impl Decompressor {
    fn new() -> Result<Self, CodecError> {
        // SAFETY: the call has no preconditions.
        let handle = NonNull::new(unsafe { libdeflate_alloc_decompressor() });
        handle.map(Self).ok_or_else(|| CodecError::out_of_memory("not enough memory for a decompressor"))
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the handle is exclusively owned, and is not used again.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
}

/// Compresses, appending to `encoded`. The level is 0 to 9.
pub(crate) fn compress(
    container: Container,
    level: c_int,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let (bound, run): (unsafe extern "C" fn(_, _) -> _, unsafe extern "C" fn(_, _, _, _, _) -> _) =
        match container {
            Container::Gzip => (libdeflate_gzip_compress_bound, libdeflate_gzip_compress),
            Container::Zlib => (libdeflate_zlib_compress_bound, libdeflate_zlib_compress),
        };
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept.take() {
            Some(compressor) if compressor.level == level => kept.insert(compressor),
            _ => kept.insert(Compressor::new(level)?),
        };
        let handle = compressor.handle.as_ptr();
        // SAFETY: the handle is valid, and belongs to this thread.
        let room: usize = unsafe { bound(handle, decoded.len()) };
        // SAFETY: the library reads `decoded` and writes at most `room` bytes. It returns the number of bytes written, or 0 on
        // failure, which cannot occur because `room` is the upper bound.
        let done = unsafe {
            append(encoded, room, |target| {
                let written = run(handle, decoded.as_ptr().cast(), decoded.len(), target.cast(), room);
                (written > 0).then_some(written)
            })
        };
        done?.ok_or_else(|| CodecError::invalid("compression failed"))
    })
}

/// Decompresses one member to the beginning of `decoded`. Returns the number of bytes that were read and the number that were
/// written.
pub(crate) fn decompress(
    container: Container,
    encoded: &[u8],
    decoded: &mut [u8],
) -> Result<(usize, usize), CodecError> {
    let run: unsafe extern "C" fn(_, _, _, _, _, _, _) -> _ = match container {
        Container::Gzip => libdeflate_gzip_decompress_ex,
        Container::Zlib => libdeflate_zlib_decompress_ex,
    };
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new()?),
        };
        let (mut read, mut written) = (0, 0);
        // SAFETY: the handle is valid and belongs to this thread. The library only reads and writes within the two slices,
        // whatever the bytes are.
        let result = unsafe {
            run(
                decompressor.0.as_ptr(),
                encoded.as_ptr().cast(),
                encoded.len(),
                decoded.as_mut_ptr().cast(),
                decoded.len(),
                &raw mut read,
                &raw mut written,
            )
        };
        match result {
            code if code == libdeflate_result_LIBDEFLATE_SUCCESS => Ok((read, written)),
            code if code == libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(too_large(decoded.len())),
            _ => Err(CodecError::corrupt("the compressed bytes are damaged or truncated")),
        }
    })
}
