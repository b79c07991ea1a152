//! External Data Files messages (section IV.A.2.h).

use zarrox::Result;

use crate::hdf5::format::cursor::all_ones;
use crate::hdf5::format::heap::local::LocalHeap;
use crate::hdf5::format::model::ExternalFile;
use crate::hdf5::format::source::Source;

/// Parses the message that lists the external files of a dataset. The file names are stored in a local heap.
pub(in crate::hdf5::format) fn parse(source: &Source, message: &[u8]) -> Result<Vec<ExternalFile>> {
    let mut cursor = source.cursor(message, "an external data files message");
    cursor.version(1)?;
    cursor.skip(3)?;
    // The numbers of allocated slots and used slots.
    cursor.u16()?;
    let count = cursor.u16()?;
    let heap = LocalHeap::read(source, cursor.defined_address()?)?;
    let unlimited = all_ones(source.sizes.length);
    let mut files = Vec::new();
    for _ in 0..count {
        let name = heap.name(cursor.length()?)?.to_vec();
        let (offset, size) = (cursor.length()?, cursor.length()?);
        files.push(ExternalFile { name, offset, size: if size == unlimited { u64::MAX } else { size } });
    }
    Ok(files)
}
