//! Moves between stores: a copy, followed by the deletion of the source.

use std::error::Error as _;
use std::io;

use zarrox_core::{Error, ErrorKind, Result};

use super::copier::{Copier, IfExists};
use super::inventory::check_inventory;
use super::report::CopyReport;
use super::settings::Verify;
use crate::diff::{Diff, Difference, DifferenceKind};
use zarrox::internals::{Journal, Location, check_same_kind, store_file};
use zarrox::{Node, OpenMode, Place};

impl Copier {
    /// Moves the node at a location, with all nodes below it, to another location. Within a store, or on the same disk, the node
    /// is [renamed](zarrox::OpenOptions::move_node). Otherwise it is copied, and deleted once the copy is complete. After an
    /// interruption, the same call continues the move. Returns `None` if the node was renamed.
    ///
    /// # Errors
    /// The errors of [`Copier::run`] and of [`OpenOptions::delete`](zarrox::OpenOptions::delete).
    pub fn move_node(
        &self,
        source: impl Into<Place>,
        destination: impl Into<Place>,
    ) -> Result<Option<CopyReport>> {
        let (source, destination) = (&source.into(), &destination.into());
        let opening = self.settings.opening();
        let overwrite = self.if_exists == IfExists::Replace;
        let mode = if overwrite { OpenMode::Write } else { OpenMode::ReadWrite };
        let from = opening.place(source)?;
        // The copy creates a missing database, and one whose creation was interrupted.
        let to = match opening.place(destination) {
            Err(error) if error.kind() == ErrorKind::NotFound || is_empty_file(destination) => None,
            to => Some(to?),
        };
        let journal = to.as_ref().map(Journal::read).transpose()?.flatten();
        // After an interrupted run, both locations exist, so that a rename would fail.
        if let Some(to) = to.as_ref().filter(|to| journal.is_none() && !from.is_in_store_of(to))
            && self.finish_deletion(source, &from, to)?
        {
            return Ok(None);
        }
        if to.as_ref().is_some_and(|to| self.renames(&from, to, source, destination)) {
            match opening.clone().mode(mode).move_node(source, destination) {
                Err(error) if crosses_devices(&error) => {}
                moved => return moved.map(|()| None),
            }
        }
        // The output of an earlier run may have changed since.
        let is_resumed = journal.is_some();
        check_inventory(&from, "moved by copying")?;
        // From here on, the source is locked, so that only copied objects are deleted.
        let _holds = from.hold_alone()?;
        let again =
            if is_resumed { self.clone().verify(Verify::Everything).comparing_again() } else { self.clone() };
        let copying = again.plan(source, destination)?;
        let report = copying.run_then(|| from.begin_deletion()).inspect_err(|_| from.abandon_mark())?;
        if let Some(skipped) = report.skipped.first() {
            from.abandon_mark();
            let message = format!("the source was not deleted, since it is damaged: {skipped}");
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        check_inventory(&from, "deleted after it was copied").inspect_err(|_| from.abandon_mark())?;
        opening.delete_held(source)?;
        Ok(Some(report))
    }

    /// Deletes the source if an earlier run was interrupted after it had copied the source as a whole. Returns false if the
    /// source was not copied.
    fn finish_deletion(&self, source: &Place, from: &Location, to: &Location) -> Result<bool> {
        if !to.is_explicit()? {
            return Ok(false);
        }
        let is_begun = from.is_being_deleted()?;
        // In an archive or a database, the mark is lost if the process is killed while the deletion is being stored.
        let can_lack_mark = || Ok::<_, Error>(store_file(source.clone()).is_some() && from.is_explicit()?);
        if !is_begun && !can_lack_mark()? {
            return Ok(false);
        }
        let _holds = from.hold_alone()?;
        match self.difference(from, to, is_begun) {
            Ok(None) => self.settings.opening().delete_held(source).map(|()| true),
            Ok(Some(difference)) if is_begun => {
                let message = format!(
                    "'{}' was copied to '{}' and then changed: {difference}; delete the unwanted one, and move again",
                    from.path, to.path
                );
                Err(Error::new(ErrorKind::Conflict, message))
            }
            Err(error) if is_begun => Err(error),
            _ => Ok(false),
        }
    }

    /// Returns a difference between a source, or what remains of it, and its copy. With `is_begun`, the deletion of the source
    /// has begun, and only differences that would lose elements or attributes count: other properties of a copy may differ.
    fn difference(&self, from: &Location, to: &Location, is_begun: bool) -> Result<Option<Difference>> {
        // A deletion erases the documents first. Without documents, the source cannot have changed since the copy.
        let Some(found) = from.as_stored().find()? else { return Ok(None) };
        let Some(copy) = to.as_stored().find()? else { return Ok(None) };
        let nodes = (Node::new(found.location, found.node)?, Node::new(copy.location, copy.node)?);
        let mut first = None;
        Diff::new().stored(true).run(&nodes.0, &nodes.1, |difference| {
            let is_lost = match difference.kind {
                DifferenceKind::OnlyLeft
                | DifferenceKind::Kind { .. }
                | DifferenceKind::Shape { .. }
                | DifferenceKind::Values(_) => true,
                DifferenceKind::Attribute { .. } => self.format.is_none(),
                _ => false,
            };
            first = first.take().or_else(|| (is_lost || !is_begun).then_some(difference));
            Ok(())
        })?;
        Ok(first)
    }

    /// Returns true if a node is moved by renaming it.
    fn renames(&self, from: &Location, to: &Location, source: &Place, destination: &Place) -> bool {
        if self.format.is_some() {
            return false;
        }
        from.is_in_store_of(to)
            || (from.path.is_root()
                && to.path.is_root()
                && source
                    .as_path()
                    .zip(destination.as_path())
                    .is_some_and(|(source, destination)| check_same_kind(source, destination).is_ok()))
    }
}

/// Returns true if the destination is an empty file, in which a database was to be created.
fn is_empty_file(destination: &Place) -> bool {
    let file = store_file(destination.clone()).and_then(|file| std::fs::metadata(file).ok());
    file.is_some_and(|file| file.is_file() && file.len() == 0)
}

fn crosses_devices(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::CrossesDevices)
}
