//! Holds of nodes. Writers take a shared hold of a node; a move, replacement or deletion takes an exclusive hold of the node and
//! of all nodes below it.

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, Result};
use zarrox_stores::{Hold, HoldGuard, Key, Prefix};

use super::is_unclear;
use crate::location::Location;

/// The maximum number of nodes that are held at the same time: each hold takes an open file.
const MOST: usize = 200;

impl Location {
    /// Returns the key of the document that defines a node of a format. If arrays and groups have different documents, this is
    /// the document of an array.
    pub(crate) fn deciding_document(&self, format: Format) -> Result<Option<Key>> {
        self.first_document_key(&self.layout_for(format)?)
    }

    /// Returns the key of the first document that a node with this layout has at this location.
    pub(super) fn first_document_key(&self, layout: &Layout) -> Result<Option<Key>> {
        Ok(layout.first_key(&self.path).map(Key::new).transpose()?)
    }

    /// Takes a shared hold of the node with this layout.
    pub(crate) fn hold_shared(&self, layout: &Layout) -> Result<Option<HoldGuard>> {
        self.hold_place(layout, Hold::Shared)
    }

    /// Takes an exclusive hold of the existing node, if there is one, and of all nodes below it, waiting for all writers of these
    /// nodes. In a very large group, only the first nodes are held.
    pub fn hold_alone(&self) -> Result<Vec<HoldGuard>> {
        self.hold_alone_with(None)
    }

    /// Takes exclusive holds like [`hold_alone`](Self::hold_alone), of this node and of another one in the same store.
    pub(super) fn hold_alone_with(&self, other: Option<&Self>) -> Result<Vec<HoldGuard>> {
        // A hold would not exclude other machines, and finding the nodes would take requests.
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
        // The order is fixed, so that two processes that hold the same nodes cannot deadlock.
        prefixes.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
        // The same prefix can occur twice, for a node and a mark, or for two marks.
        prefixes.dedup();
        let hold = |prefix: &Prefix| self.store.hold(prefix, Hold::Exclusive).map_err(Into::into);
        prefixes.iter().map(hold).collect()
    }

    /// Takes an exclusive hold of the location of a node with this layout, even if there is no node, so that a repair waits for
    /// the processes that work there.
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

    /// Returns the prefix on which the hold of a node is taken: the prefix that contains its document.
    fn hold_prefix(&self, layout: &Layout) -> Result<Option<Prefix>> {
        Ok(self.first_document_key(layout)?.map(|key| key.parent()))
    }
}
