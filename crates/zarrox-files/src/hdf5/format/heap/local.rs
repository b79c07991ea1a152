//! Local heaps, which store the names in an old-style group (section III.D).

use zarrox::Result;

use crate::hdf5::format::cursor::until_nul;
use crate::hdf5::format::model::Address;
use crate::hdf5::format::source::Source;
use crate::input::corrupt;

const WHAT: &str = "a local heap";

/// The link names of a group.
#[derive(Debug)]
pub(in crate::hdf5::format) struct LocalHeap {
    data: Vec<u8>,
}

impl LocalHeap {
    /// Reads the heap at an address.
    pub(in crate::hdf5::format) fn read(source: &Source, address: Address) -> Result<Self> {
        let length = 8 + 2 * source.sizes.length + source.sizes.offset;
        let bytes = source.read(address, length as u64)?;
        let mut cursor = source.cursor(&bytes, WHAT);
        cursor.signature(b"HEAP")?;
        cursor.version(0)?;
        cursor.skip(3)?;
        let size = cursor.length()?;
        cursor.length()?;
        let data = source.read(cursor.defined_address()?, size)?;
        Ok(Self { data })
    }

    /// Returns the total size of all names in bytes.
    pub(in crate::hdf5::format) fn length(&self) -> u64 {
        self.data.len() as u64
    }

    /// Returns the NUL-terminated name at an offset, without the NUL.
    pub(in crate::hdf5::format) fn name(&self, offset: u64) -> Result<&[u8]> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.data.get(offset..));
        let rest = rest.filter(|rest| rest.contains(&0));
        rest.map(until_nul)
            .ok_or_else(|| corrupt(format!("no name at {offset} in {WHAT} of {} bytes", self.data.len())))
    }
}
