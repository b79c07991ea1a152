//! `zarrox info`: shows the properties of a node.

use std::io::Write;

use clap::Args;
use zarrox::data_type::Storage;
use zarrox::json::{Json, Map, json};
use zarrox::{Array, ArrayInfo, CodecSpec, ErrorKind, Group, Node, Order, Result};

use super::describe::{attribute_lines, chunk_shapes, data_type_json};
use super::header::print_header;
use crate::args::Global;
use crate::exit::{Failure, each, printable};
use crate::print::{print_json, size, tuple};

/// Show the properties of arrays and groups
///
/// This does not require codecs: for an array with unknown codecs or an unknown data type, a line says so.
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// The arrays and groups
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<String>,

    /// Count the stored chunks of remote stores as well, which takes a request per thousand chunks, or per chunk over HTTP
    #[arg(long)]
    count: bool,

    /// Show all nodes below as well, like ncdump -h: dimensions, data types and attributes
    #[arg(long, conflicts_with_all = ["count", "json"])]
    header: bool,

    /// Print JSON; for several paths, a list
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(crate) fn run(mut self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.paths = global.expanded(&self.paths)?;
        if self.header {
            return each(out, &self.paths, |out, path| print_header(&global.look(path)?, path, out));
        }
        match (self.paths.as_slice(), self.json) {
            ([path], true) => Ok(print_json(out, &self.node_json(global, path)?)?),
            (_, true) => self.print_list(global, out),
            (_, false) => self.print(global, out),
        }
    }

    fn print(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let mut between = "";
        each(out, &self.paths, |out, path| {
            let lines = match global.look(path)? {
                Node::Array(array) => array_lines(&array, &self.info(&array)?, path)?,
                Node::Group(group) => group_lines(&group, path)?,
            };
            write!(out, "{between}")?;
            between = "\n";
            Ok(print(out, &lines)?)
        })
    }

    fn print_list(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let mut nodes = Vec::new();
        let result = each(out, &self.paths, |_, path| {
            nodes.push(self.node_json(global, path)?);
            Ok(())
        });
        print_json(out, &nodes.into())?;
        result
    }

    fn node_json(&self, global: &Global, path: &str) -> Result<Json> {
        match global.look(path)? {
            Node::Array(array) => array_json(&array, &self.info(&array)?, path),
            Node::Group(group) => group_json(&group, path),
        }
    }

    fn info(&self, array: &Array) -> Result<ArrayInfo> {
        if self.count { array.info() } else { array.quick_info() }
    }
}

/// Returns the store as the user wrote it: the URL of a bucket differs from the address of its server.
fn store_name(location: &str, given: &str, node: &str) -> String {
    let said =
        given.split_once("://").filter(|(scheme, rest)| !scheme.starts_with("http") && !rest.contains('@'));
    if said.is_none() || !location.starts_with("http") {
        return location.to_owned();
    }
    let given = given.trim_end_matches('/');
    given.strip_suffix(node).unwrap_or(given).trim_end_matches('/').to_owned()
}

