//! Zarr version 2: `.zarray` or `.zgroup` for each node, and `.zattrs` for its attributes.
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>

use std::borrow::Cow;

use crate::json::json;

use super::members::{Members, bad_separator, correct_empty_chunks, put_members, wrong};
use super::{
    ArrayMetadata, Change, Consolidation, Document, Format, FormatDef, GroupMetadata, Layout, NodeMetadata,
    ReadContext, Source, consolidated,
};
use crate::codec::{CodecKind, CodecSpec};
use crate::data_type::{ByteOrder, DataType, Endian, Storage, TypeString, has_objects, nests_lists};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::grid::{ChunkGrid, ChunkKeyEncoding, ChunkShape, Separator};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// The definition of the format.
#[derive(Debug)]
pub(super) struct V2;

const ARRAY: &str = ".zarray";
const GROUP: &str = ".zgroup";
const ATTRIBUTES: &str = ".zattrs";

impl FormatDef for V2 {
    fn name(&self) -> &'static str {
        "v2"
    }

    fn layout(&self) -> Layout {
        Layout::together(&[ARRAY, GROUP, ATTRIBUTES])
    }

    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>> {
        let [array, group, attributes] = documents else { return Ok(None) };
        let attributes = || match attributes {
            Some(source) => source
                .parsed(context.strictness)
                .map(Cow::into_owned)
                .map_err(|error| error.in_document(ATTRIBUTES)),
            None => Ok(Map::default()),
        };
        if let Some(source) = array {
            let read =
                source.members(context.strictness).and_then(|members| array_from_document(members, context));
            let array = read.map_err(|error| error.in_document(ARRAY))?;
            return Ok(Some(NodeMetadata::Array(ArrayMetadata { attributes: attributes()?, ..array })));
        }
        let Some(source) = group else { return Ok(None) };
        let group = group_from_document(*source, context).map_err(|error| error.in_document(GROUP))?;
        Ok(Some(NodeMetadata::Group(GroupMetadata { attributes: attributes()?, ..group })))
    }

    fn group_document(&self) -> Option<usize> {
        Some(1)
    }

    fn to_documents(&self, _: &NodePath, node: &NodeMetadata, registry: &Registry) -> Result<Vec<Document>> {
        let (name, map, attributes) = match node {
            NodeMetadata::Array(array) => {
                (ARRAY, json::sorted(array_to_document(array, registry)?), &array.attributes)
            }
            NodeMetadata::Group(group) => (GROUP, group_to_document(group), &group.attributes),
        };
        let mut documents = vec![(name, json::to_ascii(&map)?)];
        if !attributes.is_empty() {
            documents.insert(0, (ATTRIBUTES, json::to_ascii(attributes)?));
        }
        Ok(documents)
    }

    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>> {
        match change {
            Change::Attributes(attributes) => Ok(vec![(ATTRIBUTES, json::to_ascii(attributes)?)]),
            Change::Shape(shape) | Change::Growth(shape, _) => patched_shape(ARRAY, documents, shape),
            Change::Members(members) => patched_members(ARRAY, documents, members),
        }
    }

    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding {
        ChunkKeyEncoding::V2(Separator::Dot)
    }

    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        ChunkShape::Guess.resolve(shape, item)
    }

    fn default_compressor(&self, item: usize) -> CodecSpec {
        default_compressor(item)
    }

    fn consolidation(&self) -> Option<Consolidation> {
        Some(Consolidation::Beside(".zmetadata"))
    }

    fn has_undefined_fill(&self) -> bool {
        true
    }
}

/// Returns Blosc with LZ4, the default of zarr-python 2.
pub(super) fn default_compressor(item: usize) -> CodecSpec {
    let configuration =
        json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": item, "blocksize": 0});
    CodecSpec::new("blosc", configuration)
}

/// Returns the first document with another shape, but otherwise unchanged.
pub(super) fn patched_shape(
    name: &'static str,
    documents: &[Option<Vec<u8>>],
    shape: &[u64],
) -> Result<Vec<Document>> {
    let mut map = main_document(name, documents)?;
    map.insert("shape".to_owned(), shape.into());
    Ok(vec![(name, json::to_ascii(&map)?)])
}

