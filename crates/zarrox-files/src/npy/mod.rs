//! NumPy's `.npy` and `.npz` files, and raw elements, as Zarr.
//!
//! The elements of an array are contiguous. They become a Zarr v2 store, since Zarr v2 supports NumPy's data types, byte
//! orders and memory orders. A chunk is a range of the file, and parts of it can be read directly. If only Zarr v3 has
//! the requested data type, the store has format v3. A stream becomes a store whose chunks can be read once, in order.

mod conversion;
mod elements;
mod header;
mod header_writer;
mod literal;
#[cfg(feature = "npz")]
pub(crate) mod npz;
#[cfg(feature = "npz")]
pub(crate) mod npz_writer;
pub(crate) mod raw;
mod stream;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use zarrox::internals::data_type::ByteOrder;
use zarrox::json::Json;
use zarrox::stores::MemoryStore;
use zarrox::{ArrayBuilder, DataType, Error, ErrorKind, Format, OpenOptions, Result};
use zarrox_tools::copy::Access;

pub use self::header_writer::{MAGIC, descr, header, quoted};

use self::conversion::Conversion;
use self::elements::{ConvertedElements, Source, StoredElements, runs_of};
use self::header::Header;
use self::raw::RawElements;
use self::stream::{Stream, too_long, truncated};
use crate::chunks::{Chunks, EncodedOnRead};
use crate::input::Input;
use crate::reading::{Reading, Wanted};
use crate::store::keys::Keys;
use crate::store::{FileStore, LeftOut};

/// An array in a file.
struct Found {
    path: String,
    /// The name for error messages.
    name: String,
    header: Header,
    source: Source,
}

/// Opens an `.npy` file as a store whose only node is an array.
pub(crate) fn open(input: &Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let start = input.start(u64::from(header::LONGEST) + 12)?;
    let mut rest = start.as_slice();
    let header = Header::read(&mut rest)?;
    let begin = (start.len() - rest.len()) as u64;
    let available = input.length().saturating_sub(begin);
    let name = format!("'{}'", input.name().display());
    check_size(&name, &header, available, false)?;
    let source = Source::File(Arc::clone(input), begin);
    store_of(&location(input), vec![Found { path: String::new(), name, header, source }], &[], reading)
}

/// Opens a file of raw elements as a store whose only node is an array.
pub(crate) fn open_raw(input: &Arc<Input>, raw: &RawElements, reading: &Reading) -> Result<FileStore> {
    let (begin, length) = (raw.begin(), input.length());
    let name = format!("'{}'", input.name().display());
    let available = length.checked_sub(begin).ok_or_else(|| ends_before(&name, length, begin))?;
    let header = raw.header(Some(available))?;
    check_size(&name, &header, available, true)?;
    let source = Source::File(Arc::clone(input), begin);
    store_of(&location(input), vec![Found { path: String::new(), name, header, source }], &[], reading)
}

/// Opens a stream that contains an `.npy` file or raw elements as a store whose only node is an array.
pub(crate) fn open_stream(
    name: &str,
    mut stream: impl Read + Send + 'static,
    reading: &Reading,
) -> Result<FileStore> {
    let header = match &reading.raw {
        None => Header::read(&mut stream)?,
        Some(raw) => {
            let passed = std::io::copy(&mut stream.by_ref().take(raw.begin()), &mut std::io::sink());
            let passed = passed.map_err(|error| crate::input::failed(&format!("reading {name}"), error))?;
            if passed < raw.begin() {
                return Err(ends_before(name, passed, raw.begin()));
            }
            raw.header(None)?
        }
    };
    let ends = reading.raw.is_some();
    let stream = Stream::new(name.to_owned(), Box::new(stream), runs_of(&header), header.size()?, ends)?;
    let found = Found {
        path: String::new(),
        name: name.to_owned(),
        header,
        source: Source::Stream(Arc::new(stream)),
    };
    store_of(name, vec![found], &[], reading)
}

/// Opens an archive as a store: a group with all its arrays, or a single array.
#[cfg(feature = "npz")]
pub(crate) fn open_npz(input: &Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let archive = npz::Npz::open(input)?;
    let names = archive.names()?;
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    let mut add = |name: &str, path: &str| -> Result<()> {
        let shown = format!("member '{name}'");
        let (header, member, available) = archive.member(name)?;
        check_size(&shown, &header, available, false)?;
        let source = Source::Member(Arc::new(member));
        all.push(Found { path: path.to_owned(), name: shown, header, source });
        Ok(())
    };
    if let Some(wanted) = &reading.member {
        if !names.contains(wanted) {
            let message = format!("no array '{wanted}'; the arrays are: {}", names.join(", "));
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        add(wanted, "")?;
        return store_of(&location(input), all, &left_out, reading);
    }
    for name in names.iter().filter(|name| is_chosen(name, &reading.nodes)) {
        if name.trim_matches('/').is_empty() {
            let message = "an array has an empty name; import it alone, by the name ''";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        match add(name, name) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                left_out.push(LeftOut::new(format!("/{name}"), &error));
            }
            added => added?,
        }
    }
    store_of(&location(input), all, &left_out, reading)
}

