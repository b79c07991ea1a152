//! Zarr version 1: a single array, `meta` and `attrs`.
//!
//! Its documents have the same members as version 2, but in another form. A document is translated, and then read by [version
//! 2](super::v2). There is one exception: zarr-python 1, which wrote the existing arrays, passes the memory of a chunk to Blosc,
//! but its elements in row-major order to all other compressors. `"order": "F"` therefore applies only to Blosc.
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html>

use std::borrow::Cow;

use crate::json::json;

use super::members::{Members, wrong};
use super::{
    ArrayMetadata, Change, Document, Format, FormatDef, Layout, NodeMetadata, ReadContext, Source, v2,
};
use crate::codec::CodecSpec;
use crate::data_type::Storage;
use crate::error::{Error, Result};
use crate::grid::{ChunkKeyEncoding, ChunkShape, Separator};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct V1;

const ARRAY: &str = "meta";
const ATTRIBUTES: &str = "attrs";

impl FormatDef for V1 {
    fn name(&self) -> &'static str {
        "v1"
    }

    fn layout(&self) -> Layout {
        Layout::together(&[ARRAY, ATTRIBUTES])
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        let [Some(array), attributes] = documents else { return Ok(None) };
        // Other programs also use files with this name.
        let Ok(map) = array.parsed(Strictness::Lenient) else { return Ok(None) };
        if map.get("zarr_format") != Some(&json!(1)) {
            return Ok(None);
        }
        let read = array
            .parsed(context.strictness)
            .and_then(|map| to_v2(map.into_owned(), context.strictness))
            .and_then(|map| {
                v2::array_from_document(Members::new(Cow::Owned(map), context.strictness), context)
            });
        let array = read.map_err(|error| error.in_document(ARRAY))?;
        let attributes = match attributes {
            Some(source) => {
                source.parsed(context.strictness).map_err(|error| error.in_document(ATTRIBUTES))?.into_owned()
            }
            None if context.strictness == Strictness::Strict => {
                return Err(Error::metadata("the attributes are missing; Zarr v1 always stores them")
                    .in_document(ATTRIBUTES));
            }
            None => Map::default(),
        };
        Ok(Some(NodeMetadata::Array(ArrayMetadata {
            format: Format::V1,
            separator_declared: true,
            attributes,
            ..array
        })))
    }

    fn to_documents(&self, _: &NodePath, node: &NodeMetadata, registry: &Registry) -> Result<Vec<Document>> {
        let NodeMetadata::Array(array) = node else {
            return Err(Error::unsupported("Zarr v1 has no groups: each array is in its own store"));
        };
        if array.data_type.storage() == Storage::Variable {
            let message =
                format!("Zarr v1 has no elements of variable length, such as '{}'", array.data_type);
            return Err(Error::unsupported(message));
        }
        let map = from_v2(v2::array_to_document(array, registry)?)?;
        Ok(vec![(ATTRIBUTES, json::to_ascii(&array.attributes)?), (ARRAY, json::to_ascii(&map)?)])
    }

    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>> {
        match change {
            Change::Attributes(attributes) => Ok(vec![(ATTRIBUTES, json::to_ascii(attributes)?)]),
            Change::Shape(shape) | Change::Growth(shape, _) => v2::patched_shape(ARRAY, documents, shape),
            Change::Members(members) => v2::patched_members(ARRAY, documents, members),
        }
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        ChunkKeyEncoding::V2(Separator::Dot)
    }

    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        ChunkShape::Guess.resolve(shape, item)
    }

    fn default_compressor(&self, item: usize) -> CodecSpec {
        v2::default_compressor(item)
    }

    fn has_undefined_fill(&self) -> bool {
        true
    }
}

/// Returns the document in the form of version 2.
fn to_v2(mut map: Map, strictness: Strictness) -> Result<Map> {
    let required = ["compression", "compression_opts"];
    if let Some(missing) =
        required.into_iter().find(|name| strictness == Strictness::Strict && !map.contains_key(name))
    {
        return Err(Error::metadata(format!("the member '{missing}' is missing")));
    }
    let compression = map.remove("compression").unwrap_or(Json::Null);
    let options = map.remove("compression_opts").unwrap_or(Json::Null);
    let several = map.get("shape").and_then(Json::as_array).is_some_and(|shape| shape.len() > 1);
    if several && compression != "blosc" && map.get("order") == Some(&json!("F")) {
        if strictness == Strictness::Strict {
            return Err(Error::unsupported(format!(
                "\"order\": \"F\" with the compression {compression}: the specification means column-major order, but zarr-python 1 wrote row-major order"
            )));
        }
        map.insert("order".to_owned(), "C".into());
    }
    map.insert("zarr_format".to_owned(), 2.into());
    map.insert("filters".to_owned(), Json::Null);
    map.insert("compressor".to_owned(), compressor(&compression, &options)?);
    Ok(map)
}

