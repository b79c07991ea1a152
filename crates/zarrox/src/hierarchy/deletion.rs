//! Deleting nodes.
//!
//! The documents of the node are erased first, then the documents of the nodes below it, and everything else last, so that an
//! interrupted deletion never leaves a node without its chunks. A [mark](super::unfinished) records that the deletion has begun.

use std::ops::ControlFlow;

use zarrox_core::internals::metadata::{Consolidation, Extent};
use zarrox_core::{Error, ErrorKind, Format, Result};
use zarrox_stores::{Bytes, Condition, Key, Prefix, StoreExt};

use super::ExistingNode;
use super::unfinished::{Mark, UnfinishedWork};
use crate::hierarchy::journal::Journal;
use crate::location::Location;
use crate::upkeep::Changes;

/// The number of keys that are erased in parallel.
const TOGETHER: usize = 1000;

impl Location {
    /// Deletes the node with everything below it, or continues an interrupted deletion.
    pub fn delete(&self) -> Result<()> {
        let place = self.for_change()?;
        let _holds = place.hold_alone()?;
        place.delete_alone()
    }

    /// Deletes like [`delete`](Self::delete), for a caller that holds the node exclusively.
    pub(crate) fn delete_alone(&self) -> Result<()> {
        let existing = self.deletable()?;
        let deleted = self.while_deleting(&existing, || self.erase_all_of(&existing));
        let kept = self.keep_copies(existing.format, &Changes::of_all_below(&[&self.path]));
        // As long as the mark exists, repeating the call finds the remaining work.
        let deleted = deleted.and_then(|()| self.erase_mark()).and_then(|()| self.erase_journal(&existing));
        let deleted = deleted.inspect_err(|_| self.abandon_mark()).map_err(|error| {
            error.at(format!("not all of '{}' could be deleted; delete it again", self.path))
        });
        deleted.and(kept)
    }

    /// Returns an error unless there is a node that may be deleted, or there are remains of one.
    pub(crate) fn check_deletable(&self) -> Result<()> {
        if !self.store.capabilities().writable {
            let message = format!("{} was opened for reading only", self.store.location());
            return Err(Error::new(ErrorKind::ReadOnly, message));
        }
        self.deletable().map(drop)
    }

    pub(super) fn deletable(&self) -> Result<ExistingNode> {
        match self.existing_node_or_error("delete") {
            Err(error) if error.kind() == ErrorKind::NotFound => match self.remains()? {
                Some(mark) => self.node_of_mark(&mark),
                None => Err(error),
            },
            existing => existing,
        }
    }

    /// Returns a mark for the remains of an interrupted deletion, move, conversion or creation, if there are any.
    pub fn remains(&self) -> Result<Option<Mark>> {
        if let Some(mark) = self.mark()? {
            return Ok(Some(mark));
        }
        let journal = Journal::read(self)?.filter(|journal| !journal.is_in_place());
        let format = journal.and_then(|journal| journal.format());
        Ok(format.map(|format| Mark::new(format, UnfinishedWork::Deletion)))
    }

    /// Marks the node for deletion.
    pub fn begin_deletion(&self) -> Result<()> {
        self.put_mark(self.deletable()?.format, UnfinishedWork::Deletion)
    }

    /// Returns true if a deletion of the node has begun.
    pub fn is_being_deleted(&self) -> Result<bool> {
        Ok(self.mark()?.is_some_and(|mark| mark.is_deletion()))
    }

    /// Finishes the deletion that a mark records.
    pub(crate) fn delete_marked(&self, mark: &Mark) -> Result<()> {
        self.delete_existing(&self.node_of_mark(mark)?)
    }

    /// Finishes the work of a mark whose owner is dead: deletes the remains, after `keep` has copied them. If no hold excludes
    /// other processes, returns a conflict when the mark has changed since it was examined.
    pub fn delete_abandoned(&self, mark: &Mark, keep: impl FnOnce() -> Result<()>) -> Result<()> {
        let _claim = self.claim_mark(mark)?;
        if self.is_explicit()? {
            return Err(Error::new(
                ErrorKind::Conflict,
                "another process has created a node there meanwhile; check again",
            ));
        }
        let existing = self.node_of_mark(mark)?;
        self.while_marked(|| keep().and_then(|()| self.erase_marked(&existing)))?;
        self.erase_journal(&existing)
    }

