//! Extensible array indexes of chunks (section III.H of the specification).
//!
//! The index block contains the first elements, the addresses of the first data blocks, and the addresses of the super
//! blocks. The super blocks contain the addresses of all other data blocks. Later data blocks are larger, and large data
//! blocks are divided into pages.

use std::collections::HashSet;

use zarrox::Result;

use super::element::Element;
use super::grid::{Grid, Linear};
use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::model::Address;
use crate::hdf5::format::source::{Source, verified};
use crate::input::corrupt;

const HEADER: &str = "the header of an extensible array of chunks";
const INDEX: &str = "the index block of an extensible array of chunks";
const SUPER: &str = "a super block of an extensible array of chunks";
const DATA: &str = "a data block of an extensible array of chunks";
const PAGE: &str = "a page of an extensible array of chunks";

/// Adds the chunks in an array to `grid`.
pub(super) fn read(source: &Source, address: Address, grid: &mut Grid) -> Result<()> {
    let order = grid.order(true)?;
    let length = 16 + 6 * source.sizes.length + source.sizes.offset;
    let bytes = source.read_checked(address, length as u64, HEADER)?;
    let mut cursor = source.cursor(&bytes, HEADER);
    cursor.signature(b"EAHD")?;
    cursor.version(0)?;
    let client = cursor.u8()?;
    let size = usize::from(cursor.u8()?);
    let element = Element::new(source, client, size, grid.chunk_bytes)?;
    let numbers = [cursor.u8()?, cursor.u8()?, cursor.u8()?, cursor.u8()?, cursor.u8()?];
    // The counts of blocks, bytes and elements.
    cursor.skip(6 * source.sizes.length)?;
    let Some(index) = cursor.address()? else { return Ok(()) };
    let sizes = BlockSizes::new(numbers)?;
    if order.is_empty {
        return Ok(());
    }
    Array { source, element, sizes, order, visited: HashSet::new(), grid }.index(index)
}

/// The parameters that determine the sizes of blocks.
#[derive(Debug)]
struct BlockSizes {
    /// The width in bytes of an offset in the array.
    offset_width: usize,
    /// The number of elements in the index block.
    direct: u64,
    /// The number of elements in the smallest data block.
    smallest: u64,
    /// The number of data blocks in the smallest stored super block.
    pointers: u64,
    /// The number of elements in a page.
    page: u64,
    /// The number of super blocks, including those that are not stored.
    super_blocks: u32,
}

impl BlockSizes {
    fn new(numbers: [u8; 5]) -> Result<Self> {
        let [bits, direct, smallest, pointers, page_bits] = numbers.map(u64::from);
        let is_known =
            smallest.is_power_of_two() && pointers.is_power_of_two() && bits <= 64 && page_bits < 64;
        let super_blocks =
            u32::try_from(bits).ok().and_then(|bits| (bits + 1).checked_sub(smallest.max(1).ilog2()));
        let super_blocks = super_blocks.filter(|&all| is_known && all >= 2 * pointers.ilog2());
        let super_blocks = super_blocks
            .ok_or_else(|| corrupt(format!("{HEADER} has blocks of unknown sizes: {numbers:?}")))?;
        let offset_width = usize::from(numbers[0]).div_ceil(8);
        Ok(Self { offset_width, direct, smallest, pointers, page: 1 << page_bits, super_blocks })
    }

    /// Returns the number of data blocks in a super block, and the number of elements in each data block.
    fn of(&self, super_block: u32) -> Result<(u64, u64)> {
        let elements =
            1_u64.checked_shl(super_block.div_ceil(2)).and_then(|factor| factor.checked_mul(self.smallest));
        let blocks = 1_u64.checked_shl(super_block / 2);
        blocks.zip(elements).ok_or_else(|| corrupt(format!("{SUPER} has the number {super_block}")))
    }
}

/// The state of a traversal.
struct Array<'s> {
    source: &'s Source,
    element: Element,
    sizes: BlockSizes,
    order: Linear,
    visited: HashSet<Address>,
    grid: &'s mut Grid,
}

