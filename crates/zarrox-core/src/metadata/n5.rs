//! N5: one `attributes.json` for each node, with the user's attributes and reserved attributes.
//!
//! N5 lists the fastest dimension first. Here, the axes are in NumPy's order, which is the reverse, as in zarr-python 2 and z5py.
//! Only shapes, chunk shapes and chunk keys are reversed.
//!
//! <https://github.com/saalfeldlab/n5#file-system-specification>

use std::borrow::Cow;

use crate::json::json;

use super::members::{Members, put_members, wrong};
use super::{
    ArrayMetadata, Change, Document, Format, FormatDef, GroupMetadata, Layout, NodeMetadata, ReadContext,
    Source, n5_compression,
};
use crate::codec::CodecSpec;
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::grid::{ChunkGrid, ChunkKeyEncoding};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct N5;

const DOCUMENT: &str = "attributes.json";

/// The member of the root's document that contains the version.
const VERSION: &str = "n5";

/// The version of new roots. All written documents conform to this version, so that every reader accepts them.
const WRITTEN: &str = "2.0.0";

/// The newest supported version.
const NEWEST: u64 = 4;

/// The reserved names, which no user attribute can have.
const RESERVED: [&str; 6] =
    [VERSION, "dimensions", "blockSize", "dataType", "compression", "compressionType"];

/// The codec that encodes chunks as N5 blocks.
const BLOCKS: &str = "n5_default";

const TYPES: [DataType; 10] = [
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Float32,
    DataType::Float64,
];

impl FormatDef for N5 {
    fn name(&self) -> &'static str {
        "n5"
    }

    fn layout(&self) -> Layout {
        Layout::together(&[DOCUMENT]).with_implicit_groups(true)
    }

    fn entry_key(&self) -> Option<&'static str> {
        Some(DOCUMENT)
    }

    fn entry_from_document(&self, document: Option<&[u8]>, _: &ReadContext<'_>) -> Result<Option<Layout>> {
        let root = document.and_then(|bytes| json::parse_object(bytes).ok());
        let version = root.as_ref().and_then(|root| root.get(VERSION));
        version.map_or(Ok(()), check_version)?;
        // Without a version, the root may still be a node, but directories without a document are not groups.
        Ok(Some(self.layout().with_implicit_groups(version.is_some())))
    }

    fn may_lack_entry(&self) -> bool {
        true
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        let Some(Some(source)) = documents.first() else { return Ok(None) };
        // Other programs also use files with this name.
        let Ok(map) = source.parsed(Strictness::Lenient) else { return Ok(None) };
        if map.contains_key("dimensions") && map.contains_key("dataType") {
            let array = source.parsed(context.strictness).and_then(|map| array_from_document(map, context));
            return array
                .map(|array| Some(NodeMetadata::Array(array)))
                .map_err(|error| error.in_document(DOCUMENT));
        }
        let Some(version) = map.get(VERSION) else { return Ok(None) };
        check_version(version).map_err(|error| error.in_document(DOCUMENT))?;
        let attributes = self.implicit_group(documents, context)?.unwrap_or_default();
        Ok(Some(NodeMetadata::Group(GroupMetadata { attributes, ..GroupMetadata::new(Format::N5) })))
    }

    fn implicit_group(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<Map>> {
        let Some(Some(source)) = documents.first() else { return Ok(Some(Map::default())) };
        let map = source.parsed(context.strictness).map_err(|error| error.in_document(DOCUMENT))?;
        Ok(Some(attributes(map.into_owned())))
    }

    fn to_documents(&self, path: &NodePath, node: &NodeMetadata, _: &Registry) -> Result<Vec<Document>> {
        let mut map = Map::default();
        if path.is_root() {
            map.insert(VERSION.to_owned(), WRITTEN.into());
        }
        let (attributes, extra) = match node {
            NodeMetadata::Array(array) => {
                map.extend(array_to_document(array)?);
                (&array.attributes, &array.extra)
            }
            NodeMetadata::Group(group) => (&group.attributes, &group.extra),
        };
        insert_attributes(&mut map, extra)?;
        insert_attributes(&mut map, attributes)?;
        Ok(vec![(DOCUMENT, json::to_bytes(&map)?)])
    }

    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>> {
        let mut map = match documents.first().and_then(Option::as_deref) {
            Some(bytes) => json::parse_object(bytes).map_err(|error| error.in_document(DOCUMENT))?,
            None => Map::default(),
        };
        match change {
            Change::Shape(shape) | Change::Growth(shape, _) => {
                drop(map.insert("dimensions".to_owned(), reversed(shape).into()));
            }
            Change::Attributes(attributes) => {
                map.retain(|name, _| RESERVED.contains(&name.as_str()));
                insert_attributes(&mut map, attributes)?;
            }
            Change::Members(members) => put_members(&mut map, members),
        }
        Ok(vec![(DOCUMENT, json::to_bytes(&map)?)])
    }

    fn new_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        if codecs.iter().any(|codec| codec.name == BLOCKS) {
            return codecs;
        }
        blocks(codecs.into_iter().map(|codec| match codec.name.as_str() {
            "bytes" => big_endian(),
            // The same codec in the framing of this format.
            "numcodecs.lz4" => CodecSpec::new("n5_lz4", json!({})),
            _ => codec,
        }))
    }

    fn plain_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        let Some(inner) = inner_codecs(&codecs) else { return codecs };
        let plain = inner.into_iter().map(|codec| match codec.name.as_str() {
            "n5_lz4" => CodecSpec::new("numcodecs.lz4", json!({"acceleration": 1})),
            _ => codec,
        });
        plain.collect()
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        ChunkKeyEncoding::N5
    }

    fn default_compressor(&self, _: usize) -> CodecSpec {
        CodecSpec::new("gzip", json!({"level": 6}))
    }
}

