//! `zarrox reshard`: copies encoded chunks into and out of shards.

use std::io::Write;

use clap::Args;
use zarrox::Result;
use zarrox_tools::copy::{Action, IfExists};

use super::copying;
use super::recoding::Recoding;
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, usage};
use crate::interrupt;
use crate::progress::Progress;

/// Copy arrays into other shards or out of shards, without decoding chunks
///
/// Encoded chunks are copied unchanged, so this takes little longer than copying files. The source is an array, or a group with
/// all of its arrays. After an interruption, the same command continues.
#[derive(Debug, Args)]
pub(crate) struct Reshard {
    /// The array or group
    source: String,

    /// The destination
    destination: String,

    /// The shape of a shard, a multiple of the chunk shape; none: each chunk is a stored object
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true, required = true)]
    shards: String,

    /// Replace an existing node
    #[arg(long)]
    force: bool,

    /// The memory limit for shards in progress
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    max_memory: ByteSize,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Reshard {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let progress = Progress::new(&self.source, 0);
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let if_exists = if self.force { IfExists::Replace } else { IfExists::Error };
        let copier = copying::copier(global, &progress).memory(memory).if_exists(if_exists);
        let copying =
            Recoding::of_shards(&self.shards)?.apply(copier)?.plan(&self.source, &self.destination)?;
        copying.check()?;
        let decoded = copying
            .reports()
            .flat_map(|report| &report.nodes)
            .find(|node| node.action == Action::Reencode)
            .map(|node| node.path.clone());
        if let Some(path) = decoded {
            let message = format!("resharding '{path}' requires decoding its chunks; use zarrox rechunk");
            return Err(usage(message).into());
        }
        let report = copying::with_advice(copying.run())?;
        progress.finish(None);
        if self.json { copying::print_json([&report], out) } else { copying::print_findings(&report, out) }?;
        Ok(())
    }
}
