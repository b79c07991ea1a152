//! Writes arrays to a file: their HDF5 datatypes, layouts and elements.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;
use zarrox::codec::{CHUNK_LIMIT, EncodeOptions};
use zarrox::codecs::{ByteShuffle, Zlib};
use zarrox::data_type::{Storage as Memory, TimeKind, TimeUnit};
use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{
    AccessOptions, Array, CodecChain, DataType, DimSelection, DynArray, Format, OpenOptions, Result,
    Strictness,
};
use zarrox_tools::copy::missing;

use super::appended::Appended;
use super::attributes::{self, Attributes, Elements};
use super::datatype::{self, Encoded};
use super::heap::Heap;
use super::index::{Chunk, index};
use super::messages::{self, Filter, Header, kind};
use super::names;
use super::options::{Convention, Options};
use super::path::{name, parent};
use super::sparse;
use crate::chunks::each_position;
use crate::chunks::rows::{CHUNK, runs};
use crate::fill::{self, FILL_VALUE};
use crate::input::{corrupt, unsupported, zeroed};
use crate::netcdf::{self, NcType, Shaped, Storage};

/// The IDs of HDF5 filters.
const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;

/// The format of the elements in the file.
#[derive(Debug, Clone)]
enum Form {
    /// Elements of the given type, unchanged.
    Same(DataType),
    /// References to strings.
    Text,
    /// References to lists, with the size of a list element in bytes.
    Lists(usize),
}

/// An array to write.
pub(super) struct Source {
    /// The path of the array in the hierarchy.
    pub(super) path: String,
    pub(super) attributes: Attributes,
    /// The path of the user-defined type of the elements, if there is one.
    pub(super) user_type: Option<String>,
    /// The dimension names, including the name of the string-length dimension of fixed-length strings.
    pub(super) names: Vec<Option<String>>,
    pub(super) array: Array,
    pub(super) datatype: Encoded,
    shape: Vec<u64>,
    form: Form,
    /// The length of fixed-length strings, if it becomes an additional dimension.
    letters: Option<u64>,
    /// The chunk shape, without the string-length dimension; `None` for contiguous elements.
    chunks: Option<Vec<u64>>,
    /// True for each dimension that can grow.
    unlimited: Vec<bool>,
    /// The storage requested by attributes.
    storage: Option<Storage>,
    filters: Vec<Filter>,
    /// True if stored chunks are copied unchanged.
    is_copied: bool,
    chain: Option<CodecChain>,
}

/// The layout message, which contains the location of the elements in the file.
pub(super) struct Placed(Vec<u8>);

/// A chunk that is ready to be written to the file.
enum Ready {
    Bytes(Vec<u8>),
    /// Variable-length values.
    Values(Vec<Vec<u8>>, usize),
}

impl Source {
    pub(super) fn new(path: String, array: Array, options: &Options<'_>) -> Result<Self> {
        let convention = options.convention;
        if let Some(why) = array.unreadable() {
            return Err(unsupported(why));
        }
        names::check(name(&path), convention)?;
        let mut attributes = array.attributes().clone();
        let mut names = names_of(&array, &mut attributes);
        names.iter().flatten().try_for_each(|name| names::check(name, convention))?;
        let (mut datatype, form, letters) = form_of(&array, convention, &mut attributes)?;
        let mut shape = array.shape().to_vec();
        if let Some(letters) = letters {
            shape.push(letters);
            names.push(Some(format!("string{letters}")));
        }
        let enumeration = enumeration(&array, convention, &mut attributes);
        let is_enumeration = enumeration.is_some();
        datatype = enumeration.unwrap_or(datatype);
        if convention == Convention::NetCdf {
            netcdf_attributes(&array, &form, &mut attributes);
        }
        if let Some(value) = attributes.get_mut(FILL_VALUE) {
            *value = missing_number(array.data_type(), value);
        }
        if let Some(text) = missing_text(&array, convention, &attributes)? {
            attributes.insert(FILL_VALUE.to_owned(), text.into());
        }
        let is_user = matches!(
            array.data_type(),
            DataType::Struct(_) | DataType::RawBits(_) | DataType::Complex64 | DataType::Complex128
        );
        let user_type = (convention == Convention::NetCdf && (is_user || is_enumeration)).then(|| {
            let usual = || format!("{}_t", name(&path));
            netcdf::user_type(&attributes).map_or_else(usual, str::to_owned)
        });
        let elements = elements_of(&array, &form, is_enumeration);
        let storage = Storage::of(&attributes);
        let attributes = Attributes::new(&path, &attributes, elements, options)?;
        Ok(Self {
            path,
            attributes,
            user_type,
            names,
            array,
            datatype,
            unlimited: vec![false; shape.len()],
            shape,
            form,
            letters,
            chunks: None,
            storage,
            filters: Vec::new(),
            is_copied: false,
            chain: None,
        })
    }

