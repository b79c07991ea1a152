//! `node`: all properties of a node.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::codec::CodecKind;
use zarrox::data_type::Storage;
use zarrox::internals::attribute_names;
use zarrox::json::{Json, Map};
use zarrox::{Array, ArrayInfo, CodecSpec, DynArray, ErrorKind, Interrupt, Node, Registry, Result};

use super::selection::{Indexing, Part};
use super::slice::nearest;
use crate::content::Wanted;
use crate::failure::Answer;
use crate::json::Value;
use crate::place::Place;
use crate::query::{Flag, Query, Select};
use crate::root::{Opened, Root};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NodeQuery {
    stored: Counting,
    documents: Flag,
    /// A node that does not exist is `null`, not an error.
    optional: Flag,
    coordinates: Flag,
}

/// The maximum number of coordinates of a dimension that are sent with an array.
const MOST_COORDINATES: u64 = 20_000;

/// When to count stored chunks.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Counting {
    /// If counting is fast.
    #[default]
    Quick,
    Count,
    None,
}

/// All properties of a node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct NodeInfo {
    path: String,
    /// The path of the hierarchy of the node. It is not empty if the root contains several hierarchies.
    hierarchy: String,
    name: String,
    /// The path or URL of the store.
    store: String,
    format: String,
    /// The file of another format that is read as a hierarchy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    file: Option<FileInfo>,
    #[cfg_attr(test, ts(type = "{ [name: string]: Json }"))]
    attributes: Value,
    #[serde(flatten)]
    kind: Kind,
    v3: Translated,
    /// The metadata documents by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "{ [key: string]: Json }"))]
    documents: Option<Value>,
}

/// A file of another format.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FileInfo {
    format: String,
    /// At the topmost node, the parts of the file that have no form in Zarr, with the reasons.
    left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "NodeKind"))]
enum Kind {
    Group,
    Array(Box<ArrayFacts>),
}

/// All properties of an array.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ArrayFacts {
    shape: Vec<u64>,
    data_type: TypeInfo,
    /// The shape of a chunk, or of a chunk inside shards.
    chunk_shape: Vec<u64>,
    shard_shape: Option<Vec<u64>>,
    /// The number of chunks, or of shards, along each dimension.
    grid_shape: Vec<u64>,
    chunk_grid: Value,
    dimension_names: Option<Vec<Option<String>>>,
    fill_value: Value,
    fill_text: String,
    codecs: Vec<Codec>,
    /// The size of all elements in memory, in bytes.
    bytes: Option<u64>,
    /// The reason why elements cannot be read, if there is one.
    unreadable: Option<String>,
    /// `null` if chunks were not counted.
    stored: Option<Stored>,
    /// The coordinate arrays of the dimensions, if they were requested and are short.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    coordinates: Option<BTreeMap<String, Coordinates>>,
}

/// The coordinates of a dimension.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Coordinates {
    data_type: TypeInfo,
    fill_value: Value,
    #[cfg_attr(test, ts(type = "{ [name: string]: Json }"))]
    attributes: Value,
    #[cfg_attr(test, ts(type = "Array<Json>"))]
    values: Value,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct TypeInfo {
    name: String,
    kind: TypeKind,
    /// The size of an element; zero if it is variable.
    bytes: usize,
    fields: Option<Vec<Field>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum TypeKind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    Bytes,
    Text,
    Struct,
    Variable,
}

/// A field of structures.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Field {
    name: String,
    data_type: String,
    shape: Vec<usize>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Codec {
    name: String,
    kind: CodecRole,
    #[cfg_attr(test, ts(type = "{ [name: string]: Json }"))]
    configuration: Value,
}

/// The input and the output of a codec.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "CodecKind"))]
enum CodecRole {
    ArrayToArray,
    ArrayToBytes,
    BytesToBytes,
    Unknown,
}

