//! The cells of the matrix that `quality/conformance/matrix.py` designs.

use std::collections::HashMap;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use zarrox::data_type::Storage;
use zarrox::json::{Json, Map};
use zarrox::stores::{Key, MemoryStore, StoreExt};
use zarrox::{ChunkKeyEncoding, ChunkLengths, CodecSpec, DataType, Format, OpenOptions, Registry, Separator};
use zarrox_core::json::json;

use crate::failure::Failure;

/// An array or a group: what it is, how it comes into being, and how it is changed afterwards.
#[derive(Debug, Deserialize)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) format: u8,
    /// True if it is of zarr-python 2's experimental v3, which has v2's words.
    #[serde(default)]
    experimental: bool,
    #[serde(default)]
    pub(crate) group: bool,
    #[serde(default)]
    data_type: Json,
    /// The number of bits of a number's bytes that it takes.
    #[serde(default)]
    pub(crate) bits: u32,
    /// True if floats are the whole numbers that so many bits say.
    #[serde(default)]
    pub(crate) whole: bool,
    /// The codecs that a cell about codecs needs, by the names that its format has.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    #[serde(default)]
    endian: String,
    #[serde(default)]
    pub(crate) shape: Vec<u64>,
    #[serde(default)]
    pub(crate) chunks: Vec<u64>,
    /// The lengths of chunks of several shapes, or one of all, along each dimension.
    pub(crate) grid: Option<Vec<Lengths>>,
    /// Of those in shards, in v2's words.
    inner_chunks: Option<Vec<u64>>,
    #[serde(default)]
    pub(crate) fill_value: Json,
    /// Its bytes, in little-endian order and without zeros at the end, where metadata codes them.
    pub(crate) fill_element: Option<Vec<u8>>,
    /// The fill value of a structure, as v3 has it, with one value for all elements of a field that is an array.
    pub(crate) fill_fields: Option<Json>,
    /// The fields of a structure as v2 has them.
    dtype: Option<Json>,
    /// The kind of elements of variable length.
    pub(crate) elements: Option<String>,
    /// The texts that elements are taken from.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    #[serde(deserialize_with = "members")]
    pub(crate) attributes: Map,
    pub(crate) dimension_names: Option<Vec<Option<String>>>,
    key_encoding: Option<KeyEncoding>,
    #[serde(default)]
    pub(crate) steps: Vec<Step>,
    pub(crate) update: Vec<Step>,
    #[serde(default)]
    codecs: Vec<V3Codec>,
    order: Option<String>,
    filters: Option<Vec<Json>>,
    compressor: Option<Json>,
    #[serde(default)]
    pub(crate) members: Vec<String>,
    not_applicable: HashMap<String, HashMap<String, String>>,
}

fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
    match Json::deserialize(deserializer)? {
        Json::Object(map) => Ok(map),
        other => Err(D::Error::custom(format!("expected an object, found {other}"))),
    }
}

#[derive(Debug, Deserialize)]
struct KeyEncoding {
    name: String,
    separator: String,
}

#[derive(Debug, Deserialize)]
struct V3Codec {
    name: String,
    #[serde(default)]
    configuration: Json,
}

/// The lengths of the chunks along a dimension.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Lengths {
    /// One for all.
    Repeated(u64),
    Listed(Vec<u64>),
}

impl From<Lengths> for ChunkLengths {
    fn from(lengths: Lengths) -> Self {
        match lengths {
            Lengths::Repeated(length) => length.into(),
            Lengths::Listed(lengths) => lengths.into(),
        }
    }
}

/// One change of an array.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Step {
    /// The elements that the seed gives, in a region: start, stop and step for each dimension.
    Write {
        region: Vec<[isize; 3]>,
        seed: u64,
    },
    /// The fill value, in a region.
    Fill {
        region: Vec<[isize; 3]>,
    },
    Resize {
        shape: Vec<u64>,
    },
    Attributes {
        #[serde(deserialize_with = "members")]
        value: Map,
    },
}

impl Cell {
    pub(crate) fn applicable(&self, implementation: &str, action: &str) -> bool {
        !self.not_applicable.get(implementation).is_some_and(|actions| actions.contains_key(action))
    }

    pub(crate) fn format(&self) -> Format {
        match self.format {
            _ if self.experimental => Format::V3Experimental,
            1 => Format::V1,
            2 => Format::V2,
            5 => Format::N5,
            _ => Format::V3,
        }
    }

    pub(crate) fn data_type(&self, registry: &Registry) -> Result<DataType, Failure> {
        Ok(match (&self.dtype, &self.data_type) {
            (Some(fields), _) if self.format != 3 => registry.data_type_from_v2(fields)?.0,
            // The library's own names of what v3 has no name for.
            (_, Json::String(name)) if self.elements.is_some() => DataType::parse(name, registry)?,
            (_, v3) => registry.data_type_from_v3(v3)?,
        })
    }

