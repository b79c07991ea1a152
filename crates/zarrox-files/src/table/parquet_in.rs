//! Parquet files as Zarr. Each column becomes an array, whose chunks consist of whole row groups or parts of one.

use std::collections::BTreeMap;
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType as Stored, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use zarrox::json::{Json, Map};
use zarrox::{DataType, Error, Result};

use super::blocks::{Column, MOST_TEXT, Pieces, Rows, Values, too_much_text};
use super::csv_in::COLUMNS;
use super::footer;
use super::instants::{self, Units};
use super::lists::{self, Length, Levels};
use super::names;
use super::nulls::Nulls;
use super::pages::{self, Pages, Source};
use super::parquet_types::{EXACT, Kind, Mapped, decimal};
use super::sinks::{Counted, Instants, Missing, NullStructure, Sink};
use crate::chunks::Chunks;
use crate::described::{self, Described};
use crate::input::{Input, corrupt, unsupported};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The maximum number of rows in a block of numbers, and in a block of strings.
const BLOCK: u64 = 1 << 20;
const TEXT_BLOCK: u64 = 1 << 16;

/// The number of rows that are read at a time.
const BATCH: usize = 1 << 14;

/// Opens a file as a Zarr store.
pub(crate) fn open(input: &Arc<Input>, reading: &Reading) -> Result<FileStore> {
    if !reading.columns.is_empty() {
        return Err(unsupported("Parquet columns have types; --column is only for CSV"));
    }
    let source = Source(Arc::clone(input));
    let metadata = pages::guarded(|| footer::metadata(&source)).map_err(parquet)?;
    let file = Arc::new(File::new(source, metadata)?);
    let schema = file.metadata.file_metadata().schema_descr_ptr();
    let columns = schema.columns();
    let stored = columns.iter().map(|column| lists::name(column)).collect::<Vec<_>>();
    let names = names::of_columns(stored.iter().map(String::as_str));
    let mut notes = names::notes(stored.iter().map(String::as_str), &names);
    let mut attributes = Map::default();
    attributes.insert(COLUMNS.to_owned(), names.iter().map(|name| Json::from(name.as_str())).collect());
    let documents = described::root(attributes)?;
    let (mut arrays, mut left_out) = (BTreeMap::<String, Box<dyn Chunks>>::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        let made = StoredColumn::new(&file, number).and_then(|(column, said)| {
            let (data_type, count) = (column.mapped.data_type.clone(), file.rows);
            let length = column.length;
            let in_block = match length {
                None => file.in_block(column.mapped.kind),
                Some(length) => (file.in_block(column.mapped.kind) / length.max(1)).max(1),
            };
            let described = Described {
                path: name.clone(),
                shape: std::iter::once(count).chain(length).collect(),
                data_type: data_type.clone(),
                attributes: said.attributes,
                names: std::iter::once(Some("row".to_owned())).chain(length.map(|_| None)).collect(),
                fill: said.fill,
            };
            notes.extend(said.notes.iter().map(|note| format!("/{name}: {note}")));
            let column = StoredColumn { in_block: in_block.min(count.max(1)), ..column };
            let elements = Column::new(column, data_type, count, in_block).of_lists(length);
            described.create(&documents, Box::new(elements), reading.is_plain)
        });
        match made {
            Ok(chunks) => drop(arrays.insert(name.clone(), chunks)),
            Err(error) => left_out.push(LeftOut::new(format!("/{name}"), &error)),
        }
    }
    let location = input.path().display().to_string();
    Ok(FileStore::new(location, documents, arrays, left_out).with_notes(notes))
}

/// Returns the error for a file that cannot be read.
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
    /// The index of the first row in each row group.
    firsts: Vec<u64>,
}

impl File {
    fn new(source: Source, metadata: ParquetMetaData) -> Result<Self> {
        let (mut rows, mut firsts) = (0_u64, Vec::new());
        for group in metadata.row_groups() {
            firsts.push(rows);
            let count = u64::try_from(group.num_rows()).ok();
            let all = count.and_then(|count| rows.checked_add(count)).filter(|&all| all < 1 << 62);
            rows = all.ok_or_else(|| corrupt("a row group has an invalid number of rows"))?;
        }
        Ok(Self { source, metadata, rows, firsts })
    }

