//! `zarrox import`: arrays from files of NumPy's, or from nothing but bytes.

use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use clap::Args;
use zarrox::data_type::{ByteOrder, Endian, Storage};
use zarrox::{
    Array, ArrayBuilder, DataType, DimSelection, DynArray, Error, ErrorKind, Group, OpenMode, Result,
};

use crate::args::{ByteSize, Global, Lengths};
use crate::conversion::Conversion;
use crate::creation::{self, Creation};
use crate::exit::{Failure, usage};
use crate::files::{self, failed};
use crate::interrupt;
use crate::npy::{self, Header};
use crate::npz::{self, Archive};
use crate::progress;
use crate::slabs::{Slabs, TARGET};

/// Store the arrays of a file: .npy, .npz, or with --dtype and --shape raw elements in C order
///
/// The arrays are written block by block: files may be larger than memory. What fails or is interrupted leaves nothing
/// behind; a node that is to be replaced stays until the new one is complete.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, or - for the standard input
    input: String,

    /// Where to: an array, or for an .npz file a group of arrays
    path: String,

    /// With --shape, what raw elements are: float32, >i2, JSON for structures. Else what those of an .npy file are stored
    /// as: string for text of a fixed length, variable_length_bytes for bytes, bfloat16 and others for |V2
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,

    /// Raw elements of this shape
    #[arg(long, value_name = "LENGTHS", requires = "dtype")]
    shape: Option<Lengths>,

    /// Only this array of an .npz file
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// Append to the array that is there, along this axis [default: 0]
    #[arg(long, value_name = "AXIS", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(conflicts_with = "Creation")]
    append: Option<usize>,

    /// Take about so much memory
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,

    #[command(flatten)]
    creation: Creation,
}

/// Elements that come in.
struct Incoming<'r> {
    /// What errors call them.
    name: String,
    header: Header,
    elements: &'r mut dyn Read,
    /// How many bytes of elements there are, where that is known beforehand.
    available: Option<u64>,
    /// What to do with bytes behind the elements.
    rest: Rest,
}

/// What to do with bytes behind the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// There may be none: whoever said the shape was wrong.
    Refuse,
    /// They are somebody else's, such as another array's.
    Ignore,
    /// They are read, since only at the end is a checksum compared.
    Read,
}

