//! `blosc`: the meta-compressor Blosc, version 1. Elements are shuffled and then compressed in blocks.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html>
//!
//! | member | value |
//! |---|---|
//! | `cname` | `blosclz`, `lz4`, `lz4hc`, `snappy`, `zlib` or `zstd` |
//! | `clevel` | 0 (uncompressed) to 9 (smallest) |
//! | `shuffle` | `noshuffle`, `shuffle` (by bytes) or `bitshuffle` (by bits) |
//! | `typesize` | the size of an element in bytes; may be absent with `noshuffle` |
//! | `blocksize` | the size of a block in bytes; 0 lets the library choose |
//!
//! Names: `blosc` in v3 (also `numcodecs.blosc`), `blosc` in v2, where `typesize` is the size of the array's elements, and
//! `shuffle` is 0, 1, 2 or −1. With −1, one-byte elements are shuffled by bits, and larger elements by bytes. In the lenient
//! mode, all members may be absent; the defaults are `lz4`, 5, `shuffle`, the size of the array's elements, and 0.

pub(crate) mod parts;

use std::ffi::CStr;

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    BytesAccess, BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Fetch, Size, Window,
};
use zarrox_core::internals::codec::DecodeRanges;
use zarrox_core::json::{Json, Map};

use crate::bytes_to_bytes::ffi::blosc::{HEADER, Parameters, compress, decoded_size, decompress};
use crate::config::{self, Config, missing, wrong};
use crate::error::truncated;

/// The definition of `blosc`.
pub(crate) static DEF: CodecDef = CodecDef::new("blosc", CodecKind::BytesToBytes, create)
    .aliases(&["numcodecs.blosc"])
    .v2_id("blosc")
    .with_from_v2(from_v2)
    .with_to_v2(to_v2);

/// A compressor that Blosc supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BloscCompressor {
    /// BloscLZ, Blosc's own compressor.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4 HC: slower than LZ4, but compresses better.
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

/// The reordering that precedes compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shuffle {
    /// No reordering.
    None,
    /// All first bytes of the elements of a block, then all second bytes, and so on.
    Byte,
    /// All first bits of the elements of a block, then all second bits, and so on.
    Bit,
}

const SHUFFLES: &[(&str, Shuffle)] =
    &[("noshuffle", Shuffle::None), ("shuffle", Shuffle::Byte), ("bitshuffle", Shuffle::Bit)];

