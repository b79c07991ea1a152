//! Marks of deletions and moves that were interrupted, and rows of interrupted appends.

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{Key, StoreExt};

use super::finding::{Finding, FindingKind, Remedy};
use super::replaced::set_aside;
use super::session::Session;
use crate::array::Array;
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
        match look(&place) {
            Ok(None) => {}
            Ok(Some((mark, is_whole))) => {
                if !is_whole {
                    halves.push(place.path.name().to_owned());
                }
                tell(session, &place, key, &mark, is_whole)?;
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let why = Remedy::Nothing("it may be another program's".to_owned());
                session.report(finding(&place, key, &error.to_string(), why))?;
            }
            Err(error) => session.report_unreadable(place.path.as_str(), error)?,
        }
    }
    Ok(halves)
}

/// The mark of a node, and whether the node is there. A node that can be found is whole: its documents are erased first, and written
/// last.
fn look(place: &Location) -> Result<Option<(Mark, bool)>> {
    let Some(mark) = place.mark()? else { return Ok(None) };
    Ok(Some((mark, place.is_explicit()?)))
}

fn tell(session: &Session<'_>, place: &Location, key: &Key, mark: &Mark, is_whole: bool) -> Result<()> {
    if is_whole {
        let message = "a deletion or a move was interrupted before it changed anything here";
        return session.settle(vec![finding(place, key, message, Remedy::Delete)], || {
            let _hold = place.hold_place_alone(&place.layout_for(mark.format())?)?;
            expect(place, mark, true)?;
            place.store.erase(key).map(drop).map_err(Into::into)
        });
    }
    let message = if mark.is_of_copy() {
        "it was to be moved to this place, and is only copied in part; it is still where it was"
    } else {
        "its deletion was interrupted"
    };
    session.settle(vec![finding(place, key, message, Remedy::Quarantine)], || {
        let _hold = place.hold_place_alone(&place.layout_for(mark.format())?)?;
        let extent = place.extent_of(mark)?;
        if place.is_free(&extent)? {
            // A directory that is gone could not be held: whoever deletes it is going to erase the mark as well.
            return place.store.erase(key).map(drop).map_err(Into::into);
        }
        expect(place, mark, false)?;
        set_aside(session, &extent)?;
        place.delete_marked(mark)
    })
}

/// Makes sure that a node and its mark are still as they were when they were looked at.
fn expect(place: &Location, mark: &Mark, is_whole: bool) -> Result<()> {
    match look(place)? {
        Some((now, whole)) if now == *mark && whole == is_whole => Ok(()),
        _ => Err(Error::new(
            ErrorKind::Conflict,
            "the work was going on, and has changed it meanwhile; check again",
        )),
    }
}

/// Tells of rows that were reserved for appends whose writers are gone. A repair clears those that are not complete.
pub(super) fn appends(session: &Session<'_>, array: &Array) -> Result<()> {
    for rows in array.unwritten_rows()? {
        let (axis, positions) = (rows.axis, format!("{} to {}", rows.start, rows.end));
        let (message, remedy) = match rows.is_cleared {
            false => ("an append was interrupted, which had reserved them", Remedy::Delete),
            true => {
                let why = "the next append that they are enough for takes them".to_owned();
                ("an append was interrupted, so that they have fill values", Remedy::Nothing(why))
            }
        };
        let message = format!("positions {positions} along axis {axis}: {message}");
        let finding = Finding::new(FindingKind::UnfinishedWork, array.path().as_str(), message, remedy);
        session.settle(vec![finding], || array.clone().clear_left())?;
    }
    Ok(())
}

fn finding(place: &Location, key: &Key, message: &str, remedy: Remedy) -> Finding {
    Finding::new(FindingKind::UnfinishedWork, place.path.as_str(), message, remedy).at_key(key.as_str())
}
