//! `fixedscaleoffset`: subtracts an offset from the numbers, multiplies them by a scale, and rounds them to integers.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/fixedscaleoffset.html>
//!
//! | member | value |
//! |---|---|
//! | `scale` | the factor by which the numbers are multiplied |
//! | `offset` | the number that is subtracted before scaling |
//! | `dtype` | the type of the array's elements, such as `<f8` |
//! | `astype` | the type of the stored elements; defaults to `dtype` |
//!
//! Names: `numcodecs.fixedscaleoffset`, leniently `fixedscaleoffset` and
//! `https://codec.zarrs.dev/array_to_array/fixedscaleoffset`, in v3; `fixedscaleoffset` in v2. In the lenient mode, `dtype`
//! defaults to the data type of the array.
//!
//! The arithmetic matches NumPy's bit for bit. Floats are scaled in their own precision. Integers are scaled in their own type,
//! with wrapping, if `scale` and `offset` are integers. All other numbers are scaled in double precision. Numbers that `astype`
//! cannot represent after rounding are rejected, except for the fill value, since chunks are padded with it.

use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::number::{Number, Primitive, map};
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, FillValue, with_storage};

use crate::config::{self, Config};
use crate::numeric::filter::element::{Float, Integer};
use crate::numeric::filter::{self, Filter, Steps, dtype};

const NAME: &str = "numcodecs.fixedscaleoffset";

/// The definition of `fixedscaleoffset`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["fixedscaleoffset", "https://codec.zarrs.dev/array_to_array/fixedscaleoffset"])
    .v2_id("fixedscaleoffset")
    .with_from_v2(|members, _| {
        to_v2(&config::from_v2(
            members,
            json!({"scale": null, "offset": null, "dtype": null, "astype": null}),
        ))
    })
    .with_to_v2(to_v2);

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    dtype::normalised(configuration, "dtype", "astype")
}

/// Stores numbers as scaled integers: subtracts an offset, multiplies by a scale, and rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedScaleOffset {
    scale: Json,
    offset: Json,
    dtype: String,
    astype: Option<String>,
}

impl FixedScaleOffset {
    /// Stores elements of the type `dtype`, named as in NumPy, as `(element - offset) * scale`, rounded to the nearest.
    pub fn new(dtype: impl Into<String>, offset: f64, scale: f64) -> Self {
        Self { scale: number(scale), offset: number(offset), dtype: dtype.into(), astype: None }
    }

    /// Sets the type of the stored numbers.
    #[must_use]
    pub fn stored_as(self, astype: impl Into<String>) -> Self {
        Self { astype: Some(astype.into()), ..self }
    }
}

/// Returns the number in JSON: as an integer if it has no fractional part, so that integers are scaled with integer arithmetic.
fn number(value: f64) -> Json {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 2^53")]
    if whole { Json::from(value as i64) } else { Json::from(value) }
}

impl From<FixedScaleOffset> for CodecSpec {
    fn from(codec: FixedScaleOffset) -> Self {
        let astype = codec.astype.unwrap_or_else(|| codec.dtype.clone());
        let configuration =
            json!({"scale": codec.scale, "offset": codec.offset, "dtype": codec.dtype, "astype": astype});
        Self::new(NAME, configuration)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["scale", "offset", "dtype", "astype"])?;
    let (scale, offset) = (scalar(config, "scale")?, scalar(config, "offset")?);
    let (dtype, astype) = dtype::pair(config, "dtype", "astype", context.chunk.storage())?;
    let (from, to) = (&dtype.storage, &astype.storage);
    if [from, to].iter().any(|storage| matches!(storage, Storage::Complex(_))) {
        return Err(CodecError::unsupported("complex numbers are not scaled"));
    }
    let (scaling, works_on) = Scaling::new(from, scale, offset);
    let quotients = match to {
        Storage::Float(_) => to.clone(),
        _ => Storage::Float(8),
    };
    let member = |name| config.get(name).cloned().unwrap_or(Json::Null);
    let filter = ScaleFilter {
        encode: Steps::encoding(from, &works_on, to)?,
        scaling,
        decode: Steps::decoding(to, &quotients, from)?,
        quotients,
        from: from.clone(),
        to: to.clone(),
        scale,
        offset,
        fill: context.chunk.fill().clone(),
    };
    let configuration = json!({
        "scale": member("scale"),
        "offset": member("offset"),
        "dtype": dtype.to_json(),
        "astype": astype.to_json(),
    });
    filter::elementwise(config::members(configuration), context.chunk, (&dtype, &astype), filter)
}

