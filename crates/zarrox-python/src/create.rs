//! Creates, opens and deletes nodes.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrox::Strictness;
use zarrox::data_type::Endian;
use zarrox::internals::data_type::{ByteOrder, has_objects};
use zarrox::json::{Json, Map};
use zarrox::{
    ArrayBuilder, ChunkGrid, ChunkShape, CodecSpec, DataType, Error, ErrorKind, Format, Node, Order,
    Registry, Separator,
};
use zarrox_tools::copy::Copier;

use crate::array::{Array, Opened, attributes_of};
use crate::error::OrRaise;
use crate::format::has_words_of_v2;
use crate::group::{Group, known_kind, node_object, raise_in_the_way};
use crate::long::{interruptible, watch};
use crate::store::Store;

/// The specification of an array. Its members are removed as they are used.
struct Spec(Map);

fn wrong(name: &str, json: &Json, wanted: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("'{name}' must be {wanted}, not {json}"))
}

impl Spec {
    fn take(&mut self, name: &str) -> Option<Json> {
        self.0.remove(name)
    }

    fn text(&mut self, name: &str) -> zarrox::Result<Option<String>> {
        match self.take(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, &other, "text")),
        }
    }

    fn lengths(&mut self, name: &str) -> zarrox::Result<Option<Vec<u64>>> {
        match self.take(name) {
            None | Some(Json::Null) => Ok(None),
            Some(json) => {
                let lengths =
                    json.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<_>>());
                lengths.map(Some).ok_or_else(|| wrong(name, &json, "a list of lengths"))
            }
        }
    }

    fn chunks(&mut self) -> zarrox::Result<Option<ChunkShape>> {
        match self.take("chunks") {
            None | Some(Json::Null | Json::Bool(true)) => Ok(None),
            Some(Json::Bool(false)) => Ok(Some(ChunkShape::One)),
            Some(json) => {
                let length =
                    |length: &Json| if length.is_null() { Some(None) } else { length.as_u64().map(Some) };
                let lengths =
                    json.as_array().and_then(|list| list.iter().map(length).collect::<Option<Vec<_>>>());
                lengths
                    .map(|lengths| Some(lengths.into()))
                    .ok_or_else(|| wrong("chunks", &json, "a list of lengths"))
            }
        }
    }
}

/// Returns the codec for a configuration in the form of v3 or of numcodecs.
fn codec(json: &Json, item: usize, registry: &Registry) -> zarrox::Result<CodecSpec> {
    if json.get("id").is_some() {
        return registry.spec_from_v2(json, item).map(|(_, spec)| spec);
    }
    CodecSpec::from_json(json).ok_or_else(|| wrong("codec", json, "an object with a name, or one with an id"))
}

/// Returns the data type, and the byte order that its v2 name specifies.
fn data_type(
    json: &Json,
    codecs: &[Json],
    registry: &Registry,
) -> zarrox::Result<(DataType, Option<ByteOrder>)> {
    if has_objects(json) {
        let objects = codecs.iter().filter_map(Json::as_object);
        return Ok((registry.type_with_objects_from_v2(json, objects)?, None));
    }
    registry.data_type_from_v2(json).or_else(|error| match registry.data_type_from_v3(json) {
        Ok(data_type) => Ok((data_type, None)),
        Err(other) => Err(if json.as_str().is_some_and(|name| name.starts_with(['<', '>', '|'])) {
            error
        } else {
            other
        }),
    })
}

/// The codecs of a v2 array: members of its document.
struct Codecs {
    filters: Vec<Json>,
    /// The compressor; `None` for the default of the format.
    compressor: Option<Json>,
}

impl Codecs {
    fn take(spec: &mut Spec) -> zarrox::Result<Self> {
        let filters = match spec.take("filters") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(filters)) => filters,
            Some(other) => return Err(wrong("filters", &other, "a list of codecs")),
        };
        Ok(Self { filters, compressor: spec.take("compressor") })
    }

    fn all(&self) -> Vec<Json> {
        self.filters.iter().chain(&self.compressor).cloned().collect()
    }

    /// Returns the members of a v2 document, since not all of them can be expressed as a v3 codec pipeline.
    fn as_members(&self) -> Map {
        let mut members = Map::default();
        if !self.filters.is_empty() {
            members.insert("filters".to_owned(), self.filters.clone().into());
        }
        members.extend(self.compressor.clone().map(|compressor| ("compressor".to_owned(), compressor)));
        members
    }

    fn give_to(
        &self,
        builder: ArrayBuilder,
        item: usize,
        registry: &Registry,
    ) -> zarrox::Result<ArrayBuilder> {
        let mut builder = builder;
        for filter in &self.filters {
            builder = builder.filter(codec(filter, item, registry)?);
        }
        Ok(match &self.compressor {
            None => builder,
            Some(Json::Null) => builder.no_compressor(),
            Some(Json::Array(compressors)) => match compressors.split_last() {
                None => builder.no_compressor(),
                Some((last, first)) => {
                    for compressor in first {
                        builder = builder.filter(codec(compressor, item, registry)?);
                    }
                    builder.compressor(codec(last, item, registry)?)
                }
            },
            Some(compressor) => builder.compressor(codec(compressor, item, registry)?),
        })
    }
}

