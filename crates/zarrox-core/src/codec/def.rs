//! The definition of a codec: its names, and how it is made from metadata.

use super::{ArrayToArray, ArrayToBytes, BytesToBytes, ChunkSpec, CodecSpec};
use crate::error::CodecError;
use crate::json::Map;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// What a codec turns into what.
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

/// What a codec may know when it is made.
#[derive(Debug, Clone, Copy)]
pub struct CodecContext<'a> {
    /// The chunk as it reaches this codec; for a bytes-to-bytes codec, as it reached the array-to-bytes one.
    pub chunk: &'a ChunkSpec,
    /// For codecs that hold chains of their own.
    pub registry: &'a Registry,
    /// How forgiving to be about the configuration.
    pub strictness: Strictness,
    /// The most memory, in bytes, that decoding one chunk may take for a buffer.
    pub limit: usize,
}

/// The default of [`CodecContext::limit`]: no writer makes chunks that have to be decoded whole this large.
pub const CHUNK_LIMIT: usize = 4 << 30;

/// The definition of a codec: its names, its kind, and how its configuration is read in each format.
#[derive(Debug)]
pub struct CodecDef {
    /// The name in v3 metadata.
    pub name: &'static str,
    /// Other names that v3 metadata is known to use.
    pub aliases: &'static [&'static str],
    /// The `id` in v2 metadata, if v2 has this codec. Two may share it: each refuses in `from_v2` what is the other's.
    pub v2_id: Option<&'static str>,
    /// What it turns into what.
    pub kind: CodecKind,
    /// Makes the codec from its v3 configuration.
    pub create: fn(&Map, &CodecContext<'_>) -> Result<Codec, CodecError>,
    /// Turns v2's members (without `id`) into a v3 configuration, for elements of this many bytes.
    pub from_v2: fn(&Map, usize) -> Result<Map, CodecError>,
    /// Turns a v3 configuration into v2's members (without `id`).
    pub to_v2: fn(&Map) -> Result<Map, CodecError>,
}

/// For [`CodecDef::from_v2`] of a codec whose configuration is the same in both formats.
pub fn same_from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    Ok(members.clone())
}

/// For [`CodecDef::to_v2`] of a codec whose configuration is the same in both formats.
pub fn same_to_v2(configuration: &Map) -> Result<Map, CodecError> {
    Ok(configuration.clone())
}

impl CodecSpec {
    /// Makes the codec, and says which name it should be written by and errors should call it.
    ///
    /// # Errors
    /// When the codec is not known or its configuration does not fit, and, strictly, for another than its own name.
    pub fn create(&self, context: &CodecContext<'_>) -> Result<(&'static str, Codec), CodecError> {
        let def = context.registry.codec(&self.name);
        let def = def.map_err(|error| CodecError::unsupported(error.to_string()))?;
        let name = def.name;
        if context.strictness == Strictness::Strict && self.name != name {
            let message = format!(
                "'{}' is another name of the codec '{name}', which only lenient reading takes",
                self.name
            );
            return Err(CodecError::invalid(message));
        }
        let codec = (def.create)(&self.configuration, context).map_err(|e| e.in_codec(name))?;
        let name = match &codec {
            Codec::BytesToBytes(codec) => codec.name().unwrap_or(name),
            _ => name,
        };
        Ok((name, codec))
    }
}
