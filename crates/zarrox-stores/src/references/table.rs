//! A Parquet file of references: one row for each chunk.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::json::text_bytes;
use super::page::decompressed_size;
use super::reference::{Budget, Problem, Reference};
use crate::panics::caught;

/// The number of bytes that a row takes, not counting its strings, including while it is decoded.
const ROW: u64 = 128;
/// The maximum size of a file's footer.
const LARGEST_FOOTER: u32 = 1 << 20;
/// The magic number at both ends of a file.
const MAGIC: &[u8] = b"PAR1";

/// The references of consecutive chunks.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Option<Reference>>,
    /// The memory that the references take, in bytes.
    pub(super) bytes: u64,
}

impl Table {
    /// Decodes a file of at most `most_rows` rows.
    pub(super) fn decode(file: &Bytes, most_rows: u64, limit: u64) -> Result<Self, Problem> {
        // The library panics on some malformed files. The known cases are checked beforehand, and other panics are caught here.
        caught(|| Self::decode_checked(file, most_rows, limit))
            .unwrap_or_else(|| Err(corrupt("it is damaged")))
    }

    fn decode_checked(file: &Bytes, most_rows: u64, limit: u64) -> Result<Self, Problem> {
        check_footer(file)?;
        let reader = SerializedFileReader::new(file.clone()).map_err(|error| unreadable(&error))?;
        let mut budget = Budget::new(limit);
        let mut rows = Vec::new();
        let mut bytes = 0;
        for (index, group) in reader.metadata().row_groups().iter().enumerate() {
            bytes += checked_memory(group, file, &mut budget)?;
            let group = reader.get_row_group(index).map_err(|error| unreadable(&error))?;
            append(&*group, &mut rows)?;
            if rows.len() as u64 > most_rows {
                return Err(corrupt(&format!("it has more rows than the {most_rows} of 'record_size'")));
            }
        }
        Ok(Self { rows, bytes })
    }
}

fn corrupt(message: &str) -> Problem {
    Problem::corrupt(format!("the file is not a table of references: {message}"))
}

fn unreadable(error: &ParquetError) -> Problem {
    corrupt(&error.to_string())
}

/// Checks the end of a file: the footer, its length, and the magic number.
fn check_footer(file: &[u8]) -> Result<(), Problem> {
    let end = file.strip_suffix(MAGIC).and_then(|rest| rest.last_chunk::<4>());
    let length =
        end.map(|length| u32::from_le_bytes(*length)).ok_or_else(|| corrupt("it is not a Parquet file"))?;
    if length > LARGEST_FOOTER {
        return Err(corrupt(&format!(
            "its footer has {length} bytes, more than the limit of {LARGEST_FOOTER}"
        )));
    }
    Ok(())
}

/// Returns the memory required to decode a row group, if it is within the limit.
fn checked_memory(group: &RowGroupMetaData, file: &[u8], budget: &mut Budget) -> Result<u64, Problem> {
    let rows = u64::try_from(group.num_rows()).map_err(|_| corrupt("its number of rows is negative"))?;
    let mut bytes = rows.saturating_mul(ROW);
    budget.take(bytes)?;
    for column in group.columns() {
        // The library starts at the same offset.
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let start = usize::try_from(start).ok();
        let length = usize::try_from(column.compressed_size()).ok();
        let pages = start.zip(length).and_then(|(start, length)| file.get(start..start.checked_add(length)?));
        let size = pages.and_then(decompressed_size).ok_or_else(|| corrupt("a column is damaged"))?;
        budget.take(size)?;
        bytes = bytes.saturating_add(size);
    }
    Ok(bytes)
}

/// Appends the references of a row group.
fn append(group: &dyn RowGroupReader, rows: &mut Vec<Option<Reference>>) -> Result<(), Problem> {
    let count = usize::try_from(group.metadata().num_rows()).map_err(|_| corrupt("it has too many rows"))?;
    let paths = texts(group, "path", count)?;
    let offsets = integers(group, "offset", count)?;
    let sizes = integers(group, "size", count)?;
    let raws = texts(group, "raw", count)?;
    let mut known: HashSet<Arc<str>> = HashSet::new();
    for (((path, raw), offset), size) in paths.into_iter().zip(raws).zip(offsets).zip(sizes) {
        let number = |value: Option<i64>| {
            u64::try_from(value.unwrap_or(0)).map_err(|_| corrupt("an offset or a size is negative"))
        };
        rows.push(match (raw, path) {
            (Some(raw), _) => Some(Reference::Inline(inline(&raw)?)),
            (None, None) => None,
            (None, Some(path)) => {
                let path = std::str::from_utf8(path.data()).map_err(|_| corrupt("a path is not text"))?;
                let url = known.get(path).cloned().unwrap_or_else(|| path.into());
                known.insert(Arc::clone(&url));
                let range = (number(offset)?, number(size)?);
                Some(Reference::Target { url: Some(url), range: (range != (0, 0)).then_some(range) })
            }
        });
    }
    Ok(())
}

/// Returns an inline value. As in JSON, the text after `base64:` is decoded.
fn inline(raw: &ByteArray) -> Result<Bytes, Problem> {
    match std::str::from_utf8(raw.data()) {
        Ok(text) if text.starts_with("base64:") => {
            text_bytes(text.to_owned()).map_err(|error| corrupt(&error))
        }
        _ => Ok(Bytes::copy_from_slice(raw.data())),
    }
}

fn texts(group: &dyn RowGroupReader, name: &str, rows: usize) -> Result<Vec<Option<ByteArray>>, Problem> {
    column::<ByteArrayType>(group, name, Type::BYTE_ARRAY, rows)
}

fn integers(group: &dyn RowGroupReader, name: &str, rows: usize) -> Result<Vec<Option<i64>>, Problem> {
    column::<Int64Type>(group, name, Type::INT64, rows)
}

/// Returns the values of a column. They are all null if the column is missing.
fn column<T: DataType>(
    group: &dyn RowGroupReader,
    name: &str,
    expected: Type,
    rows: usize,
) -> Result<Vec<Option<T::T>>, Problem> {
    let columns = group.metadata().columns();
    let Some(index) = columns.iter().position(|column| column.column_path().string() == name) else {
        return Ok(vec![None; rows]);
    };
    let description = columns[index].column_descr();
    let is_flat = description.max_rep_level() == 0 && description.max_def_level() <= 1;
    if description.physical_type() != expected || !is_flat {
        return Err(corrupt(&format!("its column '{name}' has another type")));
    }
    let is_nullable = description.max_def_level() == 1;
    let reader = group.get_column_reader(index).map_err(|error| unreadable(&error))?;
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut levels, mut values, mut done) = (Vec::new(), Vec::new(), 0);
    while done < rows {
        let read = reader.read_records(rows - done, Some(&mut levels), None, &mut values);
        match read.map_err(|error| unreadable(&error))?.0 {
            0 => return Err(corrupt(&format!("its column '{name}' ends early"))),
            records => done += records,
        }
    }
    let mut values = values.into_iter();
    if !is_nullable {
        return Ok(values.map(Some).collect());
    }
    Ok(levels.into_iter().map(|level| if level == 1 { values.next() } else { None }).collect())
}
