//! Fill value messages (sections IV.A.2.e and IV.A.2.f).

use zarrox::Result;

use crate::hdf5::format::cursor::Cursor;

/// A fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5::format) enum Fill {
    /// No value was set: the elements are zero.
    Default,
    Undefined,
    Value(Vec<u8>),
}

/// Parses the message written by HDF5 before 1.6.
pub(in crate::hdf5::format) fn parse_old(mut cursor: Cursor<'_>) -> Result<Fill> {
    let length = cursor.u32()?;
    value(&mut cursor, length)
}

/// Parses the message written by HDF5 1.6 and later.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Fill> {
    match cursor.u8()? {
        version @ (1 | 2) => {
            // The space allocation time and the fill value write time.
            cursor.skip(2)?;
            let is_defined = cursor.u8()? != 0;
            if !is_defined {
                return Ok(if version == 1 { Fill::Default } else { Fill::Undefined });
            }
            let length = cursor.u32()?;
            value(&mut cursor, length)
        }
        3 => {
            let flags = cursor.u8()?;
            if flags & 0x10 != 0 {
                return Ok(Fill::Undefined);
            }
            if flags & 0x20 == 0 {
                return Ok(Fill::Default);
            }
            let length = cursor.u32()?;
            value(&mut cursor, length)
        }
        version => Err(cursor.unknown_version(version)),
    }
}

fn value(cursor: &mut Cursor<'_>, length: u32) -> Result<Fill> {
    match i32::try_from(length) {
        Err(_) => Ok(Fill::Undefined),
        Ok(0) => Ok(Fill::Default),
        Ok(length) => Ok(Fill::Value(cursor.take(length.unsigned_abs() as usize)?.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn all_versions() {
        let seven = Fill::Value(vec![7, 0]);
        let cases = [
            ("01 02 02 00", Fill::Default),
            ("01 02 02 01 00000000", Fill::Default),
            ("01 02 02 01 ffffffff", Fill::Undefined),
            ("01 02 02 01 02000000 0700", seven.clone()),
            ("02 02 02 00", Fill::Undefined),
            ("02 02 02 01 02000000 0700", seven.clone()),
            ("03 0a", Fill::Default),
            ("03 1a", Fill::Undefined),
            ("03 2a 02000000 0700", seven.clone()),
        ];
        for (digits, expected) in cases {
            let found = parse(Cursor::new(&unhex(digits), USUAL, "a fill value message")).unwrap();
            assert_eq!(found, expected, "{digits}");
        }
        let old = unhex("02000000 0700");
        assert_eq!(parse_old(Cursor::new(&old, USUAL, "an old fill value message")).unwrap(), seven);
        let long = unhex("ffffff7f 0700");
        assert_error(
            parse_old(Cursor::new(&long, USUAL, "an old fill value message")),
            ErrorKind::Corrupt,
            "is truncated",
        );
    }
}
