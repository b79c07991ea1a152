//! Documents that were read before a node is opened.

use std::sync::Arc;

use zarrox_core::NodePath;
use zarrox_stores::{Key, Stamp};

use super::consolidated_metadata::ConsolidatedMetadata;
use super::probe::Probe;

/// Documents in memory that are used instead of stored ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadAhead {
    /// The consolidated metadata by which this node and the nodes below were opened.
    pub(crate) copy: Option<Arc<ConsolidatedMetadata>>,
    /// True if the consolidated metadata is only used to list nodes, since the store cannot list keys: the metadata of nodes is
    /// read from their own documents.
    pub(crate) names_only: bool,
    /// The documents that were already requested to open or create nodes.
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
