//! The experimental version 3 of zarr-python 2.12 to 2.18: an entry document `zarr.json`, documents below `meta/root`,
//! chunks below `data/root`.
//!
//! Its arrays have the metadata of version 2 in another form: data types have NumPy's names, and types outside a short list are
//! wrapped in an extension; filters are stored as an attribute. zarrita.py, xtensor-zarr and GDAL up to 3.6 wrote the same format
//! with small differences.
//!
//! <https://zarr.readthedocs.io/en/v2.18.3/api/v3.html>

use std::borrow::Cow;

use crate::json::json;

use super::drafts::{self, ARRAY, ENTRY, GROUP};
use super::members::{Members, wrong};
use super::{
    ArrayMetadata, Change, Consolidation, Document, Format, FormatDef, Layout, NodeMetadata, ReadContext,
    Source, v2,
};
use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::grid::{ChunkKeyEncoding, ChunkShape, Separator};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct V3Experimental;

const CORE: &str = "https://purl.org/zarr/spec/protocol/core/3.0";
const SHARDING: &str = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0";
/// The attribute that stores the filters.
const FILTERS: &str = "filters";
/// The supported compressors.
const COMPRESSORS: [&str; 7] = ["gzip", "zlib", "blosc", "bz2", "lz4", "lzma", "zstd"];

impl FormatDef for V3Experimental {
    fn name(&self) -> &'static str {
        "v3-experimental"
    }

    fn layout(&self) -> Layout {
        Layout::apart("root", ".json")
    }

    fn entry_key(&self) -> Option<&'static str> {
        Some(ENTRY)
    }

    fn entry_from_document(
        &self,
        document: Option<&[u8]>,
        context: &ReadContext<'_>,
    ) -> Result<Option<Layout>> {
        let Some(map) = drafts::entry_members(document, true) else { return Ok(None) };
        let mut members = Members::new(Cow::Owned(map), context.strictness);
        drafts::check_core_version(&mut members, CORE)?;
        let encoding = members.take("metadata_encoding");
        if encoding != Some(json!(CORE)) && !members.lenient() {
            return Err(wrong("metadata_encoding", &format!("\"{CORE}\""), &encoding.unwrap_or(Json::Null)));
        }
        let suffix = drafts::key_suffix(&mut members)?;
        if !members.lenient() && !members.has("extensions") {
            return Err(Error::metadata("the member 'extensions' is missing"));
        }
        drafts::check_extensions(members.take("extensions"), context.strictness)?;
        Ok(Some(Layout::apart("root", suffix)))
    }

    fn new_entry(&self) -> Result<Option<Vec<u8>>> {
        let entry = json!({
            "zarr_format": CORE,
            "metadata_encoding": CORE,
            "metadata_key_suffix": ".json",
            "extensions": [],
        });
        entry.as_object().map(json::to_bytes).transpose()
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        drafts::from_documents(documents, Format::V3Experimental, context, |map| {
            array_from_document(map, context)
        })
    }

    fn group_document(&self) -> Option<usize> {
        Some(1)
    }

    fn to_documents(&self, _: &NodePath, node: &NodeMetadata, registry: &Registry) -> Result<Vec<Document>> {
        match node {
            NodeMetadata::Array(array) => {
                Ok(vec![(ARRAY, json::to_bytes(&array_to_document(array, registry)?)?)])
            }
            NodeMetadata::Group(group) => {
                Ok(vec![(GROUP, json::to_bytes(&drafts::group_to_document(group))?)])
            }
        }
    }

    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>> {
        drafts::patch(documents, change, |document, attributes| {
            let stored = document.get("attributes").and_then(Json::as_object);
            let filters = stored.and_then(|stored| stored.get(FILTERS)).filter(|json| is_filters(json));
            with_filters(attributes, filters.cloned())
        })
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        chunk_keys(Separator::Slash)
    }

    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        ChunkShape::Guess.resolve(shape, item)
    }

    fn default_compressor(&self, item: usize) -> CodecSpec {
        v2::default_compressor(item)
    }

    fn consolidation(&self) -> Option<Consolidation> {
        Some(Consolidation::AtRoot("meta/root/consolidated/.zmetadata"))
    }

    fn has_undefined_fill(&self) -> bool {
        true
    }

    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        Some(drafts::index_codecs())
    }
}

