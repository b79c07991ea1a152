//! `transpose`: the axes of a chunk in another order.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html>
//!
//! | member | value |
//! |---|---|
//! | `order` | a permutation: axis `i` of the encoded chunk is axis `order[i]` of the decoded one |
//!
//! Names: `transpose` in v3; v2 says it with `order`. Leniently, `order` may be `"C"` (as it is) or `"F"`
//! (all axes reversed), as drafts before September 2023 had it.

use serde_json::json;
use zarrox_core::codec::{
    ArrayToArray, ChunkSpec, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, same_from_v2, same_to_v2,
};
use zarrox_core::error::CodecError;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{View, ViewMut};

use crate::config;

const NAME: &str = "transpose";

/// The definition of `transpose`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: NAME,
    aliases: &[],
    v2_id: None,
    kind: CodecKind::ArrayToArray,
    create,
    from_v2: same_from_v2,
    to_v2: same_to_v2,
};

/// The axes in another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    order: Vec<usize>,
}

impl Transpose {
    /// Axis `i` of the encoded chunk is axis `order[i]` of the decoded one.
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
    let decoded = context.chunk.clone();
    let shape: Vec<usize> = order.iter().map(|&axis| decoded.shape()[axis]).collect();
    let encoded = decoded.with_shape(&shape)?;
    Ok(Codec::ArrayToArray(Box::new(TransposeCodec { order, decoded, encoded })))
}

/// The codec for one kind of chunk.
#[derive(Debug)]
struct TransposeCodec {
    order: Vec<usize>,
    decoded: ChunkSpec,
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

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        let source = View::contiguous(decoded, self.decoded.shape(), self.decoded.item());
        let mut target = ViewMut::contiguous(encoded, self.encoded.shape(), self.encoded.item());
        target.copy_from(&source.permuted(&self.order), 1);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        let source = View::contiguous(encoded, self.encoded.shape(), self.encoded.item());
        let target = ViewMut::contiguous(decoded, self.decoded.shape(), self.decoded.item());
        target.permuted(&self.order).copy_from(&source, 1);
        Ok(())
    }
}
