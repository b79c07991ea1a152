//! Repairing single objects: each is put aside before anything takes its place.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{Condition, Key, StoreExt, Value, Version};

use super::session::Session;

/// An object as it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Judged {
    pub(super) size: u64,
    pub(super) version: Option<Version>,
}

impl Judged {
    pub(super) fn of(value: &dyn Value) -> Self {
        Self { size: value.size(), version: value.version() }
    }

    /// Returns true if a value can be the one that was judged. The version of a file that was changed a moment ago is not known
    /// yet; should it have been replaced since then, its bytes are in the quarantine.
    fn can_be(&self, value: &dyn Value) -> bool {
        let now = Self::of(value);
        let versions = self.version.as_ref().zip(now.version.as_ref());
        self.size == now.size && versions.is_none_or(|(judged, now)| judged == now)
    }
}

/// Moves an object to the quarantine, and writes these bytes in its place, if there are any. Nothing is done to one that is not what
/// was judged any more. Where something fails, what was there is there still.
pub(super) fn replace(session: &Session<'_>, key: &Key, judged: &Judged, bytes: Option<&[u8]>) -> Result<()> {
    let store = &session.start.store;
    let guard = store.lock(key)?;
    let Some(value) = store.open(key)? else { return Err(changed()) };
    if !judged.can_be(&*value) {
        return Err(changed());
    }
    session.quarantine.keep(key, &*value)?;
    let versions = judged.version.as_ref().filter(|_| session.start.is_guarded());
    let condition = versions.map_or(Condition::Locked(&guard), Condition::Matches);
    match bytes {
        Some(bytes) => store.set(key, bytes, condition).map_err(Error::from),
        // Between the comparison above and this, nobody can be kept out of a store that does not erase under a condition.
        None if session.start.cannot_erase_unchanged() => store.erase(key).map(drop).map_err(Error::from),
        None => store.erase_if(key, condition).map(drop).map_err(Error::from),
    }
}

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "somebody changed it meanwhile; nothing was done to it")
}
