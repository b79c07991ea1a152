//! The address of a node.

use std::sync::Arc;

use zarrox_core::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::Store;

/// Where a node is, or could be: a store, a path in it, and the layout that the hierarchy there has.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) path: NodePath,
    /// The one format to look for; all if none.
    pub(crate) format: Option<Format>,
    /// The format that the hierarchy is said to have, by its name or by who opens it, where nothing in it says so.
    pub(crate) expected: Option<Format>,
    /// The format of the node, and where its hierarchy has documents and chunks, once that is known.
    pub(crate) layout: Option<(Format, Layout)>,
}

impl Address {
    /// Another path in the same store.
    pub(crate) fn at(&self, path: NodePath) -> Self {
        // Nodes of several formats can lie side by side, unless all that is in a hierarchy belongs to it.
        let layout = self.layout.as_ref().filter(|(_, layout)| layout.implicit_groups()).cloned();
        Self { store: self.store.clone(), path, format: self.format, expected: self.expected, layout }
    }
}
