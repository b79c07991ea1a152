//! Repairing single objects: each is put aside before anything takes its place.
//!
//! A repair holds the object's lock from before the object is read until its new value is in its place, or writes under the
//! condition that the object still is the version that it has read. What it was decided on must be what it finds then.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::session::Session;

/// Moves an object to the quarantine, and writes these bytes in its place, if there are any. Nothing is done to one that has other
/// bytes than those that were judged. Where something fails, what was there is there still.
pub(super) fn replace(session: &Session<'_>, key: &Key, judged: &[u8], bytes: Option<&[u8]>) -> Result<()> {
    replace_if(session, key, |stored| stored == judged, bytes)
}

/// Moves an object to the quarantine, whatever it is. It is no error if it is gone.
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
        return Err(Error::new(ErrorKind::NotFound, "somebody erased it meanwhile"));
    };
    if !is_judged(stored) {
        let message = "somebody changed it meanwhile; nothing was done to it";
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    session.quarantine.keep(key, stored)?;
    match bytes {
        Some(bytes) => locked.replace(&session.start, bytes),
        None => locked.erase(&session.start),
    }
}
