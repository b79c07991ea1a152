//! The codecs whose Cargo features are disabled. Their names are known, and the error for using them names the feature.

use zarrox_core::codec::CodecDef;

/// Defines a codec that requires a Cargo feature.
#[cfg_attr(
    all(
        feature = "blosc",
        feature = "bzip2",
        feature = "lzma",
        feature = "pco",
        feature = "zfp",
        any(feature = "pure", all(feature = "libdeflate", feature = "lz4", feature = "zstd"))
    ),
    expect(unused_macros, reason = "the features of all codecs are enabled")
)]
macro_rules! disabled {
    ($feature:literal, $kind:ident, $name:literal, [$($alias:literal),*] $(, $id:literal)?) => {
        {
            static DEF: CodecDef = CodecDef::new($name, zarrox_core::codec::CodecKind::$kind, |_, _| {
                Err(zarrox_core::codec::CodecError::unsupported(concat!(
                    "needs the feature `", $feature, "` of zarrox, which is not enabled"
                )))
            })
            .aliases(&[$($alias),*])
            $(.v2_id($id))?;
            &DEF
        }
    };
}

/// The definitions of all codecs whose features are disabled.
pub(crate) static ALL: &[&CodecDef] = &[
    #[cfg(not(feature = "blosc"))]
    disabled!("blosc", BytesToBytes, "blosc", ["numcodecs.blosc"], "blosc"),
    #[cfg(not(any(feature = "libdeflate", feature = "pure")))]
    disabled!("libdeflate", BytesToBytes, "gzip", ["numcodecs.gzip"], "gzip"),
    #[cfg(not(any(feature = "libdeflate", feature = "pure")))]
    disabled!("libdeflate", BytesToBytes, "numcodecs.zlib", [], "zlib"),
    #[cfg(not(any(feature = "zstd", feature = "pure")))]
    disabled!("zstd", BytesToBytes, "zstd", ["numcodecs.zstd"], "zstd"),
    #[cfg(not(any(feature = "lz4", feature = "pure")))]
    disabled!("lz4", BytesToBytes, "numcodecs.lz4", [], "lz4"),
    #[cfg(not(any(feature = "lz4", feature = "pure")))]
    disabled!("lz4", BytesToBytes, "n5_lz4", []),
    #[cfg(not(feature = "bzip2"))]
    disabled!(
        "bzip2",
        BytesToBytes,
        "numcodecs.bz2",
        ["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"],
        "bz2"
    ),
    #[cfg(not(feature = "lzma"))]
    disabled!("lzma", BytesToBytes, "numcodecs.lzma", [], "lzma"),
    #[cfg(not(feature = "pco"))]
    disabled!(
        "pco",
        ArrayToBytes,
        "numcodecs.pcodec",
        ["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"],
        "pcodec"
    ),
    #[cfg(not(feature = "zfp"))]
    disabled!("zfp", ArrayToBytes, "zfp", ["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"]),
    #[cfg(not(feature = "zfp"))]
    disabled!(
        "zfp",
        ArrayToBytes,
        "numcodecs.zfpy",
        ["zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"],
        "zfpy"
    ),
];

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;

    use super::*;
    use crate::testing::configured;

    #[test]
    fn the_error_names_the_feature() {
        for def in ALL {
            let error = configured(def.name, json!({}), Strictness::Lenient).unwrap_err();
            assert!(error.contains("needs the feature `"), "{}: {error}", def.name);
        }
    }
}
