//! A codec of any kind, and functions shared by codec definitions.

use super::{ArrayToArray, ArrayToBytes, BytesToBytes};
use crate::error::CodecError;
use crate::json::Map;

/// The kinds of codecs, by their input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecKind {
    /// Array→array.
    ArrayToArray,
    /// Array→bytes.
    ArrayToBytes,
    /// Bytes→bytes.
    BytesToBytes,
}

/// A codec that is ready for use.
#[derive(Debug)]
pub enum Codec {
    /// An array→array codec.
    ArrayToArray(Box<dyn ArrayToArray>),
    /// An array→bytes codec.
    ArrayToBytes(Box<dyn ArrayToBytes>),
    /// A bytes→bytes codec.
    BytesToBytes(Box<dyn BytesToBytes>),
}

/// The default of [`CodecContext::limit`](super::CodecContext::limit). No known writer creates larger chunks that must be decoded
/// as a whole.
pub const CHUNK_LIMIT: usize = 4 << 30;

/// Serves as [`CodecDef::from_v2`](super::CodecDef::from_v2) for a codec with the same configuration in v2 and v3.
pub fn same_from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    Ok(members.clone())
}

/// Serves as [`CodecDef::to_v2`](super::CodecDef::to_v2) for a codec with the same configuration in v2 and v3.
pub fn same_to_v2(configuration: &Map) -> Result<Map, CodecError> {
    Ok(configuration.clone())
}
