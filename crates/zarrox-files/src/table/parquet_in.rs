//! Files of Parquet as Zarr: each column is an array, whose chunks are made of groups of rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType as Stored;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use zarrox::data_type::NOT_A_TIME;
use zarrox::json::{Json, Map};
use zarrox::{DataType, Error, Result};

use super::blocks::{Column, MOST_TEXT, Rows, Values, too_much_text};
use super::csv_in::COLUMNS;
use super::names;
use super::pages::{Pages, Source};
use super::parquet_types::{Kind, Mapped};
use crate::chunks::Chunks;
use crate::described::{self, Described};
use crate::input::{Input, corrupt, unsupported};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The most rows of a block of numbers, and of texts.
const BLOCK: u64 = 1 << 20;
const TEXT_BLOCK: u64 = 1 << 16;

/// The rows that are read at once.
const BATCH: usize = 1 << 14;

/// The largest whole number up to which a float has all.
const EXACT: i128 = 1 << 53;

/// Opens a file as a store of Zarr.
pub(crate) fn open(path: &Path, reading: &Reading) -> Result<FileStore> {
    if !reading.columns.is_empty() {
        return Err(unsupported("the columns of Parquet have types; --column is for CSV"));
    }
    let input = Arc::new(Input::open(path)?);
    let source = Source(Arc::clone(&input));
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&source).map_err(parquet)?;
    let file = Arc::new(File::new(source, metadata)?);
    let schema = file.metadata.file_metadata().schema_descr_ptr();
    let columns = schema.columns();
    let names = names::of_columns(
        columns
            .iter()
            .map(|column| column.path().parts().join("."))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str),
    );
    let mut attributes = Map::default();
    attributes.insert(COLUMNS.to_owned(), names.iter().map(|name| Json::from(name.as_str())).collect());
    let documents = described::root(attributes)?;
    let (mut arrays, mut left_out) = (BTreeMap::<String, Box<dyn Chunks>>::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        let made = StoredColumn::new(&file, number).and_then(|(column, attributes)| {
            let (data_type, count) = (column.mapped.data_type.clone(), file.rows);
            let in_block = file.in_block(column.mapped.kind);
            let described = Described {
                path: name.clone(),
                shape: vec![count],
                data_type: data_type.clone(),
                attributes,
                names: vec![Some("row".to_owned())],
                fill: None,
            };
            let column = StoredColumn { in_block: in_block.min(count.max(1)), ..column };
            let elements = Column::new(column, data_type, count, in_block);
            described.create(&documents, Box::new(elements), reading.is_plain)
        });
        match made {
            Ok(chunks) => drop(arrays.insert(name.clone(), chunks)),
            Err(error) => left_out.push(LeftOut { path: format!("/{name}"), reason: error.to_string() }),
        }
    }
    Ok(FileStore::new(input.path().display().to_string(), documents, arrays, left_out))
}

/// The error of a file that cannot be read.
fn parquet(error: ParquetError) -> Error {
    match error {
        ParquetError::NYI(message) => unsupported(message),
        ParquetError::External(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => corrupt(error.to_string()),
        },
        error => corrupt(error.to_string()),
    }
}

/// An open file.
#[derive(Debug)]
struct File {
    source: Source,
    metadata: ParquetMetaData,
    rows: u64,
    /// The first rows of the groups.
    firsts: Vec<u64>,
}

impl File {
    fn new(source: Source, metadata: ParquetMetaData) -> Result<Self> {
        let (mut rows, mut firsts) = (0_u64, Vec::new());
        for group in metadata.row_groups() {
            firsts.push(rows);
            let count = u64::try_from(group.num_rows()).ok();
            let all = count.and_then(|count| rows.checked_add(count)).filter(|&all| all < 1 << 62);
            rows = all.ok_or_else(|| corrupt("a group has no possible number of rows"))?;
        }
        Ok(Self { source, metadata, rows, firsts })
    }