/// Returns the first document with changed members, in zarr-python's order.
pub(super) fn patched_members(
    name: &'static str,
    documents: &[Option<Vec<u8>>],
    members: &Map,
) -> Result<Vec<Document>> {
    let mut map = main_document(name, documents)?;
    put_members(&mut map, members);
    Ok(vec![(name, json::to_ascii(&json::sorted(map))?)])
}

fn main_document(name: &'static str, documents: &[Option<Vec<u8>>]) -> Result<Map> {
    let bytes = documents.first().and_then(Option::as_deref).unwrap_or(b"");
    json::parse_object(bytes).map_err(|error| error.in_document(name))
}

fn group_from_document(source: Source<'_>, context: &ReadContext<'_>) -> Result<GroupMetadata> {
    let mut members = source.members(context.strictness)?;
    members.zarr_format(2)?;
    // zarr-python 3 writes this member here, where it has no meaning.
    if members.lenient() {
        members.optional(consolidated::MEMBER);
    }
    let extra = members.rest();
    if let Some(unknown) = extra.keys().next().filter(|_| context.strictness == Strictness::Strict) {
        return Err(Error::metadata(format!("a group cannot have the member '{unknown}'")));
    }
    Ok(GroupMetadata { format: Format::V2, attributes: Map::default(), extra })
}

/// Reads the document of an array. The attributes are in another document.
pub(super) fn array_from_document(
    mut members: Members<'_>,
    context: &ReadContext<'_>,
) -> Result<ArrayMetadata> {
    members.zarr_format(2)?;
    let shape = members.lengths("shape")?;
    let mut chunks = members.lengths("chunks")?;
    correct_empty_chunks(&mut chunks, &shape, context.strictness);
    let chunk_grid = ChunkGrid::regular(chunks, &shape)?;
    let (data_type, order) = read_data_type(&mut members, context)?;
    let fill_value = match &*optional_if_lenient(&mut members, "fill_value")? {
        Json::Null => None,
        // zarr-python 2 writes the number 0 by default for objects.
        fill if (members.lenient() || data_type.storage() == Storage::Variable)
            && is_number_of_text(fill, &data_type) =>
        {
            None
        }
        fill => {
            if context.strictness == Strictness::Strict {
                check_fill_form(&data_type, fill)?;
            }
            let family = context.registry.family(&data_type)?;
            let value = family.fill_from_json(&data_type, fill, context.strictness)?;
            Some(if data_type.fields().is_some() { reordered(&value, &data_type, &order) } else { value })
        }
    };
    let codecs = read_codecs(&mut members, shape.len(), &data_type, &order, context)?;
    let separator_declared = members.has("dimension_separator");
    let separator = match members.optional("dimension_separator").as_deref() {
        None => Separator::Dot,
        Some(Json::Null) if members.lenient() => Separator::Dot,
        Some(Json::String(text)) => Separator::parse(text).ok_or_else(|| bad_separator(text))?,
        Some(other) => return Err(wrong("dimension_separator", "\".\" or \"/\"", other)),
    };
    let array = ArrayMetadata {
        format: Format::V2,
        shape,
        data_type,
        fallback_from: None,
        chunk_grid,
        chunk_key_encoding: ChunkKeyEncoding::V2(separator),
        separator_declared,
        fill_value,
        codecs,
        attributes: Map::default(),
        dimension_names: None,
        extra: members.rest(),
    };
    array.validate()?;
    Ok(array)
}

/// Returns true if a fill value is the 0 that zarr-python 2 stores by default for strings and byte strings. zarr-python 2 reads
/// missing chunks as this number, so every chunk must be stored, as with an undefined value.
fn is_number_of_text(fill: &Json, data_type: &DataType) -> bool {
    // For objects, the number is a valid value.
    fill.as_u64() == Some(0) && data_type.is_text_or_bytes()
}