impl Import {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        interrupt::catch();
        let mut start = Vec::new();
        let mut input = self.open()?;
        if self.shape.is_none() {
            let reading = |error| failed(&format!("reading {}", self.name()), error);
            input.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut start).map_err(reading)?;
        }
        if npz::MAGICS.iter().any(|magic| start.starts_with(magic)) {
            drop(input);
            return Ok(self.import_npz(global).map_err(|error| self.in_input(error))?);
        }
        if self.member.is_some() {
            return Err(usage(format!("--member is for .npz files, which {} is not", self.name())).into());
        }
        let mut input = start.as_slice().chain(input);
        let incoming = self.single(&mut input)?;
        Ok(self.store(incoming, global)?)
    }

    /// What errors call the input.
    fn name(&self) -> String {
        if self.input == "-" { "the standard input".to_owned() } else { format!("'{}'", self.input) }
    }

    fn open(&self) -> Result<Box<dyn Read>> {
        if self.input == "-" {
            return Ok(Box::new(io::stdin().lock()));
        }
        Ok(Box::new(BufReader::new(files::open(Path::new(&self.input))?)))
    }

    /// How many bytes the input has, if it is a file.
    fn length(&self) -> Option<u64> {
        let metadata = fs::metadata(&self.input).ok().filter(|_| self.input != "-");
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }

    fn in_input(&self, error: Error) -> Error {
        error.at(self.name())
    }

    /// The one array of a raw or an `.npy` input.
    fn single<'r>(&self, input: &'r mut dyn Read) -> Result<Incoming<'r>> {
        let name = self.name();
        if let (Some(dtype), Some(Lengths(shape))) = (&self.dtype, &self.shape) {
            let (data_type, order) = creation::data_type(dtype)?;
            if data_type.storage() == Storage::Variable {
                return Err(usage(format!(
                    "--dtype: raw elements of {data_type} do not say where each ends"
                )));
            }
            let order = order.unwrap_or(ByteOrder::One(Endian::NATIVE));
            let header = Header { data_type, order, column_major: false, shape: shape.clone() };
            return Ok(Incoming {
                name,
                header,
                elements: input,
                available: self.length(),
                rest: Rest::Refuse,
            });
        }
        let mut counted = Counted { reader: input, count: 0 };
        let header = Header::read(&mut counted).map_err(|error| {
            let hint = if counted.count <= 8 { "; for raw elements say --dtype and --shape" } else { "" };
            let message = format!("{name} cannot be imported: {error}{hint}");
            Error::new(error.kind(), message).with_source(error)
        })?;
        let available = self.length().map(|length| length.saturating_sub(counted.count));
        Ok(Incoming { name, header, elements: counted.reader, available, rest: Rest::Ignore })
    }

    /// Creates the array, or makes it longer, and stores the elements; when that fails all is as before.
    fn store(&self, incoming: Incoming<'_>, global: &Global) -> Result<()> {
        incoming.check_size()?;
        if let Some(axis) = self.append {
            return self.append(incoming, axis, global);
        }
        self.replacing(global, |path| {
            let mut array = self.create(global.options().create_array(path), &incoming)?;
            let filled = incoming.fill(&mut array, self.memory.0);
            filled.and_then(|()| array.flush()).inspect_err(|_| drop(global.options().delete(path)))
        })
    }

    /// Creates a node; one that is to be replaced is deleted only when the new one, which lies beside it until then,
    /// is complete.
    fn replacing(&self, global: &Global, create: impl FnOnce(&str) -> Result<()>) -> Result<()> {
        let Some((old, new)) = self.replaced(global) else { return create(&self.path) };
        create(&new)?;
        let options = global.options();
        options.delete(&old).inspect_err(|_| drop(options.delete(&new)))?;
        options.move_node(&new, &old).map_err(|error| error.at(format!("what was imported is in '{new}'")))
    }

    /// The node that is to be replaced, if there is one, and where the new one is made.
    fn replaced(&self, global: &Global) -> Option<(String, String)> {
        let there =
            || global.read(&self.path).map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
        if !self.creation.force || !there() {
            return None;
        }
        let path = self.path.strip_prefix("file://").unwrap_or(&self.path);
        let old = fs::canonicalize(path).ok()?;
        let name = format!(".{}-{}", std::process::id(), old.file_name()?.to_str()?);
        Some((old.to_str()?.to_owned(), old.with_file_name(name).to_str()?.to_owned()))
    }

    fn create(&self, builder: ArrayBuilder, incoming: &Incoming<'_>) -> Result<Array> {
        let Header { data_type, shape, .. } = &incoming.header;
        let stored = self.dtype.as_deref().map(creation::data_type).transpose()?;
        let stored = stored.map_or_else(|| data_type.clone(), |(data_type, _)| data_type);
        incoming.conversion(&stored)?;
        let builder = self.creation.apply(builder, stored.clone(), shape)?;
        match builder.clone().create() {
            // Not every format has padding, which carries no values.
            Err(error) if error.kind() == ErrorKind::Unsupported && stored.packed() != stored => {
                builder.data_type(stored.packed()).create()
            }
            created => created,
        }
    }

    fn append(&self, incoming: Incoming<'_>, axis: usize, global: &Global) -> Result<()> {
        let mut array = global.options().open(&self.path)?.into_array()?;
        incoming.conversion(array.data_type())?;
        let shape = incoming.header.shape.clone();
        let appended = array.append_with(&shape, axis, |grown, _| {
            let mut offset = vec![0; shape.len()];
            offset[axis] = grown.shape()[axis] - shape[axis];
            incoming.copy_to(grown, &offset, self.memory.0)
        });
        appended?;
        array.flush()
    }

    fn import_npz(&self, global: &Global) -> Result<()> {
        if self.input == "-" {
            return Err(usage(".npz files cannot be read from a stream"));
        }
        let mut archive = Archive::open(Path::new(&self.input))?;
        if let Some(name) = &self.member {
            return self.import_member(&mut archive, name, |incoming| self.store(incoming, global));
        }
        if self.append.is_some() {
            return Err(usage("--append takes one array; say which with --member"));
        }
        let names = archive.members()?;
        if names.iter().any(|name| name.trim_matches('/').is_empty()) {
            let message = "it has an array without a name; take it by itself, with --member ''";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.replacing(global, |path| {
            let group = self.create_group(path, global)?;
            // Where a group was never written down there can be nodes of others below it.
            let all_ours = group.children()?.is_empty();
            let mut names = names.iter();
            names.try_for_each(|name| self.import_into(&group, &mut archive, name)).inspect_err(|_| {
                if all_ours {
                    let _ = global.options().delete(path);
                }
            })?;
            group.flush()
        })
    }

    fn create_group(&self, path: &str, global: &Global) -> Result<Group> {
        let mode = if self.creation.force { OpenMode::Write } else { OpenMode::CreateNew };
        let options = global.options().mode(mode);
        let options = self.creation.format.map_or(options.clone(), |format| options.format(format));
        options.create_group(path)
    }

    fn import_into(&self, group: &Group, archive: &mut Archive, name: &str) -> Result<()> {
        self.import_member(archive, name, |incoming| {
            incoming.check_size()?;
            let mut array = self.create(group.create_array(name), &incoming)?;
            let filled = incoming.fill(&mut array, self.memory.0);
            filled.inspect_err(|_| drop(group.delete(name)))
        })
    }

    fn import_member(
        &self,
        archive: &mut Archive,
        name: &str,
        store: impl FnOnce(Incoming<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut member = archive.member(name)?;
        let header = Header::read(&mut member).map_err(|error| error.at(format!("member '{name}'")))?;
        let name = format!("member '{name}'");
        store(Incoming { name, header, elements: &mut member, available: None, rest: Rest::Read })
    }
}

impl Incoming<'_> {
    fn check_size(&self) -> Result<()> {
        let size = self.header.size()?;
        match self.available {
            Some(available) if available < size => Err(self.truncated(available)),
            Some(available) if available > size && self.rest == Rest::Refuse => Err(self.too_long()),
            _ => Ok(()),
        }
    }

    fn truncated(&self, found: u64) -> Error {
        let size = self.header.size().unwrap_or(u64::MAX);
        let message = format!("{} is truncated: {found} of {size} bytes of elements are there", self.name);
        Error::new(ErrorKind::Corrupt, message)
    }

    fn too_long(&self) -> Error {
        let message = format!("{} has more bytes than an array of that shape and data type", self.name);
        Error::new(ErrorKind::Corrupt, message)
    }

    /// How the elements become those of an array. Elements of another type are refused before anything is written.
    fn conversion(&self, stored: &DataType) -> Result<Conversion> {
        let (name, data_type) = (&self.name, &self.header.data_type);
        Conversion::between(data_type, stored).ok_or_else(|| {
            let message = format!("{name} is {data_type}, which cannot be stored as {stored}");
            Error::new(ErrorKind::DataTypeMismatch, message)
        })
    }

    /// Writes all elements to a new array. Its shape is stored last: even of a process that was killed nobody takes half
    /// an array for a whole one.
    fn fill(self, array: &mut Array, memory: u64) -> Result<()> {
        let shape = array.shape().to_vec();
        let begin = vec![0; shape.len()];
        let Some(rest) = shape.get(1..) else { return self.copy_to(array, &begin, memory) };
        array.resize(&[&[0], rest].concat())?;
        array.append_with(&shape, 0, |grown, _| self.copy_to(grown, &begin, memory)).map(drop)
    }

    /// Writes all elements to an array, from a position on.
    fn copy_to(mut self, array: &Array, offset: &[u64], memory: u64) -> Result<()> {
        let bar = progress::bar(&self.name, self.header.size()?);
        let conversion = self.conversion(array.data_type())?;
        let mut read = 0;
        for block in self.blocks(array, offset, memory) {
            interrupt::check()?;
            let elements = self.next(&block, &conversion, array.data_type(), &mut read)?;
            let place = block.iter().zip(offset);
            let place =
                place.map(|(range, offset)| DimSelection::from(range.start + offset..range.end + offset));
            array.write_dyn(place.collect::<Vec<_>>(), &elements)?;
            bar.set_position(read);
        }
        self.end()?;
        bar.finish_and_clear();
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match self.rest {
            Rest::Ignore => Ok(()),
            Rest::Refuse => {
                if self.read_up_to(1)?.is_empty() {
                    Ok(())
                } else {
                    Err(self.too_long())
                }
            }
            Rest::Read => {
                let rest = io::copy(self.elements, &mut io::sink());
                rest.map(drop).map_err(|error| failed(&format!("reading {}", self.name), error))
            }
        }
    }

    /// Blocks of the array, in the order in which their elements come. Column-major elements are row-major ones with
    /// all dimensions the other way round.
    fn blocks(
        &self,
        array: &Array,
        offset: &[u64],
        memory: u64,
    ) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let backwards = self.header.column_major;
        let turned = move |lengths: &[u64]| -> Vec<u64> {
            if backwards { lengths.iter().rev().copied().collect() } else { lengths.to_vec() }
        };
        let shape = turned(&self.header.shape);
        let chunks = turned(array.metadata().chunk_grid.largest_chunk());
        let first = turned(offset).first().copied().unwrap_or(0);
        let slabs =
            Slabs::new(&shape, &chunks, self.header.data_type.size() as u64, memory).starting_at(first);
        slabs.map(move |mut block| {
            if backwards {
                block.reverse();
            }
            block
        })
    }

    /// The elements of the next block, as they are stored.
    fn next(
        &mut self,
        block: &[Range<u64>],
        conversion: &Conversion,
        stored: &DataType,
        read: &mut u64,
    ) -> Result<DynArray> {
        let lengths = block.iter().map(|range| usize::try_from(range.end - range.start));
        let too_large = |_| usage("a block does not fit into memory; say less for --memory");
        let shape = lengths.collect::<Result<Vec<_>, _>>().map_err(too_large)?;
        let Header { data_type, order, column_major, .. } = self.header.clone();
        let size = shape.iter().fold(data_type.size() as u64, |size, &n| size.saturating_mul(n as u64));
        let bytes = self.read_up_to(size)?;
        *read += bytes.len() as u64;
        if (bytes.len() as u64) < size {
            return Err(self.truncated(*read));
        }
        let read_as = conversion.read_as(&data_type, stored).clone();
        let elements = DynArray::from_foreign(read_as, shape, bytes, &order, column_major)?;
        let converted = conversion.apply(elements, stored);
        converted.map_err(|error| error.at(&self.name))
    }

    /// Takes not much more memory than there are bytes to read, whatever the header claims.
    fn read_up_to(&mut self, size: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(TARGET)).unwrap_or_default());
        let read = (&mut *self.elements).take(size).read_to_end(&mut bytes);
        read.map_err(|error| failed(&format!("reading {}", self.name), error))?;
        Ok(bytes)
    }
}

/// A reader that counts.
struct Counted<'r> {
    reader: &'r mut dyn Read,
    count: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}
