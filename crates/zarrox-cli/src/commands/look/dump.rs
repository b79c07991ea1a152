//! `zarrox dump`: prints elements.

use std::io::{self, Write};

use clap::Args;
use zarrox::{Array, DynArray, Registry, Result, Selection};

use super::cells::push_cells;
use super::columns::{self, Form};
use crate::args::{ByteSize, Global};
use crate::edges::Edges;
use crate::exit::{Failure, printable};
use crate::part::Part;
use crate::print::{self, Columns, Cursor, Extent, Printer, THRESHOLD};
use crate::window::Window;

/// Print elements as NumPy does
///
/// If there are more than 1000 elements, only those at the edges are printed, unless --full is given.
#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// The array, or a selection: 'a.zarr/t2m[-1, ::90, ...]'
    path: String,

    #[command(flatten)]
    part: Part,

    /// Print all elements, regardless of their number
    #[arg(long)]
    full: bool,

    /// Print all elements as CSV: a line for each row along the last dimension, and a cell for each field of a structured data type
    #[arg(long, conflicts_with = "full")]
    csv: bool,

    /// Print all elements as nested JSON lists, with bytes and dates as text, as --csv does
    #[arg(long, conflicts_with_all = ["full", "csv"])]
    json: bool,

    /// Print one-dimensional arrays of a group side by side, such as time,lat,temp: a table, or with --csv and --json lines of
    /// CSV or JSON
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "fields")]
    columns: Vec<String>,

    /// The approximate memory limit
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    memory: ByteSize,
}

impl Dump {
    /// Creates the command for a part of an array.
    pub(super) fn new(path: String, part: Part, csv: bool, json: bool) -> Self {
        Self { path, part, full: false, csv, json, columns: Vec::new(), memory: ByteSize(64 << 20) }
    }

    /// Prints an array as NumPy does.
    pub(super) fn print_array(array: &Array, out: &mut dyn Write) -> Result<(), Failure> {
        let part = Part::of(String::new(), Vec::new());
        Self::new(String::new(), part, false, false).print(array, &Selection::all(), out)
    }

    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let (path, selection) = self.part.target(&self.path)?;
        if !self.columns.is_empty() {
            let form = match (self.csv, self.json) {
                (true, _) => Form::Csv,
                (_, true) => Form::JsonLines,
                _ => Form::Table { full: self.full },
            };
            let group = global.read(&path)?.into_group()?;
            return columns::print(&group, &self.columns, &selection, form, self.memory.0, out);
        }
        self.print(&global.read_array(&path)?, &selection, out)
    }

    fn print(&self, array: &Array, selection: &Selection, out: &mut dyn Write) -> Result<(), Failure> {
        let window = Window::new(array, selection, &self.part.fields)?;
        let registry = zarrox::codecs::registry();
        match () {
            () if self.csv => self.print_csv(&window, &registry, out),
            () if self.json => self.print_json(&window, &registry, out),
            () if window.shape().is_empty() => self.print_scalar(&window, &registry, out),
            () if window.len() == 0 => Ok(writeln!(out, "[]")?),
            () if self.full || window.len() <= THRESHOLD => self.print_all(&window, &registry, out),
            () => print_edges(&window, &registry, out),
        }
    }

    /// Prints every element of a window in order.
    fn each(
        &self,
        window: &Window<'_>,
        mut show: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for block in window.in_order(self.memory.0)? {
            window.read(&block)?.elements().try_for_each(&mut show)?;
        }
        Ok(())
    }

    fn print_scalar(
        &self,
        window: &Window<'_>,
        registry: &Registry,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        self.each(window, |element| {
            let text = print::scalar(window.data_type(), element, registry)?;
            Ok(writeln!(out, "{}", printable(&text))?)
        })
    }

    /// Reads and prints all elements. They are read twice, since the width of the columns is known only after the first pass.
    fn print_all(
        &self,
        window: &Window<'_>,
        registry: &Registry,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let extent = if self.full { Extent::Full } else { Extent::Summary };
        let mut columns = Columns::new(window.data_type(), registry, extent)?;
        self.each(window, |element| {
            columns.observe(element);
            Ok(())
        })?;
        let shape = window.shape();
        let nothing_elided = vec![false; shape.len()];
        let mut printer = Printer::new(out, shape, nothing_elided);
        self.each(window, |element| Ok(printer.push(&printable(&columns.format(element)))?))?;
        Ok(printer.finish()?)
    }

    fn print_csv(
        &self,
        window: &Window<'_>,
        registry: &Registry,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let shape = window.shape();
        // A one-dimensional array is printed as a column, as in NumPy's `savetxt`.
        let mut cursor = Cursor::new(if shape.len() < 2 { vec![window.len(), 1] } else { shape });
        let mut cells = Vec::new();
        self.each(window, |element| {
            if !cursor.is_first() {
                out.write_all(if cursor.begun() > 0 { b"\n" } else { b"," })?;
            }
            cells.clear();
            push_cells(window.data_type(), element, registry, &mut cells)?;
            for (nth, cell) in cells.iter().enumerate() {
                write!(out, "{}{cell}", if nth == 0 { "" } else { "," })?;
            }
            cursor.advance();
            Ok(())
        })?;
        if window.len() > 0 {
            writeln!(out)?;
        }
        Ok(())
    }

    fn print_json(
        &self,
        window: &Window<'_>,
        registry: &Registry,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if window.len() == 0 {
            write_empty(&window.shape(), out)?;
            return Ok(writeln!(out)?);
        }
        let data_type = window.data_type();
        let ndim = window.shape().len();
        let mut cursor = Cursor::new(window.shape());
        self.each(window, |element| {
            let begun = cursor.begun();
            let separator = if cursor.is_first() { "" } else { "," };
            let ended = if cursor.is_first() { 0 } else { begun };
            let json = DynArray::element_to_json(data_type, element, registry)?.without_tokens();
            write!(out, "{}{separator}{}{json}", "]".repeat(ended), "[".repeat(begun))?;
            cursor.advance();
            Ok(())
        })?;
        Ok(writeln!(out, "{}", "]".repeat(ndim))?)
    }
}

/// Prints the nested lists of an array without elements.
fn write_empty(shape: &[u64], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "[")?;
    if let Some((&length, inner)) = shape.split_first() {
        for nth in 0..length {
            write!(out, "{}", if nth == 0 { "" } else { "," })?;
            write_empty(inner, out)?;
        }
    }
    write!(out, "]")
}

/// Reads and prints only the elements at the edges.
fn print_edges(window: &Window<'_>, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let edges = Edges::read(window)?;
    let mut columns = Columns::new(window.data_type(), registry, Extent::Summary)?;
    edges.elements().for_each(|element| columns.observe(element));
    let mut printer = Printer::new(out, edges.shape().to_vec(), edges.elided().to_vec());
    for element in edges.elements() {
        printer.push(&printable(&columns.format(element)))?;
    }
    Ok(printer.finish()?)
}
