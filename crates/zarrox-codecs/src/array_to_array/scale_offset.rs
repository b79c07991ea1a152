//! `scale_offset`: subtracts an offset from the elements, and multiplies them by a scale.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset>
//!
//! | member | value |
//! |---|---|
//! | `offset` | a scalar of the data type, in the JSON form of fill values; defaults to 0 |
//! | `scale` | a scalar in the same form, other than 0; defaults to 1 |
//!
//! Names: `scale_offset` in v3. All arithmetic is done in the data type itself. Integers must stay in its range, and must be
//! divisible by the scale when they are decoded. Floats are rounded after each operation, and overflow to infinity if the type
//! has it.

use zarrox_core::codec::{ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, Elementwise};
use zarrox_core::internals::number::{Number, RealType};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, DataType, FillValue};

use crate::config;
use crate::numeric::arithmetic::{Arithmetic, Direction};

const NAME: &str = "scale_offset";

/// The definition of `scale_offset`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create);

/// Subtracts an offset, and multiplies by a scale.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleOffset {
    offset: Json,
    scale: Json,
}

impl ScaleOffset {
    /// Stores `(element - offset) * scale`. The offset and the scale are numbers of the array's data type.
    pub fn new(offset: impl Into<Json>, scale: impl Into<Json>) -> Self {
        Self { offset: offset.into(), scale: scale.into() }
    }
}

