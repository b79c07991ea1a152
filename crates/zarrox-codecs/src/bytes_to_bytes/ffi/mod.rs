//! Calls into C libraries: all `unsafe` code of this crate.
//!
//! Safe crates for them do not offer the calls that are used here: those of libdeflate that tell how many bytes they read, LZ4's
//! decompression of a part of a block, and those of Blosc without global state.

#[cfg(feature = "blosc")]
pub(crate) mod blosc;
#[cfg(feature = "libdeflate")]
pub(crate) mod deflate;
#[cfg(feature = "lz4")]
pub(crate) mod lz4;

#[cfg(any(feature = "blosc", feature = "libdeflate", feature = "lz4"))]
use zarrox_core::codec::CodecError;

/// Appends what `write` puts into `room` bytes of memory; it says how many those were, if it succeeded.
///
/// # Errors
/// When there is no memory for so many bytes.
///
/// # Safety
/// `write` initialises as many bytes from the pointer on as it says, and those are no more than `room`.
#[cfg(any(feature = "blosc", feature = "libdeflate", feature = "lz4"))]
unsafe fn append(
    encoded: &mut Vec<u8>,
    room: usize,
    write: impl FnOnce(*mut u8) -> Option<usize>,
) -> Result<Option<()>, CodecError> {
    encoded.try_reserve(room)?;
    let Some(written) = write(encoded.spare_capacity_mut().as_mut_ptr().cast()) else { return Ok(None) };
    debug_assert!(written <= room, "the library stays inside the memory that it is given");
    // SAFETY: the capacity was reserved, and the caller's promise is that `written` bytes are initialised.
    unsafe { encoded.set_len(encoded.len() + written) };
    Ok(Some(()))
}
