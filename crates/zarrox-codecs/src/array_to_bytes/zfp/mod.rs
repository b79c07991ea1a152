//! `zfp`: lossy or lossless compression of numbers in one to four dimensions with zfp. A chunk is a stream without a header.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp>
//!
//! | `mode` | members | meaning |
//! |---|---|---|
//! | `"reversible"` | | lossless |
//! | `"fixed_accuracy"` | `tolerance` | the maximum change of any float |
//! | `"fixed_precision"` | `precision` | the number of bit planes to keep in each block |
//! | `"fixed_rate"` | `rate` | the average number of bits per element |
//! | `"expert"` | `minbits`, `maxbits`, `maxprec`, `minexp` | zfp's own parameters |
//!
//! Names: `zfp` in v3, and two former names of zarrs; v2 has [`zfpy`](crate::array_to_bytes::zfp::zfpy). In the lenient mode, the
//! member `write_header`, which early versions of zarrs wrote, is accepted. The last axis of a chunk is the first axis in zfp. In
//! the lossy modes, integers must not use the two highest bits (8-bit and 16-bit integers are not affected, since they are
//! widened), and floats must be finite.
//!
//! With `fixed_rate`, zarrs computes the size of a block as if every chunk had three dimensions. The length of a chunk reveals
//! which size was used, so the lenient mode reads both. The strict mode only reads the size in the specification, and this size
//! is always used for writing.

pub(crate) mod stream;
pub(crate) mod zfpy;

use zarrox_core::codec::{
    ArrayToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion, Size,
};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;
use zarrox_core::{CodecSpec, Strictness};
use zfp_rs::{ZFP_MAX_BITS, ZFP_MIN_EXP, ZfpConfig, ZfpDimensionality, ZfpScalarType, ZfpStreamAlignment};

use crate::array_to_bytes::zfp::stream::{ZfpChunk, fixed_size};
use crate::config::{self, Config};

const NAME: &str = "zfp";

/// The definition of `zfp`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"]);

/// zfp: for smooth multidimensional data; lossy within a given bound, or lossless.
#[derive(Debug, Clone, PartialEq)]
pub struct Zfp {
    configuration: Json,
}

impl Zfp {
    /// Compresses losslessly.
    pub fn reversible() -> Self {
        Self { configuration: json!({"mode": "reversible"}) }
    }

    /// Changes floats by at most the tolerance.
    pub fn fixed_accuracy(tolerance: f64) -> Self {
        Self { configuration: json!({"mode": "fixed_accuracy", "tolerance": tolerance}) }
    }

    /// Keeps this number of bit planes in each block, which limits the relative error.
    pub fn fixed_precision(bits: u32) -> Self {
        Self { configuration: json!({"mode": "fixed_precision", "precision": bits}) }
    }

    /// Uses this number of bits per element on average. All chunks have the same encoded size.
    pub fn fixed_rate(bits: f64) -> Self {
        Self { configuration: json!({"mode": "fixed_rate", "rate": bits}) }
    }

    /// Sets zfp's own parameters: the minimum and maximum number of bits of a block, the maximum number of bit planes, and the
    /// minimum exponent.
    pub fn expert(minbits: u32, maxbits: u32, maxprec: u32, minexp: i32) -> Self {
        let configuration = json!({
            "mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": minexp,
        });
        Self { configuration }
    }
}

impl From<Zfp> for CodecSpec {
    fn from(codec: Zfp) -> Self {
        Self::new(NAME, codec.configuration)
    }
}

