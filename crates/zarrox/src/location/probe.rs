//! Documents that are requested while nodes are being opened or created. No document is requested twice. In a remote store,
//! documents that will be needed are requested in parallel, since sequential requests would take one round trip each.
//!
//! The documents that most nodes have are requested first. Other documents are requested only for nodes that have none of these.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::HashMap;
use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::{Bytes, Key, StoreError};

/// The documents of some nodes, as far as they have been requested.
#[derive(Debug, Default)]
pub struct Probe {
    /// The documents of each node, which are requested in parallel. The documents of the hierarchy as a whole come last, as if
    /// they belonged to one more node.
    nodes: Vec<Vec<QueuedDocument>>,
    /// The index of the node and the stage of each document.
    places: HashMap<Key, (usize, usize)>,
    answers: Mutex<HashMap<Key, Answer>>,
    /// True if the store is empty, which is determined with one request after the first stage; `None` if this does not matter.
    is_empty: Option<OnceLock<bool>>,
}

/// The document; `None` if it does not exist.
pub(crate) type Answer = std::result::Result<Option<Bytes>, StoreError>;

#[derive(Debug)]
struct QueuedDocument {
    key: Key,
    stage: usize,
    /// True if the existence of this document implies that the node exists, so that no later documents are needed.
    decides: bool,
}

/// The purpose of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The nodes will be opened.
    Open,
    /// The nodes will be opened. They are in a group of this format, which most of them have as well.
    OpenIn(Format),
    /// The nodes will be opened from consolidated metadata, if there is any.
    OpenByCopy,
    /// The nodes will be opened only from consolidated metadata.
    OpenOnlyByCopy,
    /// A node will be created below these nodes.
    Create,
}

impl Purpose {
    /// Returns the stage in which a document is requested: usually 0 for v3 and for v2 arrays, 1 for other v2 documents, and
    /// [`LAST`] for other formats.
    fn stage_of(self, format: Format, is_of_group: bool) -> usize {
        match (self, format) {
            (_, Format::V3) | (Self::OpenOnlyByCopy, Format::V2) => 0,
            (Self::Create | Self::OpenIn(Format::V3), Format::V2) => 1,
            (_, Format::V2) => usize::from(is_of_group),
            _ => LAST,
        }
    }
}

/// The last stage, for the documents of all other formats.
const LAST: usize = 2;

impl Probe {
    /// Creates a probe that has requested nothing yet.
    ///
    /// `formats` yields the formats that the nodes can have, with their layouts.
    pub(crate) fn new(
        formats: impl Iterator<Item = (Format, Layout)>,
        paths: &[NodePath],
        purpose: Purpose,
    ) -> Self {
        let mut probe = Self::default();
        let by_copy = matches!(purpose, Purpose::OpenByCopy | Purpose::OpenOnlyByCopy);
        probe.is_empty = (purpose == Purpose::Create).then(OnceLock::new);
        probe.nodes.resize_with(paths.len() + 1, Vec::new);
        for (format, layout) in formats {
            let def = format.def();
            for (node, path) in paths.iter().enumerate() {
                probe.queue_node(node, path, format, &layout, purpose);
                let copy = def.consolidation().filter(|_| by_copy).and_then(|copy| copy.key(&layout, path));
                let stage = purpose.stage_of(format, true);
                copy.into_iter().for_each(|key| probe.queue(node, key, stage, false));
            }
            let entry = def.entry_key().map(str::to_owned);
            entry.into_iter().for_each(|key| probe.queue(paths.len(), key, LAST, false));
        }
        probe
    }

    /// Requests one more object together with the first documents.
    pub(crate) fn queue_also(&mut self, key: String) {
        self.queue(self.nodes.len().saturating_sub(1), key, 0, false);
    }

    fn queue_node(
        &mut self,
        node: usize,
        path: &NodePath,
        format: Format,
        layout: &Layout,
        purpose: Purpose,
    ) {
        let group = format.def().group_document();
        for (index, document) in layout.documents().iter().enumerate() {
            let is_of_group = group == Some(index);
            let stage = purpose.stage_of(format, is_of_group);
            self.queue(node, layout.key(path, document), stage, index == 0 || is_of_group);
        }
    }

    fn queue(&mut self, node: usize, key: String, stage: usize, decides: bool) {
        let Ok(key) = Key::new(key) else { return };
        if !self.places.contains_key(&key) {
            self.places.insert(key.clone(), (node, stage));
            self.nodes[node].push(QueuedDocument { key, stage, decides });
        }
    }

    /// Returns the document, if it has already been requested. An error is returned only once, so that the next caller requests
    /// the document again.
    pub(crate) fn known(&self, key: &Key) -> Option<Answer> {
        let mut answers = self.answers();
        match answers.get(key) {
            Some(Ok(document)) => Some(Ok(document.clone())),
            Some(Err(_)) => answers.remove(key),
            None if self.is_empty() => Some(Ok(None)),
            None => None,
        }
    }

    /// Creates a probe for the documents of one node, which are requested in parallel. Documents that `before` already knows are
    /// not requested again.
    pub(crate) fn of_keys(keys: impl IntoIterator<Item = String>, before: Option<&Self>) -> Self {
        let mut probe = Self { nodes: vec![Vec::new()], ..Self::default() };
        keys.into_iter().for_each(|key| probe.queue(0, key, 0, true));
        if let Some(before) = before {
            let known = |key: &Key| before.known(key).map(|answer| (key.clone(), answer));
            let known = probe.places.keys().filter_map(known).collect();
            probe.answers = Mutex::new(known);
        }
        probe
    }

    /// Returns true if the document with this key is known not to exist because the store is empty. `find_out` determines whether
    /// the store is empty; it is called at most once.
    pub(crate) fn finds_nothing(&self, key: &Key, find_out: impl FnOnce() -> bool) -> bool {
        let is_later = self.places.get(key).is_none_or(|(_, stage)| *stage > 0);
        let is_empty = self.is_empty.as_ref().filter(|_| is_later);
        is_empty.is_some_and(|is_empty| *is_empty.get_or_init(find_out))
    }

    /// Stores the response for a key.
    pub(crate) fn keep(&self, key: Key, answer: Answer) {
        self.answers().insert(key, answer);
    }

    /// Returns true if the store is known to be empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty.as_ref().and_then(OnceLock::get).is_some_and(|is_empty| *is_empty)
    }

    /// Returns the keys that are requested together with this key, including this key itself.
    pub(crate) fn together_with(&self, key: &Key) -> Vec<Key> {
        let Some(&(own, stage)) = self.places.get(key) else { return vec![key.clone()] };
        let answers = self.answers();
        let is_there = |document: &QueuedDocument| matches!(answers.get(&document.key), Some(Ok(Some(_))));
        let is_decided =
            |node: &[QueuedDocument]| node.iter().any(|document| document.decides && is_there(document));
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(node, documents)| *node == own || !is_decided(documents));
        let documents = nodes.flat_map(|(_, documents)| documents);
        let documents =
            documents.filter(|document| document.stage == stage && !answers.contains_key(&document.key));
        documents.map(|document| document.key.clone()).collect()
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Key, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