/// The stored chunks of an array.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Stored {
    /// The number of chunks in the grid, or of shards.
    chunks: Option<u64>,
    /// The number of stored chunks or shards.
    stored: u64,
    missing: Option<u64>,
    /// The number of stored bytes, including metadata.
    bytes: u64,
    chunk_bytes: u64,
    /// The decoded size of the stored chunks, in bytes.
    decoded_bytes: Option<u64>,
    ratio: Option<f64>,
}

/// Whether the node can be expressed in Zarr 3.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Translated {
    possible: bool,
    /// The differences of the Zarr 3 form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    notes: Option<Vec<String>>,
    /// The reason why the node cannot be expressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    why: Option<String>,
}

pub(super) async fn answer(
    State(registry): State<Arc<Registry>>,
    place: Place,
    Query(query): Query<NodeQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    place.json(wanted, move |root, path, interrupt| found(root, path, &query, &registry, interrupt)).await
}

fn found(
    root: &Root,
    path: &str,
    query: &NodeQuery,
    registry: &Registry,
    interrupt: &Interrupt,
) -> Answer<Option<NodeInfo>> {
    let opened = match root.node(path) {
        Err(error) if query.optional.0 && error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let node = &opened.node;
    Ok(Some(NodeInfo {
        path: path.to_owned(),
        hierarchy: opened.hierarchy.clone(),
        name: path.rsplit('/').next().unwrap_or_default().to_owned(),
        store: root.store.location(),
        format: node.format().to_string(),
        file: root.file.as_ref().map(|file| FileInfo {
            format: file.kind.to_string(),
            left_out: if path.is_empty() { file.left_out.clone() } else { Vec::new() },
        }),
        attributes: Json::from(node.attributes().clone()).into(),
        kind: match node {
            Node::Group(_) => Kind::Group,
            Node::Array(array) => {
                let mut facts = ArrayFacts::new(array, query.stored, registry)?;
                facts.coordinates =
                    query.coordinates.0.then(|| coordinates(root, path, array, registry, interrupt));
                Kind::Array(Box::new(facts))
            }
        },
        v3: Translated::new(&opened),
        documents: if query.documents.0 { Some(documents(node)?) } else { None },
    }))
}

/// Returns the coordinates along the dimensions of an array. Coordinates that cannot be read are omitted.
fn coordinates(
    root: &Root,
    path: &str,
    array: &Array,
    registry: &Registry,
    interrupt: &Interrupt,
) -> BTreeMap<String, Coordinates> {
    let (group, own) = path.rsplit_once('/').unwrap_or(("", path));
    let names = array.dimension_names().map(<[_]>::to_vec).or_else(|| attribute_names(array.metadata()));
    let lengths = names.unwrap_or_default().into_iter().zip(array.shape());
    let named = lengths.filter_map(|(name, &length)| Some((name?, length)));
    let known =
        named.filter(|(name, length)| *length <= MOST_COORDINATES && name != own && !name.contains('/'));
    let read = known.filter_map(|(name, length)| {
        let place = if group.is_empty() { name.clone() } else { format!("{group}/{name}") };
        let opened = root.node(&place).ok()?;
        let Node::Array(coordinates) = &opened.node else { return None };
        if coordinates.shape() != [length] {
            return None;
        }
        let part = Part::new(coordinates, &Select::default(), Indexing::default(), interrupt).ok()?;
        let values = nearest(&part, vec![1], None).ok()?.values.to_json(registry).ok()?;
        let fill = coordinates.fill_bytes();
        let fill = DynArray::element_to_json(coordinates.data_type(), fill.as_bytes(), registry);
        let found = Coordinates {
            data_type: TypeInfo::new(coordinates),
            fill_value: fill.unwrap_or_default().into(),
            attributes: Json::from(opened.node.attributes().clone()).into(),
            values: values.into(),
        };
        Some((name, found))
    });
    read.collect()
}

/// Returns the metadata documents of a node. Documents that are not JSON are returned as text.
fn documents(node: &Node) -> Result<Value> {
    let documents = node.documents()?.into_iter().map(|(key, bytes)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (key, zarrox::json::parse(&bytes).unwrap_or_else(|_| text.into()))
    });
    Ok(Json::from(documents.collect::<Map>()).into())
}

