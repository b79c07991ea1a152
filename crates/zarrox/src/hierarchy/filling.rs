//! Creating nodes together with their content.
//!
//! A [journal](crate::hierarchy::journal) at the location of the node records that the work is unfinished, and names the source
//! of the content. Chunks are stored first and the array's documents last, so an array that can be opened has all of its
//! elements.

use zarrox_core::internals::metadata::{Document, Layout};
use zarrox_core::{Error, Format, GroupMetadata, NodeMetadata, Result};

use crate::hierarchy::journal::{Fingerprint, Journal};
use crate::location::Location;
use crate::upkeep::Changes;

impl Location {
    /// Stores the content of a new array by calling `fill`, and then its documents. After an interruption, the same call stores
    /// the content again. After a failure, nothing remains in the store.
    pub(crate) fn create_filled(
        &self,
        format: Format,
        documents: &[Document],
        overwrite: bool,
        source: &str,
        fill: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let filling = Filling::begin(self, format, documents, overwrite, source, false);
        let mut filling = filling.map_err(|error| self.creating(error))?;
        if !filling.journal.is_filled() {
            fill().inspect_err(|_| drop(filling.place.delete_remains(format)))?;
            filling.journal.fill(&filling.place)?;
        }
        let stored = filling.store(documents).and_then(|()| Journal::erase(&filling.place));
        stored.map_err(|error| self.creating(error))
    }

    /// Adds to an error that it occurred while creating this node.
    pub(crate) fn creating(&self, error: Error) -> Error {
        let error = if error.path().is_some() { error } else { error.with_path(&self.path) };
        error.at(format!("creating '{}' in {}", self.path, self.store.location()))
    }

    /// Creates a group, and calls `fill` to create its nodes; the argument of `fill` is true if an earlier call was interrupted.
    /// After an interruption, the same call continues with the nodes that exist.
    pub(crate) fn create_filled_group(
        &self,
        format: Format,
        overwrite: bool,
        source: &str,
        fill: impl FnOnce(bool) -> Result<()>,
    ) -> Result<()> {
        let group = NodeMetadata::Group(GroupMetadata::new(format));
        let documents = format.def().to_documents(&self.path, &group, &self.context.registry)?;
        let filling = Filling::begin(self, format, &documents, overwrite, source, true)?;
        let (place, again) = (&filling.place, filling.journal.was_there());
        filling.store(&documents)?;
        let filled = fill(again);
        // If an earlier call was interrupted, the journal is kept even after a failure, so that the call can be repeated.
        if filled.is_ok() || !again {
            Journal::erase(place)?;
        }
        filled
    }
}

/// A node whose content is being stored.
struct Filling {
    place: Location,
    format: Format,
    layout: Layout,
    /// The formats of groups above that differ from the format of the node.
    others: Vec<Format>,
    is_group: bool,
    journal: Journal,
}

impl Filling {
    fn begin(
        place: &Location,
        format: Format,
        documents: &[Document],
        overwrite: bool,
        source: &str,
        is_group: bool,
    ) -> Result<Self> {
        let place = place.for_change()?.with_layout(None);
        let layout = place.layout_for(format)?;
        place.check_names(&layout)?;
        let others = place.check_ancestors(format)?;
        let mut plan = Fingerprint::default();
        documents.iter().for_each(|(_, bytes)| plan.see(bytes));
        let journal =
            Journal::of_creation(source, format, &plan).begin(&place, format, overwrite, is_group)?;
        Ok(Self { place, format, layout, others, is_group, journal })
    }

    /// Stores the documents of the node, and those of any missing groups above it.
    fn store(&self, documents: &[Document]) -> Result<()> {
        let Self { place, format, layout, .. } = self;
        let _guard = place.lock_documents(layout)?;
        let created = place.create_ancestors(*format, layout)?;
        let stored = place.put_documents(documents, layout);
        let changes = Changes::of_node(&place.path, self.is_group).and(created);
        let kept = place.keep_copies(*format, &changes);
        stored.and(kept).and(place.keep_foreign_copies(&self.others, &place.path))
    }
}
