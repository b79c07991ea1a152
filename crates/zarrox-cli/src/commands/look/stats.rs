//! `zarrox stats`: prints statistics of elements.

use std::io::Write;

use clap::Args;
use zarrox::data_type::Number;
use zarrox::json::Json;
use zarrox::{Array, Result};
use zarrox_tools::Statistics;
use zarrox_tools::stats::{Measure, Stats as Found};

use super::along::Along;
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, each, printable, usage};
use crate::interrupt;
use crate::part;
use crate::print::print_json;
use crate::progress::Progress;
use crate::suggest::suggesting;

/// Print statistics of arrays: extremes, mean, standard deviation and number of NaN
///
/// NaN is counted and otherwise ignored. PATH[selection] is a part of an array.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// The arrays, or selections of them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Use only this field of a structured data type
    #[arg(long, value_name = "NAME")]
    field: Option<String>,

    /// Print a histogram with this number of bins
    #[arg(long, value_name = "BINS", num_args = 0..=1, default_missing_value = "10")]
    histogram: Option<usize>,

    /// The start of the first and the end of the last bin, such as 0,100 [default: the extremes, which need a second pass]
    #[arg(
        long,
        value_name = "LOW,HIGH",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "histogram"
    )]
    range: Vec<f64>,

    /// Compute percentiles, such as 5,50,95, in a second pass
    #[arg(long, value_name = "P", value_delimiter = ',')]
    percentiles: Vec<f64>,

    /// List the distinct elements, if there are at most this many
    #[arg(long, value_name = "MOST", num_args = 0..=1, default_missing_value = "100")]
    unique: Option<usize>,

    /// Ignore elements with this missing value, such as -9999 or 1e20
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true)]
    missing: Vec<f64>,

    /// Compute statistics along these axes, by name or number, such as time or 0,-1: an array of each
    #[arg(long, value_name = "AXES", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["histogram", "percentiles", "unique", "missing"])]
    axis: Vec<String>,

    /// The statistics along the axes: count, nan, min, max, mean, std
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "mean", requires = "axis")]
    #[arg(value_parser = suggesting(measure, measures))]
    measure: Vec<Measure>,

    /// Store the statistics along the axes instead of printing them: one as an array at this path, several as arrays of a group
    #[arg(long, short, value_name = "PATH", requires = "axis")]
    output: Option<String>,

    /// The memory limit for chunks in progress
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    max_memory: ByteSize,

    /// Print JSON: an object, or a list of objects for several paths
    #[arg(long)]
    json: bool,
}

impl Stats {
    pub(crate) fn run(mut self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.paths = global.expanded(&self.paths)?;
        interrupt::catch();
        if !self.axis.is_empty() {
            return self.run_along(global, out);
        }
        let mut all = Vec::new();
        let (is_one, mut between) = (self.paths.len() == 1, "");
        let result = each(out, &self.paths, |out, path| {
            let found = self.found(global, path)?;
            if self.json {
                let mut members = found.to_json();
                members.insert("path".to_owned(), path.as_str().into());
                all.push(Json::Object(members));
                return Ok(());
            }
            if !is_one {
                writeln!(out, "{between}{}:", printable(path))?;
                between = "\n";
            }
            Ok(print(&found, out)?)
        });
        if self.json {
            let all = if is_one { all.pop().unwrap_or_default() } else { Json::Array(all) };
            if all != Json::Null {
                print_json(out, &all)?;
            }
        }
        result
    }

    /// Computes statistics along axes.
    fn run_along(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let [path] = self.paths.as_slice() else {
            return Err(usage("--axis takes one array").into());
        };
        let (statistics, array, progress) = self.opened(global, path)?;
        let field = self.field.as_deref();
        let along = Along { path, axes: &self.axis, measures: &self.measure, field, json: self.json };
        match &self.output {
            Some(output) => along.store(global, &statistics, &array, output)?,
            None => along.print(&statistics, &array, out)?,
        }
        progress.finish(None);
        Ok(())
    }

