//! `numcodecs.lzma`: LZMA in an `.xz` stream, a legacy `.lzma` stream, or a raw stream.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/compression/lzma.html>, with the members of
//! Python's `lzma` module.
//!
//! | member | value |
//! |---|---|
//! | `format` | 1: `.xz`, 2: `.lzma`, 3: raw, which requires `filters` |
//! | `check` | only for `.xz`: 0 for none, 1 for CRC32, 4 for CRC64, 10 for SHA-256; −1 means CRC64 |
//! | `preset` | 0 to 9, plus 2^31 for a slower search; `null` means 6, or that `filters` are given |
//! | `filters` | `null`, or a list of objects with an `id` and the filter's options |
//!
//! Names: `numcodecs.lzma` in v3, `lzma` in v2. In the lenient mode, the members default to 1, −1, `null` and `null`.
//!
//! Files that consist of several `.xz` streams can be read.

pub(crate) mod filters;

use liblzma::stream::{Action, CONCATENATED, Check, Error, PRESET_DEFAULT, Status, Stream};
use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};

use crate::config::{self, Config, missing, wrong};
use crate::error::too_large;
use crate::error::truncated;
use filters::Filter;

/// The definition of `numcodecs.lzma`.
pub(crate) static DEF: CodecDef =
    CodecDef::new("numcodecs.lzma", CodecKind::BytesToBytes, create).v2_id("lzma").with_from_v2(from_v2);

/// The container format of the compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Xz,
    Alone,
    Raw,
}

/// LZMA: high compression, but slow.
#[derive(Debug, Clone, PartialEq)]
pub struct Lzma {
    format: Format,
    /// Python's number for the integrity check; −1 is the default.
    check: i32,
    preset: Option<u32>,
    filters: Option<Vec<Filter>>,
}

impl Lzma {
    /// Creates the codec for `.xz` streams with a preset, 0 to 9 (smallest).
    pub fn xz(preset: u32) -> Self {
        Self { format: Format::Xz, check: -1, preset: Some(preset), filters: None }
    }
}

impl From<Lzma> for CodecSpec {
    fn from(lzma: Lzma) -> Self {
        Self { name: DEF.name.to_owned(), configuration: lzma.configuration() }
    }
}

const MEMBERS: &[&str] = &["format", "check", "preset", "filters"];

/// The maximum memory that decoding a stream may use, in bytes.
const MEMORY: u64 = 1 << 30;

fn from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    let defaults = json!({"format": 1, "check": -1, "preset": null, "filters": null});
    Ok(config::from_v2(members, defaults))
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, MEMBERS)?;
    if let Some(name) = MEMBERS.iter().find(|name| config.is_strict() && !configuration.contains_key(name)) {
        return Err(missing(name));
    }
    let format = match config.integer("format", 1..=3, 1)? {
        1 => Format::Xz,
        2 => Format::Alone,
        _ => Format::Raw,
    };
    let check = config.integer("check", -1..=10, -1)?;
    let preset = present(configuration, "preset").map(|json| read_preset(config, json)).transpose()?;
    let filters = present(configuration, "filters");
    let filters = filters.map(|json| filters::parse(json, config)).transpose()?;
    let lzma = Lzma { format, check, preset, filters };
    lzma.validate()?;
    // So errors of the library are detected before the first chunk.
    lzma.encoder()?;
    Ok(Codec::BytesToBytes(Box::new(lzma)))
}

/// Returns a member that is not `null`.
fn present<'a>(configuration: &'a Map, name: &str) -> Option<&'a Json> {
    configuration.get(name).filter(|json| !json.is_null())
}

fn read_preset(config: Config<'_>, json: &Json) -> Result<u32, CodecError> {
    let preset = config.to_integer(json).and_then(|n| u32::try_from(n).ok());
    preset.ok_or_else(|| wrong("preset", json, "null or an integer from 0 to 9"))
}

impl Lzma {
    fn validate(&self) -> Result<(), CodecError> {
        let invalid = |message: &str| Err(CodecError::invalid(message));
        let filters = self.filters.as_deref();
        if filters.is_some() && self.preset.is_some() {
            return invalid("'preset' and 'filters' are both given; give one of them");
        }
        match (self.format, filters) {
            (Format::Xz, _) => {}
            (_, _) if !matches!(self.check, -1 | 0) => {
                return invalid("only format 1 (.xz) has a 'check'; for others it is -1");
            }
            (Format::Raw, None) => return invalid("format 3 (bare) needs 'filters'"),
            (Format::Alone, Some(filters)) if !filters::is_lzma1_alone(filters) => {
                return invalid("format 2 (.lzma) takes exactly one filter, LZMA1");
            }
            _ => {}
        }
        self.check().map(|_| ())
    }

    fn check(&self) -> Result<Check, CodecError> {
        match self.check {
            -1 | 4 => Ok(Check::Crc64),
            0 => Ok(Check::None),
            1 => Ok(Check::Crc32),
            10 => Ok(Check::Sha256),
            other => Err(CodecError::invalid(format!("'check' is {other}; expected -1, 0, 1, 4 or 10"))),
        }
    }

