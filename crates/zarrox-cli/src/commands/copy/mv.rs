//! `zarrox mv`: moves a node within its hierarchy or elsewhere, or a whole hierarchy.

use std::io::Write;

use clap::Args;
use zarrox::Result;
use zarrox_tools::copy::IfExists;

use super::copying;
use crate::args::Global;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Progress;

/// Move an array or a group, with all nodes below it, to another path or store
///
/// Within a hierarchy, and on the same disk, the node is renamed. Otherwise it is copied as by cp, and deleted after the copy is
/// complete. After an interruption, the same command continues.
#[derive(Debug, Args)]
pub(crate) struct Mv {
    /// The array or group
    from: String,

    /// Its new path
    to: String,

    /// Replace an existing node and all nodes below it, which are deleted only if the move is possible
    #[arg(long)]
    force: bool,
}

impl Mv {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let progress = Progress::new(&self.from, 0);
        let if_exists = if self.force { IfExists::Replace } else { IfExists::Error };
        let copier = copying::copier(global, &progress).if_exists(if_exists);
        let Some(report) = copying::with_advice(copier.move_node(&self.from, &self.to))? else {
            return Ok(());
        };
        progress.finish(None);
        Ok(copying::print_findings(&report, out)?)
    }
}
