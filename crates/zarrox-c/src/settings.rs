//! Parses the properties of a new array from JSON.

use zarrox::data_type::Endian;
use zarrox::internals::argument;
use zarrox::json::{Json, Map};
use zarrox::{ArrayBuilder, CodecSpec, DataType, Order, Registry, Result, Separator};

use crate::members::Members;

/// Sets the properties of an array from a JSON object. The header lists its members.
pub(crate) fn apply(builder: ArrayBuilder, map: Map) -> Result<ArrayBuilder> {
    let registry = zarrox::codecs::registry();
    let mut members = Members::new("array", map);
    let missing = |member: &str| argument(format!("'array' needs the member '{member}'"));
    let shape = members.lengths("shape")?.ok_or_else(|| missing("shape"))?;
    let data_type = members.take("data_type").ok_or_else(|| missing("data_type"))?;
    let builder = builder.shape(shape).data_type(parse_type(&data_type, &registry)?);
    let chunks = members.get("chunks", "a list of lengths, where null is a whole dimension", |json| {
        let length = |json: &Json| if json.is_null() { Some(None) } else { json.as_u64().map(Some) };
        json.as_array()?.iter().map(length).collect::<Option<Vec<_>>>()
    })?;
    let builder = chunks.into_iter().fold(builder, ArrayBuilder::chunks);
    let builder = members.lengths("shards")?.into_iter().fold(builder, ArrayBuilder::shards);
    let builder = encoding(builder, &mut members)?;
    let builder = members.take("fill_value").into_iter().fold(builder, ArrayBuilder::fill_value_json);
    let separator = members.word("separator", &[("/", Separator::Slash), (".", Separator::Dot)])?;
    let builder = separator.into_iter().fold(builder, ArrayBuilder::separator);
    let attributes = members.get("attributes", "an object", |json| json.as_object().cloned())?;
    let builder = attributes.into_iter().fold(builder, ArrayBuilder::attributes);
    let names = members.get("dimension_names", "a list of names or null", |json| {
        let name = |json: &Json| {
            if json.is_null() { Some(None) } else { json.as_str().map(|name| Some(name.to_owned())) }
        };
        json.as_array()?.iter().map(name).collect::<Option<Vec<_>>>()
    })?;
    let builder = names.into_iter().fold(builder, ArrayBuilder::optional_dimension_names);
    let builder = members.flag("overwrite")?.into_iter().fold(builder, ArrayBuilder::overwrite);
    members.finish()?;
    Ok(builder)
}

/// Sets the codecs: a whole pipeline, or filters and a compressor.
fn encoding(builder: ArrayBuilder, members: &mut Members) -> Result<ArrayBuilder> {
    const CODECS: &str = "a list of codecs, each with a name and a configuration";
    let list = |json: &Json| json.as_array()?.iter().map(CodecSpec::from_json).collect::<Option<Vec<_>>>();
    let endian = members.word("endian", &[("little", Endian::Little), ("big", Endian::Big)])?;
    let builder = endian.into_iter().fold(builder, ArrayBuilder::endian);
    let order = members.word("order", &[("C", Order::RowMajor), ("F", Order::ColumnMajor)])?;
    let builder = order.into_iter().fold(builder, ArrayBuilder::order);
    let filters = members.get("filters", CODECS, list)?;
    let builder = filters.into_iter().flatten().fold(builder, ArrayBuilder::filter);
    let builder = match members.take_any("compressor") {
        None => builder,
        Some(Json::Null) => builder.no_compressor(),
        Some(json) => {
            let codec = CodecSpec::from_json(&json);
            let wanted = "null, or a codec with a name and a configuration";
            builder.compressor(codec.ok_or_else(|| members.wrong("compressor", wanted, &json))?)
        }
    };
    let builder = members.flag("checksum")?.into_iter().fold(builder, ArrayBuilder::checksum);
    Ok(members.get("codecs", CODECS, list)?.into_iter().fold(builder, ArrayBuilder::codecs))
}

/// Returns the data type that is given by a name in NumPy, Zarr v2 or Zarr v3, or by JSON as in metadata documents.
fn parse_type(json: &Json, registry: &Registry) -> Result<DataType> {
    match json {
        Json::String(name) => DataType::parse(name, registry),
        Json::Array(_) => registry.data_type_from_v2(json).map(|(data_type, _)| data_type),
        _ => registry.data_type_from_v3(json),
    }
    .map_err(|error| argument(format!("'data_type' of 'array': {error}")))
}
