//! `zarrox convert`: converts nodes and hierarchies to another format.

use std::io::Write;

use clap::Args;
use zarrox::{Format, Result};
use zarrox_tools::copy::{Copier, Copying, IfExists, Property, Verify};

use super::copying;
use crate::args::Global;
use crate::exit::{Failure, printable};
use crate::interrupt;
use crate::progress::Progress;
use crate::suggest::{self, suggesting};

/// Convert an array, a group or a whole hierarchy into another format
///
/// With a destination, chunks are copied: unchanged if both formats support the codecs, otherwise decoded and encoded again.
/// Without a destination, the node is converted in place: only its metadata changes. After an interruption, the same command
/// continues.
///
/// Properties that the target format cannot express are reported before anything is written. They are an error unless --allow
/// permits their loss.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The array or group
    source: String,

    /// The destination [default: convert in place]
    destination: Option<String>,

    /// The format: v3, v2 …
    #[arg(long, value_name = "FORMAT", value_parser = suggesting(suggest::parsed::<Format>, suggest::formats), hide_possible_values = true)]
    to: Format,

    /// Print the plan and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Compare all values and chunks at the end [default: only chunks that were encoded again]
    #[arg(long, conflicts_with = "no_verify")]
    verify: bool,

    /// Compare only metadata at the end
    #[arg(long)]
    no_verify: bool,

    /// Allow the loss of properties that the format cannot express: data-types, fill-values, dimension-names, attributes, members,
    /// nodes
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::parsed::<Property>, suggest::losses))]
    allow: Vec<Property>,

    /// Allow the loss of every property that the format cannot express
    #[arg(long, conflicts_with = "allow")]
    lossy: bool,

    /// Keep fill values and the attribute _FillValue unchanged. By default they are adapted so that xarray masks the same
    /// elements: in v2 it masks the fill value, and in v3 the value of the attribute
    #[arg(long)]
    keep_fill_values: bool,

    /// Replace an existing node at the destination
    #[arg(long, visible_alias = "force", requires = "destination")]
    overwrite: bool,

    /// Print the plan or the report as JSON
    #[arg(long)]
    json: bool,
}

impl Convert {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let progress = Progress::new(&self.source, 0);
        let conversion = self.plan(global, &progress)?;
        if self.dry_run && self.json {
            copying::print_json(conversion.reports(), out)?;
            return Ok(conversion.check()?);
        }
        if self.dry_run {
            for line in conversion.to_string().lines() {
                writeln!(out, "{}", printable(line))?;
            }
            return Ok(conversion.check()?);
        }
        for line in conversion.to_string().lines() {
            tracing::info!("{}", printable(line));
        }
        let report = conversion.run()?;
        progress.finish(None);
        if self.json { copying::print_json([&report], out) } else { copying::print_findings(&report, out) }?;
        Ok(())
    }

    fn plan(&self, global: &Global, progress: &Progress) -> Result<Copying> {
        let verify = match (self.verify, self.no_verify) {
            (true, _) => Verify::Everything,
            (_, true) => Verify::Nothing,
            _ => Verify::Reencoded,
        };
        let if_exists = if self.overwrite { IfExists::Replace } else { IfExists::Error };
        let progress = progress.clone();
        let copier = Copier::new().format(self.to).open_options(global.options()).verify(verify);
        let copier = copier.lossy(self.lossy).keep_fill_values(self.keep_fill_values).if_exists(if_exists);
        let copier = self.allow.iter().fold(copier, |copier, property| copier.allow(*property));
        let copier = copier.on_progress(move |done| {
            progress.set(done.done, done.total);
            interrupt::check()
        });
        match &self.destination {
            Some(destination) => copier.plan(&self.source, destination),
            None => copier.plan_in_place(&self.source),
        }
    }
}
