//! Dataspace messages (section IV.A.2.b).

use zarrox::Result;

use crate::hdf5::format::cursor::Cursor;
use crate::hdf5::format::model::Space;
use crate::input::corrupt;

/// The maximum number of dimensions in HDF5.
pub(in crate::hdf5::format) const MOST_DIMENSIONS: usize = 32;

/// Parses a dataspace message.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Space> {
    let version = cursor.u8()?;
    let rank = usize::from(cursor.u8()?);
    let flags = cursor.u8()?;
    match version {
        1 => cursor.skip(5)?,
        2 => {
            // For rank 0, the next byte distinguishes a scalar from a null dataspace.
            if cursor.u8()? == 2 {
                return Ok(Space::Null);
            }
        }
        _ => return Err(cursor.unknown_version(version)),
    }
    if rank > MOST_DIMENSIONS {
        return Err(corrupt(format!(
            "a dataspace has {rank} dimensions; HDF5 has at most {MOST_DIMENSIONS}"
        )));
    }
    let shape = (0..rank).map(|_| cursor.length()).collect::<Result<Vec<u64>>>()?;
    if let Some(length) = shape.iter().find(|&&length| length > i64::MAX as u64) {
        return Err(corrupt(format!("a dimension has the length {length}, which is more than 2^63")));
    }
    let width = cursor.sizes().length;
    let max = if flags & 1 == 0 {
        shape.iter().copied().map(Some).collect()
    } else {
        (0..rank).map(|_| cursor.limit(width)).collect::<Result<Vec<_>>>()?
    };
    Ok(Space::Simple { shape, max })
}

impl Space {
    /// Returns the number of elements; `None` if it exceeds 64 bits.
    pub(in crate::hdf5::format) fn elements(&self) -> Option<u64> {
        match self {
            Self::Null => Some(0),
            Self::Simple { shape, .. } if shape.contains(&0) => Some(0),
            Self::Simple { shape, .. } => {
                shape.iter().try_fold(1, |all: u64, &length| all.checked_mul(length))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::Sizes;

    fn parsed(bytes: &[u8]) -> Space {
        parse(Cursor::new(bytes, Sizes { offset: 4, length: 4 }, "a dataspace message")).unwrap()
    }

    #[test]
    fn both_versions() {
        assert_eq!(parsed(&[2, 0, 0, 2]), Space::Null);
        assert_eq!(parsed(&[2, 0, 0, 0]), Space::Simple { shape: vec![], max: vec![] });
        assert_eq!(parsed(&[1, 0, 0, 0, 0, 0, 0, 0]), Space::Simple { shape: vec![], max: vec![] });
        let unlimited = [1, 1, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(parsed(&unlimited), Space::Simple { shape: vec![3], max: vec![None] });
        let fixed = parsed(&[2, 2, 0, 1, 3, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(fixed, Space::Simple { shape: vec![3, 5], max: vec![Some(3), Some(5)] });
        assert_eq!(fixed.elements(), Some(15));
        let sizes = Sizes { offset: 8, length: 8 };
        let longest = [vec![2, 1, 0, 1], vec![0xff; 8]].concat();
        let error = parse(Cursor::new(&longest, sizes, "a dataspace message")).unwrap_err();
        assert_eq!(error.kind(), zarrox::ErrorKind::Corrupt, "{error}");
    }
}
