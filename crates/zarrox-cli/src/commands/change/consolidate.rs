//! `zarrox consolidate`: writes the metadata of a whole hierarchy to one document.

use std::io::Write;

use clap::Args;
use zarrox::json::Json;
use zarrox::{Consolidated, Error, ErrorKind};

use crate::args::Global;
use crate::exit::{Failure, printable};
use crate::print::print_json;

/// Write the consolidated metadata of a group
///
/// Consolidated metadata is one document with copies of the documents of all nodes below the group, so that one read opens the
/// whole hierarchy. The other commands update it; other programs may not. --check and `info` show whether it is up to date.
#[derive(Debug, Args)]
pub(crate) struct Consolidate {
    /// The group
    path: String,

    /// Write nothing, and list the nodes whose consolidated metadata is missing or out of date
    #[arg(long)]
    check: bool,

    /// With --check, print the differences as a JSON list
    #[arg(long, requires = "check")]
    json: bool,

    /// Remove the consolidated metadata
    #[arg(long, conflicts_with = "check")]
    remove: bool,
}

impl Consolidate {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let group = global.options().consolidated(Consolidated::Never).open(&self.path)?.into_group()?;
        if self.remove {
            group.drop_consolidated_metadata()?;
            return Ok(group.flush()?);
        }
        if !self.check {
            group.consolidate_metadata()?;
            return Ok(group.flush()?);
        }
        let differences = group.check_consolidated()?;
        if self.json {
            let texts = differences.iter().map(|difference| Json::from(difference.to_string()));
            print_json(out, &Json::Array(texts.collect()))?;
        } else {
            for difference in &differences {
                writeln!(out, "{}", printable(&difference.to_string()))?;
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the consolidated metadata of '{}' is out of date; run `zarrox consolidate` again",
            self.path
        );
        Err(Error::new(ErrorKind::InvalidMetadata, message).into())
    }
}
