//! CSV files as Zarr. Each column becomes an array.
//!
//! The file is read once. While the types of the columns are inferred, the fields are written to a temporary file, column
//! by column in blocks of rows. Chunks are parsed when they are read.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder};
use rayon::prelude::*;
use zarrox::json::{Json, Map};
use zarrox::{DataType, Error, ErrorKind, Result};

use super::blocks::{Column, MOST_TEXT, Rows, Values, too_much_text};
use super::fields::Parser;
use super::guess::Guess;
use super::names;
use super::spool::{Piece, Spool};
use crate::chunks::Chunks;
use crate::described::{self, Described};
use crate::input::{Input, corrupt, failed, unsupported};
use crate::reading::Reading;
use crate::store::FileStore;

/// The group attribute that lists the names of the columns in order.
pub(super) const COLUMNS: &str = "columns";

/// The maximum number of rows in a block.
const BLOCK: u64 = 1 << 16;

/// The total size of fields in bytes at which the first block ends.
const BLOCK_BYTES: usize = 64 << 20;

/// The maximum size of a row in bytes.
const MOST_ROW: u64 = 256 << 20;

/// The maximum number of columns.
const MOST_COLUMNS: usize = 1 << 16;

/// Opens a file as a Zarr store.
pub(crate) fn open(input: &Input, reading: &Reading) -> Result<FileStore> {
    let mut table = Table::read(input, delimiter(input.name()))?;
    for (name, _) in &reading.columns {
        if !table.names.contains(name) {
            let known = table.names.join(", ");
            let message = format!("no column '{name}'; the columns are: {known}");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
    }
    let mut attributes = Map::default();
    attributes.insert(COLUMNS.to_owned(), table.names.iter().map(|name| Json::from(name.as_str())).collect());
    let documents = described::root(attributes)?;
    let spool = Arc::new(table.spool.finish()?);
    let mut arrays = BTreeMap::<String, Box<dyn Chunks>>::new();
    for (name, fields) in table.names.iter().zip(table.columns.drain(..)) {
        let said = reading.columns.iter().rev().find(|(known, _)| known == name);
        let data_type = match said {
            Some((_, data_type)) => data_type.clone(),
            None => match fields.guess.data_type() {
                Some(data_type) => data_type,
                None => DataType::string(),
            },
        };
        let in_block = table.in_block;
        let parser = Parser::new(&data_type).map_err(|error| error.at(format!("column '{name}'")))?;
        let rows =
            Fields { name: name.clone(), pieces: fields.pieces, parser, spool: Arc::clone(&spool), in_block };
        let described = Described {
            path: name.clone(),
            shape: vec![table.rows],
            data_type: data_type.clone(),
            attributes: Map::default(),
            names: vec![Some("row".to_owned())],
            fill: None,
        };
        let elements = Box::new(Column::new(rows, data_type, table.rows, in_block));
        arrays.insert(name.clone(), described.create(&documents, elements, reading.is_plain)?);
    }
    let location = input.path().display().to_string();
    Ok(FileStore::new(location, documents, arrays, Vec::new()).with_notes(table.notes))
}

/// Returns the field delimiter.
fn delimiter(path: &Path) -> u8 {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    if suffix.eq_ignore_ascii_case("tsv") { b'\t' } else { b',' }
}

/// The fields of a column read so far.
#[derive(Debug, Default)]
struct Gathered {
    guess: Guess,
    pieces: Vec<Piece>,
}

/// The rows of a file.
struct Records<'i> {
    input: &'i Input,
    reader: csv::Reader<Source<'i>>,
    record: ByteRecord,
    /// The number of rows in a block; `None` before the first block.
    in_block: Option<u64>,
    /// The position of the last row in the file.
    last: u64,
}

/// The fields in a block of rows.
struct Block {
    rows: u64,
    /// The fields of each column, each preceded by its length in four bytes.
    columns: Vec<Vec<u8>>,
}

impl Block {
    fn new(columns: usize) -> Self {
        Self { rows: 0, columns: vec![Vec::new(); columns] }
    }
}

impl Records<'_> {
    /// Replaces the rows in a block with the next rows, reusing its memory. At the end of the file, the block becomes empty.
    fn fill(&mut self, block: &mut Block) -> Result<()> {
        block.rows = 0;
        block.columns.iter_mut().for_each(Vec::clear);
        let mut bytes = 0;
        while block.rows < self.in_block.unwrap_or(BLOCK) {
            self.reader.get_mut().since = 0;
            let read = self.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| not_read(error, self.input))? {
                break;
            }
            for (column, field) in block.columns.iter_mut().zip(&self.record) {
                column.extend_from_slice(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_le_bytes());
                column.extend_from_slice(field);
            }
            self.last = self.record.position().map_or(self.last, csv::Position::byte);
            block.rows += 1;
            bytes += self.record.as_slice().len();
            if self.in_block.is_none() && bytes > BLOCK_BYTES {
                break;
            }
            if bytes > MOST_TEXT {
                return Err(too_much_text());
            }
        }
        self.in_block.get_or_insert(block.rows);
        Ok(())
    }
}

/// The fields of a file.
struct Table {
    names: Vec<String>,
    /// Notes on names and missing content.
    notes: Vec<String>,
    columns: Vec<Gathered>,
    spool: Spool,
    rows: u64,
    in_block: u64,
}