/// The modes, and the members of each mode.
const MODES: &[(&str, &[&str])] = &[
    ("reversible", &[]),
    ("fixed_accuracy", &["tolerance"]),
    ("fixed_precision", &["precision"]),
    ("fixed_rate", &["rate"]),
    ("expert", &["minbits", "maxbits", "maxprec", "minexp"]),
];

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let mode = configuration.get("mode").ok_or_else(|| config::missing("mode"))?;
    let Some((mode, members)) = MODES.iter().find(|(name, _)| mode == name) else {
        let names: Vec<_> = MODES.iter().map(|(name, _)| *name).collect();
        return Err(config::wrong("mode", mode, &format!("one of {}", names.join(", "))));
    };
    let mut known = [&["mode"], *members].concat();
    if context.strictness == Strictness::Lenient {
        known.push("write_header");
    }
    let config = config::read(configuration, context, &known)?;
    let chunk = ZfpChunk::new(context)?;
    let dimensions = dimensions(context.chunk.shape().len()).ok_or_else(|| chunk.too_many_dimensions())?;
    let (configuration, parameters) = parameters(mode, config, &chunk, dimensions)?;
    let is_rate = *mode == "fixed_rate";
    let foreign = match is_rate && !config.is_strict() {
        true => fixed_rate(rate(config)?, &chunk, ZfpDimensionality::D3).ok(),
        false => None,
    };
    let header = config.boolean("write_header", false)?;
    let mut configuration = config::members(configuration);
    if header {
        configuration.insert("write_header".to_owned(), true.into());
    }
    Ok(Codec::ArrayToBytes(Box::new(ZfpCodec { configuration, parameters, is_rate, foreign, header, chunk })))
}

/// Returns zfp's number of dimensions. An array without dimensions counts as one-dimensional.
pub(crate) fn dimensions(count: usize) -> Option<ZfpDimensionality> {
    match count {
        0 | 1 => Some(ZfpDimensionality::D1),
        2 => Some(ZfpDimensionality::D2),
        3 => Some(ZfpDimensionality::D3),
        4 => Some(ZfpDimensionality::D4),
        _ => None,
    }
}

/// Returns the complete configuration of a mode, and zfp's parameters.
fn parameters(
    mode: &str,
    config: Config<'_>,
    chunk: &ZfpChunk,
    dimensions: ZfpDimensionality,
) -> Result<(Json, ZfpConfig), CodecError> {
    Ok(match mode {
        "fixed_accuracy" => {
            let tolerance = number(config, "tolerance")?;
            if chunk.is_integer() {
                return Err(CodecError::unsupported(ACCURACY_OF_INTEGERS));
            }
            (json!({"mode": mode, "tolerance": tolerance}), ZfpConfig::fixed_accuracy(tolerance))
        }
        "fixed_precision" => {
            let precision = unsigned(config, "precision")?;
            (json!({"mode": mode, "precision": precision}), ZfpConfig::fixed_precision(precision))
        }
        "fixed_rate" => {
            let rate = rate(config)?;
            (json!({"mode": mode, "rate": rate}), fixed_rate(rate, chunk, dimensions)?)
        }
        "expert" => expert(config, chunk.scalar())?,
        _ => (json!({"mode": "reversible"}), ZfpConfig::reversible()),
    })
}

/// The error message for a tolerance with integers.
pub(crate) const ACCURACY_OF_INTEGERS: &str =
    "zfp has no fixed accuracy for integers; use the reversible mode, a fixed rate or a fixed precision";

fn rate(config: Config<'_>) -> Result<f64, CodecError> {
    number(config, "rate")
}

/// Returns the parameters for a fixed rate, for chunks with this number of dimensions.
pub(crate) fn fixed_rate(
    rate: f64,
    chunk: &ZfpChunk,
    dimensions: ZfpDimensionality,
) -> Result<ZfpConfig, CodecError> {
    let config = ZfpConfig::fixed_rate(rate, chunk.scalar(), dimensions, ZfpStreamAlignment::Unaligned);
    config.map_err(|_| {
        CodecError::invalid(format!("'rate' is {rate}, which is not a valid rate for zfp's blocks"))
    })
}

