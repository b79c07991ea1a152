//! Copying stored objects from one store to another.

use std::io;

use zarrox_core::Result;
use zarrox_core::codec::CodecError;
use zarrox_core::internals::scratch::Scratch;
use zarrox_stores::{ByteRange, Condition, Key, StoreExt};

use crate::location::Location;

/// The number of bytes of an object that are copied at a time: few enough to stay in the processor's cache between reading and
/// writing.
const PIECE: usize = 1 << 20;

/// The size of a request to a remote store, in bytes.
const REMOTE_PIECE: usize = 8 << 20;

/// Copies an object to a key of another location, in pieces if it is large. Returns false if the object does not exist.
pub(in crate::array) fn copy_value(from: &Location, key: &Key, to: &Location, new: &Key) -> Result<bool> {
    let most = if from.is_remote() { REMOTE_PIECE } else { PIECE };
    let first = ByteRange::From { offset: 0, length: Some(most as u64) };
    let Some(value) = from.store.open_with(key, Some(first))? else { return Ok(false) };
    let size = usize::try_from(value.size()).map_err(|_| crate::pool::too_many("the bytes"))?;
    let put = |bytes: &[u8]| to.overwrite(new, || Ok(to.store.set(new, bytes, Condition::Always)?));
    if let Some(bytes) = value.as_bytes() {
        return put(bytes).map(|()| true);
    }
    let memory = || Scratch::with_len(size.min(most)).map_err(CodecError::from);
    if size <= most {
        let mut bytes = memory()?;
        value.read_at(0, &mut bytes)?;
        return put(&bytes).map(|()| true);
    }
    let parts = |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        let mut bytes = memory().map_err(io::Error::other)?;
        let mut offset = 0;
        while offset < size {
            let piece = bytes.len().min(size - offset);
            value.read_at(offset as u64, &mut bytes[..piece]).map_err(io::Error::other)?;
            write(&bytes[..piece])?;
            offset += piece;
        }
        Ok(())
    };
    to.overwrite(new, || Ok(to.store.set_parts(new, size, &parts, Condition::Always)?))?;
    Ok(true)
}