/// Reads a number from the configuration. Like Python, the arithmetic distinguishes integers from floats.
fn scalar(config: Config<'_>, name: &str) -> Result<Number, CodecError> {
    let json = config.get(name).ok_or_else(|| config::missing(name))?;
    let integer = json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from));
    let float = || json.as_f64().filter(|float| float.is_finite()).map(Number::Float);
    integer.map(Number::Integer).or_else(float).ok_or_else(|| config::wrong(name, json, "a number"))
}

/// The arithmetic of the scaling.
#[derive(Debug, Clone)]
enum Scaling {
    /// Arithmetic in this float type.
    Floats(Storage),
    /// Arithmetic in this integer type, with the offset and the scale.
    Integers(Storage, i128, i128),
    /// Arithmetic with the offset in this integer type, and with the scale in double precision.
    Mixed(Storage, i128),
}

impl Scaling {
    /// Returns the arithmetic for elements of a type, with its input and output types.
    fn new(from: &Storage, scale: Number, offset: Number) -> (Self, (Storage, Storage)) {
        let double = Storage::Float(8);
        // NumPy converts booleans to its default integers.
        let integers = match from {
            Storage::Bool => Storage::Int(8),
            other => other.clone(),
        };
        match (from, offset, scale) {
            (Storage::Float(_), ..) => (Self::Floats(from.clone()), (from.clone(), from.clone())),
            (_, Number::Integer(offset), Number::Integer(scale)) => {
                (Self::Integers(integers.clone(), offset, scale), (integers.clone(), integers))
            }
            (_, Number::Integer(offset), Number::Float(_)) => {
                (Self::Mixed(integers.clone(), offset), (integers, double))
            }
            _ => (Self::Floats(double.clone()), (double.clone(), double)),
        }
    }
}

/// The filter for one pair of data types.
#[derive(Debug)]
struct ScaleFilter {
    scaling: Scaling,
    encode: Steps,
    /// The float type to which stored numbers are converted for the division.
    quotients: Storage,
    decode: Steps,
    from: Storage,
    to: Storage,
    scale: Number,
    offset: Number,
    fill: FillValue,
}

impl ScaleFilter {
    /// Encodes elements. Returns false if the stored type cannot represent one or more of the rounded numbers.
    fn scale(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<bool, CodecError> {
        let (offset, scale) = (self.offset.to_f64(), self.scale.to_f64());
        Ok(match &self.scaling {
            Scaling::Floats(storage) => with_storage!(float storage, T => {
                let (offset, scale) = (T::from_double(offset), T::from_double(scale));
                let scaled = |value: T| value.subtract(offset).multiply(scale).round_even();
                self.encode.run(decoded, encoded, |from, to| map(from, to, scaled))
            }, else false),
            Scaling::Integers(storage, offset, scale) => with_storage!(integer storage, T => {
                let (offset, scale) = (exactly::<T>("offset", *offset)?, exactly::<T>("scale", *scale)?);
                let scaled = |value: T| value.subtract(offset).multiply(scale);
                self.encode.run(decoded, encoded, |from, to| map(from, to, scaled))
            }, else false),
            Scaling::Mixed(storage, offset) => with_storage!(integer storage, T => {
                let offset = exactly::<T>("offset", *offset)?;
                let scaled = |value: T| (value.subtract(offset).to_f64() * scale).round_even();
                self.encode.run(decoded, encoded, |from, to| map(from, to, scaled))
            }, else false),
        })
    }

    /// Returns true if the stored type can represent all encoded elements other than the fill value.
    fn fit_without_fill(&self, decoded: &[u8]) -> Result<bool, CodecError> {
        let mut others = Scratch::with_len(decoded.len())?;
        let length = with_storage!(element &self.from, T => filter::without::<T>(decoded, self.fill.as_bytes(), &mut others), else 0);
        let mut encoded = Scratch::with_len(length / self.from.size() * self.to.size())?;
        self.scale(&others[..length], &mut encoded)
    }
}

/// Converts an integer from the configuration to the type of the elements, as NumPy requires.
fn exactly<T: Integer>(name: &str, value: i128) -> Result<T, CodecError> {
    let message = || {
        CodecError::invalid(format!(
            "'{name}' is {value}, which the data type of the elements cannot represent"
        ))
    };
    T::exactly(value).ok_or_else(message)
}

impl Filter for ScaleFilter {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        if self.scale(decoded, encoded)? || self.fit_without_fill(decoded)? {
            return Ok(());
        }
        Err(CodecError::invalid("a scaled element does not fit into 'astype'; choose a larger type"))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        let (offset, scale) = (self.offset.to_f64(), self.scale.to_f64());
        with_storage!(float &self.quotients, T => {
            let (offset, scale) = (T::from_double(offset), T::from_double(scale));
            let restored = |value: T| value.divide(scale).add(offset);
            self.decode.run(encoded, decoded, |from, to| map(from, to, restored));
        }, else ());
        Ok(())
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::filters::{self as testing, suite_of};