fn chunk_keys(separator: Separator) -> ChunkKeyEncoding {
    ChunkKeyEncoding::Draft { separator, scalar: "c0" }
}

fn array_from_document(map: Map, context: &ReadContext<'_>) -> Result<ArrayMetadata> {
    let mut members = Members::new(Cow::Owned(map), context.strictness);
    let mut attributes = drafts::attributes(&mut members)?;
    let filters = match attributes.get(FILTERS) {
        Some(json) if is_filters(json) => attributes.remove(FILTERS),
        Some(json) if !members.lenient() => {
            return Err(wrong("attributes.filters", "a list of codecs", json));
        }
        _ => None,
    };
    let (chunks, separator) = drafts::read_grid(&*members.required("chunk_grid")?, context.strictness)?;
    // The separator is repeated if it is not the default; zarr-python uses the separator of the grid.
    members.take("dimension_separator");
    let mut document = Map::default();
    let mut set = |name: &str, json: Json| drop(document.insert(name.to_owned(), json));
    set("zarr_format", 2.into());
    set("shape", members.required("shape")?.into_owned());
    set("chunks", chunks);
    set("dtype", read_data_type(&*members.required("data_type")?, context.registry)?);
    set("order", drafts::read_order(&mut members)?);
    set("filters", filters.unwrap_or(Json::Null));
    set("compressor", read_compressor(&mut members)?);
    set("dimension_separator", separator.to_string().into());
    match members.take("fill_value") {
        Some(json) if json == json!("+Infinity") && members.lenient() => set("fill_value", "Infinity".into()),
        Some(json) => set("fill_value", json),
        None => {}
    }
    let transformers = members.take("storage_transformers");
    let keys = chunk_keys(separator);
    let array =
        drafts::array_from_document(document, Format::V3Experimental, keys, transformers.as_ref(), context)?;
    let extensions = drafts::check_extensions(members.take("extensions"), context.strictness)?;
    let mut extra = members.rest();
    extra.extend(extensions.map(|list| ("extensions".to_owned(), list)));
    Ok(ArrayMetadata { attributes, extra, ..array })
}

/// Returns true if an attribute is the list of filters. Otherwise an attribute with this name belongs to the user.
fn is_filters(json: &Json) -> bool {
    json.as_array().is_some_and(|list| list.iter().all(|codec| codec.get("id").is_some_and(Json::is_string)))
}

/// Returns the attributes in the form of the document.
fn with_filters(attributes: &Map, filters: Option<Json>) -> Result<Map> {
    if attributes.contains_key(FILTERS) {
        let message = "Zarr v3-experimental stores the array's filters as the attribute 'filters'; give your attribute another name";
        return Err(Error::unsupported(message));
    }
    let mut attributes = attributes.clone();
    attributes.extend(filters.map(|filters| (FILTERS.to_owned(), filters)));
    Ok(attributes)
}

/// Reads the type in v2 form. The URI of an extension is ignored: some are placeholders.
fn read_data_type(json: &Json, registry: &Registry) -> Result<Json> {
    let inside = match json {
        Json::Object(map) => map.get("type").unwrap_or(&Json::Null),
        other => other,
    };
    match inside {
        Json::String(name) => drafts::type_string(name, registry),
        // NumPy's description of raw bytes.
        Json::Array(fields) if fields.len() == 1 && fields[0].get(0) == Some(&json!("")) => {
            Ok(fields[0].get(1).cloned().unwrap_or(Json::Null))
        }
        Json::Array(_) => Ok(inside.clone()),
        _ => Err(wrong("data_type", "a name, or an object with a \"type\"", json)),
    }
}

fn read_compressor(members: &mut Members<'_>) -> Result<Json> {
    match members.take("compressor") {
        None => {}
        Some(Json::Null) if members.lenient() => {}
        Some(codec) => return drafts::codec_to_v2("compressor", &codec).map(|(_, codec)| codec),
    }
    // A member of the draft, which other writers mixed in.
    let codecs = members.take("codecs");
    if codecs.is_some() && !members.lenient() {
        return Err(Error::unsupported("v3-experimental has a 'compressor' instead of 'codecs'"));
    }
    match codecs.as_ref().and_then(Json::as_array).map(Vec::as_slice) {
        None | Some([]) => Ok(Json::Null),
        Some([codec]) => drafts::codec_to_v2("codecs", codec).map(|(_, codec)| codec),
        Some(_) => Err(Error::unsupported("v3-experimental supports one compressor, not a list of codecs")),
    }
}

