//! Errors shared by several codecs.

use zarrox_core::codec::CodecError;

/// The message of a compression library that has no error type.
#[cfg(feature = "zstd")]
#[derive(Debug)]
pub(crate) struct LibraryError(pub(crate) &'static str);

#[cfg(feature = "zstd")]
impl std::fmt::Display for LibraryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(feature = "zstd")]
impl std::error::Error for LibraryError {}

/// Returns the error for encoded bytes that decode to more bytes than the chunk has.
pub(crate) fn too_large(room: usize) -> CodecError {
    CodecError::overflow(room)
}

/// Returns the error for encoded bytes that end too early.
pub(crate) fn truncated(length: usize) -> CodecError {
    CodecError::corrupt(format!("truncated: {length} bytes are not enough"))
}
