//! Zarr version 3 (3.0 and 3.1): one document, `zarr.json`, for each node.
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html>

use crate::json::json;

use super::members::{Members, bad_separator, correct_empty_chunks, lengths, put_members, wrong};
use super::{
    ArrayMetadata, Change, Consolidation, Document, Format, FormatDef, GroupMetadata, Layout, NodeMetadata,
    ReadContext, Source, consolidated, v2,
};
use crate::codec::CodecSpec;
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::grid::{ChunkGrid, ChunkKeyEncoding, Rectilinear, Separator};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct V3;

const DOCUMENT: &str = "zarr.json";

impl FormatDef for V3 {
    fn name(&self) -> &'static str {
        "v3"
    }

    fn layout(&self) -> Layout {
        Layout::together(&[DOCUMENT])
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        let Some(Some(source)) = documents.first() else { return Ok(None) };
        from_documents(*source, context).map_err(|error| error.in_document(DOCUMENT))
    }

    fn to_documents(&self, _: &NodePath, node: &NodeMetadata, registry: &Registry) -> Result<Vec<Document>> {
        let map = match node {
            NodeMetadata::Array(array) => array_to_document(array, registry)?,
            NodeMetadata::Group(group) => group_to_document(group),
        };
        Ok(vec![(DOCUMENT, json::to_bytes(&map)?)])
    }

    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>> {
        let bytes = documents.first().and_then(Option::as_deref).unwrap_or(b"");
        let mut map = json::parse_object(bytes)?;
        match change {
            Change::Shape(shape) => drop(map.insert("shape".to_owned(), shape.into())),
            Change::Growth(shape, grid) => {
                map.insert("shape".to_owned(), shape.into());
                map.insert("chunk_grid".to_owned(), grid.to_json());
            }
            Change::Attributes(attributes) => {
                map.insert("attributes".to_owned(), attributes.clone().into());
            }
            Change::Members(members) => put_members(&mut map, members),
        }
        Ok(vec![(DOCUMENT, json::to_bytes(&map)?)])
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        ChunkKeyEncoding::Default(Separator::Slash)
    }

    fn has_one_compressor(&self) -> bool {
        false
    }

    fn default_compressor(&self, _: usize) -> CodecSpec {
        CodecSpec::new("zstd", json!({"level": 0, "checksum": false}))
    }

    fn consolidation(&self) -> Option<Consolidation> {
        Some(Consolidation::Inline)
    }

    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        let bytes = CodecSpec::new("bytes", json!({"endian": "little"}));
        Some(vec![bytes, CodecSpec::new("crc32c", Json::Null)])
    }
}

fn from_documents(source: Source<'_>, context: &ReadContext<'_>) -> Result<Option<NodeMetadata>> {
    let mut members = source.members(context.strictness)?;
    // In the drafts, a document that does not belong to a node has a URI in this member.
    if members.get("zarr_format").and_then(Json::as_str).is_some_and(|format| format.contains("://")) {
        return Ok(None);
    }
    members.zarr_format(3)?;
    node_from_document(members, context).map(Some)
}

fn node_from_document(mut members: Members<'_>, context: &ReadContext<'_>) -> Result<NodeMetadata> {
    match members.optional("node_type").as_deref() {
        Some(Json::String(kind)) if kind == "array" => {
            array_from_document(members, context).map(NodeMetadata::Array)
        }
        Some(Json::String(kind)) if kind == "group" => group_from_document(members).map(NodeMetadata::Group),
        // Only an array has these members, so the kind is unambiguous.
        None if members.lenient() && members.has("shape") && members.has("data_type") => {
            array_from_document(members, context).map(NodeMetadata::Array)
        }
        None => Err(Error::metadata("the member 'node_type' is missing")),
        Some(other) => Err(Error::metadata(format!("node_type is {other}; expected \"array\" or \"group\""))),
    }
}

fn group_from_document(mut members: Members<'_>) -> Result<GroupMetadata> {
    let attributes = members.object("attributes")?;
    check_consolidated(members.optional(consolidated::MEMBER).as_deref(), members.lenient())?;
    Ok(GroupMetadata { format: Format::V3, attributes, extra: extra(members)? })
}

