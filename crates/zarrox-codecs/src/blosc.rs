//! `blosc`: the meta-compressor Blosc, version 1: elements are shuffled, then compressed in blocks.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html>
//!
//! | member | value |
//! |---|---|
//! | `cname` | `blosclz`, `lz4`, `lz4hc`, `snappy`, `zlib` or `zstd` |
//! | `clevel` | 0 (only stored) to 9 (smallest) |
//! | `shuffle` | `noshuffle`, `shuffle` (by bytes) or `bitshuffle` (by bits) |
//! | `typesize` | the size of an element in bytes; may be absent with `noshuffle` |
//! | `blocksize` | the size of a block in bytes; 0 lets the library choose |
//!
//! Names: `blosc` in v3 (also `numcodecs.blosc`), `blosc` in v2, where `shuffle` is 0, 1, 2, or −1 for bits with
//! elements of one byte and bytes with others, and `typesize` is the size of the array's elements. Leniently, all
//! members may be absent: they are then `lz4`, 5, `shuffle`, the size of the array's elements, and 0.

use std::ffi::CStr;

use serde_json::json;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, Size};
use zarrox_core::error::CodecError;
use zarrox_core::json::{Json, Map};

use crate::config::{self, Config, missing, wrong};
use crate::ffi::blosc::{HEADER, Parameters, compress, decoded_size, decompress};
use crate::{too_large, truncated};

/// The definition of `blosc`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: "blosc",
    aliases: &["numcodecs.blosc"],
    v2_id: Some("blosc"),
    kind: CodecKind::BytesToBytes,
    create,
    from_v2,
    to_v2,
};

/// A compressor that Blosc has inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscCompressor {
    /// Blosc's own.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4's slow, better compression.
    Lz4Hc,
    /// Snappy.
    Snappy,
    /// DEFLATE.
    Zlib,
    /// Zstandard.
    Zstd,
}

const COMPRESSORS: &[(&str, BloscCompressor)] = &[
    ("blosclz", BloscCompressor::BloscLz),
    ("lz4", BloscCompressor::Lz4),
    ("lz4hc", BloscCompressor::Lz4Hc),
    ("snappy", BloscCompressor::Snappy),
    ("zlib", BloscCompressor::Zlib),
    ("zstd", BloscCompressor::Zstd),
];

impl BloscCompressor {
    fn name(self) -> &'static CStr {
        match self {
            Self::BloscLz => c"blosclz",
            Self::Lz4 => c"lz4",
            Self::Lz4Hc => c"lz4hc",
            Self::Snappy => c"snappy",
            Self::Zlib => c"zlib",
            Self::Zstd => c"zstd",
        }
    }
}

/// How Blosc reorders before it compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// All first bytes of the elements of a block, then all second ones, and so on.
    Byte,
    /// The same with bits.
    Bit,
}

const SHUFFLES: &[(&str, Shuffle)] =
    &[("noshuffle", Shuffle::None), ("shuffle", Shuffle::Byte), ("bitshuffle", Shuffle::Bit)];

impl Shuffle {
    /// What v2 and the library call it.
    fn number(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Bit => 2,
        }
    }

    fn from_number(number: i64, item: usize) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1 => Some(Self::Byte),
            2 => Some(Self::Bit),
            -1 if item == 1 => Some(Self::Bit),
            -1 => Some(Self::Byte),
            _ => None,
        }
    }
}

