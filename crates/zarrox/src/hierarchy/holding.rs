//! Holds of nodes: writers hold a node shared, and a move, replacement or deletion holds it exclusively, with all nodes below it.

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, Result};
use zarrox_stores::{Hold, HoldGuard, Key, Prefix};

use super::is_unclear;
use crate::location::Location;

/// The largest number of nodes that are held at a time: each takes an open file.
const MOST: usize = 200;

impl Location {
    /// Returns the key of the document that defines a node of a format: the document of an array, if arrays have a document of
    /// their own.
    pub(crate) fn deciding_document(&self, format: Format) -> Result<Option<Key>> {
        self.first_document_key(&self.layout_for(format)?)
    }

    /// Returns the key of the first document that a node of a layout has at this location.
    pub(super) fn first_document_key(&self, layout: &Layout) -> Result<Option<Key>> {
        Ok(layout.first_key(&self.path).map(Key::new).transpose()?)
    }

    /// Takes a hold of the node of a layout, shared with other writers.
    pub(crate) fn hold_shared(&self, layout: &Layout) -> Result<Option<HoldGuard>> {
        self.hold_place(layout, Hold::Shared)
    }

    /// Holds the existing node, if there is one, and all nodes below it exclusively: waits for all writers of these nodes. In a
    /// very large group only the first nodes are held.
    pub fn hold_alone(&self) -> Result<Vec<HoldGuard>> {
        self.hold_alone_with(None)
    }

    /// Holds this node exclusively, and another one of the same store.
    pub(super) fn hold_alone_with(&self, other: Option<&Self>) -> Result<Vec<HoldGuard>> {
        // A hold would not exclude other hosts, and finding the nodes would take requests.
        if self.is_remote() {
            return Ok(Vec::new());
        }
        let mut prefixes = Vec::new();
        for place in [Some(self), other].into_iter().flatten() {
            match place.as_stored().with_probe(None).of_format(None).prefixes_to_hold(&mut prefixes) {
                // A node whose documents cannot be parsed has no writers.
                Err(error) if is_unclear(&error) => {}
                done => done?,
            }
        }
        // The order is fixed, so that two processes that hold the same nodes do not wait for each other.
        prefixes.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
        // A node and a mark can have the same location, and so can two marks.
        prefixes.dedup();
        let hold = |prefix: &Prefix| self.store.hold(prefix, Hold::Exclusive).map_err(Into::into);
        prefixes.iter().map(hold).collect()
    }

    /// Holds the location of a node of this layout exclusively, also if there is no node: a repair waits for the processes that
    /// work there.
    pub fn hold_place_alone(&self, layout: &Layout) -> Result<Option<HoldGuard>> {
        if self.is_remote() { Ok(None) } else { self.hold_place(layout, Hold::Exclusive) }
    }

    fn hold_place(&self, layout: &Layout, how: Hold) -> Result<Option<HoldGuard>> {
        let prefix = self.hold_prefix(layout)?;
        prefix.map(|prefix| self.store.hold(&prefix, how)).transpose().map_err(Into::into)
    }

    fn prefixes_to_hold(&self, prefixes: &mut Vec<Prefix>) -> Result<()> {
        let Some(existing) = self.existing_node()? else {
            // The remains of an interrupted command are held as well.
            let marked = self.mark()?.map(|mark| self.node_of_mark(&mark)).transpose()?;
            let prefix = marked.map(|existing| self.hold_prefix(&existing.layout)).transpose()?.flatten();
            prefixes.extend(prefix);
            return Ok(());
        };
        prefixes.extend(self.hold_prefix(&existing.layout)?);
        if existing.is_array || prefixes.len() >= MOST {
            return Ok(());
        }
        for name in self.names_below(existing.format)? {
            if prefixes.len() >= MOST {
                break;
            }
            match self.at(self.path.join(&name)?).prefixes_to_hold(prefixes) {
                Err(error) if is_unclear(&error) => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Returns the prefix by which a node is held: the prefix of its document.
    fn hold_prefix(&self, layout: &Layout) -> Result<Option<Prefix>> {
        Ok(self.first_document_key(layout)?.map(|key| key.parent()))
    }
}