/// Reads the data type, and the byte order of its stored elements. The type of objects is determined by their codec, which is the
/// first filter or, in some stores, the compressor.
fn read_data_type(members: &mut Members<'_>, context: &ReadContext<'_>) -> Result<(DataType, ByteOrder)> {
    let little = ByteOrder::One(Endian::Little);
    let dtype = members.required("dtype")?;
    let registry = context.registry;
    if !has_objects(&dtype) {
        let (known, order) = read_named(&dtype, context)
            .map_or_else(|error| (Err(error), None), |(data_type, order)| (Ok(data_type), order));
        return Ok((registry.or_unknown(&dtype, known)?, order.unwrap_or(little)));
    }
    let filters = members.get("filters").and_then(Json::as_array).into_iter().flatten();
    let codecs = filters.chain(members.get("compressor")).filter_map(Json::as_object);
    let known = registry.type_with_objects_from_v2(&dtype, codecs);
    Ok((registry.or_unknown(&dtype, known)?, little))
}

/// Reads types without a NumPy type string, such as `bfloat16`: tensorstore uses their version 3 names, and stores them
/// little-endian.
fn read_named(json: &Json, context: &ReadContext<'_>) -> Result<(DataType, Option<ByteOrder>)> {
    let registry = context.registry;
    let read = registry.data_type_from_v2(json);
    if read.is_ok() || context.strictness == Strictness::Strict || !json.is_string() {
        return read;
    }
    let named = registry.data_type_from_v3(json).ok();
    let only_named = |named: &DataType| {
        registry.family(named).is_ok_and(|family| family.to_v2(named, Endian::Little).is_err())
    };
    named.filter(only_named).map_or(read, |named| Ok((named, None)))
}

/// Converts the fill value of a structure between memory and the byte order of its base64 in metadata.
fn reordered(fill: &FillValue, data_type: &DataType, order: &ByteOrder) -> FillValue {
    let mut bytes = fill.as_bytes().to_vec();
    for leaf in order.swapped(&data_type.storage()) {
        bytes[leaf.offset..][..leaf.size].chunks_exact_mut(leaf.word).for_each(<[u8]>::reverse);
    }
    FillValue::new(bytes)
}

/// Rejects forms of fill values that exist only in v3.
fn check_fill_form(data_type: &DataType, fill: &Json) -> Result<()> {
    let hexadecimal = |json: &Json| json.as_str().is_some_and(|text| text.starts_with("0x"));
    let parts = fill.as_array().map_or(std::slice::from_ref(fill), Vec::as_slice);
    let foreign = match data_type.storage() {
        Storage::Float(_) | Storage::Complex(_) => parts.iter().any(hexadecimal),
        Storage::Raw(_) => fill.is_array(),
        _ => false,
    };
    if foreign {
        return Err(Error::metadata(format!("fill_value {fill} has the form of Zarr v3 for a {data_type}")));
    }
    Ok(())
}

/// Returns a required member; in lenient mode, a missing member is read as `null`.
fn optional_if_lenient<'a>(members: &mut Members<'a>, name: &'static str) -> Result<Cow<'a, Json>> {
    if members.lenient() {
        return Ok(members.optional(name).unwrap_or(Cow::Owned(Json::Null)));
    }
    members.required(name)
}

