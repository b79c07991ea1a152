//! [`Table`]: writes the arrays of a group to CSV and Parquet files.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use zarrox::{IntoSelection, Node, Result, Selection};

use super::columns::{self, Column, Lists};
use super::{csv_out, parquet_out};

/// The maximum number of rows in a Parquet row group, and in a block of CSV rows.
const GROUP: u64 = 1 << 20;
const BLOCK: u64 = 1 << 16;

/// The assumed size of a variable-length element in bytes.
const VARIABLE: u64 = 64;

/// A function that is called with the number of elements written so far and the total number of elements.
type Listener = Arc<dyn Fn(u64, u64) -> Result<()> + Send + Sync>;

/// A builder for tables from the one-dimensional arrays of a group, or from the fields of an array with a structured data type.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox_files::Table;
/// # let directory = tempfile::tempdir()?;
/// let group = zarrox::create_group(directory.path().join("a.zarr"))?;
/// group.create_array("x").shape([3]).data_type(DataType::Int32).fill_value(7).create()?;
///
/// let mut file = Vec::new();
/// Table::new().write_csv(&Node::Group(group), &mut file)?;
/// assert_eq!(String::from_utf8(file)?, "x\n7\n7\n7\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Table {
    selection: Selection,
    columns: Vec<String>,
    delimiter: u8,
    memory: u64,
    listener: Option<Listener>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            selection: Selection::all(),
            columns: Vec::new(),
            delimiter: b',',
            memory: 1 << 29,
            listener: None,
        }
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { selection, columns, delimiter, memory, listener: _ } = self;
        f.debug_struct("Table")
            .field("selection", selection)
            .field("columns", columns)
            .field("delimiter", delimiter)
            .field("memory", memory)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Creates a table of all arrays in a group, which must be one-dimensional and have the same length.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the arrays with the given names, in the given order.
    pub fn columns<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { columns: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Selects rows.
    pub fn select(self, rows: impl IntoSelection) -> Self {
        Self { selection: rows.into_selection(), ..self }
    }

    /// Sets the CSV delimiter. The default is a comma.
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// Sets the memory limit for elements, in bytes. The default is 512 MiB.
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets a function that is called with the number of elements written so far and the total number of elements. An
    /// error stops the export.
    pub fn on_progress(self, listener: impl Fn(u64, u64) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes CSV with a header line. Missing values and NaN are empty fields.
    ///
    /// # Errors
    /// [`zarrox::ErrorKind::InvalidArgument`] if the arrays do not form a table; any error that occurs while reading or writing.
    pub fn write_csv(&self, node: &Node, out: impl Write) -> Result<()> {
        let (columns, rows) = columns::of(node, &self.selection, &self.columns, Lists::Refused)?;
        let mut writer = csv_out::Writer::new(out, self.delimiter, &columns)?;
        for range in blocks(rows, self.step(&columns, BLOCK)) {
            let parts = columns.par_iter().map(|column| column.read(range.clone()));
            writer.push(&parts.collect::<Result<Vec<_>>>()?)?;
            self.tell(range.end, rows, &columns)?;
        }
        writer.finish()
    }

    /// Writes Parquet, compressed with Zstandard. Times become timestamps, missing values become nulls,
    /// and two-dimensional arrays become lists.
    ///
    /// # Errors
    /// The errors of [`Table::write_csv`]; [`zarrox::ErrorKind::Unsupported`] for a type that Parquet does not support.
    pub fn write_parquet(&self, node: &Node, out: impl Write + Send) -> Result<()> {
        let (columns, rows) = columns::of(node, &self.selection, &self.columns, Lists::Allowed)?;
        let mut writer = parquet_out::Writer::new(out, &columns)?;
        for range in blocks(rows, self.step(&columns, GROUP)) {
            writer.push(|number| columns[number].read(range.clone()))?;
            self.tell(range.end, rows, &columns)?;
        }
        writer.finish()
    }

    fn tell(&self, done: u64, rows: u64, columns: &[Column]) -> Result<()> {
        let all = |rows: u64| rows.saturating_mul(columns.len() as u64);
        self.listener.as_ref().map_or(Ok(()), |listener| listener(all(done), all(rows)))
    }

    /// Returns the number of rows to hold in memory at once, which is at most `most`.
    fn step(&self, columns: &[Column], most: u64) -> u64 {
        let row = columns.iter().map(|column| {
            let value = match column.data_type.size() {
                _ if column.data_type.storage() == zarrox::data_type::Storage::Variable => VARIABLE,
                size => size as u64,
            };
            value.saturating_mul(column.list.unwrap_or(1))
        });
        // Memory holds both elements and the values converted from them.
        (self.memory / row.fold(0, u64::saturating_add).saturating_mul(2).max(1)).clamp(1, most)
    }
}

/// Returns consecutive ranges of `step` rows.
fn blocks(rows: u64, step: u64) -> impl Iterator<Item = Range<u64>> {
    (0..rows.div_ceil(step)).map(move |block| block * step..rows.min((block + 1) * step))
}