/// Checks the consolidated metadata. The copies of other nodes' documents are not the group's own metadata, and are read only
/// when they are needed.
fn check_consolidated(json: Option<&Json>, lenient: bool) -> Result<()> {
    match json {
        None => Ok(()),
        Some(Json::Object(map)) if lenient || map.get("must_understand") == Some(&Json::Bool(false)) => {
            Ok(())
        }
        Some(Json::Null) if lenient => Ok(()),
        Some(other) => {
            let wants = "an object with \"must_understand\": false";
            Err(wrong(consolidated::MEMBER, wants, other))
        }
    }
}

fn array_from_document(mut members: Members<'_>, context: &ReadContext<'_>) -> Result<ArrayMetadata> {
    let strictness = context.strictness;
    let shape = members.lengths("shape")?;
    let data_type = members.required("data_type")?;
    if strictness == Strictness::Strict {
        extension("data_type", &data_type, strictness)?;
    }
    let known = context.registry.data_type_from_v3(&data_type);
    let data_type = context.registry.or_unknown(&data_type, known)?;
    let chunk_grid = ChunkGrid::from_json(&*members.required("chunk_grid")?, &shape, strictness)?;
    let chunk_key_encoding = read_key_encoding(&*members.required("chunk_key_encoding")?, strictness)?;
    let fill = members.required("fill_value")?;
    if strictness == Strictness::Strict && matches!(data_type, DataType::RawBits(_)) && !fill.is_array() {
        return Err(Error::metadata(format!("fill_value {fill} of a {data_type} must be a list of bytes")));
    }
    let fill_value = context.registry.family(&data_type)?.fill_from_json(&data_type, &fill, strictness)?;
    let codecs = read_codecs(&*members.required("codecs")?, strictness)?;
    let attributes = members.object("attributes")?;
    let dimension_names = read_dimension_names(members.take("dimension_names"), strictness)?;
    check_storage_transformers(members.optional("storage_transformers").as_deref(), strictness)?;
    let array = ArrayMetadata {
        format: Format::V3,
        shape,
        data_type,
        fallback_from: None,
        chunk_grid,
        chunk_key_encoding,
        separator_declared: true,
        fill_value: Some(fill_value),
        codecs,
        attributes,
        dimension_names,
        extra: extra(members)?,
    };
    array.validate()?;
    Ok(array)
}

/// The declaration of an extension at an extension point.
struct Extension<'a> {
    name: &'a str,
    configuration: Option<&'a Map>,
}

impl Extension<'_> {
    fn get(&self, member: &str) -> Option<&Json> {
        self.configuration.and_then(|configuration| configuration.get(member))
    }
}

/// Reads the name and the configuration of an extension point: `"name"` or `{"name": …, "configuration": {…}}`.
fn extension<'a>(member: &str, json: &'a Json, strictness: Strictness) -> Result<Extension<'a>> {
    let map = match json {
        Json::String(name) => return Ok(Extension { name, configuration: None }),
        Json::Object(map) => map,
        other => return Err(wrong(member, "a name, or an object with a name", other)),
    };
    let (mut name, mut configuration, mut must_understand, mut unknown) = (None, None, None, None);
    for (key, json) in map {
        match key.as_str() {
            "name" => name = json.as_str(),
            "configuration" => configuration = Some(json),
            "must_understand" => must_understand = Some(json),
            _ => unknown = unknown.or(Some(key)),
        }
    }
    let Some(name) = name else {
        return Err(Error::metadata(format!("the member '{member}' has no name: {json}")));
    };
    let configuration = match configuration {
        None => None,
        Some(Json::Object(configuration)) => Some(configuration),
        Some(Json::Null) if strictness == Strictness::Lenient => None,
        Some(other) => {
            return Err(wrong("configuration", "an object", other).at(format!("{member} '{name}'")));
        }
    };
    if let Some(unknown) = unknown {
        return Err(Error::metadata(format!("{member} '{name}' has the unknown member '{unknown}'")));
    }
    match must_understand.filter(|_| strictness == Strictness::Strict) {
        None | Some(Json::Bool(true)) => {}
        // The grid and the keys of chunks are always needed.
        Some(Json::Bool(false)) if member == "codecs" => {}
        Some(other) => {
            let message = format!("{member} '{name}' cannot have \"must_understand\": {other}");
            return Err(Error::metadata(message));
        }
    }
    Ok(Extension { name, configuration })
}

