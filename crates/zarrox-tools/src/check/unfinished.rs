//! Marks of interrupted deletions and moves, and reserved rows of interrupted appends.

use std::cell::Cell;

use zarrox_core::{ErrorKind, Result};
use zarrox_stores::Key;

use super::finding::{Finding, FindingKind, Remedy};
use super::replaced::set_aside;
use super::session::Session;
use zarrox::Array;
use zarrox::internals::{DATASET, DatasetRemains, Location, Mark, dataset_remains, settle_dataset};

/// Reports the marks among the keys directly below a group, and finishes the deletions, before the rest of the group is checked.
/// Returns the names of incomplete nodes, which need no further check.
pub(super) fn check<'k>(
    session: &Session<'_>,
    group: &Location,
    keys: impl IntoIterator<Item = &'k Key>,
) -> Result<Vec<String>> {
    let group = group.as_stored();
    let mut halves = Vec::new();
    let mut nodes = Vec::new();
    for key in keys {
        match group.marked_by(key) {
            Some(place) => nodes.push((key, place)),
            None if key.name() == DATASET => dataset(session, &group, key)?,
            None => {}
        }
    }
    for (key, place) in nodes {
        match look(&place) {
            Ok(None) => {}
            Ok(Some((mark, is_whole))) => {
                if !is_whole {
                    halves.push(place.path.name().to_owned());
                }
                // The process that runs the operation will finish it.
                if !mark.is_worked_on() {
                    tell(session, &place, key, &mark, is_whole)?;
                }
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let why = Remedy::Nothing("it may belong to another program".to_owned());
                session.report(finding(&place, key, &error.to_string(), why))?;
            }
            Err(error) => session.report_unreadable(place.path.as_str(), error)?,
        }
    }
    Ok(halves)
}

/// Returns the mark of a node, and whether the node exists. A node that can be opened is complete, since documents are the first
/// objects to be erased and the last to be written.
fn look(place: &Location) -> Result<Option<(Mark, bool)>> {
    let Some(mark) = place.mark()? else { return Ok(None) };
    Ok(Some((mark, place.is_explicit()?)))
}

fn tell(session: &Session<'_>, place: &Location, key: &Key, mark: &Mark, is_whole: bool) -> Result<()> {
    let alone = |is_as_judged: &dyn Fn() -> Result<bool>, repair: &dyn Fn() -> Result<()>| {
        Session::repair_alone(place, &place.layout_for(mark.format())?, is_as_judged, repair)
    };
    // If the mark has changed, or the node is complete now, the operation was still running.
    let is_as_judged = || Ok(look(place)?.is_some_and(|(now, whole)| now == *mark && whole == is_whole));
    if is_whole {
        if let Some((from, to)) = place.copied_move(mark)? {
            let message =
                format!("the move from '{}' to '{}' was interrupted after the copy", from.path, to.path);
            let is_as_judged = || Ok(is_as_judged()? && place.copied_move(mark)?.is_some());
            return session.settle(vec![finding(place, key, &message, Remedy::Finish)], || {
                let layout = to.layout_for(mark.format())?;
                Session::repair_alone(&to, &layout, is_as_judged, || from.move_node(&to, false))
            });
        }
        let message = "a deletion or a move was interrupted before it changed the node";
        return session.settle(vec![finding(place, key, message, Remedy::Delete)], || {
            alone(&is_as_judged, &|| place.erase_abandoned(mark))
        });
    }
    let message = if mark.is_of_copy() {
        "its move to this path was interrupted during the copy; the source still exists"
    } else {
        "its deletion was interrupted"
    };
    session.settle(vec![finding(place, key, message, Remedy::Quarantine)], || {
        let extent = place.extent_of(mark)?;
        // A deleted directory cannot be locked: its deletion will erase the mark as well.
        let is_free = Cell::new(false);
        let is_as_judged = || {
            is_free.set(place.is_free(&extent)?);
            Ok(is_free.get() || is_as_judged()?)
        };
        alone(&is_as_judged, &|| match is_free.get() {
            true => place.erase_abandoned(mark),
            false => place.delete_abandoned(mark, || set_aside(session, &extent)),
        })
    })
}

/// Reports rows that were reserved for appends whose writers have ended. A repair clears incomplete rows.
pub(super) fn appends(session: &Session<'_>, array: &Array) -> Result<()> {
    for rows in array.unwritten_rows()? {
        let (axis, positions) = (rows.axis, format!("{} to {}", rows.start, rows.end));
        let (message, remedy) = match rows.is_cleared {
            false => ("reserved by an append that was interrupted", Remedy::Delete),
            true => {
                let why = "the next append that fits into them uses them".to_owned();
                ("filled with fill values by an append that was interrupted", Remedy::Nothing(why))
            }
        };
        let message = format!("positions {positions} along axis {axis}: {message}");
        let finding = Finding::new(FindingKind::UnfinishedWork, array.path().as_str(), message, remedy);
        session.settle(vec![finding], || array.clone().clear_left())?;
    }
    Ok(())
}

