//! NetCDF-3 as Zarr: the classic, 64-bit offset and 64-bit data formats.
//!
//! Specification: <https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html>
//!
//! The only existing crate for this format reads whole variables into memory and does not support 64-bit data.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::json::Json;
use zarrox::stores::MemoryStore;
use zarrox::{DataType, DynArray, Format, OpenOptions, Result, codecs};

use crate::chunks::rows::{CHUNK, ElementLocation, Form, Ordered, Rows, Whole};
use crate::chunks::{Chunks, Elements, EncodedOnRead, each_position};
use crate::input::{Input, corrupt};
use crate::inventory::{Inventories, Inventory, counted};
use crate::netcdf::{Attributes, Described, Hierarchy, Kind, NcType, Origin, name_of, text_of};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The magic number of a file. It is followed by the version.
pub(crate) const SIGNATURE: &[u8] = b"CDF";

/// The record count in a file that was written as a stream.
const STREAMING: u64 = u32::MAX as u64;

/// The maximum number of header bytes that are read at once.
const PIECE: u64 = 1 << 16;

/// Opens a file as a Zarr store.
pub(crate) fn open(input: &Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let header = Header::read(input)?;
    let documents = MemoryStore::new();
    let Described { mut attributes, mut notes, .. } = described(None, &header.attributes);
    attributes.extend(header.hierarchy().finish().remove("").unwrap_or_default());
    notes.iter_mut().for_each(|note| note.insert_str(0, "/: "));
    let mut inventories = Inventories::default();
    inventories.add("", Inventory::group(counted(&attributes)));
    let options = OpenOptions::new().format(Format::V3);
    options.create_group((Arc::new(documents.clone()), ""))?.set_attributes(attributes)?;
    let (mut arrays, mut left_out) = (BTreeMap::<String, Box<dyn Chunks>>::new(), Vec::new());
    for variable in &header.variables {
        let made = match arrays.contains_key(&variable.name) {
            true => Err(corrupt("there is another variable of this name")),
            false => header.array(variable, input, &documents, reading.is_plain),
        };
        let name = &variable.name;
        match made {
            Ok((chunks, counted, of_array)) => {
                inventories.add(name, counted);
                arrays.insert(name.clone(), chunks);
                notes.extend(of_array.into_iter().map(|note| format!("/{name}: {note}")));
            }
            Err(error) => left_out.push(LeftOut::new(format!("/{name}"), &error)),
        }
    }
    let location = input.path().display().to_string();
    Ok(FileStore::counted(location, documents, arrays, left_out, inventories).with_notes(notes))
}

/// Returns the Zarr attributes of an array with the given data type, or of the file.
fn described(elements: Option<&DataType>, attributes: &[Attribute]) -> Described {
    let mut all = Attributes::new(Origin::NetCdf, elements).setting_fill();
    for (name, value, of) in attributes {
        all.add(name, value.clone(), Some(*of));
    }
    all.finish()
}

/// Returns the data type for a NetCDF type number.
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
        _ => return Err(corrupt(format!("unknown type {number} of NetCDF-3"))),
    })
}

/// The name, value and type of an attribute.
type Attribute = (String, Json, NcType);

/// The header of a file.
#[derive(Debug)]
struct Header {
    kind: Kind,
    records: u64,
    /// The names and lengths of dimensions. The record dimension has length 0.
    dimensions: Vec<(String, u64)>,
    attributes: Vec<Attribute>,
    variables: Vec<Variable>,
    /// The size in bytes of a record, which contains all record variables.
    record: u64,
}

#[derive(Debug)]
struct Variable {
    name: String,
    dimensions: Vec<usize>,
    attributes: Vec<Attribute>,
    data_type: DataType,
    begin: u64,
}

