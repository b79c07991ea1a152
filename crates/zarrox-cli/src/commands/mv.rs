//! `zarrox mv`: moves a node within its hierarchy, or a whole hierarchy.

use clap::Args;
use zarrox::{OpenMode, Result};

use crate::args::Global;
use crate::exit::Failure;

/// Move an array or a group, with all nodes below it, to another path in the same hierarchy
///
/// A whole hierarchy can be moved to a path outside of all hierarchies.
#[derive(Debug, Args)]
pub(crate) struct Mv {
    /// The array or group
    from: String,

    /// Its new path
    to: String,

    /// Replace an existing node and all nodes below it, which are deleted only if nothing prevents the move
    #[arg(long)]
    force: bool,
}

impl Mv {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let mode = if self.force { OpenMode::Write } else { OpenMode::ReadWrite };
        Ok(global.options().mode(mode).move_node(&self.from, &self.to)?)
    }
}
