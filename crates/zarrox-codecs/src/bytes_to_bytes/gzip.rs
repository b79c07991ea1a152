//! `gzip`: DEFLATE in a gzip file (RFC 1952).
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (uncompressed) to 9 (smallest) |
//!
//! Names: `gzip` in v3 (also `numcodecs.gzip`), `gzip` in v2. In the lenient mode, `level` may be −1, which means 6, and defaults
//! to 1, which is the default of numcodecs: no other writer omits it.
//!
//! Files that consist of several members can be read. The last member may be followed by zeros.

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

/// The definition of `gzip`.
pub(crate) static DEF: CodecDef = CodecDef::new("gzip", CodecKind::BytesToBytes, create)
    .aliases(&["numcodecs.gzip"])
    .v2_id("gzip")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"level": 1}))));

/// gzip: slow, but supported everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gzip {
    level: i32,
}

impl Gzip {
    /// Creates the codec with a compression level, 0 (uncompressed) to 9 (smallest).
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
    let level = config.compression_level(1)?;
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

    /// Returns the decoded size that is stored at the end of the last member.
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(*encoded.last_chunk()?)).ok()
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, steps, through_v2};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        for level in [0, 1, 5, 9] {
            bytes_to_bytes_suite(&registry(), &Gzip::level(level).into(), Integrity::Checked);
        }
    }

    /// The result of `numcodecs.GZip(5)` in `tests/golden/make.py`.
    const GOLDEN: &str = "1f8b08003daf016b00ffddc1010100200800202d4bfb7fb81f408421910bb991853cc88b6ce4201ff203f50a\
         27bbd0070000";

    #[test]
    fn golden() {
        assert_eq!(decode("gzip", &hex(GOLDEN), 2000).unwrap(), steps());
    }

    #[test]
    fn members_are_concatenated_and_padded() {
        let two = [hex(GOLDEN), hex(GOLDEN), vec![0; 512]].concat();
        assert_eq!(decode("gzip", &two, 4000).unwrap(), steps().repeat(2));
        let error = decode("gzip", &two, 3999).unwrap_err().to_string();
        assert!(error.contains("more than"), "{error}");
        assert_error(decode("gzip", &[hex(GOLDEN), vec![1]].concat(), 2000), ErrorKind::Corrupt, "damaged");
        assert_error(decode("gzip", &[], 0), ErrorKind::Corrupt, "damaged or truncated");
    }

    #[test]
    fn configurations() {
        let lenient = |json| configured("gzip", json, Strictness::Lenient);
        assert_eq!(lenient(json!({})).unwrap(), json!({"level": 1}));
        assert_eq!(lenient(json!({"level": -1})).unwrap(), json!({"level": 6}));
        assert_eq!(lenient(json!({"level": null})).unwrap(), json!({"level": 1}));
        for bad in [json!({"level": 10}), json!({"level": "5"}), json!({"level": 5.5})] {
            let error = lenient(bad).unwrap_err();
            assert!(error.contains("'level'") && error.contains("to 9"), "{error}");
        }
        let strict = configured("gzip", json!({}), Strictness::Strict).unwrap_err();
        assert_eq!(strict, "the configuration lacks 'level'");
        assert_eq!(through_v2("gzip", json!({}), 2).1, json!({"level": 1}));
    }
}