/// Reads the header in blocks, so that a damaged length cannot cause an allocation larger than the file.
struct Reader<'i> {
    input: &'i Input,
    position: u64,
    piece: Vec<u8>,
    /// The position in the file of the first byte of the block.
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
        let bytes = bytes.ok_or_else(|| corrupt("the header is truncated"))?.to_vec();
        self.position = end;
        Ok(bytes)
    }

    fn number(&mut self, size: u64) -> Result<u64> {
        Ok(self.bytes(size)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Reads a count or length, which has 8 bytes in the 64-bit data format.
    fn count(&mut self) -> Result<u64> {
        self.number(if self.version == 5 { 8 } else { 4 })
    }

    /// Reads bytes, and skips the padding to a multiple of four bytes.
    fn padded(&mut self, length: u64) -> Result<Vec<u8>> {
        let bytes = self.bytes(length)?;
        self.bytes(length.wrapping_neg() % 4)?;
        Ok(bytes)
    }

    fn name(&mut self) -> Result<String> {
        let length = self.count()?;
        let name = name_of(self.padded(length)?);
        if name.is_empty() { Err(corrupt("a name is empty")) } else { Ok(name) }
    }

    /// Reads a list of entries with the given tag. The list may be empty.
    fn list<T>(&mut self, tag: u64, mut entry: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let (found, count) = (self.number(4)?, self.count()?);
        if found != tag && (found, count) != (0, 0) {
            return Err(corrupt(format!("expected the list tag {tag}, found {found}")));
        }
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(self)?);
        }
        Ok(entries)
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>> {
        self.list(0x0c, |reader| {
            let name = reader.name()?;
            let data_type = data_type(reader.number(4)?)?;
            let count = reader.count()?;
            let size =
                count.checked_mul(data_type.size() as u64).ok_or_else(|| corrupt("a value is too long"))?;
            let bytes = reader.padded(size)?;
            let of = NcType::of_elements(&data_type).unwrap_or(NcType::Char);
            Ok((name, value(&data_type, bytes), of))
        })
    }
}

/// Returns the value of an attribute. A single number becomes a number, not a list.
fn value(data_type: &DataType, mut bytes: Vec<u8>) -> Json {
    if data_type.is_named("null_terminated_bytes") {
        let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(length);
        return text_of(bytes).into();
    }
    let mut list: Vec<Json> =
        bytes.chunks_exact(data_type.size()).map(|bytes| number(data_type, bytes)).collect();
    if list.len() == 1 { list.swap_remove(0) } else { list.into() }
}

/// Decodes a big-endian number. A 32-bit float becomes the equal 64-bit float, so that its JSON representation is exact.
fn number(data_type: &DataType, bytes: &[u8]) -> Json {
    let bits = bytes.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
    let unused = 64 - 8 * u32::try_from(bytes.len()).unwrap_or(8).min(8);
    match data_type {
        DataType::Float32 => f64::from(f32::from_bits(u32::try_from(bits).unwrap_or(0))).into(),
        DataType::Float64 => f64::from_bits(bits).into(),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => bits.into(),
        _ => (bits.cast_signed().wrapping_shl(unused) >> unused).into(),
    }
}