/// Returns true if a node or one of its ancestors is selected.
#[cfg(feature = "npz")]
fn is_chosen(name: &str, nodes: &[String]) -> bool {
    let is_in = |node: &String| {
        name.strip_prefix(node.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    nodes.is_empty() || nodes.iter().any(is_in)
}

fn location(input: &Input) -> String {
    input.path().display().to_string()
}

fn ends_before(name: &str, length: u64, offset: u64) -> Error {
    crate::input::corrupt(format!("{name} ends after {length} bytes, before the offset of {offset}"))
}

/// Checks the size of the elements against the number of available bytes.
fn check_size(name: &str, header: &Header, available: u64, ends: bool) -> Result<()> {
    let size = header.size()?;
    match available {
        available if available < size => Err(truncated(name, available, size)),
        available if available > size && ends => Err(too_long(name)),
        _ => Ok(()),
    }
}

/// Creates a store for arrays. Its format is v2, unless only v3 has a requested data type.
fn store_of(location: &str, found: Vec<Found>, left_out: &[LeftOut], reading: &Reading) -> Result<FileStore> {
    let arrays = found.into_iter().map(|found| Planned::new(found, reading.stored.as_ref()));
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let of = |format| store_in(format, location, &arrays, left_out.to_vec());
    match of(Format::V2) {
        Err(error) if error.kind() == ErrorKind::Unsupported => of(Format::V3).map_err(|_| error),
        store => store,
    }
}

fn store_in(format: Format, location: &str, arrays: &[Planned], left_out: Vec<LeftOut>) -> Result<FileStore> {
    let documents = MemoryStore::new();
    let options = OpenOptions::new().format(format);
    let (mut all, mut accesses) = (BTreeMap::new(), BTreeMap::new());
    if arrays.iter().all(|array| !array.found.path.is_empty()) {
        options.create_group((Arc::new(documents.clone()), ""))?;
    }
    for array in arrays {
        let path = array.found.path.trim_matches('/').to_owned();
        let builder = options.create_array((Arc::new(documents.clone()), &path));
        let chunks = array.create(builder, format).map_err(|error| error.at(&array.found.name))?;
        all.insert(path.clone(), chunks);
        accesses.insert(path, array.access());
    }
    let keys = if format == Format::V3 { Keys::Slashes } else { Keys::Dots };
    Ok(FileStore::new(location.to_owned(), documents, all, left_out).with_elements(keys, accesses))
}

/// An array and the conversion of its elements.
struct Planned {
    found: Found,
    data_type: DataType,
    conversion: Conversion,
}

impl Planned {
    /// Determines the conversion of the elements. An impossible conversion is rejected before anything is written.
    fn new(found: Found, wanted: Option<&Wanted>) -> Result<Self> {
        let own = found.header.data_type.clone();
        let Some((wanted, casting)) = wanted else {
            return Ok(Self { found, data_type: own, conversion: Conversion::Renamed });
        };
        match Conversion::between(&own, wanted) {
            // The data type is renamed by the copy, which also checks that this is allowed.
            Some(Conversion::Renamed) => {
                return Ok(Self { found, data_type: own, conversion: Conversion::Renamed });
            }
            Some(conversion) => return Ok(Self { found, data_type: wanted.clone(), conversion }),
            None => {}
        }
        // Numbers are cast during the copy.
        let registry = zarrox::codecs::registry();
        if casting.is_some_and(|casting| registry.cast(&own, wanted, casting).is_ok()) {
            return Ok(Self { found, data_type: own, conversion: Conversion::Renamed });
        }
        let message = format!("{} is {own}, which cannot be stored as {wanted}", found.name);
        Err(Error::new(ErrorKind::DataTypeMismatch, message))
    }

    /// Creates the metadata document, and returns the object that reads the chunks.
    fn create(&self, builder: ArrayBuilder, format: Format) -> Result<Box<dyn Chunks>> {
        let (header, stored) =
            (&self.found.header, StoredElements::new(self.found.source.clone(), &self.found.header));
        let builder = builder
            .shape(header.shape.clone())
            .chunks(stored.chunk_shape())
            .data_type(self.data_type.clone());
        // All elements are stored, so no fill value is needed.
        let builder = if format == Format::V2 { builder.fill_value_json(Json::Null) } else { builder };
        let builder = builder.no_compressor();
        let is_same = matches!(self.conversion, Conversion::Renamed | Conversion::Named);
        if let (true, ByteOrder::One(endian)) = (is_same, &header.endian) {
            builder.endian(*endian).order(header.order).create()?;
            return Ok(Box::new(stored));
        }
        let elements = ConvertedElements {
            stored,
            read_as: self.conversion.read_as(&header.data_type, &self.data_type).clone(),
            endian: header.endian.clone(),
            conversion: self.conversion.clone(),
            data_type: self.data_type.clone(),
            name: self.found.name.clone(),
        };
        Ok(Box::new(EncodedOnRead::new(&builder.create()?, Box::new(elements))?))
    }

    /// Returns the method for reading the elements.
    fn access(&self) -> Access {
        let (order, item) = (self.found.header.order, self.found.header.data_type.size() as u64);
        match &self.found.source {
            Source::Stream(stream) => {
                let stream = Arc::clone(stream);
                Access::Once(order, Arc::new(move |elements: u64| stream.pass(elements.saturating_mul(item))))
            }
            _ => Access::Any(order),
        }
    }
}
