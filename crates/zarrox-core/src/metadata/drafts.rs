//! The implementation shared by the two drafts of version 3: entry documents, codecs and extensions identified by URIs, and
//! sharding as a storage transformer.
//!
//! The documents of arrays are translated to the form of [version 2](super::v2), and then read by its code.

use std::borrow::Cow;

use crate::json::json;

use super::members::{Members, put_members, wrong};
use super::{ArrayMetadata, Change, Document, Format, GroupMetadata, NodeMetadata, ReadContext, Source, v2};
use crate::codec::{CodecKind, CodecSpec};
use crate::data_type::{DataType, Endian};
use crate::error::{Error, Result};
use crate::grid::{ChunkGrid, ChunkKeyEncoding, Separator};
use crate::json::{self, Json, Map};
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The key of the entry document.
pub(super) const ENTRY: &str = "zarr.json";
/// The name of an array's document.
pub(super) const ARRAY: &str = "array";
/// The name of a group's document.
pub(super) const GROUP: &str = "group";

/// The prefix of all URIs that belong to the drafts.
const SPECIFICATIONS: &str = "https://purl.org/zarr/spec/";

/// Returns the members of an entry document of the experimental version 3, or of the draft. Returns `None` for other documents,
/// because final version 3 has documents with the same name.
pub(super) fn entry_members(document: Option<&[u8]>, experimental: bool) -> Option<Map> {
    let document = document.filter(|document| has_textual_format(document))?;
    let map = json::parse_object(document).ok()?;
    let is_entry = map.get("zarr_format")?.as_str()?.contains("://");
    // The draft stores the key suffix in the encoding, which is an object.
    let is_experimental =
        map.contains_key("metadata_key_suffix") || map.get("metadata_encoding").is_some_and(Json::is_string);
    (is_entry && is_experimental == experimental).then_some(map)
}

/// Returns true if the member `zarr_format` of any object in a document is a string. In final version 3, it is a number. This
/// distinguishes large consolidated documents from entry documents without parsing them.
fn has_textual_format(document: &[u8]) -> bool {
    const MEMBER: &str = "\"zarr_format\"";
    let Ok(text) = std::str::from_utf8(document) else { return false };
    text.match_indices(MEMBER).any(|(at, _)| {
        let value = text[at + MEMBER.len()..].trim_start().strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.starts_with('"'))
    })
}

/// Checks the URI of the core specification: its last segment is the version.
pub(super) fn check_core_version(members: &mut Members<'_>, strict: &str) -> Result<()> {
    let json = members.required("zarr_format")?;
    let uri = json.as_str().unwrap_or_default();
    let known = uri.strip_prefix(SPECIFICATIONS).and_then(|rest| {
        let rest = rest.strip_prefix("protocol/").filter(|_| members.lenient()).unwrap_or(rest);
        rest.strip_prefix("core/")
    });
    if uri == strict || known.is_some_and(is_version_3) {
        return Ok(());
    }
    Err(Error::unsupported(format!("zarr_format is {json}; expected \"{strict}\"")))
}

fn is_version_3(version: &str) -> bool {
    version == "3" || version.starts_with("3.")
}

/// Returns the suffix of the keys of documents.
pub(super) fn key_suffix(members: &mut Members<'_>) -> Result<String> {
    const NAME: &str = "metadata_key_suffix";
    let json = match members.take(NAME) {
        None if members.lenient() => return Ok(".json".to_owned()),
        other => other.ok_or_else(|| Error::metadata(format!("the member '{NAME}' is missing")))?,
    };
    match json.as_str() {
        Some(suffix) if !suffix.contains(['/', '\\', '\0']) && suffix.len() < 100 => Ok(suffix.to_owned()),
        _ => Err(wrong(NAME, "a short suffix of a key", &json)),
    }
}

/// Rejects extensions that must be understood. Returns the list of extensions if it is not empty.
pub(super) fn check_extensions(json: Option<Json>, strictness: Strictness) -> Result<Option<Json>> {
    let list = match &json {
        None => return Ok(None),
        Some(Json::Null) if strictness == Strictness::Lenient => return Ok(None),
        Some(Json::Array(list)) => list,
        Some(other) => return Err(wrong("extensions", "a list of objects", other)),
    };
    for extension in list {
        let Some(name) = extension.get("extension").and_then(Json::as_str) else {
            return Err(wrong("extensions", "a list of objects, each with an \"extension\"", extension));
        };
        if extension.get("must_understand") != Some(&Json::Bool(false)) {
            return Err(Error::unsupported(format!(
                "unknown extension '{name}' without \"must_understand\": false"
            )));
        }
    }
    Ok(if list.is_empty() { None } else { json })
}

