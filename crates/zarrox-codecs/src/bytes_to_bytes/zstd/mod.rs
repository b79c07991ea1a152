//! `zstd`: Zstandard.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd>
//!
//! | member | value |
//! |---|---|
//! | `level` | −131072 to 22; 0 is the library's default |
//! | `checksum` | whether frames end with a checksum; `false` by default |
//!
//! Names: `zstd` in v3 (also `numcodecs.zstd`), `zstd` in v2. In the lenient mode, `level` defaults to 0, and out-of-range levels
//! are clamped.
//!
//! With the feature `pure` and without the feature `zstd`, frames are written at a fixed level and with a checksum.
//!
//! Any sequence of frames can be read, with or without declared sizes, and including skippable frames.

#[cfg(feature = "zstd")]
mod library;

use zarrox_core::CodecSpec;
#[cfg(feature = "zstd")]
use zarrox_core::codec::{ByteStream, BytesAccess, DecodeStream};
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;
use zarrox_core::json::json;

#[cfg(feature = "zstd")]
use self::library::{compress, decompress};
#[cfg(not(feature = "zstd"))]
use crate::bytes_to_bytes::pure::zstd::{compress, decompress};
use crate::config::{self, Config};

/// The definition of `zstd`.
pub(crate) static DEF: CodecDef = CodecDef::new("zstd", CodecKind::BytesToBytes, create)
    .aliases(&["numcodecs.zstd"])
    .v2_id("zstd")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"level": 0, "checksum": false}))))
    .with_to_v2(to_v2);

/// Zstandard: the best choice for most data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// Creates the codec with a compression level, −131072 (fastest) to 22 (smallest). 0 selects the library's default, which is
    /// 3.
    pub fn level(level: i32) -> Self {
        Self { level, checksum: false }
    }

    /// Sets whether frames end with a checksum.
    #[must_use]
    pub fn checksum(self, checksum: bool) -> Self {
        Self { checksum, ..self }
    }

    fn parse(config: Config<'_>) -> Result<Self, CodecError> {
        let (least, most) = (-131_072, 22);
        // The library clamps levels outside this range.
        let taken = if config.is_strict() { least..=most } else { i32::MIN..=i32::MAX };
        let level = config.integer("level", taken, 0)?.clamp(least, most);
        Ok(Self { level, checksum: config.boolean("checksum", false)? })
    }
}

impl From<Zstd> for CodecSpec {
    fn from(zstd: Zstd) -> Self {
        Self { name: DEF.name.to_owned(), configuration: zstd.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["level", "checksum"])?;
    Ok(Codec::BytesToBytes(Box::new(Zstd::parse(config)?)))
}

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    let mut members = configuration.clone();
    // `false` is not written: readers that do not know the member reject it, and its absence has the same meaning.
    members.retain(|name, value| name != "checksum" || value.as_bool() == Some(true));
    Ok(members)
}

