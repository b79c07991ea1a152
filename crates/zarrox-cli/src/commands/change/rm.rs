//! `zarrox rm`: deletes a node.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use zarrox::{Node, Result};

use crate::args::Global;
use crate::exit::{Failure, each, usage};
use crate::files::failed;

/// Delete arrays and groups with all nodes below them
///
/// Without --force, the command asks for confirmation. --force is required for a group with children, and if there is no
/// terminal. If a node cannot be deleted, the others are deleted nevertheless; the first failure decides the exit code.
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The arrays and groups
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Delete without asking
    #[arg(long)]
    force: bool,
}

impl Rm {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        if let [path] = self.paths.as_slice() {
            return Ok(self.delete(global, path)?);
        }
        each(&mut io::sink(), &self.paths, |_, path| Ok(self.delete(global, path)?))
    }

    fn delete(&self, global: &Global, path: &str) -> Result<()> {
        if !self.force && !confirmed(global, path)? {
            return Ok(());
        }
        global.options().delete(path)
    }
}

fn confirmed(global: &Global, path: &str) -> Result<bool> {
    if let Node::Group(group) = global.look(path)? {
        let children = group.children()?.len();
        if children > 0 {
            return Err(usage(format!("'{path}' has {children} nodes below it; --force deletes them all")));
        }
    }
    if !io::stdin().is_terminal() {
        return Err(usage(format!("deleting requires confirmation on a terminal; --force deletes '{path}'")));
    }
    ask(&format!("delete '{path}'? [y/N] ")).map_err(|error| failed("asking", error))
}

fn ask(question: &str) -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(question.as_bytes())?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