/// Returns the codecs for `order`, `filters`, the byte order of the dtype and `compressor`.
fn read_codecs(
    members: &mut Members<'_>,
    ndim: usize,
    data_type: &DataType,
    order: &ByteOrder,
    context: &ReadContext<'_>,
) -> Result<Vec<CodecSpec>> {
    let column_major = match &*optional_if_lenient(members, "order")? {
        Json::Null if members.lenient() => false,
        Json::String(order) if order == "C" => false,
        Json::String(order) if order == "F" => true,
        other => return Err(wrong("order", "\"C\" or \"F\"", other)),
    };
    let filters = optional_if_lenient(members, "filters")?;
    let compressor = optional_if_lenient(members, "compressor")?;
    let filters = match &*filters {
        Json::Null => &[],
        Json::Array(filters) => filters.as_slice(),
        other => return Err(wrong("filters", "null or a list of objects", other)),
    };
    let mut listed: Vec<(&str, &Json)> = filters.iter().map(|filter| ("filters", filter)).collect();
    if !compressor.is_null() {
        listed.push(("compressor", &compressor));
    }
    // Nested lists have the nesting of the array, regardless of the order.
    let nests = listed.iter().any(|(_, json)| json.get("id").and_then(Json::as_str).is_some_and(nests_lists));
    let mut codecs = Vec::from_iter((column_major && !nests).then(|| column_major_codec(ndim)).flatten());
    let mut numbers = Numbers::of(&data_type.storage(), order);
    let mut item = data_type.encoded_item();
    let mut in_bytes = false;
    for (member, json) in listed {
        let (kind, spec) = read_codec(member, json, item, context)?;
        item = match kind {
            CodecKind::ArrayToArray => encoded_size(&spec.configuration).unwrap_or(item),
            // In numcodecs, the output of these codecs consists of single bytes.
            CodecKind::ArrayToBytes | CodecKind::BytesToBytes => 1,
        };
        let is_filter = kind == CodecKind::ArrayToArray;
        let of_bytes = is_filter && (in_bytes || !numbers.can_be_viewed_by(&spec.configuration));
        if (of_bytes || kind == CodecKind::BytesToBytes) && !in_bytes {
            codecs.push(bytes_codec(numbers.order.as_ref()));
        }
        if is_filter && !of_bytes {
            numbers.convert_by(&spec.configuration);
        }
        if kind == CodecKind::ArrayToBytes && numbers.order.as_ref().is_some_and(|order| *order != LITTLE) {
            return Err(Error::unsupported(format!(
                "the codec '{}' has its own byte order, but the data type before it is big-endian: \
                 the byte order of the values is ambiguous",
                spec.name
            )));
        }
        in_bytes |= of_bytes || !is_filter;
        codecs.push(if of_bytes { filter_of_bytes(&spec) } else { spec });
    }
    if !in_bytes {
        codecs.push(bytes_codec(numbers.order.as_ref()));
    }
    Ok(codecs)
}

/// The byte order of numbers that codecs store without declaring a byte order.
const LITTLE: ByteOrder = ByteOrder::One(Endian::Little);

/// The codec around a filter whose input is bytes, or that views numbers as another type. Its name never occurs in metadata.
pub(super) const FILTER_OF_BYTES: &str = "v2_filter";

fn filter_of_bytes(filter: &CodecSpec) -> CodecSpec {
    let filter = json!({"name": filter.name, "configuration": filter.configuration});
    CodecSpec::new(FILTER_OF_BYTES, json!({"filter": filter}))
}

/// Returns the filter inside a codec [`FILTER_OF_BYTES`]; `None` for other codecs.
fn filter_in(codec: &CodecSpec) -> Option<CodecSpec> {
    let filter = codec.configuration.get("filter").filter(|_| codec.name == FILTER_OF_BYTES);
    filter.and_then(CodecSpec::from_json)
}

/// The numbers to which the filters so far have converted an array. numcodecs treats them as bytes.
struct Numbers {
    /// The byte order, if the numbers have one.
    order: Option<ByteOrder>,
    /// The number of bytes of each number.
    word: usize,
    /// True if the numbers are fields of structured elements.
    in_structures: bool,
}

impl Numbers {
    fn of(storage: &Storage, order: &ByteOrder) -> Self {
        let word = storage.word();
        let in_structures = matches!(storage, Storage::Struct(_));
        Self { order: (word > 1).then(|| order.clone()), word, in_structures }
    }

    /// Returns true if a filter views the numbers as their own type, or as parts of little-endian numbers. Such a filter is
    /// applied to the array. numcodecs reinterprets the bytes as the filter's type without checking them.
    fn can_be_viewed_by(&self, filter: &Map) -> bool {
        let Some(seen) = decoded_dtype(filter) else { return true };
        match (self.order.as_ref(), seen.endian) {
            _ if self.in_structures => false,
            (None | Some(&LITTLE), order) => order != Some(Endian::Big),
            (Some(ByteOrder::One(_)), order) => order == Some(Endian::Big) && word(&seen) == Some(self.word),
            (Some(ByteOrder::Each(_)), _) => false,
        }
    }