fn compressor(compression: &Json, options: &Json) -> Result<Json> {
    let id = match compression {
        Json::Null => return Ok(Json::Null),
        Json::String(name) => match name.as_str() {
            "none" => return Ok(Json::Null),
            // The name predates the current codec of the same name: these chunks are zlib streams.
            "gzip" => "zlib",
            name => name,
        },
        other => return Err(wrong("compression", "a string or null", other)),
    };
    let mut members = Map::default();
    members.insert("id".to_owned(), id.into());
    match options {
        Json::Null => {}
        Json::Object(options) => members.extend(options.clone()),
        Json::Number(level) => drop(members.insert("level".to_owned(), level.clone().into())),
        other => return Err(wrong("compression_opts", "an object, an integer or null", other)),
    }
    Ok(members.into())
}

/// Converts a document of version 2, or returns an error with the property that version 1 cannot represent.
fn from_v2(mut map: Map) -> Result<Map> {
    let not_in_v1 = |what: &str| Err(Error::unsupported(format!("Zarr v1 has no {what}")));
    if map.remove("filters").is_some_and(|filters| !filters.is_null()) {
        return not_in_v1("filters");
    }
    if map.remove("dimension_separator") != Some(json!(".")) {
        return not_in_v1("other separator of chunk keys than \".\"");
    }
    let mut members = match map.remove("compressor") {
        Some(Json::Object(members)) => members,
        _ => Map::default(),
    };
    let id = members.remove("id");
    let (compression, options) = match id.as_ref().and_then(Json::as_str) {
        None => ("none", Json::Null),
        Some(id @ ("zlib" | "bz2")) => (id, members.get("level").cloned().unwrap_or(Json::Null)),
        Some("blosc") => {
            if members.remove("blocksize").is_some_and(|size| size != json!(0)) {
                return not_in_v1("block size for Blosc");
            }
            ("blosc", members.into())
        }
        Some("lzma") => ("lzma", members.into()),
        Some(other) => return not_in_v1(&format!("compression '{other}'; it has zlib, bz2, blosc and lzma")),
    };
    if compression != "blosc" && map.get("order") == Some(&json!("F")) {
        return not_in_v1("column-major order without Blosc compression");
    }
    map.insert("zarr_format".to_owned(), 1.into());
    map.insert("compression".to_owned(), compression.into());
    map.insert("compression_opts".to_owned(), options);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(compression: &Json, options: &Json) -> Json {
        json!({
            "zarr_format": 1, "shape": [100, 100], "chunks": [10, 10], "dtype": "<i4", "fill_value": 42, "order": "C",
            "compression": compression, "compression_opts": options,
        })
    }

    fn from_documents(document: &str) -> Result<Option<NodeMetadata>> {
        read_as(document, Strictness::Strict)
    }

    fn read_as(document: &str, strictness: Strictness) -> Result<Option<NodeMetadata>> {
        read_in(strictness, document, Some("{\"a\": 1}"))
    }

    fn read_in(
        strictness: Strictness,
        document: &str,
        attributes: Option<&'static str>,
    ) -> Result<Option<NodeMetadata>> {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, strictness);
        let source = |text: &'static str| Source::Bytes(text.as_bytes());
        V1.from_documents(&[Some(Source::Bytes(document.as_bytes())), attributes.map(source)], &context)
    }

    #[test]
    fn an_uncompressed_array_survives() {
        for compression in [json!("none"), Json::Null] {
            let text = document(&compression, &Json::Null).to_string();
            let Some(NodeMetadata::Array(array)) = from_documents(&text).unwrap() else { panic!("no array") };
            assert_eq!((array.format, array.attributes["a"].as_u64()), (Format::V1, Some(1)));
            let node = NodeMetadata::Array(array);
            let documents = V1.to_documents(&NodePath::root(), &node, &Registry::new()).unwrap();
            assert_eq!(json::parse(&documents[1].1).unwrap(), document(&json!("none"), &Json::Null));
        }
        let patched = document(&json!("none"), &Json::Null).to_string().into_bytes();
        let patched = V1.patch(&[Some(patched), None], Change::Shape(&[7, 7])).unwrap();
        assert_eq!(patched[0].0, "meta");
        assert_eq!(json::parse(&patched[0].1).unwrap()["shape"], json!([7, 7]));
    }

    #[test]
    fn every_form_of_compression_becomes_a_compressor() {
        let cases = [
            (json!("zlib"), json!(9), json!({"id": "zlib", "level": 9})),
            (json!("gzip"), json!(1), json!({"id": "zlib", "level": 1})),
            (json!("bz2"), json!(1), json!({"id": "bz2", "level": 1})),
            (json!("zlib"), Json::Null, json!({"id": "zlib"})),
            (
                json!("blosc"),
                json!({"cname": "lz4", "clevel": 5, "shuffle": 1}),
                json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
            ),
            (
                json!("lzma"),
                json!({"format": 1, "check": 4, "preset": 1, "filters": null}),
                json!({"id": "lzma", "format": 1, "check": 4, "preset": 1, "filters": null}),
            ),
            (json!("none"), json!(3), Json::Null),
        ];
        for (name, options, expected) in cases {
            assert_eq!(compressor(&name, &options).unwrap(), expected);
        }
        assert_eq!(compressor(&json!(1), &Json::Null).unwrap_err().kind(), crate::ErrorKind::InvalidMetadata);
        assert_eq!(
            compressor(&json!("zlib"), &json!("9")).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }

    #[test]
    fn a_compressor_becomes_what_it_came_from() {
        let options = json!({"format": 1, "check": 4, "preset": 1, "filters": null});
        let mut v2 =
            to_v2(document(&json!("lzma"), &options).as_object().cloned().unwrap(), Strictness::Strict)
                .unwrap();
        v2.insert("dimension_separator".to_owned(), json!("."));
        let v1 = from_v2(v2).unwrap();
        assert_eq!((&v1["compression"], &v1["compression_opts"]), (&json!("lzma"), &options));
    }

    #[test]
    fn a_bare_nan_is_a_fill_value() {
        let text = document(&Json::Null, &Json::Null).to_string();
        let text = text.replace("\"<i4\"", "\"<f8\"").replace("42", "NaN");
        let read = read_in(Strictness::Lenient, &text, None).unwrap();
        let Some(NodeMetadata::Array(array)) = read else { panic!("no array") };
        assert_eq!(array.fill_value.unwrap().as_bytes(), f64::NAN.to_ne_bytes());
    }

    #[test]
    fn columns_are_rows_but_for_blosc() {
        let columns = |compression: Json| {
            let mut document = document(&compression, &Json::Null);
            document["order"] = json!("F");
            document.to_string()
        };
        for (compression, transposed) in [("zlib", false), ("bz2", false), ("none", false), ("blosc", true)] {
            let map = json::parse_object(columns(compression.into()).as_bytes()).unwrap();
            let order = if transposed { "F" } else { "C" };
            assert_eq!(to_v2(map, Strictness::Lenient).unwrap()["order"], order, "{compression}");
        }
        let uncompressed = columns("none".into());
        assert!(
            from_documents(&uncompressed)
                .unwrap_err()
                .to_string()
                .contains("zarr-python 1 wrote row-major order")
        );
        let Some(NodeMetadata::Array(array)) = read_as(&uncompressed, Strictness::Lenient).unwrap() else {
            panic!("no array")
        };
        assert_eq!(array.codecs.len(), 1);
        let line = uncompressed.replace("[100,100]", "[100]").replace("[10,10]", "[10]");
        assert!(from_documents(&line).is_ok(), "the order has no effect in one dimension");
    }

    #[test]
    fn strict_reading_takes_only_what_the_specification_has() {
        let whole = document(&Json::Null, &Json::Null);
        let mut short = whole.clone();
        short.as_object_mut().unwrap().remove("compression_opts");
        let (whole, short) = (whole.to_string(), short.to_string());
        let bare = whole.replace("\"<i4\"", "\"<f8\"").replace("42", "NaN");
        for (text, attributes, named) in [
            (&bare, Some("{}"), "JSON"),
            (&whole, Some("{\"a\": NaN}"), "JSON"),
            (&whole, None, "attributes"),
            (&short, Some("{}"), "compression_opts"),
        ] {
            let message = read_in(Strictness::Strict, text, attributes).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
            assert!(read_in(Strictness::Lenient, text, attributes).unwrap().is_some(), "{text}");
        }
    }

    #[test]
    fn other_files_of_the_name_are_not_nodes() {
        for text in ["", "not json", "[1]", "{}", "{\"zarr_format\": 2}"] {
            assert!(from_documents(text).unwrap().is_none(), "{text}");
        }
        assert!(from_documents("{\"zarr_format\": 1}").unwrap_err().to_string().contains("meta"));
    }

    #[test]
    fn what_v1_cannot_say_is_refused_by_name() {
        let from = |member: &str, value: Json| {
            let mut map = json!({"filters": null, "dimension_separator": ".", "compressor": null});
            map[member] = value;
            from_v2(map.as_object().cloned().unwrap()).unwrap_err().to_string()
        };
        assert!(from("filters", json!([{"id": "delta"}])).contains("filters"));
        assert!(from("dimension_separator", json!("/")).contains("separator"));
        assert!(from("order", json!("F")).contains("column-major"));
        assert!(from("compressor", json!({"id": "zstd"})).contains("zstd"));
        assert!(from("compressor", json!({"id": "blosc", "blocksize": 512})).contains("block size"));
        let group = NodeMetadata::Group(super::super::GroupMetadata::new(Format::V1));
        assert_eq!(
            V1.to_documents(&NodePath::root(), &group, &Registry::new()).unwrap_err().kind(),
            crate::ErrorKind::Unsupported
        );
    }
}
