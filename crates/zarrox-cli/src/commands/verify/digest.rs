//! `zarrox digest`: prints a hash for comparing nodes.

use std::io::Write;

use clap::Args;
use zarrox::Result;
use zarrox::json::{Json, json};
use zarrox_tools::Digester;

use crate::args::{ByteSize, Global};
use crate::exit::{Failure, each, printable};
use crate::interrupt;
use crate::print::print_json;
use crate::progress::Progress;

/// Print a hash of nodes, for comparison across formats, codecs and stores
///
/// The hash covers all elements and metadata of a node and of all nodes below it. It is independent of format, chunks, codecs and
/// store. For several nodes, each hash is followed by the path.
#[derive(Debug, Args)]
pub(crate) struct Digest {
    /// The arrays and groups
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Hash the stored keys and bytes without decoding
    #[arg(long)]
    stored: bool,

    /// Print the SHA-1 that zarr-python 2 computes for a v2 array
    #[arg(long, conflicts_with = "stored")]
    hexdigest: bool,

    /// Print a JSON list of objects
    #[arg(long)]
    json: bool,

    /// The memory limit for elements, such as 512MiB: with more memory, long and thin chunks are decoded less often
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    memory: ByteSize,
}

impl Digest {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        if self.json {
            let mut all = Vec::new();
            let result = each(out, &self.paths, |_, path| {
                all.push(json!({"path": path.as_str(), "digest": self.digest(global, path)?}));
                Ok(())
            });
            print_json(out, &Json::Array(all))?;
            return result;
        }
        if let [path] = self.paths.as_slice() {
            return Ok(writeln!(out, "{}", self.digest(global, path)?)?);
        }
        each(out, &self.paths, |out, path| {
            Ok(writeln!(out, "{}  {}", self.digest(global, path)?, printable(path))?)
        })
    }

    fn digest(&self, global: &Global, path: &str) -> Result<String> {
        if self.hexdigest {
            return zarrox_tools::hexdigest(&global.read_array(path)?);
        }
        let progress = Progress::new(path, 0);
        let bar = progress.clone();
        let memory = usize::try_from(self.memory.0).unwrap_or(usize::MAX);
        let digester = Digester::new().memory(memory).on_progress(move |done| {
            bar.set(done.done, done.total);
            interrupt::check_or(interrupt::NOTHING_CHANGED)
        });
        let node = global.read(path)?;
        let digest = if self.stored { digester.stored(&node) } else { digester.content(&node) }?;
        progress.finish(None);
        Ok(digest.to_string())
    }
}