    #[test]
    fn suite() {
        suite_of(&Storage::Int(1), &[FixedScaleOffset::new("|i1", 0.5, 2.0).stored_as("<i2").into()]);
        suite_of(&Storage::Uint(2), &[FixedScaleOffset::new("<u2", 0.5, 2.0).stored_as("<f4").into()]);
    }

    #[test]
    fn unrepresentable_elements_are_rejected_except_the_fill_value() {
        let spec = [FixedScaleOffset::new("<f8", 1000.0, 10.0).stored_as("<u2").into()];
        let encode = |values: &[f64], fill: f64| {
            let values: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            testing::encode(&spec, &Storage::Float(8), &fill.to_ne_bytes(), &values)
        };
        assert!(encode(&[1000.0, 1001.5, 7553.5], 0.0).is_ok());
        for (bad, fill) in
            [(999.0, 0.0), (7553.6, 0.0), (f64::NAN, 0.0), (f64::INFINITY, f64::NAN), (0.0, f64::NAN)]
        {
            let error = encode(&[1000.0, bad, 1001.0], fill).unwrap_err().to_string();
            assert!(
                error.contains("codec 'numcodecs.fixedscaleoffset'") && error.contains("'astype'"),
                "{error}"
            );
        }
        // The fill value is accepted, because chunks are padded with it.
        let padded = encode(&[1000.0, 1001.5, f64::NAN, -f64::NAN, 1002.0], f64::NAN).unwrap();
        assert_eq!(padded, [0, 0, 15, 0, 0, 0, 0, 0, 20, 0]);
        assert!(encode(&[0.0, 1001.5, 0.0], -0.0).is_ok());
    }

    #[test]
    fn scalars_outside_of_the_type_are_rejected_when_writing() {
        let spec = [FixedScaleOffset::new("<i2", 100_000.0, 10.0).into()];
        let error = testing::encode(&spec, &Storage::Int(2), &[0; 2], &[1; 6]).unwrap_err().to_string();
        assert!(error.contains("'offset' is 100000"), "{error}");
    }

    #[test]
    fn configurations() {
        testing::configurations(
            NAME,
            &Storage::Float(8),
            &json!({"scale": 10, "offset": 1.5, "dtype": "<f8", "astype": "<u2"}),
            &[
                json!({"offset": 1.5, "scale": 10, "astype": "uint16"}),
                json!({"scale": 10, "offset": 1.5, "dtype": "float64", "astype": "u2"}),
            ],
            &[
                (json!({"offset": 1}), "'scale'"),
                (json!({"scale": 1}), "'offset'"),
                (json!({"scale": "1", "offset": 0}), "'scale'"),
                (json!({"scale": 1, "offset": [0]}), "'offset'"),
                (json!({"scale": 1, "offset": 0, "dtype": "<c8"}), "complex"),
                (json!({"scale": 1, "offset": 0, "astype": "<c8"}), "complex"),
            ],
        );
        let spec = CodecSpec::from(FixedScaleOffset::new("<f4", 0.5, -3.0));
        let expected = json!({"scale": -3, "offset": 0.5, "dtype": "<f4", "astype": "<f4"});
        assert_eq!(Json::Object(spec.configuration), expected);
    }
}
