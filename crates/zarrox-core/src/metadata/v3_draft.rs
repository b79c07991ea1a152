//! The 2022 draft of version 3: an entry document `zarr.json`, documents below `meta/`, chunks below `data/`.
//!
//! Extensions, codecs and data types outside the core are identified by URIs. A prefix without a document is a group.
//!
//! <https://github.com/zarr-developers/zarr-specs/blob/d061a83/docs/core/v3.0.rst>

use std::borrow::Cow;

use crate::json::json;

use super::drafts::{self, ARRAY, ENTRY, GROUP};
use super::members::{Members, wrong};
use super::{
    ArrayMetadata, Change, Document, Format, FormatDef, Layout, NodeMetadata, ReadContext, Source, v2,
};
use crate::codec::CodecSpec;
use crate::data_type::{DataType, Endian, Storage};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::grid::{ChunkKeyEncoding, Separator};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct V3Draft;

const CORE: &str = "https://purl.org/zarr/spec/core/3.0";
const SHARDING: &str = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";
const TIMES: &str = "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0";
/// The prefixes of the data type URIs in the drafts.
const DATA_TYPES: [&str; 2] = [
    "https://purl.org/zarr/spec/extensions/data-types/",
    "https://purl.org/zarr/spec/extensions/data_types/",
];

impl FormatDef for V3Draft {
    fn name(&self) -> &'static str {
        "v3-draft"
    }

    fn layout(&self) -> Layout {
        Layout::apart("", ".json")
    }

    fn entry_key(&self) -> Option<&'static str> {
        Some(ENTRY)
    }

    fn entry_from_document(
        &self,
        document: Option<&[u8]>,
        context: &ReadContext<'_>,
    ) -> Result<Option<Layout>> {
        let Some(map) = drafts::entry_members(document, false) else { return Ok(None) };
        let mut members = Members::new(Cow::Owned(map), context.strictness);
        drafts::check_core_version(&mut members, CORE)?;
        let suffix = match members.take("metadata_encoding") {
            None if members.lenient() => ".json".to_owned(),
            Some(Json::Object(encoding)) => read_encoding(encoding, context.strictness)?,
            other => return Err(wrong("metadata_encoding", "an object", &other.unwrap_or(Json::Null))),
        };
        if !members.lenient() && !members.has("extensions") {
            return Err(Error::metadata("the member 'extensions' is missing"));
        }
        drafts::check_extensions(members.take("extensions"), context.strictness)?;
        // A later minor version may add members that can be ignored.
        Ok(Some(Layout::apart("", suffix)))
    }

    fn new_entry(&self) -> Result<Option<Vec<u8>>> {
        let entry = json!({
            "zarr_format": CORE,
            "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
            "extensions": [],
        });
        entry.as_object().map(json::to_bytes).transpose()
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        let node = drafts::from_documents(documents, Format::V3Draft, context, |map| {
            array_from_document(map, context)
        })?;
        if let Some(NodeMetadata::Group(group)) = &node {
            check_extra(&group.extra).map_err(|error| error.in_document(GROUP))?;
        }
        Ok(node)
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
        drafts::patch(documents, change, |_, attributes| Ok(attributes.clone()))
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        chunk_keys(Separator::Slash)
    }

    fn default_compressor(&self, item: usize) -> CodecSpec {
        v2::default_compressor(item)
    }

    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        Some(drafts::index_codecs())
    }
}

fn chunk_keys(separator: Separator) -> ChunkKeyEncoding {
    ChunkKeyEncoding::Draft { separator, scalar: "c" }
}

/// Returns the suffix of the keys of documents. JSON is the only defined encoding.
fn read_encoding(encoding: Map, strictness: Strictness) -> Result<String> {
    let mut members = Members::new(Cow::Owned(encoding), strictness);
    let kind = members.required("type")?;
    if *kind != json!("json") || members.has("extension") {
        return Err(Error::unsupported(format!("unknown metadata_encoding {kind}; expected \"json\"")));
    }
    drafts::key_suffix(&mut members)
}

