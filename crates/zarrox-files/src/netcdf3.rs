//! NetCDF-3 as Zarr: the classic format, and those with 64-bit offsets and 64-bit data.
//!
//! Specification: <https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html>
//!
//! The only crate for this format reads whole variables into memory, and does not know 64-bit data.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use zarrox::data_type::{ByteOrder, Endian};
use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{DataType, DynArray, Format, OpenOptions, Result, codecs};

use crate::chunks::{Chunks, Elements, EncodedOnRead, each_position};
use crate::fill;
use crate::input::{Input, corrupt};
use crate::rows::{CHUNK, Form, Ordered, Place, Rows, Whole};
use crate::store::{FileStore, LeftOut};

/// The first bytes of a file, behind which its version follows.
pub(crate) const SIGNATURE: &[u8] = b"CDF";

/// The number of records of a file that was written without knowing it.
const STREAMING: u64 = u32::MAX as u64;

/// The most bytes of the header that are read at once.
const PIECE: u64 = 1 << 16;

/// Opens a file as a store of Zarr.
pub(crate) fn open(path: &Path, is_plain: bool) -> Result<FileStore> {
    let input = Arc::new(Input::open(path)?);
    let header = Header::read(&input)?;
    let documents = MemoryStore::new();
    let options = OpenOptions::new().format(Format::V3);
    let attributes = header.attributes.clone();
    options.create_group_in(Arc::new(documents.clone()), "")?.set_attributes(attributes)?;
    let (mut arrays, mut left_out) = (BTreeMap::<String, Box<dyn Chunks>>::new(), Vec::new());
    for variable in &header.variables {
        let made = header.array(variable, &input, &documents, is_plain);
        match made {
            Ok(chunks) => {
                arrays.insert(variable.name.clone(), chunks);
            }
            Err(error) => {
                left_out.push(LeftOut { path: format!("/{}", variable.name), reason: error.to_string() });
            }
        }
    }
    Ok(FileStore::new(input.path().display().to_string(), documents, arrays, left_out))
}

/// The types of values, by their numbers.
fn data_type(number: u64) -> Result<DataType> {
    Ok(match number {
        1 => DataType::Int8,
        2 => DataType::parse("|S1", &codecs::registry())?,
        3 => DataType::Int16,
        4 => DataType::Int32,
        5 => DataType::Float32,
        6 => DataType::Float64,
        7 => DataType::UInt8,
        8 => DataType::UInt16,
        9 => DataType::UInt32,
        10 => DataType::Int64,
        11 => DataType::UInt64,
        _ => return Err(corrupt(format!("there is no type of number {number} in NetCDF"))),
    })
}

/// The header of a file.
#[derive(Debug)]
struct Header {
    records: u64,
    /// The names and the lengths of dimensions; that of records has the length 0.
    dimensions: Vec<(String, u64)>,
    attributes: Map,
    variables: Vec<Variable>,
    /// The size of a record of all variables, in bytes.
    record: u64,
}

#[derive(Debug)]
struct Variable {
    name: String,
    dimensions: Vec<usize>,
    attributes: Map,
    data_type: DataType,
    begin: u64,
}

/// Reads the header piece by piece, so that no length in it takes memory that the file does not have.
struct Reader<'i> {
    input: &'i Input,
    position: u64,
    piece: Vec<u8>,
    /// The position of the first byte of the piece.
    start: u64,
    version: u8,
}

impl Reader<'_> {
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        let end = self.position.checked_add(length).ok_or_else(|| corrupt("a length is too large"))?;
        if length > PIECE {
            let bytes = self.input.read(self.position, length)?;
            self.position = end;
            return Ok(bytes);
        }
        if end > self.start + self.piece.len() as u64 {
            let most = self.input.length().saturating_sub(self.position).min(PIECE);
            self.piece = self.input.read(self.position, most)?;
            self.start = self.position;
        }
        let first = usize::try_from(self.position - self.start).unwrap_or(usize::MAX);
        let bytes = usize::try_from(length).ok().and_then(|length| self.piece.get(first..)?.get(..length));
        let bytes = bytes.ok_or_else(|| corrupt("the header is cut off"))?.to_vec();
        self.position = end;
        Ok(bytes)
    }

    fn number(&mut self, size: u64) -> Result<u64> {
        Ok(self.bytes(size)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A count or a length, which has 8 bytes in files of 64-bit data.
    fn count(&mut self) -> Result<u64> {
        self.number(if self.version == 5 { 8 } else { 4 })
    }

    /// Bytes with their padding to a multiple of four.
    fn padded(&mut self, length: u64) -> Result<Vec<u8>> {
        let bytes = self.bytes(length)?;
        self.bytes(length.wrapping_neg() % 4)?;
        Ok(bytes)
    }

    fn name(&mut self) -> Result<String> {
        let length = self.count()?;
        String::from_utf8(self.padded(length)?).map_err(|_| corrupt("a name is not in UTF-8"))
    }

    /// A list of entries, which has this tag unless it is empty.
    fn list<T>(&mut self, tag: u64, mut entry: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let (found, count) = (self.number(4)?, self.count()?);
        if found != tag && (found, count) != (0, 0) {
            return Err(corrupt(format!("there is the list {found} instead of {tag}")));
        }
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(self)?);
        }
        Ok(entries)
    }

    fn attributes(&mut self) -> Result<Map> {
        let list = self.list(0x0c, |reader| {
            let name = reader.name()?;
            let data_type = data_type(reader.number(4)?)?;
            let count = reader.count()?;
            let size =
                count.checked_mul(data_type.size() as u64).ok_or_else(|| corrupt("a value is too long"))?;
            let bytes = reader.padded(size)?;
            Ok((name, value(&data_type, bytes)?))
        })?;
        Ok(list.into_iter().collect())
    }
}

