//! `cast_value`: casts the elements to another numeric data type.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value>
//!
//! | member | value |
//! |---|---|
//! | `data_type` | the data type of the stored elements, as in v3 metadata |
//! | `rounding` | `nearest-even` (the default), `towards-zero`, `towards-positive`, `towards-negative`, `nearest-away` |
//! | `out_of_range` | `clamp` or, for integer types only, `wrap`; if absent, out-of-range elements are errors |
//! | `scalar_map` | `encode` and `decode`: lists of pairs of scalars; the first scalar of a pair is mapped to the second, regardless of the other members |
//!
//! Names: `cast_value` in v3. In the lenient mode, `out_of_range` may be `"error"`, as in an early version of the specification,
//! and the fill value may change when it is encoded and decoded again. zarr-python 3.4 writes such metadata.

use zarrox_core::codec::{ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, Elementwise};
pub use zarrox_core::internals::number::Rounding;
use zarrox_core::internals::number::{CastFailure, Missing, OutOfRange, RealCast, RealType};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, DataType};
use zarrox_core::{FillValue, Registry};

use crate::config::{self, Config};

const NAME: &str = "cast_value";

/// The definition of `cast_value`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create);

const ROUNDINGS: &[(&str, Rounding)] = &[
    ("nearest-even", Rounding::NearestEven),
    ("towards-zero", Rounding::TowardsZero),
    ("towards-positive", Rounding::TowardsPositive),
    ("towards-negative", Rounding::TowardsNegative),
    ("nearest-away", Rounding::NearestAway),
];

/// Casts elements to another numeric data type.
#[derive(Debug, Clone, PartialEq)]
pub struct CastValue {
    configuration: Map,
}

impl CastValue {
    /// Casts to a data type, rounding to the nearest where necessary. Out-of-range numbers are errors.
    pub fn to(data_type: &DataType) -> Self {
        let data_type = match data_type {
            DataType::Extension(extension) if !extension.configuration.is_empty() => {
                json!({"name": extension.name, "configuration": extension.configuration})
            }
            other => other.to_string().into(),
        };
        Self { configuration: config::members(json!({"data_type": data_type})) }
    }

    /// Sets how numbers are rounded, both in encoding and in decoding.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        self.with("rounding", name_of(rounding))
    }

    /// Replaces out-of-range numbers with the smallest or largest number of the type, or with infinity if the type has one.
    #[must_use]
    pub fn clamp(self) -> Self {
        self.with("out_of_range", "clamp")
    }

    /// Wraps out-of-range integers: only their lowest bits are kept.
    #[must_use]
    pub fn wrap(self) -> Self {
        self.with("out_of_range", "wrap")
    }

    /// Maps a scalar of the array to a stored scalar. The map takes precedence over the cast: `map_encode("NaN", 0)`.
    #[must_use]
    pub fn map_encode(self, from: impl Into<Json>, to: impl Into<Json>) -> Self {
        self.mapped("encode", json!([from.into(), to.into()]))
    }

    /// Maps a stored scalar to a scalar of the array. The map takes precedence over the cast: `map_decode(0, "NaN")`.
    #[must_use]
    pub fn map_decode(self, from: impl Into<Json>, to: impl Into<Json>) -> Self {
        self.mapped("decode", json!([from.into(), to.into()]))
    }

    fn with(mut self, member: &str, value: &str) -> Self {
        self.configuration.insert(member.to_owned(), value.into());
        self
    }

    fn mapped(mut self, direction: &str, pair: Json) -> Self {
        let map = self.configuration.get_or_insert_with("scalar_map", || json!({}));
        if let Some(map) = map.as_object_mut()
            && let Json::Array(pairs) = map.get_or_insert_with(direction, || json!([]))
        {
            pairs.push(pair);
        }
        self
    }
}

impl From<CastValue> for CodecSpec {
    fn from(codec: CastValue) -> Self {
        Self::new(NAME, codec.configuration.into())
    }
}