fn expert(config: Config<'_>, scalar: ZfpScalarType) -> Result<(Json, ZfpConfig), CodecError> {
    let [minbits, maxbits, maxprec] = ["minbits", "maxbits", "maxprec"].map(|name| unsigned(config, name));
    let (minbits, maxbits, maxprec) = (minbits?, maxbits?, maxprec?);
    let minexp = config.get("minexp").ok_or_else(|| config::missing("minexp"))?;
    let minexp = config
        .to_integer(minexp)
        .and_then(|minexp| i32::try_from(minexp).ok())
        .ok_or_else(|| config::wrong("minexp", minexp, "an integer"))?;
    // With fewer bits, a counter in zfp's own library would drop below 0.
    let fewest = match (scalar, minexp < ZFP_MIN_EXP) {
        (ZfpScalarType::F32, true) => 15,
        (ZfpScalarType::F64, true) => 19,
        (ZfpScalarType::F32, false) => 9,
        (ZfpScalarType::F64, false) => 12,
        (ZfpScalarType::I32, true) => 5,
        (ZfpScalarType::I64, true) => 6,
        (ZfpScalarType::I32 | ZfpScalarType::I64, false) => 1,
    };
    let fits = maxbits >= fewest && minbits <= ZFP_MAX_BITS;
    let config = ZfpConfig::expert(minbits, maxbits, maxprec, minexp).ok().filter(|_| fits);
    let config = config.ok_or_else(|| {
        CodecError::invalid(format!(
            "'minbits' is {minbits}, 'maxbits' {maxbits} and 'maxprec' {maxprec}; zfp needs minbits <= maxbits, \
             minbits <= {ZFP_MAX_BITS}, maxbits >= {fewest} for numbers of the type {scalar}, and maxprec from 1 to 64"
        ))
    })?;
    let configuration = json!({
        "mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": minexp,
    });
    Ok((configuration, config))
}

/// Reads a non-negative number.
fn number(config: Config<'_>, name: &str) -> Result<f64, CodecError> {
    let json = config.get(name).ok_or_else(|| config::missing(name))?;
    let number = json.as_f64().filter(|number| *number >= 0.0 && number.is_finite());
    number.ok_or_else(|| config::wrong(name, json, "a non-negative number"))
}

/// Reads a non-negative integer.
fn unsigned(config: Config<'_>, name: &str) -> Result<u32, CodecError> {
    let json = config.get(name).ok_or_else(|| config::missing(name))?;
    let number = config.to_integer(json).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| config::wrong(name, json, "a non-negative integer"))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ZfpCodec {
    configuration: Map,
    parameters: ZfpConfig,
    /// True if the rate is fixed, so that all chunks of the same shape have the same length.
    is_rate: bool,
    /// The parameters for the fixed rate as computed by zarrs.
    foreign: Option<ZfpConfig>,
    header: bool,
    chunk: ZfpChunk,
}

impl ZfpCodec {
    /// Returns the compression parameters of a chunk of this length.
    fn parameters_of(&self, length: usize) -> Result<&ZfpConfig, CodecError> {
        let dims = self.chunk.dims()?;
        let is_of = |config: &&ZfpConfig| fixed_size(dims, config.max_bits()) == Some(length);
        if !self.is_rate || self.header || is_of(&&self.parameters) {
            return Ok(&self.parameters);
        }
        let foreign = self.foreign.as_ref().filter(is_of);
        foreign.ok_or_else(|| {
            CodecError::corrupt(format!("a chunk of this shape and rate cannot have {length} bytes"))
        })
    }
}

