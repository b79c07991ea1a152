//! `numcodecs.pcodec`: losslessly compresses numbers with Pcodec. A chunk is a standalone pco file.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (fastest) to 12 (smallest) |
//! | `mode_spec` | `"auto"` detects structure, such as multiples of 0.1; `"classic"` does not |
//! | `delta_spec` | `"auto"`, `"none"` (since numcodecs 0.17 also `"no_op"`), `"try_consecutive"` or `"try_lookback"` |
//! | `delta_encoding_order` | the number of times that differences are taken, 0 to 7, or `null`; `"auto"` with a number means `"try_consecutive"` |
//! | `paging_spec` | `"equal_pages_up_to"` |
//! | `equal_pages_up_to` | the maximum number of elements in a page |
//!
//! Names: `numcodecs.pcodec` in v3, and two former names of zarrs; `pcodec` in v2. The members only affect writing. A member may
//! be absent if it has numcodecs' default value. In the first release of numcodecs with this codec, `mode_spec` did not exist;
//! instead, there were `int_mult_spec` and `float_mult_spec`, each `"enabled"` or `"disabled"`.
//!
//! Supported elements: integers and floats of 16, 32 and 64 bits, complex numbers as two floats each (as in zarrs), datetimes as
//! their counts, and 8-bit integers (which numcodecs reads but does not write).

use half::f16;
use pco::data_types::{Number, NumberType};
use pco::errors::PcoError;
use pco::metadata::DeltaEncoding;
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec, standalone, wrapped};
use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox_core::data_type::Storage;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;
use zarrox_core::{CodecSpec, Strictness};

use crate::array_to_bytes::numbers;
use crate::config;
use crate::config::Config;
use crate::error::too_large;
use crate::error::truncated;

const NAME: &str = "numcodecs.pcodec";

/// The definition of `numcodecs.pcodec`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"])
    .v2_id("pcodec")
    .with_from_v2(|members, _| {
        let mut configuration = config::from_v2(members, defaults());
        if !members.contains_key("mode_spec")
            && let Some(mode) = older_mode(members)?
        {
            configuration.insert("mode_spec".to_owned(), mode.into());
        }
        Ok(configuration)
    });

/// Returns the configuration that numcodecs writes by default.
fn defaults() -> Json {
    json!({
        "level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to",
        "delta_encoding_order": null, "equal_pages_up_to": PAGE,
    })
}

/// The default of `equal_pages_up_to`.
const PAGE: u64 = 1 << 18;
/// The maximum number of elements in a pco page.
const LARGEST_PAGE: usize = 1 << 24;
/// The members that `mode_spec` replaced.
const OLDER_MODES: [&str; 2] = ["int_mult_spec", "float_mult_spec"];

/// The delta encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PcodecDelta {
    /// Chosen automatically according to the numbers.
    Auto,
    /// No delta encoding.
    None,
    /// Differences between consecutive numbers, taken this number of times, at most 7.
    Consecutive(u8),
    /// Differences to an arbitrary earlier number. This is slow, and meant for repeating patterns.
    Lookback,
}

/// Pcodec: compresses numbers fast, and better than general-purpose compressors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pcodec {
    configuration: Map,
}

impl Pcodec {
    /// Creates the codec with a compression level, 0 (fastest) to 12 (smallest).
    pub fn level(level: i32) -> Self {
        Self { configuration: config::members(defaults()) }.with("level", level.into())
    }

    /// Compresses the numbers without detecting structure in them.
    #[must_use]
    pub fn classic(self) -> Self {
        self.with("mode_spec", "classic".into())
    }

    /// Sets the delta encoding.
    #[must_use]
    pub fn delta(self, delta: PcodecDelta) -> Self {
        let (name, order) = match delta {
            PcodecDelta::Auto => ("auto", Json::Null),
            PcodecDelta::None => ("none", Json::Null),
            PcodecDelta::Consecutive(order) => ("try_consecutive", order.into()),
            PcodecDelta::Lookback => ("try_lookback", Json::Null),
        };
        self.with("delta_spec", name.into()).with("delta_encoding_order", order)
    }

