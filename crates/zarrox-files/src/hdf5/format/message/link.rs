//! Link messages (section IV.A.2.g).

use zarrox::Result;

use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::model::{Link, Target};
use crate::input::{corrupt, unsupported};

/// The link type of external links.
const EXTERNAL: u8 = 64;

/// Parses a link message.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Link> {
    cursor.version(1)?;
    let flags = cursor.u8()?;
    let kind = if flags & 8 == 0 { 0 } else { cursor.u8()? };
    let order = if flags & 4 == 0 { None } else { Some(cursor.u64()?.cast_signed()) };
    if flags & 0x10 != 0 {
        // The character set. Names are kept as bytes, since many programs declare the wrong character set.
        cursor.u8()?;
    }
    let length = cursor.number(1 << (flags & 3))?;
    let name = cursor.take(usize::try_from(length).unwrap_or(usize::MAX))?.to_vec();
    Ok(Link { name, order, target: target(&mut cursor, kind)? })
}

fn target(cursor: &mut Cursor<'_>, kind: u8) -> Result<Target> {
    match kind {
        0 => Ok(Target::Hard(cursor.defined_address()?)),
        1 => {
            let length = usize::from(cursor.u16()?);
            Ok(Target::Soft(cursor.take(length)?.to_vec()))
        }
        EXTERNAL => {
            let length = usize::from(cursor.u16()?);
            external(Cursor::new(cursor.take(length)?, cursor.sizes(), "an external link"))
        }
        65.. => Ok(Target::User(kind)),
        _ => Err(corrupt(format!("the kind {kind} of a link is reserved"))),
    }
}

fn external(mut cursor: Cursor<'_>) -> Result<Target> {
    let version = cursor.u8()? >> 4;
    if version != 0 {
        return Err(unsupported(format!("an external link has the unsupported version {version}")));
    }
    Ok(Target::External { file: cursor.text()?.to_vec(), path: cursor.text()?.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn all_kinds() {
        let cases = [
            ("01 00 01 61 6000000000000000", None, Target::Hard(96)),
            ("01 1c 01 0500000000000000 01 01 61 0200 2f62", Some(5), Target::Soft(b"/b".to_vec())),
            (
                "01 08 40 01 61 0700 00 662e6800 6200",
                None,
                Target::External { file: b"f.h".to_vec(), path: b"b".to_vec() },
            ),
            ("01 08 41 01 61 0100 00", None, Target::User(65)),
        ];
        for (digits, order, target) in cases {
            let found = parse(Cursor::new(&unhex(digits), USUAL, "a link message")).unwrap();
            assert_eq!(found, Link { name: b"a".to_vec(), order, target }, "{digits}");
        }
        let undefined = unhex("01 00 01 61 ffffffffffffffff");
        assert_error(
            parse(Cursor::new(&undefined, USUAL, "a link message")),
            ErrorKind::Corrupt,
            "an address",
        );
    }
}
