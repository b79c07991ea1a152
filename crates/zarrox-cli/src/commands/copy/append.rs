//! `zarrox append`: appends the elements of a file or a pipe to an array.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use clap::Args;
use zarrox::data_type::Storage;
use zarrox::json::{self, Json};
use zarrox::{Array, DynArray, Error, ErrorKind, Result};
use zarrox_files::npy;

use super::import::{Appended, append_to};
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, usage};
use crate::files::{self, failed};
use crate::interrupt;
use crate::part;

/// The maximum number of table cells that are converted at a time.
const CELLS: usize = 1 << 16;

/// Append the elements of a file or a pipe to an array: .npy, .csv or raw elements
///
/// The shape must match that of the array in all dimensions but the axis. A table has one line for each row, with numbers
/// separated by commas. Raw elements have the array's data type. Rows of tables and raw elements from a pipe are first written to
/// a temporary file, since their number must be known. If an append fails or is interrupted, the array stays unchanged.
#[derive(Debug, Args)]
pub(crate) struct Append {
    /// The array
    path: String,

    /// The file, or - for the standard input
    #[arg(value_name = "FILE")]
    input: String,

    /// The axis, by name or number
    #[arg(long, value_name = "AXIS", default_value = "0", allow_hyphen_values = true)]
    axis: String,

    /// The format of the content [default: detected from the first bytes and the name]
    #[arg(long, value_name = "KIND", value_parser = ["npy", "csv", "raw"])]
    from: Option<String>,

    /// The number of header lines of a table to skip
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    skip: u64,

    /// The approximate memory limit
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,
}

impl Append {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        interrupt::catch();
        let array = global.read_array(&self.path)?;
        let axis = match part::axes(&array, std::slice::from_ref(&self.axis))?.as_slice() {
            [axis] => *axis,
            _ => return Err(usage("--axis takes one axis").into()),
        };
        let mut input = self.open()?;
        let start =
            input.fill_buf().map_err(|error| failed(&format!("reading {}", self.name()), error))?.to_vec();
        let kind = self.kind(&start)?;
        if kind != "npy" && array.data_type().storage() == Storage::Variable {
            let message = format!(
                "elements of {} have no fixed size, so that raw bytes cannot be split into elements",
                array.data_type()
            );
            return Err(usage(message).into());
        }
        let appended = match kind {
            "npy" => Appended::Npy(input),
            "csv" => Appended::Raw(self.of_table(&array, input)?, &self.input),
            _ => Appended::Raw(self.of_raw(input)?, &self.input),
        };
        Ok(append_to(&self.path, axis, (appended, &self.name()), self.memory, global)?)
    }

    /// Returns the name of the input, for error messages.
    fn name(&self) -> String {
        if self.input == "-" { "the standard input".to_owned() } else { format!("'{}'", self.input) }
    }

    fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        if self.input == "-" {
            return Ok(Box::new(BufReader::new(io::stdin())));
        }
        Ok(Box::new(BufReader::new(files::open(Path::new(&self.input))?)))
    }

    /// Returns the kind of the input, which is detected from its first bytes or from the name of the file.
    fn kind(&self, start: &[u8]) -> Result<&str> {
        if let Some(kind) = &self.from {
            return Ok(kind);
        }
        let extension = Path::new(&self.input).extension().and_then(|end| end.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            _ if start.starts_with(npy::MAGIC) => Ok("npy"),
            _ if start.starts_with(b"PK") => Err(usage(
                "an .npz file has several arrays; zarrox import --append --member takes one of them",
            )),
            "csv" | "txt" => Ok("csv"),
            "raw" | "bin" => Ok("raw"),
            _ => Err(usage(format!(
                "{} is not an .npy file; choose its format with --from csv or --from raw",
                self.name()
            ))),
        }
    }

    /// Returns a file with the raw elements.
    fn of_raw(&self, mut input: impl Read) -> Result<File> {
        if self.input != "-" && Path::new(&self.input).is_file() {
            return files::open(Path::new(&self.input));
        }
        let failing = |error| failed(&format!("reading {}", self.name()), error);
        let mut file = tempfile::tempfile().map_err(|error| failed("making a temporary file", error))?;
        io::copy(&mut input, &mut file).map_err(failing)?;
        file.rewind().map_err(failing)?;
        Ok(file)
    }

    /// Converts the cells of a table to a file of raw elements.
    fn of_table(&self, array: &Array, input: impl BufRead) -> Result<File> {
        let writing = |error| failed("writing a temporary file", error);
        let file = tempfile::tempfile().map_err(|error| failed("making a temporary file", error))?;
        let mut file = BufWriter::new(file);
        let (mut cells, mut width) = (Vec::new(), None);
        let mut flush = |cells: &mut Vec<Json>| -> Result<()> {
            let registry = zarrox::codecs::registry();
            let list = Json::Array(std::mem::take(cells));
            let values = DynArray::from_json(array.data_type().clone(), &list, &registry)?;
            file.write_all(values.as_bytes()).map_err(writing)
        };
        for (number, line) in (1..).zip(input.lines()).skip(usize::try_from(self.skip).unwrap_or(usize::MAX))
        {
            interrupt::check()?;
            let line = line.map_err(|error| failed(&format!("reading {}", self.name()), error))?;
            if line.trim().is_empty() {
                continue;
            }
            let before = cells.len();
            cells.extend(line.split(',').map(|text| cell(text.trim())));
            let count = cells.len() - before;
            if *width.get_or_insert(count) != count {
                let message =
                    format!("line {number} of {} has {count} cells, unlike the lines before", self.name());
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            if cells.len() >= CELLS {
                flush(&mut cells).map_err(|error| self.in_line(number, &error))?;
            }
        }
        flush(&mut cells).map_err(|error| self.in_line(0, &error))?;
        let mut file = file.into_inner().map_err(|error| writing(error.into_error()))?;
        file.rewind().map_err(writing)?;
        Ok(file)
    }

    fn in_line(&self, number: u64, error: &Error) -> Error {
        let place = if number > 0 { format!("before line {number}") } else { "in the last lines".to_owned() };
        let hint = if self.skip == 0 { "; --skip 1 skips a header line" } else { "" };
        Error::new(ErrorKind::Corrupt, format!("{} {place}: {error}{hint}", self.name()))
    }
}

/// Parses the value of a cell as JSON. A value that is not JSON is taken as a string.
fn cell(text: &str) -> Json {
    match text {
        "nan" => Json::from(f64::NAN),
        _ => json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(text)),
    }
}