impl From<ScaleOffset> for CodecSpec {
    fn from(codec: ScaleOffset) -> Self {
        Self::new(NAME, json!({"offset": codec.offset, "scale": codec.scale}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["offset", "scale"])?;
    let data_type = context.chunk.data_type()?;
    let real = RealType::of(data_type, context.registry).ok_or_else(|| {
        CodecError::invalid(format!("this codec works on integers and floats, not on {data_type}"))
    })?;
    let family = context.registry.family(data_type).map_err(|e| CodecError::invalid(e.to_string()))?;
    let scalar = |name: &str, absent: i32| {
        let absent = Json::from(absent);
        let json = config.get(name).unwrap_or(&absent);
        let scalar = family.fill_from_json(data_type, json, context.strictness);
        let scalar = scalar.map_err(|_| config::wrong(name, json, &format!("a {data_type}")))?;
        match real.read(scalar.as_bytes()) {
            Number::Float(value) if !value.is_finite() => {
                Err(config::wrong(name, json, "a finite number; other offsets and scales cannot be inverted"))
            }
            value => Ok((value, family.fill_to_v3(data_type, &scalar))),
        }
    };
    let ((offset, offset_json), (scale, scale_json)) = (scalar("offset", 0)?, scalar("scale", 1)?);
    if scale.is_same(Number::Integer(0)) {
        return Err(config::wrong(
            "scale",
            &scale_json,
            "a number other than 0; a scale of 0 cannot be inverted",
        ));
    }
    let mut codec = ScaleOffsetCodec {
        configuration: config::members(json!({"offset": offset_json, "scale": scale_json})),
        data_type: data_type.clone(),
        copies: offset.is_same(Number::Integer(0)) && scale.is_same(Number::Integer(1)),
        arithmetic: Arithmetic::new(real, offset, scale),
        encoded: context.chunk.clone(),
    };
    codec.encoded = codec.encoded_chunk_of(context.chunk)?;
    Ok(Codec::ArrayToArray(Box::new(codec)))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ScaleOffsetCodec {
    configuration: Map,
    data_type: DataType,
    arithmetic: Arithmetic,
    /// True if the offset is 0 and the scale 1.
    copies: bool,
    encoded: ChunkSpec,
}

impl ScaleOffsetCodec {
    fn encoded_chunk_of(&self, chunk: &ChunkSpec) -> Result<ChunkSpec, CodecError> {
        let fill = chunk.fill().as_bytes();
        let mut encoded = vec![0; fill.len()];
        Elementwise::encode(self, fill, &mut encoded).map_err(|e| e.at("the array's fill value"))?;
        let shape: Vec<u64> = chunk.shape().iter().map(|&length| length as u64).collect();
        Ok(ChunkSpec::new(&shape, chunk.storage().clone(), FillValue::new(encoded))?.of_type(&self.data_type))
    }

    fn apply(&self, from: &[u8], to: &mut [u8], direction: Direction) -> Result<(), String> {
        if self.copies {
            to.copy_from_slice(from);
            return Ok(());
        }
        let refused = |refused| format!("{refused} of {}", self.data_type);
        self.arithmetic.apply(from, to, direction).map_err(refused)
    }
}

impl Elementwise for ScaleOffsetCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        self.apply(decoded, encoded, Direction::Encode).map_err(CodecError::invalid)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        self.apply(encoded, decoded, Direction::Decode).map_err(CodecError::corrupt)
    }

    fn decodes_unchanged(&self) -> bool {
        self.copies
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::EncodeOptions;
    use zarrox_core::strided::View;
    use zarrox_core::{CodecChain, Strictness};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, decode_chunk, spec};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn named(name: &str) -> DataType {
        registry().data_type_from_v3(&json!(name)).unwrap()
    }

    fn elements(name: &str, scalars: &Json) -> Vec<u8> {
        let (registry, data_type) = (registry(), named(name));
        let family = registry.family(&data_type).unwrap();
        let element =
            |json| family.fill_from_json(&data_type, json, Strictness::Strict).unwrap().as_bytes().to_vec();
        scalars.as_array().unwrap().iter().flat_map(element).collect()
    }

    fn make(
        name: &str,
        count: u64,
        fill: &Json,
        codec: CodecSpec,
        strictness: Strictness,
    ) -> Result<CodecChain, CodecError> {
        let data_type = named(name);
        let fill = FillValue::new(elements(name, &json!([fill])));
        let chunk = ChunkSpec::new(&[count], data_type.storage(), fill).unwrap().of_type(&data_type);
        let bytes = CodecSpec::new("bytes", json!({"endian": zarrox_core::data_type::Endian::NATIVE.name()}));
        chain(&[codec, bytes], &chunk, &registry(), strictness)
    }

    fn encode(chain: &CodecChain, elements: &[u8]) -> Result<Vec<u8>, CodecError> {
        let (mut encoded, all) = (Vec::new(), EncodeOptions { store_empty_chunks: true });
        let view = View::contiguous(elements, chain.chunk().shape(), chain.chunk().item());
        chain.encode(&view, all, &mut encoded).map(|_| encoded)
    }

    /// `ScaleOffset(offset=…, scale=…)` of zarr-python 3.4.2. Results for types that it does not support were computed by hand.
    #[test]
    fn golden() {
        let least = i64::MIN;
        for (name, codec, scalars, becomes) in [
            ("uint16", ScaleOffset::new(1000, 1), json!([1000, 1255, 65535]), json!([0, 255, 64535])),
            ("int8", ScaleOffset::new(-3, 7), json!([-3, 2, 15]), json!([0, 35, 126])),
            (
                "int32",
                ScaleOffset::new(5, -1000),
                json!([5, -2_147_478, 7]),
                json!([0, 2_147_483_000, -2000]),
            ),
            ("uint32", ScaleOffset::new(0, 65536), json!([65535, 1]), json!([4_294_901_760_u32, 65536])),
            ("int64", ScaleOffset::new(least, 1), json!([least, -1]), json!([0, i64::MAX])),
            (
                "uint64",
                ScaleOffset::new(1, 3),
                json!([1, 6_148_914_691_236_517_206_u64]),
                json!([0, u64::MAX]),
            ),
            ("float32", ScaleOffset::new(5, 0.1), json!([0, 6.1, "NaN"]), json!([-0.5, 0.109_999_99, "NaN"])),
            (
                "float64",
                ScaleOffset::new(273.15, 100),
                json!([0, 300.1, "Infinity"]),
                json!([-27_314.999_999_999_996, 2_695.000_000_000_004_5, "Infinity"]),
            ),
            ("float16", ScaleOffset::new(0.1, 3), json!([1, 60000, 0.1]), json!([2.7, "Infinity", 0])),
            ("bfloat16", ScaleOffset::new(1, 3), json!([2.5, 1]), json!([4.5, 0])),
            ("int4", ScaleOffset::new(1, 2), json!([-3, 4]), json!([-8, 6])),
            ("float8_e4m3", ScaleOffset::new(1, 3), json!([2.5, 240]), json!([4.5, "Infinity"])),
        ] {
            let count = scalars.as_array().unwrap().len() as u64;
            let fill = scalars[0].clone();
            let chain = make(name, count, &fill, codec.clone().into(), Strictness::Strict).unwrap();
            let data = elements(name, &scalars);
            let encoded = encode(&chain, &data).unwrap();
            assert_eq!(encoded, elements(name, &becomes), "{name} {}", CodecSpec::from(codec));
            if !name.contains("float") {
                assert_eq!(decode_chunk(&chain, &encoded).unwrap(), data, "{name}");
            }
        }
    }

    #[test]
    fn integers_are_restored_or_rejected() {
        for name in [
            "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "int2", "int4",
            "uint2", "uint4",
        ] {
            let signed = name.starts_with('i');
            let bits: u32 = name.trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap();
            let least = if signed { -(1_i128 << (bits - 1)) } else { 0 };
            let most = least + (1 << bits) - 1;
            let json = |value: i128| {
                i64::try_from(value)
                    .map_or_else(|_| json!(u64::try_from(value).unwrap()), |value| json!(value))
            };
            let numbers: Vec<i128> =
                [least, least + 1, least / 2, -7, -2, -1, 0, 1, 2, 3, 6, most / 3, most / 2, most - 1, most]
                    .into_iter()
                    .filter(|number| (least..=most).contains(number))
                    .collect();
            for &offset in &numbers {
                for &scale in numbers.iter().filter(|scale| **scale != 0) {
                    // The fill value can be encoded with any offset and scale.
                    let codec = ScaleOffset::new(json(offset), json(scale)).into();
                    let chain = make(name, 1, &json(offset), codec, Strictness::Strict).unwrap();
                    for &number in &numbers {
                        let what = format!("{name}: ({number} - {offset}) * {scale}");
                        let element = elements(name, &json!([json(number)]));
                        let moved = number - offset;
                        // Results of more than 128 bits are out of range as well.
                        let scaled = moved.checked_mul(scale).unwrap_or(i128::MAX);
                        let inside = |value: i128| (least..=most).contains(&value);
                        match encode(&chain, &element) {
                            Ok(encoded) => {
                                assert!(inside(moved) && inside(scaled), "{what}");
                                assert_eq!(encoded, elements(name, &json!([json(scaled)])), "{what}");
                                assert_eq!(decode_chunk(&chain, &encoded).unwrap(), element, "{what}");
                            }
                            Err(error) => {
                                assert!(!inside(moved) || !inside(scaled), "{what}: {error}");
                                assert!(error.to_string().contains("has no result"), "{error}");
                            }
                        }
                        let decoded = decode_chunk(&chain, &element);
                        let value = number / scale + offset;
                        if number % scale == 0 && inside(value) {
                            assert_eq!(decoded.unwrap(), elements(name, &json!([json(value)])), "{what}");
                        } else {
                            assert!(decoded.is_err(), "{number} / {scale} + {offset}: {name}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn errors_say_which_step_has_no_result() {
        let data = |count: usize, at: usize, value: u8| {
            let mut data = vec![10_u8; count];
            data[at] = value;
            data
        };
        let chain =
            make("uint8", 3000, &json!(10), ScaleOffset::new(10, 2).into(), Strictness::Strict).unwrap();
        for (value, says) in [(9, "9 - 10 has no result"), (138, "128 * 2 has no")] {
            let error = encode(&chain, &data(3000, 2999, value)).unwrap_err().to_string();
            assert!(error.contains("codec 'scale_offset'") && error.contains(says), "{error}");
        }
        let error = decode_chunk(&chain, &data(3000, 1024, 7)).unwrap_err();
        assert_eq!(error.kind(), zarrox_core::ErrorKind::Corrupt);
        assert!(error.to_string().contains("7 / 2 has no result"), "{error}");
        let far = make("uint8", 1, &json!(250), ScaleOffset::new(250, 1).into(), Strictness::Strict).unwrap();
        let error = decode_chunk(&far, &[6]).unwrap_err().to_string();
        assert!(error.contains("6 + 250 has no result"), "{error}");
        let small =
            make("float4_e2m1fn", 1, &json!(0), ScaleOffset::new(0, 4).into(), Strictness::Strict).unwrap();
        let error = encode(&small, &elements("float4_e2m1fn", &json!([3]))).unwrap_err().to_string();
        assert!(error.contains("3.0 * 4.0 has no result"), "{error}");
    }

    #[test]
    fn configurations() {
        let make = |name: &str, configuration: Json, strictness| {
            make(name, 1, &json!(1), spec(NAME, configuration), strictness)
                .map(|chain| chain.specs()[0].clone())
        };
        for (name, given, complete) in [
            ("int8", Json::Null, json!({"offset": 0, "scale": 1})),
            ("float32", json!({"offset": 5, "scale": 0.1}), json!({"offset": 5.0, "scale": 0.1})),
            ("float32", json!({"scale": "0x3f800001"}), json!({"offset": 0.0, "scale": 1.000_000_1})),
        ] {
            let made = make(name, given, Strictness::Strict).unwrap();
            assert_eq!(made, spec(NAME, complete.clone()));
            assert_eq!(make(name, complete, Strictness::Strict).unwrap(), made);
        }
        assert!(make("int8", json!({"offset": 5.0}), Strictness::Lenient).is_ok());
        assert_error(
            make("int8", json!({"offset": 5.0}), Strictness::Strict),
            ErrorKind::InvalidMetadata,
            "'offset'",
        );
        for (name, bad, says) in [
            ("int8", json!({"offset": 128}), "'offset' is 128; expected a int8"),
            ("int8", json!({"scale": 0}), "'scale' is 0"),
            ("float64", json!({"scale": -0.0}), "'scale'"),
            ("float64", json!({"scale": "NaN"}), "'scale' is \"NaN\"; expected a finite number"),
            ("float64", json!({"offset": "Infinity"}), "'offset'"),
            ("float16", json!({"offset": 1e6}), "'offset'"),
            ("int8", json!({"offset": []}), "'offset'"),
            ("int8", json!({"nosuch": 1}), "nosuch"),
            ("bool", json!({}), "not on bool"),
            ("complex64", json!({}), "not on complex64"),
            ("uint8", json!({"offset": 2}), "the array's fill value: 1 - 2 has no result"),
        ] {
            for strictness in [Strictness::Lenient, Strictness::Strict] {
                let error = match name {
                    "bool" | "complex64" => {
                        let chunk =
                            ChunkSpec::new(&[1], named(name).storage(), FillValue::zero(named(name).size()));
                        chain(&[spec(NAME, bad.clone())], &chunk.unwrap(), &registry(), strictness)
                            .unwrap_err()
                    }
                    _ => make(name, bad.clone(), strictness).unwrap_err(),
                };
                let error = error.to_string();
                assert!(error.contains("codec 'scale_offset'") && error.contains(says), "{bad}: {error}");
            }
        }
    }
}