    /// Returns the number of rows in a block. A block consists of whole row groups, so that no group is read twice, or of
    /// a part of a large row group.
    fn in_block(&self, kind: Kind) -> u64 {
        let most = if matches!(kind, Kind::Text | Kind::Bytes) { TEXT_BLOCK } else { BLOCK };
        let first = self.firsts.get(1).copied().unwrap_or(self.rows).max(1);
        let is_even = self.firsts.iter().zip(0..).all(|(&row, nth)| row == first * nth);
        if !is_even || first > most { most } else { most / first * first }
    }

    /// Returns the row groups that contain a range of rows: for each, its index, the number of rows to skip, and the
    /// number of rows to read.
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

/// The metadata of the array of a column.
#[derive(Debug, Default)]
struct Said {
    attributes: Map,
    fill: Option<Json>,
    notes: Vec<String>,
}

/// A column of a file.
#[derive(Debug)]
struct StoredColumn {
    file: Arc<File>,
    number: usize,
    mapped: Mapped,
    /// The element that represents null, if the column contains nulls.
    null: Option<Vec<u8>>,
    in_block: u64,
    levels: Levels,
    /// The length of the lists in the column, if it contains lists.
    length: Option<u64>,
}

impl StoredColumn {
    /// Creates a column of the file and the metadata of its array.
    fn new(file: &Arc<File>, number: usize) -> Result<(Self, Said)> {
        let descriptor = file.metadata.file_metadata().schema_descr().column(number);
        let levels = Levels::of(&descriptor, file.metadata.file_metadata().schema())?;
        let mapped = Mapped::of(&descriptor)?;
        for group in file.metadata.row_groups() {
            let stored = group.columns().get(number);
            stored
                .map_or(Ok(()), |column| pages::check_compression(column.compression()))
                .map_err(parquet)?;
        }
        let (file, in_block) = (Arc::clone(file), BLOCK);
        let mut column = Self { file, number, mapped, null: None, in_block, levels, length: None };
        if descriptor.physical_type() == Physical::INT96 {
            let mut units = Units::default();
            column.each_group(&mut Instants(&mut units))?;
            column.mapped = Mapped::instants(units.finest()?);
        }
        if levels.element.is_some() {
            column.length = Some(column.length_of_lists()?);
        }
        let mut said = Said::default();
        said.attributes.extend(column.mapped.scale_factor().map(|scale| ("scale_factor".to_owned(), scale)));
        if descriptor.max_def_level() > 0 && column.any_missing()? {
            if column.any_null_structure()? {
                said.notes.push("null structures become structures of nulls".to_owned());
            }
            let nulls = Nulls::of(&column.mapped, &|sink| column.each_group(sink))?;
            said.attributes.extend(nulls.attribute);
            said.fill = nulls.fill;
            said.notes.extend(nulls.note);
            column = Self { mapped: nulls.mapped, null: Some(nulls.element), ..column };
        }
        Ok((column, said))
    }

    /// Returns true if the column is a field of structures and any of them is null.
    fn any_null_structure(&self) -> Result<bool> {
        let mut found = NullStructure(false);
        if self.levels.structure.is_some() {
            self.each_group(&mut found)?;
        }
        Ok(found.0)
    }

    /// Returns the common length of all lists, or an error if they differ.
    fn length_of_lists(&self) -> Result<u64> {
        let mut length = Length::default();
        self.each_group(&mut Counted(&mut length))?;
        length.end()
    }

    /// Passes all values of all row groups to a sink.
    fn each_group(&self, sink: &mut dyn Sink) -> Result<()> {
        for (number, group) in self.file.metadata.row_groups().iter().enumerate() {
            let rows = usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
            self.each((number, 0, rows), sink)?;
        }
        Ok(())
    }