impl Translated {
    fn new(opened: &Opened) -> Self {
        match opened.v3() {
            Ok(translation) => {
                let notes = translation.obstacles().iter().map(|obstacle| obstacle.reason.clone()).collect();
                Self { possible: true, notes: Some(notes), why: None }
            }
            Err(error) => Self { possible: false, notes: None, why: Some(error.to_string()) },
        }
    }
}

impl ArrayFacts {
    fn new(array: &Array, counting: Counting, registry: &Registry) -> Result<Self> {
        let fill = array.fill_bytes();
        let fill_json = DynArray::element_to_json(array.data_type(), fill.as_bytes(), registry);
        Ok(Self {
            shape: array.shape().to_vec(),
            data_type: TypeInfo::new(array),
            chunk_shape: array.unit_shape(),
            shard_shape: array.shard_shape().map(|shape| shape.to_vec()),
            grid_shape: array.grid_shape(),
            chunk_grid: array.chunk_grid().to_json().into(),
            dimension_names: array.dimension_names().map(<[_]>::to_vec),
            fill_value: fill_json.unwrap_or_default().into(),
            fill_text: array.format_element(fill.as_bytes()).unwrap_or_default(),
            codecs: array.codecs().iter().map(|codec| Codec::new(codec, registry)).collect(),
            bytes: array.nbytes(),
            unreadable: array.unreadable().map(str::to_owned),
            stored: match counting {
                Counting::None => None,
                Counting::Quick => Stored::new(&array.quick_info()?),
                Counting::Count => Stored::new(&array.info()?),
            },
            coordinates: None,
        })
    }
}

impl TypeInfo {
    fn new(array: &Array) -> Self {
        let data_type = array.data_type();
        let kind = match data_type.storage() {
            Storage::Bool => TypeKind::Bool,
            Storage::Int(_) => TypeKind::Int,
            Storage::Uint(_) => TypeKind::Uint,
            Storage::Float(_) => TypeKind::Float,
            Storage::Complex(_) => TypeKind::Complex,
            Storage::Raw(_) => TypeKind::Bytes,
            Storage::Utf32(_) => TypeKind::Text,
            Storage::Struct(_) => TypeKind::Struct,
            Storage::Variable => TypeKind::Variable,
        };
        let field = |field: &zarrox::data_type::Field| Field {
            name: field.name.clone(),
            data_type: field.data_type.to_string(),
            shape: field.shape.clone(),
        };
        let fields = data_type.fields().map(|structure| structure.fields().iter().map(field).collect());
        Self { name: data_type.to_string(), kind, bytes: data_type.size(), fields }
    }
}

impl Codec {
    fn new(codec: &CodecSpec, registry: &Registry) -> Self {
        let kind = match registry.codec(&codec.name).map(|def| def.kind) {
            Ok(CodecKind::ArrayToArray) => CodecRole::ArrayToArray,
            Ok(CodecKind::ArrayToBytes) => CodecRole::ArrayToBytes,
            Ok(CodecKind::BytesToBytes) => CodecRole::BytesToBytes,
            Err(_) => CodecRole::Unknown,
        };
        Self { name: codec.name.clone(), kind, configuration: Json::from(codec.configuration.clone()).into() }
    }
}

impl Stored {
    /// The counts; `None` if nothing was counted.
    fn new(info: &ArrayInfo) -> Option<Self> {
        info.counted.then(|| Self {
            chunks: info.chunks,
            stored: info.chunks_stored,
            missing: info.chunks.map(|chunks| chunks.saturating_sub(info.chunks_stored)),
            bytes: info.bytes_stored,
            chunk_bytes: info.chunk_bytes_stored,
            decoded_bytes: info.chunk_bytes,
            ratio: info.ratio(),
        })
    }
}
