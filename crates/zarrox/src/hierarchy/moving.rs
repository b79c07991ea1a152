//! Moving nodes. If a move fails, the nodes are restored to their old paths.

use std::cell::Cell;

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Error, ErrorKind, NodePath, Result};
use zarrox_stores::{Condition, Key, Prefix, StoreErrorKind};

use super::ExistingNode;
use super::creating::Occupied;
use super::renaming::Renaming;
use super::unfinished::{Mark, UnfinishedWork};
use crate::error::argument;
use crate::location::Location;
use crate::upkeep::Changes;

/// The number of stored objects that are copied in parallel.
const COPIES: usize = 8;

impl Location {
    /// Moves the node, with everything below it, to another path in the same store. With `overwrite`, an existing node at that
    /// path is replaced. Both nodes are held exclusively in the meantime.
    pub fn move_node(&self, to: &Self, overwrite: bool) -> Result<()> {
        self.check_apart(to)?;
        let _holds = self.hold_alone_with(Some(to).filter(|_| overwrite))?;
        self.move_held_node(to, overwrite)
    }

    /// Moves like [`move_node`](Self::move_node), for a caller that holds the node exclusively.
    pub(crate) fn move_held_node(&self, to: &Self, overwrite: bool) -> Result<()> {
        self.check_apart(to)?;
        let (from, to) = (self.for_change()?, to.for_change()?);
        if let Some((existing, renaming)) = from.was_renamed(&to)? {
            return from.finish_renaming(&to, &existing, &renaming);
        }
        let moved = match from.was_moved(&to)? {
            Some(mark) => return from.finish_move(&to, &mark),
            None => from.existing_node_or_error("move")?,
        };
        to.erase_half_copy(&from)?;
        to.check_names(&moved.layout)?;
        to.check_ancestors(moved.format)?;
        if !from.renames(&moved.layout) {
            if let Some(replaced) = to.existing_node_of_any_format()?.filter(|_| overwrite) {
                to.delete_existing(&replaced)?;
            }
            to.make_room_for(&moved, overwrite)?;
            let done = from.copy_and_delete(&to, &moved);
            return done.and(from.renew_after_move(&to, &moved, None));
        }
        let renaming = match to.existing_node_of_any_format()?.filter(|_| overwrite) {
            Some(replaced) => from.rename_in_place_of(&to, &moved, &replaced)?,
            None => {
                to.make_room_for(&moved, overwrite)?;
                from.rename_to(&to, &moved, from.left_aside(&to, &moved)?)?
            }
        };
        from.finish_renaming(&to, &moved, &renaming)
    }

    fn check_apart(&self, to: &Self) -> Result<()> {
        if self.overlaps(to) {
            return Err(argument(format!(
                "'{}' cannot be moved to '{}': the two paths overlap",
                self.path, to.path
            )));
        }
        Ok(())
    }

    /// Updates consolidated metadata after a move from here. `aside` is the path to which the replaced node was moved, and from
    /// which it has been deleted.
    pub(super) fn renew_after_move(
        &self,
        to: &Self,
        existing: &ExistingNode,
        aside: Option<&NodePath>,
    ) -> Result<()> {
        let places: Vec<&NodePath> = [&self.path, &to.path].into_iter().chain(aside).collect();
        let changes = Changes::of_all_below(&places).and(to.path.ancestors());
        let kept = self.keep_copies(existing.format, &changes);
        let others = to.check_ancestors(existing.format).unwrap_or_default();
        kept.and(self.keep_foreign_copies(&others, &to.path))
    }

    fn make_room_for(&self, moved: &ExistingNode, overwrite: bool) -> Result<()> {
        self.make_room(moved.format, &moved.layout, overwrite, false)?;
        self.create_ancestors(moved.format, &moved.layout).map(drop)
    }

