//! Selections of elements in a dataspace, as stored in virtual datasets and references.

use zarrox::Result;

use super::cursor::Cursor;
use super::message::space::MOST_DIMENSIONS;
use super::model::{Blocks, Hyperslab};
use crate::input::{corrupt, unsupported};

/// Reads the next selection.
pub(super) fn next(cursor: &mut Cursor<'_>) -> Result<Hyperslab> {
    let kind = cursor.u32()?;
    let version = cursor.u32()?;
    match (kind, version) {
        (0 | 3, 1) => {
            // Reserved bytes and the remaining length.
            cursor.skip(8)?;
            Ok(if kind == 0 { Hyperslab::None } else { Hyperslab::All })
        }
        (1, 1) => {
            cursor.skip(8)?;
            let rank = rank(cursor)?;
            points(cursor, rank, 4)
        }
        (1, 2) => {
            let width = usize::from(cursor.u8()?);
            let rank = rank(cursor)?;
            points(cursor, rank, width)
        }
        (2, 1) => {
            cursor.skip(8)?;
            let rank = rank(cursor)?;
            boxes(cursor, rank, 4)
        }
        (2, 2) => {
            // The flags, which mark every hyperslab in this version as regular, and the length.
            cursor.skip(5)?;
            let rank = rank(cursor)?;
            regular(cursor, rank, 8)
        }
        (2, 3) => {
            let is_regular = cursor.u8()? & 1 != 0;
            let width = usize::from(cursor.u8()?);
            let rank = rank(cursor)?;
            if is_regular { regular(cursor, rank, width) } else { boxes(cursor, rank, width) }
        }
        _ => Err(unsupported(format!("a selection of the unknown kind {kind} and version {version}"))),
    }
}

fn rank(cursor: &mut Cursor<'_>) -> Result<usize> {
    let rank = cursor.u32()?;
    let known = usize::try_from(rank).ok().filter(|&rank| rank <= MOST_DIMENSIONS);
    known.ok_or_else(|| {
        corrupt(format!("a selection has {rank} dimensions; HDF5 has at most {MOST_DIMENSIONS}"))
    })
}

/// Parses the number of entries, each of which has `each` bytes. Returns an error if the remaining bytes are too short for them.
fn count(cursor: &mut Cursor<'_>, width: usize, each: usize) -> Result<u64> {
    let count = cursor.number(width)?;
    let most = cursor.left() / each.max(1);
    if count > most as u64 {
        return Err(corrupt(format!("a selection has {count} parts, but only bytes for {most}")));
    }
    Ok(count)
}

fn numbers(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Vec<u64>> {
    (0..rank).map(|_| cursor.number(width)).collect()
}

fn points(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Hyperslab> {
    let count = count(cursor, width, rank * width)?;
    Ok(Hyperslab::Points((0..count).map(|_| numbers(cursor, rank, width)).collect::<Result<_>>()?))
}

fn boxes(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Hyperslab> {
    let count = count(cursor, width, 2 * rank * width)?;
    let next = |_| Ok((numbers(cursor, rank, width)?, numbers(cursor, rank, width)?));
    Ok(Hyperslab::Boxes((0..count).map(next).collect::<Result<_>>()?))
}

fn regular(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Hyperslab> {
    let next = |_| {
        let (start, stride) = (cursor.number(width)?, cursor.number(width)?);
        Ok(Blocks { start, stride, count: cursor.limit(width)?, block: cursor.limit(width)? })
    };
    Ok(Hyperslab::Regular((0..rank).map(next).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};

    fn parsed(digits: &str) -> Result<Hyperslab> {
        next(&mut Cursor::new(&unhex(digits), USUAL, "a selection"))
    }

    #[test]
    fn as_h5py_encodes_them() {
        // The bytes after the dataspace in the result of h5py's `SpaceID.encode`.
        assert_eq!(parsed("03000000 01000000 00000000 00000000").unwrap(), Hyperslab::All);
        assert_eq!(parsed("00000000 01000000 00000000 00000000").unwrap(), Hyperslab::None);
        let points =
            "01000000 01000000 00000000 18000000 02000000 02000000 01000000 02000000 03000000 04000000";
        assert_eq!(parsed(points).unwrap(), Hyperslab::Points(vec![vec![1, 2], vec![3, 4]]));
        let boxes =
            "02000000 01000000 00000000 28000000 02000000 02000000 00000000 00000000 01000000 01000000
            05000000 05000000 05000000 07000000";
        let expected = vec![(vec![0, 0], vec![1, 1]), (vec![5, 5], vec![5, 7])];
        assert_eq!(parsed(boxes).unwrap(), Hyperslab::Boxes(expected));
        let many = boxes.replace("02000000 00000000", "ffffff00 00000000");
        assert!(parsed(&many).unwrap_err().to_string().contains("but only bytes for"));
    }

    #[test]
    fn regular_ones_without_an_end() {
        let regular = "02000000 03000000 01 02 02000000 0000 0100 0100 0100 0200 0300 ffff 0100";
        let blocks = |start, stride, count| Blocks { start, stride, count, block: Some(1) };
        assert_eq!(
            parsed(regular).unwrap(),
            Hyperslab::Regular(vec![blocks(0, 1, Some(1)), blocks(2, 3, None)])
        );
        let old = "02000000 02000000 01 24000000 01000000 0200000000000000 0300000000000000 ffffffffffffffff
            0100000000000000";
        assert_eq!(parsed(old).unwrap(), Hyperslab::Regular(vec![blocks(2, 3, None)]));
    }
}