/// Reads the document of a group.
pub(super) fn group_from_document(
    source: Source<'_>,
    format: Format,
    context: &ReadContext<'_>,
) -> Result<GroupMetadata> {
    let mut members = source.members(context.strictness)?;
    let attributes = attributes(&mut members)?;
    Ok(GroupMetadata { format, attributes, extra: members.rest() })
}

/// Returns the attributes, which must exist.
pub(super) fn attributes(members: &mut Members<'_>) -> Result<Map> {
    if !members.lenient() && !members.has("attributes") {
        return Err(Error::metadata("the member 'attributes' is missing"));
    }
    members.object("attributes")
}

/// Returns the document of a group.
pub(super) fn group_to_document(group: &GroupMetadata) -> Map {
    let mut map = Map::default();
    map.insert("attributes".to_owned(), group.attributes.clone().into());
    map.extend(group.extra.clone());
    map
}

/// Reads a node from its array document and its group document.
pub(super) fn from_documents(
    documents: &[Option<Source<'_>>],
    format: Format,
    context: &ReadContext<'_>,
    array_from_document: impl FnOnce(Map) -> Result<ArrayMetadata>,
) -> Result<Option<NodeMetadata>> {
    match documents {
        [Some(array), _] => {
            let read = array.parsed(context.strictness).map(Cow::into_owned).and_then(array_from_document);
            read.map(|array| Some(NodeMetadata::Array(array))).map_err(|error| error.in_document(ARRAY))
        }
        [None, Some(group)] => {
            let group =
                group_from_document(*group, format, context).map_err(|error| error.in_document(GROUP))?;
            Ok(Some(NodeMetadata::Group(group)))
        }
        _ => Ok(None),
    }
}

/// Returns the document with one member changed. An implicit group with attributes becomes an explicit group.
pub(super) fn patch(
    documents: &[Option<Vec<u8>>],
    change: Change<'_>,
    attributes_of: impl FnOnce(&Map, &Map) -> Result<Map>,
) -> Result<Vec<Document>> {
    let (name, bytes) = match documents {
        [Some(array), _] => (ARRAY, array.as_slice()),
        [_, Some(group)] => (GROUP, group.as_slice()),
        _ => (GROUP, b"{}".as_slice()),
    };
    let mut map = json::parse_object(bytes).map_err(|error| error.in_document(name))?;
    match change {
        Change::Shape(shape) | Change::Growth(shape, _) => drop(map.insert("shape".to_owned(), shape.into())),
        Change::Attributes(attributes) => {
            let attributes =
                if name == ARRAY { attributes_of(&map, attributes)? } else { attributes.clone() };
            map.insert("attributes".to_owned(), attributes.into());
        }
        Change::Members(members) => put_members(&mut map, members),
    }
    Ok(vec![(name, json::to_bytes(&map)?)])
}

/// Reads a regular grid: the shape of its chunks, and the separator of their keys.
pub(super) fn read_grid(json: &Json, strictness: Strictness) -> Result<(Json, Separator)> {
    let Json::Object(grid) = json else { return Err(wrong("chunk_grid", "an object", json)) };
    if grid.get("type") != Some(&json!("regular")) {
        return Err(Error::unsupported(format!("unknown chunk grid {json}; expected the type \"regular\"")));
    }
    let chunk_shape = grid.get("chunk_shape").cloned();
    let chunk_shape = chunk_shape.ok_or_else(|| Error::metadata("chunk_grid has no chunk_shape"))?;
    let separator = match grid.get("separator") {
        None if strictness == Strictness::Lenient => Separator::Slash,
        separator => {
            let text = separator.and_then(Json::as_str);
            text.and_then(Separator::parse)
                .ok_or_else(|| Error::metadata("the separator in chunk_grid must be \".\" or \"/\""))?
        }
    };
    let known = ["type", "chunk_shape", "separator"];
    match grid.keys().find(|key| strictness == Strictness::Strict && !known.contains(&key.as_str())) {
        None => Ok((chunk_shape, separator)),
        Some(unknown) => Err(Error::metadata(format!("chunk_grid has the unknown member '{unknown}'"))),
    }
}

/// Reads the memory order of a chunk, in v2 form.
pub(super) fn read_order(members: &mut Members<'_>) -> Result<Json> {
    match members.take("chunk_memory_layout") {
        None | Some(Json::Null) if members.lenient() => Ok("C".into()),
        Some(Json::String(layout)) if layout == "C" || layout == "F" => Ok(layout.into()),
        None => Err(Error::metadata("the member 'chunk_memory_layout' is missing")),
        Some(other) => {
            Err(Error::unsupported(format!("unknown chunk_memory_layout {other}; known are \"C\" and \"F\"")))
        }
    }
}

/// Returns the v2 type string for a type name of v3 (`float64`), v2 (`<f8`), or the experimental version (`i1`).
pub(super) fn type_string(name: &str, registry: &Registry) -> Result<Json> {
    match name {
        "i1" | "u1" | "b1" => return Ok(format!("|{name}").into()),
        _ => {}
    }
    if name.starts_with(['<', '>', '|']) {
        return Ok(name.into());
    }
    let data_type = registry.data_type_from_v3(&name.into())?;
    registry.family(&data_type)?.to_v2(&data_type, Endian::Little)
}

/// Returns the type string with another byte order, if the type has a byte order.
pub(super) fn with_endian(dtype: &Json, endian: Endian) -> Result<Json> {
    let Some(text) = dtype.as_str() else {
        return Err(Error::unsupported(format!(
            "the data type {dtype} has its own byte order, which the document cannot store"
        )));
    };
    Ok(match text.strip_prefix(['<', '>']) {
        Some(rest) => format!("{}{rest}", endian.character()).into(),
        None => text.into(),
    })
}

/// Converts a codec of the form `{type or codec: URI, configuration}` to v2 form.
pub(super) fn codec_to_v2(member: &str, json: &Json) -> Result<(String, Json)> {
    let Json::Object(map) = json else { return Err(wrong(member, "an object with a URI", json)) };
    let uri = map.get("type").or_else(|| map.get("codec")).and_then(Json::as_str);
    let uri = uri.ok_or_else(|| Error::metadata(format!("a codec in '{member}' has no URI: {json}")))?;
    let configuration = match map.get("configuration") {
        None | Some(Json::Null) => Map::default(),
        Some(Json::Object(configuration)) => configuration.clone(),
        Some(other) => return Err(wrong("configuration", "an object", other).at(format!("codec '{uri}'"))),
    };
    let id = codec_id(uri)?;
    let mut v2 = Map::default();
    v2.insert("id".to_owned(), id.into());
    v2.extend(configuration);
    Ok((id.to_owned(), v2.into()))
}

/// Returns the id of a codec with a URI. A codec from another source has its URI as its id.
fn codec_id(uri: &str) -> Result<&str> {
    let path = uri
        .strip_prefix(SPECIFICATIONS)
        .and_then(|path| path.strip_prefix("codecs/").or_else(|| path.strip_prefix("codec/")));
    match path.and_then(|path| path.split_once('/')) {
        None => Ok(uri),
        Some((id, version)) if version.split('.').next() == Some("1") => Ok(id),
        Some((id, version)) => {
            Err(Error::unsupported(format!("unknown version {version} of the codec '{id}'; expected 1.0")))
        }
    }
}

/// Returns the URI and the configuration of a v2 codec.
pub(super) fn codec_from_v2(codec: &Json, stem: &str) -> Option<(String, Map)> {
    let mut configuration = codec.as_object()?.clone();
    let id = configuration.remove("id")?;
    let id = id.as_str()?;
    let uri = if id.contains("://") { id.to_owned() } else { format!("{SPECIFICATIONS}{stem}/{id}/1.0") };
    Some((uri, configuration))
}

/// Returns true if a v2 codec is a bytes→bytes codec.
pub(super) fn is_bytes_to_bytes(codec: &Json, registry: &Registry) -> Result<bool> {
    let id = codec.get("id").and_then(Json::as_str).unwrap_or_default();
    let members = codec.as_object().cloned().unwrap_or_default();
    Ok(registry.codec_from_v2(id, &members)?.kind == CodecKind::BytesToBytes)
}

/// Reads an array in the form of version 2, with the chunk keys and the shards of a draft.
pub(super) fn array_from_document(
    document: Map,
    format: Format,
    keys: ChunkKeyEncoding,
    transformers: Option<&Json>,
    context: &ReadContext<'_>,
) -> Result<ArrayMetadata> {
    let array = v2::array_from_document(Members::new(Cow::Owned(document), context.strictness), context)?;
    // Writers differ in the key of the only chunk of a zero-dimensional array.
    let separator_declared = context.strictness == Strictness::Strict || !array.shape.is_empty();
    let array = ArrayMetadata { format, chunk_key_encoding: keys, separator_declared, ..array };
    match transformers {
        None => Ok(array),
        Some(Json::Null) if context.strictness == Strictness::Lenient => Ok(array),
        Some(Json::Array(list)) if list.is_empty() => Ok(array),
        Some(Json::Array(list)) if list.len() == 1 => sharded(array, &list[0], context.strictness),
        Some(other) => Err(Error::unsupported(format!(
            "storage_transformers: only one transformer is supported, sharding; found {other}"
        ))),
    }
}

/// Returns the array in the form of version 2, without its shards, or an error if the draft cannot represent it.
pub(super) fn array_to_document(array: &ArrayMetadata, registry: &Registry) -> Result<Written> {
    let format = array.format;
    if array.dimension_names.is_some() {
        return Err(Error::unsupported(format!(
            "Zarr {format} cannot store dimension names; set the attribute _ARRAY_DIMENSIONS instead, which xarray reads"
        )));
    }
    let ChunkKeyEncoding::Draft { separator, .. } = array.chunk_key_encoding else {
        return Err(Error::unsupported(format!(
            "Zarr {format} supports only its own chunk keys, such as \"c1/0\""
        )));
    };
    let (array, chunks_per_shard) = unsharded(array)?;
    let keys = ChunkKeyEncoding::V2(separator);
    let plain = ArrayMetadata { chunk_key_encoding: keys, extra: Map::default(), ..array };
    let document = v2::array_to_document(&plain, registry)
        .map_err(|error| error.at(format!("as {format}, which has the codecs of v2")))?;
    Ok(Written { document, separator, chunks_per_shard })
}

/// An array in the form of version 2.
pub(super) struct Written {
    pub(super) document: Map,
    pub(super) separator: Separator,
    pub(super) chunks_per_shard: Option<Vec<u64>>,
}

impl Written {
    /// Removes a member of the document, which must exist.
    pub(super) fn take(&mut self, name: &str) -> Json {
        self.document.remove(name).unwrap_or(Json::Null)
    }

    /// Returns the grid.
    pub(super) fn grid(&mut self) -> Json {
        let chunk_shape = self.take("chunks");
        json!({"type": "regular", "chunk_shape": chunk_shape, "separator": self.separator.to_string()})
    }

    /// Returns the storage transformers, if there are any.
    pub(super) fn transformers(&self, uri: &str) -> Option<Json> {
        let chunks_per_shard = self.chunks_per_shard.as_ref()?;
        Some(json!([
            {"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": chunks_per_shard}},
        ]))
    }
}