    /// Replaces the numbers with those that the filter produces, if its configuration specifies them.
    fn convert_by(&mut self, filter: &Map) {
        let Some(dtype) = encoded_dtype(filter) else { return };
        let word = word(&dtype).unwrap_or(1);
        *self = Self { order: dtype.endian.map(ByteOrder::One), word, in_structures: false };
    }
}

/// Returns the number of bytes that are swapped as a unit in elements of a type.
fn word(dtype: &TypeString<'_>) -> Option<usize> {
    match dtype.kind {
        'U' => Some(4),
        'c' => dtype.size().map(|size| size / 2),
        _ => dtype.size(),
    }
}

/// Returns the type to which a filter converts elements, if it changes the type.
fn encoded_dtype(filter: &Map) -> Option<TypeString<'_>> {
    let dtype = filter.get("astype").or_else(|| filter.get("encode_dtype"))?;
    dtype.as_str().and_then(TypeString::parse)
}

/// Returns the type of the input elements of a filter that changes the type.
fn decoded_dtype(filter: &Map) -> Option<TypeString<'_>> {
    let dtype = filter.get("dtype").or_else(|| filter.get("decode_dtype"))?;
    dtype.as_str().and_then(TypeString::parse)
}

/// Returns the size of an element that a filter produces, in bytes, if the filter changes the type.
fn encoded_size(filter: &Map) -> Option<usize> {
    let dtype = encoded_dtype(filter)?;
    if dtype.kind == 'U' { dtype.size().map(|size| 4 * size) } else { dtype.size() }
}

/// Reads a codec whose input is elements of `item` bytes.
fn read_codec(
    member: &str,
    json: &Json,
    item: usize,
    context: &ReadContext<'_>,
) -> Result<(CodecKind, CodecSpec)> {
    let spec_of = |json: &Json| context.registry.spec_from_v2(json, item);
    let (kind, spec) = spec_of(json).map_err(|error| error.at(member))?;
    if context.strictness == Strictness::Strict {
        let map = json.as_object().ok_or_else(|| wrong(member, "an object with an \"id\"", json))?;
        // A member is known if the codec's configuration has it, or if a different value of the member would change the
        // configuration.
        let changed = |name: &str| {
            let mut other = map.clone();
            other.insert(name.to_owned(), json!("no value of anything"));
            spec_of(&other.into()).map_or(true, |(_, other)| other != spec)
        };
        let unknown =
            |name: &&String| *name != "id" && !spec.configuration.contains_key(name) && !changed(name);
        if let Some(name) = map.keys().find(unknown) {
            return Err(Error::metadata(format!(
                "the codec '{}' in '{member}' has the unknown member '{name}'",
                map["id"].as_str().unwrap_or_default()
            )));
        }
    }
    Ok((kind, spec))
}

/// Returns the codec for `order: "F"`; `None` with fewer than two dimensions, where the order has no effect.
fn column_major_codec(ndim: usize) -> Option<CodecSpec> {
    let order: Vec<usize> = (0..ndim).rev().collect();
    (ndim > 1).then(|| CodecSpec::new("transpose", json!({"order": order})))
}

fn bytes_codec(order: Option<&ByteOrder>) -> CodecSpec {
    CodecSpec::new("bytes", order.map_or(Json::Null, |order| json!({"endian": order.to_json()})))
}

fn group_to_document(group: &GroupMetadata) -> Map {
    let mut map = Map::default();
    map.insert("zarr_format".to_owned(), 2.into());
    map.extend(group.extra.clone());
    map
}

