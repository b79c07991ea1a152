//! `zarrox rechunk`: copies arrays to arrays with a different chunk grid.

use std::io::Write;

use clap::Args;
use zarrox::Result;
use zarrox::json::{Json, json};
use zarrox_tools::copy::{Copier, CopyPlan, IfExists, Verify, Way};

use super::recoding::Recoding;
use super::{copying, estimate};
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, printable, usage};
use crate::interrupt;
use crate::print::{print_json, size, time, tuple};
use crate::progress::Progress;

/// Copy arrays with other chunks, shards or codecs, in bounded memory
///
/// The source is an array, or a group with all of its arrays. The plan with the lowest cost is chosen: each thread copies its own
/// regions; or all threads work on regions as large as the memory allows; or, with --scratch, an uncompressed intermediate array
/// is written, so that every chunk is read once. Chunks are not decoded if only the shards change. After an interruption, the
/// same command continues.
#[derive(Debug, Args)]
pub(crate) struct Rechunk {
    /// The array or group
    source: String,

    /// The destination
    #[arg(required_unless_present = "in_place")]
    destination: Option<String>,

    /// Create the copy beside the source, compare all values, and replace the source
    #[arg(long, conflicts_with_all = ["destination", "scratch", "force"])]
    in_place: bool,

    #[command(flatten)]
    recoding: Recoding,

    /// An unused path or URL for an uncompressed intermediate array, as large as all elements
    #[arg(long, value_name = "PATH")]
    scratch: Option<String>,

    /// Print the plan, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// With --dry-run, do not read a sample to estimate the time
    #[arg(long, requires = "dry_run")]
    no_estimate: bool,

    /// Compare all values at the end
    #[arg(long)]
    verify: bool,

    /// Replace an existing node
    #[arg(long)]
    force: bool,

    /// The memory limit for chunks and regions in progress
    #[arg(long, visible_alias = "memory", value_name = "SIZE", default_value = "1GiB")]
    max_memory: ByteSize,

    /// Print the plan or the report as JSON
    #[arg(long)]
    json: bool,
}

impl Rechunk {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        if !self.recoding.is_given() {
            return Err(usage("nothing would change; give --chunks, --shards or a codec").into());
        }
        let progress = Progress::new(&self.source, 0);
        let copier = self.copier(global, &progress)?;
        if self.dry_run {
            let destination =
                self.destination.clone().unwrap_or_else(|| format!("{}.rechunked", self.source));
            let copying = copier.plan(&self.source, &destination)?;
            let plans = copying.rechunks()?;
            let recoder = self.recoding.apply(Copier::new())?;
            let seconds = match self.no_estimate {
                true => None,
                false => Some(estimate::seconds(global, &self.source, &destination, &recoder, &plans)?),
            };
            self.print_plan(&plans, seconds, out)?;
            return Ok(copying.check()?);
        }
        let report = match &self.destination {
            Some(destination) => Some(copying::with_advice(copier.run(&self.source, destination))?),
            None => copying::with_advice(copier.run_in_place(&self.source))?,
        };
        progress.finish(None);
        let Some(report) = report else { return Ok(()) };
        if self.json { copying::print_json([&report], out) } else { copying::print_findings(&report, out) }?;
        Ok(())
    }

    fn copier(&self, global: &Global, progress: &Progress) -> Result<Copier> {
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let if_exists = if self.force { IfExists::Replace } else { IfExists::Error };
        let verify = if self.verify { Verify::Values } else { Verify::Nothing };
        let copier = copying::copier(global, progress).memory(memory).if_exists(if_exists).verify(verify);
        self.recoding.apply(self.scratch.iter().fold(copier, Copier::scratch))
    }

    fn print_plan(
        &self,
        plans: &[CopyPlan],
        seconds: Option<f64>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if self.json {
            let plans = Json::Array(plans.iter().map(to_json).collect());
            return Ok(print_json(out, &json!({"arrays": plans, "seconds": seconds}))?);
        }
        for plan in plans {
            writeln!(out, "{}: {}", printable(&plan.path), says(plan.way))?;
            writeln!(out, "  elements       {}", size(plan.bytes))?;
            writeln!(out, "  parts          {}", tuple(&plan.part))?;
            writeln!(out, "  chunks read    {:.2} times", plan.times_read)?;
            writeln!(out, "  elements written {} times", plan.times_written)?;
        }
        if plans.is_empty() {
            writeln!(out, "all chunks are copied unchanged")?;
        } else if let Some(seconds) = seconds {
            writeln!(out, "estimated time   {} (from a sample)", time(seconds))?;
        }
        Ok(())
    }
}

fn says(way: Way) -> &'static str {
    match way {
        Way::Stored => "encoded chunks are copied into other shards",
        Way::Direct => "each thread copies its own regions",
        Way::InMemory => "all threads work on large regions in memory",
        Way::Scratch => "through an uncompressed intermediate array",
        Way::InOrder => "elements are encoded in row-major order",
        Way::InParts => "elements are encoded in regions of whole chunks",
    }
}

fn to_json(plan: &CopyPlan) -> Json {
    let way = match plan.way {
        Way::Stored => "stored",
        Way::Direct => "direct",
        Way::InMemory => "memory",
        Way::Scratch => "scratch",
        Way::InOrder => "in_order",
        Way::InParts => "in_parts",
    };
    json!({
        "path": plan.path.as_str(), "way": way, "bytes": plan.bytes, "part": plan.part.as_slice(),
        "times_read": plan.times_read, "times_written": plan.times_written,
    })
}
