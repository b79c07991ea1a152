//! `zarrox diff`: compares two nodes.

use std::io::Write;

use clap::Args;
use zarrox::Result;
use zarrox::json::{Json, json};
use zarrox_tools::diff::{Diff as Comparison, Difference, DifferenceKind};

use crate::args::{ByteSize, Global};
use crate::exit::{Failure, printable};
use crate::interrupt;
use crate::print::print_json;
use crate::progress::Progress;

/// Compare two arrays, groups or hierarchies: structure, metadata, attributes and values
///
/// Formats, stores, chunks and codecs may differ. Exit codes: 0 if both are equal, 1 if they differ, 2 if they cannot be
/// compared, 8 if memory, input or output failed.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The first array or group
    a: String,

    /// The second array or group
    b: String,

    /// The relative tolerance: a fraction of the number in B
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, hide_default_value = true)]
    rtol: f64,

    /// The absolute tolerance
    #[arg(long, value_name = "SIZE", default_value_t = 0.0, hide_default_value = true)]
    atol: f64,

    /// Treat NaN as equal to NaN
    #[arg(long, value_name = "true|false", default_value_t = true, action = clap::ArgAction::Set, hide_possible_values = true)]
    equal_nan: bool,

    /// Do not compare values
    #[arg(long)]
    metadata_only: bool,

    /// Compare stored bytes first where chunks and codecs are the same, and decode only chunks that differ
    #[arg(long)]
    stored: bool,

    /// Print the number of differing values and the largest difference, instead of values
    #[arg(long)]
    stat: bool,

    /// The maximum number of values to print for each array
    #[arg(long, value_name = "N", default_value_t = 10)]
    max: usize,

    /// The memory limit for chunks in progress
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    max_memory: ByteSize,

    /// Print JSON: an object with `same` and a list of `differences`
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let mut found = Vec::new();
        let mut printed = Ok(());
        let compared = self.compare(global, &mut |difference| {
            if self.json {
                found.push(difference.to_json());
            } else if printed.is_ok() {
                printed = self.print(&difference, out);
                found.push(Json::Null);
            }
            Ok(())
        });
        printed?;
        compared.map_err(Failure::Trouble)?;
        let same = found.is_empty();
        if self.json {
            let differences = Json::Array(found);
            print_json(out, &json!({"same": same, "differences": differences}))?;
        }
        if same { Ok(()) } else { Err(Failure::Different) }
    }

    fn compare(&self, global: &Global, tell: &mut dyn FnMut(Difference) -> Result<()>) -> Result<()> {
        let tolerance = |value: f64, name: &str| match value >= 0.0 {
            true => Ok(value),
            false => Err(crate::exit::usage(format!("{name} must not be negative"))),
        };
        let progress = Progress::new(&self.a, 0);
        let bar = progress.clone();
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let comparison = Comparison::new()
            .rtol(tolerance(self.rtol, "--rtol")?)
            .atol(tolerance(self.atol, "--atol")?)
            .equal_nan(self.equal_nan)
            .metadata_only(self.metadata_only)
            .stored(self.stored)
            .max_values(if self.stat { 0 } else { self.max })
            .memory(memory)
            .on_progress(move |done| {
                bar.set(done.done, done.total);
                interrupt::check_or(interrupt::NOTHING_CHANGED)
            });
        let (a, b) = if self.metadata_only {
            (global.look(&self.a)?, global.look(&self.b)?)
        } else {
            (global.read(&self.a)?, global.read(&self.b)?)
        };
        comparison.run(&a, &b, |difference| progress.aside(|| tell(difference)))?;
        progress.finish(None);
        Ok(())
    }

    fn print(&self, difference: &Difference, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{}", printable(&difference.to_string()))?;
        let DifferenceKind::Values(values) = &difference.kind else { return Ok(()) };
        for pair in &values.first {
            writeln!(out, "  {:?}: {} and {}", pair.index, printable(&pair.left), printable(&pair.right))?;
        }
        let rest = values.count - values.first.len() as u64;
        if rest > 0 && !self.stat {
            writeln!(out, "  and {rest} more")?;
        }
        Ok(())
    }
}