/// Returns the document of an array, or an error with the property that this format cannot represent.
pub(super) fn array_to_document(array: &ArrayMetadata, registry: &Registry) -> Result<Map> {
    if array.dimension_names.is_some() {
        return Err(Error::unsupported(
            "Zarr v2 cannot store dimension names; set the attribute _ARRAY_DIMENSIONS instead, which xarray reads",
        ));
    }
    let ChunkKeyEncoding::V2(separator) = array.chunk_key_encoding else {
        return Err(Error::unsupported(
            "Zarr v2 supports only its own chunk key encoding, without the \"c\"",
        ));
    };
    let chain = written_codecs(array, registry)?;
    let family = registry.family(&array.data_type)?;
    let fill = array.fill_value.as_ref().map(|fill| match array.data_type.fields() {
        Some(_) => family.fill_to_v2(&array.data_type, &reordered(fill, &array.data_type, &chain.byte_order)),
        None => family.fill_to_v2(&array.data_type, fill),
    });
    let document = json!({
        "zarr_format": 2,
        "shape": array.shape,
        "chunks": array.chunk_grid.chunk_shape()?,
        "dtype": registry.data_type_to_v2(&array.data_type, &chain.byte_order)?,
        "compressor": chain.compressor,
        "fill_value": fill,
        "order": chain.order,
        "filters": chain.filters,
        "dimension_separator": separator.to_string(),
    });
    let Json::Object(mut map) = document else { return Ok(Map::default()) };
    map.extend(array.extra.clone());
    Ok(map)
}

/// The codecs in v2 form.
struct WrittenChain {
    order: &'static str,
    filters: Json,
    byte_order: ByteOrder,
    compressor: Json,
}

fn written_codecs(array: &ArrayMetadata, registry: &Registry) -> Result<WrittenChain> {
    let mut codecs = array.codecs.as_slice();
    let mut order = "C";
    let reversed = column_major_codec(array.shape.len());
    if let [first, rest @ ..] = codecs
        && Some(first) == reversed.as_ref()
    {
        (order, codecs) = ("F", rest);
    }
    let mut byte_order = ByteOrder::One(Endian::Little);
    let mut written: Vec<Json> = Vec::new();
    // In numcodecs, a codec that converts numbers to bytes is a compressor, and a codec that converts objects to bytes is a
    // filter.
    let compresses = |kind| match kind {
        CodecKind::ArrayToArray => false,
        CodecKind::ArrayToBytes => array.data_type.storage() != Storage::Variable,
        CodecKind::BytesToBytes => true,
    };
    let mut last_compresses = false;
    for codec in codecs {
        if codec.name == "bytes" {
            byte_order = written_byte_order(codec, &written)?;
            continue;
        }
        let filter = filter_in(codec);
        let codec = filter.as_ref().unwrap_or(codec);
        let def = registry.codec(&codec.name)?;
        let not_in_v2 = || {
            Error::unsupported(format!(
                "Zarr v2 does not support the codec '{codec}'; create the array as v3"
            ))
        };
        let mut members = (def.to_v2)(&codec.configuration).map_err(|e| Error::from(e.in_codec(def.name)))?;
        let own = members.remove("id");
        let own = own.as_ref().and_then(Json::as_str);
        let id = def.v2_id.or(own).ok_or_else(not_in_v2)?;
        if order == "F" && nests_lists(id) {
            let message = format!(
                "zarr-python reads order F with the codec '{id}' differently than it writes it; use order C"
            );
            return Err(Error::unsupported(message));
        }
        let mut all = Map::default();
        all.insert("id".to_owned(), id.into());
        all.extend(members);
        written.push(all.into());
        last_compresses = compresses(def.kind);
    }
    let compressor = if last_compresses { written.pop() } else { None };
    let filters = if written.is_empty() { Json::Null } else { written.into() };
    Ok(WrittenChain { order, filters, byte_order, compressor: compressor.unwrap_or(Json::Null) })
}

