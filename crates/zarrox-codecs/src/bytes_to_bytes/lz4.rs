//! `numcodecs.lz4`: a single LZ4 block, preceded by the decoded size.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/compression/lz4.html>
//!
//! | member | value |
//! |---|---|
//! | `acceleration` | 1 (smallest) or a larger number (faster) |
//!
//! Names: `numcodecs.lz4` in v3, `lz4` in v2. In the lenient mode, `acceleration` defaults to 1.
//!
//! Encoded bytes: the decoded size as a little-endian `u32`, followed by the block.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;
use zarrox_core::json::json;

#[cfg(feature = "lz4")]
use crate::bytes_to_bytes::ffi::lz4 as block;
#[cfg(not(feature = "lz4"))]
use crate::bytes_to_bytes::pure::lz4 as block;
use crate::config;
use crate::error::truncated;

/// The definition of `numcodecs.lz4`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.lz4", CodecKind::BytesToBytes, create)
    .v2_id("lz4")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"acceleration": 1}))));

/// LZ4: very fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lz4 {
    acceleration: i32,
}

impl Lz4 {
    /// Creates the codec with an acceleration: numbers above 1 are faster, but compress less.
    pub fn acceleration(acceleration: i32) -> Self {
        Self { acceleration }
    }
}

impl Default for Lz4 {
    fn default() -> Self {
        Self::acceleration(1)
    }
}

impl From<Lz4> for CodecSpec {
    fn from(lz4: Lz4) -> Self {
        Self { name: DEF.name.to_owned(), configuration: lz4.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["acceleration"])?;
    // The library treats values below 1 as 1.
    let lowest = if config.is_strict() { 1 } else { i32::MIN };
    let acceleration = config.integer("acceleration", lowest..=i32::MAX, 1)?.max(1);
    Ok(Codec::BytesToBytes(Box::new(Lz4 { acceleration })))
}

impl BytesToBytes for Lz4 {
    fn configuration(&self) -> Map {
        config::members(json!({"acceleration": self.acceleration}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let too_much = || CodecError::unsupported("LZ4 compresses at most 2 GiB; choose smaller chunks");
        let length = u32::try_from(decoded.len()).map_err(|_| too_much())?;
        encoded.extend(length.to_le_bytes());
        block::compress(self.acceleration, decoded, encoded)?.ok_or_else(too_much)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let (size, block) = encoded.split_first_chunk().ok_or_else(|| truncated(encoded.len()))?;
        let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
        block::decompress_exactly(block, size, decoded).map(|()| size)
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(*encoded.first_chunk()?)).ok()
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

    #[test]
    fn suite() {
        for acceleration in [1, 100] {
            bytes_to_bytes_suite(&registry(), &Lz4::acceleration(acceleration).into(), Integrity::Unchecked);
        }
    }

    #[test]
    fn golden() {
        // `numcodecs.LZ4()`
        let golden =
            hex("d00700001f000100b41f010200b41f020200b41f030200b41f040200b41f050200b41f060200b41f0702\
             00b41f080200b41f090200af500009000900");
        assert_eq!(decode("numcodecs.lz4", &golden, 2000).unwrap(), steps());
        let mut encoded = Vec::new();
        Lz4::default().encode(&steps(), &mut encoded).unwrap();
        assert_eq!(encoded, golden);
    }

    #[test]
    fn sizes_are_checked() {
        let error = |encoded: &[u8]| decode("numcodecs.lz4", encoded, 100).unwrap_err().to_string();
        assert!(error(&hex("ffffffff00")).contains("damaged"));
        let mut encoded = Vec::new();
        Lz4::default().encode(&[7; 101], &mut encoded).unwrap();
        assert!(decode("numcodecs.lz4", &encoded, 100).unwrap_err().is_overflow());
        assert!(error(&hex("640000")).contains("truncated"));
        assert!(error(&hex("6400000000")).contains("damaged"));
    }

    #[test]
    fn configurations() {
        let complete = json!({"acceleration": 1});
        for lenient in [json!({}), json!({"acceleration": 0})] {
            assert_eq!(configured("numcodecs.lz4", lenient.clone(), Strictness::Lenient).unwrap(), complete);
            assert!(
                configured("numcodecs.lz4", lenient, Strictness::Strict)
                    .unwrap_err()
                    .contains("'acceleration'")
            );
        }
        assert_eq!(through_v2("lz4", json!({}), 2), (complete.clone(), complete));
    }
}
