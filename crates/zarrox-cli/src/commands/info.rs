//! `zarrox info`: what there is to know about a node.

use std::io::Write;

use clap::Args;
use serde_json::json;
use zarrox::data_type::Storage;
use zarrox::json::Json;
use zarrox::{Array, ArrayInfo, ChunkGrid, CodecSpec, Group, Node, Result};

use super::{print_json, tuple};
use crate::args::Global;
use crate::exit::{Failure, printable};

/// Show what there is to know about an array or a group
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// The array or group
    path: String,

    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        match (global.read(&self.path)?, self.json) {
            (Node::Array(array), false) => print(out, &array_lines(&array)?)?,
            (Node::Array(array), true) => print_json(out, &array_json(&array)?)?,
            (Node::Group(group), false) => print(out, &group_lines(&group)?)?,
            (Node::Group(group), true) => print_json(out, &group_json(&group)?)?,
        }
        Ok(())
    }
}

type Lines = Vec<(&'static str, String)>;

/// Lines of two columns; a name that repeats is printed once.
fn print(out: &mut dyn Write, lines: &Lines) -> std::io::Result<()> {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut last = "";
    for (name, value) in lines {
        let shown = if *name == last { "" } else { name };
        writeln!(out, "{shown:width$}  {}", printable(value))?;
        last = name;
    }
    Ok(())
}

fn array_lines(array: &Array) -> Result<Lines> {
    let info = array.info()?;
    let objects = if info.shard_shape.is_some() { "shards stored" } else { "chunks stored" };
    let number = |count: Option<u64>| count.map_or("more than 2^64".to_owned(), |count| count.to_string());
    let mut lines = vec![
        ("path", info.path.clone()),
        ("store", info.store.clone()),
        ("type", "array".to_owned()),
        ("format", info.format.to_string()),
        ("shape", tuple(&info.shape)),
        ("data type", info.data_type.to_string()),
        ("chunk shape", tuple(&info.chunk_shape)),
    ];
    lines.extend(info.fallback_from.as_ref().map(|json| ("in place of", json.to_string())));
    lines.extend(info.shard_shape.as_ref().map(|shape| ("shard shape", tuple(shape))));
    if let ChunkGrid::Rectilinear(grid) = &info.chunk_grid {
        lines.push(("grid", format!("rectilinear {}", grid.lengths_to_json())));
    }
    lines.extend(order(&info).map(|order| ("order", order.to_owned())));
    lines.push(("fill value", array.format_element(info.fill_value.as_bytes())?));
    lines.extend(info.codecs.iter().map(|codec| ("codecs", codec.to_string())));
    if let Some(names) = &info.dimension_names {
        let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
        lines.push(("dimension names", names.join(", ")));
    }
    lines.push(("attributes", array.attributes().len().to_string()));
    if has_size(&info) {
        lines.push(("bytes", info.bytes.map_or_else(|| number(None), human)));
    }
    lines.push(("bytes stored", human(info.bytes_stored)));
    lines.extend(ratio(&info).map(|ratio| ("ratio", format!("{ratio:.2}"))));
    lines.push((objects, format!("{} of {}", info.chunks_initialised, number(info.chunks))));
    Ok(lines)
}

fn array_json(array: &Array) -> Result<Json> {
    let info = array.info()?;
    let registry = zarrox::codecs::registry();
    let family = registry.family(&info.data_type)?;
    Ok(json!({
        "path": info.path,
        "store": info.store,
        "node_type": "array",
        "format": info.format.to_string(),
        "shape": info.shape,
        "data_type": family.to_v3(&info.data_type).unwrap_or_else(|_| Json::from(info.data_type.to_string())),
        "fallback_from": info.fallback_from,
        "chunk_shape": info.chunk_shape,
        "shard_shape": info.shard_shape,
        "chunk_grid": info.chunk_grid.to_json(),
        "order": order(&info),
        "fill_value": family.fill_to_v3(&info.data_type, &info.fill_value),
        "codecs": info.codecs.iter().map(codec_json).collect::<Vec<_>>(),
        "dimension_names": info.dimension_names,
        "attributes": array.attributes(),
        "bytes": info.bytes.filter(|_| has_size(&info)),
        "bytes_stored": info.bytes_stored,
        "ratio": ratio(&info),
        "chunks_initialised": info.chunks_initialised,
        "chunks": info.chunks,
    }))
}

/// Whether elements have a fixed length: else nobody knows how many bytes they are without reading them all.
fn has_size(info: &ArrayInfo) -> bool {
    info.data_type.storage() != Storage::Variable
}

fn ratio(info: &ArrayInfo) -> Option<f64> {
    info.ratio().filter(|_| has_size(info))
}

fn codec_json(codec: &CodecSpec) -> Json {
    json!({"name": codec.name, "configuration": codec.configuration})
}

/// Of chunks that are stored in one of the two orders that v2 has names for.
fn order(info: &ArrayInfo) -> Option<&'static str> {
    let Some(transpose) = info.codecs.iter().find(|codec| codec.name == "transpose") else {
        return info.shard_shape.is_none().then_some("C");
    };
    let reversed: Vec<usize> = (0..info.shape.len()).rev().collect();
    (transpose.configuration.get("order") == Some(&json!(reversed))).then_some("F")
}

/// How many of what are directly below a group.
struct Children {
    groups: usize,
    arrays: usize,
    unreadable: usize,
}

impl Children {
    fn of(group: &Group) -> Result<Self> {
        let mut children = Self { groups: 0, arrays: 0, unreadable: 0 };
        for child in group.children()? {
            *match child.node {
                Ok(Node::Group(_)) => &mut children.groups,
                Ok(Node::Array(_)) => &mut children.arrays,
                Err(_) => &mut children.unreadable,
            } += 1;
        }
        Ok(children)
    }
}

fn group_lines(group: &Group) -> Result<Lines> {
    let children = Children::of(group)?;
    let mut lines = vec![
        ("path", group.path().to_string()),
        ("store", group.store()),
        ("type", "group".to_owned()),
        ("format", group.metadata().format.to_string()),
        ("groups", children.groups.to_string()),
        ("arrays", children.arrays.to_string()),
    ];
    if children.unreadable > 0 {
        lines.push(("unreadable", children.unreadable.to_string()));
    }
    lines.push(("attributes", group.attributes().len().to_string()));
    Ok(lines)
}

fn group_json(group: &Group) -> Result<Json> {
    let children = Children::of(group)?;
    Ok(json!({
        "path": group.path().to_string(),
        "store": group.store(),
        "node_type": "group",
        "format": group.metadata().format.to_string(),
        "attributes": group.attributes(),
        "groups": children.groups,
        "arrays": children.arrays,
        "unreadable": children.unreadable,
    }))
}

/// A number of bytes for people, and exactly.
#[expect(clippy::cast_precision_loss, reason = "a number for people")]
fn human(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = bytes as f64;
    let mut unit = None;
    for larger in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = Some(larger);
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{size:.1} {unit} ({bytes})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_twice_when_they_are_large() {
        assert_eq!(human(1023), "1023 B");
        assert_eq!(human(1536), "1.5 KiB (1536)");
        assert_eq!(human(u64::MAX), "16.0 EiB (18446744073709551615)");
    }
}