impl BytesToBytes for Zstd {
    fn configuration(&self) -> Map {
        config::members(json!({"level": self.level, "checksum": self.checksum}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        compress(self.level, self.checksum, decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        decompress(encoded, decoded)
    }

    #[cfg(feature = "zstd")]
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        library::declared(encoded)
    }

    #[cfg(feature = "zstd")]
    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Stream(self)
    }
}

#[cfg(feature = "zstd")]
impl DecodeStream for Zstd {
    fn decode_stream<'e>(
        &self,
        encoded: &'e mut dyn ByteStream,
    ) -> Result<Box<dyn ByteStream + 'e>, CodecError> {
        Ok(Box::new(library::Stream::new(encoded)?))
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, spec, steps, through_v2};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let registry = registry();
        for level in [-5, 0, 3, 19] {
            bytes_to_bytes_suite(&registry, &Zstd::level(level).into(), Integrity::Unchecked);
        }
        bytes_to_bytes_suite(&registry, &Zstd::level(1).checksum(true).into(), Integrity::Checked);
    }

    /// `numcodecs.Zstd(3)`
    const PLAIN: &str = "28b52ffd60d0062501005800000102030405060708090a042b4420447044c0884088e08880118110c111736c\
         08da";
    /// `numcodecs.Zstd(3, checksum=True)`
    const CHECKED: &str = "28b52ffd64d0062501005800000102030405060708090a042b4420447044c0884088e08880118110c111736c\
         08da2330b94c";

    #[test]
    fn golden() {
        for golden in [PLAIN, CHECKED] {
            assert_eq!(decode("zstd", &hex(golden), 2000).unwrap(), steps());
        }
        #[cfg(feature = "zstd")]
        {
            let mut encoded = Vec::new();
            Zstd::level(3).checksum(true).encode(&steps(), &mut encoded).unwrap();
            assert_eq!(encoded, hex(CHECKED));
        }
    }

    /// Returns a frame without a declared size, as written by a streaming encoder: the magic number, a descriptor without a size,
    /// the window, and one raw block.
    fn sizeless(data: &[u8]) -> Vec<u8> {
        let header = u32::try_from(data.len() << 3 | 1).unwrap().to_le_bytes();
        [&hex("28b52ffd0058"), &header[..3], data].concat()
    }

    #[test]
    fn frames_of_all_kinds_follow_each_other() {
        let skippable = hex("502a4d1803000000aabbcc");
        let frames = [sizeless(b"abc"), skippable, hex(PLAIN), sizeless(b"d")].concat();
        let expected = [&b"abc"[..], &steps(), b"d"].concat();
        assert_eq!(decode("zstd", &frames, expected.len()).unwrap(), expected);
        let error = decode("zstd", &frames, expected.len() - 1).unwrap_err().to_string();
        assert!(error.contains("more than"), "{error}");
        assert_error(
            decode("zstd", &[frames, vec![0]].concat(), expected.len()),
            ErrorKind::Corrupt,
            "Src size is incorrect",
        );
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused() {
        // A single-segment frame with a content size of 2^40.
        let bomb = hex("28b52ffde0000000000001000001000000");
        assert_error(decode("zstd", &bomb, 100), ErrorKind::Corrupt, "corruption");
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn a_frame_larger_than_declared_is_not_an_overflow() {
        let less = PLAIN.replacen("d006", "0006", 1);
        assert_eq!(library::declared(&hex(&less)), Some(0x600 + 256));
        let error = decode("zstd", &hex(&less), 4000).unwrap_err();
        assert!(!error.is_overflow(), "{error}");
        assert!(decode("zstd", &hex(PLAIN), 1999).unwrap_err().is_overflow());
    }

    #[test]
    fn configurations() {
        let complete = json!({"level": 0, "checksum": false});
        for partial in [json!({}), json!({"level": 0}), json!({"level": 0.0, "checksum": null})] {
            assert_eq!(configured("numcodecs.zstd", partial, Strictness::Lenient).unwrap(), complete);
        }
        assert_eq!(configured("zstd", json!({"level": 0}), Strictness::Strict).unwrap(), complete);
        for bad in [json!({}), json!({"level": 23}), json!({"level": -131_073})] {
            assert!(configured("zstd", bad, Strictness::Strict).unwrap_err().contains("'level'"));
        }
        for (member, bad) in [
            ("level", json!({"level": 1_u64 << 40})),
            ("checksum", json!({"level": 1, "checksum": 1})),
            ("window", json!({"level": 1, "window": 3})),
        ] {
            assert!(configured("zstd", bad, Strictness::Lenient).unwrap_err().contains(member));
        }
        assert_eq!(CodecSpec::from(Zstd::level(3)), spec("zstd", json!({"level": 3, "checksum": false})));
    }

    #[test]
    fn v2() {
        assert_eq!(through_v2("zstd", json!({"level": 1}), 2).1, json!({"level": 1}));
        let (v3, v2) = through_v2("zstd", json!({"level": 1, "checksum": true, "more": 1}), 2);
        assert_eq!((v3.clone(), v3), (v2, json!({"level": 1, "checksum": true})));
    }
}
