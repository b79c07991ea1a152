//! `quantize`: rounds floats to a number of decimal digits, so that their last bits are zero.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/quantize.html>
//!
//! | member | value |
//! |---|---|
//! | `digits` | the number of decimal places to keep; negative for digits before the decimal point |
//! | `dtype` | the type of the array's elements: `<f2`, `<f4`, `<f8` |
//! | `astype` | the type of the stored elements: `<f2`, `<f4`, `<f8`; defaults to `dtype` |
//!
//! Names: `numcodecs.quantize`, leniently `quantize`, in v3; `quantize` in v2. In the lenient mode, `dtype` defaults to the data
//! type of the array.

use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::data_type::NumberCast;
use zarrox_core::internals::number::{Policy, map};
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::{CodecSpec, with_storage};

use crate::config;
use crate::numeric::filter::element::Float;
use crate::numeric::filter::{self, Filter, Steps, dtype};

const NAME: &str = "numcodecs.quantize";

/// The definition of `quantize`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["quantize"])
    .v2_id("quantize")
    .with_from_v2(|members, _| {
        to_v2(&config::from_v2(members, json!({"digits": null, "dtype": null, "astype": null})))
    })
    .with_to_v2(to_v2);

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    dtype::normalised(configuration, "dtype", "astype")
}

/// Rounds floats to a number of decimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantize {
    digits: i32,
    dtype: String,
    astype: Option<String>,
}

impl Quantize {
    /// Keeps this number of decimal places. The type of the elements is named as in NumPy: `<f4`, `float32`.
    pub fn digits(digits: i32, dtype: impl Into<String>) -> Self {
        Self { digits, dtype: dtype.into(), astype: None }
    }

    /// Sets the type of the stored floats.
    #[must_use]
    pub fn stored_as(self, astype: impl Into<String>) -> Self {
        Self { astype: Some(astype.into()), ..self }
    }
}

impl From<Quantize> for CodecSpec {
    fn from(codec: Quantize) -> Self {
        let astype = codec.astype.unwrap_or_else(|| codec.dtype.clone());
        Self::new(NAME, json!({"digits": codec.digits, "dtype": codec.dtype, "astype": astype}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["digits", "dtype", "astype"])?;
    if config.get("digits").is_none() {
        return Err(config::missing("digits"));
    }
    // Beyond these limits, a double-precision float cannot represent the scale.
    let digits = config.integer("digits", -307..=307, 0)?;
    let (dtype, astype) = dtype::pair(config, "dtype", "astype", context.chunk.storage())?;
    let (from, to) = (&dtype.storage, &astype.storage);
    if ![from, to].iter().all(|storage| matches!(storage, Storage::Float(_))) {
        return Err(CodecError::unsupported("only floats are quantized"));
    }
    let scale = scale_of(digits);
    let filter = QuantizeFilter {
        encode: Steps::encoding(from, &(from.clone(), from.clone()), to)?,
        decode: filter::cast(to, from, Policy::Lossy)?,
        dtype: from.clone(),
        same: from == to,
        scale,
    };
    let configuration = json!({"digits": digits, "dtype": dtype.to_json(), "astype": astype.to_json()});
    filter::elementwise(config::members(configuration), context.chunk, (&dtype, &astype), filter)
}

/// Returns the smallest power of two that preserves this number of decimal places.
fn scale_of(digits: i32) -> f64 {
    10_f64.powi(digits).log2().ceil().exp2()
}

/// The filter for one pair of data types.
#[derive(Debug)]
struct QuantizeFilter {
    encode: Steps,
    decode: NumberCast,
    dtype: Storage,
    same: bool,
    scale: f64,
}

impl Filter for QuantizeFilter {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        with_storage!(float &self.dtype, T => {
            let scale = T::from_double(self.scale);
            let quantized = |value: T| value.multiply(scale).round_even().divide(scale);
            self.encode.run(decoded, encoded, |from, to| map(from, to, quantized));
        }, else ());
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        self.decode.cast(encoded, decoded);
        Ok(())
    }

    fn decodes_unchanged(&self) -> bool {
        self.same
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::json::Json;

    use super::*;
    use crate::testing::filters as testing;

    #[test]
    fn scales_are_exact_powers_of_two() {
        for digits in -307..=307 {
            let scale = scale_of(digits);
            assert!(scale.is_normal() && scale.to_bits().trailing_zeros() >= 52, "{digits}");
            assert!(scale >= 10_f64.powi(digits) && scale / 2.0 < 10_f64.powi(digits), "{digits}");
        }
    }

    #[test]
    fn configurations() {
        testing::configurations(
            NAME,
            &Storage::Float(4),
            &json!({"digits": 2, "dtype": "<f4", "astype": "<f4"}),
            &[json!({"digits": 2}), json!({"digits": 2.0, "dtype": "float32", "astype": null})],
            &[
                (json!({}), "'digits'"),
                (json!({"digits": 308}), "'digits'"),
                (json!({"digits": "2"}), "'digits'"),
                (json!({"digits": 2, "dtype": "<i4"}), "only floats"),
                (json!({"digits": 2, "astype": "<c8"}), "only floats"),
            ],
        );
        let spec = CodecSpec::from(Quantize::digits(2, "<f8").stored_as("<f4"));
        assert_eq!(Json::Object(spec.configuration), json!({"digits": 2, "dtype": "<f8", "astype": "<f4"}));
    }
}