fn name_of(rounding: Rounding) -> &'static str {
    ROUNDINGS.iter().find(|(_, other)| *other == rounding).map_or("", |(name, _)| name)
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config =
        config::read(configuration, context, &["data_type", "rounding", "out_of_range", "scalar_map"])?;
    let from = Type::new(context.chunk.data_type()?.clone(), context.registry)?;
    let json = config.get("data_type").ok_or_else(|| config::missing("data_type"))?;
    let to = context.registry.data_type_from_v3(json);
    let to = to.map_err(|error| CodecError::invalid(format!("'data_type': {error}")))?;
    let to = Type::new(to, context.registry)?;
    let rounding = match config.get("rounding") {
        None => Rounding::NearestEven,
        Some(_) => config.choice("rounding", ROUNDINGS, Rounding::NearestEven)?,
    };
    let range = out_of_range(config, &to)?;
    let map = ScalarMap::new(config, context, &from.data_type, &to.data_type)?;
    let caster = |from: &Type, to: &Type, map: &Pairs| {
        RealCast::new(from.real.clone(), to.real.clone(), rounding, range, &map.elements)
    };
    let mut complete = config::members(json!({"data_type": to.json, "rounding": name_of(rounding)}));
    match range {
        OutOfRange::Refuse => None,
        OutOfRange::Clamp => complete.insert("out_of_range".to_owned(), "clamp".into()),
        OutOfRange::Wrap => complete.insert("out_of_range".to_owned(), "wrap".into()),
    };
    if config.get("scalar_map").is_some() {
        let lists = json!({"encode": map.encode.json, "decode": map.decode.json});
        complete.insert("scalar_map".to_owned(), lists);
    }
    let mut codec = CastValueCodec {
        configuration: complete,
        encoder: caster(&from, &to, &map.encode),
        decoder: caster(&to, &from, &map.decode),
        encoded: context.chunk.clone(),
        from,
        to,
    };
    codec.encoded = codec.encoded_chunk_of(context.chunk, config)?;
    Ok(Codec::ArrayToArray(Box::new(codec)))
}

fn out_of_range(config: Config<'_>, to: &Type) -> Result<OutOfRange, CodecError> {
    let Some(json) = config.get("out_of_range") else { return Ok(OutOfRange::Refuse) };
    match json.as_str() {
        Some("clamp") => Ok(OutOfRange::Clamp),
        Some("wrap") if matches!(to.real, RealType::Integer(_)) => Ok(OutOfRange::Wrap),
        Some("wrap") => {
            let message = format!(
                "'out_of_range' is \"wrap\", but 'data_type' is {}; only integers can wrap",
                to.data_type
            );
            Err(CodecError::invalid(message))
        }
        Some("error") if !config.is_strict() => Ok(OutOfRange::Refuse),
        _ => Err(config::wrong("out_of_range", json, "clamp, wrap, or no member")),
    }
}

/// A real-valued data type.
#[derive(Debug)]
struct Type {
    data_type: DataType,
    real: RealType,
    /// The data type as in v3 metadata.
    json: Json,
}

impl Type {
    fn new(data_type: DataType, registry: &Registry) -> Result<Self, CodecError> {
        let real = RealType::of(&data_type, registry).ok_or_else(|| {
            CodecError::invalid(format!("this codec works on integers and floats, not on {data_type}"))
        })?;
        let json = registry.family(&data_type).and_then(|family| family.to_v3(&data_type));
        let json = json.map_err(|error| CodecError::invalid(error.to_string()))?;
        Ok(Self { data_type, real, json })
    }
}

/// The parsed `scalar_map`.
struct ScalarMap {
    encode: Pairs,
    decode: Pairs,
}

#[derive(Default)]
struct Pairs {
    elements: Vec<(Vec<u8>, Vec<u8>)>,
    json: Vec<Json>,
}

impl ScalarMap {
    fn new(
        config: Config<'_>,
        context: &CodecContext<'_>,
        from: &DataType,
        to: &DataType,
    ) -> Result<Self, CodecError> {
        let empty = Map::default();
        let lists = match config.get("scalar_map") {
            None => &empty,
            Some(json) => {
                let wants = "an object with the lists 'encode' and 'decode'";
                json.as_object().ok_or_else(|| config::wrong("scalar_map", json, wants))?
            }
        };
        let lists = Config::new(lists, context.strictness, &["encode", "decode"]);
        let lists = lists.map_err(|error| error.at("'scalar_map'"))?;
        let pairs = |direction: &str, from: &DataType, to: &DataType| {
            let pairs = lists
                .get(direction)
                .map_or_else(|| Ok(Pairs::default()), |json| Pairs::new(direction, json, context, from, to));
            pairs.map_err(|error| error.at("'scalar_map'"))
        };
        Ok(Self { encode: pairs("encode", from, to)?, decode: pairs("decode", to, from)? })
    }
}

