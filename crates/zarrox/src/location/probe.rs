//! Documents that are asked for while nodes are opened or created: none twice, and from a store far away together with others that
//! will be needed, where one after the other would take as many round trips.
//!
//! The documents that most nodes have are asked for first; the rest only for those nodes that have none of these.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::HashMap;
use zarrox_core::metadata::Layout;
use zarrox_core::{Format, NodePath};
use zarrox_stores::{Bytes, Key, StoreError};

/// The documents of some nodes, as far as they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// The documents that are asked for together. Those of the whole hierarchy come last, as if they were a node of their own.
    nodes: Vec<Vec<Wanted>>,
    /// Which of them has a document, and its stage.
    places: HashMap<Key, (usize, usize)>,
    answers: Mutex<HashMap<Key, Answer>>,
    /// That nothing is stored at all, where it is worth knowing; after the first stage, one request tells that.
    is_empty: Option<OnceLock<bool>>,
}

/// `None` for documents that are not there.
pub(crate) type Answer = std::result::Result<Option<Bytes>, StoreError>;

#[derive(Debug)]
struct Wanted {
    key: Key,
    stage: usize,
    /// Set for one that makes a node, so that no others need be looked for.
    decides: bool,
}

/// The purpose of asking for documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To open the nodes.
    Open,
    /// To open the nodes, by consolidated metadata if it is there.
    OpenByCopy,
    /// To open them by consolidated metadata, and in no other way.
    OpenOnlyByCopy,
    /// To create something below them.
    Create,
}

impl Purpose {
    /// When a document is asked for: in v3 and v2 first, and of these only what arrays have.
    fn stage_of(self, format: Format, is_of_group: bool) -> usize {
        match (self, format) {
            (_, Format::V3) | (Self::OpenOnlyByCopy, Format::V2) => 0,
            (Self::Create, Format::V2) => 1,
            (_, Format::V2) => usize::from(is_of_group),
            _ => LAST,
        }
    }
}

/// The stage of all that nothing else is known of.
const LAST: usize = 2;

impl Probe {
    /// Nothing has been asked for yet.
    ///
    /// Nodes can be of each of these formats, and have these layouts then.
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
                probe.want_node(node, path, format, &layout, purpose);
                let copy = def.consolidation().filter(|_| by_copy).and_then(|copy| copy.key(&layout, path));
                let stage = purpose.stage_of(format, true);
                copy.into_iter().for_each(|key| probe.want(node, key, stage, false));
            }
            let entry = def.entry_key().map(str::to_owned);
            entry.into_iter().for_each(|key| probe.want(paths.len(), key, LAST, false));
        }
        probe
    }

    fn want_node(&mut self, node: usize, path: &NodePath, format: Format, layout: &Layout, purpose: Purpose) {
        let group = format.def().group_document();
        for (index, document) in layout.documents().iter().enumerate() {
            let is_of_group = group == Some(index);
            let stage = purpose.stage_of(format, is_of_group);
            self.want(node, layout.key(path, document), stage, index == 0 || is_of_group);
        }
    }

    fn want(&mut self, node: usize, key: String, stage: usize, decides: bool) {
        let Ok(key) = Key::new(key) else { return };
        if !self.places.contains_key(&key) {
            self.places.insert(key.clone(), (node, stage));
            self.nodes[node].push(Wanted { key, stage, decides });
        }
    }

    /// A document that was asked for already. An error is told once: whoever asks again, asks the store.
    pub(crate) fn known(&self, key: &Key) -> Option<Answer> {
        let mut answers = self.answers();
        match answers.get(key) {
            Some(Ok(document)) => Some(Ok(document.clone())),
            Some(Err(_)) => answers.remove(key),
            None if self.is_empty() => Some(Ok(None)),
            None => None,
        }
    }

    /// The documents of one node, all asked for at once, of which some are known already.
    pub(crate) fn of_keys(keys: impl IntoIterator<Item = String>, before: Option<&Self>) -> Self {
        let mut probe = Self { nodes: vec![Vec::new()], ..Self::default() };
        keys.into_iter().for_each(|key| probe.want(0, key, 0, true));
        if let Some(before) = before {
            let known = |key: &Key| before.known(key).map(|answer| (key.clone(), answer));
            let known = probe.places.keys().filter_map(known).collect();
            probe.answers = Mutex::new(known);
        }
        probe
    }

    /// Returns true if the answer to a question for this key could be known by finding out that nothing is stored at all, which
    /// `find_out` does at most once; and nothing is.
    pub(crate) fn finds_nothing(&self, key: &Key, find_out: impl FnOnce() -> bool) -> bool {
        let is_later = self.places.get(key).is_none_or(|(_, stage)| *stage > 0);
        let is_empty = self.is_empty.as_ref().filter(|_| is_later);
        is_empty.is_some_and(|is_empty| *is_empty.get_or_init(find_out))
    }

    /// Keeps an answer.
    pub(crate) fn keep(&self, key: Key, answer: Answer) {
        self.answers().insert(key, answer);
    }

    /// True when nothing is stored at all, as far as that is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty.as_ref().and_then(OnceLock::get).is_some_and(|is_empty| *is_empty)
    }

    /// The documents that are asked for together with one; at least that one.
    pub(crate) fn together_with(&self, key: &Key) -> Vec<Key> {
        let Some(&(own, stage)) = self.places.get(key) else { return vec![key.clone()] };
        let answers = self.answers();
        let is_there = |wanted: &Wanted| matches!(answers.get(&wanted.key), Some(Ok(Some(_))));
        let is_decided = |node: &[Wanted]| node.iter().any(|wanted| wanted.decides && is_there(wanted));
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(node, wanted)| *node == own || !is_decided(wanted));
        let wanted = nodes.flat_map(|(_, wanted)| wanted);
        let wanted = wanted.filter(|wanted| wanted.stage == stage && !answers.contains_key(&wanted.key));
        wanted.map(|wanted| wanted.key.clone()).collect()
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Key, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
