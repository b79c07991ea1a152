//! Data layout messages (section IV.A.2.i).

use zarrox::Result;

use super::space::MOST_DIMENSIONS;
use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::model::{Address, ChunkIndex, Layout};
use crate::input::{corrupt, unsupported};

/// A parsed message.
#[derive(Debug)]
pub(in crate::hdf5::format) enum Stored {
    Ready(Layout),
    /// Contiguous elements, with their size in bytes.
    Contiguous(Option<Address>, u64),
    /// Chunks, and whether chunks that extend beyond the shape are stored unfiltered.
    Chunked {
        layout: Layout,
        are_edges_unfiltered: bool,
    },
    /// The location of the mappings in the global heap.
    Virtual(Option<(Address, u32)>),
}

/// Parses a data layout message.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Stored> {
    match cursor.u8()? {
        1 | 2 => old(&mut cursor).map(Stored::Ready),
        version @ 3..=5 => new(&mut cursor, version),
        version => Err(cursor.unknown_version(version)),
    }
}

/// Parses versions 1 and 2. For layouts other than chunked, the dimensions may be truncated; those in the dataspace are
/// authoritative.
fn old(cursor: &mut Cursor<'_>) -> Result<Layout> {
    let rank = usize::from(cursor.u8()?);
    let class = cursor.u8()?;
    cursor.skip(5)?;
    if !(1..=MOST_DIMENSIONS + 1).contains(&rank) {
        return Err(corrupt(format!("a layout has {rank} dimensions with that of the elements")));
    }
    let address = if class == 0 { None } else { cursor.address()? };
    if class == 2 {
        return Ok(Layout::Chunked { chunk: chunk(cursor, rank, 4)?, index: ChunkIndex::BTree1, address });
    }
    cursor.skip(4 * rank)?;
    match class {
        0 => {
            let length = cursor.u32()?;
            Ok(Layout::Compact(cursor.take(usize::try_from(length).unwrap_or(usize::MAX))?.to_vec()))
        }
        1 => Ok(Layout::Contiguous(address)),
        _ => Err(unsupported(format!("unknown class {class} of a layout"))),
    }
}

fn new(cursor: &mut Cursor<'_>, version: u8) -> Result<Stored> {
    match cursor.u8()? {
        0 => {
            let length = cursor.u16()?;
            Ok(Stored::Ready(Layout::Compact(cursor.take(usize::from(length))?.to_vec())))
        }
        1 => Ok(Stored::Contiguous(cursor.address()?, cursor.length()?)),
        2 if version == 3 => {
            let rank = usize::from(cursor.u8()?);
            let address = cursor.address()?;
            let layout =
                Layout::Chunked { chunk: chunk(cursor, rank, 4)?, index: ChunkIndex::BTree1, address };
            Ok(Stored::Ready(layout))
        }
        2 => chunked(cursor),
        3 if version > 3 => {
            let place = match cursor.address()? {
                Some(address) => Some((address, cursor.u32()?)),
                None => None,
            };
            Ok(Stored::Virtual(place))
        }
        class => Err(unsupported(format!("unknown class {class} of a layout of version {version}"))),
    }
}

/// Reads the stored shape of a chunk, whose last dimension is the element size.
fn chunk(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Vec<u64>> {
    if !(2..=MOST_DIMENSIONS + 1).contains(&rank) {
        return Err(corrupt(format!("chunks have {rank} dimensions with that of the elements")));
    }
    let mut chunk = (0..rank).map(|_| cursor.number(width)).collect::<Result<Vec<u64>>>()?;
    if chunk.contains(&0) {
        return Err(corrupt(format!("chunks have the shape {chunk:?}")));
    }
    chunk.pop();
    Ok(chunk)
}

/// Parses the chunked layout in version 4.
fn chunked(cursor: &mut Cursor<'_>) -> Result<Stored> {
    let flags = cursor.u8()?;
    let rank = usize::from(cursor.u8()?);
    let width = usize::from(cursor.u8()?);
    let chunk = chunk(cursor, rank, width)?;
    let index = match cursor.u8()? {
        1 if flags & 2 != 0 => ChunkIndex::Single(Some((cursor.length()?, cursor.u32()?))),
        1 => ChunkIndex::Single(None),
        2 => ChunkIndex::Implicit,
        // Parameters that are repeated in the index headers.
        3 => {
            cursor.skip(1)?;
            ChunkIndex::FixedArray
        }
        4 => {
            cursor.skip(5)?;
            ChunkIndex::ExtensibleArray
        }
        5 => {
            cursor.skip(6)?;
            ChunkIndex::BTree2
        }
        index => return Err(unsupported(format!("unknown chunk index type {index}"))),
    };
    let layout = Layout::Chunked { chunk, index, address: cursor.address()? };
    Ok(Stored::Chunked { layout, are_edges_unfiltered: flags & 1 != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn parsed(digits: &str) -> Result<Stored> {
        parse(Cursor::new(&unhex(digits), USUAL, "a data layout message"))
    }

    #[test]
    fn old_versions_have_five_reserved_bytes() {
        for version in ["01", "02"] {
            let digits = format!("{version} 03 01 0000000000 0008000000000000 02000000 03000000 04000000");
            let found = parsed(&digits).unwrap();
            assert!(matches!(found, Stored::Ready(Layout::Contiguous(Some(2048)))), "{found:?}");
            let digits = format!("{version} 01 01 0000000000 ffffffffffffffff 04000000");
            assert!(matches!(parsed(&digits).unwrap(), Stored::Ready(Layout::Contiguous(None))));
            let digits = format!("{version} 02 00 0000000000 02000000 01000000 02000000 0102");
            let Stored::Ready(Layout::Compact(bytes)) = parsed(&digits).unwrap() else { panic!() };
            assert_eq!(bytes, [1, 2]);
            let digits = format!("{version} 02 02 0000000000 0008000000000000 05000000 04000000");
            let Stored::Ready(Layout::Chunked { chunk, index, address }) = parsed(&digits).unwrap() else {
                panic!()
            };
            assert_eq!((chunk, index, address), (vec![5], ChunkIndex::BTree1, Some(2048)));
        }
    }

    #[test]
    fn hostile_layouts() {
        assert_error(
            parsed("03 02 02 0008000000000000 00000000 04000000"),
            ErrorKind::Corrupt,
            "the shape [0, 4]",
        );
        assert_error(parsed("03 02 ff 0008000000000000 01000000"), ErrorKind::Corrupt, "255 dimensions");
        assert_error(parsed("03 00 ff00 01"), ErrorKind::Corrupt, "is truncated");
        assert_error(parsed("04 02 00 02 09 0101 01"), ErrorKind::Corrupt, "a number of 9 bytes");
        assert_error(parsed("01 00 01 0000000000 0008000000000000"), ErrorKind::Corrupt, "0 dimensions");
        assert!(parsed("06 01").unwrap_err().to_string().contains("version 6"));
    }
}
