//! `zarrox ls`: lists the nodes directly below a group.

use std::io::Write;

use clap::Args;
use zarrox::json::Json;
use zarrox::json::json;
use zarrox::{Child, Node, Result};

use super::describe::{child_json, chunk_shapes, clipped, name, unreadable};
use super::table::print_table;
use crate::args::Global;
use crate::exit::{Failure, each, printable};
use crate::print::{print_json, tuple};

/// The maximum width of chunk shapes and data types in a table, in characters.
const COLUMN: usize = 40;

/// List the nodes directly below a group
///
/// Nodes that cannot be opened are listed with the reason. If a directory or bucket is not a hierarchy, the hierarchies in it are
/// listed.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// The groups or arrays
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<String>,

    /// Print kind, format, shape, chunk shape and data type as well
    #[arg(short, long)]
    long: bool,

    /// Print a JSON list of nodes; for several paths, a list of objects with `path` and `children`
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(crate) fn run(mut self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.paths = global.expanded(&self.paths)?;
        if let [path] = self.paths.as_slice() {
            let children = global.content(path)?.children(path)?;
            return Ok(if self.json {
                print_json(out, &to_json(&children))
            } else {
                self.print(&children, out)
            }?);
        }
        if self.json {
            return self.print_lists(global, out);
        }
        let mut between = "";
        each(out, &self.paths, |out, path| {
            let children = global.content(path)?.children(path)?;
            writeln!(out, "{between}{}:", printable(path))?;
            between = "\n";
            Ok(self.print(&children, out)?)
        })
    }

    fn print_lists(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let mut lists = Vec::new();
        let result = each(out, &self.paths, |_, path| {
            let children = global.content(path)?.children(path)?;
            lists.push(json!({"path": path, "children": to_json(&children)}));
            Ok(())
        });
        print_json(out, &lists.into())?;
        result
    }

    fn print(&self, children: &[Child], out: &mut dyn Write) -> std::io::Result<()> {
        if self.long {
            return print_table(out, &children.iter().map(row).collect::<Vec<_>>());
        }
        children.iter().try_for_each(|child| writeln!(out, "{}", line(child)))
    }
}

fn to_json(children: &[Child]) -> Json {
    children.iter().map(child_json).collect()
}

fn line(child: &Child) -> String {
    match &child.node {
        Ok(Node::Array(array)) => name(child) + &printable(&unreadable(array)),
        Ok(Node::Group(_)) => name(child),
        Err(_) => format!("{} ({})", name(child), reason(child)),
    }
}

/// Returns the reason why a node cannot be opened.
fn reason(child: &Child) -> String {
    let error = child.node.as_ref().err().map(ToString::to_string).unwrap_or_default();
    format!("cannot be opened: {}", printable(&error))
}

fn row(child: &Child) -> [String; 6] {
    let none = || "-".to_owned();
    match &child.node {
        Ok(Node::Array(array)) => [
            "array".to_owned(),
            array.metadata().format.to_string(),
            tuple(array.shape()),
            clipped(&chunk_shapes(array).0, COLUMN),
            name(child),
            printable(&(clipped(&array.data_type().to_string(), COLUMN) + &unreadable(array))),
        ],
        Ok(Node::Group(group)) => {
            let format = group.metadata().format.to_string();
            ["group".to_owned(), format, none(), none(), name(child), none()]
        }
        Err(_) => ["?".to_owned(), none(), none(), none(), name(child), reason(child)],
    }
}
