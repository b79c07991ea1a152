//! Elements that are imported from a file or a stream.

mod conversion;
pub(crate) mod places;

use std::io::{self, Read};
use std::ops::Range;

use zarrox::data_type::Casting;
use zarrox::selection::ResolvedAxis;
use zarrox::{Array, DataType, DimSelection, DynArray, Error, ErrorKind, Format, Parts, Result};

use self::conversion::Conversion;
use self::places::{Places, read_more};
use crate::args::ByteSize;
use crate::exit::{note, usage};
use crate::files::failed;
use crate::interrupt;
use crate::npy::Header;
use crate::progress::Progress;

/// The most bytes that are allocated before they are read.
const AT_ONCE: u64 = 64 << 20;

/// Imported elements.
pub(crate) struct Incoming<'r> {
    /// The name of the input for errors.
    pub(crate) name: String,
    pub(crate) header: Header,
    pub(crate) elements: &'r mut dyn Read,
    /// The elements in a file, which can be read in any order.
    pub(crate) places: Option<Places>,
    /// The number of bytes of elements, if it is known.
    pub(crate) available: Option<u64>,
    /// The treatment of bytes after the elements.
    pub(crate) rest: Rest,
    /// True if the user gave the data type to store.
    pub(crate) says_type: bool,
    /// The allowed conversions to another type.
    pub(crate) cast: Option<Casting>,
}

/// The treatment of bytes after the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Further bytes are an error: the given shape is wrong.
    Refuse,
    /// Further bytes belong to something else, such as another array.
    Ignore,
    /// Further bytes are read, so that a checksum at the end is verified.
    Read,
}

