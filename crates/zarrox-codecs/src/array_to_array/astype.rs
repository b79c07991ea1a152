//! `astype`: casts the elements to another data type, like NumPy.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/astype.html>
//!
//! | member | value |
//! |---|---|
//! | `encode_dtype` | the type of the stored elements, such as `<f4` |
//! | `decode_dtype` | the type of the array's elements |
//!
//! Names: `numcodecs.astype`, leniently `astype`, in v3; `astype` in v2. Integers wrap. Floats are truncated when they are cast
//! to integers, and rounded to the nearest when they are cast to floats. Where NumPy's result depends on the machine, floats
//! outside the range of an integer type become the nearest limit, and NaN becomes 0. In the lenient mode, `decode_dtype` defaults
//! to the data type of the array.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::internals::data_type::NumberCast;
use zarrox_core::internals::number::Policy;
use zarrox_core::json::Map;
use zarrox_core::json::json;

use crate::config;
use crate::numeric::filter::{self, Filter, dtype};

const NAME: &str = "numcodecs.astype";

/// The definition of `astype`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["astype"])
    .v2_id("astype")
    .with_from_v2(|members, _| {
        to_v2(&config::from_v2(members, json!({"encode_dtype": null, "decode_dtype": null})))
    })
    .with_to_v2(to_v2);

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    dtype::normalised(configuration, "decode_dtype", "encode_dtype")
}

/// Casts elements to another data type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsType {
    encode_dtype: String,
    decode_dtype: String,
}

impl AsType {
    /// Stores elements of the type `decoded` as elements of the type `encoded`, both named as in NumPy: `<f4`, `float32`.
    pub fn new(encoded: impl Into<String>, decoded: impl Into<String>) -> Self {
        Self { encode_dtype: encoded.into(), decode_dtype: decoded.into() }
    }
}

impl From<AsType> for CodecSpec {
    fn from(codec: AsType) -> Self {
        let configuration = json!({"encode_dtype": codec.encode_dtype, "decode_dtype": codec.decode_dtype});
        Self::new(NAME, configuration)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["encode_dtype", "decode_dtype"])?;
    if config.get("encode_dtype").is_none() {
        return Err(config::missing("encode_dtype"));
    }
    let (dtype, astype) = dtype::pair(config, "decode_dtype", "encode_dtype", context.chunk.storage())?;
    let configuration = json!({"encode_dtype": astype.to_json(), "decode_dtype": dtype.to_json()});
    let codec = AsTypeFilter {
        encode: filter::cast(&dtype.storage, &astype.storage, Policy::Lossy)?,
        decode: filter::cast(&astype.storage, &dtype.storage, Policy::Lossy)?,
    };
    filter::elementwise(config::members(configuration), context.chunk, (&dtype, &astype), codec)
}

/// The two casts.
#[derive(Debug)]
struct AsTypeFilter {
    encode: NumberCast,
    decode: NumberCast,
}

impl Filter for AsTypeFilter {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        self.encode.cast(decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        self.decode.cast(encoded, decoded);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::Json;

    use super::*;
    use crate::testing::filters::{self as testing, suite_of};

    #[test]
    fn suite() {
        let same = |from: &str, to: &str| vec![AsType::new(to, from).into()];
        suite_of(&Storage::Int(2), &same("<i2", "<i8"));
        suite_of(&Storage::Uint(1), &same("|u1", "<f2"));
        suite_of(&Storage::Int(4), &same("<i4", ">u4"));
        // A view of another data type.
        suite_of(&Storage::Uint(4), &same("<u2", "<i4"));
    }

    #[test]
    fn configurations() {
        let written = json!({"encode_dtype": "<f4", "decode_dtype": "<f8"});
        testing::configurations(
            NAME,
            &Storage::Float(8),
            &written,
            &[
                json!({"encode_dtype": "f4"}),
                json!({"encode_dtype": "float32", "decode_dtype": null}),
                json!({"encode_dtype": "single", "decode_dtype": "d"}),
            ],
            &[
                (json!({}), "'encode_dtype'"),
                (json!({"encode_dtype": null, "decode_dtype": "<f8"}), "'encode_dtype'"),
                (json!({"encode_dtype": "<f3"}), "'encode_dtype'"),
                (json!({"encode_dtype": "<f4", "decode_dtype": "|O"}), "'decode_dtype'"),
            ],
        );
        assert_eq!(Json::Object(CodecSpec::from(AsType::new("<f4", "<f8")).configuration), written);
    }
}
