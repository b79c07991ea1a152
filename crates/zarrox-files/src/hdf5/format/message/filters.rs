//! Filter pipeline messages (section IV.A.2.l).

use zarrox::Result;

use crate::hdf5::format::cursor::{Cursor, until_nul};
use crate::hdf5::format::model::Filter;
use crate::input::corrupt;

/// The maximum number of filters in HDF5.
const MOST: u8 = 32;
/// The smallest ID of a filter that is not part of HDF5.
const FIRST_FOREIGN: u16 = 256;

/// Parses a filter pipeline message.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Vec<Filter>> {
    let version = cursor.u8()?;
    let count = cursor.u8()?;
    match version {
        1 => cursor.skip(6)?,
        2 => {}
        _ => return Err(cursor.unknown_version(version)),
    }
    if count > MOST {
        return Err(corrupt(format!("a dataset has {count} filters; HDF5 has at most {MOST}")));
    }
    (0..count).map(|_| filter(&mut cursor, version == 1)).collect()
}

fn filter(cursor: &mut Cursor<'_>, is_old: bool) -> Result<Filter> {
    let id = cursor.u16()?;
    let length = if is_old || id >= FIRST_FOREIGN { usize::from(cursor.u16()?) } else { 0 };
    let flags = cursor.u16()?;
    let count = usize::from(cursor.u16()?);
    let name = cursor.take(if is_old { length.next_multiple_of(8) } else { length })?;
    let name = String::from_utf8_lossy(until_nul(name)).into_owned();
    let parameters = (0..count).map(|_| cursor.u32()).collect::<Result<Vec<u32>>>()?;
    if is_old && count % 2 == 1 {
        cursor.skip(4)?;
    }
    let name = (!name.is_empty()).then_some(name);
    Ok(Filter { id, name, is_optional: flags & 1 != 0, parameters })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};

    #[test]
    fn both_versions() {
        let deflate = Filter { id: 1, name: None, is_optional: true, parameters: vec![6] };
        let named = Filter { id: 1, name: Some("deflate".to_owned()), ..deflate.clone() };
        let foreign =
            Filter { id: 32001, name: Some("blosc".to_owned()), is_optional: false, parameters: vec![] };
        let cases = [
            ("01 01 000000000000 0100 0800 0100 0100 6465666c61746500 06000000 00000000", vec![named]),
            ("02 02 0100 0100 0100 06000000 017d 0600 0000 0000 626c6f736300", vec![deflate, foreign]),
        ];
        for (digits, expected) in cases {
            let found = parse(Cursor::new(&unhex(digits), USUAL, "a filter pipeline message")).unwrap();
            assert_eq!(found, expected, "{digits}");
        }
    }
}