    /// The number of rows in a block: as many groups as make one, so that none is read twice, or a part of a large group.
    fn in_block(&self, kind: Kind) -> u64 {
        let most = if matches!(kind, Kind::Text | Kind::Bytes) { TEXT_BLOCK } else { BLOCK };
        let first = self.firsts.get(1).copied().unwrap_or(self.rows).max(1);
        let is_even = self.firsts.iter().zip(0..).all(|(&row, nth)| row == first * nth);
        if !is_even || first > most { most } else { most / first * first }
    }

    /// The groups of a range of rows: the number of each, the rows that are skipped in it, and those that are taken.
    fn groups(&self, begin: u64, end: u64) -> Vec<(usize, usize, usize)> {
        let mut groups = Vec::new();
        let from = self.firsts.partition_point(|&first| first <= begin).saturating_sub(1);
        for (number, &first) in self.firsts.iter().enumerate().skip(from) {
            let last = self.firsts.get(number + 1).copied().unwrap_or(self.rows);
            let (start, stop) = (begin.max(first), end.min(last));
            if first >= end {
                break;
            }
            if start < stop {
                let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
                groups.push((number, size(start - first), size(stop - start)));
            }
        }
        groups
    }
}

/// A column of a file.
#[derive(Debug)]
struct StoredColumn {
    file: Arc<File>,
    number: usize,
    mapped: Mapped,
    /// True if values are missing.
    has_missing: bool,
    in_block: u64,
}

impl StoredColumn {
    /// A column, and its attributes.
    fn new(file: &Arc<File>, number: usize) -> Result<(Self, Map)> {
        let descriptor = file.metadata.file_metadata().schema_descr().column(number);
        if descriptor.max_rep_level() > 0 {
            return Err(unsupported("lists of any length have no form in Zarr"));
        }
        let mapped = Mapped::of(&descriptor)?;
        let mut column = Self { file: Arc::clone(file), number, mapped, has_missing: false, in_block: BLOCK };
        let mut attributes = Map::default();
        if descriptor.max_def_level() > 0 && column.any_missing()? {
            let (mapped, fill) = column.mapped.with_missing();
            fill.into_iter().for_each(|fill| drop(attributes.insert("_FillValue".to_owned(), fill)));
            column = Self { mapped, has_missing: true, ..column };
        }
        Ok((column, attributes))
    }

    /// Returns true if values are missing: by the statistics, or else by reading.
    fn any_missing(&self) -> Result<bool> {
        let mut unknown = Vec::new();
        for (number, group) in self.file.metadata.row_groups().iter().enumerate() {
            let statistics = group.column(self.number).statistics();
            match statistics.and_then(|statistics| statistics.null_count_opt()) {
                Some(0) => {}
                Some(_) => return Ok(true),
                None => unknown.push((number, 0, usize::try_from(group.num_rows()).unwrap_or(usize::MAX))),
            }
        }
        for group in unknown {
            let mut found = false;
            self.each(group, &mut Missing(&mut found))?;
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls a function with all values of some rows of a group.
    fn each(&self, (group, skipped, count): (usize, usize, usize), sink: &mut dyn Sink) -> Result<()> {
        let metadata = self.file.metadata.row_group(group);
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
        let column = metadata.columns().get(self.number).ok_or_else(|| corrupt("a group lacks a column"))?;
        let pages = Pages::new(&self.file.source, column, rows).map_err(parquet)?;
        let descriptor = column.column_descr_ptr();
        let full = descriptor.max_def_level();
        match get_column_reader(descriptor, Box::new(pages)) {
            ColumnReader::BoolColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value: Option<&bool>| {
                    sink.integer(value.map(|&value| value.into()))
                })
            }
            ColumnReader::Int32ColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value: Option<&i32>| {
                    sink.integer(value.map(|&value| value.into()))
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value: Option<&i64>| sink.integer(value.copied()))
            }
            ColumnReader::Int96ColumnReader(reader) => take(reader, full, skipped, count, &mut |value| {
                sink.integer(value.map(|value: &parquet::data_type::Int96| value.to_nanos()))
            }),
            ColumnReader::FloatColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value: Option<&f32>| sink.single(value.copied()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value: Option<&f64>| sink.double(value.copied()))
            }
            ColumnReader::ByteArrayColumnReader(reader) => take(reader, full, skipped, count, &mut |value| {
                sink.bytes(value.map(|value: &parquet::data_type::ByteArray| value.data()))
            }),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                take(reader, full, skipped, count, &mut |value| {
                    sink.bytes(value.map(|value: &parquet::data_type::FixedLenByteArray| value.data()))
                })
            }
        }
    }
}