impl Shuffle {
    /// Returns the number that stands for the shuffle in v2 metadata and in the library.
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

/// Returns the name of a value in one of the lists above.
fn name_of<T: PartialEq>(choices: &[(&'static str, T)], value: &T) -> &'static str {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name)
}

/// The meta-compressor Blosc: elements are shuffled and then compressed in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blosc {
    compressor: BloscCompressor,
    level: i32,
    shuffle: Shuffle,
    /// The size of an element in bytes; `None` for the size of the array's elements.
    type_size: Option<i32>,
    block_size: i32,
}

impl Blosc {
    /// Creates the codec with a compressor at level 5, with byte shuffle, and with a block size that the library chooses.
    pub fn new(compressor: BloscCompressor) -> Self {
        Self { compressor, level: 5, shuffle: Shuffle::Byte, type_size: None, block_size: 0 }
    }

    /// Creates the codec with LZ4: very fast.
    pub fn lz4() -> Self {
        Self::new(BloscCompressor::Lz4)
    }

    /// Creates the codec with Zstandard: high compression.
    pub fn zstd() -> Self {
        Self::new(BloscCompressor::Zstd)
    }

    /// Sets the compression level, 0 (uncompressed) to 9 (smallest).
    #[must_use]
    pub fn level(self, level: i32) -> Self {
        Self { level, ..self }
    }

    /// Sets the reordering before compression.
    #[must_use]
    pub fn shuffle(self, shuffle: Shuffle) -> Self {
        Self { shuffle, ..self }
    }

    /// Sets the size of an element in bytes, if it differs from the size of the array's elements.
    #[must_use]
    pub fn type_size(self, bytes: i32) -> Self {
        Self { type_size: Some(bytes), ..self }
    }

    /// Sets the size of a block in bytes; 0 lets the library choose.
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
    let blosc = of_items(config, item)?;
    match (config.get("typesize"), blosc.type_size) {
        (None, _) if config.is_strict() && blosc.shuffle != Shuffle::None => Err(missing("typesize")),
        (Some(_), Some(item)) => {
            Ok(Blosc { type_size: Some(config.integer("typesize", 1..=i32::MAX, item)?), ..blosc })
        }
        _ => Ok(blosc),
    }
}

/// Returns the codec for elements of `item` bytes, regardless of the size in the configuration.
fn of_items(config: Config<'_>, item: usize) -> Result<Blosc, CodecError> {
    Ok(Blosc {
        compressor: config.choice("cname", COMPRESSORS, BloscCompressor::Lz4)?,
        level: config.integer("clevel", 0..=9, 5)?,
        shuffle: shuffle(config, item)?,
        // The library treats elements larger than its limit as single bytes.
        type_size: Some(i32::try_from(item).unwrap_or(i32::MAX).max(1)),
        block_size: config.integer("blocksize", 0..=i32::MAX, 0)?,
    })
}

/// Reads the name of the shuffle or, in the lenient mode, its v2 number.
fn shuffle(config: Config<'_>, item: usize) -> Result<Shuffle, CodecError> {
    let number = config.get("shuffle").filter(|json| json.is_number() && !config.is_strict());
    let Some(json) = number else { return config.choice("shuffle", SHUFFLES, Shuffle::Byte) };
    let shuffle = config.to_integer(json).and_then(|number| Shuffle::from_number(number, item));
    shuffle.ok_or_else(|| wrong("shuffle", json, "-1, 0, 1 or 2"))
}

fn from_v2(members: &Map, item: usize) -> Result<Map, CodecError> {
    Ok(of_items(Config::lenient(members), item)?.configuration())
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
        let members = [
            ("cname", Some(name_of(COMPRESSORS, &self.compressor).into())),
            ("clevel", Some(self.level.into())),
            ("shuffle", Some(name_of(SHUFFLES, &self.shuffle).into())),
            ("typesize", self.type_size.map(Json::from)),
            ("blocksize", Some(self.block_size.into())),
        ];
        members.into_iter().filter_map(|(name, json)| Some((name.to_owned(), json?))).collect()
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
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
        compress(parameters, decoded, encoded)?
            .ok_or_else(|| CodecError::unsupported("Blosc compresses at most 2 GiB; choose smaller chunks"))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        if encoded.len() < HEADER {
            return Err(truncated(encoded.len()));
        }
        let size = decoded_size(encoded).ok_or_else(|| {
            CodecError::corrupt("the sizes in the header are impossible: the data are damaged or truncated")
        })?;
        if decoded.len() < size {
            return Err(parts::overflow(encoded, size, decoded));
        }
        if !decompress(encoded, &mut decoded[..size]) {
            return Err(CodecError::corrupt("the blocks are damaged"));
        }
        Ok(size)
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        decoded_size(encoded)
    }

    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Ranges(self)
    }
}

