//! `numcodecs.zfpy`: compression with zfp in numcodecs' format. A chunk is a stream with a header that contains all parameters.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/compression/zfpy.html>
//!
//! | member | value |
//! |---|---|
//! | `mode` | zfp's number for the compression mode: 2 is fixed rate, 3 fixed precision, 4 fixed accuracy |
//! | `rate` | in mode 2: the average number of bits per element |
//! | `precision` | in mode 3: the number of bit planes to keep in each block |
//! | `tolerance` | in mode 4: the maximum change of a float |
//! | `compression_kwargs` | the member of the mode, repeated; it is only written |
//!
//! Names: `numcodecs.zfpy` in v3, and two former names of zarrs; `zfpy` in v2. The value -1, which is the default of these three
//! members, makes the codec lossless; zarrs writes mode 5 for this. All members have defaults in numcodecs, so they may be
//! absent.
//!
//! numcodecs stores integers and floats of 32 and 64 bits in up to four dimensions, and datetimes as their counts. Chunks of
//! other integer types (written by zarrs) and with more dimensions (written by old releases of numcodecs) are read but not
//! written.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    ArrayToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion, Size,
};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;
use zfp_rs::{ZfpConfig, ZfpMode};

use crate::array_to_bytes::zfp::stream::ZfpChunk;
use crate::array_to_bytes::zfp::{ACCURACY_OF_INTEGERS, dimensions, fixed_rate};
use crate::config::{self, Config};

const NAME: &str = "numcodecs.zfpy";

/// The definition of `numcodecs.zfpy`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"])
    .v2_id("zfpy")
    .with_from_v2(|members, _| {
        let defaults = json!({
            "mode": ACCURACY, "compression_kwargs": null, "tolerance": -1, "rate": -1, "precision": -1,
        });
        Ok(config::from_v2(members, defaults))
    });

const RATE: i32 = 2;
const PRECISION: i32 = 3;
const ACCURACY: i32 = 4;
const REVERSIBLE: i32 = 5;

/// Compression with zfp in numcodecs' format.
#[derive(Debug, Clone, PartialEq)]
pub struct Zfpy {
    configuration: Map,
}

impl Zfpy {
    /// Compresses losslessly.
    pub fn reversible() -> Self {
        Self { configuration: complete(ACCURACY, "tolerance", (-1).into()) }
    }

    /// Changes floats by at most the tolerance.
    pub fn fixed_accuracy(tolerance: f64) -> Self {
        Self { configuration: complete(ACCURACY, "tolerance", tolerance.into()) }
    }

    /// Keeps this number of bit planes in each block, which limits the relative error.
    pub fn fixed_precision(bits: u32) -> Self {
        Self { configuration: complete(PRECISION, "precision", bits.into()) }
    }

    /// Uses this number of bits per element on average.
    pub fn fixed_rate(bits: f64) -> Self {
        Self { configuration: complete(RATE, "rate", bits.into()) }
    }
}

impl From<Zfpy> for CodecSpec {
    fn from(codec: Zfpy) -> Self {
        Self { name: NAME.to_owned(), configuration: codec.configuration }
    }
}

/// Returns all members as numcodecs writes them.
fn complete(mode: i32, member: &str, value: Json) -> Map {
    let mut configuration = config::members(json!({
        "mode": mode, "compression_kwargs": {member: value}, "tolerance": -1, "rate": -1, "precision": -1,
    }));
    configuration.insert(member.to_owned(), value);
    configuration
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let known = ["mode", "compression_kwargs", "tolerance", "rate", "precision"];
    let config = config::read(configuration, context, &known)?;
    let chunk = ZfpChunk::new(context)?;
    let mode = match config.get("mode") {
        None => ACCURACY,
        Some(_) => config.integer("mode", RATE..=REVERSIBLE, ACCURACY)?,
    };
    let (member, parameters) = match mode {
        RATE => ("rate", of_rate(config, &chunk, context.chunk.shape().len())?),
        PRECISION => ("precision", of_precision(config)?),
        ACCURACY => ("tolerance", value(config, "tolerance")?.map(ZfpConfig::fixed_accuracy)),
        _ => ("tolerance", None),
    };
    let json = config.get(member).filter(|_| mode != REVERSIBLE && parameters.is_some());
    let mode = if mode == REVERSIBLE { ACCURACY } else { mode };
    Ok(Codec::ArrayToBytes(Box::new(ZfpyCodec {
        configuration: complete(mode, member, json.cloned().unwrap_or_else(|| (-1).into())),
        parameters: parameters.unwrap_or_else(ZfpConfig::reversible),
        chunk,
    })))
}

fn of_rate(config: Config<'_>, chunk: &ZfpChunk, ndim: usize) -> Result<Option<ZfpConfig>, CodecError> {
    // Chunks with more dimensions than zfp supports are only read.
    let Some(dimensions) = dimensions(ndim) else { return Ok(None) };
    value(config, "rate")?.map(|rate| fixed_rate(rate, chunk, dimensions)).transpose()
}

fn of_precision(config: Config<'_>) -> Result<Option<ZfpConfig>, CodecError> {
    let Some(json) = config.get("precision") else { return Ok(None) };
    let precision = config.to_integer(json).ok_or_else(|| config::wrong("precision", json, "an integer"))?;
    // zfp accepts a precision that exceeds the number of bits of an element.
    let precision = u32::try_from(precision.min(i64::from(u32::MAX)));
    Ok(precision.ok().map(ZfpConfig::fixed_precision))
}