/// Takes values of some rows.
fn take<T: Stored>(
    mut reader: ColumnReaderImpl<T>,
    full: i16,
    skipped: usize,
    count: usize,
    push: &mut dyn FnMut(Option<&T::T>) -> Result<()>,
) -> Result<()> {
    let cut_off = || corrupt("a column has fewer rows than its group");
    if skipped > 0 && reader.skip_records(skipped).map_err(parquet)? < skipped {
        return Err(cut_off());
    }
    let (mut left, mut levels, mut values) = (count, Vec::new(), Vec::new());
    while left > 0 {
        levels.clear();
        values.clear();
        let read = reader.read_records(left.min(BATCH), Some(&mut levels), None, &mut values);
        let (records, ..) = read.map_err(parquet)?;
        if records == 0 {
            return Err(cut_off());
        }
        if full == 0 {
            values.iter().try_for_each(|value| push(Some(value)))?;
        } else {
            let mut values = values.iter();
            for &level in &levels {
                push(if level == full { Some(values.next().ok_or_else(cut_off)?) } else { None })?;
            }
        }
        left = left.saturating_sub(records);
    }
    Ok(())
}

/// Takes values of any type, `None` for missing ones.
trait Sink {
    fn integer(&mut self, value: Option<i64>) -> Result<()>;
    fn single(&mut self, value: Option<f32>) -> Result<()>;
    fn double(&mut self, value: Option<f64>) -> Result<()>;
    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()>;
}

/// Tells if any value is missing.
struct Missing<'f>(&'f mut bool);

impl Sink for Missing<'_> {
    fn integer(&mut self, value: Option<i64>) -> Result<()> {
        *self.0 |= value.is_none();
        Ok(())
    }

    fn single(&mut self, value: Option<f32>) -> Result<()> {
        *self.0 |= value.is_none();
        Ok(())
    }

    fn double(&mut self, value: Option<f64>) -> Result<()> {
        *self.0 |= value.is_none();
        Ok(())
    }

    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        *self.0 |= value.is_none();
        Ok(())
    }
}

/// Makes elements of values.
struct Gathered<'m> {
    mapped: &'m Mapped,
    has_missing: bool,
    fixed: Vec<u8>,
    any: Vec<Vec<u8>>,
    /// The number of bytes of all texts.
    total: usize,
}

impl Gathered<'_> {
    /// The whole number of a value, by the type of the column.
    fn whole(&self, value: i64) -> i128 {
        match self.mapped.kind {
            // Parquet has no unsigned integers: the bits are kept.
            Kind::Unsigned(64) => i128::from(value.cast_unsigned()),
            Kind::Unsigned(_) => i128::from(value & i64::from(u32::MAX)),
            _ => i128::from(value),
        }
    }

    fn number(&mut self, value: Option<i64>) -> Result<()> {
        let Some(whole) = value.map(|value| self.whole(value)) else {
            self.fixed.extend_from_slice(&f64::NAN.to_ne_bytes());
            return Ok(());
        };
        if whole.abs() > EXACT {
            return Err(unsupported(format!(
                "values are missing, so that the integers become floats, which do not have {whole}"
            )));
        }
        #[expect(clippy::cast_precision_loss, reason = "it was compared")]
        self.fixed.extend_from_slice(&(whole as f64).to_ne_bytes());
        Ok(())
    }
}