impl Header {
    fn read(input: &Input) -> Result<Self> {
        let mut reader = Reader { input, position: 3, piece: Vec::new(), start: 0, version: 0 };
        reader.version = u8::try_from(reader.number(1)?).unwrap_or(0);
        if !matches!(reader.version, 1 | 2 | 5) {
            return Err(corrupt(format!("unknown version {} of NetCDF-3", reader.version)));
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
        let kind = match reader.version {
            1 => Kind::Classic,
            2 => Kind::Offset64,
            _ => Kind::Data64,
        };
        let mut header = Self { kind, records, dimensions, attributes, variables, record: 0 };
        header.check_dimensions()?;
        header.count_records(input, reader.version)?;
        Ok(header)
    }

    /// Checks the rules for dimensions: names must be unique, and there can be only one record dimension, which must be
    /// the first dimension of its variables.
    fn check_dimensions(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        if let Some((name, _)) = self.dimensions.iter().find(|(name, _)| !names.insert(name.as_str())) {
            return Err(corrupt(format!("there are two dimensions with the name '{name}'")));
        }
        if self.dimensions.iter().filter(|(_, length)| *length == 0).count() > 1 {
            return Err(corrupt("there are two record dimensions"));
        }
        let is_inside = |variable: &&Variable| {
            variable.dimensions.iter().skip(1).any(|&number| self.dimensions[number].1 == 0)
        };
        match self.variables.iter().find(is_inside) {
            Some(variable) => {
                let name = &variable.name;
                Err(corrupt(format!("the record dimension is not the first dimension of variable '{name}'")))
            }
            None => Ok(()),
        }
    }

    /// Returns the NetCDF properties of the file that have no equivalent in Zarr.
    fn hierarchy(&self) -> Hierarchy {
        let mut hierarchy = Hierarchy::new(self.kind);
        for (name, length) in &self.dimensions {
            let is_unlimited = *length == 0;
            let length = if is_unlimited { self.records } else { *length };
            hierarchy.dimension("", name, length, is_unlimited);
        }
        for variable in &self.variables {
            hierarchy.variable(&variable.name, &self.shape(variable), &self.names(variable));
        }
        hierarchy
    }

    /// Returns the shape of a variable, including all its records.
    fn shape(&self, variable: &Variable) -> Vec<u64> {
        let records = self.is_recorded(variable).then_some(self.records);
        records.into_iter().chain(self.inner_shape(variable)).collect()
    }

    /// Returns the dimension names of a variable.
    fn names(&self, variable: &Variable) -> Vec<Option<String>> {
        variable.dimensions.iter().map(|&number| Some(self.dimensions[number].0.clone())).collect()
    }

    /// Returns true if a variable has the record dimension.
    fn is_recorded(&self, variable: &Variable) -> bool {
        variable.dimensions.first().is_some_and(|&first| self.dimensions[first].1 == 0)
    }

    /// Returns the shape of a variable within a single record, or the whole shape of a variable without records.
    fn inner_shape(&self, variable: &Variable) -> Vec<u64> {
        let skipped = usize::from(self.is_recorded(variable));
        variable.dimensions[skipped..].iter().map(|&dimension| self.dimensions[dimension].1).collect()
    }

    /// Returns the size in bytes of a variable within a single record.
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
            // Variables in a record are aligned to four bytes, unless there is only one record variable.
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

    /// Creates the metadata document of a variable. Returns the object that reads its chunks, its inventory, and notes.
    fn array(
        &self,
        variable: &Variable,
        input: &Arc<Input>,
        documents: &MemoryStore,
        is_plain: bool,
    ) -> Result<(Box<dyn Chunks>, Inventory, Vec<String>)> {
        self.check_length(variable, input)?;
        let inner = self.inner_shape(variable);
        let item = variable.data_type.size() as u64;
        let place = ElementLocation::File(Arc::clone(input), variable.begin);
        let available = input.length().saturating_sub(variable.begin);
        let is_recorded = self.is_recorded(variable);
        let place = if is_recorded && self.records == 0 { ElementLocation::Absent } else { place };
        let rows = Rows::new(place, &inner, item, available)?;
        let Described { attributes, fill, notes } =
            described(Some(&variable.data_type), &variable.attributes);
        let form = Ordered { data_type: variable.data_type.clone(), endian: Endian::Big };
        let elements: Box<dyn Elements> = if is_recorded {
            Box::new(Records::new(rows, self, self.inner_size(variable)?, form))
        } else {
            Box::new(Whole { rows, form })
        };
        let counted = Inventory::array(counted(&attributes), &self.shape(variable));
        let builder = OpenOptions::new().format(Format::V3);
        let builder = builder.create_array((Arc::new(documents.clone()), &variable.name));
        let builder = builder.shape(self.shape(variable)).chunks(elements.chunk_shape());
        let builder = builder.data_type(variable.data_type.clone()).attributes(attributes);
        let builder = builder.optional_dimension_names(self.names(variable));
        let builder = match fill {
            Some(fill) => builder.fill_value_json(fill),
            None => builder,
        };
        let array = if is_plain { builder.no_compressor() } else { builder }.create()?;
        Ok((Box::new(EncodedOnRead::new(&array, elements)?), counted, notes))
    }

    /// Checks that a variable is inside the file.
    fn check_length(&self, variable: &Variable, input: &Input) -> Result<()> {
        let size = self.inner_size(variable)?;
        let before = match self.is_recorded(variable) {
            true if self.records == 0 => return Ok(()),
            true => (self.records - 1).checked_mul(self.record),
            false => Some(0),
        };
        let end = before.and_then(|before| variable.begin.checked_add(before)?.checked_add(size));
        let end = end.ok_or_else(|| corrupt("its offset is invalid"))?;
        if end <= input.length() {
            return Ok(());
        }
        let length = input.length();
        Err(corrupt(format!("the file is truncated: it has {length} bytes, and this variable ends at {end}")))
    }
}

/// The elements of a variable with the record dimension. In the file, the records of all variables are interleaved.
#[derive(Debug)]
struct Records {
    /// The elements of the first record.
    rows: Rows,
    form: Ordered,
    records: u64,
    /// The number of records in a chunk.
    in_chunk: u64,
    /// The stride between records in bytes.
    stride: u64,
    grid: Vec<u64>,
}

impl Records {
    fn new(rows: Rows, header: &Header, size: u64, form: Ordered) -> Self {
        let (records, stride) = (header.records, header.record);
        let is_whole = rows.grid().iter().all(|&count| count <= 1);
        let in_chunk = if is_whole { (CHUNK / size.max(1)).clamp(1, records.max(1)) } else { 1 };
        let grid = std::iter::once(records.div_ceil(in_chunk)).chain(rows.grid().iter().copied()).collect();
        Self { rows, form, records, in_chunk, stride, grid }
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