    fn encoder(&self) -> Result<Stream, CodecError> {
        let preset = self.preset.unwrap_or(PRESET_DEFAULT);
        let stream = match (self.format, self.filters.as_deref()) {
            (Format::Xz, None) => Stream::new_easy_encoder(preset, self.check()?),
            (Format::Xz, Some(filters)) => {
                Stream::new_stream_encoder(&filters::build(filters)?, self.check()?)
            }
            (Format::Alone, filters) => {
                let options = match filters {
                    Some(filters) => filters::first_options(filters)?,
                    None => filters::preset_options(preset)?,
                };
                Stream::new_lzma_encoder(&options)
            }
            (Format::Raw, filters) => Stream::new_raw_encoder(&filters::build(filters.unwrap_or_default())?),
        };
        stream.map_err(|error| {
            CodecError::invalid(format!("liblzma rejects the configuration: {error}")).with_source(error)
        })
    }

    fn decoder(&self) -> Result<Stream, CodecError> {
        let stream = match self.format {
            Format::Xz => Stream::new_stream_decoder(MEMORY, CONCATENATED),
            Format::Alone => Stream::new_lzma_decoder(MEMORY),
            Format::Raw => {
                let filters = self.filters.as_deref().unwrap_or_default();
                Stream::new_raw_decoder(&filters::build(filters)?)
            }
        };
        stream.map_err(|error| {
            CodecError::invalid(format!("liblzma rejects the configuration: {error}")).with_source(error)
        })
    }
}

impl BytesToBytes for Lzma {
    fn configuration(&self) -> Map {
        let format = match self.format {
            Format::Xz => 1,
            Format::Alone => 2,
            Format::Raw => 3,
        };
        let filters = self.filters.as_deref().map(filters::to_json);
        config::members(
            json!({"format": format, "check": self.check, "preset": self.preset, "filters": filters}),
        )
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let mut stream = self.encoder()?;
        let mut rest = decoded;
        loop {
            // More than the library's upper bound for incompressible bytes, so that one call suffices.
            encoded.try_reserve(rest.len() + rest.len() / 8 + 1024)?;
            let before = stream.total_in();
            let status = stream.process_vec(rest, encoded, Action::Finish);
            let status = status.map_err(|error| {
                CodecError::invalid(format!("compression failed: {error}")).with_source(error)
            })?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            rest = rest.get(to_usize(stream.total_in() - before)..).unwrap_or_default();
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let mut stream = self.decoder()?;
        loop {
            let (read, written) = (to_usize(stream.total_in()), to_usize(stream.total_out()));
            // The decoder only checks for the end of the stream while it has output space, although it does not write to it.
            let mut beyond = [0];
            let room = match &mut decoded[written..] {
                [] => &mut beyond[..],
                room => room,
            };
            let status = stream.process(&encoded[read..], room, Action::Finish).map_err(damaged)?;
            if to_usize(stream.total_out()) > decoded.len() {
                return Err(too_large(decoded.len()));
            }
            match status {
                Status::StreamEnd => break,
                Status::MemNeeded => return Err(truncated(encoded.len())),
                Status::Ok | Status::GetCheck => {}
            }
        }
        match encoded.len() - to_usize(stream.total_in()) {
            0 => Ok(to_usize(stream.total_out())),
            more => Err(CodecError::corrupt(format!("{more} bytes follow the end of the stream"))),
        }
    }
}

fn damaged(error: Error) -> CodecError {
    match error {
        Error::MemLimit | Error::Mem => {
            CodecError::limit(format!("the stream's dictionary takes more than {MEMORY} bytes"))
        }
        error => CodecError::corrupt(format!("damaged or truncated: {error}")).with_source(error),
    }
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, make, spec, steps, through_v2};

    const LZMA1: u64 = 0x4000_0000_0000_0001;

    #[test]
    fn suite() {
        let cases = [
            (json!({"preset": 0}), Integrity::Checked),
            (
                json!({"check": 10, "filters": [{"id": 33, "preset": 1, "dict_size": 65536}]}),
                Integrity::Checked,
            ),
            (json!({"format": 2, "preset": 1}), Integrity::Unchecked),
            (
                json!({"format": 3, "filters": [{"id": 3, "dist": 2}, {"id": 33, "preset": 0}]}),
                Integrity::Unchecked,
            ),
        ];
        for (configuration, integrity) in cases {
            bytes_to_bytes_suite(&registry(), &spec("numcodecs.lzma", configuration), integrity);
        }
    }

