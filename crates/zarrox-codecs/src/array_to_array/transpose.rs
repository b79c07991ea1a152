//! `transpose`: permutes the axes of a chunk.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html>
//!
//! | member | value |
//! |---|---|
//! | `order` | the permutation: axis `i` of the encoded chunk is axis `order[i]` of the decoded chunk |
//!
//! Names: `transpose` in v3; v2 has `order` instead. In the lenient mode, `order` may be `"C"` (unchanged) or `"F"` (all axes
//! reversed), as in drafts before September 2023.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{ArrayToArray, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{View, ViewMut};

use crate::config;

const NAME: &str = "transpose";

/// The definition of `transpose`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create);

/// Permutes the axes of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    order: Vec<usize>,
}

impl Transpose {
    /// Stores axis `order[i]` of the decoded chunk as axis `i` of the encoded chunk.
    pub fn order(order: impl Into<Vec<usize>>) -> Self {
        Self { order: order.into() }
    }
}

impl From<Transpose> for CodecSpec {
    fn from(transpose: Transpose) -> Self {
        Self::new(NAME, json!({"order": transpose.order}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["order"])?;
    let ndim = context.chunk.shape().len();
    let order: Vec<usize> = match config.get("order").and_then(Json::as_str).filter(|_| !config.is_strict()) {
        Some("C") => (0..ndim).collect(),
        Some("F") => (0..ndim).rev().collect(),
        _ => {
            config.integers("order")?.into_iter().map(|axis| usize::try_from(axis).unwrap_or(ndim)).collect()
        }
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..ndim) {
        let message = format!("'order' is {order:?}; it should have each of the {ndim} axes once");
        return Err(CodecError::invalid(message));
    }
    let shape: Vec<usize> = order.iter().map(|&axis| context.chunk.shape()[axis]).collect();
    let encoded = context.chunk.with_shape(&shape)?;
    Ok(Codec::ArrayToArray(Box::new(TransposeCodec { order, encoded })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct TransposeCodec {
    order: Vec<usize>,
    encoded: ChunkSpec,
}

impl ArrayToArray for TransposeCodec {
    fn configuration(&self) -> Map {
        config::members(json!({"order": self.order}))
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn permutation(&self) -> Option<&[usize]> {
        Some(&self.order)
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        encoded.copy_from(&decoded.clone().permuted(&self.order), 1);
        Ok(())
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        decoded.reborrow().permuted(&self.order).copy_from(encoded, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::json;
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::{Integrity, array_suite};

    use super::*;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use crate::{Bytes, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let registry = registry();
        array_suite(&registry, &[&[5, 7], &[1, 9], &[64, 33]], Integrity::Unchecked, |_| {
            vec![Transpose::order([1, 0]).into(), Bytes::little().into()]
        });
        array_suite(&registry, &[&[3, 4, 5]], Integrity::Unchecked, |_| {
            let orders = [[1, 2, 0], [0, 2, 1]].map(|order| Transpose::order(order).into());
            orders.into_iter().chain([Bytes::big().into()]).collect()
        });
        array_suite(&registry, &[&[]], Integrity::Unchecked, |_| {
            vec![Transpose::order([]).into(), Bytes::little().into()]
        });
    }

    fn make(order: &Json, strictness: Strictness) -> Result<CodecChain, CodecError> {
        let specs = [spec("transpose", json!({"order": order})), Bytes::big().into()];
        chain(&specs, &chunk(&[1, 2, 3], Storage::Int(4)), &registry(), strictness)
    }

    #[test]
    fn golden() {
        // zarr-python: `TransposeCodec(order=(2, 0, 1))` and `BytesCodec(endian='big')` for the numbers 0 to 5.
        let encoded = hex("000000000000000300000001000000040000000200000005");
        let chain = make(&json!([2, 0, 1]), Strictness::Strict).unwrap();
        let expected: Vec<u8> = (0..6_i32).flat_map(i32::to_ne_bytes).collect();
        assert_eq!(decode_chunk(&chain, &encoded).unwrap(), expected);
    }

    #[test]
    fn encoding_alone_permutes_too() {
        let (registry, chunk) = (registry(), chunk(&[2, 3], Storage::Uint(1)));
        let context =
            CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Lenient, limit: 100 };
        let order = config::members(json!({"order": [1, 0]}));
        let Ok(Codec::ArrayToArray(codec)) = create(&order, &context) else { panic!() };
        let (mut encoded, mut decoded) = ([0; 6], [0; 6]);
        let chunk = View::contiguous(&[0, 1, 2, 3, 4, 5], &[2, 3], 1);
        codec.encode(&chunk, &mut ViewMut::contiguous(&mut encoded, &[3, 2], 1)).unwrap();
        assert_eq!(encoded, [0, 3, 1, 4, 2, 5]);
        let chunk = View::contiguous(&encoded, &[3, 2], 1);
        codec.decode(&chunk, &mut ViewMut::contiguous(&mut decoded, &[2, 3], 1)).unwrap();
        assert_eq!(decoded, [0, 1, 2, 3, 4, 5]);
        assert_eq!(codec.encoded_chunk().shape(), [3, 2]);
    }

    #[test]
    fn configurations() {
        for (name, order) in [("C", json!([0, 1, 2])), ("F", json!([2, 1, 0]))] {
            let chain = make(&json!(name), Strictness::Lenient).unwrap();
            assert_eq!(chain.specs()[0], spec("transpose", json!({"order": order})));
            assert_error(make(&json!(name), Strictness::Strict), ErrorKind::InvalidMetadata, "'order'");
        }
        for bad in [
            json!([0, 1]),
            json!([0, 1, 1]),
            json!([0, 1, 3]),
            json!([0, 1, 2, 3]),
            json!([0, -1, 2]),
            json!("A"),
        ] {
            let error = make(&bad, Strictness::Lenient).unwrap_err().to_string();
            assert!(error.contains("codec 'transpose'") && error.contains("'order'"), "{error}");
        }
    }
}