/// The value of an attribute.
fn value(data_type: &DataType, mut bytes: Vec<u8>) -> Result<Json> {
    if data_type.is_named("null_terminated_bytes") {
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        let text = String::from_utf8(bytes);
        return Ok(text
            .unwrap_or_else(|old| old.as_bytes().iter().map(|&byte| char::from(byte)).collect())
            .into());
    }
    let count = bytes.len() / data_type.size();
    let order = ByteOrder::One(Endian::Big);
    let numbers = DynArray::from_foreign(data_type.clone(), vec![count], bytes, &order, false)?;
    let registry = codecs::registry();
    let family = registry.family(data_type)?;
    let mut list = numbers.elements().map(|element| {
        let number = family.fill_to_v3(data_type, &zarrox::FillValue::new(element));
        // Metadata say them in words, and attributes as numbers.
        match number.as_str() {
            Some("NaN") => Json::from(f64::NAN),
            Some("Infinity") => Json::from(f64::INFINITY),
            Some("-Infinity") => Json::from(f64::NEG_INFINITY),
            Some(_) => Json::from(f64::NAN),
            None => number,
        }
    });
    if count == 1 { Ok(list.next().unwrap_or(Json::Null)) } else { Ok(list.collect()) }
}

impl Header {
    fn read(input: &Input) -> Result<Self> {
        let mut reader = Reader { input, position: 3, piece: Vec::new(), start: 0, version: 0 };
        reader.version = u8::try_from(reader.number(1)?).unwrap_or(0);
        if !matches!(reader.version, 1 | 2 | 5) {
            return Err(corrupt(format!("there is no version {} of NetCDF-3", reader.version)));
        }
        let records = reader.count()?;
        let dimensions = reader.list(0x0a, |reader| Ok((reader.name()?, reader.count()?)))?;
        let attributes = reader.attributes()?;
        let variables = reader.list(0x0b, |reader| {
            let name = reader.name()?;
            let mut own = Vec::new();
            for _ in 0..reader.count()? {
                let number =
                    usize::try_from(reader.count()?).ok().filter(|&number| number < dimensions.len());
                own.push(
                    number.ok_or_else(|| corrupt(format!("variable '{name}' has an unknown dimension")))?,
                );
            }
            let attributes = reader.attributes()?;
            let data_type = data_type(reader.number(4)?)?;
            reader.count()?;
            let begin = reader.number(if reader.version == 1 { 4 } else { 8 })?;
            Ok(Variable { name, dimensions: own, attributes, data_type, begin })
        })?;
        let mut header = Self { records, dimensions, attributes, variables, record: 0 };
        header.count_records(input, reader.version)?;
        Ok(header)
    }

    /// Returns true if a variable has a value for each record.
    fn is_recorded(&self, variable: &Variable) -> bool {
        variable.dimensions.first().is_some_and(|&first| self.dimensions[first].1 == 0)
    }

    /// The shape of a variable in one record, or of all of one that has no records.
    fn inner_shape(&self, variable: &Variable) -> Vec<u64> {
        let skipped = usize::from(self.is_recorded(variable));
        variable.dimensions[skipped..].iter().map(|&dimension| self.dimensions[dimension].1).collect()
    }

    /// The size of a variable in one record, in bytes.
    fn inner_size(&self, variable: &Variable) -> Result<u64> {
        let item = variable.data_type.size() as u64;
        let size = self.inner_shape(variable).iter().try_fold(item, |size, &length| size.checked_mul(length));
        size.ok_or_else(|| corrupt(format!("variable '{}' is too large", variable.name)))
    }