    /// Sets the maximum number of elements in a page.
    #[must_use]
    pub fn pages_up_to(self, numbers: u32) -> Self {
        self.with("equal_pages_up_to", numbers.into())
    }

    fn with(mut self, member: &str, value: Json) -> Self {
        self.configuration.insert(member.to_owned(), value);
        self
    }
}

impl Default for Pcodec {
    fn default() -> Self {
        Self::level(8)
    }
}

impl From<Pcodec> for CodecSpec {
    fn from(codec: Pcodec) -> Self {
        Self { name: NAME.to_owned(), configuration: codec.configuration }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let complete = config::members(defaults());
    let mut known: Vec<&str> = complete.keys().map(String::as_str).collect();
    if context.strictness == Strictness::Lenient {
        known.extend(OLDER_MODES);
    }
    let config = config::read(configuration, context, &known)?;
    let number = number(context.chunk)?;
    let (configuration, parameters) = parameters(config, older_mode(configuration)?)?;
    Ok(Codec::ArrayToBytes(Box::new(PcodecCodec {
        chunk: context.chunk.clone(),
        limit: context.limit,
        number,
        configuration,
        parameters,
    })))
}

/// Returns the pco type of the numbers in a chunk. A complex number counts as two numbers.
fn number(chunk: &ChunkSpec) -> Result<NumberType, CodecError> {
    let complex_of_halves =
        || chunk.data_type().is_ok_and(|data_type| data_type.to_string() == "complex_float16");
    let number = match chunk.storage() {
        Storage::Complex(4) if complex_of_halves() => NumberType::F16,
        _ if !numbers::are_plain(chunk) => return Err(numbers::unfit(chunk, NUMBERS)),
        Storage::Int(1) => NumberType::I8,
        Storage::Int(2) => NumberType::I16,
        Storage::Int(4) => NumberType::I32,
        Storage::Int(8) => NumberType::I64,
        Storage::Uint(1) => NumberType::U8,
        Storage::Uint(2) => NumberType::U16,
        Storage::Uint(4) => NumberType::U32,
        Storage::Uint(8) => NumberType::U64,
        Storage::Float(2) => NumberType::F16,
        Storage::Float(4) => NumberType::F32,
        Storage::Float(8) => NumberType::F64,
        Storage::Complex(8) => NumberType::F32,
        Storage::Complex(16) => NumberType::F64,
        _ => return Err(numbers::unfit(chunk, NUMBERS)),
    };
    Ok(number)
}

const NUMBERS: &str = "integers, floats and complex numbers";

/// Returns the mode specified by the older members, which `mode_spec` replaced, if they are present.
fn older_mode(members: &Map) -> Result<Option<&'static str>, CodecError> {
    let mut mode = None;
    for name in OLDER_MODES {
        match members.get(name) {
            None => {}
            Some(Json::String(spec)) if spec == "enabled" => mode = Some("auto"),
            Some(Json::String(spec)) if spec == "disabled" => mode = mode.or(Some("classic")),
            Some(other) => return Err(config::wrong(name, other, "enabled or disabled")),
        }
    }
    Ok(mode)
}

/// Returns the complete configuration and pco's own configuration.
fn parameters(config: Config<'_>, older_mode: Option<&str>) -> Result<(Map, ChunkConfig), CodecError> {
    let given = |name: &str| config.get(name).is_some_and(|json| !json.is_null());
    let level = if given("level") { config.integer("level", 0..=12, 8)? } else { 8 };
    let mode = if given("mode_spec") {
        config.choice("mode_spec", &[("auto", "auto"), ("classic", "classic")], "auto")?
    } else {
        older_mode.unwrap_or("auto")
    };
    let delta = if given("delta_spec") { config.choice("delta_spec", DELTAS, "auto")? } else { "auto" };
    let order = match given("delta_encoding_order") {
        true => Some(config.integer("delta_encoding_order", 0..=7, 0)?),
        false => None,
    };
    if given("paging_spec") {
        config.choice("paging_spec", &[("equal_pages_up_to", ())], ())?;
    }
    let page = if given("equal_pages_up_to") { page(config)? } else { PAGE };
    let configuration = json!({
        "level": level, "mode_spec": mode, "delta_spec": delta, "paging_spec": "equal_pages_up_to",
        "delta_encoding_order": order, "equal_pages_up_to": page,
    });
    let consecutive = |order: i32| DeltaSpec::TryConsecutive(usize::try_from(order).unwrap_or(0));
    let delta = match (delta, order) {
        ("auto", None) => DeltaSpec::Auto,
        // The meaning of `"auto"` before `delta_spec` existed.
        ("auto", Some(order)) => consecutive(order),
        ("try_consecutive", order) => consecutive(order.unwrap_or(0)),
        ("try_lookback", _) => DeltaSpec::TryLookback,
        _ => DeltaSpec::NoOp,
    };
    let parameters = ChunkConfig::default()
        .with_compression_level(usize::try_from(level).unwrap_or(8))
        .with_mode_spec(if mode == "classic" { ModeSpec::Classic } else { ModeSpec::Auto })
        .with_delta_spec(delta)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(
            usize::try_from(page).unwrap_or(LARGEST_PAGE).min(LARGEST_PAGE),
        ))
        .with_enable_8_bit(true);
    Ok((config::members(configuration), parameters))
}

