//! Copies of stored values, from one store to another.

use std::io;

use zarrox_core::Result;
use zarrox_stores::{Condition, Key, StoreExt};

use crate::location::Location;

/// The number of bytes of a value that are in memory at once.
const PIECE: u64 = 8 << 20;

/// Copies a value to a key of another place, in pieces if it is large. Returns false if there is no value.
pub(crate) fn copy_value(from: &Location, key: &Key, to: &Location, new: &Key) -> Result<bool> {
    let first = zarrox_stores::ByteRange::From { offset: 0, length: Some(PIECE) };
    let Some(value) = from.store.open_with(key, Some(first))? else { return Ok(false) };
    let size = value.size();
    if size <= PIECE {
        let bytes = value.read(0, size)?;
        to.overwrite(new, || Ok(to.store.set(new, &bytes, Condition::Always)?))?;
        return Ok(true);
    }
    let parts = |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        let mut offset = 0;
        while offset < size {
            let piece = value.read(offset, PIECE.min(size - offset)).map_err(io::Error::other)?;
            write(&piece)?;
            offset += piece.len() as u64;
        }
        Ok(())
    };
    let length = usize::try_from(size).map_err(|_| crate::pool::too_many("the bytes"))?;
    to.overwrite(new, || Ok(to.store.set_parts(new, length, &parts, Condition::Always)?))?;
    Ok(true)
}