    #[test]
    fn golden() {
        // `numcodecs.LZMA(...)` of numcodecs 0.15.1 with these arguments.
        let cases = [
            (
                json!({}),
                "fd377a585a000004e6d6b4460200210116000000742fe5a3e007cf001e5d00006f68441349532ece3411853aff45051a\
                 83cd4d20da2fc4d4fe5790bb1c000000bb85934b45d5770100013ad00f000000199f22b7b1c467fb020000000004595a",
            ),
            (
                json!({"format": 2}),
                "5d00008000ffffffffffffffff00006f68441349532ece3411853aff45051a83cd4d20da2fc4d4fe936000b7ffedee0000",
            ),
            (
                json!({"format": 3, "filters": [{"id": 3, "dist": 2}, {"id": 33, "preset": 1}]}),
                "e007cf00165d00006f6843588a6b4115a6782e39013c2798a7b656a70000",
            ),
            (
                json!({"check": 1, "filters": [{"id": 4}, {"id": 33, "preset": 0, "dict_size": 4096}]}),
                "fd377a585a0000016922de360201040021010000da33ad03e007cf001e5d00006f68441349532ece3411853aff45051a\
                 83cd4d20da2fc4d4fe5790bb1c000000f50a27bb000136d00f000000625fe0c03e300d8b020000000001595a",
            ),
            (
                json!({"format": 3, "filters": [{"id": LZMA1, "preset": 6}]}),
                "00006f68441349532ece3411853aff45051a83cd4d20da2fc4d4fe936000b7ffedee0000",
            ),
        ];
        for (configuration, golden) in cases {
            let codec = make(&spec("numcodecs.lzma", configuration.clone()), Strictness::Lenient).unwrap();
            let mut decoded = vec![0; 2000];
            assert_eq!(codec.decode(&hex(golden), &mut decoded).unwrap(), 2000, "{configuration}");
            assert_eq!(decoded, steps(), "{configuration}");
        }
    }

    #[test]
    fn several_streams_are_one() {
        let mut one = Vec::new();
        Lzma::xz(0).encode(b"abc", &mut one).unwrap();
        let padded = [one.clone(), vec![0; 4], one.clone()].concat();
        assert_eq!(decode("numcodecs.lzma", &padded, 6).unwrap(), b"abcabc");
        assert!(decode("numcodecs.lzma", &padded, 5).unwrap_err().to_string().contains("more than"));
        let error = decode("numcodecs.lzma", &one[..one.len() - 4], 3).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
    }

    #[test]
    fn dictionaries_that_are_too_large_are_refused() {
        // A legacy `.lzma` header with a dictionary of 2 GiB.
        let stream = hex("5d00000080ffffffffffffffff00006f68441349532ece3411853aff4505");
        let codec = make(&spec("numcodecs.lzma", json!({"format": 2})), Strictness::Lenient).unwrap();
        let error = codec.decode(&stream, &mut [0; 2000]).unwrap_err();
        assert!(error.to_string().contains("dictionary"), "{error}");
        let filters = json!({"format": 3, "filters": [{"id": 33, "dict_size": 0x7fff_ffff}]});
        assert!(
            configured("numcodecs.lzma", filters, Strictness::Lenient).unwrap_err().contains("dict_size")
        );
    }

    #[test]
    fn configurations() {
        let complete = json!({"format": 1, "check": -1, "preset": null, "filters": null});
        assert_eq!(configured("numcodecs.lzma", json!({}), Strictness::Lenient).unwrap(), complete);
        assert!(configured("numcodecs.lzma", json!({}), Strictness::Strict).unwrap_err().contains("format"));
        assert_eq!(configured("numcodecs.lzma", complete.clone(), Strictness::Strict).unwrap(), complete);
        assert_eq!(through_v2("lzma", json!({"preset": 9}), 2).1["preset"], 9);
        let bad = [
            (json!({"format": 3}), "needs 'filters'"),
            (json!({"format": 2, "check": 4}), "only format 1"),
            (json!({"format": 2, "filters": [{"id": 33}]}), "LZMA1"),
            (json!({"preset": 1, "filters": [{"id": 33}]}), "give one of them"),
            (json!({"preset": 10}), "rejects"),
            (json!({"check": 5}), "check"),
            (json!({"filters": [{"id": 99}]}), "no filter 99"),
            (json!({"filters": [{"id": 33, "dist": 1}]}), "unknown option 'dist'"),
            (json!({"filters": [{"id": 3, "dist": 0}, {"id": 33}]}), "dist"),
            (json!({"filters": [{"id": 33, "mode": 3}]}), "mode"),
            (json!({"filters": [{"id": 33, "mf": 5}]}), "mf"),
            (json!({"filters": [{"id": 33, "lc": 100}]}), "rejects"),
            (json!({"filters": [{"id": 3}]}), "rejects"),
            (json!({"filters": []}), "rejects"),
            (json!({"filters": 5}), "filters"),
            (json!({"filters": [{}]}), "id"),
        ];
        for (configuration, named) in bad {
            let error = configured("numcodecs.lzma", configuration.clone(), Strictness::Lenient).unwrap_err();
            assert!(error.contains(named), "{configuration}: {error}");
        }
    }
}