    /// Returns the codec that makes bytes of elements of a fixed size.
    fn bytes_codec(&self, data_type: &DataType, registry: &Registry) -> Result<CodecSpec, Failure> {
        if let Some(fields) = &self.dtype {
            let order = registry.data_type_from_v2(fields)?.1.ok_or("no field has a byte order")?;
            return Ok(CodecSpec::new("bytes", json!({"endian": order.to_json()})));
        }
        Ok(match (data_type.storage().word(), self.endian.as_str()) {
            (1, _) => CodecSpec::new("bytes", Json::Null),
            (_, "big") => zarrox::codecs::Bytes::big().into(),
            _ => zarrox::codecs::Bytes::little().into(),
        })
    }

    pub(crate) fn key_encoding(&self) -> Result<ChunkKeyEncoding, Failure> {
        let encoding = self.key_encoding.as_ref().ok_or("the cell has no key encoding")?;
        let separator = Separator::parse(&encoding.separator).ok_or("the separator is not one")?;
        Ok(match encoding.name.as_str() {
            "v2" => ChunkKeyEncoding::V2(separator),
            "draft" => ChunkKeyEncoding::Draft { separator, scalar: "c0" },
            "n5" => ChunkKeyEncoding::N5,
            _ => ChunkKeyEncoding::Default(separator),
        })
    }

    /// Returns the chain of codecs, as v3 names them whatever the format.
    pub(crate) fn codecs(&self, registry: &Registry) -> Result<Vec<CodecSpec>, Failure> {
        match self.format {
            1 | 2 => self.v2_codecs(registry),
            _ => Ok(self.codecs.iter().map(|c| CodecSpec::new(&c.name, c.configuration.clone())).collect()),
        }
    }

    /// Returns the codecs of a cell about codecs, as the library reads them in v2's words: filters may stand where v3 has no
    /// place for them, and only the library knows which byte order they leave to the numbers.
    fn lifted(&self) -> Result<Vec<CodecSpec>, Failure> {
        let order = if self.endian == "big" { ">" } else { "<" };
        let data_type = self.data_type(&zarrox::codecs::registry())?;
        let (kind, size) = match data_type.storage() {
            Storage::Bool => ("b", 1),
            Storage::Int(size) => ("i", size),
            Storage::Uint(size) => ("u", size),
            Storage::Float(size) => ("f", size),
            Storage::Complex(size) => ("c", size),
            _ => return Err("a cell about codecs has numbers".into()),
        };
        let document = json!({
            "zarr_format": 2,
            "shape": self.shape,
            "chunks": self.chunks,
            "dtype": format!("{}{kind}{size}", if size == 1 { "|" } else { order }),
            "fill_value": self.fill_value,
            "order": self.order,
            "filters": self.filters,
            "compressor": self.compressor,
        });
        let store = Arc::new(MemoryStore::new());
        store.set(&Key::new(".zarray")?, document.to_string().as_bytes(), Default::default())?;
        Ok(OpenOptions::new().open((store, ""))?.into_array()?.codecs())
    }

    fn v2_codecs(&self, registry: &Registry) -> Result<Vec<CodecSpec>, Failure> {
        if !self.needs.is_empty() {
            return self.lifted();
        }
        let data_type = self.data_type(registry)?;
        let mut codecs = Vec::new();
        // Lists of objects are nested in the order of the axes whatever `order` says.
        let turns = self.elements.as_deref() != Some("json");
        if turns && self.order.as_deref() == Some("F") && self.shape.len() > 1 {
            let order: Vec<usize> = (0..self.shape.len()).rev().collect();
            codecs.push(zarrox::codecs::Transpose::order(order).into());
        }
        if self.elements.is_none() {
            codecs.push(self.bytes_codec(&data_type, registry)?);
        }
        for members in self.filters.iter().flatten().chain(&self.compressor).filter_map(Json::as_object) {
            let (_, codec) = registry.spec_from_v2(&members.clone().into(), data_type.encoded_item())?;
            let id = members.get("id").and_then(Json::as_str).ok_or("the codec has no id")?;
            codecs.push(codec);
            if id == "categorize" {
                // Its numbers are elements still.
                codecs.push(CodecSpec::new("bytes", Json::Null));
            }
        }
        if let Some(inner) = &self.inner_chunks {
            let sharding = zarrox::codecs::Sharding::new(inner.clone(), codecs);
            return Ok(vec![sharding.index_codecs([zarrox::codecs::Bytes::little().into()]).into()]);
        }
        Ok(codecs)
    }
}
