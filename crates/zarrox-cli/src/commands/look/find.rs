//! `zarrox find`: lists the nodes that have certain properties.

use std::io::Write;

use clap::{Args, ValueEnum};
use zarrox::json::{self, Json, Map};
use zarrox::{Array, DataType, Node, Result};
use zarrox_tools::Glob;

use super::describe::data_type_json;
use crate::args::Global;
use crate::creation;
use crate::exit::{Failure, printable, usage};
use crate::print::print_json;

/// List the nodes below a group that have all of the given properties
///
/// Each path begins with ROOT, so that it can be passed to other commands.
#[derive(Debug, Args)]
pub(crate) struct Find {
    /// The group
    #[arg(value_name = "ROOT", default_value = ".")]
    root: String,

    /// A pattern for the name, or with slashes for the whole path below ROOT: 't*', 'climate/**/t2m'
    #[arg(long, value_name = "GLOB")]
    name: Option<Glob>,

    /// The kind of node
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    /// The data type of an array: float32, <i2 …
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,

    /// The shape of an array, in which * matches any length: 10,*
    #[arg(long, value_name = "LENGTHS")]
    shape: Option<String>,

    /// An attribute of the node, by its name or with its value as JSON or text: units=m; can be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    attr: Vec<String>,

    /// Print a JSON list of paths
    #[arg(long)]
    json: bool,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Arrays
    Array,
    /// Groups
    Group,
}

/// The properties that a node must have.
struct Wanted<'a> {
    find: &'a Find,
    data_type: Option<DataType>,
    shape: Option<Vec<Option<u64>>>,
}

impl Find {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let data_type = self.dtype.as_deref().map(creation::data_type).transpose()?;
        let shape = self.shape.as_deref().map(lengths).transpose()?;
        let wanted = Wanted { find: self, data_type: data_type.map(|(data_type, _)| data_type), shape };
        let group = global.look(&self.root)?.into_group()?;
        let mut found = Vec::new();
        group.visit(&mut |path, node| {
            if node.as_ref().is_ok_and(|node| wanted.fits(path, node)) {
                found.push(format!("{}/{path}", self.root.trim_end_matches('/')));
            }
            Ok(())
        })?;
        if self.json {
            return Ok(print_json(out, &Json::from(found))?);
        }
        Ok(found.iter().try_for_each(|path| writeln!(out, "{}", printable(path)))?)
    }
}

impl Wanted<'_> {
    fn fits(&self, path: &str, node: &Node) -> bool {
        let array = match node {
            Node::Array(array) => Some(array),
            Node::Group(_) => None,
        };
        let kind = self.find.kind.is_none_or(|kind| (kind == Kind::Array) == array.is_some());
        let name = self.find.name.as_ref().is_none_or(|glob| glob.matches(path));
        kind && name
            && self.find.attr.iter().all(|attribute| has(node.attributes(), attribute))
            && self.data_type.as_ref().is_none_or(|wanted| array.is_some_and(|array| is_of(array, wanted)))
            && self.shape.as_ref().is_none_or(|wanted| array.is_some_and(|array| is_shaped(array, wanted)))
    }
}

fn is_of(array: &Array, wanted: &DataType) -> bool {
    array.data_type() == wanted || data_type_json(array.data_type()) == data_type_json(wanted)
}

fn is_shaped(array: &Array, wanted: &[Option<u64>]) -> bool {
    array.ndim() == wanted.len()
        && array
            .shape()
            .iter()
            .zip(wanted)
            .all(|(length, wanted)| wanted.is_none_or(|wanted| wanted == *length))
}

fn has(attributes: &Map, wanted: &str) -> bool {
    let Some((name, value)) = wanted.split_once('=') else { return attributes.contains_key(wanted) };
    let Some(own) = attributes.get(name) else { return false };
    own.as_str() == Some(value) || json::parse(value.as_bytes()).is_ok_and(|value| value == *own)
}

fn lengths(text: &str) -> Result<Vec<Option<u64>>> {
    let items = text.trim().trim_start_matches('(').trim_end_matches(')').split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    let length = |item: &str| match item {
        "*" => Ok(None),
        length => length
            .parse()
            .map(Some)
            .map_err(|_| usage(format!("--shape: expected a length or *, found '{length}'"))),
    };
    items.map(length).collect()
}