impl Incoming<'_> {
    /// Refuses an input whose known size differs from that of its elements.
    pub(crate) fn check_size(&self) -> Result<()> {
        let size = self.header.size()?;
        match self.available {
            Some(available) if available < size => Err(self.truncated(available)),
            Some(available) if available > size && self.rest == Rest::Refuse => Err(self.too_long()),
            _ => Ok(()),
        }
    }

    fn truncated(&self, found: u64) -> Error {
        let size = self.header.size().unwrap_or(u64::MAX);
        let message = format!("{} is truncated: it has {found} of {size} bytes of elements", self.name);
        Error::new(ErrorKind::Corrupt, message)
    }

    fn too_long(&self) -> Error {
        let message = format!("{} has more bytes than an array of this shape and data type", self.name);
        Error::new(ErrorKind::Corrupt, message)
    }

    /// The conversion from these elements to those of an array. A type that cannot be converted is refused before anything is
    /// written.
    pub(crate) fn conversion(&self, stored: &DataType) -> Result<Conversion> {
        let (name, data_type) = (&self.name, &self.header.data_type);
        Conversion::between(data_type, stored, self.cast).ok_or_else(|| {
            let message = format!("{name} is {data_type}, which cannot be stored as {stored}");
            Error::new(ErrorKind::DataTypeMismatch, message)
        })
    }

    /// Writes all elements to a new array.
    pub(crate) fn fill(self, array: &Array, memory: u64) -> Result<()> {
        self.tell_of_void(array);
        let progress = self.progress()?;
        let begin = vec![0; array.shape().len()];
        self.copy_to(array, &begin, memory, &progress)?;
        let stored = if progress.is_seen() { Some(array.info()?.bytes_stored) } else { None };
        progress.finish(stored);
        Ok(())
    }

    /// Appends all elements to an array along an axis.
    pub(crate) fn append(self, array: &mut Array, axis: usize, memory: u64) -> Result<()> {
        self.conversion(array.data_type())?;
        let progress = self.progress()?;
        let shape = self.header.shape.clone();
        array.append_with(&shape, axis, |grown, place| {
            let mut offset = vec![0; shape.len()];
            for of in place.resolve(grown.shape())?.axes {
                if let ResolvedAxis::Span(span) = of {
                    offset[span.dim] = span.start;
                }
            }
            self.copy_to(grown, &offset, memory, &progress)
        })?;
        array.flush()?;
        progress.finish(None);
        Ok(())
    }

    fn progress(&self) -> Result<Progress> {
        Ok(Progress::new(&self.name, self.header.size()?))
    }

    /// Writes all elements to an array, beginning at a position.
    fn copy_to(mut self, array: &Array, offset: &[u64], memory: u64, progress: &Progress) -> Result<()> {
        let conversion = self.conversion(array.data_type())?;
        let (item, heard) = (self.item(), progress.clone());
        let array = interrupt::watched(array, move |elements| heard.add(elements.saturating_mul(item)));
        let (parts, in_order) = self.parts(&array, offset, memory)?;
        self.tell(&array, &parts, in_order);
        let mut read = 0;
        for block in parts {
            interrupt::check()?;
            let bytes = if in_order { self.next(&block, &mut read)? } else { self.at(&block)? };
            let elements = self.elements(bytes, &block, &conversion, array.data_type())?;
            let place = block.iter().zip(offset);
            let place =
                place.map(|(range, offset)| DimSelection::from(range.start + offset..range.end + offset));
            interrupt::or_interrupted(array.write(place.collect::<Vec<_>>(), &elements))?;
        }
        self.end(in_order)
    }

    /// The size of an imported element, in bytes.
    fn item(&self) -> u64 {
        self.header.data_type.size() as u64
    }

    /// The parts in which the elements are stored, and whether they are in the order of the elements. They are if each chunk is
    /// stored once that way, or if the input can only be read in order.
    fn parts(&self, array: &Array, offset: &[u64], memory: u64) -> Result<(Parts, bool)> {
        let place = self.header.shape.iter().zip(offset);
        let place = place.map(|(length, offset)| DimSelection::from(*offset..offset + length));
        let view = array.slice(place.collect::<Vec<_>>());
        let (most, column_major) = (memory / self.item().max(1), self.header.column_major);
        let in_order = view.parts_in_order(most, column_major)?;
        if in_order.times() > 1 && self.places.is_some() {
            return Ok((view.parts(most, column_major)?, false));
        }
        Ok((in_order, true))
    }

    /// Logs how the elements will be stored.
    fn tell(&self, array: &Array, parts: &Parts, in_order: bool) {
        let Self { name, header, .. } = self;
        let chunks = array.chunk_shape();
        tracing::info!(
            "{name}: {} {:?} becomes {} in chunks of {chunks:?}, {}",
            header.data_type,
            header.shape,
            array.data_type(),
            if in_order { "in the order of the elements" } else { "chunk by chunk" }
        );
        if parts.times() > 1 {
            let memory = ByteSize(parts.whole_rows().saturating_mul(self.item()));
            note(&format!(
                "{name} arrives in the order of the elements, so that each chunk is read and encoded up to {} times; \
                 --memory {memory} avoids that, as do --chunks that are whole along the fastest axes, or a \
                 file that can be read in any order",
                parts.times() - 1
            ));
        }
    }

    /// Prints the type that elements without a meaning were stored as, if another choice would give them one.
    fn tell_of_void(&self, array: &Array) {
        let (data_type, name) = (array.data_type(), &self.name);
        if !matches!((&self.header.data_type, data_type), (DataType::RawBits(_), DataType::RawBits(_)))
            || self.says_type
            || array.metadata().format != Format::V3
        {
            return;
        }
        let size = data_type.size();
        let way = match size {
            1 => "if they are numbers, give their type, such as --dtype float8_e4m3",
            2 => "if they are numbers, give their type, such as --dtype bfloat16",
            _ => "--format v2 keeps NumPy's type",
        };
        note(&format!(
            "the elements of {name} are |V{size}, bytes without a meaning, and are stored as such ({data_type}); {way}"
        ));
    }

    fn end(&mut self, in_order: bool) -> Result<()> {
        match self.rest {
            Rest::Ignore => Ok(()),
            // The size of a file that is read in any order was compared already.
            Rest::Refuse if !in_order => Ok(()),
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

    /// The bytes of the next block.
    fn next(&mut self, block: &[Range<u64>], read: &mut u64) -> Result<Vec<u8>> {
        let size = lengths(block).fold(self.item(), u64::saturating_mul);
        let bytes = self.read_up_to(size)?;
        // An interrupt may have ended the stream as well.
        interrupt::check()?;
        *read += bytes.len() as u64;
        if (bytes.len() as u64) < size { Err(self.truncated(*read)) } else { Ok(bytes) }
    }

    /// The bytes of a block, wherever they are.
    fn at(&mut self, block: &[Range<u64>]) -> Result<Vec<u8>> {
        let item = self.item();
        let Some(places) = &mut self.places else { return Ok(Vec::new()) };
        // Column-major elements are row-major elements with reversed dimensions.
        let read = if self.header.column_major {
            let turned: Vec<Range<u64>> = block.iter().rev().cloned().collect();
            let shape: Vec<u64> = self.header.shape.iter().rev().copied().collect();
            places.read(&shape, &turned, item)
        } else {
            places.read(&self.header.shape, block, item)
        };
        let bytes = read.map_err(|error| failed(&format!("reading {}", self.name), error))?;
        if (bytes.len() as u64) < lengths(block).fold(item, u64::saturating_mul) {
            let message = format!("{} became shorter while it was read", self.name);
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        Ok(bytes)
    }

    /// The elements of a block, converted for storage.
    fn elements(
        &self,
        bytes: Vec<u8>,
        block: &[Range<u64>],
        conversion: &Conversion,
        stored: &DataType,
    ) -> Result<DynArray> {
        let too_large = |_| usage("a block does not fit into memory; reduce --memory");
        let shape = lengths(block).map(usize::try_from).collect::<Result<Vec<_>, _>>().map_err(too_large)?;
        let Header { data_type, order, column_major, .. } = &self.header;
        let read_as = conversion.read_as(data_type, stored).clone();
        let elements = DynArray::from_foreign(read_as, shape, bytes, order, *column_major)?;
        let converted = conversion.apply(elements, stored);
        converted.map_err(|error| error.at(format!("what is at {block:?}")).at(&self.name))
    }

    /// Reads bytes without allocating much more memory than there are bytes, whatever the header claims.
    fn read_up_to(&mut self, size: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let read = bytes.len() as u64;
            let next = (size - read).min(read.max(AT_ONCE));
            read_more(&mut *self.elements, next, &mut bytes)
                .map_err(|error| failed(&format!("reading {}", self.name), error))?;
            if next == 0 || (bytes.len() as u64) < read + next {
                return Ok(bytes);
            }
        }
    }
}

/// The length of a block along each dimension.
fn lengths(block: &[Range<u64>]) -> impl Iterator<Item = u64> {
    block.iter().map(|range| range.end - range.start)
}

/// A reader that counts bytes.
pub(crate) struct Counted<'r> {
    pub(crate) reader: &'r mut dyn Read,
    pub(crate) count: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}
