//! `numcodecs.zlib`: DEFLATE in a zlib stream (RFC 1950).
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/compression/zlib.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (uncompressed) to 9 (smallest) |
//!
//! Names: `numcodecs.zlib` in v3, `zlib` in v2. In the lenient mode, `level` may be −1, which means 6, and defaults to 1.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;
use zarrox_core::json::json;

use crate::bytes_to_bytes::container::Container;
use crate::bytes_to_bytes::deflate;
#[cfg(feature = "libdeflate")]
use crate::bytes_to_bytes::ffi::deflate::compress;
#[cfg(not(feature = "libdeflate"))]
use crate::bytes_to_bytes::pure::deflate::compress;
use crate::config;

/// The definition of `numcodecs.zlib`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.zlib", CodecKind::BytesToBytes, create)
    .v2_id("zlib")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"level": 1}))));

/// zlib: DEFLATE with a short header and a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zlib {
    level: i32,
}

impl Zlib {
    /// Creates the codec with a compression level, 0 (uncompressed) to 9 (smallest).
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

#[cfg(test)]
mod tests {
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{decode, hex, steps, through_v2};

    #[test]
    fn suite() {
        for level in [0, 1, 9] {
            bytes_to_bytes_suite(&registry(), &Zlib::level(level).into(), Integrity::Checked);
        }
    }

    #[test]
    fn golden() {
        // `numcodecs.Zlib(1)`
        let encoded =
            hex("7801ddc18101802000c0204cadfcff61ff18d030343e1aa7c6a5716b7c357e1a7f8d47e30598b91195");
        assert_eq!(decode("numcodecs.zlib", &encoded, 2000).unwrap(), steps());
        let error = decode("numcodecs.zlib", &encoded.repeat(2), 4000).unwrap_err();
        assert_eq!(error.to_string(), "41 bytes follow the end of the stream");
    }

    #[test]
    fn v2() {
        assert_eq!(through_v2("zlib", json!({}), 2), (json!({"level": 1}), json!({"level": 1})));
    }
}