    fn count_records(&mut self, input: &Input, version: u8) -> Result<()> {
        let recorded: Vec<&Variable> =
            self.variables.iter().filter(|variable| self.is_recorded(variable)).collect();
        let mut record = 0_u64;
        for variable in &recorded {
            // Variables in a record begin at multiples of four bytes, unless there is only one.
            let size = self.inner_size(variable)?;
            let size = if recorded.len() == 1 { size } else { size.next_multiple_of(4) };
            record = record.checked_add(size).ok_or_else(|| corrupt("a record is too large"))?;
        }
        let unknown = if version == 5 { u64::MAX } else { STREAMING };
        if self.records == unknown {
            let first = recorded.iter().map(|variable| variable.begin).min().unwrap_or(0);
            self.records = input.length().saturating_sub(first).checked_div(record).unwrap_or(0);
        }
        self.record = record;
        Ok(())
    }

    /// Creates the document of a variable, and the way to its chunks.
    fn array(
        &self,
        variable: &Variable,
        input: &Arc<Input>,
        documents: &MemoryStore,
        is_plain: bool,
    ) -> Result<Box<dyn Chunks>> {
        let inner = self.inner_shape(variable);
        let item = variable.data_type.size() as u64;
        let place = Place::File(Arc::clone(input), variable.begin);
        let available = input.length().saturating_sub(variable.begin);
        let is_recorded = self.is_recorded(variable);
        let place = if is_recorded && self.records == 0 { Place::Nowhere } else { place };
        let rows = Rows::new(place, &inner, item, available)?;
        let names = variable.dimensions.iter().map(|&number| Some(self.dimensions[number].0.clone()));
        let mut attributes = variable.attributes.clone();
        let fill = attributes.get("_FillValue").filter(|fill| fill.is_number()).cloned();
        fill::encode(&variable.data_type, &mut attributes);
        let form = Ordered { data_type: variable.data_type.clone(), endian: Endian::Big };
        let (shape, elements): (Vec<u64>, Box<dyn Elements>) = if is_recorded {
            let shape = std::iter::once(self.records).chain(inner).collect();
            (shape, Box::new(Records::new(rows, self, self.inner_size(variable)?, available, form)?))
        } else {
            (inner, Box::new(Whole { rows, form }))
        };
        let chunks = elements.chunk_shape();
        let builder = OpenOptions::new().format(Format::V3);
        let builder = builder.create_array_in(Arc::new(documents.clone()), &variable.name);
        let builder = builder.shape(shape).chunks(chunks).data_type(variable.data_type.clone());
        let builder = builder.attributes(attributes).optional_dimension_names(names);
        let builder = match fill {
            Some(fill) => builder.fill_value_json(words(fill)),
            None => builder,
        };
        let array = if is_plain { builder.no_compressor() } else { builder }.create()?;
        Ok(Box::new(EncodedOnRead::new(&array, elements)?))
    }
}

/// A number as fill values in metadata say it.
fn words(number: Json) -> Json {
    let Json::Number(value) = &number else { return number };
    match value.to_f64() {
        value if value.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        _ => number,
    }
}

/// The elements of a variable that has a value for each record: records of all variables take turns in the file.
#[derive(Debug)]
struct Records {
    /// The elements of the first record.
    rows: Rows,
    form: Ordered,
    records: u64,
    /// The number of records of a chunk.
    in_chunk: u64,
    /// The distance of records in bytes.
    stride: u64,
    grid: Vec<u64>,
}

impl Records {
    fn new(rows: Rows, header: &Header, size: u64, available: u64, form: Ordered) -> Result<Self> {
        let (records, stride) = (header.records, header.record);
        let last = records.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(size));
        if records > 0 && rows.any() && last.is_none_or(|size| size > available) {
            return Err(corrupt(format!("there are {available} bytes, fewer than {records} records need")));
        }
        let is_whole = rows.grid().iter().all(|&count| count <= 1);
        let in_chunk = if is_whole { (CHUNK / size.max(1)).clamp(1, records.max(1)) } else { 1 };
        let grid = std::iter::once(records.div_ceil(in_chunk)).chain(rows.grid().iter().copied()).collect();
        Ok(Self { rows, form, records, in_chunk, stride, grid })
    }
}

impl Elements for Records {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        std::iter::once(self.in_chunk).chain(self.rows.chunk_shape().iter().copied()).collect()
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        self.rows.any() && self.records > 0
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.is_stored(&[]) { each_position(&self.grid, visit) } else { ControlFlow::Continue(()) }
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let (first, inner) = chunk.split_first().ok_or_else(|| corrupt("a chunk has no record"))?;
        let first = first * self.in_chunk;
        let mut bytes = Vec::new();
        for record in first..(first + self.in_chunk).min(self.records) {
            bytes.append(&mut self.rows.read_behind(record * self.stride, inner)?);
        }
        let whole = self.chunk_shape();
        let item = self.form.data_type.size() as u64;
        let size = whole.iter().fold(item, |size, &length| size.saturating_mul(length));
        bytes.resize(usize::try_from(size).map_err(|_| corrupt("a chunk is too large"))?, 0);
        self.form.elements(&whole, bytes)
    }
}