/// The name of a value in one of the lists above.
fn name_of<T: PartialEq>(choices: &[(&'static str, T)], value: &T) -> &'static str {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name)
}

/// The meta-compressor Blosc: elements are shuffled, then compressed in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blosc {
    compressor: BloscCompressor,
    level: i32,
    shuffle: Shuffle,
    /// Absent: the size of the array's elements.
    type_size: Option<i32>,
    block_size: i32,
}

impl Blosc {
    /// With a compressor, at level 5, with bytes shuffled, in blocks of the library's choice.
    pub fn new(compressor: BloscCompressor) -> Self {
        Self { compressor, level: 5, shuffle: Shuffle::Byte, type_size: None, block_size: 0 }
    }

    /// With LZ4: very fast.
    pub fn lz4() -> Self {
        Self::new(BloscCompressor::Lz4)
    }

    /// With Zstandard: small.
    pub fn zstd() -> Self {
        Self::new(BloscCompressor::Zstd)
    }

    /// Compression level, 0 (only stored) to 9 (smallest).
    #[must_use]
    pub fn level(self, level: i32) -> Self {
        Self { level, ..self }
    }

    /// What is done before compressing.
    #[must_use]
    pub fn shuffle(self, shuffle: Shuffle) -> Self {
        Self { shuffle, ..self }
    }

    /// The size of an element in bytes, when it is not that of the array's.
    #[must_use]
    pub fn type_size(self, bytes: i32) -> Self {
        Self { type_size: Some(bytes), ..self }
    }

    /// The size of a block in bytes; 0 lets the library choose.
    #[must_use]
    pub fn block_size(self, bytes: i32) -> Self {
        Self { block_size: bytes, ..self }
    }
}

impl From<Blosc> for CodecSpec {
    fn from(blosc: Blosc) -> Self {
        Self { name: DEF.name.to_owned(), configuration: blosc.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    const MEMBERS: &[&str] = &["cname", "clevel", "shuffle", "typesize", "blocksize"];
    let config = config::read(configuration, context, MEMBERS)?;
    let blosc = parse(config, context.chunk.item())?;
    Ok(Codec::BytesToBytes(Box::new(blosc)))
}

fn parse(config: Config<'_>, item: usize) -> Result<Blosc, CodecError> {
    let shuffle = shuffle(config, item)?;
    if config.is_strict() && shuffle != Shuffle::None && config.get("typesize").is_none() {
        return Err(missing("typesize"));
    }
    // The library takes elements that are larger for single bytes.
    let item = i32::try_from(item).unwrap_or(i32::MAX).max(1);
    let type_size = match config.get("typesize") {
        None => item,
        Some(_) => config.integer("typesize", 1..=i32::MAX, item)?,
    };
    Ok(Blosc {
        compressor: config.choice("cname", COMPRESSORS, BloscCompressor::Lz4)?,
        level: config.integer("clevel", 0..=9, 5)?,
        shuffle,
        type_size: Some(type_size),
        block_size: config.integer("blocksize", 0..=i32::MAX, 0)?,
    })
}

/// The name of the shuffle, leniently also v2's number for it.
fn shuffle(config: Config<'_>, item: usize) -> Result<Shuffle, CodecError> {
    let number = config.get("shuffle").filter(|json| json.is_number() && !config.is_strict());
    let Some(json) = number else { return config.choice("shuffle", SHUFFLES, Shuffle::Byte) };
    let shuffle = config.to_integer(json).and_then(|number| Shuffle::from_number(number, item));
    shuffle.ok_or_else(|| wrong("shuffle", json, "-1, 0, 1 or 2"))
}

fn from_v2(members: &Map, item: usize) -> Result<Map, CodecError> {
    let defaults = json!({"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    let configuration = config::from_v2(members, defaults);
    let config = Config::lenient(&configuration);
    Ok(parse(config, item)?.configuration())
}

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    let blosc = parse(Config::lenient(configuration), 1)?;
    let mut members = blosc.configuration();
    members.remove("typesize");
    members.insert("shuffle".to_owned(), Json::from(blosc.shuffle.number()));
    Ok(members)
}

impl BytesToBytes for Blosc {
    fn configuration(&self) -> Map {
        let mut configuration = config::members(json!({
            "cname": name_of(COMPRESSORS, &self.compressor),
            "clevel": self.level,
            "shuffle": name_of(SHUFFLES, &self.shuffle),
        }));
        if let Some(type_size) = self.type_size {
            configuration.insert("typesize".to_owned(), Json::from(type_size));
        }
        configuration.insert("blocksize".to_owned(), Json::from(self.block_size));
        configuration
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // What does not get smaller is stored as it is.
        Size::AtMost(decoded.limit().saturating_add(HEADER))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let size = |n: i32| usize::try_from(n).unwrap_or(0);
        let parameters = Parameters {
            compressor: self.compressor.name(),
            level: self.level,
            shuffle: self.shuffle.number(),
            type_size: self.type_size.map_or(1, size),
            block_size: size(self.block_size),
        };
        compress(parameters, decoded, encoded)
            .ok_or_else(|| CodecError::unsupported("Blosc takes no more than 2 GiB; choose smaller chunks"))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        if encoded.len() < HEADER {
            return Err(truncated(encoded.len()));
        }
        let size = decoded_size(encoded)
            .ok_or_else(|| CodecError::corrupt("the header's sizes cannot be true: damaged or truncated"))?;
        let room = decoded.len();
        let decoded = decoded.get_mut(..size).ok_or_else(|| too_large(room))?;
        if !decompress(encoded, decoded) {
            return Err(CodecError::corrupt("the blocks are damaged"));
        }
        Ok(size)
    }
}
