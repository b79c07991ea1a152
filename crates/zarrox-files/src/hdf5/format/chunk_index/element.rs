//! The entries of fixed arrays and extensible arrays: one for each chunk.

use zarrox::Result;

use super::grid::Stored;
use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::source::Source;
use crate::input::corrupt;

/// The layout of the entries of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// The size of an entry in bytes.
    pub(super) size: usize,
    /// The width in bytes of the field with the stored size of a filtered chunk; `None` if chunks are not filtered.
    filtered: Option<usize>,
    /// The stored size of unfiltered chunks.
    chunk_bytes: u64,
}

impl Element {
    /// Returns the layout of entries of the given size. The client ID determines whether chunks are filtered.
    pub(super) fn new(source: &Source, client: u8, size: usize, chunk_bytes: u64) -> Result<Self> {
        let offset = source.sizes.offset;
        let filtered = match client {
            0 if size == offset => None,
            1 if (offset + 5..=offset + 12).contains(&size) => Some(size - offset - 4),
            _ => {
                return Err(corrupt(format!(
                    "an index of chunks of the kind {client} has entries of {size} bytes"
                )));
            }
        };
        Ok(Self { size, filtered, chunk_bytes })
    }

    /// Reads the next entry; `None` if the chunk was never written.
    pub(super) fn next(&self, cursor: &mut Cursor<'_>) -> Result<Option<Stored>> {
        let address = cursor.address()?;
        let (size, mask) = match self.filtered {
            Some(width) => (cursor.number(width)?, cursor.u32()?),
            None => (self.chunk_bytes, 0),
        };
        Ok(address.map(|address| Stored { address, size, mask }))
    }
}

/// Returns true if a bit of a bitmap is set. Bits are numbered from the most significant bit of the first byte.
pub(super) fn is_set(bits: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|place| bits.get(place));
    byte.is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}