    /// Returns the path to which an interrupted move has moved the node that it replaces.
    fn left_aside(&self, to: &Self, moved: &ExistingNode) -> Result<Option<NodePath>> {
        let left = self.renaming(&moved.layout)?.filter(|left| left.to == to.path);
        Ok(left.and_then(|left| left.aside).filter(|aside| *aside != self.path))
    }

    /// Renames the node to the path of another node. If the store supports it, the two nodes are exchanged, so that there is a
    /// node at the path at all times; otherwise the other node is moved aside first. The other node is deleted later.
    fn rename_in_place_of(
        &self,
        to: &Self,
        moved: &ExistingNode,
        replaced: &ExistingNode,
    ) -> Result<Renaming> {
        let renaming = self.renaming_to(to, Some(self.path.clone()));
        let places =
            [(self, moved), (to, replaced)].map(|(place, existing)| existing.layout.below(&place.path));
        if replaced.layout.extent(&to.path).prefixes == [moved.layout.below(&to.path)] {
            self.put_renaming(&moved.layout, &renaming)?;
            match self.store.exchange(&Prefix::new(places[0].as_str())?, &Prefix::new(places[1].as_str())?) {
                Ok(()) => return Ok(renaming),
                Err(error) if error.kind() == StoreErrorKind::Unsupported => {}
                Err(error) => {
                    // The first error is reported.
                    let _ = self.erase_renaming(&moved.layout);
                    return Err(error.into());
                }
            }
        }
        let aside = to.place_aside(replaced)?;
        self.put_renaming(&moved.layout, &self.renaming_to(to, Some(aside.path.clone())))?;
        to.rename_prefix(&aside, replaced)?;
        self.rename_to(to, moved, Some(aside.path.clone())).map_err(|error| {
            // The first error is reported.
            let is_back = matches!(to.is_explicit(), Ok(false)) && aside.rename_prefix(to, replaced).is_ok();
            if !is_back {
                // The mark is kept, since it records the path of the replaced node.
                return error.at(format!("the node that was at '{}' is now at '{}'", to.path, aside.path));
            }
            self.erase_own_renaming(moved);
            error
        })
    }

    fn renaming_to(&self, to: &Self, aside: Option<NodePath>) -> Renaming {
        Renaming { from: self.path.clone(), to: to.path.clone(), aside }
    }

    /// Renames the node to a free path. If that fails, the mark is erased, unless it records that another node was moved aside.
    fn rename_to(&self, to: &Self, moved: &ExistingNode, aside: Option<NodePath>) -> Result<Renaming> {
        let renaming = self.renaming_to(to, aside);
        self.put_renaming(&moved.layout, &renaming)?;
        self.rename_prefix(to, moved).inspect_err(|_| {
            if renaming.aside.is_none() {
                self.erase_own_renaming(moved);
            }
        })?;
        Ok(renaming)
    }

    /// Erases the mark of a failed move, if the node is still at this location.
    fn erase_own_renaming(&self, moved: &ExistingNode) {
        // The error of the move is reported.
        if matches!(self.is_explicit(), Ok(true)) {
            let _ = self.erase_renaming(&moved.layout);
        }
    }

    /// Returns an unused location beside this one.
    fn place_aside(&self, existing: &ExistingNode) -> Result<Self> {
        let mut number = 0_u64;
        loop {
            let aside = self.at(NodePath::new(&format!("{}.replaced{number}", self.path.as_str()))?);
            if self.occupied(&existing.layout.extent(&aside.path))? == Occupied::Nothing {
                return Ok(aside);
            }
            number += 1;
        }
    }

    /// Renames all keys of the node. If that fails, the old names are restored.
    fn rename_prefix(&self, to: &Self, existing: &ExistingNode) -> Result<()> {
        let prefix = |place: &Self| Prefix::new(existing.layout.below(&place.path));
        let (from, dest) = (prefix(self)?, prefix(to)?);
        self.store.rename_prefix(&from, &dest).map_err(|error| {
            // The rename may have taken effect despite the error. The first error is reported.
            let _ = self.store.rename_prefix(&dest, &from);
            Error::from(error)
        })
    }

