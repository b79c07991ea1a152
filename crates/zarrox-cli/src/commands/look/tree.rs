//! `zarrox tree`: shows all nodes below a group.

use std::io::Write;

use clap::Args;
use zarrox::json::Json;
use zarrox::{Child, Node, Result, Tree as Nodes};

use super::describe::{attribute_lines, child_json, label};
use crate::args::Global;
use crate::exit::{Failure, printable};
use crate::opening::Content;
use crate::print::print_json;

/// Show all nodes below a group as a tree
///
/// If a directory or bucket is not a hierarchy, the hierarchies in it are shown.
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// The group, or an array
    #[arg(default_value = ".")]
    path: String,

    /// The number of levels to show
    #[arg(long, value_name = "LEVELS")]
    depth: Option<usize>,

    /// Show attributes as well
    #[arg(short, long)]
    attributes: bool,

    /// Print a JSON list of the nodes below; for an array, of the array itself
    #[arg(long)]
    json: bool,
}

impl Tree {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let depth = self.depth.unwrap_or(usize::MAX);
        let content = global.content(&self.path)?;
        if self.json {
            let children = if depth == 0 { Vec::new() } else { content.children(&self.path)? };
            return Ok(print_json(out, &self.children_json(&children, depth)?)?);
        }
        let tree = match content {
            Content::Array(array) => {
                self.tree(&root_name(array.path().name()), &Ok(Node::Array(*array)), depth)
            }
            Content::Group(group) => {
                self.tree(&root_name(group.path().name()), &Ok(Node::Group(*group)), depth)
            }
            Content::Hierarchies(children) => Ok(Nodes {
                name: printable(&self.path),
                children: self.trees(&children, depth)?,
                ..Nodes::default()
            }),
        };
        Ok(writeln!(out, "{}", tree?)?)
    }

    /// Returns a node and all nodes below it, with escaped names.
    fn tree(&self, name: &str, node: &Result<Node>, depth: usize) -> Result<Nodes> {
        let mut tree = Nodes { name: printable(name), ..Nodes::default() };
        match node {
            Ok(Node::Array(array)) => tree.label = printable(&label(array)),
            Ok(Node::Group(group)) if depth > 0 => tree.children = self.trees(&group.children()?, depth)?,
            Ok(Node::Group(_)) => {}
            Err(error) => tree.error = Some(printable(&error.to_string())),
        }
        if let (true, Ok(node)) = (self.attributes, node) {
            tree.details = attribute_lines(node.attributes()).map(|line| printable(&line)).collect();
        }
        Ok(tree)
    }

    fn trees(&self, children: &[Child], depth: usize) -> Result<Vec<Nodes>> {
        let depth = depth.saturating_sub(1);
        children.iter().map(|child| self.tree(&child.name, &child.node, depth)).collect()
    }

    fn children_json(&self, children: &[Child], depth: usize) -> Result<Json> {
        children.iter().map(|child| self.node_json(child, depth - 1)).collect()
    }

    fn node_json(&self, child: &Child, depth: usize) -> Result<Json> {
        let mut json = child_json(child);
        if let (true, Ok(node)) = (self.attributes, &child.node) {
            json["attributes"] = Json::Object(node.attributes().clone());
        }
        if let Ok(Node::Group(group)) = &child.node {
            let below = if depth == 0 { Vec::new() } else { group.children()? };
            json["children"] = self.children_json(&below, depth)?;
        }
        Ok(json)
    }
}

fn root_name(name: &str) -> String {
    if name.is_empty() { "/".to_owned() } else { name.to_owned() }
}