fn builder(store: &Store, path: &str, spec: &str) -> zarrox::Result<ArrayBuilder> {
    let registry = crate::context::registry();
    let mut spec = match zarrox::json::parse(spec.as_bytes())? {
        Json::Object(map) => Spec(map),
        other => return Err(wrong("spec", &other, "an object")),
    };
    let format = spec.text("format")?.unwrap_or_else(|| "2".to_owned());
    let format = format.parse()?;
    let codecs = Codecs::take(&mut spec)?;
    let dtype = spec.take("dtype").unwrap_or_else(|| "<f8".into());
    let (data_type, order) = data_type(&dtype, &codecs.all(), registry)?;
    let mut builder = crate::context::open_options().create_array((store.store.clone(), path)).format(format);
    let shape = spec.lengths("shape")?.unwrap_or_default();
    // Codecs are checked against the chunks that they encode.
    if let Some(grid) = spec.take("chunk_grid").filter(|grid| !grid.is_null()) {
        let grid = ChunkGrid::from_json(&grid, &shape, Strictness::Lenient);
        builder = builder
            .chunk_grid(grid.map_err(|error| Error::new(ErrorKind::InvalidArgument, error.to_string()))?);
    }
    builder = builder.shape(shape).data_type(data_type.clone());
    if let Some(chunks) = spec.chunks()? {
        builder = builder.chunks(chunks);
    }
    if let Some(shards) = spec.lengths("shards")? {
        builder = builder.shards(shards);
    }
    // Members in the form of a format are stored unchanged.
    let is_v2 = has_words_of_v2(format);
    let mut members = Map::default();
    match spec.text("order")?.as_deref() {
        None | Some("C") => {}
        Some("F") => {
            builder = builder.order(Order::ColumnMajor);
            members.extend(is_v2.then(|| ("order".to_owned(), "F".into())));
        }
        Some(other) => return Err(wrong("order", &other.into(), "'C' or 'F'")),
    }
    // N5 supports neither option: elements that were never written are zero, and the form of chunk keys is fixed.
    if format == Format::N5 {
        let is_null = |json: &Json| json.is_null();
        spec.0
            .retain(|name, json| !(name == "dimension_separator" || (name == "fill_value" && is_null(json))));
    }
    if let Some(fill) = spec.take("fill_value") {
        if is_v2 {
            members.insert("fill_value".to_owned(), fill);
        } else {
            builder = builder.fill_value_json(fill);
        }
    }
    match spec.text("dimension_separator")? {
        // As in zarr-python 2, since the documents must be identical to those that it writes.
        None => {
            members.extend((format == Format::V2).then(|| ("dimension_separator".to_owned(), Json::Null)));
        }
        Some(text) => {
            let separator = Separator::parse(&text)
                .ok_or_else(|| wrong("dimension_separator", &text.as_str().into(), "'.' or '/'"))?;
            builder = builder.separator(separator);
        }
    }
    if let Some(json) = spec.take("chunk_key_encoding").filter(|json| !json.is_null()) {
        members.insert("chunk_key_encoding".to_owned(), json);
    }
    if let Some(attributes) = spec.take("attributes") {
        builder = builder.attributes(attributes.as_object().cloned().unwrap_or_default());
    }
    if let Some(Json::Array(names)) = spec.take("dimension_names") {
        builder = builder.optional_dimension_names(names.iter().map(|name| name.as_str().map(str::to_owned)));
    }
    builder = builder.overwrite(spec.take("overwrite") == Some(true.into()));
    let chain = spec.take("codecs").filter(|codecs| !codecs.is_null());
    if let Some(unknown) = spec.0.keys().next() {
        let message = format!("unknown member '{unknown}' of the specification of an array");
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    if let Some(chain) = chain {
        let list = chain.as_array().ok_or_else(|| wrong("codecs", &chain, "a list of codecs"))?;
        let list: zarrox::Result<Vec<_>> =
            list.iter().map(|json| codec(json, data_type.size(), registry)).collect();
        return Ok(builder.codecs(list?).members(members));
    }
    if is_v2 {
        members.extend(codecs.as_members());
        let is_native = order.as_ref().is_none_or(|order| *order == ByteOrder::One(Endian::Little));
        if !is_native {
            members.insert("dtype".to_owned(), dtype);
        }
        return Ok(builder.members(members));
    }
    if order == Some(ByteOrder::One(Endian::Big)) && !matches!(format, Format::N5) {
        builder = builder.endian(Endian::Big);
    }
    codecs.give_to(builder.members(members), data_type.size(), registry)
}

/// Creates an array from a specification.
#[pyfunction]
pub(crate) fn create_array(py: Python<'_>, store: &Store, path: &str, spec: &str) -> PyResult<Array> {
    let array = py.detach(|| builder(store, path, spec)?.create());
    let array = array.map_err(|error| raise_in_the_way(py, store, path, &error))?;
    Array::new(py, array, Opened::new(py, store, false))
}

/// Creates a group.
#[pyfunction]
#[pyo3(signature = (store, path, format, attributes = "{}", overwrite = false))]
pub(crate) fn create_group(
    py: Python<'_>,
    store: &Store,
    path: &str,
    format: &str,
    attributes: &str,
    overwrite: bool,
) -> PyResult<Group> {
    let attributes = attributes_of(attributes)?;
    let mode = if overwrite { zarrox::OpenMode::Write } else { zarrox::OpenMode::ReadWrite };
    let options = crate::context::open_options().format(format.parse::<Format>().or_raise()?).mode(mode);
    let group: zarrox::Result<_> = py.detach(|| {
        let mut group = options.create_group((store.store.clone(), path))?;
        if !attributes.is_empty() {
            group.set_attributes(attributes)?;
        }
        Ok(group)
    });
    let group = group.map_err(|error| raise_in_the_way(py, store, path, &error))?;
    Ok(Group::new(group, Opened::new(py, store, false)))
}

/// Opens an existing node.
#[pyfunction]
#[pyo3(signature = (store, path = "", mode = "r+", format = None, consolidated = Some(false)))]
pub(crate) fn open_node<'py>(
    py: Python<'py>,
    store: &Store,
    path: &str,
    mode: &str,
    format: Option<&str>,
    consolidated: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let opened = Opened::new(py, store, mode == "r");
    let mut options = opened.options().consolidated(match consolidated {
        Some(false) => zarrox::Consolidated::Never,
        Some(true) => zarrox::Consolidated::Require,
        None => zarrox::Consolidated::Auto,
    });
    if let Some(format) = format {
        options = options.format(format.parse::<Format>().or_raise()?);
    }
    let node = py.detach(|| options.open((store.store.clone(), path))).or_raise()?;
    let opened = match &node {
        Node::Group(group) => Opened { consolidated: group.is_consolidated(), ..opened },
        Node::Array(_) => Opened { consolidated: consolidated == Some(true), ..opened },
    };
    node_object(py, node, opened)
}

