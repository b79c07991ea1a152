//! Documents that are read before a node is opened.

use std::sync::Arc;

use zarrox_core::NodePath;
use zarrox_stores::{Key, Stamp};

use super::consolidated_metadata::ConsolidatedMetadata;
use super::probe::Probe;

/// Documents in memory that are used instead of the stored ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadAhead {
    /// The consolidated metadata from which this node and the nodes below it were opened.
    pub(crate) copy: Option<Arc<ConsolidatedMetadata>>,
    /// True if the consolidated metadata is used only to list nodes, since the store cannot list keys. The metadata of nodes is
    /// then read from their own documents.
    pub(crate) names_only: bool,
    /// The documents that have already been requested to open or create nodes.
    pub(crate) probe: Option<Arc<Probe>>,
    /// The key of the array's document, and its stamp just before it was read; `Missing` if the document was read before its
    /// stamp.
    pub(crate) seen: Option<(Key, Stamp)>,
}

impl ReadAhead {
    /// Returns the documents that apply to another node as well.
    pub(crate) fn at(&self, path: &NodePath) -> Self {
        let copy = self.copy.as_ref().filter(|copy| copy.group.contains(path)).cloned();
        Self { copy, names_only: self.names_only, probe: self.probe.clone(), seen: None }
    }
}
