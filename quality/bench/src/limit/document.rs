//! The properties of an array that a bare loop must know, from its document: no more than the benchmark's arrays need.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::codecs::{Blosc, Compressor, Steps};
use crate::failure::Failure;
use crate::values::Number;

/// From this size on, leaves are decompressed block by block.
const LARGE: usize = 1 << 20;

/// An array in a directory.
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) shape: Vec<usize>,
    /// The shape of what is stored as a file.
    pub(super) stored: Vec<usize>,
    /// The shape of what is encoded as a whole: an inner chunk where there are shards.
    pub(super) leaf: Vec<usize>,
    pub(super) number: Number,
    /// True if the bytes of elements are stored the other way round.
    pub(super) swapped: bool,
    /// The axes as they are stored, the slowest first.
    pub(super) order: Vec<usize>,
    pub(super) steps: Steps,
    pub(super) shards: Option<Shards>,
    fill: Vec<u8>,
    keys: Keys,
    /// The document itself, and where it is.
    json: Value,
    file: PathBuf,
}

/// The storage of the index of a shard.
#[derive(Clone, Copy)]
pub(super) struct Shards {
    pub(super) at_end: bool,
    pub(super) checksum: bool,
}

struct Keys {
    prefix: Option<&'static str>,
    separator: char,
}

impl Document {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = path.join("zarr.json");
        match std::fs::read(&file) {
            Ok(bytes) => Self::parse(path, file, serde_json::from_slice(&bytes)?),
            Err(_) => {
                let file = path.join(".zarray");
                let bytes = std::fs::read(&file)?;
                Self::parse_v2(path, file, serde_json::from_slice(&bytes)?)
            }
        }
    }

    fn parse(path: &Path, file: PathBuf, json: Value) -> Result<Self, Failure> {
        let shape = sizes(&json["shape"])?;
        let stored = sizes(&json["chunk_grid"]["configuration"]["chunk_shape"])?;
        let number = Number::parse(json["data_type"].as_str().unwrap_or("an extension"))?;
        let keys = keys(&json["chunk_key_encoding"]);
        let (mut leaf, mut shards) = (stored.clone(), None);
        let mut codecs = list(&json["codecs"]);
        if let [only] = codecs.as_slice()
            && only["name"] == "sharding_indexed"
        {
            let configuration = only["configuration"].clone();
            leaf = sizes(&configuration["chunk_shape"])?;
            let checksum = list(&configuration["index_codecs"]).iter().any(|codec| codec["name"] == "crc32c");
            shards = Some(Shards { at_end: configuration["index_location"] != "start", checksum });
            codecs = list(&configuration["codecs"]);
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        let (mut swapped, mut steps) = (false, Steps::default());
        for codec in &codecs {
            let configuration = &codec["configuration"];
            match codec["name"].as_str().unwrap_or_default() {
                "transpose" => order = sizes(&configuration["order"])?,
                "bytes" => swapped = configuration["endian"] == "big" && number.width > 1,
                name => steps.add(name, configuration, number.width)?,
            }
        }
        let fill = fill(&json["fill_value"], number);
        let path = path.to_owned();
        Ok(Self { path, shape, stored, leaf, number, swapped, order, steps, shards, fill, keys, json, file })
    }

    fn parse_v2(path: &Path, file: PathBuf, json: Value) -> Result<Self, Failure> {
        let (shape, stored) = (sizes(&json["shape"])?, sizes(&json["chunks"])?);
        let (endian, name) = json["dtype"].as_str().unwrap_or("|V").split_at(1);
        let number = Number::parse_v2(name)?;
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if json["order"] == "F" {
            order.reverse();
        }
        let mut steps = Steps::default();
        for codec in
            list(&json["filters"]).iter().chain([&json["compressor"]]).filter(|codec| !codec.is_null())
        {
            steps.add(codec["id"].as_str().unwrap_or_default(), codec, number.width)?;
        }
        let separator = json["dimension_separator"].as_str().unwrap_or(".");
        Ok(Self {
            path: path.to_owned(),
            leaf: stored.clone(),
            swapped: endian == ">" && number.width > 1,
            shards: None,
            fill: fill(&json["fill_value"], number),
            keys: Keys { prefix: None, separator: separator.chars().next().unwrap_or('.') },
            shape,
            stored,
            number,
            order,
            steps,
            json,
            file,
        })
    }

    pub(super) fn width(&self) -> usize {
        self.number.width
    }

    /// The size of a leaf in bytes.
    pub(super) fn leaf_size(&self) -> usize {
        self.leaf.iter().product::<usize>() * self.width()
    }

    /// Returns true if elements are stored in the order that results have.
    pub(super) fn is_row_major(&self) -> bool {
        self.order.is_sorted()
    }

    /// Returns true if leaves are read, or decompressed, block by block.
    pub(super) fn is_read_in_blocks(&self) -> bool {
        self.steps.are_none() || (self.steps.are_zstd() && self.leaf_size() >= LARGE)
    }

    /// The number of leaves of a file along each axis.
    pub(super) fn leaves(&self) -> Vec<usize> {
        self.stored.iter().zip(&self.leaf).map(|(stored, leaf)| stored / leaf).collect()
    }

    /// The file of a chunk.
    pub(super) fn chunk_file(&self, chunk: &[usize]) -> PathBuf {
        use std::fmt::Write;
        let mut key = String::new();
        if let Some(prefix) = self.keys.prefix {
            key.push_str(prefix);
        }
        for index in chunk {
            if !key.is_empty() {
                key.push(self.keys.separator);
            }
            let _ = write!(key, "{index}");
        }
        if key.is_empty() {
            key.push('0');
        }
        self.path.join(key)
    }

    /// Fills memory with the fill value, as it is stored.
    pub(super) fn fill(&self, leaf: &mut [u8]) {
        if self.fill.iter().all(|&byte| byte == 0) {
            return leaf.fill(0);
        }
        leaf.chunks_exact_mut(self.width()).for_each(|element| element.copy_from_slice(&self.fill));
        if self.swapped {
            leaf.chunks_exact_mut(self.width()).for_each(<[u8]>::reverse);
        }
    }

    /// Stores the shape.
    pub(super) fn store_shape(&mut self) -> Result<(), Failure> {
        self.json["shape"] = self.shape.clone().into();
        Ok(std::fs::write(&self.file, serde_json::to_vec_pretty(&self.json)?)?)
    }
}

