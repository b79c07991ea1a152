//! Test helpers for the filters of numcodecs.

use zarrox_core::codec::{ChunkSpec, CodecError, EncodeOptions};
use zarrox_core::data_type::Storage;
use zarrox_core::json::Json;
use zarrox_core::json::json;
use zarrox_core::strided::View;
use zarrox_core::{CodecChain, CodecSpec, FillValue, Strictness};
use zarrox_testkit::codec::{Integrity, array_suite_of};

use crate::testing::{chain, decode_chunk, spec};
use crate::{Bytes, registry};

/// Builds a codec pipeline of filters for flat chunks.
fn flat(specs: &[CodecSpec], storage: &Storage, fill: &[u8], count: usize) -> Result<CodecChain, CodecError> {
    let chunk = ChunkSpec::new(&[count as u64], storage.clone(), FillValue::new(fill)).unwrap();
    let specs: Vec<CodecSpec> = specs.iter().cloned().chain([Bytes::little().into()]).collect();
    chain(&specs, &chunk, &registry(), Strictness::Lenient)
}

/// Runs the test suite for array codecs with lossless filters for elements of one memory layout.
pub(crate) fn suite_of(storage: &Storage, specs: &[CodecSpec]) {
    let shapes: [&[u64]; 6] = [&[], &[1], &[13], &[6, 7], &[3, 4, 5], &[40, 33]];
    array_suite_of(&registry(), std::slice::from_ref(storage), &shapes, Integrity::Unchecked, |_| {
        specs.iter().cloned().chain([Bytes::big().into()]).collect()
    });
}

/// Encodes elements.
pub(crate) fn encode(
    specs: &[CodecSpec],
    storage: &Storage,
    fill: &[u8],
    elements: &[u8],
) -> Result<Vec<u8>, CodecError> {
    let chain = flat(specs, storage, fill, elements.len() / storage.size())?;
    let view = View::contiguous(elements, chain.chunk().shape(), storage.size());
    let mut encoded = Vec::new();
    chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded)?;
    Ok(encoded)
}

/// Decodes this number of elements.
pub(crate) fn decode(
    specs: &[CodecSpec],
    storage: &Storage,
    count: usize,
    encoded: &[u8],
) -> Result<Vec<u8>, CodecError> {
    decode_chunk(&flat(specs, storage, &vec![0; storage.size()], count)?, encoded)
}

/// Encodes elements, with the fill value 0, and compares all other elements after decoding.
pub(crate) fn round_trip(specs: &[CodecSpec], storage: &Storage, elements: &[u8]) -> Result<(), CodecError> {
    let (size, fill) = (storage.size(), vec![0; storage.size()]);
    let encoded = encode(specs, storage, &fill, elements)?;
    let decoded = decode(specs, storage, elements.len() / size, &encoded)?;
    for (element, back) in elements.chunks_exact(size).zip(decoded.chunks_exact(size)) {
        assert!(element == fill || element == back, "{element:?} decodes to {back:?}");
    }
    Ok(())
}

/// Checks that the strict mode accepts a configuration, that lenient forms are normalised to it, and that invalid configurations
/// cause the right errors.
pub(crate) fn configurations(
    name: &str,
    storage: &Storage,
    written: &Json,
    forms: &[Json],
    bad: &[(Json, &str)],
) {
    let chunk = ChunkSpec::new(&[3], storage.clone(), FillValue::zero(storage.size())).unwrap();
    let made = |configuration: &Json, strictness| {
        let specs = [spec(name, configuration.clone()), Bytes::little().into()];
        let made = chain(&specs, &chunk, &registry(), strictness);
        made.map(|chain| Json::Object(chain.specs()[0].configuration.clone()))
    };
    assert_eq!(made(written, Strictness::Strict).unwrap(), *written);
    for form in forms {
        assert_eq!(made(form, Strictness::Lenient).unwrap(), *written, "{form}");
    }
    let unknown = json!({"nosuch": 1});
    for (bad, says) in bad.iter().chain([&(unknown, "nosuch")]) {
        let error = made(bad, Strictness::Lenient).unwrap_err().to_string();
        assert!(error.contains(&format!("codec '{name}'")) && error.contains(says), "{bad}: {error}");
    }
}
