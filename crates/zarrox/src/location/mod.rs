//! The location of a node: its address, its context, and documents that have been read ahead.

mod address;
mod chunk_listener;
mod consolidated_metadata;
mod context;
mod last_chain;
mod mounts;
mod overlap;
mod probe;
mod read_ahead;
mod timings;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::Store;

use crate::pool::Pool;

pub(crate) use address::Address;
pub(crate) use chunk_listener::ChunkListener;
pub use consolidated_metadata::ConsolidatedMetadata;
pub use context::Context;
pub use overlap::are_paths_overlapping;
pub(crate) use probe::Probe;
pub use probe::Purpose;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use timings::Timer;
pub use timings::Timings;

/// The location of a node, which need not exist, with everything that is needed to open it. It dereferences to its `Address`.
#[derive(Debug, Clone)]
pub struct Location {
    pub(crate) address: Address,
    /// The options and pools with which the node is opened.
    pub context: Arc<Context>,
    pub(crate) read_ahead: ReadAhead,
}

impl Deref for Location {
    type Target = Address;

    fn deref(&self) -> &Address {
        &self.address
    }
}

impl Location {
    /// Creates a location without documents.
    pub(crate) fn new(address: Address, context: Context) -> Self {
        Self { address, context: Arc::new(context), read_ahead: ReadAhead::default() }
    }

    /// Returns true if every request to the store is a round trip over a network.
    pub fn is_remote(&self) -> bool {
        self.context.requests.is_some()
    }

    /// Returns the thread pool that reads and writes stored objects.
    pub fn pool(&self) -> &Pool {
        self.context.requests.as_ref().unwrap_or(&self.context.pool)
    }

    /// Decodes a number of stored bytes on a core.
    pub(crate) fn decode<R>(&self, bytes: u64, work: impl FnOnce() -> R) -> R {
        self.on_a_core(|| self.context.timer.decode(bytes, work))
    }

    /// Runs work that keeps a core busy. In a pool with more threads than cores, whose threads mostly wait for the store, the
    /// work first waits for a free core.
    #[inline]
    pub fn on_a_core<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.is_remote() { self.context.pool.on_a_core(work) } else { work() }
    }

    /// Returns the consolidated metadata that is read instead of stored documents, if there is any.
    pub(crate) fn copy(&self) -> Option<&ConsolidatedMetadata> {
        self.names().filter(|_| !self.read_ahead.names_only)
    }

    /// Returns the consolidated metadata from which nodes are listed, if there is any.
    pub(crate) fn names(&self) -> Option<&ConsolidatedMetadata> {
        self.read_ahead.copy.as_deref().filter(|copy| copy.is_in_use())
    }

    /// Returns the location of another path in the same store.
    pub fn at(&self, path: NodePath) -> Self {
        let read_ahead = self.read_ahead.at(&path);
        Self { address: self.address.at(path), context: self.context.clone(), read_ahead }
    }

    /// Returns the location without documents in memory.
    pub fn as_stored(&self) -> Self {
        Self { read_ahead: ReadAhead::default(), ..self.clone() }
    }

    /// Returns the location for reading nodes from their own documents. In a store that cannot list its keys, nodes are still
    /// listed from consolidated metadata.
    pub(crate) fn by_own_documents(&self) -> Self {
        let mut place = self.clone();
        match self.store.capabilities().listable {
            true => place.read_ahead = ReadAhead::default(),
            false => place.read_ahead.names_only = true,
        }
        place
    }

    /// Returns the location in another store.
    pub fn moved_to(mut self, store: Arc<dyn Store>, path: NodePath) -> Self {
        (self.address.store, self.address.path) = (store, path);
        self
    }

    /// Returns the location, restricted to nodes of this format; `None` removes the restriction.
    pub fn of_format(mut self, format: Option<Format>) -> Self {
        self.address.format = format;
        self
    }

    /// Returns the location with a format that the caller implies.
    pub fn expecting(mut self, format: Option<Format>) -> Self {
        self.address.expected = format;
        self
    }

    /// Returns the location with a known layout, or without a layout.
    pub fn with_layout(mut self, layout: Option<(Format, Layout)>) -> Self {
        self.address.layout = layout;
        self
    }

    /// Returns the location with or without consolidated metadata.
    pub fn with_copy(mut self, copy: Option<Arc<ConsolidatedMetadata>>) -> Self {
        self.read_ahead.copy = copy;
        self
    }

    /// Returns the location with or without requested documents.
    pub fn with_probe(mut self, probe: Option<Arc<Probe>>) -> Self {
        self.read_ahead.probe = probe;
        self
    }
}

/// The store and the path together: `/d/a.zarr/t`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.location();
        match self.path.is_root() {
            true => f.write_str(&store),
            false => write!(f, "{}/{}", store.trim_end_matches('/'), self.path.as_str()),
        }
    }
}
