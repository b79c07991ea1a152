//! `zarrox cp`: copies nodes and hierarchies.

use std::io::Write;
use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use zarrox::Result;
use zarrox_tools::Glob;
use zarrox_tools::copy::{Copier, CopyReport, Copying, IfExists, Property, Verify};

use super::copying;
use super::recoding::Recoding;
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, each, printable, usage};
use crate::interrupt;
use crate::part;
use crate::progress::Progress;
use crate::suggest::{self, suggesting};

/// Copy arrays, groups and hierarchies between any stores and formats
///
/// DST becomes a copy of SRC. With several SRC, or if DST ends with a slash, each copy is stored in the group DST under the name
/// of its SRC. PATH[selection] or --select copies a part of an array. --format sets the format of the copy; the default is the
/// format of the group above it, or otherwise that of the source.
///
/// Encoded chunks are copied byte for byte if both sides have the same chunks and codecs. Otherwise chunks are decoded and
/// encoded. Chunks are stored first and documents last, so that an interrupted copy is never mistaken for a complete one; the
/// same command continues it.
#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// The arrays and groups, and the destination
    #[arg(value_name = "SRC… DST", required = true, num_args = 2..)]
    paths: Vec<String>,

    /// Copy only this part of the array, such as [:100,::2]
    #[arg(long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,

    /// Copy only arrays whose name or path, or that of a group above them, matches this pattern; can be repeated
    #[arg(long, value_name = "GLOB")]
    include: Vec<Glob>,

    /// Exclude nodes whose name or path matches this pattern, with all nodes below them; can be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<Glob>,

    #[command(flatten)]
    recoding: Recoding,

    /// When the format changes, keep fill values and the attribute _FillValue unchanged, although xarray then masks other elements
    #[arg(long)]
    keep_fill_values: bool,

    /// Write consolidated metadata for the copy, even if the source has none
    #[arg(long)]
    consolidate: bool,

    /// The action for nodes that exist at the destination
    #[arg(long, value_name = "DO", default_value = "error")]
    if_exists: Existing,

    /// Replace nodes that exist at the destination; the same as --if-exists replace
    #[arg(long, conflicts_with = "if_exists")]
    force: bool,

    /// The values to compare with the source at the end
    #[arg(long, value_name = "WHAT", default_value = "encoded")]
    verify: Comparison,

    /// Print the plan and its totals, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Skip damaged chunks of the source where chunks are decoded, and list them
    #[arg(long)]
    skip_damaged: bool,

    /// Allow the loss of properties that the format of the copy cannot express: data-types, fill-values, dimension-names,
    /// attributes, members, nodes
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::parsed::<Property>, suggest::losses))]
    allow: Vec<Property>,

    /// The number of chunks that are copied concurrently [default: chosen for the stores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// The maximum number of bytes of the source that are copied per second, such as 20MiB
    #[arg(long, value_name = "SIZE")]
    max_rate: Option<ByteSize>,

    /// The memory limit for chunks in progress
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    max_memory: ByteSize,

    /// Stop at the first SRC that fails [default: copy the others, and fail at the end]
    #[arg(long)]
    fail_fast: bool,

    /// Print the plan or the report as JSON
    #[arg(long)]
    json: bool,
}

/// The action for nodes that exist at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Existing {
    /// Fail
    Error,
    /// Keep them, and copy missing nodes
    Skip,
    /// Delete them first
    Replace,
    /// Copy missing and different nodes and chunks
    Update,
}

/// The values that are compared with the source after the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Comparison {
    /// Nothing
    None,
    /// The values of arrays whose chunks were encoded again
    Encoded,
    /// The same, and the bytes of all copied chunks
    Stored,
    /// All values, decoded
    Values,
}

impl Cp {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let Some((destination, sources)) = self.paths.split_last() else { return Ok(()) };
        let into = sources.len() > 1 || destination.ends_with('/');
        let copy = |out: &mut dyn Write, source: &String| {
            let target = if into { inside(destination, source)? } else { destination.clone() };
            self.copy(global, source, &target, out)
        };
        match sources {
            [source] => copy(out, source),
            _ if self.fail_fast => sources.iter().try_for_each(|source| copy(out, source)),
            _ => each(out, sources, copy),
        }
    }

    fn copy(
        &self,
        global: &Global,
        source: &str,
        destination: &str,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (path, part) = part::split(source, self.select.as_deref())?;
        let progress = Progress::new(source, 0);
        let mut copier = self.copier(global, &progress)?;
        if !part.items().is_empty() {
            copier = copier.select(part);
        }
        let copying = copier.plan(path, destination)?;
        if self.dry_run {
            print_plan(&copying, self.json, out)?;
            return Ok(copying.check()?);
        }
        for report in copying.reports() {
            report.to_string().lines().for_each(|line| tracing::info!("{}", printable(line)));
        }
        let report = copying::with_advice(copying.run())?;
        progress.finish(None);
        print_done(&report, self.json, out)
    }

    fn copier(&self, global: &Global, progress: &Progress) -> Result<Copier> {
        let verify = match self.verify {
            Comparison::None => Verify::Nothing,
            Comparison::Encoded => Verify::Reencoded,
            Comparison::Stored => Verify::Everything,
            Comparison::Values => Verify::Values,
        };
        let if_exists = match self.if_exists {
            _ if self.force => IfExists::Replace,
            Existing::Error => IfExists::Error,
            Existing::Skip => IfExists::Skip,
            Existing::Replace => IfExists::Replace,
            Existing::Update => IfExists::Update,
        };
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let copier = copying::copier(global, progress).verify(verify).if_exists(if_exists).memory(memory);
        let copier = copier.keep_fill_values(self.keep_fill_values);
        let copier = copier.skip_damaged(self.skip_damaged).consolidate(self.consolidate);
        let copier = self.jobs.iter().fold(copier, |copier, jobs| copier.jobs(jobs.get()));
        let copier = self.allow.iter().fold(copier, |copier, what| copier.allow(*what));
        let copier = self.include.iter().cloned().fold(copier, Copier::include);
        let copier = self.exclude.iter().cloned().fold(copier, Copier::exclude);
        let copier = self.max_rate.iter().fold(copier, |copier, rate| copier.max_rate(rate.0));
        self.recoding.apply(copier)
    }
}

/// Returns the path of a copy in a group.
fn inside(group: &str, source: &str) -> Result<String> {
    let (path, _) = part::split(source, None)?;
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.is_empty() || name == "." || name == ".." {
        return Err(usage(format!(
            "'{source}' has no name for its copy in '{group}'; give the full destination"
        )));
    }
    Ok(format!("{}/{name}", group.trim_end_matches('/')))
}

fn print_plan(copying: &Copying, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        return Ok(copying::print_json(copying.reports(), out)?);
    }
    for report in copying.reports() {
        for line in report.to_string().lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    let (chunks, bytes) = (copying.chunks(), copying.bytes());
    let nodes: usize = copying.reports().map(|report| report.nodes.len()).sum();
    Ok(writeln!(out, "total: {nodes} nodes, {chunks} chunks, {bytes} bytes")?)
}

fn print_done(report: &CopyReport, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        copying::print_json([report], out)?;
    } else {
        copying::print_findings(report, out)?;
    }
    copying::check_skipped(report, out)
}
