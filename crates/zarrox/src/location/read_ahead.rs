//! Documents that were read before a node is opened.

use std::sync::Arc;

use zarrox_core::NodePath;
use zarrox_stores::{Key, Stamp};

use super::consolidated_metadata::ConsolidatedMetadata;
use super::probe::Probe;

/// Documents in memory that stand for stored ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadAhead {
    /// The consolidated metadata by which this node and the nodes below were opened.
    pub(crate) copy: Option<Arc<ConsolidatedMetadata>>,
    /// True if the consolidated metadata only tells which nodes there are, since the store does not: all that nodes say is theirs.
    pub(crate) names_only: bool,
    /// The documents that were requested already while nodes are opened or created.
    pub(crate) probe: Option<Arc<Probe>>,
    /// The array's document, and what the store said of it just before it was read; `Missing` if it was read earlier.
    pub(crate) seen: Option<(Key, Stamp)>,
}

impl ReadAhead {
    /// The documents that apply to another node as well.
    pub(crate) fn at(&self, path: &NodePath) -> Self {
        let copy = self.copy.as_ref().filter(|copy| copy.group.contains(path)).cloned();
        Self { copy, names_only: self.names_only, probe: self.probe.clone(), seen: None }
    }
}