/// The values of `delta_spec`.
const DELTAS: &[(&str, &str)] = &[
    ("auto", "auto"),
    ("none", "none"),
    ("no_op", "no_op"),
    ("try_consecutive", "try_consecutive"),
    ("try_lookback", "try_lookback"),
];

fn page(config: Config<'_>) -> Result<u64, CodecError> {
    let json = config.get("equal_pages_up_to").unwrap_or(&Json::Null);
    let page = config.to_integer(json).and_then(|page| u64::try_from(page).ok()).filter(|&page| page > 0);
    page.ok_or_else(|| config::wrong("equal_pages_up_to", json, "a positive integer"))
}

/// Runs `$work` with `$T` as the Rust type of a number.
macro_rules! with_number {
    ($number:expr, $T:ident => $work:expr, [$($variant:ident $type:ty),+]) => {
        match $number {
            $(NumberType::$variant => { type $T = $type; $work })+
            _ => Err(CodecError::unsupported(format!("numbers of the type {:?}", $number))),
        }
    };
    ($number:expr, $T:ident => $work:expr) => {
        with_number!($number, $T => $work, [
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, F32 f32, F64 f64
        ])
    };
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct PcodecCodec {
    chunk: ChunkSpec,
    limit: usize,
    number: NumberType,
    configuration: Map,
    parameters: ChunkConfig,
}

impl ArrayToBytes for PcodecCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self) -> Size {
        // The size depends on the number of pages that the writer created.
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let decoded = with_number!(self.number, T => {
            numbers::decode::<T>(&self.chunk, self.limit, part, |out| decode_file(encoded, out))
        });
        decoded.map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        with_number!(self.number, T => numbers::encode::<T>(chunk, |numbers| {
            let file = standalone::simple_compress(numbers, &self.parameters);
            encoded.extend(file.map_err(|error| CodecError::invalid(format!("compression failed: {error}")).with_source(error))?);
            Ok(())
        }))?;
        Ok(true)
    }
}

/// Decodes a file. Its numbers must fill `out` exactly.
fn decode_file<T: Number>(encoded: &[u8], out: &mut [T]) -> Result<(), CodecError> {
    let (file, mut rest) = standalone::FileDecompressor::new(encoded).map_err(damaged)?;
    let version = file.format_version();
    let (units, _) = wrapped::FileDecompressor::new(&[version.major, version.minor][..]).map_err(damaged)?;
    let mut done = 0;
    while let Some(count) = unit_length::<T>(&mut rest)? {
        let Some(numbers) = out.get_mut(done..done + count) else {
            return Err(too_large(size_of_val(out)));
        };
        rest = decode_unit(&units, rest, numbers)?;
        done += count;
    }
    if done < out.len() {
        return Err(CodecError::corrupt(format!("{done} numbers are stored, but a chunk has {}", out.len())));
    }
    Ok(())
}

