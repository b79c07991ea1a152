//! `zarrox rm`: deletes a node.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use zarrox::{Node, Result};

use crate::args::Global;
use crate::exit::{Failure, usage};
use crate::files::failed;

/// Delete an array or a group with all below it
///
/// Without --force it asks first; for a group that has children, or when there is no terminal to ask on, --force is
/// required.
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The array or group
    path: String,

    /// Do not ask
    #[arg(long)]
    force: bool,
}

impl Rm {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        if !self.force && !self.confirmed(global)? {
            return Ok(());
        }
        Ok(global.options().delete(&self.path)?)
    }

    fn confirmed(&self, global: &Global) -> Result<bool> {
        if let Node::Group(group) = global.read(&self.path)? {
            let children = group.children()?.len();
            if children > 0 {
                let message =
                    format!("'{}' has {children} nodes below it; --force deletes them all", self.path);
                return Err(usage(message));
            }
        }
        if !io::stdin().is_terminal() {
            return Err(usage(format!("there is no terminal to ask on; --force deletes '{}'", self.path)));
        }
        ask(&format!("delete '{}'? [y/N] ", self.path)).map_err(|error| failed("asking", error))
    }
}

fn ask(question: &str) -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(question.as_bytes())?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
