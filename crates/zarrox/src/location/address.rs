//! The address of a node.

use std::sync::Arc;

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::Store;

/// The address of a node, which need not exist: a store, a path in it, and the layout of the hierarchy.
#[derive(Debug, Clone)]
pub struct Address {
    pub store: Arc<dyn Store>,
    pub path: NodePath,
    /// The only format to look for; `None` for all formats.
    pub(crate) format: Option<Format>,
    /// The format that is implied by the name of the hierarchy or by the caller, for use if no document of the hierarchy defines
    /// it.
    pub expected: Option<Format>,
    /// The format of the node and the layout of its hierarchy, once these are known.
    pub(crate) layout: Option<(Format, Layout)>,
}

impl Address {
    /// Returns the address of another path in the same store.
    pub(crate) fn at(&self, path: NodePath) -> Self {
        // Nodes of several formats can exist side by side, unless the layout applies to the whole hierarchy.
        let layout = self.layout.as_ref().filter(|(_, layout)| layout.implicit_groups()).cloned();
        Self { store: self.store.clone(), path, format: self.format, expected: self.expected, layout }
    }
}