impl ChunkGrid {
    /// Parses the `chunk_grid` of v3 metadata, for arrays of `shape`.
    ///
    /// # Errors
    /// When the grid is invalid, or does not cover the array.
    #[doc(hidden)]
    pub fn from_json(json: &Json, shape: &[u64], strictness: Strictness) -> Result<Self> {
        let grid = extension("chunk_grid", json, strictness)?;
        let member = |member: &str| {
            let missing = || Error::metadata(format!("chunk_grid has no {member} in its configuration"));
            grid.get(member).ok_or_else(missing)
        };
        let only = |members: usize| match strictness {
            Strictness::Strict if grid.configuration.is_some_and(|all| all.len() > members) => {
                Err(Error::metadata("the configuration of chunk_grid has unknown members"))
            }
            _ => Ok(()),
        };
        let rectilinear = |name: &str| {
            let lengths =
                Rectilinear::lengths_from_json(member(name)?, strictness).map_err(|error| error.at(name))?;
            ChunkGrid::rectilinear(lengths, shape)
        };
        match grid.name {
            "regular" => {
                let mut chunk_shape = lengths("chunk_shape", member("chunk_shape")?, strictness)?;
                only(1)?;
                correct_empty_chunks(&mut chunk_shape, shape, strictness);
                ChunkGrid::regular(chunk_shape, shape)
            }
            "rectilinear" => {
                match grid.get("kind") {
                    Some(Json::String(kind)) if kind == "inline" => {}
                    None if strictness == Strictness::Lenient => {}
                    Some(Json::String(kind)) => {
                        return Err(Error::unsupported(format!(
                            "unknown kind of rectilinear chunk_grid '{kind}'; only 'inline' is supported"
                        )));
                    }
                    _ => return Err(wrong("kind", "\"inline\"", member("kind")?)),
                }
                only(2)?;
                rectilinear("chunk_shapes")
            }
            // zarrs wrote this before the extension had its current name.
            "rectangular" if strictness == Strictness::Lenient => rectilinear("chunk_shape"),
            name => Err(Error::unsupported(format!(
                "unknown chunk grid '{name}'; known are 'regular' and 'rectilinear'"
            ))),
        }
    }
}

fn read_key_encoding(json: &Json, strictness: Strictness) -> Result<ChunkKeyEncoding> {
    let encoding = extension("chunk_key_encoding", json, strictness)?;
    let mut members = encoding.configuration.into_iter().flat_map(Map::keys);
    if let Some(unknown) = members.find(|key| strictness == Strictness::Strict && *key != "separator") {
        let message = format!("the configuration of chunk_key_encoding has the unknown member '{unknown}'");
        return Err(Error::metadata(message));
    }
    let separator = match encoding.get("separator") {
        None => None,
        Some(Json::Null) if strictness == Strictness::Lenient => None,
        Some(Json::String(text)) => Some(Separator::parse(text).ok_or_else(|| bad_separator(text))?),
        Some(other) => return Err(wrong("separator", "\".\" or \"/\"", other)),
    };
    match encoding.name {
        "default" => Ok(ChunkKeyEncoding::Default(separator.unwrap_or(Separator::Slash))),
        "v2" => Ok(ChunkKeyEncoding::V2(separator.unwrap_or(Separator::Dot))),
        name => Err(Error::unsupported(format!(
            "unknown chunk_key_encoding '{name}'; known are 'default' and 'v2'"
        ))),
    }
}

fn read_codecs(json: &Json, strictness: Strictness) -> Result<Vec<CodecSpec>> {
    let list = json.as_array().ok_or_else(|| wrong("codecs", "a list", json))?;
    list.iter()
        .map(|codec| {
            let Extension { name, configuration } = extension("codecs", codec, strictness)?;
            if has_filter_of_bytes(name, configuration) {
                return Err(Error::unsupported(format!(
                    "the codec '{}' exists only in v2: the filters of v3 work on arrays, not on bytes",
                    v2::FILTER_OF_BYTES
                )));
            }
            let configuration = configuration.cloned().unwrap_or_default();
            Ok(CodecSpec { name: name.to_owned(), configuration })
        })
        .collect()
}

