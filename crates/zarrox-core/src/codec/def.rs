//! A codec of any kind, and what definitions of codecs share.

use super::{ArrayToArray, ArrayToBytes, BytesToBytes};
use crate::error::CodecError;
use crate::json::Map;

/// The kinds of codecs, by their input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecKind {
    /// Arrays into arrays.
    ArrayToArray,
    /// An array into bytes.
    ArrayToBytes,
    /// Bytes into bytes.
    BytesToBytes,
}

/// A codec that is ready to work.
#[derive(Debug)]
pub enum Codec {
    /// Arrays into arrays.
    ArrayToArray(Box<dyn ArrayToArray>),
    /// An array into bytes.
    ArrayToBytes(Box<dyn ArrayToBytes>),
    /// Bytes into bytes.
    BytesToBytes(Box<dyn BytesToBytes>),
}

/// The default of [`CodecContext::limit`](super::CodecContext::limit): no writer makes chunks that have to be decoded whole this large.
pub const CHUNK_LIMIT: usize = 4 << 30;

/// For [`CodecDef::from_v2`](super::CodecDef::from_v2) of a codec whose configuration is the same in both formats.
pub fn same_from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    Ok(members.clone())
}

/// For [`CodecDef::to_v2`](super::CodecDef::to_v2) of a codec whose configuration is the same in both formats.
pub fn same_to_v2(configuration: &Map) -> Result<Map, CodecError> {
    Ok(configuration.clone())
}