impl Table {
    fn read(input: &Input, delimiter: u8) -> Result<Self> {
        let source = Source { input, position: 0, since: 0 };
        let mut reader =
            ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 20).from_reader(source);
        let headers = reader.byte_headers().map_err(|error| not_read(error, input))?.clone();
        if headers.len() > MOST_COLUMNS {
            return Err(unsupported(format!(
                "the file has {} columns, more than {MOST_COLUMNS}",
                headers.len()
            )));
        }
        let texts: Option<Vec<&str>> = headers.iter().map(|name| std::str::from_utf8(name).ok()).collect();
        let texts = texts.ok_or_else(|| corrupt("the name of a column is not UTF-8"))?;
        if texts.is_empty() {
            return Err(corrupt("the file is empty: it has no line with the names of columns"));
        }
        let names = names::of_columns(texts.iter().copied());
        let notes = names::notes(texts, &names);
        let mut columns = Vec::new();
        columns.resize_with(names.len(), Gathered::default);
        let mut table = Self { names, notes, columns, spool: Spool::new(), rows: 0, in_block: BLOCK };
        let mut records = Records { input, reader, record: ByteRecord::new(), in_block: None, last: 0 };
        let [mut block, mut next] = [headers.len(); 2].map(Block::new);
        records.fill(&mut block)?;
        while block.rows > 0 {
            // The next rows are read while column types are inferred from the current rows.
            let (filled, taken) = rayon::join(|| records.fill(&mut next), || table.take(&block));
            taken.and(filled)?;
            std::mem::swap(&mut block, &mut next);
        }
        table.in_block = records.in_block.unwrap_or(BLOCK);
        check_end(input, records.last, delimiter)?;
        if table.rows == 0 {
            table
                .notes
                .push("/: the file has no rows behind the names, so that the columns are empty".to_owned());
        }
        Ok(table)
    }

    /// Processes the fields of a block.
    fn take(&mut self, block: &Block) -> Result<()> {
        self.rows += block.rows;
        self.columns.par_iter_mut().zip(&block.columns).for_each(|(column, fields)| {
            Texts(fields).for_each(|field| column.guess.see(field.trim_ascii()));
        });
        for (column, fields) in self.columns.iter_mut().zip(&block.columns) {
            column.pieces.push(self.spool.push(fields)?);
        }
        Ok(())
    }
}

/// Returns an error if the file ends inside quotes, since it is truncated. `last` is the position of the last row.
fn check_end(input: &Input, last: u64, delimiter: u8) -> Result<()> {
    let mut row = input.read(last, input.length().saturating_sub(last))?;
    // If a quote is still open, the additional line belongs to the same row.
    row.extend(b"\nbehind\n");
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(&row[..]);
    let (mut end, mut has_ended) = (ByteRecord::new(), false);
    while reader.read_byte_record(&mut end).map_err(|error| not_read(error, input))? {
        has_ended = end.iter().eq([b"behind"]);
    }
    if has_ended { Ok(()) } else { Err(corrupt("the file is truncated: it ends inside quotes")) }
}

/// Returns the error for a file that cannot be read.
fn not_read(error: csv::Error, input: &Input) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            unsupported(format!("a row has more than {MOST_ROW} bytes"))
        }
        csv::ErrorKind::Io(error) => failed(&format!("reading '{}'", input.path().display()), error),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.map_or(0, |position| position.line());
            corrupt(format!("line {line} has {len} fields instead of {expected_len}"))
        }
        kind => corrupt(format!("the file is not CSV: {kind:?}")),
    }
}

/// The bytes of a file, with a limit on the size of each row.
struct Source<'i> {
    input: &'i Input,
    position: u64,
    /// The number of bytes read for the current row.
    since: u64,
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.since > MOST_ROW {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.input.read_into(out, self.position).map_err(io::Error::other)?;
        self.position += length as u64;
        self.since += length as u64;
        Ok(length)
    }
}

/// A column of strings in the temporary file.
#[derive(Debug)]
struct Fields {
    name: String,
    pieces: Vec<Piece>,
    parser: Parser,
    spool: Arc<Input>,
    in_block: u64,
}

impl Rows for Fields {
    fn read(&self, block: u64) -> Result<Values> {
        let piece = usize::try_from(block).ok().and_then(|block| self.pieces.get(block));
        let bytes = piece.ok_or_else(|| corrupt("unknown block"))?.read(&self.spool)?;
        let place = |error: Error| error.at(format!("column '{}'", self.name));
        let is_text = self.parser.is_text();
        let most = usize::try_from(self.in_block).unwrap_or(usize::MAX);
        let texts = Texts(&bytes).take(most).map(|text| if is_text { text } else { text.trim_ascii() });
        self.parser.parse(texts).map_err(place)?.map_err(|at| {
            let text = Texts(&bytes).nth(at).unwrap_or_default();
            let row = block * self.in_block + at as u64 + 1;
            let text = String::from_utf8_lossy(&text[..text.len().min(50)]).into_owned();
            let data_type = self.parser.data_type();
            place(corrupt(format!("row {row} has '{}', which is not a {data_type}", text.escape_debug())))
        })
    }
}

/// Strings, each preceded by its length in four bytes.
struct Texts<'b>(&'b [u8]);

impl<'b> Iterator for Texts<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}