impl Sink for Gathered<'_> {
    fn integer(&mut self, value: Option<i64>) -> Result<()> {
        let out_of_range = |_| corrupt("an integer is outside of the range of its type");
        match self.mapped.kind {
            Kind::Truth if self.has_missing => {
                self.fixed.push(value.map_or(u8::MAX, |value| u8::from(value != 0)));
            }
            Kind::Truth => self.fixed.push(u8::from(value.unwrap_or(0) != 0)),
            Kind::Time => self.fixed.extend_from_slice(&value.unwrap_or(NOT_A_TIME).to_ne_bytes()),
            _ if self.has_missing => return self.number(value),
            kind => {
                let value = value.ok_or_else(|| corrupt("a value is missing that the statistics have"))?;
                let whole = self.whole(value);
                match kind {
                    Kind::Signed(8) => self
                        .fixed
                        .extend_from_slice(&i8::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    Kind::Signed(16) => self
                        .fixed
                        .extend_from_slice(&i16::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    Kind::Signed(32) => self
                        .fixed
                        .extend_from_slice(&i32::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    Kind::Unsigned(8) => self
                        .fixed
                        .extend_from_slice(&u8::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    Kind::Unsigned(16) => self
                        .fixed
                        .extend_from_slice(&u16::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    Kind::Unsigned(32) => self
                        .fixed
                        .extend_from_slice(&u32::try_from(whole).map_err(out_of_range)?.to_ne_bytes()),
                    _ => self.fixed.extend_from_slice(&value.to_ne_bytes()),
                }
            }
        }
        Ok(())
    }

    fn single(&mut self, value: Option<f32>) -> Result<()> {
        self.fixed.extend_from_slice(&value.unwrap_or(f32::NAN).to_ne_bytes());
        Ok(())
    }

    fn double(&mut self, value: Option<f64>) -> Result<()> {
        self.fixed.extend_from_slice(&value.unwrap_or(f64::NAN).to_ne_bytes());
        Ok(())
    }

    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        if self.mapped.kind == Kind::Fixed {
            let size = self.mapped.data_type.size();
            let start = self.fixed.len();
            match value {
                Some(value) if value.len() == size => self.fixed.extend_from_slice(value),
                Some(_) => return Err(corrupt("an element has another length than its type")),
                None if self.mapped.data_type == DataType::Float16 => {
                    self.fixed.extend_from_slice(&0x7e00_u16.to_le_bytes());
                }
                None => self.fixed.resize(start + size, 0),
            }
            if self.mapped.data_type == DataType::Float16 && cfg!(target_endian = "big") {
                self.fixed[start..].reverse();
            }
            return Ok(());
        }
        let value = value.unwrap_or_default();
        if self.mapped.kind == Kind::Text && std::str::from_utf8(value).is_err() {
            return Err(corrupt("a text is not in UTF-8"));
        }
        self.total = self.total.saturating_add(value.len());
        if self.total > MOST_TEXT {
            return Err(too_much_text());
        }
        self.any.push(value.to_vec());
        Ok(())
    }
}

impl Rows for StoredColumn {
    fn read(&self, block: u64) -> Result<Values> {
        let begin = block.saturating_mul(self.in_block);
        let end = begin.saturating_add(self.in_block).min(self.file.rows);
        let mut gathered = Gathered {
            mapped: &self.mapped,
            has_missing: self.has_missing,
            fixed: Vec::new(),
            any: Vec::new(),
            total: 0,
        };
        for group in self.file.groups(begin, end) {
            self.each(group, &mut gathered)?;
        }
        let is_any = matches!(self.mapped.kind, Kind::Text | Kind::Bytes);
        Ok(if is_any { Values::Any(gathered.any) } else { Values::Fixed(gathered.fixed) })
    }
}