fn check_version(version: &Json) -> Result<()> {
    let major = version.as_str().and_then(|text| text.split('.').next()?.parse::<u64>().ok());
    match major {
        Some(major) if major > NEWEST => Err(Error::unsupported(format!(
            "the hierarchy has version {version} of N5; versions up to {NEWEST} are supported"
        ))),
        _ => Ok(()),
    }
}

fn reversed(lengths: &[u64]) -> Vec<u64> {
    lengths.iter().rev().copied().collect()
}

/// Returns the user's attributes.
fn attributes(mut map: Map) -> Map {
    map.retain(|name, _| !RESERVED.contains(&name.as_str()));
    map
}

fn insert_attributes(map: &mut Map, attributes: &Map) -> Result<()> {
    if let Some(name) = attributes.keys().find(|name| RESERVED.contains(&name.as_str())) {
        return Err(Error::argument(format!(
            "an attribute cannot be called '{name}' in N5, which uses this name for the array's metadata"
        )));
    }
    map.extend(attributes.clone());
    Ok(())
}

fn big_endian() -> CodecSpec {
    CodecSpec::new("bytes", json!({"endian": "big"}))
}

fn blocks(codecs: impl IntoIterator<Item = CodecSpec>) -> Vec<CodecSpec> {
    let codecs: Vec<Json> = codecs
        .into_iter()
        .map(|codec| json!({"name": codec.name, "configuration": codec.configuration}))
        .collect();
    vec![CodecSpec::new(BLOCKS, json!({"codecs": codecs}))]
}

fn array_from_document(map: Cow<'_, Map>, context: &ReadContext<'_>) -> Result<ArrayMetadata> {
    let mut members = Members::new(map, context.strictness);
    let shape = reversed(&members.lengths("dimensions")?);
    let chunks = reversed(&members.lengths("blockSize")?);
    if let Some(name) = ["shardSize", "codecs"].into_iter().find(|name| members.has(name)) {
        return Err(Error::unsupported(format!("the member '{name}': sharded N5 is not supported")));
    }
    let data_type = read_data_type(&*members.required("dataType")?)?;
    let compression = match (members.take("compression"), members.take("compressionType")) {
        (Some(Json::Object(compression)), _) => compression,
        (None, Some(name @ Json::String(_))) => Map::from_iter([("type".to_owned(), name)]),
        (None, None) => return Err(Error::metadata("the member 'compression' is missing")),
        (Some(other), _) => return Err(wrong("compression", "an object with a \"type\"", &other)),
        (None, Some(other)) => return Err(wrong("compressionType", "a string", &other)),
    };
    let compressor = n5_compression::from_json(compression, data_type.size(), context.registry)?;
    let array = ArrayMetadata {
        format: Format::N5,
        chunk_grid: ChunkGrid::regular(chunks, &shape)?,
        shape,
        fill_value: Some(FillValue::zero(data_type.size())),
        data_type,
        fallback_from: None,
        chunk_key_encoding: ChunkKeyEncoding::N5,
        separator_declared: true,
        codecs: blocks(std::iter::once(big_endian()).chain(compressor)),
        attributes: attributes(members.rest()),
        dimension_names: None,
        extra: Map::default(),
    };
    array.validate()?;
    Ok(array)
}