    /// Erases a mark whose owner is dead and whose work is finished. Conflicts are the same as for
    /// [`delete_abandoned`](Self::delete_abandoned).
    pub fn erase_abandoned(&self, mark: &Mark) -> Result<()> {
        let _claim = self.claim_mark(mark)?;
        self.erase_mark()
    }

    /// Deletes the remains of a node of this format.
    pub fn delete_remains(&self, format: Format) -> Result<()> {
        self.delete_existing(&self.node_of_mark(&Mark::new(format, UnfinishedWork::Deletion))?)
    }

    /// Marks a node for deletion, and calls `erase` to erase it. If the disk has no space left for the mark, the deletion frees
    /// space and proceeds without the mark.
    fn while_deleting(&self, existing: &ExistingNode, erase: impl FnOnce() -> Result<()>) -> Result<()> {
        let is_marked = self.mark_deletion(existing).inspect_err(|_| self.abandon_mark())?;
        self.while_marked(erase).inspect_err(|_| {
            if !is_marked {
                // There may be space for the mark by now. The first error is reported.
                let _ = self.put_mark(existing.format, UnfinishedWork::Deletion);
                self.abandon_mark();
            }
        })
    }

    /// Marks a node for deletion. On a full disk, the node's documents are erased first, to make space for the mark; returns
    /// false if there is still not enough space. If the documents cannot be erased either, they are restored.
    fn mark_deletion(&self, existing: &ExistingNode) -> Result<bool> {
        match self.put_mark(existing.format, UnfinishedWork::Deletion) {
            Err(error) if error.kind() == ErrorKind::StorageFull => {}
            marked => return marked.map(|()| true),
        }
        let documents = self.own_documents(existing)?;
        let erased = self.erase_own_documents(existing);
        let failed = match (erased, self.put_mark(existing.format, UnfinishedWork::Deletion)) {
            (erased, Ok(())) => return erased.map(|()| true),
            // A repair has stored its own mark.
            (_, Err(error)) if error.kind() == ErrorKind::Conflict => return Err(error),
            (Err(error), _) => error,
            (Ok(()), Err(error)) if error.kind() == ErrorKind::Interrupted => error,
            // Without its documents, the node no longer exists, so the remaining keys are deleted without a mark.
            (Ok(()), Err(_)) => return Ok(false),
        };
        self.put_back(documents);
        Err(failed)
    }

    /// Deletes a node. If it is the root, the entry document of the hierarchy is deleted as well.
    pub(super) fn delete_existing(&self, existing: &ExistingNode) -> Result<()> {
        self.while_deleting(existing, || self.erase_marked(existing))?;
        self.erase_journal(existing)
    }

    /// Erases an incomplete node, and then its mark.
    pub(super) fn erase_half(&self, existing: &ExistingNode) -> Result<()> {
        self.while_marked(|| self.erase_marked(existing))?;
        self.erase_journal(existing)
    }

    /// Erases the journal of an unfinished node separately, since in some layouts it lies outside the prefixes of the node.
    fn erase_journal(&self, existing: &ExistingNode) -> Result<()> {
        let covers_journal = existing.layout.extent(&self.path).prefixes.contains(&self.path.prefix());
        if covers_journal { Ok(()) } else { Journal::erase(self) }
    }

    /// Erases a marked node, and then the mark.
    pub(super) fn erase_marked(&self, existing: &ExistingNode) -> Result<()> {
        self.erase_all_of(existing)?;
        self.erase_mark()
    }

    /// Erases the node. If it is the root, the entry document of the hierarchy is erased as well.
    pub(super) fn erase_all_of(&self, existing: &ExistingNode) -> Result<()> {
        self.erase_extent(existing)?;
        match existing.format.def().entry_key() {
            Some(entry) if self.path.is_root() => self.erase(entry.to_owned()),
            _ => Ok(()),
        }
    }

    /// Deletes a node, but not the entry document of the hierarchy.
    pub(super) fn delete_content(&self, existing: &ExistingNode) -> Result<()> {
        self.while_deleting(existing, || self.erase_extent(existing).and_then(|()| self.erase_mark()))
    }

    fn erase_extent(&self, existing: &ExistingNode) -> Result<()> {
        self.erase_documents(existing)?;
        self.erase_all(existing.layout.extent(&self.path))
    }

