//! zarrs for programs in other languages: reads requests and answers them, with a line of JSON each.
//!
//! A request has an `op`, the `root` of a store in a directory, and usually the `path` of a node in it:
//!
//! | `op` | more members | answer |
//! |---|---|---|
//! | `create` | `metadata` | |
//! | `write` | `start`, `shape`, `values` | |
//! | `read` | `start`, `shape` | `values` |
//! | `describe` | | `metadata` |
//! | `resize` | `shape` | |
//! | `attributes` | `value` | |
//! | `create_group` | `attributes` | |
//! | `describe_group` | | `attributes`, `members` |
//!
//! `values` are `{"bytes": …}`, base64 of elements of fixed size; `{"elements": […]}`, base64 of each element of variable size;
//! or `{"mask": …, "values": …}` for optional elements: a byte for each element, and the values of all elements. The answer to a
//! failure is an `error`.

use std::error::Error;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use zarrs::array::{Array, ArrayBytes, ArrayBytesOffsets, ArrayMetadata, ArrayMetadataOptions, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::{Group, GroupBuilder};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = match catch_unwind(AssertUnwindSafe(|| answer(&request))) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => json!({ "error": error.to_string() }),
            Err(panic) => json!({ "error": format!("panicked: {:?}", panic.downcast_ref::<String>()) }),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(request: &Value) -> Outcome<Value> {
    let store = Arc::new(FilesystemStore::new(text(request, "root")?)?);
    let path = text(request, "path")?;
    let open = || Array::open(store.clone(), path);
    // Without an attribute that names zarrs.
    let plain = ArrayMetadataOptions::default().with_include_zarrs_metadata(false);
    match text(request, "op")? {
        "create" => {
            let metadata: ArrayMetadata = serde_json::from_value(request["metadata"].clone())?;
            Array::new_with_metadata(store.clone(), path, metadata)?.store_metadata_opt(&plain)?;
        }
        "write" => open()?.store_array_subset(&subset(request)?, from_json(&request["values"])?)?,
        "read" => {
            let values: ArrayBytes = open()?.retrieve_array_subset(&subset(request)?)?;
            return Ok(json!({ "values": to_json(&values) }));
        }
        "describe" => return Ok(json!({ "metadata": open()?.metadata() })),
        "resize" => open()?.set_shape(numbers(request, "shape")?)?.store_metadata_opt(&plain)?,
        "attributes" => {
            let mut array = open()?;
            *array.attributes_mut() = members(request, "value")?;
            array.store_metadata_opt(&plain)?;
        }
        "create_group" => {
            let mut builder = GroupBuilder::new();
            builder.attributes(members(request, "attributes")?);
            builder.build(store.clone(), path)?.store_metadata()?;
        }
        "describe_group" => {
            let group = Group::open(store.clone(), path)?;
            let children = group.children(false)?;
            let members: Vec<_> = children.iter().map(|node| node.name().as_str().to_owned()).collect();
            return Ok(json!({ "attributes": group.attributes(), "members": members }));
        }
        op => return Err(format!("unknown operation '{op}'").into()),
    }
    Ok(json!({}))
}

fn text<'a>(request: &'a Value, member: &str) -> Outcome<&'a str> {
    request[member].as_str().ok_or_else(|| format!("no text '{member}'").into())
}

fn members(request: &Value, member: &str) -> Outcome<Map<String, Value>> {
    request[member].as_object().cloned().ok_or_else(|| format!("no object '{member}'").into())
}

fn numbers(request: &Value, member: &str) -> Outcome<Vec<u64>> {
    Ok(serde_json::from_value(request[member].clone())?)
}

fn subset(request: &Value) -> Outcome<ArraySubset> {
    Ok(ArraySubset::new_with_start_shape(numbers(request, "start")?, numbers(request, "shape")?)?)
}

fn to_json(values: &ArrayBytes) -> Value {
    match values {
        ArrayBytes::Fixed(bytes) => json!({ "bytes": STANDARD.encode(bytes) }),
        ArrayBytes::Variable(values) => {
            let elements = values.offsets().windows(2).map(|ends| STANDARD.encode(&values.bytes()[ends[0]..ends[1]]));
            json!({ "elements": elements.collect::<Vec<_>>() })
        }
        ArrayBytes::Optional(values) => {
            json!({ "mask": STANDARD.encode(values.mask()), "values": to_json(values.data()) })
        }
    }
}

fn from_json(values: &Value) -> Outcome<ArrayBytes<'static>> {
    if let Some(mask) = values.get("mask") {
        return Ok(from_json(&values["values"])?.with_optional_mask(decoded(mask)?));
    }
    let Some(elements) = values["elements"].as_array() else {
        return Ok(ArrayBytes::new_flen(decoded(&values["bytes"])?));
    };
    let mut bytes = Vec::new();
    let mut offsets = vec![0];
    for element in elements {
        bytes.extend(decoded(element)?);
        offsets.push(bytes.len());
    }
    Ok(ArrayBytes::new_vlen(bytes, ArrayBytesOffsets::new(offsets)?)?)
}

fn decoded(value: &Value) -> Outcome<Vec<u8>> {
    Ok(STANDARD.decode(value.as_str().ok_or("values in base64 must be text")?)?)
}