/// Returns true if a codec, or a codec inside it, is a v2 filter whose input is bytes.
fn has_filter_of_bytes(name: &str, configuration: Option<&Map>) -> bool {
    fn within(json: &Json) -> bool {
        match json {
            Json::String(name) => name == v2::FILTER_OF_BYTES,
            Json::Array(list) => list.iter().any(within),
            Json::Object(map) => map.values().any(within),
            _ => false,
        }
    }
    name == v2::FILTER_OF_BYTES || configuration.is_some_and(|members| members.values().any(within))
}

fn read_dimension_names(json: Option<Json>, strictness: Strictness) -> Result<Option<Vec<Option<String>>>> {
    let list = match json {
        None => return Ok(None),
        Some(Json::Null) if strictness == Strictness::Lenient => return Ok(None),
        Some(Json::Array(list)) => list,
        Some(other) => return Err(wrong("dimension_names", "a list", &other)),
    };
    let names = list.into_iter().map(|name| match name {
        Json::Null => Ok(None),
        Json::String(name) => Ok(Some(name)),
        other => Err(wrong("dimension_names", "a list of strings and nulls", &other)),
    });
    names.collect::<Result<_>>().map(Some)
}

fn check_storage_transformers(json: Option<&Json>, strictness: Strictness) -> Result<()> {
    match json {
        None => Ok(()),
        Some(Json::Null) if strictness == Strictness::Lenient => Ok(()),
        Some(Json::Array(list)) if list.is_empty() => Ok(()),
        Some(other) => Err(Error::unsupported(format!("storage transformers are not supported: {other}"))),
    }
}

/// Returns the remaining members, each of which must declare that it need not be understood.
fn extra(members: Members<'_>) -> Result<Map> {
    let rest = members.rest();
    let optional = |json: &Json| json.get("must_understand") == Some(&Json::Bool(false));
    if let Some((name, _)) = rest.iter().find(|(_, json)| !optional(json)) {
        return Err(Error::unsupported(format!(
            "unknown member '{name}' without \"must_understand\": false"
        )));
    }
    Ok(rest)
}

fn group_to_document(group: &GroupMetadata) -> Map {
    let mut map = Map::default();
    map.insert("zarr_format".to_owned(), 3.into());
    map.insert("node_type".to_owned(), "group".into());
    map.insert("attributes".to_owned(), group.attributes.clone().into());
    map.extend(group.extra.clone());
    map
}

