//! Fractal heaps, which store any number of links, attributes and shared messages (section III.G).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox::Result;

use super::doubling::{Doubling, Entry};
use super::unfilter::unfiltered;
use crate::hdf5::format::btree2::Records;
use crate::hdf5::format::cursor::{Cursor, width_of};
use crate::hdf5::format::message::filters;
use crate::hdf5::format::model::{Address, Filter};
use crate::hdf5::format::source::{Budget, Source, checksum, compare, verified};
use crate::input::corrupt;

const HEADER: &str = "the header of a fractal heap";
const DIRECT: &str = "a direct block of a fractal heap";
const INDIRECT: &str = "an indirect block of a fractal heap";
const ID: &str = "the place of an object in a fractal heap";
/// The maximum total size of the cached blocks in bytes.
const MOST_KEPT: usize = 16 << 20;

/// A heap whose header has been read.
#[derive(Debug)]
pub(in crate::hdf5::format) struct FractalHeap {
    address: Address,
    id_length: usize,
    filters: Vec<Filter>,
    has_checksums: bool,
    /// The B-tree of huge objects.
    huge: Option<Address>,
    doubling: Doubling,
    root: Option<Address>,
    /// The number of rows in the root block; 0 if it is a direct block.
    rows: u64,
    /// The stored size and filter mask of the root block, if it is a filtered direct block.
    filtered_root: (u64, u32),
    /// The width in bytes of the length of an object.
    length_width: usize,
    kept: Mutex<Cache>,
}

/// The cached parts of the heap.
#[derive(Debug, Default)]
struct Cache {
    direct: HashMap<Address, Arc<Vec<u8>>>,
    indirect: HashMap<Address, Arc<Vec<BlockLocation>>>,
    bytes: usize,
    huge: Option<Arc<HashMap<u64, Huge>>>,
}

/// The location of a block.
#[derive(Debug, Clone, Copy)]
struct BlockLocation {
    address: Option<Address>,
    /// For a filtered direct block: the stored size, and the mask of skipped filters.
    filtered: (u64, u32),
}

/// The location of a huge object.
#[derive(Debug, Clone, Copy)]
struct Huge {
    address: Address,
    stored: u64,
    mask: u32,
    size: u64,
}

impl FractalHeap {
    /// Reads the header at an address.
    pub(in crate::hdf5::format) fn read(source: &Source, address: Address) -> Result<Self> {
        let sizes = source.sizes;
        let plain = 22 + 12 * sizes.length + 3 * sizes.offset;
        let start = source.read(address, plain as u64)?;
        let mut cursor = source.cursor(&start, HEADER);
        cursor.signature(b"FRHP")?;
        cursor.version(0)?;
        cursor.skip(2)?;
        let filters_length = usize::from(cursor.u16()?);
        let more = if filters_length == 0 { 0 } else { sizes.length + 4 + filters_length };
        let bytes = source.read_checked(address, (plain + more + 4) as u64, HEADER)?;
        let mut cursor = source.cursor(&bytes, HEADER);
        cursor.skip(5)?;
        Self::parse(cursor, address, filters_length)
    }

