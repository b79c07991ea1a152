//! Errors that many codecs have.

use zarrox_core::codec::CodecError;

/// What a compression library that has no type of errors says.
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

/// The error for encoded bytes that want more room than their chunk has.
pub(crate) fn too_large(room: usize) -> CodecError {
    CodecError::overflow(room)
}

/// The error for encoded bytes that end too early.
pub(crate) fn truncated(length: usize) -> CodecError {
    CodecError::corrupt(format!("truncated: {length} bytes are not enough"))
}
