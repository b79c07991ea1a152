//! `zarrox validate-ome`: validates OME-Zarr metadata.

use std::io::Write;

use clap::Args;
use zarrox::json::json;
use zarrox::{ErrorKind, Result};
use zarrox_images::ome::Severity;
use zarrox_images::ome::validate::{self, Issue};

use crate::args::Global;
use crate::exit::{Failure, each, printable};
use crate::interrupt;

/// Validate the metadata of OME-Zarr images, labels, plates and collections (0.4 and 0.5)
///
/// The metadata of a group, and of all nodes that it refers to, is compared with the specification and with the stored arrays.
/// Chunks are not read. Each finding is one line; findings lead to the exit code 5. With --errors, warnings are ignored.
#[derive(Debug, Args)]
pub(crate) struct ValidateOme {
    /// The groups
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Ignore warnings, which concern recommendations
    #[arg(long)]
    errors: bool,

    /// Print JSON: one finding per line
    #[arg(long)]
    json: bool,
}

impl ValidateOme {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let mut is_clean = true;
        each(out, &self.paths, |out, path| {
            let findings = validate::validate_with(&global.options(), path)?;
            let findings: Vec<&Issue> = findings
                .iter()
                .filter(|finding| !self.errors || finding.severity == Severity::Error)
                .collect();
            is_clean &= findings.is_empty();
            for finding in &findings {
                let line = if self.json { to_json(path, finding) } else { printable(&finding.to_string()) };
                writeln!(out, "{line}")?;
            }
            if !self.json {
                let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
                let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
                match errors + warnings {
                    0 => writeln!(out, "{}: valid", printable(path))?,
                    _ => writeln!(out, "{}: {errors} errors, {warnings} warnings", printable(path))?,
                }
            }
            Ok(())
        })?;
        // Each finding was printed.
        if is_clean { Ok(()) } else { Err(Failure::Reported(ErrorKind::Corrupt)) }
    }
}

fn to_json(root: &str, finding: &Issue) -> String {
    let Issue { path, severity, message, .. } = finding;
    json!({"root": root, "severity": severity.name(), "path": path.as_str(), "message": message.as_str()})
        .to_string()
}
