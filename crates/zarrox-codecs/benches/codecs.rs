//! Benchmarks of every codec against a baseline: a compressor against direct calls of its library, an elementwise codec against
//! a copy of the same memory.
//!
//! The codec and its baseline process the same bytes in alternation, so that noise of the machine affects both; the ratio of
//! the medians is the result. `cargo xtask bench codecs [NAME …] [--require 1.1]`; the limit applies to the compressors and
//! checksums.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a benchmark prints its results and stops at the first failure"
)]

mod bare;

use std::time::{Duration, Instant};

use zarrox_codecs::registry;
use zarrox_core::codec::{ChunkSpec, CodecContext, EncodeOptions, ReadRegion};
use zarrox_core::json::{Json, json};
use zarrox_core::strided::{Span, View, ViewMut};
use zarrox_core::{CodecChain, CodecSpec, DataType, FillValue, Registry, Strictness};

use bare::Bare;
use zfp_rs::ZfpConfig;

const REPETITIONS: usize = 15;

/// The number of elements of a chunk.
const COUNT: usize = 1 << 21;

/// Compressors and checksums by their names, with their configurations.
fn libraries() -> Vec<(&'static str, Json, Bare)> {
    vec![
        ("zstd", json!({"level": 3, "checksum": false}), bare::zstd()),
        ("numcodecs.lz4", json!({"acceleration": 1}), bare::lz4()),
        ("blosc", blosc("lz4"), bare::blosc(c"lz4")),
        ("blosc", blosc("zstd"), bare::blosc(c"zstd")),
        ("gzip", json!({"level": 1}), bare::deflate(true)),
        ("numcodecs.zlib", json!({"level": 1}), bare::deflate(false)),
        ("numcodecs.bz2", json!({"level": 1}), bare::bz2()),
        ("crc32c", json!({}), bare::crc32c()),
        ("numcodecs.pcodec", json!({}), bare::pcodec()),
        ("zfp", json!({"mode": "reversible"}), bare::zfp(ZfpConfig::reversible())),
        (
            "zfp",
            json!({"mode": "fixed_accuracy", "tolerance": 0.01}),
            bare::zfp(ZfpConfig::fixed_accuracy(0.01)),
        ),
    ]
}