/// Returns the value of the mode's parameter. A negative value means that there is none.
fn value(config: Config<'_>, member: &str) -> Result<Option<f64>, CodecError> {
    let Some(json) = config.get(member) else { return Ok(None) };
    let finite = json.as_f64().filter(|value| value.is_finite());
    let value = finite.ok_or_else(|| config::wrong(member, json, "a number"))?;
    Ok(Some(value).filter(|value| *value >= 0.0))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ZfpyCodec {
    configuration: Map,
    parameters: ZfpConfig,
    chunk: ZfpChunk,
}

impl ZfpyCodec {
    /// Rejects elements that numcodecs cannot read, and parameters that zfp cannot satisfy.
    fn check_writable(&self) -> Result<(), CodecError> {
        if !self.chunk.is_unchanged() {
            return Err(CodecError::unsupported(
                "zfpy stores only int32, int64, float32 and float64; the codec 'zfp' stores other integers as well",
            ));
        }
        if self.chunk.is_integer() && self.parameters.mode() == ZfpMode::FixedAccuracy {
            return Err(CodecError::unsupported(ACCURACY_OF_INTEGERS));
        }
        Ok(())
    }
}

impl ArrayToBytes for ZfpyCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self) -> Size {
        // The stream may have been compressed with parameters other than those in the configuration.
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        self.chunk.decode(encoded, None, part).map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        self.check_writable()?;
        self.chunk.encode(chunk, &self.parameters, true, encoded)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::{Integrity, array_suite_of};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, spec, through_v2};

    #[test]
    fn suite() {
        let storages = [Storage::Int(4), Storage::Int(8), Storage::Float(4), Storage::Float(8)];
        let shapes: &[&[u64]] = &[&[], &[1], &[70], &[7, 5], &[3, 4, 5], &[2, 3, 4, 5]];
        let integrity = Integrity::Unchecked;
        array_suite_of(&registry(), &storages, shapes, integrity, |_| vec![Zfpy::reversible().into()]);
    }

    fn make(configuration: Json, storage: Storage, mode: Strictness) -> Result<CodecChain, CodecError> {
        chain(&[spec(NAME, configuration)], &chunk(&[4], storage), &registry(), mode)
    }

    fn encode(chain: &CodecChain, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        let mut encoded = Vec::new();
        let view = View::contiguous(decoded, chain.chunk().shape(), chain.chunk().item());
        chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).map(|_| encoded)
    }

    #[test]
    fn configurations() {
        let complete = |configuration| {
            let chain = make(configuration, Storage::Float(8), Strictness::Strict).unwrap();
            Json::Object(chain.specs().remove(0).configuration)
        };
        let all = |mode, kwargs, tolerance, rate, precision| {
            json!({
                "mode": mode, "compression_kwargs": kwargs, "tolerance": tolerance, "rate": rate, "precision": precision,
            })
        };
        let reversible = all(4, json!({"tolerance": -1}), json!(-1), json!(-1), -1);
        for same in [json!({}), json!({"mode": 4, "tolerance": -1}), json!({"mode": 5}), reversible.clone()] {
            assert_eq!(complete(same), reversible);
        }
        for (given, wanted) in [
            (json!({"tolerance": 0.01}), all(4, json!({"tolerance": 0.01}), json!(0.01), json!(-1), -1)),
            (json!({"mode": 2, "rate": 8}), all(2, json!({"rate": 8}), json!(-1), json!(8), -1)),
            (json!({"mode": 3, "precision": 13}), all(3, json!({"precision": 13}), json!(-1), json!(-1), 13)),
            (json!({"mode": 3, "rate": 8}), all(3, json!({"precision": -1}), json!(-1), json!(-1), -1)),
        ] {
            assert_eq!(complete(given), wanted);
            assert_eq!(complete(wanted.clone()), wanted);
            let (v3, v2) = through_v2("zfpy", wanted.clone(), 8);
            assert_eq!((&v3, &v2), (&wanted, &wanted));
        }
        for (bad, says) in [
            (json!({"mode": 1}), "'mode'"),
            (json!({"mode": "rate"}), "'mode'"),
            (json!({"mode": 2, "rate": "8"}), "'rate'"),
            (json!({"mode": 2, "rate": 1e300}), "'rate'"),
            (json!({"mode": 3, "precision": 1.5}), "'precision'"),
            (json!({"tolerance": []}), "'tolerance'"),
            (json!({"level": 1}), "'level'"),
        ] {
            let error = make(bad, Storage::Float(8), Strictness::Lenient).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.zfpy'") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn only_what_numcodecs_reads_is_written() {
        let small = make(json!({}), Storage::Uint(1), Strictness::Strict).unwrap();
        let error = encode(&small, &[1, 2, 3, 4]).unwrap_err().to_string();
        assert!(error.contains("'zfp'"), "{error}");
        // As zarrs writes it.
        let scalars = [1, 2, 3, 4].map(|x| ((x - 0x80_i32) << 23).to_ne_bytes()).concat();
        let encoded =
            encode(&make(json!({}), Storage::Int(4), Strictness::Strict).unwrap(), &scalars).unwrap();
        assert_eq!(decode_chunk(&small, &encoded).unwrap(), [1, 2, 3, 4]);
        let accurate = make(json!({"tolerance": 1}), Storage::Int(4), Strictness::Strict).unwrap();
        assert!(encode(&accurate, &scalars).unwrap_err().to_string().contains("integers"));
        assert_eq!(decode_chunk(&accurate, &encoded).unwrap(), scalars);
    }
}