    /// Returns true if the column contains nulls, according to its statistics or by reading it.
    fn any_missing(&self) -> Result<bool> {
        let mut unknown = Vec::new();
        let is_counted = !pages::miscounts_nulls(self.file.metadata.file_metadata().created_by());
        for (number, group) in self.file.metadata.row_groups().iter().enumerate() {
            let statistics = group.column(self.number).statistics();
            match statistics.and_then(|statistics| statistics.null_count_opt()) {
                Some(0) if is_counted => {}
                Some(1..) => return Ok(true),
                Some(0) | None => {
                    unknown.push((number, 0, usize::try_from(group.num_rows()).unwrap_or(usize::MAX)));
                }
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

    fn pages(&self, column: &ColumnChunkMetaData, rows: usize) -> Result<Pages, ParquetError> {
        let File { source, metadata, .. } = &*self.file;
        if pages::forgets_headers(metadata.file_metadata().created_by()) {
            return Pages::new(source, &pages::with_header(source, column)?, rows);
        }
        Pages::new(source, column, rows)
    }

    /// Passes all values in a range of rows of a row group to a sink.
    fn each(&self, (group, skipped, count): (usize, usize, usize), sink: &mut dyn Sink) -> Result<()> {
        let metadata = self.file.metadata.row_group(group);
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
        let column = metadata.columns().get(self.number).ok_or_else(|| corrupt("a group lacks a column"))?;
        let pages = pages::guarded(|| self.pages(column, rows)).map_err(parquet)?;
        let descriptor = column.column_descr_ptr();
        let levels = self.levels;
        match get_column_reader(descriptor, Box::new(pages)) {
            ColumnReader::BoolColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&bool>| sink.integer(value.map(|&value| value.into())))
            }),
            ColumnReader::Int32ColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&i32>| sink.integer(value.map(|&value| value.into())))
            }),
            ColumnReader::Int64ColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&i64>| sink.integer(value.copied()))
            }),
            ColumnReader::Int96ColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&Int96>| sink.instant(value.map(instants::nanoseconds)))
            }),
            ColumnReader::FloatColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&f32>| sink.single(value.copied()))
            }),
            ColumnReader::DoubleColumnReader(reader) => take(reader, levels, skipped, count, &mut |event| {
                event.put(sink, |sink, value: Option<&f64>| sink.double(value.copied()))
            }),
            ColumnReader::ByteArrayColumnReader(reader) => {
                take(reader, levels, skipped, count, &mut |event| {
                    event.put(sink, |sink, value: Option<&ByteArray>| sink.bytes(value.map(ByteArray::data)))
                })
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                take(reader, levels, skipped, count, &mut |event| {
                    event.put(sink, |sink, value: Option<&FixedLenByteArray>| {
                        sink.bytes(value.map(|value| value.data()))
                    })
                })
            }
        }
    }
}

/// A step through the values of a column.
enum Event<'v, T> {
    /// A list begins.
    List,
    /// The current list is null.
    NullList,
    /// The next value is missing because its parent structure is null.
    NullStructure,
    /// A value; `None` if it is missing.
    Value(Option<&'v T>),
}

impl<T> Event<'_, T> {
    fn put(
        self,
        sink: &mut dyn Sink,
        value: impl FnOnce(&mut dyn Sink, Option<&T>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::List => sink.list(),
            Self::NullList => sink.null_list(),
            Self::NullStructure => sink.null_structure(),
            Self::Value(of) => value(sink, of),
        }
    }
}

/// Reads the values in a range of rows.
fn take<T: Stored>(
    mut reader: ColumnReaderImpl<T>,
    of: Levels,
    skipped: usize,
    count: usize,
    push: &mut dyn FnMut(Event<'_, T::T>) -> Result<()>,
) -> Result<()> {
    let cut_off = || corrupt("a column has fewer rows than its group");
    if skipped > 0 && pages::guarded(|| reader.skip_records(skipped)).map_err(parquet)? < skipped {
        return Err(cut_off());
    }
    let (mut left, mut levels, mut repeated, mut values) = (count, Vec::new(), Vec::new(), Vec::new());
    while left > 0 {
        levels.clear();
        repeated.clear();
        values.clear();
        let lists = of.element.map(|_| &mut repeated);
        let most = left.min(BATCH);
        let read = || reader.read_records(most, Some(&mut levels), lists, &mut values);
        let (records, ..) = pages::guarded(read).map_err(parquet)?;
        if records == 0 {
            return Err(cut_off());
        }
        if of.full == 0 {
            values.iter().try_for_each(|value| push(Event::Value(Some(value))))?;
        } else {
            let mut values = values.iter();
            for (index, &level) in levels.iter().enumerate() {
                if of.element.is_some() && repeated.get(index) == Some(&0) {
                    push(Event::List)?;
                }
                if of.element.is_some_and(|element| level < element) {
                    // An empty or null list has a definition level but no value.
                    if of.element.is_some_and(|element| level + 1 < element) {
                        push(Event::NullList)?;
                    }
                    continue;
                }
                if of.structure.is_some_and(|structure| level < structure) {
                    push(Event::NullStructure)?;
                }
                let value = if level == of.full { Some(values.next().ok_or_else(cut_off)?) } else { None };
                push(Event::Value(value))?;
            }
        }
        left = left.saturating_sub(records);
    }
    Ok(())
}

/// Converts values to elements.
struct Gathered<'m> {
    mapped: &'m Mapped,
    /// The element that represents null, if the column contains nulls.
    null: Option<&'m [u8]>,
    fixed: Vec<u8>,
    any: Pieces,
}

