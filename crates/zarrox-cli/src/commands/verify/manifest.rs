//! `zarrox manifest`: lists stored objects with their hashes, and verifies copies against this list.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use zarrox::json;
use zarrox::stores::internals::strip_file_scheme;
use zarrox::{Error, ErrorKind, Result};
use zarrox_tools::manifest::{Manifest as Library, Verified};

use crate::args::Global;
use crate::exit::{Failure, printable, usage};
use crate::files::{self, Output};
use crate::interrupt;
use crate::progress::Progress;

/// List stored objects with their hashes, and verify a copy against the list
///
/// A manifest has a JSON line for each stored object, with its key, its size and its BLAKE3 hash. It is independent of the store:
/// the manifest of a directory verifies an archive or a bucket.
#[derive(Debug, Args)]
pub(crate) struct Manifest {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the manifest of all stored objects at a path and below
    Write {
        /// The array, group or hierarchy
        path: String,
        /// The file [default: the standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace an existing file
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Compare all stored objects at a path and below with a manifest, and print each difference
    ///
    /// Differences are missing, added and changed objects, and pairs with swapped content. The exit code is 5 if there are
    /// differences, and 2 if the manifest itself was truncated or changed.
    Verify {
        /// The array, group or hierarchy
        path: String,
        /// The manifest, or - for the standard input
        manifest: PathBuf,
        /// Print the differences as JSON, one per line
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

/// Returns the library's manifest operations for a path, and the progress of these operations.
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

/// Fails if the output file is inside the hierarchy, where it would itself be one of the listed objects.
fn check_outside(path: &str, file: &Path) -> Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = strip_file_scheme(path).unwrap_or(path);
    if let (Ok(place), Ok(directory)) = (fs::canonicalize(place), fs::canonicalize(directory))
        && directory.starts_with(&place)
    {
        let message =
            format!("'{}' is inside '{path}'; write the manifest outside of the hierarchy", file.display());
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
    let mut printed = Ok(());
    let verified = library.verify(path, &mut input, &mut |finding| {
        let line = if json { json::to_line(&finding.to_json()) } else { printable(&finding.to_string()) };
        printed = writeln!(out, "{line}");
        match &printed {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Interrupted, "the output was closed")),
        }
    });
    printed?;
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
    format!("'{path}' differs from the manifest: {}, and {same} unchanged", counts.join(", "))
}