/// Reads the type and the number of values of the next unit. Returns the number, or `None` at the end of the file.
fn unit_length<T: Number>(rest: &mut &[u8]) -> Result<Option<usize>, CodecError> {
    let encoded = *rest;
    match *encoded {
        [0, ..] => Ok(None),
        [number, a, b, c, ref unit @ ..] => {
            let wanted = NumberType::new::<T>();
            if number != wanted as u8 {
                let stored = NumberType::from_descriminant(number);
                let stored = stored.map_or_else(|| number.to_string(), |number| format!("{number:?}"));
                let message = format!("numbers of the type {stored} are stored, but {wanted:?} is expected");
                return Err(CodecError::corrupt(message));
            }
            *rest = unit;
            Ok(Some(usize::from(a) + (usize::from(b) << 8) + (usize::from(c) << 16) + 1))
        }
        _ => Err(truncated(encoded.len())),
    }
}

/// Decodes a unit with as many numbers as `numbers`, and returns the remaining bytes.
fn decode_unit<'e, T: Number>(
    units: &wrapped::FileDecompressor,
    encoded: &'e [u8],
    numbers: &mut [T],
) -> Result<&'e [u8], CodecError> {
    check_dictionary(encoded, numbers.len())?;
    let (mut unit, page) = units.chunk_decompressor::<T, _>(encoded).map_err(damaged)?;
    // The library allocates a window before it validates the input. Its own encoder does not use larger windows than this.
    if let DeltaEncoding::Lookback { config, .. } = &unit.meta().delta_encoding
        && 1_usize
            .checked_shl(config.window_n_log)
            .is_none_or(|n| n > numbers.len().next_power_of_two().max(1 << 16))
    {
        return Err(CodecError::corrupt(format!(
            "a window of 2^{} numbers for {}",
            config.window_n_log,
            numbers.len()
        )));
    }
    let mut page = unit.page_decompressor(page, numbers.len()).map_err(damaged)?;
    let progress = page.read(numbers).map_err(damaged)?;
    if !progress.finished {
        return Err(CodecError::corrupt("a page has more numbers than its header declares"));
    }
    Ok(page.into_src())
}

/// Rejects a dictionary with more entries than there are numbers, since the library would immediately allocate it.
fn check_dictionary(unit: &[u8], count: usize) -> Result<(), CodecError> {
    const DICTIONARY: u32 = 4;
    let Some(head) = unit.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)) else { return Ok(()) };
    // The mode takes four bits, and the number of entries 25.
    let entries = (head >> 4) & 0x1ff_ffff;
    if head & 0xf == DICTIONARY && entries as usize > count {
        return Err(CodecError::corrupt(format!("a dictionary of {entries} entries for {count} numbers")));
    }
    Ok(())
}

fn damaged(error: PcoError) -> CodecError {
    CodecError::corrupt(format!("damaged: {}", error.message)).with_source(error)
}

