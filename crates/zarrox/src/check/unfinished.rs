//! Marks of deletions and moves that were interrupted.

use zarrox_core::{ErrorKind, Result};
use zarrox_stores::{Key, StoreExt};

use super::finding::{Finding, FindingKind, Remedy};
use super::replaced::set_aside;
use super::session::Session;
use crate::hierarchy::Mark;
use crate::location::Location;

/// Tells of the marks among the keys directly in a group, and finishes the deletions, before anything else of the group is checked.
/// Returns the names of nodes that are not there as a whole: there is no more to tell of them.
pub(super) fn check<'k>(
    session: &Session<'_>,
    group: &Location,
    keys: impl IntoIterator<Item = &'k Key>,
) -> Result<Vec<String>> {
    let group = group.as_stored();
    let mut halves = Vec::new();
    for (key, place) in keys.into_iter().filter_map(|key| group.marked_by(key).map(|place| (key, place))) {
        match place.mark() {
            Ok(None) => {}
            Ok(Some(mark)) => {
                if !matches!(place.is_explicit(), Ok(true)) {
                    halves.push(place.path.name().to_owned());
                }
                tell(session, &place, key, &mark)?;
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let why = Remedy::Nothing("it may be another program's".to_owned());
                let message = error.to_string();
                let finding = Finding::new(FindingKind::UnfinishedWork, place.path.as_str(), message, why);
                session.report(finding.at_key(key.as_str()))?;
            }
            Err(error) => session.report_unreadable(place.path.as_str(), error)?,
        }
    }
    Ok(halves)
}

fn tell(session: &Session<'_>, place: &Location, key: &Key, mark: &Mark) -> Result<()> {
    let finding = |message: &str, remedy| {
        let finding = Finding::new(FindingKind::UnfinishedWork, place.path.as_str(), message, remedy);
        vec![finding.at_key(key.as_str())]
    };
    // A node that can be found is whole: its documents are erased first, and written last.
    match place.is_explicit() {
        Ok(false) => {
            let message = if mark.is_of_copy() {
                "it was to be moved to this place, and is only copied in part; it is still where it was"
            } else {
                "its deletion was interrupted"
            };
            session.settle(finding(message, Remedy::Quarantine), || {
                set_aside(session, &place.extent_of(mark)?)?;
                place.delete_marked(mark)
            })
        }
        _ => session.settle(
            finding("a deletion or a move was interrupted before it changed anything here", Remedy::Delete),
            || place.store.erase(key).map(drop).map_err(Into::into),
        ),
    }
}
