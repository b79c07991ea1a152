//! Chunks outside an array's shape, which an interrupted append or resize leaves behind.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::chunks::Target;
use super::finding::{Finding, FindingKind, Remedy};
use super::repair;
use super::session::Session;
use zarrox::{Array, Node};

/// Reports chunks outside the current shape of an array.
pub(super) fn check(session: &Session<'_>, array: &Array, targets: &[Target]) -> Result<()> {
    // A concurrent append also writes chunks outside the shape.
    if targets.is_empty() || array.is_appended_to()? {
        return Ok(());
    }
    // Another process may have appended since the array was opened.
    let now = reopened(array)?;
    for target in targets.iter().filter(|target| !now.has_chunk(&target.chunk)) {
        let message = format!("it is outside of the shape {:?}", now.shape());
        let path = array.path().as_str();
        let finding = Finding::new(FindingKind::ChunkOutsideGrid, path, message, Remedy::Quarantine);
        let finding = finding.of_chunk(&target.chunk).at_key(target.key.as_str());
        session.settle(vec![finding], || array.writing(|| set_aside(session, array, target)))?;
    }
    Ok(())
}

/// Moves the chunk to the quarantine, unless it is inside the current shape. An append holds the lock of the array's document,
/// or, in stores whose locks do not exclude all processes, a reservation.
fn set_aside(session: &Session<'_>, array: &Array, target: &Target) -> Result<()> {
    let place = array.location();
    let document = place.layout_for(array.metadata().format)?.keys(array.path()).into_iter().next();
    let document = document.map(Key::new).transpose()?;
    let _guard = document.map(|document| place.store.lock(&document)).transpose()?;
    let _alone = array.alone()?;
    if reopened(array)?.has_chunk(&target.chunk) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "the array has grown meanwhile, and contains this chunk",
        ));
    }
    repair::put_aside(session, &target.key)
}

fn reopened(array: &Array) -> Result<Array> {
    match array.location().as_stored().find()? {
        Some(found) => Node::new(found.location, found.node)?.into_array(),
        None => Err(Error::new(ErrorKind::NotFound, "another process deleted the array meanwhile")),
    }
}
