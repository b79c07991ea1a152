//! The table of open nodes. C programs refer to nodes by their number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

use zarrox::internals::argument;
use zarrox::{Array, Error, Group, Node, Result};

use crate::callback::Cancel;

/// An open array or group: a number, like the identifiers of HDF5 and netCDF. 0 is never the number of a node. The number of a
/// closed node is not used again, so that its use is an error.
#[expect(non_camel_case_types, reason = "its name in C")]
pub type zarrox_node = i64;

/// An open node.
pub(crate) struct Opened {
    /// The node after the last change. A change replaces the whole node, so that other threads can continue reading and writing.
    node: Mutex<Arc<Node>>,
    /// A lock that is held during a change, so that the next change starts from its result.
    changing: Mutex<()>,
    cancel: Mutex<Option<Cancel>>,
}

static NODES: LazyLock<RwLock<HashMap<zarrox_node, Arc<Opened>>>> = LazyLock::new(RwLock::default);
static NEXT: AtomicI64 = AtomicI64::new(1);

impl Opened {
    /// Returns the node.
    pub(crate) fn node(&self) -> Arc<Node> {
        self.node.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the node. The changed node replaces the old one if the change succeeds.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Node) -> Result<()>) -> Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut node = self.node().as_ref().clone();
        change(&mut node)?;
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(node);
        Ok(())
    }

    pub(crate) fn cancel(&self) -> Option<Cancel> {
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_cancel(&self, cancel: Option<Cancel>) {
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel;
    }
}

/// Adds a node to the table.
pub(crate) fn add(node: Node, cancel: Option<Cancel>) -> zarrox_node {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let opened =
        Opened { node: Mutex::new(Arc::new(node)), changing: Mutex::default(), cancel: Mutex::new(cancel) };
    NODES.write().unwrap_or_else(PoisonError::into_inner).insert(number, Arc::new(opened));
    number
}

/// Returns an open node. The node stays valid for the caller even if another thread closes it.
pub(crate) fn opened(number: zarrox_node) -> Result<Arc<Opened>> {
    let nodes = NODES.read().unwrap_or_else(PoisonError::into_inner);
    nodes.get(&number).cloned().ok_or_else(|| unknown(number))
}

/// Removes a node from the table.
pub(crate) fn remove(number: zarrox_node) -> Result<()> {
    let removed = NODES.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    removed.map(drop).ok_or_else(|| unknown(number))
}

fn unknown(number: zarrox_node) -> Error {
    argument(format!("{number} is not an open node: it was closed, or never opened"))
}

/// Returns a node as an array. A group is an error.
pub(crate) fn as_array(node: &Node) -> Result<&Array> {
    match node {
        Node::Array(array) => Ok(array),
        Node::Group(group) => Err(argument(format!("the group '{}' is not an array", group.path()))),
    }
}

/// Returns a node as a group. An array is an error.
pub(crate) fn as_group(node: &Node) -> Result<&Group> {
    match node {
        Node::Group(group) => Ok(group),
        Node::Array(array) => Err(argument(format!("the array '{}' is not a group", array.path()))),
    }
}