#[cfg(test)]
mod tests {
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::{Integrity, array_suite_of};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec, through_v2};
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
            Storage::Uint(4),
            Storage::Uint(8),
            Storage::Float(2),
            Storage::Float(4),
            Storage::Float(8),
            Storage::Complex(8),
            Storage::Complex(16),
        ];
        let suite = |storages: &[Storage], shapes: &[&[u64]], codec: Pcodec| {
            array_suite_of(&registry(), storages, shapes, Integrity::Unchecked, |_| {
                vec![codec.clone().into()]
            });
        };
        suite(&storages, &[&[], &[1], &[7, 5], &[3, 4, 25]], Pcodec::default());
        for codec in [
            Pcodec::level(0).classic().delta(PcodecDelta::None),
            Pcodec::level(12).delta(PcodecDelta::Lookback),
            Pcodec::level(4).delta(PcodecDelta::Consecutive(7)).pages_up_to(3),
        ] {
            suite(&[Storage::Uint(2), Storage::Float(8)], &[&[7, 30]], codec);
        }
    }

    fn make(configuration: Json, count: u64, storage: Storage) -> Result<CodecChain, CodecError> {
        chain(&[spec(NAME, configuration)], &chunk(&[count], storage), &registry(), Strictness::Lenient)
    }

    fn encode(chain: &CodecChain, decoded: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let view = View::contiguous(decoded, chain.chunk().shape(), chain.chunk().item());
        chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap();
        encoded
    }

    /// Returns 60 numbers: seven 0s, seven 3s, seven 6s, and so on.
    fn steps(storage: &Storage) -> Vec<u8> {
        let steps = (0..60_i16).map(|i| i / 7 * 3);
        match storage {
            Storage::Float(2) => steps.flat_map(|x| f16::from_f32(x.into()).to_ne_bytes()).collect(),
            Storage::Float(4) => steps.flat_map(|x| f32::from(x).to_ne_bytes()).collect(),
            Storage::Float(_) => steps.flat_map(|x| f64::from(x).to_ne_bytes()).collect(),
            Storage::Int(2) | Storage::Uint(2) => steps.flat_map(i16::to_ne_bytes).collect(),
            Storage::Int(4) | Storage::Uint(4) => steps.flat_map(|x| i32::from(x).to_ne_bytes()).collect(),
            _ => steps.flat_map(|x| i64::from(x).to_ne_bytes()).collect(),
        }
    }

    #[test]
    fn golden() {
        // numcodecs 0.17.1 with pcodec 1.1.0: `PCodec().encode((np.arange(60) // 7 * 3).astype(…))`
        for (storage, golden) in [
            (Storage::Int(2), "70636f210300050f0401083b0000106102001b00102003800000805c552ae0b0361500"),
            (
                Storage::Int(4),
                "70636f210300050f0401033b0000106102001b00000010400600000001000000805c552ae0b0361500",
            ),
            (
                Storage::Int(8),
                "70636f210300050f0401043b0000106102001b0000000000000010800c00000000000000020000000000000000805c552ae0b0361500",
            ),
            (Storage::Uint(2), "70636f210300050f0401073b0000106102001b00102003800000005c552ae0b0361500"),
            (
                Storage::Uint(4),
                "70636f210300050f0401013b0000106102001b00000010400600000001000000005c552ae0b0361500",
            ),
            (
                Storage::Uint(8),
                "70636f210300050f0401023b0000106102001b0000000000000010800c00000000000000020000000000000000005c552ae0b0361500",
            ),
            (
                Storage::Float(2),
                "70636f210300050f0401093b000002201c01010000c00001000040000080402010080402810000",
            ),
            (
                Storage::Float(4),
                "70636f210300050f0401053b0000020000041c010100000000c0000200000000800000000080402010080402810000",
            ),
            (
                Storage::Float(8),
                "70636f210300050f0401063b000002000000000080001c01010000000000000000c0000400000000000000000001000000000000008040\
                 2010080402810000",
            ),
        ] {
            let chain = make(json!({}), 60, storage.clone()).unwrap();
            let golden = hex(golden);
            assert_eq!(decode_chunk(&chain, &golden).unwrap(), steps(&storage), "{storage:?}");
            assert_eq!(encode(&chain, &steps(&storage)), golden, "{storage:?}");
        }
    }

    #[test]
    fn golden_of_older_releases() {
        for (storage, golden) in [
            // pcodec 0.1.0 and 0.2.0: `standalone.auto_compress(…)`
            (
                Storage::Int(4),
                "70636f2102050f01033b00003100000010080000000000061000100000000000aaaaaa2a402010080402810000",
            ),
            (
                Storage::Float(8),
                "70636f2102050f02063b000013131300d80000000000000080002400000000000000d06102001c000000000000000060000000000000040000\
                 0000400000000000005c552a1ac771e0b0361503e00140000800024000000004000eb6ff1f00",
            ),
            // pcodec 0.3.4: `standalone.simple_compress(…, ChunkConfig())`
            (
                Storage::Int(4),
                "70636f2102050f03033b00003100000010010100000000c00002000200000000aaaaaa2a402010080402810000",
            ),
            (Storage::Uint(2), "70636f2102050f03073b000031001001010000c00001000000000000402010080402810000"),
        ] {
            let chain = make(json!({}), 60, storage.clone()).unwrap();
            assert_eq!(decode_chunk(&chain, &hex(golden)).unwrap(), steps(&storage), "{storage:?}");
        }
    }

    #[test]
    fn complex_numbers_are_pairs_of_floats() {
        let pairs = make(json!({}), 30, Storage::Complex(8)).unwrap();
        let floats = make(json!({}), 60, Storage::Float(4)).unwrap();
        let numbers = steps(&Storage::Float(4));
        assert_eq!(encode(&pairs, &numbers), encode(&floats, &numbers));
        assert_eq!(decode_chunk(&pairs, &encode(&floats, &numbers)).unwrap(), numbers);
    }

    #[test]
    fn files_are_compared_with_the_chunk() {
        let file = encode(
            &make(json!({"equal_pages_up_to": 25}), 60, Storage::Int(4)).unwrap(),
            &steps(&Storage::Int(4)),
        );
        for (count, storage, says) in [
            (59, Storage::Int(4), "more than the expected 236 bytes"),
            (61, Storage::Int(4), "60 numbers are stored, but a chunk has 61"),
            (60, Storage::Uint(4), "type I32 are stored, but U32 is expected"),
            (60, Storage::Float(8), "type I32"),
        ] {
            let error =
                decode_chunk(&make(json!({}), count, storage).unwrap(), &file).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.pcodec'") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn promises_take_no_memory() {
        let chain = make(json!({}), 60, Storage::Int(4)).unwrap();
        let head = hex("70636f210300050f0401033b0000");
        // A dictionary of 2^25 - 1 entries; a window of 2^24 numbers.
        for (unit, says) in [(0x1fff_fff4_u32, "dictionary"), (0x0000_1720, "window")] {
            let unit = [&unit.to_le_bytes()[..], &[0; 40]].concat();
            let error = decode_chunk(&chain, &[&head[..], &unit].concat()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn configurations() {
        let complete = |configuration| {
            let chain = make(configuration, 4, Storage::Float(4)).unwrap();
            Json::Object(chain.specs().remove(0).configuration)
        };
        let with = |member: &str, value: Json| {
            let mut all = defaults();
            all[member] = value;
            all
        };
        assert_eq!(complete(json!({})), defaults());
        assert_eq!(complete(json!({"level": 3.0, "delta_spec": null})), with("level", json!(3)));
        assert_eq!(
            complete(json!({"equal_pages_up_to": 1_u64 << 40})),
            with("equal_pages_up_to", json!(1_u64 << 40))
        );
        for delta in ["auto", "none", "no_op", "try_consecutive", "try_lookback"] {
            assert_eq!(complete(json!({"delta_spec": delta})), with("delta_spec", delta.into()));
        }
        let older = |int: &str, float: &str| json!({"int_mult_spec": int, "float_mult_spec": float});
        assert_eq!(complete(older("disabled", "disabled")), with("mode_spec", "classic".into()));
        assert_eq!(complete(older("disabled", "enabled")), defaults());
        assert_eq!(
            through_v2("pcodec", older("disabled", "disabled"), 4).0,
            with("mode_spec", "classic".into())
        );
        assert_eq!(through_v2("pcodec", json!({"level": 5}), 4).1, with("level", json!(5)));
        for (bad, says) in [
            (json!({"level": 13}), "'level'"),
            (json!({"level": -1}), "'level'"),
            (json!({"mode_spec": "try"}), "'mode_spec'"),
            (json!({"delta_spec": 1}), "'delta_spec'"),
            (json!({"paging_spec": "exact"}), "'paging_spec'"),
            (json!({"delta_encoding_order": 8}), "'delta_encoding_order'"),
            (json!({"equal_pages_up_to": 0}), "'equal_pages_up_to'"),
            (json!({"int_mult_spec": true}), "'int_mult_spec'"),
            (json!({"nosuch": 1}), "'nosuch'"),
        ] {
            let error = make(bad, 4, Storage::Float(4)).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.pcodec'") && error.contains(says), "{error}");
        }
        for storage in
            [Storage::Bool, Storage::Raw(4), Storage::Utf32(4), Storage::Complex(4), Storage::Variable]
        {
            assert_error(make(json!({}), 4, storage), ErrorKind::Unsupported, "but the elements are");
        }
        let bfloat16 =
            chunk(&[4], Storage::Uint(2)).of_type(&<half::bf16 as zarrox_core::Element>::data_type());
        let error =
            chain(&[Pcodec::default().into()], &bfloat16, &registry(), Strictness::Lenient).unwrap_err();
        assert!(error.to_string().contains("bfloat16"), "{error}");
    }
}