fn array_to_document(array: &ArrayMetadata, registry: &Registry) -> Result<Map> {
    let mut written = drafts::array_to_document(array, registry)?;
    let (filters, compressor) = written_codecs(&written.take(FILTERS), written.take("compressor"));
    let mut map = Map::default();
    let mut set = |name: &str, json: Json| drop(map.insert(name.to_owned(), json));
    set("attributes", with_filters(&array.attributes, filters)?.into());
    set("chunk_grid", written.grid());
    set("chunk_memory_layout", written.take("order"));
    set("data_type", written_data_type(&written.take("dtype"))?);
    set("extensions", json!([]));
    set("fill_value", written.take("fill_value"));
    set("shape", written.take("shape"));
    if let Some((uri, configuration)) = drafts::codec_from_v2(&compressor, "codec") {
        set("compressor", json!({"codec": uri, "configuration": configuration}));
    }
    if written.separator != Separator::Slash {
        set("dimension_separator", written.separator.to_string().into());
    }
    if let Some(transformers) = written.transformers(SHARDING) {
        set("storage_transformers", transformers);
    }
    map.extend(array.extra.clone());
    Ok(map)
}

fn written_data_type(dtype: &Json) -> Result<Json> {
    // zarr-python writes these members, but reads only `type`.
    let extension = |uri: &str| json!({"extension": uri, "type": dtype, "fallback": null});
    let Some(text) = dtype.as_str() else {
        return Ok(extension("TODO: structured array protocol URL"));
    };
    let mut characters = text.chars();
    let (order, kind) = (characters.next().unwrap_or_default(), characters.next().unwrap_or_default());
    let rest = characters.as_str();
    Ok(match (order, kind) {
        ('|', 'b') => "bool".into(),
        ('|', 'i' | 'u') => text[1..].into(),
        (_, 'i' | 'u' | 'f') => text.into(),
        (_, 'c') => extension(
            "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html",
        ),
        // zarr-python could not read multiples of a unit back.
        (_, 'M' | 'm')
            if !rest.trim_start_matches("8[").starts_with(|c: char| c.is_ascii_digit()) && rest != "8" =>
        {
            extension("https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html")
        }
        (_, 'S') => extension("TODO: bytestring array protocol URL"),
        (_, 'U') => extension("TODO: unicode array protocol URL"),
        (_, 'V') => extension("TODO: structured array protocol URL"),
        (_, 'O') => extension("TODO: object array protocol URL"),
        _ => return Err(Error::unsupported(format!("Zarr v3-experimental has no data type {dtype}"))),
    })
}