/// Checks members outside the specification. Documents with such members must not be opened, unless the
/// members declare that they may be ignored.
fn check_extra(extra: &Map) -> Result<()> {
    let optional = |json: &Json| json.get("must_understand") == Some(&Json::Bool(false));
    match extra.iter().find(|(name, json)| *name != "extensions" && !optional(json)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Error::unsupported(format!("unknown member '{name}' without \"must_understand\": false")))
        }
    }
}

fn array_from_document(map: Map, context: &ReadContext<'_>) -> Result<ArrayMetadata> {
    let mut members = Members::new(Cow::Owned(map), context.strictness);
    let (dtype, fallback_from) = read_data_type(&*members.required("data_type")?, context)?;
    let (codecs, endian) = read_codecs(&mut members)?;
    let dtype = endian.map_or(Ok(dtype.clone()), |endian| drafts::with_endian(&dtype, endian))?;
    let (chunks, separator) = drafts::read_grid(&*members.required("chunk_grid")?, context.strictness)?;
    let fill = read_fill(&mut members, &dtype, context)?;
    let mut document = Map::default();
    let mut set = |name: &str, json: Json| drop(document.insert(name.to_owned(), json));
    set("zarr_format", 2.into());
    set("shape", members.required("shape")?.into_owned());
    set("chunks", chunks);
    set("dtype", dtype);
    set("fill_value", fill.json);
    set("order", drafts::read_order(&mut members)?);
    set("filters", codecs.into());
    set("compressor", Json::Null);
    set("dimension_separator", separator.to_string().into());
    let transformers = members.take("storage_transformers");
    let keys = chunk_keys(separator);
    let array = drafts::array_from_document(document, Format::V3Draft, keys, transformers.as_ref(), context)?;
    let attributes = drafts::attributes(&mut members)?;
    if !members.lenient() && !members.has("extensions") {
        return Err(Error::metadata("the member 'extensions' is missing"));
    }
    let extensions = drafts::check_extensions(members.take("extensions"), context.strictness)?;
    let mut extra = members.rest();
    check_extra(&extra)?;
    extra.extend(extensions.map(|list| ("extensions".to_owned(), list)));
    let fill_value = fill.bits.or(array.fill_value);
    Ok(ArrayMetadata { attributes, extra, fallback_from, fill_value, ..array })
}