    /// Erases the documents that define this node and all nodes below it.
    fn erase_documents(&self, existing: &ExistingNode) -> Result<()> {
        self.erase_own_documents(existing)?;
        if existing.is_array {
            return Ok(());
        }
        let erase = |keys: &[Key]| self.erase_keys(keys);
        self.each_below(&existing.layout.below(&self.path), |key| existing.makes_node(key), erase)
    }

    fn erase_own_documents(&self, existing: &ExistingNode) -> Result<()> {
        self.own_keys(existing).into_iter().try_for_each(|key| self.erase(key))
    }

    /// Returns the keys of the node's own documents, in the order in which they are erased: consolidated metadata first, since
    /// some readers look for it first.
    fn own_keys(&self, existing: &ExistingNode) -> Vec<String> {
        let consolidation = existing.format.def().consolidation();
        let copy = consolidation.and_then(|consolidation| consolidation.key(&existing.layout, &self.path));
        let mut keys: Vec<String> = copy.into_iter().chain(existing.layout.keys(&self.path)).collect();
        // Consolidated metadata may be part of the node's document.
        keys.dedup();
        keys
    }

    /// Returns the documents that [`erase_own_documents`](Self::erase_own_documents) erases.
    fn own_documents(&self, existing: &ExistingNode) -> Result<Vec<(String, Bytes)>> {
        let document = |key: String| Ok(self.store.get(&Key::new(key.as_str())?)?.map(|bytes| (key, bytes)));
        self.own_keys(existing).into_iter().filter_map(|key| document(key).transpose()).collect()
    }

    /// Restores documents, in the reverse of the order in which they were erased, unless another writer has stored new ones.
    fn put_back(&self, documents: Vec<(String, Bytes)>) {
        let condition =
            if self.store.capabilities().set_if_absent { Condition::Absent } else { Condition::Always };
        for (key, bytes) in documents.into_iter().rev() {
            // The error of the deletion is reported.
            let _ = self.put(key, &bytes, condition);
        }
    }

    /// Calls `work` with batches of the keys below a prefix for which `is_meant` returns true.
    pub(super) fn each_below(
        &self,
        prefix: &str,
        is_meant: impl Fn(&Key) -> bool,
        work: impl Fn(&[Key]) -> Result<()>,
    ) -> Result<()> {
        let (mut keys, mut done) = (Vec::new(), Ok(()));
        self.store.list_prefix(&Prefix::new(prefix)?, &mut |key, _| {
            if is_meant(&key) {
                keys.push(key);
            }
            if keys.len() >= TOGETHER {
                done = work(&keys);
                keys.clear();
            }
            if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        done.and_then(|()| work(&keys))
    }

    fn erase_keys(&self, keys: &[Key]) -> Result<()> {
        let erase = |index: usize| self.store.erase(&keys[index]).map(drop).map_err(Error::from);
        self.pool().run(keys.len(), 0, usize::MAX, erase)
    }

    /// Erases everything in an extent except the node's mark.
    pub fn erase_all(&self, extent: Extent) -> Result<()> {
        extent.keys.into_iter().try_for_each(|key| self.erase(key))?;
        for prefix in extent.prefixes {
            let prefix = Prefix::new(prefix)?;
            if prefix.as_str().is_empty() {
                self.erase_all_but_mark(&prefix)?;
            } else {
                self.store.erase_prefix(&prefix)?;
            }
        }
        Ok(())
    }

    fn erase_all_but_mark(&self, root: &Prefix) -> Result<()> {
        let listing = self.store.list_dir(root)?;
        listing.prefixes.iter().try_for_each(|prefix| self.store.erase_prefix(prefix))?;
        let mark = self.mark_key();
        let keys: Vec<Key> = listing.keys.into_iter().filter(|key| key.as_str() != mark).collect();
        self.erase_keys(&keys)
    }
}

impl ExistingNode {
    /// Returns true if a key below the node belongs to a document by which readers recognise a node.
    pub(super) fn makes_node(&self, key: &Key) -> bool {
        let copy = match self.format.def().consolidation() {
            Some(Consolidation::Beside(name)) => Some(name),
            _ => None,
        };
        self.layout.makes_node(key.name()) || copy == Some(key.name())
    }
}