    /// Chooses chunks and filters. `unlimited` is true for each dimension that can grow. An array with an unlimited
    /// dimension must be chunked.
    pub(super) fn lay_out(&mut self, unlimited: Vec<bool>) -> Result<()> {
        let (array, item) = (&self.array, self.datatype.size as u64);
        let size = self.shape.iter().fold(item, |size, &length| size.saturating_mul(length));
        let grows = unlimited.contains(&true);
        let own = array.unit_shape().into_iter().zip(array.shape()).zip(&unlimited);
        // HDF5 rejects chunks that are longer than the array along a dimension that cannot grow.
        let own = own.map(|((chunk, &length), &grows)| if grows { chunk } else { chunk.min(length) }.max(1));
        let own: Vec<u64> = own.collect();
        let is_whole = own == array.unit_shape();
        let bytes = own.iter().chain(&self.letters).fold(item, |size, &length| size.saturating_mul(length));
        let copied = match &self.form {
            Form::Same(data_type) if is_whole && self.letters.is_none() && data_type == array.data_type() => {
                same_filters(&array.codecs(), data_type, array.raw().key_encoding().is_ok())
            }
            _ => None,
        };
        let has_filters = copied.as_ref().is_some_and(|filters| !filters.is_empty());
        let is_plain = match self.storage {
            Some(Storage::Contiguous) => {
                matches!(self.form, Form::Same(_)) && array.unit_shape() == runs(array.shape(), item, CHUNK)
            }
            Some(Storage::Chunked) => false,
            None => false,
        };
        let is_small = size <= Storage::SMALL && self.storage.is_none() && !has_filters;
        let is_whole = array.ndim() == 0 || (!grows && (is_small || is_plain));
        self.chunks = (!is_whole).then_some(own);
        if self.chunks.is_some() && bytes > CHUNK_LIMIT.min(u32::MAX as usize) as u64 {
            return Err(unsupported("its chunks are too large for HDF5; zarrox rechunk makes smaller ones"));
        }
        self.is_copied = copied.is_some() && self.chunks.is_some();
        self.filters = match copied {
            Some(filters) => filters,
            None if self.storage == Some(Storage::Chunked) => Vec::new(),
            None => usual_filters(array, &self.form, self.datatype.size),
        };
        self.unlimited = unlimited;
        self.chain = if self.is_copied { None } else { self.chain()? };
        Ok(())
    }

    /// Returns true if the type of the elements exists in the classic NetCDF data model.
    pub(super) fn is_classic(&self) -> bool {
        let of = match &self.form {
            Form::Same(_) if self.letters.is_some() => Some(NcType::Char),
            Form::Same(_) if self.user_type.is_some() => None,
            Form::Same(data_type) => NcType::of_elements(data_type),
            Form::Text | Form::Lists(_) => None,
        };
        let is_letter = self.array.data_type().is_named("null_terminated_bytes");
        let is_boolean = *self.array.data_type() == DataType::Bool;
        let grows_inside = self.unlimited.iter().skip(1).any(|&grows| grows);
        let is_known = is_letter || is_boolean || of.is_some_and(NcType::is_classic);
        is_known && !grows_inside && self.attributes.are_classic()
    }

    /// Returns the dimension-related properties of the array.
    pub(super) fn shaped(&self) -> Shaped {
        Shaped {
            group: parent(&self.path).unwrap_or_default().to_owned(),
            name: name(&self.path).to_owned(),
            shape: self.shape.clone(),
            names: self.names.clone(),
        }
    }

