//! The mappings of virtual datasets.

use zarrox::Result;

use super::cursor::Cursor;
use super::heap::global::GlobalHeap;
use super::model::{Address, Mapping};
use super::selection;
use super::source::{Source, verified};
use crate::input::corrupt;

const WHAT: &str = "the mappings of a virtual dataset";

/// The maximum length in bytes of a name that is shared by several mappings.
const MOST_SHARED: usize = 4096;

/// Reads the mappings at a location in the global heap.
pub(super) fn read(
    source: &Source,
    heap: &GlobalHeap,
    place: Option<(Address, u32)>,
) -> Result<Vec<Mapping>> {
    let Some((address, index)) = place else { return Ok(Vec::new()) };
    parse(source.cursor(verified(&heap.object(source, address, index)?, WHAT)?, WHAT))
}

/// Parses the mappings, without the checksum.
fn parse(mut cursor: Cursor<'_>) -> Result<Vec<Mapping>> {
    let version = cursor.u8()?;
    if version > 1 {
        return Err(cursor.unknown_version(version));
    }
    let count = cursor.length()?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for _ in 0..count {
        let mapping = mapping(&mut cursor, version, &mappings)?;
        mappings.push(mapping);
    }
    Ok(mappings)
}

fn mapping(cursor: &mut Cursor<'_>, version: u8, before: &[Mapping]) -> Result<Mapping> {
    let flags = if version == 0 { 0 } else { cursor.u8()? };
    let file = if flags & 4 != 0 {
        b".".to_vec()
    } else if flags & 1 != 0 {
        earlier(cursor, before)?.file.clone()
    } else {
        cursor.text()?.to_vec()
    };
    let dataset =
        if flags & 2 != 0 { earlier(cursor, before)?.dataset.clone() } else { cursor.text()?.to_vec() };
    Ok(Mapping { file, dataset, source: selection::next(cursor)?, target: selection::next(cursor)? })
}

/// Reads the index of an earlier mapping with the same name, and returns that mapping.
fn earlier<'m>(cursor: &mut Cursor<'_>, before: &'m [Mapping]) -> Result<&'m Mapping> {
    let number = cursor.length()?;
    // Without a limit, shared names could require far more memory than the size of the file.
    let found = usize::try_from(number).ok().and_then(|number| before.get(number));
    let found = found.filter(|found| found.file.len().max(found.dataset.len()) <= MOST_SHARED);
    found.ok_or_else(|| corrupt(format!("{WHAT} have no earlier one of the number {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn names_of_earlier_mappings() {
        // HDF5 2.0 also reads these mappings this way.
        let all = "03000000 01000000 00000000 00000000".repeat(2);
        let digits = format!(
            "01 0400000000000000 00 612e683500 6400 {all} 03 0000000000000000 0000000000000000 {all}
            04 6500 {all} 06 0200000000000000 {all}"
        );
        let found = parse(Cursor::new(&unhex(&digits), USUAL, WHAT)).unwrap();
        let names: Vec<_> = found.iter().map(|one| (one.file.as_slice(), one.dataset.as_slice())).collect();
        let expected: [(&[u8], &[u8]); 4] = [(b"a.h5", b"d"), (b"a.h5", b"d"), (b".", b"e"), (b".", b"e")];
        assert_eq!(names, expected);
        let later = digits.replace("06 02", "06 03");
        assert_error(parse(Cursor::new(&unhex(&later), USUAL, WHAT)), ErrorKind::Corrupt, "the number 3");
    }
}
