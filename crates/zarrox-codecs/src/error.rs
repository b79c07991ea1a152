//! Errors that many codecs have.

use zarrox_core::error::CodecError;

/// The error for encoded bytes that want more room than their chunk has.
pub(crate) fn too_large(room: usize) -> CodecError {
    CodecError::overflow(room)
}

/// The error for encoded bytes that end too early.
pub(crate) fn truncated(length: usize) -> CodecError {
    CodecError::corrupt(format!("truncated: {length} bytes are not enough"))
}
