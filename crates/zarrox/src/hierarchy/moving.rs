//! Moving and deleting nodes. Where that fails half way, the nodes are found again where they were.

use zarrox_core::metadata::{Extent, Layout};
use zarrox_core::{Error, ErrorKind, NodePath, Result};
use zarrox_stores::{Condition, Prefix};

use super::{Held, Occupied};
use crate::error::argument;
use crate::location::Location;
use crate::upkeep::Changes;

impl Location {
    /// Moves the node, with everything below it, to another place in the same store; told to overwrite, in the place of the
    /// node that is there.
    pub(crate) fn move_node(&self, to: &Self, overwrite: bool) -> Result<()> {
        if self.path.contains(&to.path) || to.path.contains(&self.path) {
            return Err(argument(format!("'{}' cannot be moved to '{}'", self.path, to.path)));
        }
        let (from, to) = (self.for_change()?, to.for_change()?);
        let moved = from.held_or_missing("move")?;
        to.check_names(&moved.layout)?;
        let others = to.check_ancestors(moved.format)?;
        let done = match to.held_by_anyone()?.filter(|_| overwrite) {
            Some(replaced) => from.move_in_place_of(&to, &moved, &replaced),
            None => from.move_held(&to, &moved),
        };
        let changes = Changes::of_all_below(&[&from.path, &to.path]).and(to.path.ancestors());
        from.keep_copies(moved.format, &changes);
        others.into_iter().for_each(|other| from.keep_copies(other, &Changes::foreign(&to.path)));
        done
    }

    /// Moves the node to where another one is. That one is put aside and deleted last, unless this would mean to copy it.
    fn move_in_place_of(&self, to: &Self, moved: &Held, replaced: &Held) -> Result<()> {
        if !self.store.capabilities().rename {
            to.delete_held(replaced)?;
            return self.move_held(to, moved);
        }
        let aside = to.place_aside(replaced)?;
        to.relocate(&aside, &replaced.layout)?;
        if let Err(error) = self.move_held(to, moved) {
            // The first error is the one to tell.
            return Err(match aside.relocate(to, &replaced.layout) {
                Ok(()) => error,
                Err(_) => error.at(format!("the node that was at '{}' is now at '{}'", to.path, aside.path)),
            });
        }
        aside.delete_held(replaced).map_err(|error| {
            error.at(format!(
                "'{}' is at '{}' now, but the node that was there before is left at '{}'",
                self.path, to.path, aside.path
            ))
        })
    }

    /// A place beside this one where nothing is.
    fn place_aside(&self, held: &Held) -> Result<Self> {
        let mut number = 0_u64;
        loop {
            let aside = self.at(NodePath::new(&format!("{}.replaced{number}", self.path.as_str()))?);
            if self.occupied(&held.layout.extent(&aside.path))? == Occupied::Nothing {
                return Ok(aside);
            }
            number += 1;
        }
    }

    fn move_held(&self, to: &Self, Held { format, layout, .. }: &Held) -> Result<()> {
        to.make_room(*format, layout, false, false)?;
        to.create_ancestors(*format, layout)?;
        self.relocate(to, layout)
    }

    /// Moves all that belongs to the node. Where that fails, the parts that were moved go back.
    fn relocate(&self, to: &Self, layout: &Layout) -> Result<()> {
        self.move_parts(to, layout).inspect_err(|_| {
            // The first error is the one to tell.
            let _ = to.move_parts(self, layout);
        })
    }