/// Returns the kind of the node at a path.
#[pyfunction]
#[pyo3(signature = (store, path, format = None))]
pub(crate) fn node_kind(
    py: Python<'_>,
    store: &Store,
    path: &str,
    format: Option<&str>,
) -> PyResult<Option<&'static str>> {
    let mut options = crate::context::open_options();
    if let Some(format) = format {
        options = options.format(format.parse::<Format>().or_raise()?);
    }
    let node: zarrox::Result<Node> = py.detach(|| options.open((store.store.clone(), path)));
    Ok(known_kind(&node))
}

/// Deletes a node and everything below it.
#[pyfunction]
pub(crate) fn delete_node(py: Python<'_>, store: &Store, path: &str) -> PyResult<()> {
    py.detach(|| crate::context::open_options().delete((store.store.clone(), path))).or_raise()
}

/// Replaces the directory `old` with the directory `new`, which contains a new node.
#[pyfunction]
pub(crate) fn replace_directory(py: Python<'_>, new: PathBuf, old: PathBuf) -> PyResult<()> {
    py.detach(|| crate::context::open_options().replace_directory(new, old)).or_raise()
}

/// Writes the consolidated metadata of a group.
#[pyfunction]
pub(crate) fn consolidate(py: Python<'_>, store: &Store, path: &str) -> PyResult<()> {
    py.detach(|| {
        let node = crate::context::open_options().open((store.store.clone(), path))?;
        node.into_group()?.consolidate_metadata()
    })
    .or_raise()
}

/// Replaces v1 documents with v2 documents.
#[pyfunction]
#[pyo3(signature = (store, path = ""))]
pub(crate) fn migrate_1to2(py: Python<'_>, store: &Store, path: &str) -> PyResult<()> {
    let kind = node_kind(py, store, path, Some("1"))?;
    if kind != Some("array") {
        return Err(PyValueError::new_err(format!("no array of Zarr version 1 at '{path}'")));
    }
    py.detach(|| Copier::new().format(Format::V2).plan_in_place((store.store.clone(), path))?.run())
        .or_raise()?;
    Ok(())
}

/// Copies an array into different shards, or out of shards. Chunks with the same encoding are not decoded.
#[pyfunction]
#[pyo3(signature = (store, path, target, target_path, shards = None, memory = None))]
pub(crate) fn reshard(
    py: Python<'_>,
    store: &Store,
    path: &str,
    target: &Store,
    target_path: &str,
    shards: Option<Vec<u64>>,
    memory: Option<usize>,
) -> PyResult<()> {
    let (from, to) = (store.store.clone(), target.store.clone());
    interruptible(py, |interrupt| {
        let copier = Copier::new().open_options(crate::context::open_options());
        let copier = memory.into_iter().fold(copier.on_progress(watch(interrupt)), Copier::memory);
        let copier = match shards {
            Some(shards) => copier.shards(shards),
            None => copier.no_shards(),
        };
        copier.plan((from, path), (to, target_path))?.run().map(drop)
    })
}