fn read_data_type(json: &Json) -> Result<DataType> {
    let name = json.as_str().ok_or_else(|| wrong("dataType", "a string", json))?;
    TYPES.iter().find(|data_type| data_type.to_string() == name).cloned().ok_or_else(|| {
        Error::unsupported(format!("the data type '{name}' of N5 is not supported; numbers are: {}", types()))
    })
}

fn types() -> String {
    TYPES.map(|data_type| data_type.to_string()).join(", ")
}

/// Returns the members of an array, or an error with the property that this format cannot represent.
fn array_to_document(array: &ArrayMetadata) -> Result<Map> {
    let not_in_n5 = |what: &str| Err(Error::unsupported(format!("N5 has no {what}")));
    if array.dimension_names.is_some() {
        return not_in_n5("dimension names; set the attribute \"axes\" instead, in N5's order");
    }
    if array.chunk_key_encoding != ChunkKeyEncoding::N5 {
        return not_in_n5("other chunk keys than its own, such as \"0/4/1\"");
    }
    let ChunkGrid::Regular { chunk_shape } = &array.chunk_grid else {
        return not_in_n5("chunks of several shapes");
    };
    if !TYPES.contains(&array.data_type) {
        return not_in_n5(&format!("data type '{}'; it has {}", array.data_type, types()));
    }
    if array.fill_value.as_ref().is_some_and(|fill| fill.as_bytes().iter().any(|&byte| byte != 0)) {
        return not_in_n5("fill value other than 0");
    }
    let document = json!({
        "dimensions": reversed(&array.shape),
        "blockSize": reversed(chunk_shape),
        "dataType": array.data_type.to_string(),
        "compression": written_compression(&array.codecs)?,
    });
    match document {
        Json::Object(map) => Ok(map),
        _ => Ok(Map::default()),
    }
}

/// Returns the codecs inside the blocks, if the block codec is the only codec.
fn inner_codecs(codecs: &[CodecSpec]) -> Option<Vec<CodecSpec>> {
    let [codec] = codecs else { return None };
    let inner = codec.configuration.get("codecs").filter(|_| codec.name == BLOCKS)?;
    inner.as_array()?.iter().map(CodecSpec::from_json).collect()
}