    /// Returns the statistics builder, the array at a path, and the progress, which the builder reports.
    fn opened(&self, global: &Global, path: &str) -> Result<(Statistics, Array, Progress)> {
        let (plain, part) = part::split(path, None)?;
        let array = global.read_array(&plain)?;
        let progress = Progress::new(path, 0);
        let bar = progress.clone();
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let mut statistics = Statistics::new().memory(memory).on_progress(move |done| {
            bar.set(done.done, done.total);
            interrupt::check_or(interrupt::NOTHING_CHANGED)
        });
        if !part.items().is_empty() {
            statistics = statistics.select(part);
        }
        let statistics = self.field.iter().fold(statistics, |statistics, name| statistics.field(name));
        Ok((statistics, array, progress))
    }

    fn found(&self, global: &Global, path: &str) -> Result<Found> {
        let (mut statistics, array, progress) = self.opened(global, path)?;
        statistics = match self.range.as_slice() {
            [] => statistics,
            [low, high] => statistics.range(*low, *high),
            _ => return Err(usage("--range takes two numbers, such as 0,100")),
        };
        if self.histogram == Some(0) {
            return Err(usage("--histogram takes at least one bin"));
        }
        let statistics = statistics.histogram(self.histogram.unwrap_or(0)).unique(self.unique.unwrap_or(0));
        let statistics = statistics.missing(self.missing.iter().copied());
        let found = statistics.percentiles(self.percentiles.iter().copied()).run(&array)?;
        progress.finish(None);
        Ok(found)
    }
}

fn measure(text: &str) -> Result<Measure, String> {
    text.parse().map_err(|error: zarrox::Error| error.to_string())
}

fn measures() -> Vec<String> {
    Measure::ALL.map(|measure| measure.name().to_owned()).into()
}

fn text(number: Number) -> String {
    match number {
        Number::Integer(whole) => whole.to_string(),
        Number::Float(float) => float.to_string(),
        Number::Complex(real, imaginary) => format!("{real}+{imaginary}j"),
    }
}

fn print(found: &Found, out: &mut dyn Write) -> std::io::Result<()> {
    let none = || "-".to_owned();
    let mut lines = vec![
        ("count".to_owned(), found.count.to_string()),
        ("nan".to_owned(), found.nan.to_string()),
        ("min".to_owned(), found.min.map_or_else(none, text)),
        ("max".to_owned(), found.max.map_or_else(none, text)),
        ("mean".to_owned(), found.mean.map_or_else(none, |mean| mean.to_string())),
        ("std".to_owned(), found.std.map_or_else(none, |std| std.to_string())),
    ];
    if found.missing > 0 {
        lines.insert(2, ("missing".to_owned(), found.missing.to_string()));
    }
    let about =
        if found.percentile_error > 0.0 { format!(" ± {}", found.percentile_error) } else { String::new() };
    lines.extend(found.percentiles.iter().map(|(p, value)| (format!("{p}%"), format!("{value}{about}"))));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    for (name, value) in lines {
        writeln!(out, "{name:width$}{value}")?;
    }
    if let Some(histogram) = &found.histogram {
        print_histogram(histogram, out)?;
    }
    if let Some(unique) = &found.unique {
        writeln!(out, "unique")?;
        for (value, count) in unique {
            writeln!(out, "  {}  {count}", printable(value))?;
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the length of a bar"
)]
fn print_histogram(histogram: &zarrox_tools::stats::Histogram, out: &mut dyn Write) -> std::io::Result<()> {
    const BAR: f64 = 40.0;
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let bins = histogram.counts.len() as f64;
    let edge = |bin: usize| histogram.low + (histogram.high - histogram.low) * bin as f64 / bins;
    writeln!(out, "histogram")?;
    for (bin, &count) in histogram.counts.iter().enumerate() {
        let bar = "#".repeat((count as f64 / most * BAR).ceil() as usize);
        let line = format!("  {:>12.6} to {:>12.6} {count:>12} {bar}", edge(bin), edge(bin + 1));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