/// Reports an append to the arrays of a group whose writer has ended. A repair undoes the append, unless all rows are stored.
fn dataset(session: &Session<'_>, group: &Location, key: &Key) -> Result<()> {
    let left = match dataset_remains(group) {
        Ok(None) => return Ok(()),
        Ok(Some(left)) => left,
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let why = Remedy::Nothing("it may belong to another program".to_owned());
            return session.report(finding(group, key, &error.to_string(), why));
        }
        Err(error) => return session.report_unreadable(group.path.as_str(), error),
    };
    let (message, remedy) = match left {
        DatasetRemains::Nothing => {
            ("an append to the dataset was interrupted before it changed a shape", Remedy::Delete)
        }
        DatasetRemains::Partial => {
            ("an append to the dataset was interrupted: only some arrays have the new length", Remedy::Undo)
        }
        DatasetRemains::Stored => (
            "an append to the dataset was interrupted after all of its rows were stored; the same call finishes it, and would append \
              them again without this mark",
            Remedy::Delete,
        ),
    };
    session.settle(vec![finding(group, key, message, remedy)], || settle_dataset(group))
}

fn finding(place: &Location, key: &Key, message: &str, remedy: Remedy) -> Finding {
    Finding::new(FindingKind::UnfinishedWork, place.path.as_str(), message, remedy).at_key(key.as_str())
}

#[cfg(test)]
mod tests {
    use ndarray::arr1;
    use zarrox_core::{DataType, Format};
    use zarrox_testkit::remote::Remote;

    use crate::check::{Check, Repair};
    use zarrox::internals::Location;
    use zarrox::{ErrorKind, OpenOptions};

    /// Returns an array whose deletion has begun, in a store that compares versions and has no locks between processes.
    fn half_deleted() -> (Remote, Location) {
        let remote = Remote::default();
        OpenOptions::new().create_group((remote.blocking(), "")).unwrap();
        let array = OpenOptions::new().create_array((remote.blocking(), "a")).shape([2]).chunks([1]);
        array.data_type(DataType::Int32).create().unwrap().write(.., arr1(&[1, 2])).unwrap();
        let place = OpenOptions::new().location(remote.blocking(), "a").unwrap();
        place.begin_deletion().unwrap();
        place.erase("a/zarr.json".to_owned()).unwrap();
        (remote, place)
    }

    /// Repairs everything, and returns the findings.
    fn repaired(remote: &Remote) -> Vec<String> {
        let mut found = Vec::new();
        let check = Check::open_with(&OpenOptions::new(), (remote.blocking(), "")).unwrap();
        let told = check.repair(Repair::default()).run(|finding| {
            found.push(finding.to_string());
            Ok(())
        });
        told.unwrap();
        found
    }

    fn keys(remote: &Remote) -> Vec<String> {
        let all = zarrox_testkit::store::list(remote.memory(), "");
        all.into_iter().map(|(key, _)| key).filter(|key| !key.starts_with(".zarrox-quarantine")).collect()
    }

    #[test]
    fn a_repair_leaves_a_deletion_alone_whose_process_is_at_work() {
        let (remote, place) = half_deleted();
        let before = keys(&remote);
        assert_eq!(repaired(&remote), Vec::<String>::new());
        assert_eq!(keys(&remote), before);
        place.abandon_mark();
        let found = repaired(&remote);
        assert!(found.len() == 1 && found[0].contains("its deletion was interrupted"), "{found:?}");
        assert_eq!(keys(&remote), ["zarr.json"]);
    }

    #[test]
    fn a_repair_finishes_no_deletion_that_others_have_gone_on_with() {
        let (remote, place) = half_deleted();
        place.abandon_mark();
        let judged = place.mark().unwrap().unwrap();
        // The same command runs again, and another array is created at the path.
        place.delete().unwrap();
        let array = OpenOptions::new().create_array((remote.blocking(), "a")).shape([2]).chunks([1]);
        array.data_type(DataType::Int32).create().unwrap();
        let error = place.delete_abandoned(&judged, || Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(OpenOptions::new().open((remote.blocking(), "a")).is_ok());
    }

    #[test]
    fn nobody_makes_a_node_where_a_repair_finishes_a_deletion() {
        let (_, place) = half_deleted();
        place.abandon_mark();
        let judged = place.mark().unwrap().unwrap();
        let during = place.delete_abandoned(&judged, || {
            assert_eq!(place.erase_left_mark().unwrap_err().kind(), ErrorKind::Conflict);
            Err(zarrox::Error::new(ErrorKind::StorageFull, "there is no room in the quarantine"))
        });
        assert_eq!(during.unwrap_err().kind(), ErrorKind::StorageFull);
        // The repair has failed, and has released the mark.
        place.erase_left_mark().unwrap();
    }

    #[test]
    fn nobody_makes_a_node_where_a_deletion_has_erased_the_last_keys_and_is_not_done() {
        let (remote, place) = half_deleted();
        let layout = place.layout_for(Format::V3).unwrap();
        let make_room = || place.make_room(Format::V3, &layout, false, false);
        let mark = place.mark().unwrap().unwrap();
        let extent = || place.extent_of(&mark).unwrap();
        place.erase_all(extent()).unwrap();
        assert_eq!(make_room().unwrap_err().kind(), ErrorKind::Conflict, "its process is at work");

        place.abandon_mark();
        let judged = place.mark().unwrap().unwrap();
        let during = place.delete_abandoned(&judged, || {
            assert_eq!(make_room().unwrap_err().kind(), ErrorKind::Conflict, "a repair is at work");
            Err(zarrox::Error::new(ErrorKind::StorageFull, "there is no room in the quarantine"))
        });
        assert_eq!(during.unwrap_err().kind(), ErrorKind::StorageFull);
        // No process is working on the deletion: the mark is erased, so that no repair deletes the new array.
        assert!(make_room().unwrap().is_empty());
        assert!(place.mark().unwrap().is_none());
        assert_eq!(repaired(&remote), Vec::<String>::new());
    }
}