/// Returns the byte order of the array's data type: the byte order of the codec `bytes`, unless a filter before it has produced
/// other numbers.
fn written_byte_order(bytes: &CodecSpec, filters: &[Json]) -> Result<ByteOrder> {
    let filters: Vec<&Map> = filters.iter().filter_map(Json::as_object).collect();
    let little = ByteOrder::One(Endian::Little);
    let stored = bytes.configuration.get("endian").and_then(ByteOrder::from_json);
    let Some(encoded) = filters.iter().rev().copied().find_map(encoded_dtype) else {
        return Ok(stored.unwrap_or(little));
    };
    let said = encoded.endian.map(ByteOrder::One);
    if stored.is_some() && said.is_some() && stored != said {
        let message = "a filter stores its numbers in another byte order than the codec 'bytes' after it";
        return Err(Error::argument(message));
    }
    let own = filters.iter().copied().find_map(decoded_dtype).and_then(|dtype| dtype.endian);
    Ok(own.map_or(little, ByteOrder::One))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> Json {
        json!({
            "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": ">i4", "compressor": null,
            "fill_value": 7, "order": "F", "filters": null, "dimension_separator": "/",
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
        array_from_document(Source::Json(document).members(strictness).unwrap(), &context)
    }

    #[test]
    fn writing_what_was_read_gives_the_document_back() {
        let documents = [
            minimal(),
            with("order", json!("C")),
            with("fill_value", Json::Null),
            with("dtype", json!("<i4")),
            with("later", json!([1])),
            with("dimension_separator", json!(".")),
        ];
        for document in documents {
            let array = read(&document, Strictness::Strict).unwrap();
            assert_eq!(Json::Object(array_to_document(&array, &Registry::new()).unwrap()), document);
        }
    }

    #[test]
    fn order_and_endianness_become_codecs() {
        let array = read(&minimal(), Strictness::Strict).unwrap();
        let chain: Vec<_> = array.codecs.iter().map(ToString::to_string).collect();
        assert_eq!(chain, ["transpose(order=[1,0])", "bytes(endian=\"big\")"]);
    }

    #[test]
    fn filters_are_of_arrays_where_they_see_the_numbers_that_there_are() {
        let numbers = |dtype: &str| {
            let (data_type, order) = Registry::new().data_type_from_v2(&json!(dtype)).unwrap();
            Numbers::of(&data_type.storage(), &order.unwrap_or(LITTLE))
        };
        let filter = |dtype: &str| json!({"dtype": dtype}).as_object().cloned().unwrap();
        for (elements, filter_sees, is_of_arrays) in [
            ("<i4", "<i4", true),
            ("<i4", "<u4", true),
            ("<i4", "<i2", true),
            ("<i4", "|u1", true),
            ("<i4", ">i4", false),
            (">i4", ">i4", true),
            (">i4", ">f4", true),
            (">c8", ">f4", true),
            (">c16", ">c8", false),
            (">i4", "<i4", false),
            (">i4", ">i2", false),
            (">i4", "|u1", false),
            ("|u1", "|i1", true),
            ("|V4", "<i4", true),
            ("|V4", ">i4", false),
            (">M8[s]", ">i8", true),
            (">M8[s]", "<i8", false),
            ("<U2", "<u4", true),
            (">U2", ">U2", true),
            (">U2", "<U2", false),
        ] {
            let found = numbers(elements).can_be_viewed_by(&filter(filter_sees));
            assert_eq!(found, is_of_arrays, "{elements} as {filter_sees}");
        }
        assert!(
            numbers(">f4").can_be_viewed_by(&Map::default()),
            "a filter without a type views them as their own type"
        );
        let mut numbers = numbers(">f8");
        let map = json!({"dtype": ">f8", "astype": "<i2"}).as_object().cloned().unwrap();
        numbers.convert_by(&map);
        assert!(numbers.can_be_viewed_by(&filter("<i2")) && !numbers.can_be_viewed_by(&filter(">i2")));
        numbers.convert_by(&Map::default());
        assert_eq!(numbers.order, Some(LITTLE));
        let dtype = json!([["a", "<i2"], ["b", "<i4"]]);
        let (data_type, order) = Registry::new().data_type_from_v2(&dtype).unwrap();
        assert!(!Numbers::of(&data_type.storage(), &order.unwrap()).can_be_viewed_by(&filter("<u2")));
    }

    #[test]
    fn a_filter_of_bytes_is_a_codec_and_a_filter_again() {
        let filter = CodecSpec::new("numcodecs.delta", json!({"dtype": "<i4"}));
        let codec = filter_of_bytes(&filter);
        assert_eq!((codec.name.as_str(), filter_in(&codec)), (FILTER_OF_BYTES, Some(filter.clone())));
        assert_eq!(filter_in(&filter), None);
        assert_eq!(filter_in(&CodecSpec::new(FILTER_OF_BYTES, json!({"filter": 1}))), None);
    }

    #[test]
    fn missing_members_that_are_clear_are_forgiven_only_leniently() {
        for member in ["compressor", "fill_value", "order", "filters"] {
            let mut document = minimal();
            document.as_object_mut().unwrap().remove(member);
            assert!(read(&document, Strictness::Lenient).is_ok(), "{member}");
            assert!(read(&document, Strictness::Strict).is_err(), "{member}");
        }
        assert!(read(&with("dimension_separator", Json::Null), Strictness::Lenient).is_ok());
    }

    #[test]
    fn types_that_have_no_type_string_go_by_their_names() {
        let document = with("dtype", json!("bfloat16"));
        let array = read(&document, Strictness::Lenient).unwrap();
        assert_eq!(array.data_type.to_string(), "bfloat16");
        assert_eq!(array.codecs.last().unwrap().to_string(), "bytes(endian=\"little\")");
        assert_eq!(
            read(&document, Strictness::Strict).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        // The byte order of these numbers would be ambiguous.
        assert_eq!(
            read(&with("dtype", json!("float32")), Strictness::Lenient).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }

    #[test]
    fn forms_of_v3_are_taken_only_leniently() {
        let of = |dtype: &str, fill: Json| {
            let mut document = with("fill_value", fill);
            document["dtype"] = dtype.into();
            document
        };
        for document in
            [of("<f4", json!("0x3f800000")), of("<c8", json!([1.0, "0x3f800000"])), of("|V2", json!([1, 2]))]
        {
            assert!(read(&document, Strictness::Lenient).is_ok(), "{document}");
            assert!(read(&document, Strictness::Strict).is_err(), "{document}");
        }
        assert!(read(&of("|V2", json!("AQI=")), Strictness::Strict).is_ok());
        assert!(read(&of("<c8", json!([1.0, "NaN"])), Strictness::Strict).is_ok());
        let group = |strictness| {
            let registry = Registry::new();
            let context = ReadContext::new(&registry, strictness);
            group_from_document(Source::Bytes(b"{\"zarr_format\": 2, \"later\": 1}"), &context)
        };
        assert!(group(Strictness::Lenient).is_ok());
        assert!(group(Strictness::Strict).unwrap_err().to_string().contains("later"));
    }

    #[test]
    fn broken_documents_are_errors_that_name_the_member() {
        let broken = [
            (with("zarr_format", json!(3)), "zarr_format"),
            (with("shape", json!([1, -2])), "shape"),
            (with("chunks", json!([0, 3])), "dimension 0"),
            (with("chunks", json!([3])), "dimensions"),
            (with("dtype", json!("|i4")), "|i4"),
            (with("dtype", json!(1)), "data type"),
            (with("order", json!("A")), "order"),
            (with("fill_value", json!("x")), "fill_value"),
            (with("compressor", json!("zlib")), "compressor"),
            (with("compressor", json!({"level": 1})), "id"),
            (with("compressor", json!({"id": "nosuch"})), "nosuch"),
            (with("filters", json!({})), "filters"),
            (with("dimension_separator", json!("-")), "separator"),
        ];
        for (document, named) in broken {
            let message = read(&document, Strictness::Lenient).unwrap_err().to_string();
            assert!(message.contains(named), "{document}: {message}");
        }
    }

    #[test]
    fn what_v2_cannot_say_is_refused_by_name() {
        let mut array = read(&minimal(), Strictness::Strict).unwrap();
        array.dimension_names = Some(vec![None, None]);
        let message = array_to_document(&array, &Registry::new()).unwrap_err().to_string();
        assert!(message.contains("_ARRAY_DIMENSIONS"), "{message}");
    }
}