/// Returns the codecs of a shard's index, which has no checksum.
pub(super) fn index_codecs() -> Vec<CodecSpec> {
    vec![CodecSpec::new("bytes", json!({"endian": "little"}))]
}

const SHARDING: &str = "sharding_indexed";

/// Returns the array with the shards into which the storage transformer groups chunks.
fn sharded(array: ArrayMetadata, transformer: &Json, strictness: Strictness) -> Result<ArrayMetadata> {
    let uri = transformer.get("extension").and_then(Json::as_str).unwrap_or_default();
    let path = uri.strip_prefix(SPECIFICATIONS).map(|path| path.strip_prefix("extensions/").unwrap_or(path));
    let known = path.is_some_and(|path| path.starts_with("storage_transformers/sharding/1."));
    if !known || transformer.get("type") != Some(&json!("indexed")) {
        return Err(Error::unsupported(format!(
            "unknown storage transformer {transformer}; expected sharding of the type \"indexed\""
        )));
    }
    let per_shard = transformer.get("configuration").and_then(|c| c.get("chunks_per_shard"));
    let per_shard = per_shard.ok_or_else(|| Error::metadata("the sharding has no 'chunks_per_shard'"))?;
    let per_shard = chunks_per_shard(per_shard, array.shape.len(), strictness)?;
    let inner = array.chunk_grid.chunk_shape()?.to_vec();
    let lengths = inner.iter().zip(&per_shard).map(|(&inner, &count)| inner.checked_mul(count));
    let shard = lengths.collect::<Option<Vec<u64>>>().ok_or_else(|| {
        Error::metadata(format!("shards of {per_shard:?} chunks of {inner:?} elements are too large"))
    })?;
    let list = |codecs: &[CodecSpec]| {
        let codecs = codecs.iter().map(|c| json!({"name": c.name, "configuration": c.configuration}));
        codecs.collect::<Vec<_>>()
    };
    let sharding = CodecSpec::new(
        SHARDING,
        json!({
            "chunk_shape": inner,
            "codecs": list(&array.codecs),
            "index_codecs": list(&index_codecs()),
            "index_location": "end",
        }),
    );
    let chunk_grid = ChunkGrid::regular(shard, &array.shape)?;
    Ok(ArrayMetadata { chunk_grid, codecs: vec![sharding], ..array })
}