fn array_to_document(array: &ArrayMetadata, registry: &Registry) -> Result<Map> {
    let family = registry.family(&array.data_type)?;
    let fill = family.fill_to_v3(&array.data_type, &array.fill_element(registry)?);
    let (encoding, separator) = match array.chunk_key_encoding {
        ChunkKeyEncoding::Default(separator) => ("default", separator),
        ChunkKeyEncoding::V2(separator) => ("v2", separator),
        ChunkKeyEncoding::Draft { .. } => {
            return Err(Error::unsupported(
                "Zarr v3 does not support chunk keys like \"c1/0\"; its own are \"c/1/0\" and \"1/0\"",
            ));
        }
        ChunkKeyEncoding::N5 => {
            return Err(Error::unsupported(
                "Zarr v3 does not support chunk keys with the axes in reverse order, such as those of N5",
            ));
        }
    };
    if array.codecs.iter().any(|c| c.configuration.get("endian").is_some_and(Json::is_array)) {
        return Err(Error::unsupported("Zarr v3 supports only one byte order for all fields of a structure"));
    }
    if let Some(codec) =
        array.codecs.iter().find(|codec| has_filter_of_bytes(&codec.name, Some(&codec.configuration)))
    {
        return Err(Error::unsupported(format!(
            "Zarr v3 does not support '{codec}' here: the filters of v3 work on arrays, and the input of this one is bytes, which only v2 allows"
        )));
    }
    let codecs = array.codecs.iter();
    let codecs =
        codecs.map(|c| json!({"name": c.name, "configuration": c.configuration})).collect::<Vec<_>>();
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": family.to_v3(&array.data_type)?,
        "chunk_grid": array.chunk_grid.to_json(),
        "chunk_key_encoding": {
            "name": encoding,
            "configuration": {"separator": separator.to_string()},
        },
        "fill_value": fill,
        "codecs": codecs,
        "attributes": array.attributes,
    });
    let Json::Object(mut map) = document else { return Ok(Map::default()) };
    if let Some(names) = &array.dimension_names {
        map.insert("dimension_names".to_owned(), json!(names));
    }
    map.extend(array.extra.clone());
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> Json {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": {},
        })
    }

    fn with(member: &str, value: Json) -> Json {
        let mut document = minimal();
        document[member] = value;
        document
    }

    fn raw(fill_value: Json) -> Json {
        let mut document = with("data_type", json!("r16"));
        document["fill_value"] = fill_value;
        document
    }

    fn rectilinear(chunk_shapes: &Json) -> Json {
        json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}})
    }

    fn read(document: &Json, strictness: Strictness) -> Result<ArrayMetadata> {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, strictness);
        match from_documents(Source::Bytes(document.to_string().as_bytes()), &context)? {
            Some(NodeMetadata::Array(array)) => Ok(array),
            other => Err(Error::metadata(format!("no array: {other:?}"))),
        }
    }

    #[test]
    fn writing_what_was_read_gives_the_document_back() {
        let documents = [
            minimal(),
            with("dimension_names", json!(["x"])),
            with("later", json!({"must_understand": false, "a": [1]})),
            with("chunk_key_encoding", json!({"name": "v2", "configuration": {"separator": "."}})),
            with("attributes", json!({"b": 1, "a": {"c": null}})),
            raw(json!([1, 2])),
            with("chunk_grid", rectilinear(&json!([2]))),
            with("chunk_grid", rectilinear(&json!([[1, [1, 1], [1, 2], 7]]))),
            with("chunk_grid", rectilinear(&json!([[[1, 1_u64 << 60]]]))),
        ];
        for document in documents {
            let array = read(&document, Strictness::Strict).unwrap();
            let written = array_to_document(&array, &Registry::new()).unwrap();
            assert_eq!(Json::Object(written), document);
        }
    }

    #[test]
    fn lenient_reading_takes_what_is_clear_and_strict_reading_does_not() {
        let variants = [
            with("zarr_format", json!(3.0)),
            with("shape", json!([4.0])),
            with("attributes", Json::Null),
            with("dimension_names", Json::Null),
            with("fill_value", json!("0")),
            with("chunk_grid", json!({"name": "regular", "configuration": {"chunk_shape": [2], "x": 1}})),
            with("chunk_key_encoding", json!({"name": "default", "configuration": {"x": 1}})),
            with("chunk_key_encoding", json!({"name": "default", "configuration": {"separator": null}})),
            with("chunk_key_encoding", json!({"name": "default", "must_understand": false})),
            with("codecs", json!([{"name": "crc32c", "must_understand": 1}])),
            with("storage_transformers", Json::Null),
            with("data_type", json!({"name": "int32", "must_understand": false})),
            raw("AQI=".into()),
            with("chunk_grid", rectilinear(&json!([[2.0, [1, 2.0]]]))),
            with("chunk_grid", json!({"name": "rectilinear", "configuration": {"chunk_shapes": [[4]]}})),
            with("chunk_grid", json!({"name": "rectangular", "configuration": {"chunk_shape": [[1, 3]]}})),
        ];
        for document in variants {
            assert!(read(&document, Strictness::Lenient).is_ok(), "{document}");
            assert!(read(&document, Strictness::Strict).is_err(), "{document}");
        }
    }

    #[test]
    fn groups_without_consolidated_metadata_may_say_so() {
        let document = |consolidated: Json| {
            let map = json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata": consolidated});
            map.to_string().into_bytes()
        };
        let read = |bytes: &[u8], strictness| {
            from_documents(Source::Bytes(bytes), &ReadContext::new(&Registry::new(), strictness))
        };
        assert!(read(&document(Json::Null), Strictness::Lenient).is_ok());
        assert_eq!(
            read(&document(Json::Null), Strictness::Strict).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        assert!(read(&document(json!({"kind": "inline"})), Strictness::Lenient).is_ok());
        assert_eq!(
            read(&document(json!({"kind": "inline"})), Strictness::Strict).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        assert!(read(&document(json!({"must_understand": false})), Strictness::Strict).is_ok());
    }

    #[test]
    fn both_modes_take_the_short_forms_of_3_1() {
        let document = with("chunk_key_encoding", json!("default"));
        assert!(read(&document, Strictness::Strict).is_ok());
        let array = read(&with("codecs", json!(["bytes", "crc32c"])), Strictness::Strict).unwrap();
        assert_eq!(array.codecs[1].name, "crc32c");
    }

    #[test]
    fn broken_documents_are_errors_that_name_the_member() {
        let broken = [
            (with("zarr_format", json!(4)), "zarr_format"),
            (with("node_type", json!("table")), "node_type"),
            (with("shape", json!([-1])), "shape"),
            (with("shape", json!("4")), "shape"),
            (with("data_type", json!(4)), "data type"),
            (with("data_type", json!("int33")), "int33"),
            (with("data_type", json!({"name": "int32", "later": 1})), "data type"),
            (
                with("data_type", json!({"name": "int32", "configuration": {"endian": "big"}})),
                "no configuration",
            ),
            (with("chunk_grid", json!({"name": "regular"})), "chunk_shape"),
            (
                with("chunk_grid", json!({"name": "regular", "configuration": {"chunk_shape": [0]}})),
                "dimension 0",
            ),
            (
                with("chunk_grid", json!({"name": "regular", "configuration": {"chunk_shape": [1, 1]}})),
                "dimensions",
            ),
            (with("chunk_grid", json!({"name": "hexagonal"})), "hexagonal"),
            (
                with("chunk_key_encoding", json!({"name": "default", "configuration": {"separator": "-"}})),
                "separator",
            ),
            (with("chunk_grid", rectilinear(&json!([[1, 2]]))), "end at 3"),
            (with("chunk_grid", rectilinear(&json!([[4, 0]]))), "length 0"),
            (with("chunk_grid", rectilinear(&json!([[[4, 0]]]))), "a run of 0 chunks"),
            (with("chunk_grid", rectilinear(&json!([4, 4]))), "dimensions"),
            (with("chunk_grid", rectilinear(&json!([[[4]]]))), "chunk_shapes"),
            (with("chunk_grid", rectilinear(&json!([[4, "x"]]))), "chunk_shapes"),
            (with("chunk_grid", rectilinear(&json!([[4, -1]]))), "chunk_shapes"),
            (with("chunk_grid", rectilinear(&json!([[[u64::MAX, 2]]]))), "2^64"),
            (
                with("chunk_grid", json!({"name": "rectilinear", "configuration": {"kind": "inline"}})),
                "chunk_shapes",
            ),
            (
                with(
                    "chunk_grid",
                    json!({"name": "rectilinear", "configuration": {"kind": "far", "chunk_shapes": [4]}}),
                ),
                "far",
            ),
            (
                with(
                    "chunk_grid",
                    json!({"name": "rectilinear", "configuration": {"kind": 1, "chunk_shapes": [4]}}),
                ),
                "kind",
            ),
            (with("fill_value", Json::Null), "fill_value"),
            (with("fill_value", json!(2_147_483_648_u64)), "fill_value"),
            (with("codecs", json!({})), "codecs"),
            (with("codecs", json!([7])), "codecs"),
            (with("attributes", json!([])), "attributes"),
            (with("dimension_names", json!(["a", "b"])), "dimension names"),
            (with("storage_transformers", json!([{"name": "x"}])), "transformer"),
            (with("later", json!({"must_understand": true})), "later"),
            (with("later", json!(1)), "later"),
        ];
        for (document, named) in broken {
            let message = read(&document, Strictness::Lenient).unwrap_err().to_string();
            assert!(message.contains(named), "{document}: {message}");
        }
    }

    #[test]
    fn a_patch_changes_one_member_and_keeps_the_rest() {
        let document = with("later", json!({"must_understand": false}));
        let documents = [Some(document.to_string().into_bytes())];
        let patched = V3.patch(&documents, Change::Shape(&[9])).unwrap();
        let mut expected = document;
        expected["shape"] = json!([9]);
        assert_eq!(json::parse(&patched[0].1).unwrap(), expected);
        let grid = ChunkGrid::rectilinear([vec![1, 8]], &[9]).unwrap();
        let patched = V3.patch(&documents, Change::Growth(&[9], &grid)).unwrap();
        expected["chunk_grid"] = rectilinear(&json!([[1, 8]]));
        assert_eq!(json::parse(&patched[0].1).unwrap(), expected);
    }
}