    fn move_parts(&self, to: &Self, layout: &Layout) -> Result<()> {
        let (from, to) = (layout.extent(&self.path), layout.extent(&to.path));
        // The documents come last, and with them the node is where it should be.
        for (from, to) in from.prefixes.iter().zip(&to.prefixes).rev() {
            if self.any_below(from)? {
                let prefix = |text: &String| Prefix::new(text.clone()).map_err(Error::from);
                self.store.rename_prefix(&prefix(from)?, &prefix(to)?)?;
            }
        }
        for (from, to) in from.keys.into_iter().zip(to.keys) {
            if let Some(document) = self.document(from.clone())? {
                match self.put(to.clone(), &document, Condition::Absent) {
                    // It goes back, and could not be erased there before.
                    Err(error)
                        if error.kind() == ErrorKind::AlreadyExists
                            && self.stored_document(to)?.is_some_and(|there| there == document) => {}
                    done => done?,
                }
                self.erase(from)?;
            }
        }
        Ok(())
    }

    /// Makes sure that there is a node here, and nothing in another hierarchy's root; or a node that may be overwritten, which
    /// is `true`.
    pub(crate) fn check_move_to(&self, root: &Self, overwrite: bool) -> Result<bool> {
        let Held { format, layout, .. } = self.held_or_missing("move")?;
        if overwrite && root.held_by_anyone()?.is_some() {
            return Ok(true);
        }
        root.make_room(format, &layout, false, false).map(|()| false)
    }

    /// Makes sure that there is a node that may be deleted.
    pub(crate) fn check_deletable(&self) -> Result<()> {
        if !self.store.capabilities().writable {
            let message = format!("{} was opened for reading only", self.store.location());
            return Err(Error::new(ErrorKind::ReadOnly, message));
        }
        self.held_or_missing("delete").map(drop)
    }

    /// Deletes the node, with everything below it.
    pub(crate) fn delete(&self) -> Result<()> {
        let place = self.for_change()?;
        let held = place.held_or_missing("delete")?;
        let documents = place.documents(&held.layout).unwrap_or_default();
        let deleted = place.delete_held(&held).map_err(|error| {
            place.put_back(&held.layout, documents);
            error.at(format!("not all of '{}' could be deleted; delete it again", place.path))
        });
        place.keep_copies(held.format, &Changes::of_all_below(&[&place.path]));
        deleted
    }

