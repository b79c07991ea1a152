//! The location of a node: its address, the way in which it is opened, and what was read ahead of it.

mod address;
mod consolidated_metadata;
mod context;
mod latest;
mod probe;
mod read_ahead;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use zarrox_core::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::Store;

use crate::pool::Pool;

pub(crate) use address::Address;
pub(crate) use consolidated_metadata::ConsolidatedMetadata;
pub(crate) use context::Context;
pub(crate) use probe::{Probe, Purpose};
pub(crate) use read_ahead::ReadAhead;

/// A place in a store where a node is, or could be, with all that is needed to open it. It is used as its [`Address`].
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) address: Address,
    pub(crate) context: Arc<Context>,
    pub(crate) read_ahead: ReadAhead,
}

impl Deref for Location {
    type Target = Address;

    fn deref(&self) -> &Address {
        &self.address
    }
}

impl Location {
    /// A location of which nothing was read yet.
    pub(crate) fn new(address: Address, context: Context) -> Self {
        Self { address, context: Arc::new(context), read_ahead: ReadAhead::default() }
    }

    /// Returns true if every request to the store is a round trip over a network.
    pub(crate) fn is_remote(&self) -> bool {
        self.context.requests.is_some()
    }

    /// The threads that read and write stored objects.
    pub(crate) fn pool(&self) -> &Pool {
        self.context.requests.as_ref().unwrap_or(&self.context.pool)
    }

    /// Does work that keeps a core busy. Where more threads wait for the store than there are cores, it waits for one to be free.
    pub(crate) fn on_a_core<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.is_remote() { self.context.pool.on_a_core(work) } else { work() }
    }

    /// The documents in memory that stand for the stored ones, if there are any.
    pub(crate) fn copy(&self) -> Option<&ConsolidatedMetadata> {
        self.read_ahead.copy.as_deref().filter(|copy| copy.is_in_use())
    }

    /// Another place in the same store.
    pub(crate) fn at(&self, path: NodePath) -> Self {
        let read_ahead = self.read_ahead.at(&path);
        Self { address: self.address.at(path), context: self.context.clone(), read_ahead }
    }

    /// Returns the place with the documents that are stored.
    pub(crate) fn as_stored(&self) -> Self {
        Self { read_ahead: ReadAhead::default(), ..self.clone() }
    }

    /// Returns the same place, seen in another store.
    pub(crate) fn moved_to(mut self, store: Arc<dyn Store>, path: NodePath) -> Self {
        (self.address.store, self.address.path) = (store, path);
        self
    }

    /// Returns the place where only this format is looked for, or all.
    pub(crate) fn of_format(mut self, format: Option<Format>) -> Self {
        self.address.format = format;
        self
    }

    /// Returns the place where a hierarchy is said to have this format, where nothing in it says so.
    pub(crate) fn expecting(mut self, format: Option<Format>) -> Self {
        self.address.expected = format;
        self
    }

    /// Returns the place with a layout that is known, or with none.
    pub(crate) fn with_layout(mut self, layout: Option<(Format, Layout)>) -> Self {
        self.address.layout = layout;
        self
    }

    /// Returns the place with consolidated metadata, or without.
    pub(crate) fn with_copy(mut self, copy: Option<Arc<ConsolidatedMetadata>>) -> Self {
        self.read_ahead.copy = copy;
        self
    }

    /// Returns the place with documents that were asked for, or without.
    pub(crate) fn with_probe(mut self, probe: Option<Arc<Probe>>) -> Self {
        self.read_ahead.probe = probe;
        self
    }
}

/// The store and the path as one: `/d/a.zarr/t`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.location();
        match self.path.is_root() {
            true => f.write_str(&store),
            false => write!(f, "{}/{}", store.trim_end_matches('/'), self.path.as_str()),
        }
    }
}
