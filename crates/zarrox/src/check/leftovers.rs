//! Temporary files of writers that are gone.

use zarrox_core::{Error, Result};
use zarrox_stores::{Leftover, Prefix};

use super::finding::{Finding, FindingKind, Remedy};
use super::session::Session;

/// Looks for temporary files below the start, and deletes them if that is wanted.
pub(super) fn check(session: &Session<'_>) -> Result<()> {
    let Some(directory) = &session.directory else { return Ok(()) };
    let prefix = Prefix::new(session.start.path.prefix())?;
    let mut done = Ok(());
    let mut visit = |leftover: Leftover| {
        if done.is_ok() {
            done = settle(session, &leftover);
        }
    };
    let listed = zarrox_stores::leftovers(directory, &prefix, &mut visit);
    done?;
    // Where directories cannot be listed, the check of keys says so.
    listed.or(Ok(()))
}

fn settle(session: &Session<'_>, leftover: &Leftover) -> Result<()> {
    let message = format!("a temporary file of {} bytes whose writer is gone", leftover.size);
    let path = session.start.path.as_str();
    let finding = Finding::new(FindingKind::TemporaryFile, path, message, Remedy::Delete);
    let finding = finding.at_key(leftover.key.as_str());
    session.settle(vec![finding], || leftover.delete().map(drop).map_err(Error::from))
}
