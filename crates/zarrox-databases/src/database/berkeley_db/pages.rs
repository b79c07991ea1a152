//! The pages of a Berkeley DB file.
//!
//! Every page begins with a header of 26 bytes, which is the same for all types of pages: the page number at offset 8, the next
//! page at 16, the number of items at 20, the length of an overflow page at 22, the level in a tree at 24 and the type at 25. The
//! offsets of the items follow, two bytes each. Numbers have the byte order of the machine that created the file, which can be
//! recognised from the magic number in the first page.

use std::fs::File;
use std::ops::ControlFlow;

use zarrox_stores::internals::support::{read_exact_at, reserved};
use zarrox_stores::{StoreError, StoreErrorKind};

/// A function that receives a key and the length of its value.
pub(super) type Visit<'a> = dyn FnMut(Vec<u8>, u64) -> Result<ControlFlow<()>, StoreError> + 'a;

pub(super) const TREE_MAGIC: u32 = 0x0005_3162;
pub(super) const HASH_MAGIC: u32 = 0x0006_1561;

/// The types of pages.
pub(super) mod kind {
    pub(crate) const INVALID: u8 = 0;
    pub(crate) const HASH_UNSORTED: u8 = 2;
    pub(crate) const TREE_INTERNAL: u8 = 3;
    pub(crate) const TREE_LEAF: u8 = 5;
    pub(crate) const OVERFLOW: u8 = 7;
    pub(crate) const HASH: u8 = 13;
}

const HEADER: usize = 26;

/// The minimum size of the first page, which contains the metadata of the file.
const FIRST: usize = 512;

/// A file that is read page by page.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    size: usize,
    count: u32,
    big_endian: bool,
}

/// One page.
pub(super) struct Page {
    bytes: Vec<u8>,
    number: u32,
    big_endian: bool,
}

/// A key or a value.
pub(super) enum Item {
    Here(Vec<u8>),
    /// The bytes are in separate overflow pages.
    Overflow {
        first: u32,
        length: u32,
    },
}

impl Item {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::Overflow { length, .. } => u64::from(*length),
        }
    }
}

impl Pages {
    /// Opens a file, and returns it with its first page, which contains the metadata.
    pub(super) fn new(file: File) -> Result<(Self, Page), StoreError> {
        let length = file.metadata().map_err(|error| StoreError::from_io("opening", error))?.len();
        let mut first = vec![0; FIRST];
        if length < FIRST as u64 {
            return Err(no_database());
        }
        read_exact_at(&file, &mut first, 0).map_err(|error| StoreError::from_io("opening", error))?;
        let mut page = Page { bytes: first, number: 0, big_endian: false };
        let known = |page: &Page| page.word(12).is_ok_and(|word| [TREE_MAGIC, HASH_MAGIC].contains(&word));
        if !known(&page) {
            page.big_endian = true;
        }
        if !known(&page) {
            return Err(no_database());
        }
        let size = page.word(20)?;
        if !(512..=65_536).contains(&size) || !size.is_power_of_two() {
            return Err(page.damaged(&format!("its page size of {size} bytes is invalid")));
        }
        let count = u32::try_from(length / u64::from(size)).unwrap_or(u32::MAX);
        let size = usize::try_from(size).unwrap_or(FIRST);
        Ok((Self { file, size, count, big_endian: page.big_endian }, page))
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn page(&self, number: u32) -> Result<Page, StoreError> {
        let mut page = Page { bytes: Vec::new(), number, big_endian: self.big_endian };
        if number >= self.count {
            return Err(page.damaged("it is beyond the end of the file"));
        }
        page.bytes = vec![0; self.size];
        let read = read_exact_at(&self.file, &mut page.bytes, u64::from(number) * self.size as u64);
        read.map_err(|error| StoreError::from_io("reading", error))?;
        Ok(page)
    }

    /// Returns the bytes of a key or a value.
    pub(super) fn bytes(&self, item: Item) -> Result<Vec<u8>, StoreError> {
        let (first, length) = match item {
            Item::Here(bytes) => return Ok(bytes),
            Item::Overflow { first, length } => (first, length as usize),
        };
        // The length cannot exceed the size of the file, which bounds the memory.
        if length > self.size.saturating_mul(self.count as usize) {
            let page = Page { bytes: Vec::new(), number: first, big_endian: self.big_endian };
            return Err(page.damaged("a value is longer than the file"));
        }
        let mut bytes = reserved(length)?;
        let mut next = first;
        while bytes.len() < length {
            let page = self.page(next)?;
            let part = page.half(22)?;
            if page.kind()? != kind::OVERFLOW || part == 0 || part > length - bytes.len() {
                return Err(page.damaged("it is not a part of a large value"));
            }
            bytes.extend_from_slice(page.part(HEADER, part)?);
            next = page.next()?;
        }
        Ok(bytes)
    }
}

impl Page {
    /// Returns the error for a damaged page.
    pub(super) fn damaged(&self, what: &str) -> StoreError {
        let message = format!("the Berkeley DB file is damaged at page {}: {what}", self.number);
        StoreError::new(StoreErrorKind::Corrupt, "reading", message)
    }

    pub(super) fn part(&self, start: usize, length: usize) -> Result<&[u8], StoreError> {
        let end = start.checked_add(length);
        let part = end.and_then(|end| self.bytes.get(start..end));
        part.ok_or_else(|| self.damaged("an item extends beyond it"))
    }

    pub(super) fn byte(&self, at: usize) -> Result<u8, StoreError> {
        Ok(self.part(at, 1)?[0])
    }

    fn number(&self, at: usize, length: usize) -> Result<u32, StoreError> {
        let bytes = self.part(at, length)?;
        let add = |number: u32, byte: &u8| number << 8 | u32::from(*byte);
        Ok(if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    /// Returns a two-byte number.
    pub(super) fn half(&self, at: usize) -> Result<usize, StoreError> {
        self.number(at, 2).map(|number| number as usize)
    }

    /// Returns a four-byte number.
    pub(super) fn word(&self, at: usize) -> Result<u32, StoreError> {
        self.number(at, 4)
    }

    pub(super) fn kind(&self) -> Result<u8, StoreError> {
        self.byte(25)
    }

    pub(super) fn level(&self) -> Result<u8, StoreError> {
        self.byte(24)
    }

    /// Returns the number of the next page in a chain; 0 for the last page.
    pub(super) fn next(&self) -> Result<u32, StoreError> {
        self.word(16)
    }

    /// Returns the number of items.
    pub(super) fn items(&self) -> Result<usize, StoreError> {
        self.half(20)
    }

    /// Returns the offset of an item.
    pub(super) fn place(&self, index: usize) -> Result<usize, StoreError> {
        self.half(HEADER + 2 * index)
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }
}

fn no_database() -> StoreError {
    let message = "the file is not a Berkeley DB file of the kinds hash and btree";
    StoreError::new(StoreErrorKind::Corrupt, "opening", message)
}

/// Returns the error for a file with an unsupported feature.
pub(super) fn unsupported(what: &str) -> StoreError {
    let message = format!("the Berkeley DB file has {what}, which is not supported");
    StoreError::new(StoreErrorKind::Unsupported, "opening", message)
}