fn blosc(compressor: &str) -> Json {
    json!({"cname": compressor, "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0})
}

/// Elementwise codecs by their names, with the data type of the elements.
fn loops() -> Vec<(&'static str, DataType, Json)> {
    use DataType::{Bool, Float32, Float64, Int16, Int32, UInt16};
    vec![
        ("bytes", UInt16, json!({"endian": "big"})),
        ("bytes", Float32, json!({"endian": "big"})),
        ("bytes", Float64, json!({"endian": "big"})),
        ("numcodecs.shuffle", UInt16, json!({"elementsize": 2})),
        ("numcodecs.shuffle", Float32, json!({"elementsize": 4})),
        ("numcodecs.shuffle", Float64, json!({"elementsize": 8})),
        ("numcodecs.delta", Int16, json!({"dtype": "<i2"})),
        ("numcodecs.delta", Int32, json!({"dtype": "<i4"})),
        ("numcodecs.delta", Int32, json!({"dtype": "<i4", "astype": "<i2"})),
        ("numcodecs.delta", Float64, json!({"dtype": "<f8"})),
        ("numcodecs.packbits", Bool, json!({})),
        ("packbits", Bool, json!({})),
        ("bitround", Float32, json!({"keepbits": 10})),
        ("bitround", Float64, json!({"keepbits": 20})),
        (
            "numcodecs.fixedscaleoffset",
            Float32,
            json!({"scale": 100, "offset": 5, "dtype": "<f4", "astype": "<i2"}),
        ),
        (
            "numcodecs.fixedscaleoffset",
            Float64,
            json!({"scale": 100, "offset": 5, "dtype": "<f8", "astype": "<i2"}),
        ),
        (
            "numcodecs.fixedscaleoffset",
            Float64,
            json!({"scale": 100, "offset": 5, "dtype": "<f8", "astype": "<i4"}),
        ),
        (
            "numcodecs.fixedscaleoffset",
            Float64,
            json!({"scale": 100, "offset": 5, "dtype": "<f8", "astype": "<i8"}),
        ),
        ("numcodecs.quantize", Float32, json!({"digits": 2, "dtype": "<f4"})),
        ("numcodecs.astype", Float64, json!({"encode_dtype": "<f4", "decode_dtype": "<f8"})),
        ("numcodecs.astype", Float64, json!({"encode_dtype": "<i2", "decode_dtype": "<f8"})),
        ("numcodecs.astype", Float64, json!({"encode_dtype": "<i8", "decode_dtype": "<f8"})),
        ("numcodecs.astype", Float32, json!({"encode_dtype": "|u1", "decode_dtype": "<f4"})),
        ("numcodecs.crc32", Float32, json!({})),
        ("numcodecs.adler32", Float32, json!({})),
        ("numcodecs.fletcher32", Float32, json!({})),
        ("numcodecs.jenkins_lookup3", Float32, json!({})),
        ("numcodecs.base64", Float32, json!({})),
        ("scale_offset", Float32, json!({"offset": 5.0, "scale": 100.0})),
        ("cast_value", Float32, json!({"data_type": "int16"})),
        ("cast_value", Float64, json!({"data_type": "float32"})),
        ("cast_value", Float64, json!({"data_type": "int16", "out_of_range": "clamp"})),
        ("cast_value", Float64, json!({"data_type": "int64"})),
    ]
}

fn main() {
    let mut arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut required = None;
    if let Some(at) = arguments.iter().position(|argument| argument == "--require") {
        required = Some(arguments[at + 1].parse::<f64>().unwrap());
        arguments.drain(at..at + 2);
    }
    let wanted = |name: &str| {
        arguments.is_empty() || arguments.iter().any(|argument| name.contains(argument.as_str()))
    };
    let registry = registry();
    let mut slow = Vec::new();
    println!(
        "Compressors and checksums: {} MiB of float32; medians of {REPETITIONS} repetitions in turns\n",
        COUNT >> 18
    );
    println!("| codec | | zarrox (MB/s) | library (MB/s) | zarrox / library (time) |\n|---|---|---|---|---|");
    for (name, configuration, mut bare) in libraries().into_iter().filter(|(name, ..)| wanted(name)) {
        let case = Case::new(&registry, name, &configuration, &DataType::Float32);
        let variant = configuration["cname"].as_str().or(configuration["mode"].as_str());
        let title = match variant {
            Some(variant) => format!("{name} ({variant})"),
            None => name.to_owned(),
        };
        for (direction, ratio) in case.against_library(&title, &mut bare) {
            if required.is_some_and(|limit| ratio > limit) {
                slow.push(format!("{title}, {direction}: {ratio:.2}"));
            }
        }
    }
    println!("\nLoops over elements: {COUNT} elements, against a copy of as many decoded bytes\n");
    println!(
        "| codec | elements | | zarrox (MB/s) | copy (MB/s) | of the copy's speed |\n|---|---|---|---|---|---|"
    );
    for (name, data_type, configuration) in loops().into_iter().filter(|(name, ..)| wanted(name)) {
        if registry.codec(name).is_ok() {
            Case::new(&registry, name, &configuration, &data_type).against_copy(name);
        }
    }
    if !slow.is_empty() {
        println!("\nslower than {} times the library: {}", required.unwrap_or_default(), slow.join("; "));
        std::process::exit(1);
    }
}

/// A chunk, and a codec pipeline that has one codec and as few others as possible.
struct Case {
    chain: CodecChain,
    data_type: DataType,
    data: Vec<u8>,
    encoded: Vec<u8>,
}

impl Case {
    fn new(registry: &Registry, name: &str, configuration: &Json, data_type: &DataType) -> Self {
        let fill = FillValue::zero(data_type.size());
        let chunk = ChunkSpec::new(&[COUNT as u64], data_type.storage(), fill).unwrap();
        let codec = CodecSpec::new(name, configuration.clone());
        let bytes = CodecSpec::new("bytes", json!({"endian": "little"}));
        let context =
            CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit: 1 << 30 };
        let chains = [vec![codec.clone()], vec![bytes.clone(), codec.clone()], vec![codec, bytes]];
        let chain = chains.iter().find_map(|specs| CodecChain::new(specs, &context).ok());
        let data = numbers(data_type);
        let chain = chain.unwrap_or_else(|| panic!("no codec pipeline can be built for {name}"));
        let mut case = Self { chain, data_type: data_type.clone(), data, encoded: Vec::new() };
        let mut encoded = Vec::new();
        case.encode(&mut encoded);
        case.encoded = encoded;
        case
    }

    fn encode(&self, encoded: &mut Vec<u8>) {
        encoded.clear();
        let view = View::contiguous(&self.data, self.chain.chunk().shape(), self.chain.chunk().item());
        assert!(self.chain.encode(&view, EncodeOptions { store_empty_chunks: true }, encoded).unwrap());
    }

    fn decode(&self, out: &mut [u8]) {
        let chunk = self.chain.chunk();
        let region = chunk.shape().iter().map(|&length| Span::all(length)).collect();
        let out = ViewMut::contiguous(out, chunk.shape(), chunk.item());
        self.chain.decode(&self.encoded, ReadRegion::new(region, out)).unwrap();
    }

    fn against_library(&self, title: &str, bare: &mut Bare) -> [(&'static str, f64); 2] {
        let (mut ours, mut theirs) = (vec![0; self.data.len()], vec![0; self.data.len()]);
        let decoding = medians(|| self.decode(&mut ours), || (bare.decode)(&self.encoded, &mut theirs));
        assert!(ours == theirs, "{title}: both should decode to the same bytes");
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let encoding = medians(|| self.encode(&mut ours), || (bare.encode)(&self.data, &mut theirs));
        assert!(ours == theirs, "{title}: both should encode to the same bytes");
        [("decode", decoding), ("encode", encoding)].map(|(direction, (own, library))| {
            let ratio = own / library;
            let (own, library) = (self.speed(own), self.speed(library));
            println!("| {title} | {direction} | {own:.0} | {library:.0} | {ratio:.2} |");
            (direction, ratio)
        })
    }

    fn against_copy(&self, title: &str) {
        let (mut out, mut copy) = (vec![0; self.data.len()], vec![0; self.data.len()]);
        let decoding = medians(|| self.decode(&mut out), || copy.copy_from_slice(&self.data));
        let mut encoded = Vec::with_capacity(self.data.len());
        let encoding = medians(|| self.encode(&mut encoded), || copy.copy_from_slice(&self.data));
        for (direction, (own, copy)) in [("decode", decoding), ("encode", encoding)] {
            let (share, own, copy) = (copy / own, self.speed(own), self.speed(copy));
            println!("| {title} | {} | {direction} | {own:.0} | {copy:.0} | {share:.2} |", self.data_type);
        }
    }

    /// Returns the speed in decoded megabytes per second.
    fn speed(&self, seconds: f64) -> f64 {
        self.data.len() as f64 / 1e6 / seconds
    }
}

/// Returns the median times of two operations that run in alternation, in seconds.
fn medians(mut first: impl FnMut(), mut second: impl FnMut()) -> (f64, f64) {
    let mut times = (Vec::new(), Vec::new());
    for repetition in 0..=REPETITIONS {
        let taken = (timed(&mut first), timed(&mut second));
        if repetition > 0 {
            times.0.push(taken.0);
            times.1.push(taken.1);
        }
    }
    (median(&mut times.0), median(&mut times.1))
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Returns a smooth curve with some noise, rounded to two decimal places like measurements.
fn numbers(data_type: &DataType) -> Vec<u8> {
    let mut noise = 1_u32;
    let mut bytes = Vec::with_capacity(COUNT * data_type.size());
    for i in 0..COUNT {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = ((i as f64 / 5000.0).sin() * 2000.0 + f64::from(noise >> 28)).round() / 100.0;
        let hundredths = (value * 100.0) as i16;
        match data_type {
            DataType::Bool => bytes.push(u8::from(value > 0.0)),
            DataType::UInt16 | DataType::Int16 => bytes.extend(hundredths.to_ne_bytes()),
            DataType::Int32 => bytes.extend(i32::from(hundredths).to_ne_bytes()),
            DataType::Float32 => bytes.extend((value as f32).to_ne_bytes()),
            DataType::Float64 => bytes.extend(value.to_ne_bytes()),
            other => panic!("no test data for the data type {other}"),
        }
    }
    bytes
}
