//! `zarrox manifest`: lists of what is stored, and the comparison with them.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use zarrox::json;
use zarrox::{Error, ErrorKind, Result};
use zarrox_tools::manifest::{Manifest as Library, Verified};

use crate::args::Global;
use crate::exit::{Failure, printable, usage};
use crate::files::{self, Output};
use crate::interrupt;
use crate::progress::Progress;

/// List all that is stored with its hashes, and compare a copy with such a list
///
/// A manifest has a line of JSON for each stored key, with the size and the BLAKE3 of its value. It is the same wherever the values are
/// stored: the manifest of a directory verifies an archive or a bucket.
#[derive(Debug, Args)]
pub(crate) struct Manifest {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the manifest of all that is stored at a path and below
    Write {
        /// The array, the group or the hierarchy
        path: String,
        /// The file [default: the standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Compare all that is stored at a path and below with a manifest, and print each difference
    ///
    /// Found are missing, added and changed values, and pairs that were swapped. The exit code is 5 if there is any difference, and 2 if
    /// the manifest itself was cut off or changed.
    Verify {
        /// The array, the group or the hierarchy
        path: String,
        /// The manifest; `-` is the standard input
        manifest: PathBuf,
        /// Print the differences as JSON, one a line
        #[arg(long)]
        json: bool,
    },
}

impl Manifest {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        match &self.action {
            Action::Write { path, output, force } => write(global, path, output.as_deref(), *force, out),
            Action::Verify { path, manifest, json } => verify(global, path, manifest, *json, out),
        }
    }
}

/// The work on a path, and the progress that it shows.
fn library(global: &Global, path: &str) -> (Library, Progress) {
    let progress = Progress::new(path, 0);
    let bar = progress.clone();
    let library = Library::new().open_options(global.options()).on_progress(move |done| {
        bar.set(done.done, done.total);
        interrupt::check()
    });
    (library, progress)
}

fn write(
    global: &Global,
    path: &str,
    output: Option<&Path>,
    force: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (library, progress) = library(global, path);
    let Some(file) = output else {
        library.write(path, out)?;
        progress.finish(None);
        return Ok(());
    };
    check_outside(path, file)?;
    let mut output = BufWriter::new(Output::create(file, force)?);
    library.write(path, &mut output)?;
    output.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    progress.finish(None);
    Ok(())
}

/// Refuses a file in the hierarchy itself: it would be one of the values.
fn check_outside(path: &str, file: &Path) -> Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = path.strip_prefix("file://").unwrap_or(path);
    if let (Ok(place), Ok(directory)) = (fs::canonicalize(place), fs::canonicalize(directory))
        && directory.starts_with(&place)
    {
        let message =
            format!("'{}' lies in '{path}', where the manifest would be one of the values", file.display());
        return Err(usage(message));
    }
    Ok(())
}

fn verify(
    global: &Global,
    path: &str,
    manifest: &Path,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (library, progress) = library(global, path);
    let mut input: Box<dyn BufRead> = match manifest.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(files::open(manifest)?)),
    };
    let mut told = Ok(());
    let verified = library.verify(path, &mut input, &mut |finding| {
        let line = if json { json::to_line(&finding.to_json()) } else { printable(&finding.to_string()) };
        told = writeln!(out, "{line}");
        match &told {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Interrupted, "nobody reads the differences")),
        }
    });
    told?;
    let verified = verified?;
    progress.finish(None);
    match verified.is_same() {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Corrupt, summary(path, &verified)).into()),
    }
}

fn summary(path: &str, verified: &Verified) -> String {
    let Verified { same, missing, added, changed, swapped, unreadable } = *verified;
    let counts = [
        (missing, "missing"),
        (added, "added"),
        (changed, "changed"),
        (swapped, "swapped"),
        (unreadable, "unreadable"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!(
        "'{path}' is not what the manifest says: {} of its keys, and {same} as they were",
        counts.join(", ")
    )
}