fn written_compression(codecs: &[CodecSpec]) -> Result<Json> {
    match inner_codecs(codecs).as_deref() {
        Some([bytes]) if bytes.name == "bytes" => Ok(json!({"type": "raw"})),
        Some([bytes, compressor]) if bytes.name == "bytes" => n5_compression::to_json(compressor),
        _ => Err(Error::unsupported(
            "N5 supports one compressor, and neither filters nor another order of elements",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strictness::Strictness;

    fn minimal() -> Json {
        json!({
            "dimensions": [7, 5, 3], "blockSize": [4, 3, 2], "dataType": "int16", "compression": {"type": "raw"},
        })
    }

    fn from_documents(document: &Json, strictness: Strictness) -> Result<Option<NodeMetadata>> {
        let registry = Registry::new();
        let context = ReadContext::new(&registry, strictness);
        N5.from_documents(&[Some(Source::Json(document))], &context)
    }

    fn read(document: &Json) -> ArrayMetadata {
        match from_documents(document, Strictness::Strict) {
            Ok(Some(NodeMetadata::Array(array))) => array,
            other => panic!("{other:?}"),
        }
    }

    fn written(path: &str, node: &NodeMetadata) -> Json {
        let documents = N5.to_documents(&NodePath::new(path).unwrap(), node, &Registry::new()).unwrap();
        json::parse(&documents[0].1).unwrap()
    }

    #[test]
    fn axes_are_turned_round_and_nothing_else() {
        let array = read(&minimal());
        assert_eq!(
            (array.shape.as_slice(), array.chunk_grid.largest_chunk()),
            (&[3, 5, 7][..], &[2, 3, 4][..])
        );
        assert_eq!(array.chunk_key_encoding.encode(&[1, 0, 2]), "2/0/1");
        assert_eq!(array.codecs[0].configuration["codecs"], json!([big_endian_json()]));
        assert_eq!(array.fill_value.unwrap().as_bytes(), [0, 0]);
    }

    fn big_endian_json() -> Json {
        json!({"name": "bytes", "configuration": {"endian": "big"}})
    }

    #[test]
    fn writing_what_was_read_gives_the_document_back() {
        let mut lz4 = minimal();
        lz4["compression"] = json!({"type": "lz4", "blockSize": 1024});
        let mut with_attributes = minimal();
        with_attributes["downsamplingFactors"] = json!([2, 2, 1]);
        with_attributes["nested"] = json!({"dimensions": [1]});
        for document in [minimal(), lz4, with_attributes] {
            assert_eq!(written("a", &NodeMetadata::Array(read(&document))), document);
        }
        let root = written("", &NodeMetadata::Array(read(&minimal())));
        assert_eq!(root["n5"], WRITTEN);
        let group = GroupMetadata::new(Format::N5);
        assert_eq!(written("a", &NodeMetadata::Group(group.clone())), json!({}));
        assert_eq!(written("", &NodeMetadata::Group(group)), json!({"n5": WRITTEN}));
    }

    #[test]
    fn reserved_members_are_not_attributes_and_a_patch_keeps_them() {
        let mut document = minimal();
        document["n5"] = json!("4.0.0");
        document["compressionType"] = json!("raw");
        document["old"] = json!(1);
        assert_eq!(Json::from(read(&document).attributes), json!({"old": 1}));
        let documents = [Some(document.to_string().into_bytes())];
        let new = Map::from_iter([("new".to_owned(), json!(2))]);
        let patched = N5.patch(&documents, Change::Attributes(&new)).unwrap();
        let mut expected = document.clone();
        expected.as_object_mut().unwrap().remove("old");
        expected["new"] = json!(2);
        assert_eq!(json::parse(&patched[0].1).unwrap(), expected);
        let patched = N5.patch(&documents, Change::Shape(&[9, 8, 7])).unwrap();
        expected = document;
        expected["dimensions"] = json!([7, 8, 9]);
        assert_eq!(json::parse(&patched[0].1).unwrap(), expected);
        for name in RESERVED {
            let attributes = Map::from_iter([(name.to_owned(), json!(1))]);
            let error = N5.patch(&documents, Change::Attributes(&attributes)).unwrap_err().to_string();
            assert!(error.contains(&format!("'{name}'")), "{error}");
        }
        let none = N5.patch(&[None], Change::Attributes(&new)).unwrap();
        assert_eq!(json::parse(&none[0].1).unwrap(), json!({"new": 2}));
    }

    #[test]
    fn versions_that_are_too_new_are_refused() {
        for (version, known) in
            [("2.0.0", true), ("4.1.3", true), ("5.0.0", false), ("12", false), ("x", true)]
        {
            let root = json!({"n5": version});
            assert_eq!(from_documents(&root, Strictness::Lenient).is_ok(), known, "{version}");
            let registry = Registry::new();
            let context = ReadContext::new(&registry, Strictness::Lenient);
            let entry = N5.entry_from_document(Some(root.to_string().as_bytes()), &context);
            assert_eq!(entry.is_ok_and(|layout| layout.unwrap().implicit_groups()), known, "{version}");
        }
        assert!(from_documents(&json!({"a": 1}), Strictness::Lenient).unwrap().is_none());
    }

    #[test]
    fn new_codecs_are_put_into_blocks() {
        let asked = [
            CodecSpec::new("bytes", json!({"endian": "little"})),
            CodecSpec::new("numcodecs.lz4", json!({})),
        ];
        let made = N5.new_codecs(asked.to_vec());
        let inner = json!([big_endian_json(), {"name": "n5_lz4", "configuration": {}}]);
        assert_eq!(made, [CodecSpec::new(BLOCKS, json!({"codecs": inner}))]);
        assert_eq!(N5.new_codecs(made.clone()), made);
        let plain = N5.plain_codecs(made.clone());
        let names: Vec<&str> = plain.iter().map(|codec| codec.name.as_str()).collect();
        assert_eq!(names, ["bytes", "numcodecs.lz4"]);
        assert_eq!(N5.new_codecs(plain), made);
    }
}
