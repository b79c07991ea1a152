//! Fixed array indexes of chunks (section III.I of the specification).

use zarrox::Result;

use super::element::Element;
use super::grid::{Grid, Linear};
use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::model::Address;
use crate::hdf5::format::source::{Source, verified};
use crate::input::corrupt;

const HEADER: &str = "the header of a fixed array of chunks";
const BLOCK: &str = "the data block of a fixed array of chunks";
const PAGE: &str = "a page of a fixed array of chunks";

/// Adds the chunks in an array to `grid`.
pub(super) fn read(source: &Source, address: Address, grid: &mut Grid) -> Result<()> {
    let order = grid.order(false)?;
    let length = 12 + source.sizes.length + source.sizes.offset;
    let bytes = source.read_checked(address, length as u64, HEADER)?;
    let mut cursor = source.cursor(&bytes, HEADER);
    cursor.signature(b"FAHD")?;
    cursor.version(0)?;
    let client = cursor.u8()?;
    let size = usize::from(cursor.u8()?);
    let bits = u32::from(cursor.u8()?);
    let elements = cursor.length()?;
    let Some(block) = cursor.address()? else { return Ok(()) };
    let element = Element::new(source, client, size, grid.chunk_bytes)?;
    let page = 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
    let array = Array { source, element, elements, page };
    if order.is_empty {
        return Ok(());
    }
    if elements > page { array.pages(block, &order, grid) } else { array.whole(block, &order, grid) }
}

/// An array whose header has been read.
struct Array<'s> {
    source: &'s Source,
    element: Element,
    elements: u64,
    /// The number of elements in a page.
    page: u64,
}

impl Array<'_> {
    /// Returns the number of bytes before the elements of the data block.
    fn prefix(&self) -> u64 {
        6 + self.source.sizes.offset as u64
    }

    fn bytes_of(&self, elements: u64) -> Result<u64> {
        let bytes = elements.checked_mul(self.element.size as u64).and_then(|bytes| bytes.checked_add(4));
        bytes.ok_or_else(|| corrupt(format!("a fixed array of chunks has {elements} elements")))
    }

    /// Adds the chunks in a data block that is not divided into pages.
    fn whole(&self, address: Address, order: &Linear, grid: &mut Grid) -> Result<()> {
        let length = self.bytes_of(self.elements)?.saturating_add(self.prefix());
        let bytes = self.source.read(address, length)?;
        let mut cursor = self.source.cursor(verified(&bytes, BLOCK)?, BLOCK);
        self.start(&mut cursor)?;
        self.elements(cursor, 0, order, grid)
    }

    fn start(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.signature(b"FADB")?;
        cursor.version(0)?;
        cursor.u8()?;
        cursor.address().map(drop)
    }

    /// Adds the chunks in all pages that have been written.
    fn pages(&self, address: Address, order: &Linear, grid: &mut Grid) -> Result<()> {
        let count = self.elements.div_ceil(self.page);
        let length = self.prefix() + count.div_ceil(8) + 4;
        let bytes = self.source.read(address, length)?;
        let mut cursor = self.source.cursor(verified(&bytes, BLOCK)?, BLOCK);
        self.start(&mut cursor)?;
        let written = cursor.rest();
        let full = self.bytes_of(self.page)?;
        let out_of_range = || corrupt(format!("{PAGE} has an address beyond 64 bits"));
        let mut position = address.checked_add(length).ok_or_else(out_of_range)?;
        for number in 0..count {
            let first = number * self.page;
            if super::element::is_set(written, number) {
                let length = self.bytes_of(self.page.min(self.elements - first))?;
                let bytes = self.source.read(position, length)?;
                self.elements(self.source.cursor(verified(&bytes, PAGE)?, PAGE), first, order, grid)?;
            }
            position = position.checked_add(full).ok_or_else(out_of_range)?;
        }
        Ok(())
    }

    /// Adds the chunks of all remaining elements, the first of which has the index `first`.
    fn elements(&self, mut cursor: Cursor<'_>, first: u64, order: &Linear, grid: &mut Grid) -> Result<()> {
        for index in first.. {
            if cursor.left() < self.element.size {
                break;
            }
            if let Some(stored) = self.element.next(&mut cursor)? {
                grid.add_scaled(&order.scaled(index), stored)?;
            }
        }
        Ok(())
    }
}