impl DecodeRanges for Blosc {
    fn read<'a>(
        &'a self,
        window: Window,
        size: usize,
        decoded: Vec<Fetch<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        parts::read(window, size, decoded)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, spec, steps, through_v2};

    #[test]
    fn suite() {
        let registry = registry();
        for &(_, compressor) in COMPRESSORS {
            for &(_, shuffle) in SHUFFLES {
                let blosc = Blosc::new(compressor).shuffle(shuffle);
                bytes_to_bytes_suite(&registry, &blosc.into(), Integrity::Unchecked);
            }
        }
        let stored = Blosc::lz4().level(0).block_size(256);
        bytes_to_bytes_suite(&registry, &stored.into(), Integrity::Unchecked);
    }

    /// The results of `numcodecs.Blosc(cname, clevel=5, shuffle=…)` for [`steps`], with each compressor and shuffle.
    const GOLDEN: &[&str] = &[
        // blosclz, shuffle 0
        "02010002d0070000d00700006400000014000000240000002300000000e0ba03010001e0bd01010002e0bd0101\
         0003e0bd01010004e0bb0102000400240000002305000500e0ba03010006e0bd01010007e0bd01010008e0bd01\
         010009e0bb0102000900",
        // blosclz, shuffle 1
        "02010102d0070000d00700006d00000014000000420000002300000000e05603010001e05900010102e0590001\
         0203e05900010304e05900010405e05900010506e05900010607e05900010708e05900010809e0570002090909\
         0f0000002300000000e0ffffffdb0302000000",
        // blosclz, shuffle 2
        "02010402d0070000d00700007400000014000000490000002300000000a0030200f0ffe0010000ffa014010000\
         e05d18e004010000e00187e00501e00395e00401e02931e02901e01063e01001e010aee05b01e010aee07495e0\
         ff6d01020000000f0000002300000000e0ffffffdb0302000000",
        // lz4, shuffle 0
        "02012002d0070000d00700005b000000140000001f0000001f000100b41f010200b41f020200b41f030200b41f\
         040200af500004000400200000002f05000200b31f060200b41f070200b41f080200b41f090200af5000090009\
         00",
        // lz4, shuffle 1
        "02012102d0070000d00700006200000014000000380000001f000100501f010100501f020100501f030100501f\
         040100501f050100501f060100501f070100501f080100501f0901004b5009090909090e0000001f000100ffff\
         ffd2500000000000",
        // lz4, shuffle 2
        "02012402d0070000d007000078000000140000004e0000001700010027f0ff01000718000f1900520902000788\
         000a02000926000802000a27000702000825000f02002c0756000f0200140f71002c0f02002b0fa400060f5700\
         2b0f0200ff9f5000000000000e0000001f000100ffffffd2500000000000",
        // lz4hc, shuffle 0
        "02012002d0070000d00700005b000000140000001f0000001f000100b41f010200b41f020200b41f030200b41f\
         040200af500004000400200000002f05000200b31f060200b41f070200b41f080200b41f090200af5000090009\
         00",
        // lz4hc, shuffle 1
        "02012102d0070000d00700006200000014000000380000001f000100501f010100501f020100501f030100501f\
         040100501f050100501f060100501f070100501f080100501f0901004b5009090909090e0000001f000100ffff\
         ffd2500000000000",
        // lz4hc, shuffle 2
        "02012402d0070000d00700005f00000014000000350000001700010027f0ff01000f19005d0901001eff01000f\
         32003e0f01001f1fff01001e1f000100500f1301200f0100ffdc5000000000000e0000001f000100ffffffd250\
         0000000000",
        // zlib, shuffle 0
        "02016002d0070000d00700004f0000001400000019000000785e6360181e80719840a661029987096419261000\
         9bec03e91a000000785e6365601d16906d9840f66102398609e41c261000b99d0dad",
        // zlib, shuffle 1
        "02016102d0070000d0070000530000001400000026000000785ebdc1870100200800201b66fdff70570844f41b\
         c00416b081040e50c0051ef001cc55119511000000785e63601805a360140c77000003e80001",
        // zlib, shuffle 2
        "02016402d0070000d007000059000000140000002c000000785e636040800fff910092385d2450c07f5c808a3a\
         480738edc0090899485330385d350a060400004746bcf811000000785e63601805a360140c77000003e80001",
        // zstd, shuffle 0
        "02019002d0070000d007000042000000140000002a00000028b52ffd60d0060501005800000102030405060708\
         090aa410e807d0e32b442291488448248e58864f06",
        // zstd, shuffle 1
        "02019102d0070000d007000046000000140000002e00000028b52ffd60d0062501006000000102030405060708\
         09000b9810f00e0010feffff8ff03ae4010800000000a8ef64",
        // zstd, shuffle 2
        "02019402d0070000d007000045000000140000002d00000028b52ffd60d0061d0100380000f0ffffff000ba020\
         f5802359078ee10f165272aaa32382151568c7c6533198ef",
        // snappy, shuffle 0: `imagecodecs.blosc_encode`
        "02014001d0070000d00700009c0000001400000084000000d00f0000fe0100fe0100fe01000d010001fe0200fe\
         0200fe02000d020002fe0200fe0200fe02000d020003fe0200fe0200fe02000d020004fe0200fe0200fe02000d\
         020005fe0200fe0200fe02000d020006fe0200fe0200fe02000d020007fe0200fe0200fe02000d020008fe0200\
         fe0200fe02000d020009fe0200fe0200fe02000d02",
    ];

    #[test]
    fn golden() {
        for golden in GOLDEN {
            assert_eq!(decode("blosc", &hex(golden), 2000).unwrap(), steps(), "{golden}");
        }
        let stored = "0201330220000000200000003000000000000100020003000400050006000700080009000a000b000c000d00\
                      0e000f00";
        let numbers: Vec<u8> = (0..16_u16).flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode("blosc", &hex(stored), 32).unwrap(), numbers);
    }

    #[test]
    fn large_elements_are_bytes_to_the_library() {
        for type_size in [1, 7, 255, 256, i32::MAX] {
            let mut encoded = Vec::new();
            Blosc::lz4().type_size(type_size).encode(&steps(), &mut encoded).unwrap();
            assert_eq!(decode("blosc", &encoded, 2000).unwrap(), steps());
        }
    }

    #[test]
    fn every_compressor_compresses() {
        for &(name, compressor) in COMPRESSORS {
            let mut encoded = Vec::new();
            Blosc::new(compressor).encode(&steps(), &mut encoded).unwrap();
            assert!(encoded.len() < 300, "{name}: {}", encoded.len());
        }
    }

    #[test]
    fn false_headers_are_rejected() {
        let golden = hex(GOLDEN[3]);
        let error = |at: usize, number: u32| {
            let mut bytes = golden.clone();
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            decode("blosc", &bytes, 2000).unwrap_err().to_string()
        };
        assert!(decode("blosc", &golden, 1999).unwrap_err().is_overflow());
        assert!(error(4, 2001).contains("damaged"));
        for (at, number) in [
            (4, u32::MAX),
            (4, 0x7fff_ffff),
            (8, 0),
            (8, u32::MAX),
            (8, 3000),
            (12, 15),
            (12, 92),
            (12, u32::MAX),
        ] {
            assert!(error(at, number).contains("are impossible"), "{at} {number}");
        }
        // The offset of the only block.
        for offset in [0, 15, 89, 91, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            assert!(error(16, offset).contains("damaged"), "{offset}");
        }
    }

    #[test]
    fn configurations() {
        let json = |shuffle: &str, size: i32| json!({"cname": "lz4", "clevel": 5, "shuffle": shuffle, "typesize": size, "blocksize": 0});
        let lenient = |json| configured("blosc", json, Strictness::Lenient);
        assert_eq!(lenient(json!({})).unwrap(), json("shuffle", 2));
        assert_eq!(lenient(json!({"shuffle": 2, "typesize": 4.0})).unwrap(), json("bitshuffle", 4));
        assert_eq!(lenient(json!({"shuffle": -1})).unwrap(), json("shuffle", 2));
        assert_eq!(CodecSpec::from(Blosc::lz4().type_size(8)), spec("blosc", json("shuffle", 8)));
        for bad in
            [json!({"cname": "lzma"}), json!({"shuffle": 3}), json!({"typesize": 0}), json!({"clevel": 10})]
        {
            lenient(bad).unwrap_err();
        }
        let mut strict = json("shuffle", 2);
        assert!(configured("blosc", strict.clone(), Strictness::Strict).is_ok());
        strict.as_object_mut().unwrap().remove("typesize");
        let error = configured("blosc", strict.clone(), Strictness::Strict).unwrap_err();
        assert_eq!(error, "the configuration lacks 'typesize'");
        strict["shuffle"] = Json::from("noshuffle");
        assert_eq!(configured("blosc", strict.clone(), Strictness::Strict).unwrap(), json("noshuffle", 2));
        strict["shuffle"] = Json::from(0);
        configured("blosc", strict, Strictness::Strict).unwrap_err();
    }

    #[test]
    fn v2() {
        let v2 = json!({"cname": "zstd", "clevel": 3, "shuffle": -1, "blocksize": 0, "numThreads": 4, "typesize": 7});
        let (v3, back) = through_v2("blosc", v2.clone(), 1);
        let expected =
            json!({"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": 1, "blocksize": 0});
        assert_eq!(v3, expected);
        assert_eq!(back, json!({"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}));
        assert_eq!(through_v2("blosc", v2, 8).1["shuffle"], 1);
        let minimal = through_v2("blosc", json!({}), 4).1;
        assert_eq!(minimal, json!({"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}));
    }
}