impl ArrayToBytes for ZfpCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self) -> Size {
        // Other writers may have computed the size of a block differently.
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let parameters = self.parameters_of(encoded.len());
        let decoded = parameters.and_then(|parameters| {
            self.chunk.decode(encoded, Some(parameters).filter(|_| !self.header), part)
        });
        decoded.map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        self.chunk.encode(chunk, &self.parameters, self.header, encoded)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::CodecChain;
    use zarrox_core::data_type::Storage;
    use zarrox_testkit::codec::{Integrity, Random, array_suite_of};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let storages = [
            Storage::Int(1),
            Storage::Int(2),
            Storage::Int(4),
            Storage::Int(8),
            Storage::Uint(1),
            Storage::Uint(2),
            Storage::Float(4),
            Storage::Float(8),
        ];
        let shapes: &[&[u64]] = &[&[], &[1], &[70], &[7, 5], &[3, 4, 5], &[2, 3, 4, 5]];
        let integrity = Integrity::Unchecked;
        array_suite_of(&registry(), &storages, shapes, integrity, |_| vec![Zfp::reversible().into()]);
    }

    fn make(
        configuration: Json,
        shape: &[u64],
        storage: Storage,
        mode: Strictness,
    ) -> Result<CodecChain, CodecError> {
        chain(&[spec("zfp", configuration)], &chunk(shape, storage), &registry(), mode)
    }

    fn encode(chain: &CodecChain, decoded: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let view = View::contiguous(decoded, chain.chunk().shape(), chain.chunk().item());
        chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap();
        encoded
    }

    #[test]
    fn tolerances_hold() {
        let mut random = Random::new(3);
        let smooth = |i: usize| (i as f64 * 0.1).sin() * 1000.0;
        for shape in [&[200][..], &[20, 10], &[5, 8, 5], &[2, 5, 4, 5]] {
            let noise = random.bytes(200);
            for tolerance in [1e-6, 0.3, 50.0] {
                let of = |i: usize| smooth(i) + f64::from(noise[i]);
                let wide: Vec<u8> = (0..200).flat_map(|i| of(i).to_ne_bytes()).collect();
                let configuration = json!({"mode": "fixed_accuracy", "tolerance": tolerance});
                let chain = make(configuration, shape, Storage::Float(8), Strictness::Strict).unwrap();
                let encoded = encode(&chain, &wide);
                assert!(tolerance < 1.0 || encoded.len() < wide.len());
                let decoded = decode_chunk(&chain, &encoded).unwrap();
                let decoded = decoded.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
                let error = decoded.enumerate().map(|(i, x)| (x - of(i)).abs()).fold(0.0, f64::max);
                assert!(error <= tolerance, "{shape:?}: {error} for {tolerance}");
            }
        }
    }

    #[test]
    fn the_last_axis_is_the_fastest() {
        // All rows are equal, so all blocks of 4 x 4 in the same columns are equal too. The columns differ.
        let rows: Vec<u8> = (0..64).flat_map(|i| f64::from(i % 16).to_ne_bytes()).collect();
        let columns: Vec<u8> = (0..64).flat_map(|i| f64::from(i / 4).to_ne_bytes()).collect();
        let codec = |shape: &[u64]| {
            make(json!({"mode": "reversible"}), shape, Storage::Float(8), Strictness::Strict).unwrap()
        };
        assert_eq!(decode_chunk(&codec(&[4, 16]), &encode(&codec(&[4, 16]), &rows)).unwrap(), rows);
        assert!(decode_chunk(&codec(&[16, 4]), &encode(&codec(&[4, 16]), &rows)).unwrap() != rows);
        assert_eq!(decode_chunk(&codec(&[16, 4]), &encode(&codec(&[16, 4]), &columns)).unwrap(), columns);
    }

    #[test]
    fn rates_as_zarrs_computes_them() {
        // In one dimension, a rate of 4 in zarrs results in blocks of 4 * 64 bits, which are also the result of a rate of 64.
        let numbers: Vec<u8> = (0..40).flat_map(|i| f64::from(i).sqrt().to_ne_bytes()).collect();
        let of = |rate: f64, mode| {
            make(json!({"mode": "fixed_rate", "rate": rate}), &[40], Storage::Float(8), mode).unwrap()
        };
        let foreign = encode(&of(64.0, Strictness::Strict), &numbers);
        let decoded = decode_chunk(&of(64.0, Strictness::Strict), &foreign).unwrap();
        assert_eq!(decode_chunk(&of(4.0, Strictness::Lenient), &foreign).unwrap(), decoded);
        assert_error(decode_chunk(&of(4.0, Strictness::Strict), &foreign), ErrorKind::Corrupt, "320 bytes");
        let own = encode(&of(4.0, Strictness::Lenient), &numbers);
        assert_eq!((own.len(), foreign.len()), (10 * 16 / 8 + 4, 10 * 256 / 8));
        let strictly = decode_chunk(&of(4.0, Strictness::Strict), &own).unwrap();
        assert_eq!(decode_chunk(&of(4.0, Strictness::Lenient), &own).unwrap(), strictly);
    }

    #[test]
    fn configurations() {
        let float = |configuration, mode| make(configuration, &[4, 4], Storage::Float(4), mode);
        let complete = |configuration| {
            let chain = float(configuration, Strictness::Lenient).unwrap();
            Json::Object(chain.specs().remove(0).configuration)
        };
        assert_eq!(
            complete(json!({"mode": "expert", "minbits": 1.0, "maxbits": 13, "maxprec": 19, "minexp": -2.0})),
            json!({"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2})
        );
        for (bad, says) in [
            (json!({}), "'mode'"),
            (json!({"mode": 4}), "one of reversible, fixed_accuracy"),
            (json!({"mode": "reversible", "rate": 1}), "'rate'"),
            (json!({"mode": "fixed_rate"}), "'rate'"),
            (json!({"mode": "fixed_rate", "rate": -1}), "'rate'"),
            (json!({"mode": "fixed_rate", "rate": 1e300}), "'rate'"),
            (json!({"mode": "fixed_accuracy", "tolerance": "1"}), "'tolerance'"),
            (json!({"mode": "fixed_accuracy", "tolerance": -1}), "'tolerance'"),
            (json!({"mode": "fixed_precision", "precision": -1}), "'precision'"),
            (json!({"mode": "fixed_precision", "precision": 1.5}), "'precision'"),
            (json!({"mode": "fixed_precision", "precision": 1_u64 << 40}), "'precision'"),
            (json!({"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19}), "'minexp'"),
            (json!({"mode": "expert", "minbits": 14, "maxbits": 13, "maxprec": 19, "minexp": 0}), "minbits"),
            (json!({"mode": "expert", "minbits": 1, "maxbits": 8, "maxprec": 19, "minexp": 0}), "maxbits"),
            (
                json!({"mode": "expert", "minbits": 1, "maxbits": 14, "maxprec": 19, "minexp": -2000}),
                "maxbits",
            ),
            (json!({"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 65, "minexp": 0}), "maxprec"),
            (
                json!({"mode": "expert", "minbits": 1 << 20, "maxbits": 1 << 20, "maxprec": 9, "minexp": 0}),
                "minbits",
            ),
        ] {
            let error = float(bad, Strictness::Lenient).unwrap_err().to_string();
            assert!(error.contains("codec 'zfp'") && error.contains(says), "{error}");
        }
        let reversible = || json!({"mode": "reversible"});
        for storage in
            [Storage::Bool, Storage::Float(2), Storage::Complex(8), Storage::Raw(4), Storage::Variable]
        {
            assert_error(
                make(reversible(), &[4], storage, Strictness::Lenient),
                ErrorKind::Unsupported,
                "but the elements are",
            );
        }
        let error = make(reversible(), &[1, 2, 3, 4, 5], Storage::Int(4), Strictness::Lenient)
            .unwrap_err()
            .to_string();
        assert!(error.contains("4 dimensions"), "{error}");
        let accuracy = json!({"mode": "fixed_accuracy", "tolerance": 1});
        let error = make(accuracy, &[4], Storage::Int(4), Strictness::Lenient).unwrap_err().to_string();
        assert!(error.contains("integers"), "{error}");
    }

    #[test]
    fn headers_of_early_zarrs() {
        // zfpy 1.0.1: `compress_numpy(np.arange(4, dtype='f4'))`
        let golden = hex("7a6670053200000000000088050e1400");
        let with_header = json!({"mode": "reversible", "write_header": true});
        let chain = make(with_header.clone(), &[4], Storage::Float(4), Strictness::Lenient).unwrap();
        let numbers = [0.0, 1.0, 2.0, 3.0].map(f32::to_ne_bytes).concat();
        assert_eq!(decode_chunk(&chain, &golden).unwrap(), numbers);
        assert_eq!(encode(&chain, &numbers), golden);
        assert_eq!(Json::Object(chain.specs().remove(0).configuration), with_header);
        assert_error(
            make(with_header, &[4], Storage::Float(4), Strictness::Strict),
            ErrorKind::InvalidMetadata,
            "'write_header'",
        );
    }
}