/// Reads the type in v2 form. If the type is unknown and its fallback is used, also returns the type of the document.
fn read_data_type(json: &Json, context: &ReadContext<'_>) -> Result<(Json, Option<Box<Json>>)> {
    let map = match json {
        Json::String(name) => return Ok((drafts::type_string(name, context.registry)?, None)),
        Json::Object(map) => map,
        other => return Err(wrong("data_type", "a name or an object", other)),
    };
    let (Some(Json::String(uri)), Some(name)) = (map.get("extension"), map.get("type")) else {
        return Err(wrong("data_type", "an object with an \"extension\" and a \"type\"", json));
    };
    let known = |name: &str| {
        let dtype = drafts::type_string(name, context.registry).ok()?;
        context.registry.data_type_from_v2(&dtype).is_ok().then_some(dtype)
    };
    let is_ours = DATA_TYPES.iter().any(|stem| uri.starts_with(stem));
    if let Some(dtype) = name.as_str().filter(|_| is_ours).and_then(known) {
        return Ok((dtype, None));
    }
    let fallbacks = match map.get("fallback") {
        None | Some(Json::Null) => &[],
        Some(Json::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let fallback = fallbacks.iter().find_map(|fallback| Some((fallback, fallback.as_str().and_then(known)?)));
    match fallback {
        Some((_, dtype)) if context.data_type_fallback => Ok((dtype, Some(Box::new(json.clone())))),
        Some((fallback, _)) => Err(Error::unsupported(format!(
            "unknown data type {name} of the extension '{uri}'; its metadata has the fallback {fallback}, \
             which is used with OpenOptions::data_type_fallback or zarrox --data-type-fallback"
        ))),
        None => Err(Error::unsupported(format!(
            "unknown data type {name} of the extension '{uri}', without a known fallback in its metadata"
        ))),
    }
}

/// Reads the codecs in v2 form, and the byte order of the codec `endian`.
fn read_codecs(members: &mut Members<'_>) -> Result<(Vec<Json>, Option<Endian>)> {
    let mut given = match members.take("codecs") {
        None => Vec::new(),
        Some(Json::Null) if members.lenient() => Vec::new(),
        Some(Json::Array(list)) => list,
        Some(other) => return Err(wrong("codecs", "a list", &other)),
    };
    // This member preceded `codecs`.
    if members.lenient() {
        given.extend(members.take("compressor").filter(|codec| !codec.is_null()));
    }
    let (mut codecs, mut endian) = (Vec::new(), None);
    for codec in given {
        let (id, codec) = drafts::codec_to_v2("codecs", &codec)?;
        if id != "endian" {
            codecs.push(codec);
            continue;
        }
        let named = codec.get("endian").and_then(Json::as_str);
        let named = [Endian::Little, Endian::Big].into_iter().find(|endian| named == Some(endian.name()));
        if endian.is_some() || named.is_none() {
            return Err(Error::metadata("the codec 'endian' must occur once, and be \"little\" or \"big\""));
        }
        endian = named;
    }
    Ok((codecs, endian))
}

/// A fill value: JSON in a form that every format reads, or bits.
struct Fill {
    json: Json,
    bits: Option<FillValue>,
}

fn read_fill(members: &mut Members<'_>, dtype: &Json, context: &ReadContext<'_>) -> Result<Fill> {
    let json = match members.take("fill_value") {
        // The specification forbids `null`, but uses it in an example.
        None | Some(Json::Null) if members.lenient() => Json::Null,
        None | Some(Json::Null) => return Err(Error::metadata("the member 'fill_value' must have a value")),
        Some(json) => json,
    };
    if json == json!("+Infinity") {
        return Ok(Fill { json: "Infinity".into(), bits: None });
    }
    let Some(digits) = json.as_str().and_then(Digits::parse) else { return Ok(Fill { json, bits: None }) };
    // In a string type, "0x" has no special meaning.
    let (data_type, _) = context.registry.data_type_from_v2(dtype)?;
    if !drafts::is_core(&data_type) {
        return Ok(Fill { json, bits: None });
    }
    let bits = digits.element(&data_type).ok_or_else(|| {
        let bits = data_type.size() * 8;
        Error::metadata(format!("the fill_value {json} must have all {bits} bits of a {data_type}"))
    })?;
    Ok(Fill { json: Json::Null, bits: Some(bits) })
}

/// Bits in hexadecimal (`0x`) or binary (`0b`).
struct Digits<'a> {
    text: &'a str,
    radix: u32,
}

impl<'a> Digits<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let hex = text.strip_prefix("0x").map(|text| Self { text, radix: 16 });
        hex.or_else(|| text.strip_prefix("0b").map(|text| Self { text, radix: 2 }))
    }

    /// Returns the element with these bits, most significant bit first; in a complex number, the real part comes first.
    fn element(&self, data_type: &DataType) -> Option<FillValue> {
        let per_byte = if self.radix == 16 { 2 } else { 8 };
        if self.text.len() != data_type.size().checked_mul(per_byte)? || !self.text.is_ascii() {
            return None;
        }
        let byte = |digits: &[u8]| {
            let digit = |byte: &u8| char::from(*byte).to_digit(self.radix);
            let value = digits.iter().try_fold(0, |value, byte| Some(value * self.radix + digit(byte)?))?;
            u8::try_from(value).ok()
        };
        let bytes = self.text.as_bytes().chunks_exact(per_byte).map(byte).collect::<Option<Vec<u8>>>()?;
        let is_bool = data_type.storage() == Storage::Bool;
        (!is_bool || bytes[0] <= 1).then(|| FillValue::new(swapped(bytes, data_type)))
    }
}

/// Converts bytes between big-endian words and words in native byte order.
fn swapped(mut bytes: Vec<u8>, data_type: &DataType) -> Vec<u8> {
    if Endian::NATIVE == Endian::Little {
        bytes.chunks_exact_mut(data_type.storage().word()).for_each(<[u8]>::reverse);
    }
    bytes
}

