//! `zarrox mv`: moves a node within its hierarchy, or a whole hierarchy.

use clap::Args;
use zarrox::Result;

use crate::args::Global;
use crate::exit::Failure;

/// Move an array or a group, with all below it, to another path in the same hierarchy
///
/// A whole hierarchy can be moved to a path outside of all others.
#[derive(Debug, Args)]
pub(crate) struct Mv {
    /// The array or group
    from: String,

    /// Its new path; there may be nothing yet
    to: String,
}

impl Mv {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        Ok(global.options().move_node(&self.from, &self.to)?)
    }
}