impl Pairs {
    fn new(
        direction: &str,
        json: &Json,
        context: &CodecContext<'_>,
        from: &DataType,
        to: &DataType,
    ) -> Result<Self, CodecError> {
        let wrong = || config::wrong(direction, json, "a list of pairs of scalars");
        let mut pairs = Self::default();
        for pair in json.as_array().ok_or_else(wrong)? {
            let Some([input, output]) = pair.as_array().map(Vec::as_slice) else { return Err(wrong()) };
            let (input, canonical_input) = scalar(direction, input, from, context)?;
            let (output, canonical_output) = scalar(direction, output, to, context)?;
            pairs.elements.push((input, output));
            pairs.json.push(json!([canonical_input, canonical_output]));
        }
        Ok(pairs)
    }
}

/// Parses a scalar in the JSON form of fill values. Returns its bytes and its text.
fn scalar(
    direction: &str,
    json: &Json,
    data_type: &DataType,
    context: &CodecContext<'_>,
) -> Result<(Vec<u8>, Json), CodecError> {
    let family = context.registry.family(data_type).map_err(|e| CodecError::invalid(e.to_string()))?;
    let scalar = family.fill_from_json(data_type, json, context.strictness).map_err(|_| {
        let shown = zarrox_core::internals::json::shown(json, 80);
        CodecError::invalid(format!("'{direction}' has {shown}, which is not a value of {data_type}"))
    })?;
    let canonical = family.fill_to_v3(data_type, &scalar);
    Ok((scalar.as_bytes().to_vec(), canonical))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct CastValueCodec {
    configuration: Map,
    from: Type,
    to: Type,
    encoder: RealCast,
    decoder: RealCast,
    encoded: ChunkSpec,
}

impl CastValueCodec {
    fn encoded_chunk_of(&self, chunk: &ChunkSpec, config: Config<'_>) -> Result<ChunkSpec, CodecError> {
        let fill = chunk.fill().as_bytes();
        let (mut encoded, mut decoded) = (vec![0; self.to.real.size()], vec![0; fill.len()]);
        let in_fill = |error: CodecError| error.at("the array's fill value");
        Elementwise::encode(self, fill, &mut encoded).map_err(in_fill)?;
        let back = Elementwise::decode(self, &encoded, &mut decoded).map_err(|_| ());
        let (was, is) = (self.from.real.read(fill), self.from.real.read(&decoded));
        if config.is_strict() && (back.is_err() || !was.is_same(is)) {
            let message = format!("the array's fill value {was} changes when it is encoded and decoded");
            return Err(CodecError::invalid(message));
        }
        let shape: Vec<u64> = chunk.shape().iter().map(|&length| length as u64).collect();
        let spec = ChunkSpec::new(&shape, self.to.data_type.storage(), FillValue::new(encoded))?;
        Ok(spec.of_type(&self.to.data_type))
    }
}

/// Returns the message for an element that the other type cannot represent.
fn message(refused: &CastFailure, from: &Type, to: &Type) -> String {
    let CastFailure { value, why } = refused;
    let (from, to) = (&from.data_type, &to.data_type);
    match why {
        Missing::NotANumber => format!("{to} has no NaN; map NaN of {from} to another value in 'scalar_map'"),
        Missing::Infinity => {
            format!("{to} has no infinity; map {value} of {from} to another value in 'scalar_map'")
        }
        Missing::OutOfRange => format!("{value} of {from} is outside of the range of {to}"),
    }
}

impl Elementwise for CastValueCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        let cast = self.encoder.cast(decoded, encoded);
        cast.map_err(|refused| CodecError::invalid(message(&refused, &self.from, &self.to)))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        let cast = self.decoder.cast(encoded, decoded);
        cast.map_err(|refused| CodecError::corrupt(message(&refused, &self.to, &self.from)))
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::{EncodeOptions, ReadRegion};
    use zarrox_core::strided::{Span, View, ViewMut};
    use zarrox_core::{CodecChain, Strictness};

    use super::*;
    use crate::testing::{chain, decode_chunk, spec};
    use crate::{Bytes, ScaleOffset, registry};

    const STORE_ALL: EncodeOptions = EncodeOptions { store_empty_chunks: true };

    fn named(name: &str) -> DataType {
        registry().data_type_from_v3(&json!(name)).unwrap()
    }

    /// Encodes elements given as JSON scalars.
    fn elements(data_type: &DataType, scalars: &[Json]) -> Vec<u8> {
        let registry = registry();
        let family = registry.family(data_type).unwrap();
        let element =
            |json| family.fill_from_json(data_type, json, Strictness::Strict).unwrap().as_bytes().to_vec();
        scalars.iter().flat_map(element).collect()
    }

    /// Builds the pipeline for chunks with this number of elements, this data type and this fill value.
    fn make(
        from: &str,
        count: usize,
        fill: &Json,
        codecs: &[CodecSpec],
        strictness: Strictness,
    ) -> Result<CodecChain, CodecError> {
        let data_type = named(from);
        let fill = FillValue::new(elements(&data_type, std::slice::from_ref(fill)));
        let chunk = ChunkSpec::new(&[count as u64], data_type.storage(), fill).unwrap().of_type(&data_type);
        let last = CodecSpec::new("bytes", json!({"endian": "little"}));
        chain(&[codecs, &[last]].concat(), &chunk, &registry(), strictness)
    }

    fn encode(chain: &CodecChain, elements: &[u8]) -> Result<Vec<u8>, CodecError> {
        let mut encoded = Vec::new();
        chain.encode(
            &View::contiguous(elements, chain.chunk().shape(), chain.chunk().item()),
            STORE_ALL,
            &mut encoded,
        )?;
        Ok(encoded)
    }

    /// `CastValue(…)` of zarr-python 3.4.2 with cast-value-rs 0.5.1 (and plain arithmetic for types that it does not support):
    /// the scalars after encoding, and after decoding again.
    #[test]
    fn golden() {
        let int = |name: &str| CastValue::to(&named(name));
        for (from, codec, scalars, becomes, back) in [
            ("float64", int("int8"), json!([0.5, 1.5, -0.5, 2.4, -127.5]), json!([0, 2, 0, 2, -128]), None),
            ("float64", int("uint8").rounding(Rounding::NearestAway), json!([0.5, 2.5]), json!([1, 3]), None),
            (
                "float32",
                int("int8").rounding(Rounding::TowardsZero),
                json!([1.9, -1.9]),
                json!([1, -1]),
                None,
            ),
            (
                "float32",
                int("int8").rounding(Rounding::TowardsPositive),
                json!([1.1, -1.9]),
                json!([2, -1]),
                None,
            ),
            (
                "float32",
                int("int8").rounding(Rounding::TowardsNegative),
                json!([1.9, -1.1]),
                json!([1, -2]),
                None,
            ),
            ("float64", int("int8").clamp(), json!([128, -1e300, 3]), json!([127, -128, 3]), None),
            ("float64", int("int8").wrap(), json!([128, -129, 256.5]), json!([-128, 127, 0]), None),
            (
                "float64",
                int("uint64").wrap(),
                json!([5.649_315_372_573_55e19]),
                json!([1_152_921_504_606_846_976_u64]),
                Some(json!([1_152_921_504_606_846_976_i64])),
            ),
            (
                "int32",
                int("int16").wrap(),
                json!([32768, 32769, -32769]),
                json!([-32768, -32767, 32767]),
                None,
            ),
            (
                "uint64",
                int("float32").rounding(Rounding::TowardsZero),
                json!([u64::MAX]),
                json!([1.844_674_3e19]),
                None,
            ),
            (
                "int32",
                int("float32").rounding(Rounding::NearestAway),
                json!([16_777_217]),
                json!([16_777_218]),
                None,
            ),
            (
                "float64",
                int("float32").clamp(),
                json!([1e300, -3.402_823_57e38]),
                json!(["Infinity", "-Infinity"]),
                Some(json!(["Infinity", "-Infinity"])),
            ),
            (
                "float64",
                int("float32").rounding(Rounding::TowardsZero),
                json!([3.402_823_57e38]),
                json!([3.402_823_466_385_288_6e38]),
                None,
            ),
            (
                "float64",
                int("float16").rounding(Rounding::TowardsPositive),
                json!([1e-8, 3e-8]),
                json!(["0x0001", "0x0001"]),
                None,
            ),
            (
                "float64",
                int("float32"),
                json!([-0.0, "NaN", "-Infinity"]),
                json!([-0.0, "NaN", "-Infinity"]),
                Some(json!([-0.0, "NaN", "-Infinity"])),
            ),
            (
                "float64",
                int("uint8").map_encode("NaN", 255).map_encode(-0.0, 7).map_decode(255, "NaN"),
                json!(["NaN", 0.0, 3]),
                json!([255, 7, 3]),
                Some(json!(["NaN", 7.0, 3.0])),
            ),
            ("int16", int("int4").clamp(), json!([-9, 8, 3]), json!([-8, 7, 3]), Some(json!([-8, 7, 3]))),
            ("int16", int("uint2").wrap(), json!([-1, 4, 3]), json!([3, 0, 3]), Some(json!([3, 0, 3]))),
            ("float32", int("bfloat16"), json!([1.003_906_25, 1.011_718_75]), json!([1.0, 1.015_625]), None),
        ] {
            let scalars = scalars.as_array().unwrap();
            let chain =
                make(from, scalars.len(), &json!(0), &[codec.clone().into()], Strictness::Lenient).unwrap();
            let data = elements(&named(from), scalars);
            let encoded = encode(&chain, &data).unwrap();
            let to = codec.configuration["data_type"].as_str().unwrap();
            let mut expected = elements(&named(to), becomes.as_array().unwrap());
            if cfg!(target_endian = "big") {
                expected.chunks_exact_mut(named(to).size()).for_each(<[u8]>::reverse);
            }
            assert_eq!(encoded, expected, "{from} {}", CodecSpec::from(codec.clone()));
            if let Some(back) = back {
                let back = elements(&named(from), back.as_array().unwrap());
                assert_eq!(decode_chunk(&chain, &encoded).unwrap(), back, "{from}");
            }
        }
    }

    #[test]
    fn unrepresentable_elements_are_named_in_errors() {
        let int = |name: &str| CastValue::to(&named(name));
        for (from, codec, scalar, says) in [
            ("float64", int("int8"), json!(128), "128.0 of float64 is outside of the range of int8"),
            ("float64", int("int8").clamp(), json!("NaN"), "int8 has no NaN; map NaN of float64"),
            ("float64", int("int8").clamp(), json!("-Infinity"), "int8 has no infinity; map -inf"),
            ("float64", int("uint8").wrap(), json!("Infinity"), "no infinity"),
            (
                "uint64",
                int("int64"),
                json!(u64::MAX),
                "18446744073709551615 of uint64 is outside of the range",
            ),
            ("float64", int("float32"), json!(3.402_823_57e38), "outside of the range of float32"),
            (
                "int64",
                int("float16").rounding(Rounding::TowardsZero),
                json!(65536),
                "65536 of int64 is outside of",
            ),
            ("float32", int("float4_e2m1fn"), json!("NaN"), "float4_e2m1fn has no NaN"),
        ] {
            let chain = make(from, 1500, &json!(0), &[codec.into()], Strictness::Strict).unwrap();
            for place in [0, 1023, 1024, 1499] {
                let mut scalars = vec![json!(1); 1500];
                scalars[place] = scalar.clone();
                let error = encode(&chain, &elements(&named(from), &scalars)).unwrap_err().to_string();
                assert!(error.contains("codec 'cast_value'") && error.contains(says), "{error}");
            }
        }
        let chain = make("int8", 3, &json!(0), &[int("int16").into()], Strictness::Strict).unwrap();
        let error = decode_chunk(&chain, &[1, 0, 2, 0, 0, 1]).unwrap_err();
        assert_eq!(error.kind(), zarrox_core::ErrorKind::Corrupt);
        assert!(error.to_string().contains("256 of int16 is outside of the range of int8"), "{error}");
    }

    #[test]
    fn many_scalars_are_mapped_like_few() {
        for count in [1, 15, 16, 300] {
            let mut codec = CastValue::to(&named("uint16"));
            for n in 0..count {
                codec =
                    codec.map_encode(f64::from(n) + 0.5, 1000 + n).map_decode(1000 + n, f64::from(n) + 0.5);
                // If a scalar has several entries, the first one takes precedence.
                codec = codec.map_encode(f64::from(n) + 0.5, 1).map_decode(1000 + n, 1);
            }
            let codec = codec.map_encode("NaN", 9999).map_decode(9999, "NaN");
            let chain = make("float32", 2500, &json!(0), &[codec.into()], Strictness::Strict).unwrap();
            let scalars: Vec<Json> = (0..2500)
                .map(|n| match n % 7 {
                    0 => json!("NaN"),
                    1 => json!(f64::from(n % count) + 0.5),
                    _ => json!(n % 900),
                })
                .collect();
            let data = elements(&named("float32"), &scalars);
            let encoded = encode(&chain, &data).unwrap();
            assert_eq!(decode_chunk(&chain, &encoded).unwrap(), data, "{count} entries");
        }
    }

    #[test]
    fn parts_of_chunks() {
        let codecs = [ScaleOffset::new(-10, 2).into(), CastValue::to(&named("int16")).into()];
        let data_type = named("float64");
        let fill = FillValue::new(0.0_f64.to_ne_bytes());
        let chunk = ChunkSpec::new(&[40, 30], data_type.storage(), fill).unwrap().of_type(&data_type);
        let chain =
            chain(&[&codecs[..], &[Bytes::big().into()]].concat(), &chunk, &registry(), Strictness::Strict)
                .unwrap();
        let data: Vec<f64> = (0..1200).map(|n| f64::from(n) / 2.0).collect();
        let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let encoded = encode(&chain, &bytes).unwrap();
        assert_eq!(encoded[..4], [0, 20, 0, 21]);
        let region = [Span { start: 3, step: 7, count: 5 }, Span { start: 29, step: 1, count: 1 }];
        let mut part = [0; 40];
        let out = ViewMut::contiguous(&mut part, &[5, 1], 8);
        chain.decode(&encoded, ReadRegion::new(region.into_iter().collect(), out)).unwrap();
        let read: Vec<f64> = part.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        assert_eq!(read, [3, 10, 17, 24, 31].map(|row| data[row * 30 + 29]));
    }

    #[test]
    fn fill_values() {
        let codec = |spec: CastValue| [CodecSpec::from(spec)];
        let cast =
            |fill: Json, spec: CastValue, strictness| make("float64", 4, &fill, &codec(spec), strictness);
        let int16 = || CastValue::to(&named("int16"));
        let mapped = || int16().map_encode("NaN", -1).map_decode(-1, "NaN");
        for strictness in [Strictness::Lenient, Strictness::Strict] {
            for fill in [json!("NaN"), json!(1e9)] {
                let error = cast(fill, int16(), strictness).unwrap_err().to_string();
                assert!(error.contains("codec 'cast_value': the array's fill value: "), "{error}");
            }
            cast(json!("NaN"), mapped(), strictness).unwrap();
            cast(json!(-3), int16(), strictness).unwrap();
        }
        for (fill, spec) in [
            (json!(0.5), int16()),
            (json!("NaN"), int16().map_encode("NaN", -1)),
            (json!(1e9), int16().clamp()),
        ] {
            cast(fill.clone(), spec.clone(), Strictness::Lenient).unwrap();
            let error = cast(fill, spec, Strictness::Strict).unwrap_err().to_string();
            assert!(error.contains("changes when it is encoded and decoded"), "{error}");
        }
        // The next codec receives the encoded fill value.
        let codecs = [mapped().into(), CastValue::to(&named("int8")).into()];
        let chain = make("float64", 2, &json!("NaN"), &codecs, Strictness::Strict).unwrap();
        let fill = elements(&named("float64"), &[json!("NaN"), json!(3)]);
        assert_eq!(encode(&chain, &fill).unwrap(), [0xff, 3]);
        let bad = [mapped().into(), CastValue::to(&named("uint8")).into()];
        assert!(make("float64", 2, &json!("NaN"), &bad, Strictness::Lenient).is_err(), "-1 is not a uint8");
    }

    #[test]
    fn what_is_only_encoded_like_the_fill_value_is_stored() {
        let codecs = [
            CastValue::to(&named("int8")).into(),
            crate::Sharding::new([2], [Bytes::little().into()]).into(),
        ];
        let data_type = named("float64");
        let fill = FillValue::new(0.25_f64.to_ne_bytes());
        let chunk = ChunkSpec::new(&[4], data_type.storage(), fill).unwrap().of_type(&data_type);
        let chain = chain(&codecs, &chunk, &registry(), Strictness::Lenient).unwrap();
        let skip = EncodeOptions { store_empty_chunks: false };
        let encode = |value: f64| {
            let (data, mut encoded) = (value.to_ne_bytes().repeat(4), Vec::new());
            let stored = chain.encode(&View::contiguous(&data, &[4], 8), skip, &mut encoded).unwrap();
            stored.then(|| decode_chunk(&chain, &encoded).unwrap())
        };
        assert_eq!(encode(0.25), None);
        assert_eq!(encode(0.125), Some(0.0_f64.to_ne_bytes().repeat(4)));
        assert_eq!(encode(3.0), Some(3.0_f64.to_ne_bytes().repeat(4)));
    }

    #[test]
    fn configurations() {
        let make = |from: &str, configuration: Json, strictness| {
            make(from, 1, &json!(0), &[spec(NAME, configuration)], strictness)
                .map(|chain| chain.specs()[0].clone())
        };
        for (given, complete) in [
            (json!({"data_type": "int8"}), json!({"data_type": "int8", "rounding": "nearest-even"})),
            (
                json!({"data_type": {"name": "int8"}, "rounding": null, "out_of_range": "error"}),
                json!({"data_type": "int8", "rounding": "nearest-even"}),
            ),
            (
                json!({"data_type": "int8", "rounding": "towards-zero", "out_of_range": "wrap", "scalar_map": {"encode": [["NaN", 0], ["+Infinity", 1]]}}),
                json!({"data_type": "int8", "rounding": "towards-zero", "out_of_range": "wrap", "scalar_map": {"encode": [["NaN", 0], ["Infinity", 1]], "decode": []}}),
            ),
        ] {
            assert_eq!(make("float64", given, Strictness::Lenient).unwrap(), spec(NAME, complete.clone()));
            assert_eq!(make("float64", complete.clone(), Strictness::Strict).unwrap(), spec(NAME, complete));
        }
        for (bad, says) in [
            (json!({}), "lacks 'data_type'"),
            (json!({"data_type": "nosuch"}), "'data_type': unknown data type"),
            (json!({"data_type": 8}), "'data_type'"),
            (json!({"data_type": "complex64"}), "not on complex64"),
            (json!({"data_type": "bool"}), "not on bool"),
            (json!({"data_type": "string"}), "not on string"),
            (
                json!({"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}}),
                "not on datetime64[s]",
            ),
            (json!({"data_type": "int8", "rounding": "up"}), "'rounding' is \"up\""),
            (json!({"data_type": "int8", "out_of_range": "saturate"}), "'out_of_range'"),
            (json!({"data_type": "float32", "out_of_range": "wrap"}), "only integers can wrap"),
            (json!({"data_type": "int8", "nosuch": 1}), "nosuch"),
            (json!({"data_type": "int8", "scalar_map": []}), "'scalar_map'"),
            (
                json!({"data_type": "int8", "scalar_map": {"nosuch": []}}),
                "'scalar_map': unknown member 'nosuch'",
            ),
            (json!({"data_type": "int8", "scalar_map": {"encode": {}}}), "'scalar_map': 'encode'"),
            (json!({"data_type": "int8", "scalar_map": {"encode": [[1]]}}), "a list of pairs"),
            (json!({"data_type": "int8", "scalar_map": {"encode": [[1, 2, 3]]}}), "a list of pairs"),
            (
                json!({"data_type": "int8", "scalar_map": {"encode": [[1, 128]]}}),
                "'encode' has 128, which is not a value of int8",
            ),
            (
                json!({"data_type": "int8", "scalar_map": {"decode": [["NaN", 1]]}}),
                "'decode' has \"NaN\", which is not a value of int8",
            ),
        ] {
            for strictness in [Strictness::Lenient, Strictness::Strict] {
                let error = make("float64", bad.clone(), strictness).unwrap_err().to_string();
                assert!(error.contains("codec 'cast_value'") && error.contains(says), "{bad}: {error}");
            }
        }
        let complex = ChunkSpec::new(&[1], named("complex64").storage(), FillValue::zero(8)).unwrap();
        let codecs = [spec(NAME, json!({"data_type": "int8"}))];
        let error = chain(&codecs, &complex, &registry(), Strictness::Lenient).unwrap_err().to_string();
        assert!(error.contains("not on complex64"), "{error}");
        assert!(
            make("float64", json!({"data_type": "int8", "out_of_range": "error"}), Strictness::Strict)
                .is_err()
        );
    }
}