    /// Returns the codec pipeline that encodes chunks for the file.
    fn chain(&self) -> Result<Option<CodecChain>> {
        let (Form::Same(data_type), Some(chunks)) = (&self.form, &self.chunks) else { return Ok(None) };
        let shape: Vec<u64> = chunks.iter().chain(&self.letters).copied().collect();
        let store = Arc::new(MemoryStore::new());
        let builder = OpenOptions::new().format(Format::V3).create_array((store, "chunk"));
        let builder = builder.shape(shape.clone()).chunks(shape).data_type(data_type.clone()).no_compressor();
        let builder = self.filters.iter().fold(builder, |builder, (number, parameters)| {
            let parameter = parameters.first().copied().unwrap_or(0);
            match *number {
                SHUFFLE => builder.filter(ByteShuffle::element_size(parameter)),
                DEFLATE => builder.compressor(Zlib::level(i32::try_from(parameter).unwrap_or(4))),
                _ => builder,
            }
        });
        let array = builder.create()?;
        let registry = zarrox::codecs::registry();
        Ok(Some(array.metadata().chain(&registry, Strictness::Lenient, CHUNK_LIMIT)?))
    }

    /// Adds the header messages that describe the dataset. `user_type` is the address of the user-defined type of the elements.
    pub(super) fn describe(
        &self,
        placed: &Placed,
        header: &mut Header,
        heap: &mut Heap,
        user_type: Option<u64>,
    ) -> Result<()> {
        header.add(kind::DATASPACE, &messages::dataspace(&self.shape, &self.unlimited))?;
        match user_type {
            Some(address) => header.add_committed(address)?,
            None => header.add(kind::DATATYPE, &self.datatype.bytes)?,
        }
        let fill = match self.text_fill()? {
            Some(text) => Some(heap.add(&text, text.len()).to_vec()),
            None => self.fill()?,
        };
        header.add(kind::FILL_VALUE, &messages::fill_value(fill.as_deref()))?;
        header.add(kind::LAYOUT, &placed.0)?;
        if self.chunks.is_some() && !self.filters.is_empty() {
            header.add(kind::FILTERS, &messages::filters(&self.filters))?;
        }
        if self.attributes.is_fill_missing { self.describe_missing(header, user_type) } else { Ok(()) }
    }

    /// Adds the missing-value attribute of structures or opaque bytes, whose value is the fill value. `user_type` is the
    /// address of their user-defined type.
    fn describe_missing(&self, header: &mut Header, user_type: Option<u64>) -> Result<()> {
        let missing = match self.fill()? {
            Some(fill) => fill,
            None => zeroed(self.datatype.size)?,
        };
        let scalar = messages::dataspace(&[], &[]);
        match user_type {
            Some(address) => header.committed_attribute(FILL_VALUE, address, &scalar, &missing),
            None => header.attribute(FILL_VALUE, &self.datatype.bytes, &scalar, &missing),
        }
    }

    /// Returns the fill value of variable-length strings; `None` if it is the empty string, and for other elements.
    fn text_fill(&self) -> Result<Option<Vec<u8>>> {
        match self.form {
            Form::Text => Ok(Some(text_of_fill(&self.array)?).filter(|text| !text.is_empty())),
            _ => Ok(None),
        }
    }

    /// Returns the bytes of the fill value; `None` if they are all zero.
    fn fill(&self) -> Result<Option<Vec<u8>>> {
        let Form::Same(data_type) = &self.form else { return Ok(None) };
        let fill = self.array.fill_bytes();
        let bytes = fill.as_bytes();
        if bytes.iter().all(|&byte| byte == 0) || self.letters.is_some() || bytes.len() != data_type.size() {
            return Ok(None);
        }
        let fill = DynArray::new(data_type.clone(), vec![], bytes.to_vec())?;
        Ok(Some(attributes::little(fill)?))
    }

    /// Writes the elements.
    pub(super) fn write(&self, file: &mut Appended<'_>, options: Options<'_>) -> Result<Placed> {
        match &self.chunks {
            Some(chunks) => self.write_chunks(chunks, file, options),
            None => self.write_whole(file, options),
        }
    }

