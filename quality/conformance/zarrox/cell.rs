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

/// An array or a group: its description, its creation, and its later changes.
#[derive(Debug, Deserialize)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) format: u8,
    /// True if the node belongs to zarr-python 2's experimental v3, which uses v2's names.
    #[serde(default)]
    experimental: bool,
    #[serde(default)]
    pub(crate) group: bool,
    #[serde(default)]
    data_type: Json,
    /// The number of significant bits of a number's bytes.
    #[serde(default)]
    pub(crate) bits: u32,
    /// True if floats have the values of integers of this number of bits.
    #[serde(default)]
    pub(crate) whole: bool,
    /// The codecs that a cell about codecs needs, by their names in its format.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    #[serde(default)]
    endian: String,
    #[serde(default)]
    pub(crate) shape: Vec<u64>,
    #[serde(default)]
    pub(crate) chunks: Vec<u64>,
    /// The chunk lengths along each dimension: one length for all chunks, or a list.
    pub(crate) grid: Option<Vec<Lengths>>,
    /// The lengths of inner chunks, in v2's form.
    inner_chunks: Option<Vec<u64>>,
    #[serde(default)]
    pub(crate) fill_value: Json,
    /// The bytes of the fill value, in little-endian order and without zeros at the end, if metadata encodes them.
    pub(crate) fill_element: Option<Vec<u8>>,
    /// The fill value of a structure in v3, with one value for all elements of a field that is an array.
    pub(crate) fill_fields: Option<Json>,
    /// The fields of a structure in v2.
    dtype: Option<Json>,
    /// The kind of elements of variable length.
    pub(crate) elements: Option<String>,
    /// The possible texts of elements.
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
    /// One length for all.
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
    /// Writes elements into a region. The elements follow from the seed; the region has start, stop and step for each dimension.
    Write {
        region: Vec<[isize; 3]>,
        seed: u64,
    },
    /// Writes the fill value into a region.
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
            // The library's own names for types without a name in v3.
            (_, Json::String(name)) if self.elements.is_some() => DataType::parse(name, registry)?,
            (_, v3) => registry.data_type_from_v3(v3)?,
        })
    }

    /// Returns the codec that serializes elements of fixed size.
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

    /// Returns the codec pipeline, with the names of v3 in every format.
    pub(crate) fn codecs(&self, registry: &Registry) -> Result<Vec<CodecSpec>, Failure> {
        match self.format {
            1 | 2 => self.v2_codecs(registry),
            _ => Ok(self.codecs.iter().map(|c| CodecSpec::new(&c.name, c.configuration.clone())).collect()),
        }
    }

    /// Returns the codecs of a cell about codecs, as the library reads them from v2: filters may be in positions that v3 does not
    /// allow, and only the library knows which byte order they require of the numbers.
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
        // Lists of objects are nested in the order of the axes, whatever `order` is.
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
                // The output of `categorize` is still numbers.
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