impl Gathered<'_> {
    /// Appends an integer, converted to a float.
    fn number(&mut self, whole: i128) -> Result<()> {
        if whole.abs() > EXACT {
            return Err(unsupported(format!(
                "the column has nulls, so its integers become floats, which cannot represent {whole}"
            )));
        }
        #[expect(clippy::cast_precision_loss, reason = "the range was checked")]
        self.fixed.extend_from_slice(&(whole as f64).to_ne_bytes());
        Ok(())
    }

    fn element(&mut self, element: &[u8]) -> Result<()> {
        if !matches!(self.mapped.kind, Kind::Text | Kind::Bytes) {
            self.fixed.extend_from_slice(element);
            return Ok(());
        }
        if self.any.size().saturating_add(element.len()) > MOST_TEXT {
            return Err(too_much_text());
        }
        self.any.push(element);
        Ok(())
    }
}

impl Sink for Gathered<'_> {
    fn value(&mut self, _: bool) -> Result<()> {
        let null = self.null.ok_or_else(|| corrupt("the column has a null that is not in its statistics"))?;
        self.element(null)
    }

    fn instant(&mut self, value: Option<i128>) -> Result<()> {
        let unit = self.mapped.unit;
        self.integer(value.map(|nanoseconds| instants::count(nanoseconds, unit)).transpose()?)
    }

    fn integer(&mut self, value: Option<i64>) -> Result<()> {
        let Some(value) = value else { return self.value(true) };
        match self.mapped.kind {
            Kind::Truth => self.fixed.push(u8::from(value != 0)),
            Kind::Time => self.fixed.extend_from_slice(&value.to_ne_bytes()),
            _ => {
                let whole = self.mapped.whole(value)?;
                if self.mapped.data_type == DataType::Float64 {
                    return self.number(whole);
                }
                // A shorter integer occupies the low bytes of a longer one.
                let bytes = whole.to_le_bytes();
                let bytes = bytes.get(..self.mapped.data_type.size()).unwrap_or_default();
                let start = self.fixed.len();
                self.fixed.extend_from_slice(bytes);
                if cfg!(target_endian = "big") {
                    self.fixed[start..].reverse();
                }
            }
        }
        Ok(())
    }

    fn single(&mut self, value: Option<f32>) -> Result<()> {
        match value {
            Some(value) => self.element(&value.to_ne_bytes()),
            None => self.value(true),
        }
    }

    fn double(&mut self, value: Option<f64>) -> Result<()> {
        match value {
            Some(value) => self.element(&value.to_ne_bytes()),
            None => self.value(true),
        }
    }

    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        let Some(value) = value else { return self.value(true) };
        match self.mapped.kind {
            Kind::Signed(_) => return self.integer(Some(decimal(value)?)),
            Kind::Fixed if value.len() != self.mapped.data_type.size() => {
                return Err(corrupt("the length of an element differs from that of its type"));
            }
            Kind::Text if std::str::from_utf8(value).is_err() => {
                return Err(corrupt("a text is not in UTF-8"));
            }
            _ => {}
        }
        let start = self.fixed.len();
        self.element(value)?;
        if self.mapped.data_type == DataType::Float16 && cfg!(target_endian = "big") {
            self.fixed[start..].reverse();
        }
        Ok(())
    }
}

impl Rows for StoredColumn {
    fn read(&self, block: u64) -> Result<Values> {
        let begin = block.saturating_mul(self.in_block);
        let end = begin.saturating_add(self.in_block).min(self.file.rows);
        let mut gathered = Gathered {
            mapped: &self.mapped,
            null: self.null.as_deref(),
            fixed: Vec::new(),
            any: Pieces::default(),
        };
        for group in self.file.groups(begin, end) {
            self.each(group, &mut gathered)?;
        }
        let is_any = matches!(self.mapped.kind, Kind::Text | Kind::Bytes);
        if let Some(length) = self.length {
            let found = if is_any {
                gathered.any.count()
            } else {
                gathered.fixed.len() / self.mapped.data_type.size().max(1)
            };
            if u64::try_from(found).ok() != end.saturating_sub(begin).checked_mul(length) {
                return Err(corrupt(format!("there are {found} values in lists of {length}")));
            }
        }
        Ok(if is_any { Values::Any(gathered.any) } else { Values::Fixed(gathered.fixed) })
    }
}