    /// Writes contiguous elements, run by run.
    fn write_whole(&self, file: &mut Appended<'_>, options: Options<'_>) -> Result<Placed> {
        let shape = self.array.shape();
        let item = (self.datatype.size as u64).saturating_mul(self.letters.unwrap_or(1));
        let most = match self.form {
            Form::Same(_) => (options.memory as u64 / 4).max(CHUNK),
            // Variable-length values are written before the references to them.
            Form::Text | Form::Lists(_) => u64::MAX,
        };
        let run = runs(shape, item, most);
        let grid: Vec<u64> = shape.iter().zip(&run).map(|(length, run)| length.div_ceil(*run)).collect();
        if sparse::is_empty(&self.array, &grid)? {
            let elements = shape.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
            (options.progress)(elements)?;
            return Ok(Placed(messages::contiguous(messages::NOWHERE, elements.saturating_mul(item))));
        }
        let mut address = None;
        let mut size = 0_u64;
        let mut write = |position: &[u64]| -> Result<()> {
            let lengths: Vec<u64> = position
                .iter()
                .zip(&run)
                .zip(shape)
                .map(|((index, run), length)| (*run).min(length - index * run))
                .collect();
            let region = position.iter().zip(&run).zip(&lengths);
            let region = region.map(|((index, run), length)| {
                let start = index * run;
                DimSelection::from(start..start + length)
            });
            let elements = self.array.read::<DynArray>(region.collect::<Vec<_>>())?;
            let bytes = place(self.ready(elements, &lengths)?, file)?;
            if address.is_none() {
                file.align()?;
            }
            let at = file.append(&bytes)?;
            address.get_or_insert(at);
            size += bytes.len() as u64;
            (options.progress)(lengths.iter().product())
        };
        let mut failure = Ok(());
        let _ = each_position(&grid, &mut |position| {
            failure = write(position);
            if failure.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        failure?;
        Ok(Placed(messages::contiguous(address.unwrap_or(messages::NOWHERE), size)))
    }

    fn write_chunks(&self, chunks: &[u64], file: &mut Appended<'_>, options: Options<'_>) -> Result<Placed> {
        let shape = self.array.shape();
        let grid: Vec<u64> =
            shape.iter().zip(chunks).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        let elements = chunks.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
        let bytes = elements.saturating_mul(self.datatype.size as u64).max(1);
        let threads = rayon::current_num_threads().max(1);
        let most = usize::try_from(options.memory as u64 / bytes.saturating_mul(3)).unwrap_or(usize::MAX);
        let batch = most.clamp(1, threads * 4);
        let array = self.array.with_options(&AccessOptions::new().threads(1));
        let mut written = Vec::new();
        let mut waiting: Vec<Vec<u64>> = Vec::with_capacity(batch);
        let mut failure = Ok(());
        let mut visit = |position: &[u64]| {
            waiting.push(position.to_vec());
            if waiting.len() == batch {
                failure = self.write_batch(&array, chunks, &mut waiting, file, options, &mut written);
            }
            if failure.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let _ = match sparse::stored_positions(&array, chunks, &grid)? {
            Some(stored) => stored.iter().try_for_each(|position| visit(position)),
            None => each_position(&grid, &mut visit),
        };
        failure?;
        self.write_batch(&array, chunks, &mut waiting, file, options, &mut written)?;
        let chunk_shape = chunks.iter().chain(&self.letters).map(|&length| u32::try_from(length));
        let chunk_shape = chunk_shape.collect::<Result<Vec<u32>, _>>();
        let chunk_shape = chunk_shape.map_err(|_| unsupported("its chunks are too long for HDF5"))?;
        let item =
            u32::try_from(self.datatype.size).map_err(|_| unsupported("its elements are too large"))?;
        file.align()?;
        let (tree, root) = index(&written, &chunk_shape, item, file.end);
        file.append(&tree)?;
        Ok(Placed(messages::chunked(root, &chunk_shape, item)))
    }

    /// Encodes chunks in parallel and writes them in order.
    fn write_batch(
        &self,
        array: &Array,
        chunks: &[u64],
        waiting: &mut Vec<Vec<u64>>,
        file: &mut Appended<'_>,
        options: Options<'_>,
        written: &mut Vec<Chunk>,
    ) -> Result<()> {
        let ready: Vec<Result<Option<Ready>>> = waiting
            .par_iter()
            .map(|position| {
                let ready = self.encoded(array, chunks, position)?;
                let lengths = position.iter().zip(chunks).zip(self.array.shape());
                let lengths = lengths.map(|((index, chunk), length)| (*chunk).min(length - index * chunk));
                (options.progress)(lengths.product())?;
                Ok(ready)
            })
            .collect();
        for (position, ready) in waiting.drain(..).zip(ready) {
            let Some(ready) = ready? else { continue };
            let bytes = place(ready, file)?;
            file.align()?;
            let address = file.append(&bytes)?;
            let size =
                u32::try_from(bytes.len()).map_err(|_| unsupported("a chunk is too large for HDF5"))?;
            let position = position.iter().zip(chunks).map(|(index, chunk)| index * chunk);
            let position = position.chain(self.letters.map(|_| 0)).collect();
            written.push(Chunk { position, address, size });
        }
        Ok(())
    }

    /// Encodes a chunk for the file; `None` if all its elements are the fill value.
    fn encoded(&self, array: &Array, chunks: &[u64], position: &[u64]) -> Result<Option<Ready>> {
        if self.is_copied {
            let bytes = array.raw().read(position)?;
            return Ok(bytes.map(|bytes| Ready::Bytes(bytes.to_vec())));
        }
        let region = position.iter().zip(chunks).zip(array.shape());
        let region = region.map(|((&index, &chunk), &length)| {
            let start = index * chunk;
            DimSelection::from(start..(start + chunk).min(length))
        });
        let elements = array.read::<DynArray>(region.collect::<Vec<_>>())?;
        let fill = array.fill_bytes();
        // Lists have no fill value in the file.
        let fill = if matches!(self.form, Form::Lists(_)) { &[] } else { fill.as_bytes() };
        if sparse::has_only(&elements, fill) {
            return Ok(None);
        }
        self.ready(elements, chunks).map(Some)
    }

    /// Converts the elements of a chunk to their format in the file, padded to the shape `chunk`.
    fn ready(&self, elements: DynArray, chunk: &[u64]) -> Result<Ready> {
        let usual = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
        let chunk: Vec<usize> = chunk.iter().map(|&length| usual(length)).collect();
        match &self.form {
            Form::Same(data_type) => {
                let item = elements.data_type().size();
                let (from, bytes) = (elements.shape().to_vec(), elements.into_bytes());
                let bytes = if from == chunk { bytes } else { padded(&bytes, &from, &chunk, item)? };
                let shape = chunk.into_iter().chain(self.letters.map(usual)).collect();
                let stored = DynArray::new(data_type.clone(), shape, bytes)?;
                let Some(chain) = &self.chain else { return Ok(Ready::Bytes(attributes::little(stored)?)) };
                let mut encoded = Vec::new();
                chain.encode(&stored.view(), EncodeOptions { store_empty_chunks: true }, &mut encoded)?;
                Ok(Ready::Bytes(encoded))
            }
            Form::Text if elements.data_type().storage() != Memory::Variable => {
                let texts = elements.to::<Vec<String>>()?;
                let values = texts.iter().map(|text| text.clone().into_bytes()).collect();
                Ok(Ready::Values(padded_values(values, elements.shape(), &chunk), 1))
            }
            Form::Text => {
                let values = elements.elements().map(<[u8]>::to_vec).collect();
                Ok(Ready::Values(padded_values(values, elements.shape(), &chunk), 1))
            }
            Form::Lists(item) => {
                let values: Vec<Vec<u8>> = elements.elements().map(<[u8]>::to_vec).collect();
                if let Some(value) = values.iter().find(|value| !value.len().is_multiple_of(*item)) {
                    let message = format!(
                        "{} bytes are not a multiple of the element size of {item} bytes",
                        value.len()
                    );
                    return Err(corrupt(message));
                }
                Ok(Ready::Values(padded_values(values, elements.shape(), &chunk), *item))
            }
        }
    }
}

/// Appends the variable-length values of a chunk to the file, and returns the bytes of the chunk.
fn place(ready: Ready, file: &mut Appended<'_>) -> Result<Vec<u8>> {
    match ready {
        Ready::Bytes(bytes) => Ok(bytes),
        Ready::Values(values, item) => {
            file.align()?;
            let mut heap = Heap::at(file.end);
            let references = values.iter().flat_map(|value| heap.add(value, value.len() / item)).collect();
            file.append(&heap.finish())?;
            Ok(references)
        }
    }
}

/// Pads the bytes of an array with zeros to a larger shape.
fn padded(bytes: &[u8], from: &[usize], to: &[usize], item: usize) -> Result<Vec<u8>> {
    let mut all = zeroed(to.iter().product::<usize>() * item)?;
    let row = from.last().copied().unwrap_or(1) * item;
    for (number, row) in bytes.chunks_exact(row.max(1)).enumerate() {
        let start = row_start(number, from, to) * item;
        all[start..start + row.len()].copy_from_slice(row);
    }
    Ok(all)
}

fn padded_values(values: Vec<Vec<u8>>, from: &[usize], to: &[usize]) -> Vec<Vec<u8>> {
    if from == to {
        return values;
    }
    let mut all = vec![Vec::new(); to.iter().product()];
    let row = from.last().copied().unwrap_or(1).max(1);
    for (index, value) in values.into_iter().enumerate() {
        all[row_start(index / row, from, to) + index % row] = value;
    }
    all
}

/// Returns the index, in the padded array, of the first element of a row.
fn row_start(mut number: usize, from: &[usize], to: &[usize]) -> usize {
    let (mut start, mut stride) = (0, to.last().copied().unwrap_or(1));
    let outer = from.len().saturating_sub(1);
    for (from, to) in from[..outer].iter().zip(&to[..outer]).rev() {
        start += number % from * stride;
        number /= from;
        stride *= to;
    }
    start
}

/// Returns the dimension names. Formats without dimension names store them in an attribute.
fn names_of(array: &Array, attributes: &mut Map) -> Vec<Option<String>> {
    let name = |name: &Json| name.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    let listed = attributes.get(crate::ARRAY_DIMENSIONS).and_then(Json::as_array);
    let listed: Option<Vec<_>> = listed.map(|names| names.iter().map(name).collect());
    let listed = listed.filter(|names| names.len() == array.ndim());
    let own = array.dimension_names();
    let own =
        own.map(|names| names.iter().map(|name| name.clone().filter(|name| !name.is_empty())).collect());
    let is_expressed = listed.is_some() && own.as_ref().is_none_or(|own| listed.as_ref() == Some(own));
    if is_expressed {
        attributes.remove(crate::ARRAY_DIMENSIONS);
    }
    own.or(listed).unwrap_or_else(|| vec![None; array.ndim()])
}

/// Reads the attribute in which an import records the element type of lists. Returns the type and size of a list element.
fn list_of(attributes: &mut Map) -> Option<(Encoded, usize)> {
    let registry = zarrox::codecs::registry();
    let data_type = registry.data_type_from_v3(attributes.get(crate::LIST_OF)?).ok()?;
    let of = datatype::of_fixed(&data_type, Convention::Hdf5).ok()?;
    attributes.remove(crate::LIST_OF);
    Some((of, data_type.size()))
}

/// Returns the type and the format of the elements, and the length of fixed-length strings if it becomes a dimension.
fn form_of(
    array: &Array,
    convention: Convention,
    attributes: &mut Map,
) -> Result<(Encoded, Form, Option<u64>)> {
    let data_type = array.data_type();
    if data_type.storage() == Memory::Variable {
        let is_text = data_type.is_named("string");
        let is_bytes = data_type.is_named("variable_length_bytes") || data_type.is_named("bytes");
        return match () {
            () if is_text => Ok((datatype::text(), Form::Text, None)),
            () if is_bytes && convention == Convention::Hdf5 => {
                let (of, item) = list_of(attributes).unwrap_or_else(|| (datatype::integer(1, false), 1));
                Ok((datatype::list(&of), Form::Lists(item), None))
            }
            () => Err(datatype::no_type(data_type, convention)),
        };
    }
    if let Some(time) = data_type.time() {
        let unit = match time.unit() {
            TimeUnit::Generic => None,
            unit => units(unit),
        };
        let Some(unit) = unit.filter(|_| time.scale() == 1) else {
            return Err(unsupported(format!("its elements of type {data_type} have no unit of CF")));
        };
        let is_point = time.kind() == TimeKind::Point;
        let units = if is_point { format!("{unit} since 1970-01-01") } else { unit.to_owned() };
        attributes.get_or_insert_with("units", || units.into());
        if is_point {
            attributes.get_or_insert_with("calendar", || "proleptic_gregorian".into());
        }
        return Ok((datatype::integer(8, true), Form::Same(DataType::Int64), None));
    }
    if data_type.is_named("fixed_length_utf32") {
        return Ok((datatype::text(), Form::Text, None));
    }
    if data_type.is_named("null_terminated_bytes") && convention == Convention::NetCdf {
        let length = data_type.size();
        let form = Form::Same(DataType::UInt8);
        let letters = if length > 1 { Some(length as u64) } else { None };
        return Ok((datatype::fixed_text(1, false), form, letters));
    }
    let encoded = datatype::of_fixed(data_type, convention)?;
    if *data_type == DataType::Bool && convention == Convention::NetCdf {
        attributes.get_or_insert_with("dtype", || "bool".into());
    }
    let form = match data_type {
        _ if data_type.is_named("null_terminated_bytes") => DataType::RawBits(data_type.size()),
        other => other.clone(),
    };
    Ok((encoded, Form::Same(form), None))
}

/// Returns the CF name of a time unit, if it has one.
fn units(unit: TimeUnit) -> Option<&'static str> {
    Some(match unit.name() {
        "D" => "days",
        "h" => "hours",
        "m" => "minutes",
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" => "microseconds",
        "ns" => "nanoseconds",
        _ => return None,
    })
}

/// Returns the element type that determines how the attributes of an array are written.
fn elements_of(array: &Array, form: &Form, is_enumeration: bool) -> Elements {
    let data_type = array.data_type();
    if data_type.is_named("null_terminated_bytes") {
        let fill = array.fill_bytes();
        return Elements::Letters(if let [letter] = *fill.as_bytes() { Some(letter) } else { None });
    }
    let of = match form {
        Form::Same(data_type) => NcType::of_elements(data_type),
        Form::Text => Some(NcType::String),
        Form::Lists(_) => None,
    };
    match of {
        Some(of) if is_enumeration => Elements::Enumeration(of),
        Some(of) => Elements::Of(of),
        None if *data_type == DataType::Bool => Elements::Of(NcType::Byte),
        None => Elements::Other,
    }
}

/// Returns the enumeration described by an attribute.
fn enumeration(array: &Array, convention: Convention, attributes: &mut Map) -> Option<Encoded> {
    /// The maximum size of an encoded type in bytes.
    const LONGEST: usize = 60_000;
    let names = attributes.get(crate::ENUM)?.as_object()?;
    if names.keys().any(|name| names::check(name, convention).is_err()) {
        return None;
    }
    let data_type = array.data_type();
    if !matches!(data_type.storage(), Memory::Int(_) | Memory::Uint(_)) {
        return None;
    }
    let registry = zarrox::codecs::registry();
    let member = |(name, value): (&String, &Json)| {
        let value = DynArray::from_json(data_type.clone(), value, &registry).ok()?;
        Some((name.clone(), attributes::little(value).ok()?))
    };
    let members =
        names.iter().map(member).collect::<Option<Vec<_>>>().filter(|members| !members.is_empty())?;
    let base = datatype::of_fixed(data_type, convention).ok()?;
    let encoded = datatype::enumeration(&base, &members);
    if encoded.bytes.len() > LONGEST {
        return None;
    }
    attributes.remove(crate::ENUM);
    Some(encoded)
}

/// Adds the missing-value marker of arrays in formats in which xarray masks the fill value.
fn netcdf_attributes(array: &Array, form: &Form, attributes: &mut Map) {
    let masks = array.metadata().format != Format::V3
        && array.metadata().fill_value.is_some()
        && array.attributes().contains_key(crate::ARRAY_DIMENSIONS);
    let Form::Same(data_type) = form else { return };
    if !masks || attributes.contains_key("_FillValue") || data_type != array.data_type() {
        return;
    }
    if let Ok(family) = zarrox::codecs::registry().family(data_type) {
        attributes.insert("_FillValue".to_owned(), family.fill_to_v3(data_type, &array.fill_bytes()));
    }
}

/// Returns the value of the `_FillValue` attribute as a scalar. Floats, which xarray encodes in base64, become numbers.
fn missing_number(data_type: &DataType, value: &Json) -> Json {
    let value = missing::only(value);
    let is_float = matches!(data_type.storage(), Memory::Float(_));
    let number = value.as_str().filter(|_| is_float).and_then(fill::decode);
    number.unwrap_or_else(|| value.clone())
}

/// Returns the missing-value marker of strings that is stored only as the fill value; `None` if there is none, and for
/// single NetCDF characters, whose missing-value marker is a byte.
fn missing_text(array: &Array, convention: Convention, attributes: &Map) -> Result<Option<String>> {
    let data_type = array.data_type();
    let is_letter = data_type.is_named("null_terminated_bytes") && data_type.size() == 1;
    let is_known = attributes.contains_key(FILL_VALUE) || (is_letter && convention == Convention::NetCdf);
    if is_known || !fill::is_text(data_type) || !missing::tells_missing(attributes) {
        return Ok(None);
    }
    let text = text_of_fill(array)?;
    Ok(Some(crate::netcdf::text_of(text)))
}

/// Returns the fill value of strings, without padding.
fn text_of_fill(array: &Array) -> Result<Vec<u8>> {
    let (data_type, fill) = (array.data_type(), array.fill_bytes());
    match data_type.storage() {
        Memory::Utf32(_) => {
            let fill = DynArray::new(data_type.clone(), vec![], fill.as_bytes().to_vec())?;
            Ok(fill.to::<Vec<String>>()?.first().map(|text| text.clone().into_bytes()).unwrap_or_default())
        }
        Memory::Variable => Ok(fill.as_bytes().to_vec()),
        _ => Ok(fill.as_bytes().split(|&byte| byte == 0).next().unwrap_or_default().to_vec()),
    }
}

/// Returns HDF5 filters with the same encoding as the given codecs, if they exist.
fn same_filters(codecs: &[zarrox::CodecSpec], data_type: &DataType, has_keys: bool) -> Option<Vec<Filter>> {
    let (bytes, rest) = codecs.split_first()?;
    let is_little = bytes.configuration.get("endian").is_none_or(|endian| endian.as_str() == Some("little"));
    if bytes.name != "bytes" || !is_little || !has_keys {
        return None;
    }
    let number = |codec: &zarrox::CodecSpec, member: &str| {
        codec.configuration.get(member).and_then(Json::as_u64).and_then(|number| u32::try_from(number).ok())
    };
    let filter = |codec: &zarrox::CodecSpec| match codec.name.trim_start_matches("numcodecs.") {
        "zlib" => Some((DEFLATE, vec![number(codec, "level").unwrap_or(4).min(9)])),
        "shuffle" => Some((SHUFFLE, vec![number(codec, "elementsize")?])),
        "fletcher32" => Some((FLETCHER32, Vec::new())),
        _ => None,
    };
    let filters: Vec<Filter> = rest.iter().map(filter).collect::<Option<_>>()?;
    // HDF5 always shuffles with the element size of the datatype.
    let fits =
        filters.iter().all(|(number, list)| *number != SHUFFLE || list[0] as usize == data_type.size());
    fits.then_some(filters)
}

/// Returns the filters for an array that is re-encoded: none if the array is uncompressed.
fn usual_filters(array: &Array, form: &Form, item: usize) -> Vec<Filter> {
    let codecs: Vec<zarrox::CodecSpec> =
        array.codecs().iter().flat_map(|codec| [vec![codec.clone()], codec.inside()].concat()).collect();
    let plain = ["bytes", "transpose", "sharding_indexed", "crc32c"];
    let is_plain = codecs.iter().all(|codec| plain.contains(&codec.name.as_str()));
    let Form::Same(_) = form else { return Vec::new() };
    if is_plain {
        return Vec::new();
    }
    let shuffle = (SHUFFLE, vec![u32::try_from(item).unwrap_or(1)]);
    let deflate = (DEFLATE, vec![4]);
    if item > 1 { vec![shuffle, deflate] } else { vec![deflate] }
}
