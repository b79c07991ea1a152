//! `zarrox ls`: the nodes directly below a group.

use std::io::Write;

use clap::Args;
use serde_json::json;
use zarrox::json::Json;
use zarrox::{Child, Node, Result};

use super::{print_json, tuple};
use crate::args::Global;
use crate::exit::{Failure, printable};

/// List the nodes directly below a group; those that cannot be opened with the reason
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// The group, or an array, which lists itself
    path: String,

    /// With kind, format, shape, data type and chunk shape
    #[arg(short, long)]
    long: bool,

    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let children = match global.read(&self.path)? {
            Node::Group(group) => group.children()?,
            node => vec![Child { name: self.path.clone(), node: Ok(node) }],
        };
        if self.json {
            print_json(out, &children.iter().map(child_json).collect())?;
        } else if self.long {
            print_table(out, &children.iter().map(row).collect::<Vec<_>>())?;
        } else {
            for child in &children {
                writeln!(out, "{}", name(child))?;
            }
        }
        Ok(())
    }
}

/// A node's name and, as far as it can be opened, what it is.
pub(super) fn child_json(child: &Child) -> Json {
    match &child.node {
        Ok(Node::Array(array)) => json!({
            "name": child.name,
            "node_type": "array",
            "format": array.metadata().format.to_string(),
            "shape": array.shape(),
            "data_type": array.data_type().to_string(),
            "chunk_shape": array.chunk_shape(),
        }),
        Ok(Node::Group(group)) => json!({
            "name": child.name,
            "node_type": "group",
            "format": group.metadata().format.to_string(),
        }),
        Err(error) => json!({"name": child.name, "node_type": null, "error": error.to_string()}),
    }
}

fn name(child: &Child) -> String {
    let name = printable(&child.name);
    match &child.node {
        Ok(Node::Array(_)) => name,
        Ok(Node::Group(_)) => format!("{name}/"),
        Err(error) => format!("{name} (cannot be opened: {})", printable(&error.to_string())),
    }
}

fn row(child: &Child) -> [String; 6] {
    let none = || "-".to_owned();
    match &child.node {
        Ok(Node::Array(array)) => [
            "array".to_owned(),
            array.metadata().format.to_string(),
            array.data_type().to_string(),
            tuple(array.shape()),
            tuple(&array.chunk_shape()),
            name(child),
        ],
        Ok(Node::Group(group)) => {
            let format = group.metadata().format.to_string();
            ["group".to_owned(), format, none(), none(), none(), name(child)]
        }
        Err(_) => ["?".to_owned(), none(), none(), none(), none(), name(child)],
    }
}

fn print_table<const N: usize>(out: &mut dyn Write, rows: &[[String; N]]) -> std::io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
