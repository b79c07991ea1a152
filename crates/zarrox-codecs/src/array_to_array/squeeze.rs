//! `zarrs.squeeze`: removes the axes of length 1 from a chunk.
//!
//! There is no specification: this is an experimental codec of the Rust library zarrs. A chunk without axes, or with only axes of
//! length 1, is encoded with one axis, as in zarrs.
//!
//! It has no configuration. Names: `zarrs.squeeze` in v3 (also `squeeze`); v2 does not have it.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{ArrayToArray, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View, ViewMut};

use crate::array_to_array::reshape::{copy_decoded, copy_encoded};
use crate::config;

const NAME: &str = "zarrs.squeeze";

/// The definition of `zarrs.squeeze`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["squeeze", "https://codec.zarrs.dev/array_to_array/squeeze"]);

/// Removes axes of length 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Squeeze;

impl From<Squeeze> for CodecSpec {
    fn from(_: Squeeze) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    let shape = context.chunk.shape();
    let axes: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    let lengths: Vec<usize> =
        if axes.is_empty() { vec![1] } else { axes.iter().map(|&axis| shape[axis]).collect() };
    let encoded = context.chunk.with_shape(&lengths)?;
    Ok(Codec::ArrayToArray(Box::new(SqueezeCodec { axes, encoded })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct SqueezeCodec {
    /// The axes that are kept.
    axes: Vec<usize>,
    encoded: ChunkSpec,
}

impl ArrayToArray for SqueezeCodec {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        if region.iter().any(|span| span.count == 0) {
            return None;
        }
        if self.axes.is_empty() {
            return Some([Span::all(1)].into_iter().collect());
        }
        Some(self.axes.iter().map(|&axis| region[axis]).collect())
    }

    fn decodes_unchanged(&self) -> bool {
        true
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        copy_encoded(decoded, encoded)
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        copy_decoded(encoded, decoded)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::json;
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::{Integrity, array_suite};

    use super::*;
    use crate::testing::{chain, chunk, decode_chunk, spec};
    use crate::{Bytes, Transpose, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let shapes: &[&[u64]] = &[&[], &[1], &[7], &[1, 6], &[3, 1, 5, 1], &[1, 1, 1]];
        array_suite(&registry(), shapes, Integrity::Unchecked, |_| vec![Squeeze.into(), Bytes::big().into()]);
    }

    fn make(
        shape: &[u64],
        order: &[usize],
        name: &str,
        strictness: Strictness,
    ) -> Result<CodecChain, CodecError> {
        let specs = [spec(name, json!({})), Transpose::order(order).into(), Bytes::little().into()];
        chain(&specs, &chunk(shape, Storage::Uint(1)), &registry(), strictness)
    }

    #[test]
    fn golden() {
        // zarrs 0.23.14, `zarrs.squeeze`, `transpose` and `bytes`: the numbers 0 to 5 in a chunk of shape [1, 3, 1, 2], and 9 in
        // chunks that keep one axis.
        let chain = make(&[1, 3, 1, 2], &[1, 0], NAME, Strictness::Strict).unwrap();
        assert_eq!(decode_chunk(&chain, &[0, 2, 4, 1, 3, 5]).unwrap(), [0, 1, 2, 3, 4, 5]);
        for shape in [&[][..], &[1, 1]] {
            let chain = make(shape, &[0], NAME, Strictness::Strict).unwrap();
            assert_eq!(decode_chunk(&chain, &[9]).unwrap(), [9]);
        }
    }

    #[test]
    fn parts_map_to_parts() {
        let (registry, chunk) = (registry(), chunk(&[1, 6, 1, 4], Storage::Uint(2)));
        let context =
            CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Strict, limit: 1000 };
        let Ok(Codec::ArrayToArray(codec)) = create(&Map::default(), &context) else { panic!() };
        let (rows, columns) = (Span { start: 1, step: 2, count: 2 }, Span { start: 3, step: 1, count: 1 });
        let mapped = codec.encoded_region(&[Span::all(1), rows, Span::all(1), columns]).unwrap();
        assert_eq!(mapped.as_slice(), [rows, columns]);
    }

    #[test]
    fn names() {
        for alias in DEF.aliases {
            assert!(make(&[1, 2], &[0], alias, Strictness::Lenient).is_ok());
            assert_error(
                make(&[1, 2], &[0], alias, Strictness::Strict),
                ErrorKind::InvalidMetadata,
                "an alias of the codec 'zarrs.squeeze'",
            );
        }
        assert_error(
            make(&[1, 2], &[0, 1], NAME, Strictness::Lenient),
            ErrorKind::InvalidMetadata,
            "'order'",
        );
    }
}