    /// Returns true if a node can be moved by a single rename.
    fn renames(&self, layout: &Layout) -> bool {
        self.store.capabilities().rename && layout.extent(&self.path).prefixes.len() == 1
    }

    /// Copies the node, its own documents last, and deletes the original. Marks at both locations distinguish an interrupted move
    /// from two independent nodes.
    fn copy_and_delete(&self, to: &Self, existing: &ExistingNode) -> Result<()> {
        if to.occupied(&existing.layout.extent(&to.path))? != Occupied::Nothing {
            let message = format!("'{}' in {} is not empty", to.path, to.store.location());
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        to.put_mark(existing.format, UnfinishedWork::MovedFrom(self.path.clone()))?;
        to.while_marked(|| self.while_marked(|| self.copy_and_delete_marked(to, existing)))
    }

    fn copy_and_delete_marked(&self, to: &Self, existing: &ExistingNode) -> Result<()> {
        self.copy_parts(to, existing).inspect_err(|_| {
            // The first error is reported.
            let _ = to.erase_marked(existing).and_then(|()| self.erase_mark());
        })?;
        self.delete_original(to, existing).inspect_err(|_| {
            if matches!(self.is_explicit(), Ok(true)) {
                let _ = to.erase_marked(existing).and_then(|()| self.erase_mark());
            }
        })
    }

    /// Deletes the original after it has been copied.
    fn delete_original(&self, to: &Self, existing: &ExistingNode) -> Result<()> {
        let deleted =
            self.erase_all_of(existing).and_then(|()| to.erase_mark()).and_then(|()| self.erase_mark());
        deleted.map_err(|error| {
            error.at(format!(
                "'{}' was moved to '{}', but not all of it could be deleted; move it again",
                self.path, to.path
            ))
        })
    }

    fn copy_parts(&self, to: &Self, existing: &ExistingNode) -> Result<()> {
        let (from, dest) = (existing.layout.extent(&self.path), existing.layout.extent(&to.path));
        let own = existing.layout.keys(&self.path);
        for documents in [false, true] {
            let is_meant = |key: &Key| {
                existing.makes_node(key) == documents && !own.iter().any(|own| own == key.as_str())
            };
            for (from, dest) in from.prefixes.iter().zip(&dest.prefixes).rev() {
                self.each_below(from, is_meant, |keys| self.copy_keys(keys, from, dest))?;
            }
        }
        self.put_mark(existing.format, UnfinishedWork::MovedTo(to.path.clone()))?;
        // The first document makes the copy a node, so it is stored last.
        for (from, dest) in own.into_iter().zip(existing.layout.keys(&to.path)).rev() {
            if let Some(document) = self.store.get(&Key::new(from)?)? {
                to.put(dest, &document, Condition::Absent)?;
            }
        }
        Ok(())
    }

    fn copy_keys(&self, keys: &[Key], from: &str, to: &str) -> Result<()> {
        let copy = |index: usize| {
            let key = &keys[index];
            let Some(value) = self.store.get(key)? else { return Ok(()) };
            self.put(format!("{to}{}", &key.as_str()[from.len()..]), &value, Condition::Always)
        };
        self.pool().run(keys.len(), 0, COPIES, copy)
    }

    /// Returns the mark of an interrupted move of this node to another location, if the node had been copied completely.
    pub(super) fn was_moved(&self, to: &Self) -> Result<Option<Mark>> {
        let Some(mark) = self.mark_of(&UnfinishedWork::MovedTo(to.path.clone()))? else { return Ok(None) };
        // The node's own documents are erased first: as long as they exist, nothing has been erased.
        let is_whole = self.is_explicit()?;
        let is_copied =
            !is_whole || (to.is_explicit()? && to.half_copy(self)?.is_some() && self.is_same(to, &mark)?);
        Ok(is_copied.then_some(mark))
    }

    /// Returns the two locations of the interrupted move that a mark of this node records, if the node was copied completely and
    /// nothing was deleted. Repeating the move would then finish it.
    pub fn copied_move(&self, mark: &Mark) -> Result<Option<(Self, Self)>> {
        let (from, to) = match &mark.work {
            UnfinishedWork::Deletion => return Ok(None),
            UnfinishedWork::MovedTo(to) => (self.clone(), self.at(to.clone())),
            UnfinishedWork::MovedFrom(from) => (self.at(from.clone()), self.clone()),
        };
        let is_copied = from.is_explicit()? && from.was_moved(&to)?.is_some();
        Ok(is_copied.then_some((from, to)))
    }

    /// Returns true if there is a node with a document, that is, not an implicit group.
    pub fn is_explicit(&self) -> Result<bool> {
        Ok(self.by_documents().existing_node()?.is_some_and(|existing| existing.explicit))
    }

    /// Returns the mark of an unfinished move from another location to this one.
    fn half_copy(&self, from: &Self) -> Result<Option<Mark>> {
        self.mark_of(&UnfinishedWork::MovedFrom(from.path.clone()))
    }

    /// Returns the mark of the given work, if this work has begun at this location.
    fn mark_of(&self, work: &UnfinishedWork) -> Result<Option<Mark>> {
        Ok(self.mark()?.filter(|mark| mark.work == *work))
    }

    /// Returns true if all stored objects of this node equal those of the other node. This is called only after an interruption
    /// between two steps of a move.
    fn is_same(&self, other: &Self, mark: &Mark) -> Result<bool> {
        let existing = self.node_of_mark(mark)?;
        let (own, others) = (existing.layout.extent(&self.path), existing.layout.extent(&other.path));
        let same = Cell::new(true);
        for (from, to) in own.prefixes.iter().zip(&others.prefixes).flat_map(|(a, b)| [(a, b), (b, a)]) {
            self.each_below(
                from,
                |_| true,
                |keys| {
                    for key in keys.iter().take_while(|_| same.get()) {
                        let other = Key::new(format!("{to}{}", &key.as_str()[from.len()..]))?;
                        same.set(self.store.get(key)? == self.store.get(&other)?);
                    }
                    Ok(())
                },
            )?;
        }
        for (key, other) in own.keys.into_iter().zip(others.keys) {
            same.set(same.get() && self.store.get(&Key::new(key)?)? == self.store.get(&Key::new(other)?)?);
        }
        Ok(same.get())
    }

    fn finish_move(&self, to: &Self, mark: &Mark) -> Result<()> {
        self.put_mark(mark.format, mark.work.clone())?;
        let erased = self.while_marked(|| self.delete_original(to, &self.node_of_mark(mark)?));
        let kept = self.keep_copies(mark.format, &Changes::of_all_below(&[&self.path, &to.path]));
        erased.and(kept)
    }

    /// Erases the partial copy of an interrupted move from another location. The mark records the move until the copy is erased,
    /// so that the same move can continue even after another interruption.
    fn erase_half_copy(&self, from: &Self) -> Result<()> {
        match self.half_copy(from)? {
            Some(mark) if !self.is_explicit()? => {
                // From now on, this process owns the mark.
                self.put_mark(mark.format(), UnfinishedWork::MovedFrom(from.path.clone()))?;
                self.erase_half(&self.node_of_mark(&mark)?)
            }
            _ => Ok(()),
        }
    }

    /// Returns an error unless there is a node at this location, and the other root is empty or may be overwritten. Returns true
    /// if the other root will be overwritten.
    pub(crate) fn check_move_to(&self, root: &Self, overwrite: bool) -> Result<bool> {
        let ExistingNode { format, layout, .. } = self.existing_node_or_error("move")?;
        if overwrite && root.existing_node_of_any_format()?.is_some() {
            return Ok(true);
        }
        root.make_room(format, &layout, false, false).map(|_| false)
    }
}
