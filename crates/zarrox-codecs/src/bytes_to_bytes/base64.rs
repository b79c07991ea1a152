//! `numcodecs.base64`: encodes bytes as text.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/other/base64.html>
//!
//! It has no configuration.
//!
//! Names: `numcodecs.base64` in v3, `base64` in v2.
//!
//! Encoded bytes: Base64 as in RFC 4648 with the standard alphabet, padded, and without line breaks. Line breaks and other
//! characters outside the alphabet are errors.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeSliceError, Engine};
use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;

use crate::config;
use crate::error::too_large;

/// The definition of `numcodecs.base64`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.base64", CodecKind::BytesToBytes, create)
    .v2_id("base64")
    .with_from_v2(|_, _| Ok(Map::default()));

/// Encodes bytes as Base64 text, which is a third longer, for stores that only accept text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Base64;

impl From<Base64> for CodecSpec {
    fn from(_: Base64) -> Self {
        Self { name: DEF.name.to_owned(), configuration: Map::default() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    Ok(Codec::BytesToBytes(Box::new(Base64)))
}

/// Returns the number of characters that encode this number of bytes.
fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

impl BytesToBytes for Base64 {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        match decoded {
            Size::Exact(bytes) => Size::Exact(encoded_length(bytes)),
            Size::AtMost(bytes) => Size::AtMost(encoded_length(bytes)),
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = encoded.len();
        encoded.resize(start + encoded_length(decoded.len()), 0);
        let written = STANDARD.encode_slice(decoded, &mut encoded[start..]);
        written.map(|_| ()).map_err(|error| CodecError::invalid(error.to_string()).with_source(error))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let room = decoded.len();
        STANDARD.decode_slice(encoded, decoded).map_err(|error| match error {
            DecodeSliceError::OutputSliceTooSmall => too_large(room),
            DecodeSliceError::DecodeError(error) => {
                CodecError::corrupt(format!("invalid base64: {error}")).with_source(error)
            }
        })
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        let padding = encoded.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        (encoded.len() / 4 * 3).checked_sub(padding)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, through_v2};

    #[test]
    fn suite() {
        bytes_to_bytes_suite(&registry(), &Base64.into(), Integrity::Unchecked);
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.Base64().encode(…)` of version 0.15.1.
        let cases: [(&[u8], &str); 6] = [
            (b"", ""),
            (b"a", "YQ=="),
            (b"ab", "YWI="),
            (b"abc", "YWJj"),
            (&[0xfb, 0xff, 0xfe, 0x3f], "+//+Pw=="),
            (&[0; 7], "AAAAAAAAAA=="),
        ];
        for (bytes, text) in cases {
            let mut encoded = Vec::new();
            Base64.encode(bytes, &mut encoded).unwrap();
            assert_eq!(encoded, text.as_bytes());
            assert_eq!(decode(DEF.name, text.as_bytes(), bytes.len()).unwrap(), bytes);
            assert_eq!(Base64.decoded_size(text.as_bytes()), Some(bytes.len()));
        }
    }

    #[test]
    fn other_characters_are_damage() {
        // Without padding, in the URL-safe alphabet, with line breaks, with excess bits, and with characters after the padding.
        for text in [
            "YQ",
            "YQ=",
            "-__-",
            "YWJj\n",
            "YW\nJj",
            "YR==",
            "YQ==YQ==",
            "YWJj=",
            "====",
            "=",
            "\u{e9}\u{e9}",
        ] {
            let error = decode(DEF.name, text.as_bytes(), 100).unwrap_err().to_string();
            assert!(error.starts_with("invalid base64: "), "{text}: {error}");
        }
        assert!(decode(DEF.name, b"YWJj", 2).unwrap_err().is_overflow());
        assert_eq!(Base64.decoded_size(b"="), None);
    }

    #[test]
    fn configurations() {
        assert_eq!(configured(DEF.name, json!({}), Strictness::Strict).unwrap(), json!({}));
        assert_eq!(through_v2("base64", json!({}), 4), (json!({}), json!({})));
    }
}
