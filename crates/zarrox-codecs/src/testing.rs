//! Test helpers for all codecs.

pub(crate) mod filters;
pub(crate) mod objects;

use zarrox_core::codec::{BytesToBytes, ChunkSpec, Codec, CodecContext, CodecError, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::json::Json;
use zarrox_core::json::json;
use zarrox_core::strided::{Span, ViewMut};
use zarrox_core::{CodecChain, CodecSpec, FillValue, Registry, Strictness};

use crate::registry;

/// Returns a codec, given its v3 name and its configuration.
pub(crate) fn spec(name: &str, configuration: Json) -> CodecSpec {
    CodecSpec::new(name, configuration)
}

/// Returns the bytes that hexadecimal digits represent.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Returns the data for most golden bytes: 1000 little-endian `u16` numbers, namely a hundred 0s, a hundred 1s, and so on up to
/// 9.
pub(crate) fn steps() -> Vec<u8> {
    (0..1000_u16).flat_map(|i| (i / 100).to_le_bytes()).collect()
}

/// Returns the specification of a chunk with this shape and element layout.
pub(crate) fn chunk(shape: &[u64], storage: Storage) -> ChunkSpec {
    let fill = FillValue::zero(storage.size());
    ChunkSpec::new(shape, storage, fill).unwrap()
}

/// Creates a bytes→bytes codec for two-byte elements.
pub(crate) fn make(spec: &CodecSpec, strictness: Strictness) -> Result<Box<dyn BytesToBytes>, CodecError> {
    let (registry, chunk) = (registry(), chunk(&[1000], Storage::Uint(2)));
    let context = CodecContext { chunk: &chunk, registry: &registry, strictness, limit: 1 << 30 };
    match (registry.codec(&spec.name).unwrap().create)(&spec.configuration, &context)? {
        Codec::BytesToBytes(codec) => Ok(codec),
        other => panic!("{other:?}"),
    }
}

/// Returns the complete configuration of a codec that was created from the given configuration, or the error message.
pub(crate) fn configured(name: &str, configuration: Json, strictness: Strictness) -> Result<Json, String> {
    let codec = make(&spec(name, configuration), strictness).map_err(|e| e.to_string())?;
    Ok(Json::Object(codec.configuration()))
}

/// Decodes with a codec that was created from an empty configuration.
pub(crate) fn decode(name: &str, encoded: &[u8], size: usize) -> Result<Vec<u8>, CodecError> {
    let mut decoded = vec![0; size];
    let length = make(&spec(name, json!({})), Strictness::Lenient)?.decode(encoded, &mut decoded)?;
    decoded.truncate(length);
    Ok(decoded)
}

/// Converts v2 members to a v3 configuration, and that back to v2 members. Returns both results.
pub(crate) fn through_v2(id: &str, members: Json, item: usize) -> (Json, Json) {
    let registry = registry();
    let members = crate::config::members(members);
    let def = registry.codec_from_v2(id, &members).unwrap();
    let v3 = (def.from_v2)(&members, item).unwrap();
    let v2 = (def.to_v2)(&v3).unwrap();
    (v3.into(), v2.into())
}

/// Builds the codec pipeline for chunks of one shape and data type.
pub(crate) fn chain(
    specs: &[CodecSpec],
    chunk: &ChunkSpec,
    registry: &Registry,
    strictness: Strictness,
) -> Result<CodecChain, CodecError> {
    CodecChain::new(specs, &CodecContext { chunk, registry, strictness, limit: 1 << 30 })
}

/// Decodes a whole chunk.
pub(crate) fn decode_chunk(chain: &CodecChain, encoded: &[u8]) -> Result<Vec<u8>, CodecError> {
    let chunk = chain.chunk();
    let mut decoded = vec![0; chunk.size()];
    let region = chunk.shape().iter().map(|&length| Span::all(length)).collect();
    let out = ViewMut::contiguous(&mut decoded, chunk.shape(), chunk.item());
    chain.decode(encoded, ReadRegion::new(region, out))?;
    Ok(decoded)
}