fn array_to_document(array: &ArrayMetadata, registry: &Registry) -> Result<Map> {
    let mut written = drafts::array_to_document(array, registry)?;
    let dtype = written.take("dtype");
    let mut map = Map::default();
    let mut set = |name: &str, json: Json| drop(map.insert(name.to_owned(), json));
    set("shape", written.take("shape"));
    set(
        "data_type",
        match &array.fallback_from {
            Some(json) => (**json).clone(),
            None => written_data_type(&array.data_type, &dtype)?,
        },
    );
    set("chunk_grid", written.grid());
    set("chunk_memory_layout", written.take("order"));
    let big = dtype.as_str().is_some_and(|dtype| dtype.starts_with('>'));
    let codecs = written_codecs(&written.take("filters"), &written.take("compressor"), big, registry)?;
    if !codecs.is_empty() {
        set("codecs", codecs.into());
    }
    set("fill_value", written_fill(&array.data_type, &array.fill_element(registry)?, registry)?);
    if let Some(transformers) = written.transformers(SHARDING) {
        set("storage_transformers", transformers);
    }
    set("extensions", json!([]));
    set("attributes", array.attributes.clone().into());
    map.extend(array.extra.clone());
    Ok(map)
}

fn written_data_type(data_type: &DataType, dtype: &Json) -> Result<Json> {
    let text = dtype.as_str().unwrap_or_default();
    match text.trim_start_matches(['<', '>']).chars().next() {
        _ if drafts::is_core(data_type) && dtype.is_string() => Ok(data_type.to_string().into()),
        Some('M' | 'm') => Ok(json!({
            "extension": TIMES, "type": drafts::with_endian(dtype, Endian::Little)?, "fallback": "int64",
        })),
        _ => Err(Error::unsupported(format!("Zarr v3-draft has no data type '{data_type}'"))),
    }
}

/// Returns the codecs with their URIs. If the byte order is not the default, its codec is inserted before the first
/// bytes→bytes codec.
fn written_codecs(filters: &Json, compressor: &Json, big: bool, registry: &Registry) -> Result<Vec<Json>> {
    let filters = filters.as_array().into_iter().flatten();
    let codecs: Vec<&Json> = filters.chain(Some(compressor).filter(|codec| !codec.is_null())).collect();
    let mut written = Vec::new();
    let mut in_bytes = false;
    let endian = json!({"id": "endian", "endian": "big"});
    let named = |codec: &Json| {
        let (uri, configuration) = drafts::codec_from_v2(codec, "codecs")?;
        Some(json!({"type": uri, "configuration": configuration}))
    };
    for codec in codecs {
        if big && !in_bytes && drafts::is_bytes_to_bytes(codec, registry)? {
            written.extend(named(&endian));
            in_bytes = true;
        }
        written.extend(named(codec));
    }
    if big && !in_bytes {
        written.extend(named(&endian));
    }
    Ok(written)
}