    /// Writes those of the node's documents that are gone, so that what is left of it is found, and can be deleted. Where that
    /// fails, what made the deletion fail is the one thing to tell.
    fn put_back(&self, layout: &Layout, documents: Vec<Option<Vec<u8>>>) {
        for (key, document) in layout.keys(&self.path).into_iter().zip(documents) {
            let Some(document) = document else { continue };
            match self.put(key, &document, Condition::Absent) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return,
                _ => {}
            }
        }
    }

    /// Deletes a node; with the root also what says that there is a hierarchy.
    pub(super) fn delete_held(&self, held: &Held) -> Result<()> {
        self.erase_extent(held)?;
        match held.format.def().entry_key() {
            Some(entry) if self.path.is_root() => self.erase(entry.to_owned()),
            _ => Ok(()),
        }
    }

    pub(super) fn erase_extent(&self, held: &Held) -> Result<()> {
        self.erase_all(held.layout.extent(&self.path))
    }

    /// Erases everything in an extent.
    pub(crate) fn erase_all(&self, extent: Extent) -> Result<()> {
        extent.keys.into_iter().try_for_each(|key| self.erase(key))?;
        for prefix in extent.prefixes {
            let prefix = Prefix::new(prefix)?;
            self.store.erase_prefix(&prefix)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ndarray::arr1;
    use zarrox_core::json::{Map, json};
    use zarrox_core::{DataType, Format};
    use zarrox_stores::{MemoryStore, Operation, Store, StoreErrorKind};
    use zarrox_testkit::faults::{Fault, FaultyStore};

    use super::*;
    use crate::OpenOptions;

    const FORMATS: [Format; 3] = [Format::V2, Format::V3, Format::V3Draft];

    /// A hierarchy with the arrays `a`, of ones, and `b`, of twos, and its root.
    fn hierarchy(format: Format) -> (FaultyStore, Location) {
        let store = FaultyStore::new(Arc::new(MemoryStore::new()));
        let shared: Arc<dyn Store> = Arc::new(store.clone());
        let root = OpenOptions::new().format(format).create_group_in(shared.clone(), "").unwrap();
        for (name, value) in [("a", 1), ("b", 2)] {
            let array = root.create_array(name).shape([2]).chunks([1]).data_type(DataType::Int32);
            let attributes = Map::from_iter([("value".to_owned(), json!(value))]);
            array.attributes(attributes).create().unwrap().write(.., &arr1(&[value; 2])).unwrap();
        }
        (store, OpenOptions::new().location(shared, "").unwrap())
    }

    fn place(root: &Location, name: &str) -> Location {
        root.at(NodePath::new(name).unwrap())
    }

    /// The value that an array is full of, and that its attributes name; `None` where there is no node.
    fn value(store: &FaultyStore, name: &str) -> Option<i32> {
        let node = OpenOptions::new().open_in(Arc::new(store.clone()), name);
        let array = match node {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            node => node.unwrap().into_array().unwrap(),
        };
        let values = array.read::<i32>(..).unwrap().into_raw_vec_and_offset().0;
        assert_eq!(values[0], values[1], "{name}");
        assert_eq!(array.attributes()["value"], json!(values[0]), "{name}");
        Some(values[0])
    }

    /// Every single fault that the operation can meet.
    fn faults(operations: &[Operation]) -> impl Iterator<Item = Fault> {
        let fault = |operation, nth| Fault::fail(StoreErrorKind::Unreachable).on(&[operation]).nth(nth);
        let faults =
            operations.iter().flat_map(move |&operation| (1..9).map(move |nth| fault(operation, nth)));
        faults.flat_map(|fault| [fault.clone(), fault.when_done()])
    }

    #[test]
    fn a_forced_move_that_fails_loses_no_node() {
        use Operation as Op;
        let mut failed = 0;
        for format in FORMATS {
            for fault in faults(&[Op::Set, Op::Erase, Op::ErasePrefix, Op::RenamePrefix]) {
                let (store, root) = hierarchy(format);
                store.inject(fault.clone());
                let moved = place(&root, "a").move_node(&place(&root, "b"), true);
                store.heal();
                let found = (value(&store, "a"), value(&store, "b"));
                failed += usize::from(moved.is_err());
                match moved {
                    Ok(()) => assert_eq!(found, (None, Some(1)), "{format} {fault:?}"),
                    // All is done but for the deletion of what was replaced.
                    Err(error) if found == (None, Some(1)) => {
                        assert!(error.to_string().contains("b.replaced0"), "{format} {fault:?}: {error}");
                    }
                    Err(error) => assert_eq!(found, (Some(1), Some(2)), "{format} {fault:?}: {error}"),
                }
            }
        }
        assert!(failed > 20, "{failed}");
    }

    #[test]
    fn a_node_whose_deletion_fails_can_be_deleted_again() {
        let mut failed = 0;
        for format in FORMATS {
            for fault in faults(&[Operation::Erase, Operation::ErasePrefix]) {
                let (store, root) = hierarchy(format);
                store.inject(fault.clone());
                let deleted = place(&root, "a").delete();
                store.heal();
                failed += usize::from(deleted.is_err());
                if let Err(error) = deleted {
                    assert!(error.to_string().contains("delete it again"), "{format} {fault:?}: {error}");
                    assert!(place(&root, "a").holds_node().unwrap(), "{format} {fault:?}");
                    place(&root, "a").delete().unwrap();
                }
                assert_eq!((value(&store, "a"), value(&store, "b")), (None, Some(2)), "{format} {fault:?}");
                let keys = zarrox_testkit::store::list(&store, "");
                assert!(keys.iter().all(|(key, _)| !key.contains("/a") && !key.starts_with('a')), "{keys:?}");
            }
        }
        assert!(failed > 5, "{failed}");
    }
}
