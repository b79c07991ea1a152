//! The entries of fixed and extensible arrays, one for each chunk.

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
    /// The width of the stored size of a filtered chunk.
    filtered: Option<usize>,
    /// The stored size of chunks without filters.
    chunk_bytes: u64,
}

impl Element {
    /// Returns the layout of entries of this size. The client specifies whether chunks are filtered.
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

    /// Reads the next entry; `None` for a chunk that was not written.
    pub(super) fn next(&self, cursor: &mut Cursor<'_>) -> Result<Option<Stored>> {
        let address = cursor.address()?;
        let (size, mask) = match self.filtered {
            Some(width) => (cursor.number(width)?, cursor.u32()?),
            None => (self.chunk_bytes, 0),
        };
        Ok(address.map(|address| Stored { address, size, mask }))
    }
}

/// Returns true if a bit is set. The first bit is the highest bit of its byte.
pub(super) fn is_set(bits: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|place| bits.get(place));
    byte.is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}
