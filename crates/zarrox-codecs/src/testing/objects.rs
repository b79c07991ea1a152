//! Test helpers for the codecs for Python objects.

use zarrox_core::codec::{ChunkSpec, CodecError, EncodeOptions, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::msgpack;
use zarrox_core::internals::vlen::VlenRef;
use zarrox_core::json::Json;
use zarrox_core::json::json;
use zarrox_core::strided::{Span, ViewMut, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, FillValue, Strictness};
use zarrox_testkit::codec::Random;

use crate::registry;

/// Returns a random object as encoded in memory.
pub(crate) fn random(random: &mut Random) -> Vec<u8> {
    pack(&value(random, 3))
}

fn value(random: &mut Random, levels: usize) -> Json {
    let number = random.below(1 << 20);
    match random.below(if levels > 0 { 9 } else { 6 }) {
        0 => Json::Null,
        1 => number.is_multiple_of(2).into(),
        2 => number.into(),
        3 => (-(number as i64) << (number % 40)).into(),
        4 => (number as f64 / 7.0 * [1e-20, 1e-5, 1.0, 1e15, 1e30][number % 5]).into(),
        5 | 6 => ["", "a", "é\n\"\\", "日本 🧊", "\0"][number % 5].into(),
        7 => (0..number % 4).map(|_| value(random, levels - 1)).collect(),
        _ => json!({"a": value(random, levels - 1), "b": value(random, levels - 1)}),
    }
}

/// Returns an object as encoded in memory.
pub(crate) fn pack(json: &Json) -> Vec<u8> {
    let mut bytes = Vec::new();
    msgpack::from_json(json, &mut bytes).unwrap();
    bytes
}

/// Builds a pipeline of a single codec for chunks of objects.
pub(crate) fn chain(
    codec: &CodecSpec,
    shape: &[u64],
    strictness: Strictness,
) -> Result<CodecChain, CodecError> {
    let chunk = ChunkSpec::new(shape, Storage::Variable, FillValue::new([msgpack::NIL])).unwrap();
    super::chain(std::slice::from_ref(codec), &chunk, &registry(), strictness)
}

/// Encodes a chunk of these elements.
pub(crate) fn encode_with(chain: &CodecChain, elements: &[Vec<u8>]) -> Result<Vec<u8>, CodecError> {
    let vlen = VlenBuffer::new();
    let mut memory = vec![0; elements.len() * VlenRef::SIZE];
    let mut view = chain.chunk().view_mut(&mut memory, &vlen);
    view.set_elements(elements.concat(), elements.iter().map(Vec::len)).unwrap();
    let mut encoded = Vec::new();
    let options = EncodeOptions { store_empty_chunks: true };
    chain.encode(&chain.chunk().view(&memory, &vlen), options, &mut encoded).map(|_| encoded)
}

/// Decodes a whole chunk.
pub(crate) fn decode_with(chain: &CodecChain, encoded: &[u8]) -> Result<Vec<Vec<u8>>, CodecError> {
    let vlen = VlenBuffer::new();
    let mut memory = vec![0; chain.chunk().size()];
    let region = chain.chunk().shape().iter().map(|&length| Span::all(length)).collect();
    let out: ViewMut<'_> = chain.chunk().view_mut(&mut memory, &vlen);
    chain.decode(encoded, ReadRegion::new(region, out))?;
    Ok(memory.chunks_exact(VlenRef::SIZE).map(|reference| vlen.element(reference).to_vec()).collect())
}

/// Encodes a chunk of these elements with one codec.
pub(crate) fn encode_elements(
    codec: &CodecSpec,
    shape: &[u64],
    elements: &[Vec<u8>],
) -> Result<Vec<u8>, CodecError> {
    encode_with(&chain(codec, shape, Strictness::Lenient)?, elements)
}

/// Decodes a chunk with one codec.
pub(crate) fn decode_elements(
    codec: &CodecSpec,
    shape: &[u64],
    encoded: &[u8],
) -> Result<Vec<Vec<u8>>, CodecError> {
    decode_with(&chain(codec, shape, Strictness::Lenient)?, encoded)
}

/// Encodes a chunk that contains a list of objects.
pub(crate) fn encode(codec: &CodecSpec, shape: &[u64], values: &Json) -> Result<Vec<u8>, CodecError> {
    let elements: Vec<Vec<u8>> = values.as_array().unwrap().iter().map(pack).collect();
    encode_elements(codec, shape, &elements)
}

/// Decodes a chunk into a list of objects.
pub(crate) fn decode(codec: &CodecSpec, shape: &[u64], encoded: &[u8]) -> Result<Json, CodecError> {
    decode_elements(codec, shape, encoded)?.iter().map(|element| msgpack::to_json(element)).collect()
}
