//! `node`: all that is known of a node.

use zarrox::codec::CodecKind;
use zarrox::json::{Json, Map, json};
use zarrox::{Array, ArrayInfo, CodecSpec, DynArray, ErrorKind, Node, Registry};

use crate::address::Query;
use crate::failure::Answer;
use crate::root::Root;

/// The counting of stored chunks.
#[derive(Debug, Clone, Copy)]
enum Counting {
    /// Where it is quick.
    Quick,
    Always,
    Never,
}

pub(super) fn answer(root: &Root, path: &str, query: &Query, registry: &Registry) -> Answer<Json> {
    query.only(&["stored", "documents", "optional"])?;
    let words = [("quick", Counting::Quick), ("count", Counting::Always), ("none", Counting::Never)];
    let counting = query.choice("stored", &words)?;
    let with_documents = query.flag("documents")?;
    let is_optional = query.flag("optional")?;
    let opened = match root.node(path) {
        Err(error) if is_optional && error.kind() == ErrorKind::NotFound => return Ok(Json::Null),
        opened => opened?,
    };
    let node = &opened.node;
    let mut body = json!({
        "path": path,
        "hierarchy": opened.hierarchy.as_str(),
        "name": path.rsplit('/').next().unwrap_or_default(),
        "store": root.store.location(),
        "format": node.format().to_string(),
        "attributes": node.attributes().clone(),
    });
    match node {
        Node::Group(_) => body["kind"] = "group".into(),
        Node::Array(array) => {
            body["kind"] = "array".into();
            describe(&mut body, array, registry);
            body["stored"] = match counting {
                Counting::Never => Json::Null,
                Counting::Quick => stored(&array.quick_info()?),
                Counting::Always => stored(&array.info()?),
            };
        }
    }
    body["v3"] = match opened.v3() {
        Ok(translation) => {
            let findings =
                translation.obstacles().iter().map(|obstacle| Json::from(obstacle.reason.as_str()));
            json!({"possible": true, "notes": Json::Array(findings.collect())})
        }
        Err(error) => json!({"possible": false, "why": error.to_string()}),
    };
    if with_documents {
        let documents = node.documents()?.into_iter().map(|(key, bytes)| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (key, zarrox::json::parse(&bytes).unwrap_or_else(|_| text.into()))
        });
        body["documents"] = documents.collect::<Map>().into();
    }
    Ok(body)
}

fn describe(body: &mut Json, array: &Array, registry: &Registry) {
    let data_type = array.data_type();
    let fill = array.fill_value();
    let fill_json = DynArray::element_to_json(data_type, fill.as_bytes(), registry).unwrap_or_default();
    let fill_text = array.format_element(fill.as_bytes()).unwrap_or_default();
    let shards =
        array.shard_shape().map_or(Json::Null, |shape| shape.iter().copied().map(Json::from).collect());
    let names = array.dimension_names().map_or(Json::Null, |names| {
        names.iter().map(|name| name.as_deref().map_or(Json::Null, Json::from)).collect()
    });
    let codecs: Json = array.codecs().iter().map(|codec| pipeline(codec, registry)).collect();
    let members = [
        ("shape", array.shape().iter().copied().map(Json::from).collect()),
        ("data_type", data_type_json(array)),
        ("chunk_shape", array.chunk_shape().into_iter().map(Json::from).collect()),
        ("shard_shape", shards),
        ("grid_shape", array.grid_shape().into_iter().map(Json::from).collect()),
        ("chunk_grid", array.chunk_grid().to_json()),
        ("dimension_names", names),
        ("fill_value", fill_json),
        ("fill_text", fill_text.into()),
        ("codecs", codecs),
        ("bytes", array.nbytes().map_or(Json::Null, Json::from)),
        ("unreadable", array.unreadable().map_or(Json::Null, Json::from)),
    ];
    for (name, value) in members {
        body[name] = value;
    }
}

fn data_type_json(array: &Array) -> Json {
    use zarrox::data_type::Storage;
    let data_type = array.data_type();
    let kind = match data_type.storage() {
        Storage::Bool => "bool",
        Storage::Int(_) => "int",
        Storage::Uint(_) => "uint",
        Storage::Float(_) => "float",
        Storage::Complex(_) => "complex",
        Storage::Raw(_) => "bytes",
        Storage::Utf32(_) => "text",
        Storage::Struct(_) => "struct",
        Storage::Variable => "variable",
    };
    let fields = data_type.fields().map_or(Json::Null, |structure| {
        let field = |field: &zarrox::data_type::Field| {
            json!({"name": field.name, "data_type": field.data_type.to_string(), "shape": field.shape})
        };
        structure.fields().iter().map(field).collect()
    });
    json!({"name": data_type.to_string(), "kind": kind, "bytes": data_type.size(), "fields": fields})
}

/// A codec with its kind, and the codecs inside of shards.
fn pipeline(codec: &CodecSpec, registry: &Registry) -> Json {
    let kind = match registry.codec(&codec.name).map(|def| def.kind) {
        Ok(CodecKind::ArrayToArray) => "array-to-array",
        Ok(CodecKind::ArrayToBytes) => "array-to-bytes",
        Ok(CodecKind::BytesToBytes) => "bytes-to-bytes",
        Err(_) => "unknown",
    };
    json!({"name": codec.name, "kind": kind, "configuration": codec.configuration})
}

fn stored(info: &ArrayInfo) -> Json {
    if !info.counted {
        return Json::Null;
    }
    let missing = info.chunks.map(|chunks| chunks.saturating_sub(info.chunks_initialised));
    json!({
        "chunks": info.chunks,
        "stored": info.chunks_initialised,
        "missing": missing,
        "bytes": info.bytes_stored,
        "chunk_bytes": info.chunk_bytes_stored,
        "decoded_bytes": info.chunk_bytes,
        "ratio": info.ratio(),
    })
}