/// Returns the filters, if there are any, and the compressor. A codec that cannot be the compressor can be the last filter.
fn written_codecs(filters: &Json, compressor: Json) -> (Option<Json>, Json) {
    let mut filters = filters.as_array().cloned().unwrap_or_default();
    let is_compressor = |codec: &Json| COMPRESSORS.iter().any(|id| codec["id"] == *id);
    let compressor = if compressor.is_null() || is_compressor(&compressor) {
        compressor
    } else {
        filters.push(compressor);
        Json::Null
    };
    ((!filters.is_empty()).then(|| filters.into()), compressor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strictness::Strictness;

    fn minimal() -> Json {
        json!({
            "attributes": {},
            "chunk_grid": {"chunk_shape": [2, 2], "separator": "/", "type": "regular"},
            "chunk_memory_layout": "C",
            "data_type": "<f4",
            "extensions": [],
            "fill_value": 0.0,
            "shape": [4, 4],
        })
    }

    fn with(member: &str, value: Json) -> Json {
        let mut document = minimal();
        document[member] = value;
        document
    }

    fn read(document: &Json, strictness: Strictness) -> Result<ArrayMetadata> {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, strictness);
        match V3Experimental.from_documents(&[Some(Source::Json(document)), None], &context)? {
            Some(NodeMetadata::Array(array)) => Ok(array),
            other => Err(Error::metadata(format!("no array: {other:?}"))),
        }
    }

    fn written(array: &ArrayMetadata) -> Result<Json> {
        array_to_document(array, &Registry::new()).map(Json::Object)
    }

    #[test]
    fn writing_what_was_read_gives_the_document_back() {
        let sharding = json!([{
            "configuration": {"chunks_per_shard": [2, 1]}, "extension": SHARDING, "type": "indexed",
        }]);
        let mut dotted =
            with("chunk_grid", json!({"chunk_shape": [2, 2], "separator": ".", "type": "regular"}));
        dotted["dimension_separator"] = json!(".");
        let documents = [
            minimal(),
            dotted,
            with("chunk_memory_layout", json!("F")),
            with("data_type", json!(">f8")),
            with("data_type", json!("<f2")),
            with("fill_value", Json::Null),
            with("fill_value", json!("NaN")),
            with("storage_transformers", sharding),
            with("attributes", json!({"a": 1})),
            with("later", json!([1])),
        ];
        for document in documents {
            let array = read(&document, Strictness::Strict).unwrap();
            assert_eq!(written(&array).unwrap(), document);
        }
    }

    #[test]
    fn every_spelling_of_a_type_is_understood() {
        let extension = |inside: Json| json!({"extension": "TODO: …", "type": inside, "fallback": null});
        for (json, name) in [
            (json!("bool"), "bool"),
            (json!("|b1"), "bool"),
            (json!("i1"), "int8"),
            (json!("float64"), "float64"),
            (json!(">u2"), "uint16"),
            (extension(json!("<c8")), "complex64"),
            (extension(json!("|V3")), "r24"),
            (extension(json!([["", "|V3"]])), "r24"),
            (extension(json!("<m8[s]")), "timedelta64[s]"),
            (extension(json!("|S3")), "S3"),
            (extension(json!("<U3")), "U3"),
        ] {
            let mut document = with("data_type", json.clone());
            document["fill_value"] = Json::Null;
            let array = read(&document, Strictness::Strict).unwrap();
            assert_eq!(array.data_type.to_string(), name, "{json}");
            // The written document can be read again.
            let again = read(&written(&array).unwrap(), Strictness::Strict).unwrap();
            assert_eq!(again, array, "{json}");
        }
    }

    #[test]
    fn broken_documents_are_errors_that_name_the_member() {
        let broken = [
            (json!({}), "chunk_grid"),
            (with("shape", json!([4])), "dimensions"),
            (with("data_type", json!(4)), "data_type"),
            (with("data_type", json!({"extension": "x"})), "data_type"),
            (with("data_type", json!({"type": "<i3"})), "<i3"),
            (with("chunk_grid", json!({"type": "hexagonal"})), "hexagonal"),
            (with("chunk_memory_layout", json!("A")), "chunk_memory_layout"),
            (with("fill_value", json!("x")), "fill_value"),
            (with("compressor", json!("zlib")), "compressor"),
            (with("compressor", json!({"codec": "https://purl.org/zarr/spec/codec/nosuch/1.0"})), "nosuch"),
            (with("compressor", json!({"codec": "https://purl.org/zarr/spec/codec/zlib/9"})), "version 9"),
            (with("codecs", json!([1, 2])), "one compressor"),
            (with("attributes", json!({"filters": [{"id": "nosuch"}]})), "nosuch"),
            (with("attributes", json!(7)), "attributes"),
            (
                with("extensions", json!([{"extension": "http://e.org/x", "must_understand": true}])),
                "http://e.org/x",
            ),
            (with("storage_transformers", json!([{"extension": "dummy"}])), "dummy"),
        ];
        for (document, named) in broken {
            let message = read(&document, Strictness::Lenient).unwrap_err().to_string();
            assert!(message.contains(named), "{document}: {message}");
        }
    }

    #[test]
    fn lenient_reading_takes_what_others_mixed_in_and_strict_reading_does_not() {
        let mut variants = vec![
            with("compressor", Json::Null),
            with("codecs", json!([])),
            with("fill_value", json!("+Infinity")),
            with("chunk_grid", json!({"chunk_shape": [2, 2], "type": "regular"})),
            with("attributes", json!({"filters": "coffee"})),
        ];
        for member in ["attributes", "chunk_memory_layout", "fill_value"] {
            let mut document = minimal();
            document.as_object_mut().unwrap().remove(member);
            variants.push(document);
        }
        for document in variants {
            assert!(read(&document, Strictness::Lenient).is_ok(), "{document}");
            assert!(
                read(&document, Strictness::Strict).is_err() || document.get("codecs").is_some(),
                "{document}"
            );
        }
    }

    #[test]
    fn the_attribute_filters_is_not_the_users() {
        let document = with("attributes", json!({"filters": [{"id": "x"}], "a": 1}));
        let documents = [Some(document.to_string().into_bytes()), None];
        let attributes = Map::from_iter([("b".to_owned(), json!(2))]);
        let patched = V3Experimental.patch(&documents, Change::Attributes(&attributes)).unwrap();
        let patched = json::parse(&patched[0].1).unwrap();
        assert_eq!(patched["attributes"], json!({"b": 2, "filters": [{"id": "x"}]}));
        let taken = Map::from_iter([("filters".to_owned(), json!(2))]);
        assert_eq!(
            V3Experimental.patch(&documents, Change::Attributes(&taken)).unwrap_err().kind(),
            crate::ErrorKind::Unsupported
        );
        let mut array = read(&minimal(), Strictness::Strict).unwrap();
        array.attributes = taken.clone();
        assert!(written(&array).unwrap_err().to_string().contains("filters"));
        // A group has no filters.
        let group = V3Experimental.patch(&[None, None], Change::Attributes(&taken)).unwrap();
        assert_eq!(json::parse(&group[0].1).unwrap()["attributes"], json!({"filters": 2}));
    }

    #[test]
    fn a_codec_that_is_not_a_compressor_becomes_a_filter() {
        let (zlib, crc32c) = (json!({"id": "zlib"}), json!({"id": "crc32c"}));
        assert_eq!(written_codecs(&Json::Null, zlib.clone()), (None, zlib.clone()));
        assert_eq!(written_codecs(&Json::Null, Json::Null), (None, Json::Null));
        assert_eq!(written_codecs(&json!([zlib]), crc32c.clone()), (Some(json!([zlib, crc32c])), Json::Null));
    }

    #[test]
    fn what_zarr_python_could_not_read_is_refused() {
        let registry = Registry::new();
        for name in ["bfloat16", "<M8[25s]", "<M8"] {
            let data_type = crate::DataType::parse(name, &registry).unwrap();
            let fill_value = Some(registry.family(&data_type).unwrap().default_fill(&data_type));
            let array = read(&minimal(), Strictness::Strict).unwrap();
            assert!(written(&ArrayMetadata { data_type, fill_value, ..array }).is_err(), "{name}");
        }
    }

    #[test]
    fn only_its_own_entry_documents_are_taken() {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, Strictness::Lenient);
        let read =
            |json: &Json| V3Experimental.entry_from_document(Some(json.to_string().as_bytes()), &context);
        let entry = json::parse(&V3Experimental.new_entry().unwrap().unwrap()).unwrap();
        assert_eq!(read(&entry).unwrap(), Some(V3Experimental.layout()));
        // The entry document that GDAL and other writers create.
        let few = json!({"zarr_format": CORE, "metadata_encoding": CORE, "metadata_key_suffix": ".json"});
        assert_eq!(read(&few).unwrap(), Some(V3Experimental.layout()));
        for other in [
            json!({"zarr_format": 3, "node_type": "group"}),
            json!({"zarr_format": CORE, "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}}),
        ] {
            assert_eq!(read(&other).unwrap(), None, "{other}");
        }
        for bad in [
            json!({"zarr_format": "https://purl.org/zarr/spec/protocol/core/4.0", "metadata_key_suffix": ".json"}),
            json!({"zarr_format": CORE, "metadata_key_suffix": "/"}),
            json!({"zarr_format": CORE, "metadata_key_suffix": ".json", "extensions": [{"extension": "x"}]}),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}