impl Steps {
    fn add(&mut self, name: &str, configuration: &Value, width: usize) -> Result<(), Failure> {
        let integer = |name: &str, absent: i64| configuration[name].as_i64().unwrap_or(absent);
        let level = |absent| integer("level", absent) as i32;
        let supported = match name {
            "shuffle" | "numcodecs.shuffle" => {
                let size = integer("elementsize", 4) as usize;
                self.compressor.is_none() && self.shuffle.replace(size).is_none()
            }
            "zstd" | "numcodecs.zstd" => {
                let checksum = configuration["checksum"].as_bool().unwrap_or(false);
                self.compressor.replace(Compressor::Zstd { level: level(0), checksum }).is_none()
            }
            "gzip" | "numcodecs.gzip" => self.compressor.replace(Compressor::Gzip(level(1))).is_none(),
            "zlib" | "numcodecs.zlib" => self.compressor.replace(Compressor::Zlib(level(1))).is_none(),
            "blosc" | "numcodecs.blosc" => {
                let shuffle = match &configuration["shuffle"] {
                    Value::String(name) if name == "bitshuffle" => 2,
                    Value::String(name) if name == "noshuffle" => 0,
                    Value::Number(number) if number.as_i64() == Some(-1) => 1 + i32::from(width == 1),
                    Value::Number(number) => number.as_i64().unwrap_or(1) as i32,
                    _ => 1,
                };
                let blosc = Blosc {
                    name: configuration["cname"].as_str().unwrap_or("lz4").to_owned(),
                    level: integer("clevel", 5) as i32,
                    shuffle,
                    type_size: integer("typesize", width as i64) as usize,
                    block: integer("blocksize", 0) as usize,
                };
                self.compressor.replace(Compressor::Blosc(blosc)).is_none()
            }
            "crc32c" => !std::mem::replace(&mut self.checksum, true),
            _ => false,
        };
        // The checksum stands last.
        let supported = supported && (!self.checksum || name == "crc32c");
        if supported { Ok(()) } else { Err(Failure::Unsupported(format!("the codec {name} in this place"))) }
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn sizes(value: &Value) -> Result<Vec<usize>, Failure> {
    let size = |value: &Value| value.as_u64().map(|size| size as usize);
    let sizes = value.as_array().and_then(|list| list.iter().map(size).collect());
    sizes.ok_or_else(|| Failure::Unsupported(format!("the shape or order {value}")))
}

fn keys(encoding: &Value) -> Keys {
    let default = encoding["name"] != "v2";
    let separator =
        encoding["configuration"]["separator"].as_str().unwrap_or(if default { "/" } else { "." });
    Keys { prefix: default.then_some("c"), separator: separator.chars().next().unwrap_or('/') }
}

fn fill(value: &Value, number: Number) -> Vec<u8> {
    let special = match value.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        _ => 0.0,
    };
    let whole = value.as_i64().or_else(|| value.as_bool().map(i64::from));
    let bytes = match whole {
        Some(whole) => number.integer(whole),
        None => number.float(value.as_f64().unwrap_or(special)),
    };
    bytes[..number.width].to_vec()
}
