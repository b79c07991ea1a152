//! `zarrox tree`: everything below a group.

use std::io::Write;

use clap::Args;
use zarrox::json::Json;
use zarrox::{Child, Group, Node, Result, Tree as Nodes};

use super::ls::child_json;
use super::print_json;
use crate::args::Global;
use crate::exit::{Failure, printable};

/// Show everything below a group as a tree
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// The group
    path: String,

    /// Go down only so many levels
    #[arg(long, value_name = "LEVELS")]
    depth: Option<usize>,

    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Tree {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let depth = self.depth.unwrap_or(usize::MAX);
        let group = global.read(&self.path)?.into_group()?;
        if self.json {
            print_json(out, &children_json(&group, depth)?)?;
        } else {
            writeln!(out, "{}", shown(group.tree_to_depth(depth)?))?;
        }
        Ok(())
    }
}

/// The same tree with names that cannot break its lines.
fn shown(tree: Nodes) -> Nodes {
    Nodes {
        name: printable(&tree.name),
        error: tree.error.map(|error| printable(&error)),
        children: tree.children.into_iter().map(shown).collect(),
        ..tree
    }
}

fn children_json(group: &Group, depth: usize) -> Result<Json> {
    if depth == 0 {
        return Ok(Json::Array(Vec::new()));
    }
    group.children()?.iter().map(|child| node_json(child, depth - 1)).collect()
}

fn node_json(child: &Child, depth: usize) -> Result<Json> {
    let mut json = child_json(child);
    if let Ok(Node::Group(group)) = &child.node {
        json["children"] = children_json(group, depth)?;
    }
    Ok(json)
}
