//! `numcodecs.zlib`: DEFLATE in a zlib stream of RFC 1950.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/compression/zlib.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (only stored) to 9 (smallest) |
//!
//! Names: `numcodecs.zlib` in v3, `zlib` in v2. Leniently, `level` may be −1, which means 6, and an absent one is 1.

use serde_json::json;
use zarrox_core::codec::{
    BytesToBytes, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, Size, same_to_v2,
};
use zarrox_core::error::CodecError;
use zarrox_core::json::Map;

use crate::config;
use crate::deflate;
use crate::ffi::deflate::{Container, compress};

/// The definition of `numcodecs.zlib`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: "numcodecs.zlib",
    aliases: &[],
    v2_id: Some("zlib"),
    kind: CodecKind::BytesToBytes,
    create,
    from_v2: |members, _| Ok(config::from_v2(members, json!({"level": 1}))),
    to_v2: same_to_v2,
};

/// A zlib stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zlib {
    level: i32,
}

impl Zlib {
    /// Compression level, 0 (only stored) to 9 (smallest).
    pub fn level(level: i32) -> Self {
        Self { level }
    }
}

impl Default for Zlib {
    fn default() -> Self {
        Self::level(1)
    }
}

impl From<Zlib> for CodecSpec {
    fn from(zlib: Zlib) -> Self {
        Self { name: DEF.name.to_owned(), configuration: zlib.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["level"])?;
    let level = config.compression_level(1)?;
    Ok(Codec::BytesToBytes(Box::new(Zlib { level })))
}

impl BytesToBytes for Zlib {
    fn configuration(&self) -> Map {
        config::members(json!({"level": self.level}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        compress(Container::Zlib, self.level, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        deflate::decode(Container::Zlib, encoded, decoded)
    }
}
