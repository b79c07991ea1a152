//! Calls to C libraries. This module contains all `unsafe` code of this crate.
//!
//! The safe wrapper crates for these libraries do not provide the functions that are used here: the functions of libdeflate that
//! return how many bytes they read, LZ4's partial decompression of a block, and the functions of Blosc without global state.

#[cfg(feature = "blosc")]
pub(crate) mod blosc;
#[cfg(feature = "libdeflate")]
pub(crate) mod deflate;
#[cfg(feature = "lz4")]
pub(crate) mod lz4;

#[cfg(any(feature = "blosc", feature = "libdeflate", feature = "lz4"))]
use zarrox_core::codec::CodecError;

/// Reserves `room` bytes of memory, and appends the bytes that `write` writes there. `write` returns their number if it succeeds.
///
/// # Errors
/// When memory for `room` bytes cannot be allocated.
///
/// # Safety
/// `write` must initialise as many bytes, starting at the pointer, as it returns. It must return at most `room`.
#[cfg(any(feature = "blosc", feature = "libdeflate", feature = "lz4"))]
unsafe fn append(
    encoded: &mut Vec<u8>,
    room: usize,
    write: impl FnOnce(*mut u8) -> Option<usize>,
) -> Result<Option<()>, CodecError> {
    encoded.try_reserve(room)?;
    let Some(written) = write(encoded.spare_capacity_mut().as_mut_ptr().cast()) else { return Ok(None) };
    debug_assert!(written <= room, "the library should not write beyond the given memory");
    // SAFETY: the capacity was reserved, and the caller guarantees that `written` bytes are initialised.
    unsafe { encoded.set_len(encoded.len() + written) };
    Ok(Some(()))
}
