//! Groups, by nothing but files and their JSON: opening, listing, and what is stored of an array.

use std::path::Path;

use serde_json::Value;

use crate::failure::Failure;
use crate::protocol::Found;

fn parsed(path: &Path) -> Result<Value, Failure> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn lengths(document: &Value) -> Result<u64, Failure> {
    let shape =
        document["shape"].as_array().ok_or_else(|| Failure::Error("an array has no shape".to_owned()))?;
    Ok(shape.iter().filter_map(Value::as_u64).sum())
}

/// The document of a node, and its attributes where they are a document of their own.
fn node(path: &Path) -> Result<Value, Failure> {
    if let Ok(document) = parsed(&path.join("zarr.json")) {
        return Ok(document);
    }
    let mut document = parsed(&path.join(".zarray")).or_else(|_| parsed(&path.join(".zgroup")))?;
    if let Ok(attributes) = parsed(&path.join(".zattrs")) {
        document["attributes"] = attributes;
    }
    Ok(document)
}

pub(super) fn open(path: &Path, names: &[String]) -> Result<Found, Failure> {
    node(path)?;
    let lengths = names.iter().map(|name| lengths(&node(&path.join(name))?));
    Ok(Found::Number(lengths.sum::<Result<u64, Failure>>()?))
}

pub(super) fn open_consolidated(path: &Path, names: &[String]) -> Result<Found, Failure> {
    let (all, suffix) = match parsed(&path.join("zarr.json")) {
        Ok(mut group) => (group["consolidated_metadata"]["metadata"].take(), ""),
        Err(_) => (parsed(&path.join(".zmetadata"))?["metadata"].take(), "/.zarray"),
    };
    let lengths = names.iter().map(|name| lengths(&all[format!("{name}{suffix}")]));
    Ok(Found::Number(lengths.sum::<Result<u64, Failure>>()?))
}

/// Counts the nodes below a group.
pub(super) fn count_below(path: &Path) -> Result<u64, Failure> {
    let mut count = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let Ok(node) = node(&entry.path()) else { continue };
        let is_array = node.get("shape").is_some();
        count += 1 + if is_array { 0 } else { count_below(&entry.path())? };
    }
    Ok(count)
}

/// Counts the chunks that are stored in a directory and below it, and their bytes.
pub(super) fn stored(path: &Path) -> Result<(u64, u64), Failure> {
    let (mut count, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let (more, size) = match entry.file_type()?.is_dir() {
            true => stored(&entry.path())?,
            false => {
                let name = entry.file_name();
                let document = name == "zarr.json" || name.as_encoded_bytes().starts_with(b".z");
                (u64::from(!document), entry.metadata()?.len())
            }
        };
        count += more;
        bytes += size;
    }
    Ok((count, bytes))
}