    /// Parses the part of the header after the version.
    fn parse(mut cursor: Cursor<'_>, address: Address, filters_length: usize) -> Result<Self> {
        let sizes = cursor.sizes();
        let id_length = usize::from(cursor.u16()?);
        cursor.u16()?;
        let flags = cursor.u8()?;
        let most_managed = u64::from(cursor.u32()?);
        cursor.length()?;
        let huge = cursor.address()?;
        // The free space, and the counts of objects and bytes.
        cursor.skip(9 * sizes.length + sizes.offset)?;
        let width = u64::from(cursor.u16()?);
        let (first, most_direct) = (cursor.length()?, cursor.length()?);
        let bits = cursor.u16()?;
        cursor.u16()?;
        let root = cursor.address()?;
        let rows = u64::from(cursor.u16()?);
        let doubling = Doubling::new(width, first, most_direct, bits)?;
        let mut filtered_root = (0, 0);
        let mut filters = Vec::new();
        if filters_length > 0 {
            filtered_root = (cursor.length()?, cursor.u32()?);
            filters = filters::parse(Cursor::new(
                cursor.take(filters_length)?,
                sizes,
                "the filters of a fractal heap",
            ))?;
        }
        let length_width = width_of(most_managed).min(doubling.direct_width());
        Ok(Self {
            address,
            id_length,
            filters,
            has_checksums: flags & 2 != 0,
            huge,
            doubling,
            root,
            rows,
            filtered_root,
            length_width,
            kept: Mutex::default(),
        })
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a limit on the total size of all objects.
    pub(in crate::hdf5::format) fn budget(&self, source: &Source) -> Budget {
        // Inflating expands each byte to at most 1032 bytes.
        let factor = if self.filters.is_empty() { 1 } else { 1032 };
        Budget::new(source.input.length().saturating_mul(factor), "a fractal heap")
    }

    /// Returns the bytes of an object.
    pub(in crate::hdf5::format) fn object(&self, source: &Source, id: &[u8]) -> Result<Vec<u8>> {
        let mut cursor = source.cursor(id.get(..self.id_length).unwrap_or(id), ID);
        let flags = cursor.u8()?;
        match (flags >> 6, flags >> 4 & 3) {
            (0, 0) => self.managed(source, cursor),
            (0, 1) => self.huge(source, cursor),
            (0, 2) => self.tiny(cursor, flags),
            _ => Err(corrupt(format!("{ID} begins with the byte {flags:#04x}, which is unknown"))),
        }
    }

    /// Returns a tiny object, which is stored in its ID.
    fn tiny(&self, mut cursor: Cursor<'_>, flags: u8) -> Result<Vec<u8>> {
        let mut length = usize::from(flags & 0xf);
        // Longer IDs have an extended length of two bytes.
        if self.id_length > 18 {
            length = length << 8 | usize::from(cursor.u8()?);
        }
        Ok(cursor.take(length + 1)?.to_vec())
    }

    /// Returns a huge object, which is stored outside the blocks.
    fn huge(&self, source: &Source, mut cursor: Cursor<'_>) -> Result<Vec<u8>> {
        let sizes = source.sizes;
        let is_filtered = !self.filters.is_empty();
        let direct = sizes.offset + sizes.length + if is_filtered { 4 + sizes.length } else { 0 };
        let is_direct = direct < self.id_length;
        let huge = if is_direct {
            huge(&mut cursor, is_filtered)?
        } else {
            let number = cursor.number(sizes.length.min(self.id_length.saturating_sub(1)))?;
            let all = self.all_huge(source, is_filtered)?;
            let found = all.get(&number).copied();
            found.ok_or_else(|| {
                corrupt(format!("a fractal heap has no large object of the number {number}"))
            })?
        };
        let bytes = source.read(huge.address, huge.stored)?;
        if !is_filtered {
            return Ok(bytes);
        }
        unfiltered(&self.filters, huge.mask, bytes, huge.size)
    }

    /// Returns all huge objects by ID.
    fn all_huge(&self, source: &Source, is_filtered: bool) -> Result<Arc<HashMap<u64, Huge>>> {
        if let Some(all) = &self.kept().huge {
            return Ok(Arc::clone(all));
        }
        let Some(address) = self.huge else {
            return Err(corrupt("a fractal heap has no B-tree of large objects"));
        };
        let records = Records::read(source, address)?.expect(if is_filtered { 2 } else { 1 })?;
        let mut all = HashMap::new();
        for record in records.iter() {
            let mut cursor = source.cursor(record, "a large object of a fractal heap");
            let huge = huge(&mut cursor, is_filtered)?;
            all.insert(cursor.length()?, huge);
        }
        let all = Arc::new(all);
        self.kept().huge = Some(Arc::clone(&all));
        Ok(all)
    }

    /// Returns a managed object, which is stored in a direct block.
    fn managed(&self, source: &Source, mut cursor: Cursor<'_>) -> Result<Vec<u8>> {
        let offset = cursor.number(self.doubling.offset_width)?;
        let length = cursor.number(self.length_width)?;
        let (block, start) = self.block(source, offset)?;
        let within = usize::try_from(offset - start).ok().zip(usize::try_from(length).ok());
        let bytes = within.and_then(|(at, length)| block.get(at..at.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| {
            corrupt(format!(
                "{DIRECT} of {} bytes has no object of {length} bytes at {}",
                block.len(),
                offset - start
            ))
        })?;
        Ok(bytes.to_vec())
    }

    /// Returns the direct block that contains an offset in the heap, and the offset at which the block starts.
    fn block(&self, source: &Source, offset: u64) -> Result<(Arc<Vec<u8>>, u64)> {
        let missing = || corrupt(format!("a fractal heap has no block for the offset {offset}"));
        let mut place = BlockLocation { address: self.root, filtered: self.filtered_root };
        let (mut start, mut size, mut rows) = (0, self.doubling.first, self.rows);
        while rows > 0 {
            let places = self.places(source, place.address.ok_or_else(missing)?, start, rows)?;
            let entry: Entry = self.doubling.entry(offset - start, rows).ok_or_else(missing)?;
            place =
                *usize::try_from(entry.index).ok().and_then(|index| places.get(index)).ok_or_else(missing)?;
            (start, size, rows) = (start + entry.start, entry.size, entry.rows);
        }
        if offset - start >= size {
            return Err(missing());
        }
        let address = place.address.ok_or_else(missing)?;
        Ok((self.direct(source, address, start, size, place.filtered)?, start))
    }

    /// Returns an error unless a block belongs to this heap and starts at the given offset.
    fn expect_start(&self, cursor: &mut Cursor<'_>, signature: &[u8], start: u64) -> Result<()> {
        cursor.signature(signature)?;
        cursor.version(0)?;
        let heap = cursor.address()?;
        let found = cursor.number(self.doubling.offset_width)?;
        if heap == Some(self.address) && found == start {
            return Ok(());
        }
        Err(corrupt(format!(
            "a block of the fractal heap at {} is not that of the offset {start}",
            self.address
        )))
    }

    /// Reads the locations of the children of an indirect block.
    fn places(
        &self,
        source: &Source,
        address: Address,
        start: u64,
        rows: u64,
    ) -> Result<Arc<Vec<BlockLocation>>> {
        if let Some(places) = self.kept().indirect.get(&address) {
            return Ok(Arc::clone(places));
        }
        let is_filtered = !self.filters.is_empty();
        let sizes = source.sizes;
        let (direct, indirect) = self.doubling.entries(rows);
        let each = (sizes.offset + if is_filtered { sizes.length + 4 } else { 0 }) as u64;
        let prefix = (5 + sizes.offset + self.doubling.offset_width) as u64;
        let length = prefix + direct * each + indirect * sizes.offset as u64 + 4;
        let bytes = source.read(address, length)?;
        let mut cursor = source.cursor(verified(&bytes, INDIRECT)?, INDIRECT);
        self.expect_start(&mut cursor, b"FHIB", start)?;
        let mut places = Vec::new();
        for index in 0..direct + indirect {
            let address = cursor.address()?;
            let has_size = is_filtered && index < direct;
            let filtered = if has_size { (cursor.length()?, cursor.u32()?) } else { (0, 0) };
            places.push(BlockLocation { address, filtered });
        }
        let places = Arc::new(places);
        self.kept().indirect.insert(address, Arc::clone(&places));
        Ok(places)
    }

    /// Reads a direct block.
    fn direct(
        &self,
        source: &Source,
        address: Address,
        start: u64,
        size: u64,
        filtered: (u64, u32),
    ) -> Result<Arc<Vec<u8>>> {
        if let Some(block) = self.kept().direct.get(&address) {
            return Ok(Arc::clone(block));
        }
        let mut bytes = if self.filters.is_empty() {
            source.read(address, size)?
        } else {
            unfiltered(&self.filters, filtered.1, source.read(address, filtered.0)?, size)?
        };
        let mut cursor = source.cursor(&bytes, DIRECT);
        self.expect_start(&mut cursor, b"FHDB", start)?;
        if self.has_checksums {
            let stored = cursor.u32()?;
            let behind = bytes.len() - cursor.left();
            // The checksum is computed with its own bytes set to zero.
            bytes[behind - 4..behind].fill(0);
            compare(checksum(&bytes), stored, DIRECT)?;
        }
        let block = Arc::new(bytes);
        let mut kept = self.kept();
        if kept.bytes + block.len() > MOST_KEPT {
            kept.direct.clear();
            kept.bytes = 0;
        }
        kept.bytes += block.len();
        kept.direct.insert(address, Arc::clone(&block));
        Ok(block)
    }
}

/// Reads the address and size of a huge object.
fn huge(cursor: &mut Cursor<'_>, is_filtered: bool) -> Result<Huge> {
    let (address, stored) = (cursor.defined_address()?, cursor.length()?);
    let (mask, size) = if is_filtered { (cursor.u32()?, cursor.length()?) } else { (0, stored) };
    Ok(Huge { address, stored, mask, size })
}