/// Reads the number of chunks in a shard along each dimension. zarr-python accepts a single number in place of a list, and uses 1
/// for dimensions that are not given.
fn chunks_per_shard(json: &Json, ndim: usize, strictness: Strictness) -> Result<Vec<u64>> {
    let list = match json {
        Json::Number(_) if strictness == Strictness::Lenient => std::slice::from_ref(json),
        other => other.as_array().map(Vec::as_slice).unwrap_or_default(),
    };
    let mut counts: Vec<u64> = list.iter().filter_map(Json::as_u64).filter(|&count| count > 0).collect();
    let complete = counts.len() == list.len() && (json.is_array() || !list.is_empty());
    if counts.len() < ndim && strictness == Strictness::Lenient {
        counts.resize(ndim, 1);
    }
    if ndim == 0 && counts == [1] {
        counts.clear();
    }
    if !complete || counts.len() != ndim {
        return Err(wrong("chunks_per_shard", &format!("a list of {ndim} positive integers"), json));
    }
    Ok(counts)
}

/// Returns the array without its shards, and the number of chunks in each shard along each dimension.
fn unsharded(array: &ArrayMetadata) -> Result<(ArrayMetadata, Option<Vec<u64>>)> {
    let sharding = match array.codecs.as_slice() {
        [only] if only.name == SHARDING => &only.configuration,
        codecs if codecs.iter().any(|codec| codec.name == SHARDING) => {
            return Err(Error::unsupported(format!(
                "Zarr {} supports no codecs around shards: 'sharding_indexed' must be the only codec",
                array.format
            )));
        }
        _ => return Ok((array.clone(), None)),
    };
    let codecs = |member: &str| {
        let list = sharding.get(member).and_then(Json::as_array);
        let codecs = list.and_then(|list| list.iter().map(CodecSpec::from_json).collect::<Option<Vec<_>>>());
        codecs.ok_or_else(|| wrong(member, "a list of codecs", sharding.get(member).unwrap_or(&Json::Null)))
    };
    let location = sharding.get("index_location").and_then(Json::as_str).unwrap_or("end");
    if codecs("index_codecs")? != index_codecs() || location != "end" {
        return Err(Error::unsupported(format!(
            "Zarr {} stores the index of a shard at its end, little-endian and without a checksum; other index codecs are not supported",
            array.format
        )));
    }
    let shard = array.chunk_grid.chunk_shape()?;
    let inner = sharding.get("chunk_shape").and_then(Json::as_array);
    let inner = inner.and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    let inner = inner.filter(|inner| inner.len() == shard.len()).unwrap_or_default();
    let counts = shard.iter().zip(&inner).map(|(&shard, &inner)| shard.checked_div(inner));
    let counts = counts.collect::<Option<Vec<_>>>().filter(|counts| counts.len() == shard.len());
    let counts = counts.ok_or_else(|| Error::metadata("the chunk shape does not divide the shard shape"))?;
    let chunk_grid = ChunkGrid::regular(inner, &array.shape)?;
    Ok((ArrayMetadata { chunk_grid, codecs: codecs("codecs")?, ..array.clone() }, Some(counts)))
}

/// Returns true if a data type has its own name in v3.
pub(super) fn is_core(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Extension(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_an_entry_document_is_known_without_parsing() {
        let textual = [r#"{"zarr_format": "https://x"}"#, "{\"a\": 1, \"zarr_format\"\n :\t\"x\"}"];
        assert!(textual.iter().all(|document| has_textual_format(document.as_bytes())));
        let others =
            [r#"{"zarr_format": 3, "a": "zarr_format"}"#, r#"{"zarr_format"}"#, "", "\"zarr_format\""];
        assert!(!others.iter().any(|document| has_textual_format(document.as_bytes())));
        assert!(!has_textual_format(b"\"zarr_format\": \"\xff\""));
    }
}