type Lines = Vec<(&'static str, String)>;

/// Prints lines in two columns. A repeated name is printed only once.
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

/// Appends a line for each attribute.
fn push_attributes(lines: &mut Lines, attributes: &Map) {
    if attributes.is_empty() {
        lines.push(("attributes", "none".to_owned()));
    }
    lines.extend(attribute_lines(attributes).map(|line| ("attributes", line)));
}

fn array_lines(array: &Array, info: &ArrayInfo, given: &str) -> Result<Lines> {
    let objects = if info.inner_chunk_shape.is_some() { "shards stored" } else { "chunks stored" };
    let number = |count: Option<u64>| count.map_or("more than 2^64".to_owned(), |count| count.to_string());
    let (chunk_shape, shard_shape) = chunk_shapes(array);
    let mut lines = vec![
        ("path", info.path.clone()),
        ("store", store_name(&info.store, given, array.path().as_str())),
        ("type", "array".to_owned()),
        ("format", info.format.to_string()),
        ("shape", tuple(&info.shape)),
        ("data type", info.data_type.to_string()),
        ("chunk shape", chunk_shape),
    ];
    lines.extend(info.fallback_from.as_ref().map(|json| ("in place of", json.to_string())));
    lines.extend(shard_shape.map(|shape| ("shard shape", shape)));
    lines.extend(order(info).map(|order| ("order", order.to_owned())));
    lines.push(("fill value", array.format_element(info.fill_value.as_bytes())?));
    lines.extend(info.codecs.iter().map(|codec| ("codecs", codec.to_string())));
    if let Some(names) = &info.dimension_names {
        let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
        lines.push(("dimension names", names.join(", ")));
    }
    lines.extend(info.unreadable.clone().map(|why| ("cannot be read", why)));
    push_attributes(&mut lines, array.attributes());
    if has_size(info) {
        lines.push(("bytes", info.bytes.map_or_else(|| number(None), size)));
    }
    if !info.counted {
        lines.push((objects, format!("unknown, of {}; --count counts them", number(info.chunks))));
        return Ok(lines);
    }
    lines.push(("bytes stored", size(info.bytes_stored)));
    let partly = if info.chunks == Some(info.chunks_stored) { "" } else { " of the stored chunks" };
    lines.extend(ratio(info).map(|ratio| ("ratio", format!("{ratio:.2}{partly}"))));
    lines.push((objects, format!("{} of {}", info.chunks_stored, number(info.chunks))));
    Ok(lines)
}

fn array_json(array: &Array, info: &ArrayInfo, given: &str) -> Result<Json> {
    let counted = |number: u64| info.counted.then_some(number);
    let registry = zarrox::codecs::registry().with_unknown();
    let family = registry.family(&info.data_type)?;
    Ok(json!({
        "path": info.path,
        "store": store_name(&info.store, given, array.path().as_str()),
        "node_type": "array",
        "format": info.format.to_string(),
        "shape": info.shape,
        "data_type": data_type_json(&info.data_type),
        "fallback_from": info.fallback_from,
        "chunk_shape": info.inner_chunk_shape.as_ref().unwrap_or(&info.chunk_shape),
        "shard_shape": info.inner_chunk_shape.is_some().then_some(&info.chunk_shape),
        "chunk_grid": info.chunk_grid.to_json(),
        "order": order(info),
        "fill_value": family.fill_to_v3(&info.data_type, &info.fill_value),
        "codecs": info.codecs.iter().map(codec_json).collect::<Vec<_>>(),
        "unreadable": info.unreadable,
        "dimension_names": info.dimension_names,
        "attributes": array.attributes(),
        "bytes": info.bytes.filter(|_| has_size(info)),
        "bytes_stored": counted(info.bytes_stored),
        "ratio": ratio(info),
        "chunks_stored": counted(info.chunks_stored),
        "chunks": info.chunks,
    }))
}

/// Returns true if elements have a fixed length. Otherwise their size is known only after all of them have been read.
fn has_size(info: &ArrayInfo) -> bool {
    info.data_type.storage() != Storage::Variable
}

fn ratio(info: &ArrayInfo) -> Option<f64> {
    info.ratio().filter(|_| has_size(info))
}

pub(super) fn codec_json(codec: &CodecSpec) -> Json {
    json!({"name": codec.name, "configuration": codec.configuration})
}

/// Returns NumPy's name for the order of elements in chunks, if it has one.
fn order(info: &ArrayInfo) -> Option<&'static str> {
    info.order.map(|order| if order == Order::ColumnMajor { "F" } else { "C" })
}

/// The number of arrays and the number of groups directly below a group.
struct Children {
    groups: usize,
    arrays: usize,
    unreadable: usize,
}

impl Children {
    /// Counts the nodes. Returns `None` if the store cannot list its keys.
    fn of(group: &Group) -> Result<Option<Self>> {
        let mut children = Self { groups: 0, arrays: 0, unreadable: 0 };
        let found = match group.children() {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
            found => found?,
        };
        for child in found {
            *match child.node {
                Ok(Node::Group(_)) => &mut children.groups,
                Ok(Node::Array(_)) => &mut children.arrays,
                Err(_) => &mut children.unreadable,
            } += 1;
        }
        Ok(Some(children))
    }
}

fn group_lines(group: &Group, given: &str) -> Result<Lines> {
    let children = Children::of(group)?;
    let mut lines = vec![
        ("path", group.path().to_string()),
        ("store", store_name(&group.store(), given, group.path().as_str())),
        ("type", "group".to_owned()),
        ("format", group.metadata().format.to_string()),
    ];
    match children {
        None => lines.extend(["groups", "arrays"].map(|kind| (kind, "unknown".to_owned()))),
        Some(Children { groups, arrays, unreadable }) => {
            lines.extend([("groups", groups.to_string()), ("arrays", arrays.to_string())]);
            lines.extend((unreadable > 0).then(|| ("unreadable", unreadable.to_string())));
        }
    }
    lines.extend(group.consolidated_freshness()?.map(|freshness| ("consolidated", freshness.to_string())));
    push_attributes(&mut lines, group.attributes());
    Ok(lines)
}

fn group_json(group: &Group, given: &str) -> Result<Json> {
    let children = Children::of(group)?;
    Ok(json!({
        "path": group.path().to_string(),
        "store": store_name(&group.store(), given, group.path().as_str()),
        "node_type": "group",
        "format": group.metadata().format.to_string(),
        "attributes": group.attributes(),
        "groups": children.as_ref().map(|children| children.groups),
        "arrays": children.as_ref().map(|children| children.arrays),
        "unreadable": children.as_ref().map(|children| children.unreadable),
        "consolidated": group.consolidated_freshness()?.map(|freshness| freshness.to_string()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_the_name_that_was_given() {
        let name = |given, node| store_name("http://127.0.0.1:9000/b/a.zarr", given, node);
        assert_eq!(name("s3://b/a.zarr/g/x/", "g/x"), "s3://b/a.zarr");
        assert_eq!(name("s3://b/a.zarr", ""), "s3://b/a.zarr");
        assert_eq!(name("http://127.0.0.1:9000/b/a.zarr/x", "x"), "http://127.0.0.1:9000/b/a.zarr");
        assert_eq!(name("webdav://user:secret@host/a.zarr", ""), "http://127.0.0.1:9000/b/a.zarr");
        assert_eq!(store_name("/d/a.zarr", "a.zarr/x", "x"), "/d/a.zarr");
    }
}