impl Array<'_> {
    /// Reads the index block and all blocks below it.
    fn index(&mut self, address: Address) -> Result<()> {
        let sizes = &self.sizes;
        let in_index = 2 * sizes.pointers.ilog2();
        let data_blocks = 2 * (sizes.pointers - 1);
        let super_blocks = sizes.super_blocks - in_index;
        let offset = self.source.sizes.offset as u64;
        let elements = sizes.direct * self.element.size as u64;
        let length = 10 + offset + elements + (data_blocks + u64::from(super_blocks)) * offset;
        let bytes = self.source.read(address, length)?;
        let mut cursor = self.start(verified(&bytes, INDEX)?, b"EAIB", INDEX)?;
        let mut first = 0;
        for _ in 0..self.sizes.direct {
            self.element(&mut cursor, first)?;
            first += 1;
        }
        for number in 0..in_index {
            let (blocks, elements) = self.sizes.of(number)?;
            for _ in 0..blocks {
                if let Some(block) = cursor.address()? {
                    self.data(block, first, elements)?;
                }
                first += elements;
            }
        }
        for number in in_index..self.sizes.super_blocks {
            let Some(block) = cursor.address()? else {
                let (blocks, elements) = self.sizes.of(number)?;
                first = first.saturating_add(blocks.saturating_mul(elements));
                continue;
            };
            first = self.super_block(block, number, first)?;
        }
        Ok(())
    }

    /// Starts reading a block. Returns an error if the block was already visited.
    fn start<'b>(&mut self, bytes: &'b [u8], signature: &[u8], what: &'static str) -> Result<Cursor<'b>> {
        let mut cursor = self.source.cursor(bytes, what);
        cursor.signature(signature)?;
        cursor.version(0)?;
        cursor.u8()?;
        cursor.address()?;
        Ok(cursor)
    }

    fn visit(&mut self, address: Address, what: &str) -> Result<()> {
        if self.visited.insert(address) {
            Ok(())
        } else {
            Err(corrupt(format!("{what} at {address} occurs twice")))
        }
    }

    /// Adds the chunk of the next element.
    fn element(&mut self, cursor: &mut Cursor<'_>, index: u64) -> Result<()> {
        match self.element.next(cursor)? {
            Some(stored) => self.grid.add_scaled(&self.order.scaled(index), stored),
            None => Ok(()),
        }
    }

    /// Reads a super block, and returns the index of the first element after it.
    fn super_block(&mut self, address: Address, number: u32, first: u64) -> Result<u64> {
        self.visit(address, SUPER)?;
        let (blocks, elements) = self.sizes.of(number)?;
        let pages = if elements > self.sizes.page { elements / self.sizes.page } else { 0 };
        let too_large = || corrupt(format!("{SUPER} has {blocks} blocks of {elements} elements"));
        let bitmap = blocks.checked_mul(pages.div_ceil(8)).ok_or_else(too_large)?;
        let offset = self.source.sizes.offset;
        let prefix = (10 + offset + self.sizes.offset_width) as u64;
        let addresses = blocks.checked_mul(offset as u64);
        let length = addresses.and_then(|bytes| bytes.checked_add(bitmap)?.checked_add(prefix));
        let bytes = self.source.read(address, length.ok_or_else(too_large)?)?;
        let mut cursor = self.start(verified(&bytes, SUPER)?, b"EASB", SUPER)?;
        cursor.skip(self.sizes.offset_width)?;
        let written = cursor.take(usize::try_from(bitmap).map_err(|_| too_large())?)?;
        let mut first = first;
        for block in 0..blocks {
            if let Some(address) = cursor.address()? {
                if pages == 0 {
                    self.data(address, first, elements)?;
                } else {
                    self.pages(address, first, pages, written, block * pages)?;
                }
            }
            first = first.saturating_add(elements);
        }
        Ok(first)
    }

    /// Returns the number of bytes before the elements of a data block.
    fn prefix(&self) -> u64 {
        (6 + self.source.sizes.offset + self.sizes.offset_width) as u64
    }

    /// Reads a data block that is not divided into pages.
    fn data(&mut self, address: Address, first: u64, elements: u64) -> Result<()> {
        self.visit(address, DATA)?;
        let bytes =
            elements.checked_mul(self.element.size as u64).and_then(|all| all.checked_add(self.prefix() + 4));
        let length = bytes.ok_or_else(|| corrupt(format!("{DATA} has {elements} elements")))?;
        let bytes = self.source.read(address, length)?;
        let mut cursor = self.start(verified(&bytes, DATA)?, b"EADB", DATA)?;
        cursor.skip(self.sizes.offset_width)?;
        for index in 0..elements {
            self.element(&mut cursor, first.saturating_add(index))?;
        }
        Ok(())
    }

    /// Reads the pages of a data block that have been written, according to the bitmap `written`. The first page has the
    /// bit number `bit`.
    fn pages(&mut self, address: Address, first: u64, pages: u64, written: &[u8], bit: u64) -> Result<()> {
        self.visit(address, DATA)?;
        let prefix = self.prefix() + 4;
        let bytes = self.source.read(address, prefix)?;
        self.start(verified(&bytes, DATA)?, b"EADB", DATA)?;
        let page = self.sizes.page;
        let length = page.checked_mul(self.element.size as u64).and_then(|bytes| bytes.checked_add(4));
        let length = length.ok_or_else(|| corrupt(format!("{PAGE} has {page} elements")))?;
        let mut position = address.saturating_add(prefix);
        for number in 0..pages {
            if super::element::is_set(written, bit + number) {
                let bytes = self.source.read(position, length)?;
                let mut cursor = self.source.cursor(verified(&bytes, PAGE)?, PAGE);
                for index in 0..page {
                    self.element(&mut cursor, first.saturating_add(number * page + index))?;
                }
            }
            position = position.saturating_add(length);
        }
        Ok(())
    }
}
