//! `gzip`: DEFLATE in a gzip file of RFC 1952.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (only stored) to 9 (smallest) |
//!
//! Names: `gzip` in v3 (also `numcodecs.gzip`), `gzip` in v2. Leniently, `level` may be −1, which means 6, and an absent one is 5 in v3; in v2 it is 1.
//!
//! Files of several members are read, and so are zeros after the last one.

use serde_json::json;
use zarrox_core::codec::{
    BytesToBytes, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, Size, same_to_v2,
};
use zarrox_core::error::CodecError;
use zarrox_core::json::Map;

use crate::config;
use crate::deflate;
use crate::ffi::deflate::{Container, compress};

/// The definition of `gzip`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: "gzip",
    aliases: &["numcodecs.gzip"],
    v2_id: Some("gzip"),
    kind: CodecKind::BytesToBytes,
    create,
    from_v2: |members, _| Ok(config::from_v2(members, json!({"level": 1}))),
    to_v2: same_to_v2,
};

/// A gzip file: old, slow, and read everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gzip {
    level: i32,
}

impl Gzip {
    /// Compression level, 0 (only stored) to 9 (smallest).
    pub fn level(level: i32) -> Self {
        Self { level }
    }
}

impl Default for Gzip {
    fn default() -> Self {
        Self::level(5)
    }
}

impl From<Gzip> for CodecSpec {
    fn from(gzip: Gzip) -> Self {
        Self { name: DEF.name.to_owned(), configuration: gzip.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["level"])?;
    let level = config.compression_level(5)?;
    Ok(Codec::BytesToBytes(Box::new(Gzip { level })))
}

impl BytesToBytes for Gzip {
    fn configuration(&self) -> Map {
        config::members(json!({"level": self.level}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        compress(Container::Gzip, self.level, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        deflate::decode(Container::Gzip, encoded, decoded)
    }
}
