//! Repairs of single objects: each object is moved to the quarantine before it is replaced.
//!
//! A repair either holds the object's lock from before the read until the replacement is written, or writes only if the object
//! still has the version that was read. The object must still have the bytes that were judged.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::session::Session;

/// Moves an object to the quarantine, and replaces it with the given bytes, if any. An object whose bytes are not those that were
/// judged is not changed. After a failure, the object is unchanged.
pub(super) fn replace(session: &Session<'_>, key: &Key, judged: &[u8], bytes: Option<&[u8]>) -> Result<()> {
    replace_if(session, key, |stored| stored == judged, bytes)
}

/// Moves an object to the quarantine, regardless of its bytes. A missing object is not an error.
pub(super) fn put_aside(session: &Session<'_>, key: &Key) -> Result<()> {
    match replace_if(session, key, |_| true, None) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn replace_if(
    session: &Session<'_>,
    key: &Key,
    is_judged: impl FnOnce(&[u8]) -> bool,
    bytes: Option<&[u8]>,
) -> Result<()> {
    let locked = session.start.locked_value(key, u64::MAX)?;
    let Some(stored) = locked.bytes() else {
        return Err(Error::new(ErrorKind::NotFound, "another process deleted it meanwhile"));
    };
    if !is_judged(stored) {
        let message = "another process changed it meanwhile; it was not repaired";
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    session.quarantine.keep(key, stored)?;
    match bytes {
        Some(bytes) => locked.replace(&session.start, bytes),
        None => locked.erase(&session.start),
    }
}