fn written_fill(data_type: &DataType, fill: &FillValue, registry: &Registry) -> Result<Json> {
    let family = registry.family(data_type)?;
    if !drafts::is_core(data_type) {
        return Ok(family.fill_to_v2(data_type, fill));
    }
    match data_type.storage() {
        Storage::Complex(_) | Storage::Raw(_) => {
            let bytes = swapped(fill.as_bytes().to_vec(), data_type);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(format!("0x{digits}").into())
        }
        _ => match family.fill_to_v3(data_type, fill) {
            Json::String(text) if text == "Infinity" => Ok("+Infinity".into()),
            other => Ok(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> Json {
        json!({
            "shape": [4, 6],
            "data_type": "int32",
            "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "/"},
            "chunk_memory_layout": "C",
            "fill_value": 7,
            "extensions": [],
            "attributes": {"a": 1},
        })
    }

    fn with(member: &str, value: Json) -> Json {
        let mut document = minimal();
        document[member] = value;
        document
    }

    fn typed(data_type: &Json, fill: &Json) -> Json {
        let mut document = with("data_type", data_type.clone());
        document["fill_value"] = fill.clone();
        document
    }

    fn read_with(document: &Json, strictness: Strictness, data_type_fallback: bool) -> Result<ArrayMetadata> {
        let registry = Registry::new();
        let context = ReadContext { data_type_fallback, ..ReadContext::new(&registry, strictness) };
        match V3Draft.from_documents(&[Some(Source::Json(document)), None], &context)? {
            Some(NodeMetadata::Array(array)) => Ok(array),
            other => Err(Error::metadata(format!("no array: {other:?}"))),
        }
    }

    fn read(document: &Json, strictness: Strictness) -> Result<ArrayMetadata> {
        read_with(document, strictness, false)
    }

    fn written(array: ArrayMetadata) -> Result<Json> {
        let documents =
            V3Draft.to_documents(&NodePath::root(), &NodeMetadata::Array(array), &Registry::new())?;
        assert_eq!(documents[0].0, "array");
        json::parse(&documents[0].1)
    }

    #[test]
    fn writing_what_was_read_gives_the_document_back() {
        let sharding = json!([{
            "extension": SHARDING, "type": "indexed", "configuration": {"chunks_per_shard": [2, 1]},
        }]);
        let endian = json!([{
            "type": "https://purl.org/zarr/spec/codecs/endian/1.0", "configuration": {"endian": "big"},
        }]);
        let times = json!({"extension": TIMES, "type": "<M8[ns]", "fallback": "int64"});
        let ignored =
            json!([{"extension": "http://e.org/x", "must_understand": false, "configuration": {"a": 1}}]);
        let documents = [
            minimal(),
            with("chunk_memory_layout", json!("F")),
            with("chunk_grid", json!({"type": "regular", "chunk_shape": [2, 3], "separator": "."})),
            with("codecs", endian),
            with("storage_transformers", sharding),
            with("extensions", ignored),
            with("later", json!({"must_understand": false, "x": 1})),
            typed(&json!("bool"), &json!(true)),
            typed(&json!("float64"), &json!("+Infinity")),
            typed(&json!("float32"), &json!("-Infinity")),
            typed(&json!("float32"), &json!("0x7fc00001")),
            typed(&json!("uint64"), &json!(u64::MAX)),
            typed(&json!("complex64"), &json!("0x3f80000040000000")),
            typed(&json!("r24"), &json!("0x01ff03")),
            typed(&times, &json!(5)),
        ];
        for document in documents {
            let array = read(&document, Strictness::Strict).unwrap();
            assert_eq!(written(array).unwrap(), document);
        }
    }

    #[test]
    fn a_type_in_another_types_place_is_written_as_what_it_is() {
        let data_type = json!({"extension": "http://e.org/q", "type": {"x": 1}, "fallback": "r64"});
        let document = typed(&data_type, &json!("0x0000000000000001"));
        let message = read(&document, Strictness::Lenient).unwrap_err().to_string();
        assert!(message.contains("r64") && message.contains("data_type_fallback"), "{message}");
        let array = read_with(&document, Strictness::Strict, true).unwrap();
        assert_eq!(array.data_type, DataType::RawBits(8));
        assert_eq!(written(array).unwrap(), document);
    }

    #[test]
    fn fill_values_can_be_bits() {
        let cases = [
            ("int16", "0xfffe", (-2_i16).to_ne_bytes().to_vec()),
            ("uint8", "0b00000101", vec![5]),
            ("uint16", "0b0000000100000010", 258_u16.to_ne_bytes().to_vec()),
            ("bool", "0x01", vec![1]),
            ("float32", "0xbf800000", (-1_f32).to_ne_bytes().to_vec()),
            ("float16", "0x3C00", 0x3c00_u16.to_ne_bytes().to_vec()),
            ("complex64", "0x3f800000bf800000", [1_f32, -1.0].map(f32::to_ne_bytes).concat()),
            ("r16", "0x0102", vec![1, 2]),
        ];
        for (data_type, fill, bytes) in cases {
            let array = read(&typed(&data_type.into(), &fill.into()), Strictness::Strict).unwrap();
            assert_eq!(array.fill_value.unwrap().as_bytes(), bytes, "{data_type} {fill}");
        }
        for (data_type, fill) in [
            ("int16", "0xfe"),
            ("int16", "0xfffex0"),
            ("uint8", "0b101"),
            ("bool", "0x02"),
            ("int16", "0xzzzz"),
            ("int16", "0b+000000100000010"),
            ("int16", "0xéé"),
            ("int16", "0x"),
        ] {
            let error = read(&typed(&data_type.into(), &fill.into()), Strictness::Lenient).unwrap_err();
            assert!(error.to_string().contains("fill_value"), "{data_type} {fill}: {error}");
        }
    }

    #[test]
    fn lenient_reading_takes_what_is_clear_and_strict_reading_does_not() {
        let mut variants = vec![
            with("chunk_grid", json!({"type": "regular", "chunk_shape": [2, 3]})),
            with("chunk_grid", json!({"type": "regular", "chunk_shape": [2, 3], "separator": "/", "x": 1})),
            with("fill_value", Json::Null),
            with("codecs", Json::Null),
            with("compressor", Json::Null),
            with("storage_transformers", Json::Null),
            with("extensions", Json::Null),
            with("attributes", Json::Null),
            typed(&json!("float32"), &json!("+1.5")),
        ];
        for member in ["extensions", "attributes", "fill_value", "chunk_memory_layout"] {
            let mut document = minimal();
            document.as_object_mut().unwrap().remove(member);
            variants.push(document);
        }
        for document in variants {
            assert!(read(&document, Strictness::Lenient).is_ok(), "{document}");
            assert!(read(&document, Strictness::Strict).is_err(), "{document}");
        }
    }

    #[test]
    fn broken_documents_are_errors_that_name_the_member() {
        let codec = |uri: &str| json!([{"type": uri}]);
        let endian = "https://purl.org/zarr/spec/codecs/endian/1.0";
        let broken = [
            (json!({}), "data_type"),
            (with("shape", json!([4])), "dimensions"),
            (with("shape", json!("4")), "shape"),
            (with("data_type", json!(4)), "data_type"),
            (with("data_type", json!("int33")), "int33"),
            (with("data_type", json!("<i3")), "<i3"),
            (with("data_type", json!({"type": "int8"})), "extension"),
            (
                with("data_type", json!({"extension": "u", "type": "t", "fallback": "also unknown"})),
                "without a known fallback",
            ),
            (with("chunk_grid", json!(1)), "chunk_grid"),
            (with("chunk_grid", json!({"extension": "u", "type": "rectilinear"})), "rectilinear"),
            (with("chunk_grid", json!({"type": "regular", "separator": "/"})), "chunk_shape"),
            (
                with("chunk_grid", json!({"type": "regular", "chunk_shape": [0, 1], "separator": "/"})),
                "dimension 0",
            ),
            (
                with("chunk_grid", json!({"type": "regular", "chunk_shape": [1, 1], "separator": "-"})),
                "separator",
            ),
            (with("chunk_memory_layout", json!({"extension": "u", "type": "Z"})), "chunk_memory_layout"),
            (with("fill_value", json!("x")), "fill_value"),
            (with("codecs", json!({})), "codecs"),
            (with("codecs", json!([7])), "codecs"),
            (with("codecs", json!([{"configuration": {}}])), "URI"),
            (with("codecs", codec("https://purl.org/zarr/spec/codecs/gzip/2.0")), "version 2.0"),
            (with("codecs", codec("https://example.org/mine")), "https://example.org/mine"),
            (with("codecs", codec(endian)), "endian"),
            (with("codecs", json!([{"type": endian, "configuration": 1}])), "configuration"),
            (with("compressor", json!({"codec": "https://purl.org/zarr/spec/codec/nosuch/1.0"})), "nosuch"),
            (
                with("extensions", json!([{"extension": "http://e.org/x", "must_understand": true}])),
                "http://e.org/x",
            ),
            (with("extensions", json!("x")), "extensions"),
            (with("storage_transformers", json!([{"extension": "u"}])), "transformer"),
            (with("attributes", json!([])), "attributes"),
            (with("later", json!(1)), "later"),
        ];
        for (document, named) in broken {
            let message = read(&document, Strictness::Lenient).unwrap_err().to_string();
            assert!(message.contains(named), "{document}: {message}");
        }
    }

    #[test]
    fn groups_have_attributes_and_nothing_else() {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, Strictness::Strict);
        let read =
            |text: &str| V3Draft.from_documents(&[None, Some(Source::Bytes(text.as_bytes()))], &context);
        let Some(node) = read("{\"attributes\": {\"a\": 1}}").unwrap() else { panic!("no group") };
        let documents = V3Draft.to_documents(&NodePath::root(), &node, &Registry::new()).unwrap();
        assert_eq!(json::parse(&documents[0].1).unwrap(), json!({"attributes": {"a": 1}}));
        for bad in ["{}", "[]", "{", "{\"attributes\": {}, \"later\": 1}"] {
            assert!(read(bad).unwrap_err().to_string().contains("group"), "{bad}");
        }
        assert!(V3Draft.from_documents(&[None, None], &context).unwrap().is_none());
    }

    #[test]
    fn a_patch_changes_one_member_and_keeps_the_rest() {
        let document = with("later", json!({"must_understand": false}));
        let documents = [Some(document.to_string().into_bytes()), None];
        let patched = V3Draft.patch(&documents, Change::Shape(&[9, 9])).unwrap();
        let mut expected = document;
        expected["shape"] = json!([9, 9]);
        assert_eq!(json::parse(&patched[0].1).unwrap(), expected);
        let made = V3Draft.patch(&[None, None], Change::Attributes(&Map::default())).unwrap();
        assert_eq!((made[0].0, json::parse(&made[0].1).unwrap()), ("group", json!({"attributes": {}})));
    }

    #[test]
    fn properties_without_a_draft_form_are_named_in_errors() {
        let refused = |change: fn(&mut ArrayMetadata)| {
            let mut array = read(&minimal(), Strictness::Strict).unwrap();
            change(&mut array);
            written(array).unwrap_err().to_string()
        };
        assert!(refused(|array| array.dimension_names = Some(vec![None, None])).contains("dimension names"));
        assert!(
            refused(|array| array.chunk_key_encoding = ChunkKeyEncoding::V2(Separator::Dot))
                .contains("chunk keys")
        );
        assert!(refused(|array| array.codecs.push(CodecSpec::new("nosuch", Json::Null))).contains("nosuch"));
        let bfloat16 = refused(|array| {
            array.data_type = Registry::new().data_type_from_v3(&"bfloat16".into()).unwrap();
            array.fill_value = Some(FillValue::zero(2));
        });
        assert!(bfloat16.contains("bfloat16"), "{bfloat16}");
        let shards = |index: &str, location: &str| {
            let configuration = json!({
                "chunk_shape": [1, 1], "codecs": ["bytes"],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": index}}], "index_location": location,
            });
            let array = read(&minimal(), Strictness::Strict).unwrap();
            written(ArrayMetadata {
                codecs: vec![CodecSpec::new("sharding_indexed", configuration)],
                ..array
            })
        };
        assert!(shards("big", "end").unwrap_err().to_string().contains("index"));
        assert!(shards("little", "start").unwrap_err().to_string().contains("index"));
        assert!(shards("little", "end").is_ok());
        let around = refused(|array| array.codecs.push(CodecSpec::new("sharding_indexed", Json::Null)));
        assert!(around.contains("around"), "{around}");
    }

    #[test]
    fn only_its_own_entry_documents_are_taken() {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, Strictness::Strict);
        let read = |text: &str| V3Draft.entry_from_document(Some(text.as_bytes()), &context);
        assert!(V3Draft.entry_from_document(None, &context).unwrap().is_none());
        let experimental = super::super::v3_experimental::V3Experimental.new_entry().unwrap().unwrap();
        assert!(V3Draft.entry_from_document(Some(&experimental), &context).unwrap().is_none());
        for other in ["", "{", "7", "{}", "{\"zarr_format\": 3}", "{\"zarr_format\": \"3\"}"] {
            assert!(read(other).unwrap().is_none(), "{other}");
        }
        let entry = V3Draft.new_entry().unwrap().unwrap();
        assert_eq!(V3Draft.entry_from_document(Some(&entry), &context).unwrap(), Some(V3Draft.layout()));
        let later = String::from_utf8(entry).unwrap().replace("core/3.0", "core/3.1");
        assert!(read(&later).unwrap().is_some());
        assert_eq!(
            read(&later.replace("core/3.1", "core/30")).unwrap_err().kind(),
            crate::ErrorKind::Unsupported
        );
    }
}
