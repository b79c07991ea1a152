//! `zarrox demo`: demonstrates the main commands on generated data.

use std::f64::consts::TAU;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::{DataType, Error, Order};

use crate::exit::Failure;
use crate::files::{self, Output};

/// The shape of the elevation model.
const SHAPE: [u64; 2] = [1200, 1600];

/// Demonstrate the main commands on generated data, in a few seconds
///
/// Each step is printed as a shell command, and then run.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Keep the data in this directory, which must not exist [default: a temporary directory, removed at the end]
    directory: Option<PathBuf>,
}

/// A step: its description, and the arguments of the command.
type Step = (&'static str, &'static [&'static str]);

/// The steps. File names are relative to the directory of the demo.
const STEPS: &[Step] = &[
    (
        "Import a NumPy file as a Zarr array with compressed chunks.",
        &[
            "import",
            "hills.npy",
            "hills.zarr/elevation",
            "--chunks=200,200",
            "--compressor=zstd:5",
            "--dimension-names=y,x",
            r#"--attrs={"units": "m"}"#,
        ],
    ),
    ("List the nodes of the hierarchy: one array.", &["tree", "hills.zarr"]),
    (
        "Show the properties of the array: shape, data type, chunks, codecs and stored size.",
        &["info", "hills.zarr/elevation"],
    ),
    (
        "Print every 300th elevation, selected as in NumPy. Only the chunks with these elements are read.",
        &["dump", "hills.zarr/elevation[::300, ::200]"],
    ),
    (
        "Export a region to a NumPy file, and append it to the array as new rows.",
        &["export", "hills.zarr/elevation[:400]", "north.npy"],
    ),
    ("", &["import", "north.npy", "hills.zarr/elevation", "--append=0"]),
    (
        "Convert the hierarchy to Zarr v2, for older programs.",
        &["convert", "hills.zarr", "old.zarr", "--to=v2"],
    ),
    ("", &["tree", "old.zarr"]),
];

/// A function that runs a command line. The first word is the name of the program.
type RunLine = fn(Vec<String>, &mut dyn Write) -> Result<(), Failure>;

impl Demo {
    pub(crate) fn run(&self, out: &mut dyn Write, run_line: RunLine) -> Result<(), Failure> {
        let temporary;
        let directory = match &self.directory {
            Some(directory) => new_directory(directory)?,
            None => {
                temporary =
                    tempfile::tempdir().map_err(|error| files::failed("creating a directory", error))?;
                temporary.path()
            }
        };
        write_hills(&directory.join("hills.npy"))?;
        for (purpose, arguments) in STEPS {
            if !purpose.is_empty() {
                writeln!(out, "\n# {purpose}")?;
            }
            writeln!(out, "$ zarrox {}", line(arguments))?;
            out.flush()?;
            run_line(placed(arguments, directory), out)?;
        }
        match &self.directory {
            Some(directory) => writeln!(out, "\nAll files are in {}.", directory.display())?,
            None => writeln!(out, "\nTo keep these files, name a directory: zarrox demo DIRECTORY")?,
        }
        Ok(())
    }
}

fn new_directory(directory: &Path) -> Result<&Path, Error> {
    let made = std::fs::create_dir(directory);
    made.map_err(|error| files::failed(&format!("creating the directory '{}'", directory.display()), error))?;
    Ok(directory)
}

/// Returns the arguments of a step, with the paths of the files.
fn placed(arguments: &[&str], directory: &Path) -> Vec<String> {
    let is_file = |argument: &str| [".npy", ".zarr"].iter().any(|ending| argument.contains(ending));
    let placed = arguments.iter().map(|argument| match is_file(argument) {
        true => directory.join(argument).to_string_lossy().into_owned(),
        false => (*argument).to_owned(),
    });
    std::iter::once("zarrox".to_owned()).chain(placed).collect()
}

/// Returns the arguments, quoted for a shell.
fn line(arguments: &[&str]) -> String {
    let needs_quotes = |argument: &str| argument.contains(|letter| "[]{}:\" ".contains(letter));
    let quoted = arguments.iter().map(|argument| match argument.split_once('=') {
        Some((name, value)) if needs_quotes(value) => format!("{name}='{value}'"),
        None if needs_quotes(argument) => format!("'{argument}'"),
        _ => (*argument).to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Writes elevations in metres to a NumPy file: the sum of long and short waves.
fn write_hills(path: &Path) -> Result<(), Error> {
    let endian = ByteOrder::One(Endian::Little);
    let header = zarrox_files::npy::header(&DataType::Int16, &endian, Order::RowMajor, &SHAPE)?;
    let mut output = Output::create(path, false)?;
    let [rows, columns] = SHAPE;
    let elements = (0..rows).flat_map(|row| (0..columns).map(move |column| elevation(row, column)));
    let bytes: Vec<u8> = header.into_iter().chain(elements.flat_map(i16::to_le_bytes)).collect();
    output.write_all(&bytes).map_err(|error| files::failed("writing the elevations", error))?;
    output.finish()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "elevations are a few hundred metres"
)]
fn elevation(row: u64, column: u64) -> i16 {
    let wave = |octave: i32| {
        let length = 640.0 / f64::from(1 << octave);
        let (y, x) = (row as f64 / length, column as f64 / length);
        let turn = f64::from(octave) * 0.7;
        (TAU * (y * turn.cos() + x * turn.sin())).sin() * (TAU * (x - y / 2.0)).cos() / f64::from(1 << octave)
    };
    (600.0 + 300.0 * (0..5).map(wave).sum::<f64>()) as i16
}
